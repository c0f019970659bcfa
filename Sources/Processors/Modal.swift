import CVector
import Patch
import Realtime

/// Resonators with the modes of a body, which what comes in sets ringing.
///
/// A resonator turns a pair of numbers by its frequency and shrinks it by its decay, sixteen of them at once (M. Mathews and
/// J. O. Smith, "Methods for synthesizing very high Q parametrically well behaved two pole filters", 2003). While something
/// moves, coefficients are calculated every sixteen frames, counted from the start, and go on to these in lines. One that
/// nothing sets ringing has none: they come with the first frame of a stroke, wherever its block begins.
public struct Modal: Kernel {
  public static let description = KindDescription(
    name: "modal", summary: "The modes of a body, which what comes in sets ringing.", category: .effect,
    inputs: [
      PortDescription(
        "in", .flexible,
        "Strokes, or any sound. A steady tone at a mode's pitch is amplified; the longer that mode's decay, the more."
      )
    ],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .choice("shape", "The body; modes glide to those of another one.", Modes.shapes, default: 1),
      .frequency(
        "freq", "Lowest mode; a list gives one a channel.", default: 440, range: 10...20_000,
        isPerChannel: true),
      .number(
        "decay", "Time in which the lowest mode falls by 60 dB.", default: 1, range: 0.01...60,
        unit: .seconds,
        isPerChannel: true),
      .percent(
        "damp", "How much sooner higher modes fall; 50 %: an octave higher in half the time.", default: 40),
      .number(
        "slope", "How loud modes are over frequency, in dB an octave.", default: -3, range: -24...6),
      .count(
        "modes", "How many; those above half the rate are silent.", default: 16, range: 1...64,
        smoothing: .crossfade),
      .gain(
        "level", "The highest peak of what a stroke of one frame at 0 dB sets ringing, at 48 kHz.",
        default: 0,
        isPerChannel: true),
    ], cost: .init(20, perChannel: 300))

  /// Positions in `description.parameters`.
  public static var shape: Int { @_noLocks get { 0 } }
  public static var freq: Int { @_noLocks get { 1 } }
  public static var decay: Int { @_noLocks get { 2 } }
  public static var damp: Int { @_noLocks get { 3 } }
  public static var slope: Int { @_noLocks get { 4 } }
  public static var modes: Int { @_noLocks get { 5 } }
  public static var level: Int { @_noLocks get { 6 } }

  private var channels: Int
  private var memory: ModalMemory
  /// Frames since the start, of which every sixteenth may bring new coefficients.
  private var age: UInt32 = 0
  private var entry = Entry()
  private var quiet = QuietCell()
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { ModalMemory(configuration.inputs[0], &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    channels = configuration.inputs[0]
    var arena = Arena(memory)
    self.memory = ModalMemory(channels, &arena)
    self.memory.prepare()
    for channel in 0..<channels { self.memory.targets[channel] = ModalTarget() }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = ModalMemory(inputs, &arena)
    wide.copyRatios(self.memory)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 { wide.copy(channel, self.memory, from) } else { wide.targets[channel] = ModalTarget() }
      channel &+= 1
    }
    self.memory = wide
    channels = inputs
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    entry.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard quiet.isQuiet else { return false }
    var channel = 0
    while channel < channels {
      if !memory.isInaudible(channel) { return false }
      channel &+= 1
    }
    channel = 0
    while channel < channels {
      memory.keep(channel, 0)
      channel &+= 1
    }
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    var room = Arena(block.scratch)
    let entry = entry.follow(block, room.take(Float.self, blockCapacity))
    quiet.update(block, silent: input.isSilent)
    let first = isAsleep ? firstStroke(block) : 0
    if first == block.frames {
      age &+= UInt32(truncatingIfNeeded: block.frames)
      return .silent
    }
    isAsleep = false
    let rows = room.take(Float.self, 16 &* blockCapacity)
    setMemory(rows, 0, 64 &* first)
    let sound = room.take(Float.self, blockCapacity)
    let shares = room.take(Float.self, Modes.most)
    var channel = 0
    while channel < channels {
      run(block, channel, from: first, entry, rows, sound, shares)
      channel &+= 1
    }
    age &+= UInt32(truncatingIfNeeded: block.frames)
    return .sounding
  }

  /// Frames of a block before something comes in.
  @_noLocks private func firstStroke(_ block: Block) -> Int {
    var first = block.frames
    if block.inputs[0].isSilent { return first }
    var channel = 0
    while channel < channels {
      let samples = block.inputs[0][channel]
      var frame = 0
      while frame < first, samples[frame] == 0 { frame &+= 1 }
      first = frame
      channel &+= 1
    }
    return first
  }

  /// One channel. Nothing rings before frame `first`.
  @_noLocks private mutating func run(
    _ block: Block, _ channel: Int, from first: Int, _ entry: UnsafePointer<Float>?,
    _ rows: UnsafeMutablePointer<Float>, _ sound: UnsafeMutablePointer<Float>,
    _ shares: UnsafeMutablePointer<Float>
  ) {
    let (input, modes) = (block.inputs[0][channel], block.crossfades[Self.modes])
    let scale = 48_000 / block.rate
    var frame = 0
    while frame < block.frames {
      var x = limited(sostenuto_numbers(input.vector(frame)), -1e6, 1e6) * scale
      if let entry { x *= entry.vector(frame) }
      sound.store(x, frame)
      frame &+= 16
    }
    let most = modes.old > modes.new ? modes.old : modes.new
    let pairs = (Int(limited(most, 1, Float(Modes.most))) &+ 31) &>> 5
    memory.keep(channel, pairs)
    if modes.blend == nil { share(modes.new, modes.new, 0, shares) }
    let isNew = memory.targets[channel].pairs == 0
    frame = first
    while frame < block.frames {
      let lane = Int((age &+ UInt32(truncatingIfNeeded: frame)) & 15)
      if lane == 0 || isNew && frame == first { aim(block, channel, frame, pairs) }
      var piece = 16 &- lane < block.frames &- frame ? 16 &- lane : block.frames &- frame
      if let blend = modes.blend {
        share(modes.old, modes.new, blend[frame], shares)
        piece = 1
      }
      let isMoving = memory.targets[channel].isMoving
      var pair = 0
      while pair < pairs {
        let (banks, part) = (memory.bank(channel, 2 &* pair), shares + 32 &* pair)
        let (from, to) = (sound + frame, rows + 16 &* frame)
        let (adds, count) = (pair > 0, Int64(truncatingIfNeeded: piece))
        // Constants of which the compiler makes loops of their own.
        if isMoving {
          sostenuto_ring_two(banks, from, part, to, true, adds, count)
        } else {
          sostenuto_ring_two(banks, from, part, to, false, adds, count)
        }
        pair &+= 1
      }
      frame &+= piece
    }
    let (level, to) = (block.parameters[Self.level], block.outputs[0][channel])
    frame = 0
    while frame < block.frames {
      to.store(sostenuto_sum_sixteens(rows + 16 &* frame) * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }

  /// Writes which modes are heard, while their number goes from one to another.
  @inline(__always) @_noLocks private func share(
    _ old: Float, _ new: Float, _ blend: Float, _ shares: UnsafeMutablePointer<Float>
  ) {
    let numbers = Frames(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    let (all, none) = (Frames(repeating: 1), Frames(repeating: 0))
    var mode = 0
    while mode < Modes.most {
      let number = numbers + (Float(mode) + 0.5)
      let before = sostenuto_where_above(old - number, 0, all, none)
      let after = sostenuto_where_above(new - number, 0, all, none)
      shares.store(before * (1 - blend) + after * blend, mode)
      mode &+= 16
    }
  }

  /// Sets where coefficients go in the next sixteen frames.
  @inline(__always) @_noLocks private mutating func aim(
    _ block: Block, _ channel: Int, _ frame: Int, _ pairs: Int
  ) {
    let shape = block.crossfades[Self.shape]
    let blend: Float = if let blend = shape.blend { blend[frame] } else { 1 }
    let modes = block.crossfades[Self.modes]
    let wish = ModalTarget(
      modes: limited(modes.new, 1, Float(Modes.most)), before: limited(modes.old, 1, Float(Modes.most)),
      share: modes.blend?[frame] ?? 1,
      freq: block.parameters[Self.freq].value(channel, at: frame),
      decay: block.parameters[Self.decay].value(channel, at: frame),
      damp: block.parameters[Self.damp].value(0, at: frame),
      slope: block.parameters[Self.slope].value(0, at: frame), old: shape.old, new: shape.new, blend: blend,
      rate: block.rate)
    memory.aim(channel, wish, pairs)
  }
}

/// Settings for which a channel's coefficients are.
struct ModalTarget: BitwiseCopyable {
  var modes = Float.nan
  /// Number of modes before, and the share of the new number while one fades into the other.
  var before = Float.nan
  var share = Float.nan
  var freq = Float.nan
  var decay = Float.nan
  var damp = Float.nan
  var slope = Float.nan
  var old = Float.nan
  var new = Float.nan
  var blend = Float.nan
  var rate = Float.nan
  /// Coefficients are on their way.
  var isMoving = false
  /// Pairs of banks that have coefficients.
  var pairs = 0

  @inline(__always) @_noLocks func isAs(_ other: ModalTarget) -> Bool {
    modes == other.modes && before == other.before && share == other.share && freq == other.freq
      && decay == other.decay && damp == other.damp
      && slope == other.slope
      && old == other.old && new == other.new && blend == other.blend && rate == other.rate
  }
}

/// Banks of every channel, and logarithms of the bodies' modes.
struct ModalMemory: BitwiseCopyable {
  let targets: UnsafeMutablePointer<ModalTarget>
  private let banks, logarithms: UnsafeMutablePointer<Float>

  private static var bankSize: Int { @inline(__always) @_noLocks get { Int(sostenuto_ringing_size) } }
  private static var channelSize: Int { @inline(__always) @_noLocks get { 4 &* bankSize } }
  private static var logarithmCount: Int { @inline(__always) @_noLocks get { 4 &* Modes.most } }

  @_noLocks init(_ channels: Int, _ arena: inout Arena) {
    targets = arena.reserve(channels &* MemoryLayout<ModalTarget>.stride)
      .assumingMemoryBound(to: ModalTarget.self)
    banks = arena.take(Float.self, channels &* Self.channelSize)
    logarithms = arena.take(Float.self, Self.logarithmCount)
  }

  /// Worker.
  func prepare() {
    for (shape, ratios) in Modes.ratios.enumerated() {
      for (mode, ratio) in ratios.enumerated() { logarithms[shape * Modes.most + mode] = logarithm2(ratio) }
    }
  }

  @_noLocks func copyRatios(_ other: ModalMemory) {
    copyMemory(logarithms, other.logarithms, Self.logarithmCount &* 4)
  }

  @_noLocks func copy(_ channel: Int, _ other: ModalMemory, _ from: Int) {
    copyMemory(bank(channel, 0), other.bank(from, 0), Self.channelSize &* 4)
    targets[channel] = other.targets[from]
  }

  @inline(__always) @_noLocks func bank(_ channel: Int, _ number: Int) -> UnsafeMutablePointer<Float> {
    banks + (channel &* Self.channelSize &+ number &* Self.bankSize)
  }

  @inline(__always) @_noLocks func isInaudible(_ channel: Int) -> Bool {
    var loudest = Frames(repeating: 0)
    var number = 0
    while number < 2 &* targets[channel].pairs {
      loudest = sostenuto_larger_magnitudes(loudest, bank(channel, number).vector(0))
      loudest = sostenuto_larger_magnitudes(loudest, bank(channel, number).vector(16))
      number &+= 1
    }
    return !sostenuto_has_above(loudest, 1e-10)
  }

  /// Ends what rings.
  @inline(__always) @_noLocks func silence(_ channel: Int, from first: Int = 0) {
    var number = first
    while number < 4 {
      bank(channel, number).store(Frames(repeating: 0), 0)
      bank(channel, number).store(Frames(repeating: 0), 16)
      number &+= 1
    }
  }

  /// Ends what rings beyond these pairs of banks.
  @inline(__always) @_noLocks func keep(_ channel: Int, _ pairs: Int) {
    if pairs < targets[channel].pairs {
      silence(channel, from: 2 &* pairs)
      targets[channel].pairs = pairs
    }
  }

  @inline(__always) @_noLocks func aim(_ channel: Int, _ wish: ModalTarget, _ pairs: Int) {
    let target = targets[channel]
    if target.isAs(wish), !target.isMoving, pairs == target.pairs { return }
    calculate(channel, wish, pairs)
  }

  @inline(never) @_noLocks private func calculate(_ channel: Int, _ wish: ModalTarget, _ pairs: Int) {
    let before = targets[channel]
    var number = 0
    while number < 2 &* pairs {
      let bank = bank(channel, number)
      let isNew = number >= 2 &* before.pairs
      let (oldCosine, oldSine) = (bank.vector(112), bank.vector(128))
      let (cosine, sine, weight) = coefficients(wish, 16 &* number)
      bank.store(isNew ? cosine : oldCosine, 32)
      bank.store(isNew ? sine : oldSine, 48)
      bank.store(isNew ? Frames(repeating: 0) : (cosine - oldCosine) * (1.0 / 16), 64)
      bank.store(isNew ? Frames(repeating: 0) : (sine - oldSine) * (1.0 / 16), 80)
      bank.store(weight, 96)
      bank.store(cosine, 112)
      bank.store(sine, 128)
      number &+= 1
    }
    level(channel, wish, pairs)
    targets[channel] = wish
    targets[channel].pairs = pairs
    targets[channel].isMoving = before.pairs > 0 && !before.isAs(wish)
  }

  /// A stroke sets all modes ringing at once: the weights of those that are heard add up to one, however many they are.
  @inline(__always) @_noLocks private func level(_ channel: Int, _ wish: ModalTarget, _ pairs: Int) {
    let numbers = Frames(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    var sums = Frames(repeating: 0)
    var number = 0
    while number < 2 &* pairs {
      let (place, weights) = (numbers + (Float(16 &* number) + 0.5), bank(channel, number).vector(96))
      let new = sostenuto_where_above(wish.modes - place, 0, weights, Frames(repeating: 0))
      let old = sostenuto_where_above(wish.before - place, 0, weights, Frames(repeating: 0))
      sums += old * (1 - wish.share) + new * wish.share
      number &+= 1
    }
    var (sum, lane): (Float, Int) = (0, 0)
    while lane < 16 {
      sum += sums[lane]
      lane &+= 1
    }
    // Without any that is heard there is nothing to make as loud.
    let scale = sum > 1e-20 ? 1 / sum : 0
    number = 0
    while number < 2 &* pairs {
      bank(channel, number).store(bank(channel, number).vector(96) * scale, 96)
      number &+= 1
    }
  }

  /// Cosine and sine of the turn of sixteen modes, times what remains after a frame, and their weights.
  @inline(__always) @_noLocks private func coefficients(_ wish: ModalTarget, _ mode: Int) -> (
    Frames, Frames, Frames
  ) {
    let old = logarithms.vector(Int(limited(wish.old, 0, 3)) &* Modes.most &+ mode)
    let new = logarithms.vector(Int(limited(wish.new, 0, 3)) &* Modes.most &+ mode)
    let octaves = old * (1 - wish.blend) + new * wish.blend
    // In halves of the rate: one is half of it.
    let lowest = limited(wish.freq, 1, wish.rate) * 2 / wish.rate
    let frequency = sostenuto_powers_of_two(octaves) * lowest
    let steepness = limited(wish.slope, -96, 24) * (1 / 6.020_6)
    let slope = sostenuto_powers_of_two(octaves * steepness)
    let weight = slope * MovingPhases.fade(frequency * 2_147_483_648)
    let place = atMost(0.98, frequency)
    let sooner = limited(wish.damp, 0, 100) * 0.02
    let later = sostenuto_powers_of_two(octaves * sooner)
    let falls = 6.907_755_3 / (limited(wish.decay, 0.001, 1000) * wish.rate)
    let x = atMost(0.5, later * falls)
    // 1 - exp(-x), by its series, since most of the digits would be lost in the difference.
    let rest = 1 - x * (1.0 / 3) * (1 - x * 0.25)
    let loss = x * (1 - x * 0.5 * rest)
    let s = sineOfQuarters(place)
    let turned = sineOfQuarters(1 - place)
    let kept = 1 - loss
    let double = s * 2
    let less = loss + double * s * kept
    return (1 - less, double * turned * kept, weight)
  }
}

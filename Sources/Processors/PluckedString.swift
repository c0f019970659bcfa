import CVector
import Patch
import Realtime

/// A plucked string: a loop of one period, in which sound decays (K. Karplus and A. Strong, "Digital synthesis of
/// plucked-string and drum timbres", 1983; with the extensions of D. Jaffe and J. O. Smith, "Extensions of the Karplus-Strong
/// plucked-string algorithm", 1983).
///
/// The loop's filter is symmetric, so it delays all frequencies alike, and the string is in tune. What its place on the string
/// takes away is a comb, which is heard behind the loop and not before it: no frequency of the loop depends on it.
public struct PluckedString: Kernel {
  public static let description = KindDescription(
    name: "string", summary: "A string that is plucked by a gate, or set into motion by sound.",
    category: .source,
    inputs: [
      PortDescription("in", .parameter("channels"), "Sound that goes into the string."),
      PortDescription(
        "gate", .parameter("channels"), "Plucks where it rises above zero, as loud as it is high.",
        role: .sidechain),
    ],
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .frequency(
        "freq", "Pitch, a sixth of the rate at most; a list gives one a channel.", default: 220,
        range: 16...20_000, isPerChannel: true),
      .number(
        "decay", "Time in which its lowest partial falls by 60 dB; less where `damp` takes more.", default: 4,
        range: 0.01...60, unit: .seconds, isPerChannel: true),
      .percent("damp", "How much sooner high partials fall.", default: 40),
      .number(
        "position", "Where it is plucked, as a part of its length: partials with a node there are missing.",
        default: 13, range: 1...50, unit: .percent),
      .gain("level", "Loudness.", default: -6, isPerChannel: true),
      .count(
        "channels", "How many strings, one a channel; at least one for each channel of any cable.",
        default: 1,
        smoothing: .kernel),
    ], cost: .init(20, perChannel: 200))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var decay: Int { @_noLocks get { 1 } }
  public static var damp: Int { @_noLocks get { 2 } }
  public static var position: Int { @_noLocks get { 3 } }
  public static var level: Int { @_noLocks get { 4 } }
  public static var channels: Int { @_noLocks get { 5 } }

  private var count: Int
  private let seed: UInt64
  private var memory: StringMemory
  private var head = 0
  private var entry = Entry()
  private var quiet = QuietCell()
  private var quietFrames = 0

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { StringMemory(configuration.outputs[0], rate: configuration.rate, &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    seed = configuration.seed
    var arena = Arena(memory)
    self.memory = StringMemory(count, rate: configuration.rate, &arena)
  }

  /// Resamples what is on the strings. Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    entry.stretch(by: new / old)
    let before = self.memory
    let pasts = (0..<count).map { before.pasts($0, head, step: old / new) }
    if let memory {
      var arena = Arena(memory)
      self.memory = StringMemory(count, rate: new, &arena)
    }
    for channel in 0..<count {
      self.memory.plucks[channel] = before.plucks[channel]
      self.memory.restore(channel, head, pasts[channel], step: old / new)
    }
    self.memory.spread = StringMemory.spread(new)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = self.memory.another(wide, &arena)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new.begin(channel, as: self.memory, from)
      channel &+= 1
    }
    (self.memory, count) = (new, wide)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    return quietFrames > memory.length
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    var room = Arena(block.scratch)
    let work = StringWork(&room)
    let entry = entry.follow(block, room.take(Float.self, blockCapacity))
    var isQuiet = true
    var channel = 0
    while channel < count {
      pluck(block, channel, entry, work)
      work.prepare(block, channel, memory)
      if !run(block, channel, work) { isQuiet = false }
      channel &+= 1
    }
    quiet.update(block, silent: isQuiet)
    if !isQuiet { quietFrames = 0 }
    head = (head &+ block.frames) & (memory.length &- 1)
    return .sounding
  }

  /// Writes what goes into the string: the input, and noise of one period after each rise of the gate.
  @inline(__always) @_noLocks private func pluck(
    _ block: Block, _ channel: Int, _ entry: UnsafePointer<Float>?, _ work: StringWork
  ) {
    let (input, gate) = (block.inputs[0][channel], block.inputs[1])
    var frame = 0
    while frame < block.frames {
      let x = sostenuto_numbers(input.vector(frame))
      work.sound.store(entry.map { x * $0.vector(frame) } ?? x, frame)
      frame &+= 16
    }
    let pluck = memory.plucks + channel
    if gate.isSilent, pluck.pointee.left == 0 {
      pluck.pointee.isHigh = false
      return
    }
    addPlucks(block, channel, gate[channel], pluck, work)
  }

  @inline(never) @_noLocks private func addPlucks(
    _ block: Block, _ channel: Int, _ gate: UnsafePointer<Float>, _ pluck: UnsafeMutablePointer<Pluck>,
    _ work: StringWork
  ) {
    let freq = block.parameters[Self.freq]
    let key = UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9
    var frame = 0
    while frame < block.frames {
      let height = gate[frame]
      let isHigh = height > 0
      if isHigh, !pluck.pointee.isHigh {
        pluck.pointee.number &+= 1
        pluck.pointee.height = limited(height, 0, 100)
        let period = block.rate / limited(freq.value(channel, at: frame), 16, block.rate)
        pluck.pointee.left = Int32(period + 0.5)
      }
      pluck.pointee.isHigh = isHigh
      if pluck.pointee.left > 0 {
        var hash = (pluck.pointee.number &* 0x85eb_ca6b) ^ UInt32(truncatingIfNeeded: pluck.pointee.left)
        hash = Noise.mixed(Noise.mixed(hash ^ key) &+ UInt32(truncatingIfNeeded: seed &>> 32))
        work.sound[frame] += Float(Int32(bitPattern: hash)) * (1 / 2_147_483_648) * pluck.pointee.height
        pluck.pointee.left &-= 1
      }
      frame &+= 1
    }
  }

  /// Writes a channel's block. True when all of it is inaudible.
  @_noLocks private func run(_ block: Block, _ channel: Int, _ work: StringWork) -> Bool {
    let (line, history) = (memory.line(channel), memory.history(channel))
    let (spread, whole) = (memory.spread, Int(work.wholes[0]))
    // Frames that can be calculated at once, since the loop is longer.
    let most = work.nearest &- 3 < 16 ? work.nearest &- 3 : 16
    var loudest = Frames(repeating: 0)
    var frame = 0
    while frame < block.frames {
      let position = head &+ frame
      let lanes = block.frames &- frame < most ? block.frames &- frame : most
      let tap =
        work.isSteady
        ? line.taps(position, whole, work.weights)
        : line.taps(position, work.wholes + frame, work.parts + frame, work.products)
      let y = sostenuto_numbers(addProduct(work.sound.vector(frame), tap, work.gains.vector(frame)))
      history.write(y, lanes, at: position, work.products)
      let a = work.damps.vector(frame)
      let outer = y + history.vector(position &- 2 &* spread)
      line.write(
        addProduct(outer * a, history.vector(position &- spread), 1 - 2 * a), lanes, at: position,
        work.products)
      let comb =
        work.isPlaceSteady
        ? line.taps(position, Int(work.places[0]), work.placeWeights)
        : line.taps(position, work.places + frame, work.placeParts + frame, work.products)
      work.heard.store(y - comb, frame)
      loudest = sostenuto_join(
        sostenuto_larger_magnitudes(loudest, y), loudest, Int32(truncatingIfNeeded: lanes))
      frame &+= lanes
    }
    let (level, to) = (block.parameters[Self.level], block.outputs[0][channel])
    frame = 0
    while frame < block.frames {
      to.store(work.heard.vector(frame) * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
    return !sostenuto_has_above(loudest, 1e-10)
  }
}

/// Noise that plucks a string.
struct Pluck: BitwiseCopyable {
  /// Frames that are left of it.
  var left: Int32 = 0
  /// How many there have been.
  var number: UInt32 = 0
  var height: Float = 0
  var isHigh = false
}

/// The loops of all channels.
struct StringMemory: BitwiseCopyable {
  /// Frames of a line: a power of two.
  let length: Int
  /// Frames between the three that the loop's filter adds up: as far apart in time at any rate.
  var spread: Int
  let plucks: UnsafeMutablePointer<Pluck>
  private let lines, histories: UnsafeMutablePointer<Float>
  private static var historyLength: Int { @inline(__always) @_noLocks get { 128 } }

  init(_ channels: Int, rate: Double, _ arena: inout Arena) {
    var length = 256
    while Double(length) < rate / 16 + 128 { length *= 2 }
    self.init(channels, length: length, spread: Self.spread(rate), &arena)
  }

  @_noLocks private init(_ channels: Int, length: Int, spread: Int, _ arena: inout Arena) {
    (self.length, self.spread) = (length, spread)
    plucks = arena.reserve(MemoryLayout<Pluck>.stride &* channels).assumingMemoryBound(to: Pluck.self)
    lines = arena.take(Float.self, channels &* (length &+ DelayLine.margin))
    histories = arena.take(Float.self, channels &* (Self.historyLength &+ DelayLine.margin))
  }

  /// Memory for as long loops of another number of channels.
  @_noLocks func another(_ channels: Int, _ arena: inout Arena) -> StringMemory {
    StringMemory(channels, length: length, spread: spread, &arena)
  }

  /// Begins a channel in zeroed memory: as channel `from` of other memory, or, below 0, at rest.
  @_noLocks func begin(_ channel: Int, as other: StringMemory, _ from: Int) {
    plucks[channel] = from >= 0 ? other.plucks[from] : Pluck()
    guard from >= 0 else { return }
    let (line, history) = (length &+ DelayLine.margin, Self.historyLength &+ DelayLine.margin)
    copyMemory(lines + channel &* line, other.lines + from &* line, 4 &* line)
    copyMemory(histories + channel &* history, other.histories + from &* history, 4 &* history)
  }

  static func spread(_ rate: Double) -> Int { min(max(Int((rate / 48_000).rounded()), 1), 16) }

  @inline(__always) @_noLocks func line(_ channel: Int) -> DelayLine {
    DelayLine(lines + channel &* (length &+ DelayLine.margin), length: length)
  }

  /// Latest output of the string, before the loop's filter.
  @inline(__always) @_noLocks func history(_ channel: Int) -> DelayLine {
    DelayLine(
      histories + channel &* (Self.historyLength &+ DelayLine.margin), length: Self.historyLength)
  }

  /// Worker.
  func pasts(_ channel: Int, _ head: Int, step: Double) -> (line: Past, history: Past) {
    (
      Past((1...length).map { line(channel)[head - $0] }, step: step),
      Past((1...Self.historyLength).map { history(channel)[head - $0] }, step: step)
    )
  }

  /// Worker.
  func restore(_ channel: Int, _ head: Int, _ pasts: (line: Past, history: Past), step: Double) {
    for age in 1...length { line(channel).write(pasts.line.value(Double(age) * step), at: head - age) }
    for age in 1...Self.historyLength {
      history(channel).write(pasts.history.value(Double(age) * step), at: head - age)
    }
  }
}

/// One channel's block: numbers of the loop in each frame.
struct StringWork: BitwiseCopyable {
  let wholes, places: UnsafeMutablePointer<Int32>
  let parts, gains, damps, sound, heard, placeParts: UnsafeMutablePointer<Float>
  let weights, placeWeights, products: UnsafeMutablePointer<Float>
  private let known: UnsafeMutablePointer<StringCourse>

  var nearest: Int { @inline(__always) @_noLocks get { known.pointee.nearest } }
  var isSteady: Bool { @inline(__always) @_noLocks get { known.pointee.isSteady } }
  var isPlaceSteady: Bool { @inline(__always) @_noLocks get { known.pointee.isPlaceSteady } }

  struct StringCourse: BitwiseCopyable {
    /// The smallest whole delay.
    var nearest = 4
    var isSteady = false
    var isPlaceSteady = false
  }

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    // Vectors may begin at any frame.
    let size = blockCapacity &+ 16
    wholes = room.reserve(size &* 4).assumingMemoryBound(to: Int32.self)
    places = room.reserve(size &* 4).assumingMemoryBound(to: Int32.self)
    parts = room.take(Float.self, size)
    gains = room.take(Float.self, size)
    damps = room.take(Float.self, size)
    sound = room.take(Float.self, size)
    heard = room.take(Float.self, size)
    placeParts = room.take(Float.self, size)
    weights = room.take(Float.self, 8)
    placeWeights = room.take(Float.self, 8)
    products = room.take(Float.self, 128)
    known = room.reserve(64).assumingMemoryBound(to: StringCourse.self)
  }

  /// Calculates the loop's delay, gain and filter in each frame.
  @_noLocks func prepare(_ block: Block, _ channel: Int, _ memory: StringMemory) {
    let (freq, decay) = (block.parameters[PluckedString.freq], block.parameters[PluckedString.decay])
    let (damp, position) = (block.parameters[PluckedString.damp], block.parameters[PluckedString.position])
    let isAnyMoving = !freq.isSteady || !decay.isSteady || !damp.isSteady || !position.isSteady
    let spread = Float(memory.spread)
    let (rate, longest) = (block.rate, Float(memory.length &- 80))
    let stretch = rate / (48_000 * spread)
    var nearest = UInt32.max
    var frame = 0
    while frame < block.frames {
      if frame == 0 || isAnyMoving {
        let f = limited(freq.vector(channel, frame), 16, rate / (spread + 5))
        let period = rate / f
        let d = limited(damp.vector(0, frame) * 0.01, 0, 1)
        let a = atMost(0.25, d * d * (0.25 * stretch * stretch))
        // The filter's gain at the pitch: 1 - 2 a (1 - cos).
        let s = sineOfQuarters(f * (2 * spread / rate))
        let falls = -9.965_784_3 / (f * limited(decay.vector(channel, frame), 0.001, 1000))
        let (whole, part) = DelayLine.split(limited(period - spread, 4, longest))
        let kept = (1 - 4 * a * s * s) * (1 - Self.loss(part, f * (6.283_185_3 / rate)))
        // Below its pitch the loop must not grow, however much is taken from the pitch.
        let gain = sostenuto_lesser(
          sostenuto_powers_of_two(falls) / kept, sostenuto_powers_of_two(falls * 0.25))
        let along = limited(position.vector(0, frame) * 0.01, 0, 1)
        let (place, placePart) = DelayLine.split(limited(period * along - spread, 4, longest))
        nearest =
          nearest < least(unsafeBitCast(whole, to: SIMD16<UInt32>.self))
          ? nearest : least(unsafeBitCast(whole, to: SIMD16<UInt32>.self))
        store(whole, wholes, frame)
        store(place, places, frame)
        parts.store(part, frame)
        placeParts.store(placePart, frame)
        gains.store(gain, frame)
        damps.store(a, frame)
      } else {
        gains.store(gains.vector(0), frame)
        damps.store(damps.vector(0), frame)
      }
      frame &+= 16
    }
    gains.store(gains.vector(frame &- 16), frame)
    damps.store(damps.vector(frame &- 16), frame)
    let isSteady = freq.isSteady
    known.pointee = StringCourse(
      nearest: Int(nearest), isSteady: isSteady, isPlaceSteady: isSteady && position.isSteady)
    if isSteady { setWeights(weights, Int(wholes[0]), parts[0]) }
    if isSteady, position.isSteady { setWeights(placeWeights, Int(places[0]), placeParts[0]) }
  }

  /// Loss of `Interpolator` at a frequency (radians a frame) in each pass: least squares over places between frames,
  /// within 1e-5 up to a twelfth of the rate and 1e-4 to an eighth.
  @inline(__always) @_noLocks private static func loss(_ part: Frames, _ frequency: Frames) -> Frames {
    let w = atMost(0.85, frequency)
    let (u, e) = (w * w, part * (1 - part))
    let first = (0.490_130_4 + 0.292_041_8 * e) * (0.25 - e)
    let second = -0.090_999_93 + e * (6.274_718 * e - 0.837_079_4)
    let third = 0.004_333_983 + e * (0.916_771_2 - 4.825_643 * e)
    return atLeast(0, u * e * (first + u * (second + u * third)))
  }

  @inline(__always) @_noLocks private func store(
    _ v: SIMD16<Int32>, _ to: UnsafeMutablePointer<Int32>, _ frame: Int
  ) {
    UnsafeMutableRawPointer(to + frame).storeBytes(of: v, as: SIMD16<Int32>.self)
  }

  @inline(__always) @_noLocks private func setWeights(
    _ to: UnsafeMutablePointer<Float>, _ whole: Int, _ part: Float
  ) {
    UnsafeMutableRawPointer(to).storeBytes(of: Interpolator.weights(whole, part), as: SIMD8<Float>.self)
  }
}

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
      if let rest = work.rest(block, channel, memory) {
        if !run(block, channel, work, rest) { isQuiet = false }
      } else {
        work.prepare(block, channel, memory)
        if !run(block, channel, work) { isQuiet = false }
      }
      channel &+= 1
    }
    quiet.update(block, silent: isQuiet)
    if !isQuiet { quietFrames = 0 }
    head = (head &+ block.frames) & (memory.length &- 1)
    return .sounding
  }

  /// Writes what goes into the string: the input, and noise of one period after each rise of the gate.
  @inline(__always) @_noLocks private mutating func pluck(
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

  @inline(never) @_noLocks private mutating func addPlucks(
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

  /// Writes a channel's block of whole vectors, at rest, of a string so long that vectors can be calculated at once. The
  /// same bits as by the other function. True when all of it is inaudible.
  @inline(never) @_noLocks private mutating func run(
    _ block: Block, _ channel: Int, _ work: StringWork, _ rest: StringRest
  ) -> Bool {
    let (line, history) = (memory.line(channel), memory.history(channel))
    let (whole, place) = (rest.whole, rest.place)
    let (gain, damp) = (Frames(repeating: rest.gain), Frames(repeating: rest.damp))
    var loudest = Frames(repeating: 0)
    // The frames before, and those before these.
    var (before, first) = (history.vector(head &- 16), history.vector(head &- 17))
    var frame = 0
    while frame < block.frames {
      let position = head &+ frame
      let tap = line.taps(position, whole, rest.weights)
      let y = sostenuto_numbers(addProduct(work.sound.vector(frame), tap, gain))
      let once = sostenuto_delayed_by_one(before, y)
      let twice = sostenuto_delayed_by_one(first, once)
      history.write(y, 16, at: position, work.products)
      line.write(sostenuto_string_loop(y, once, twice, damp), 16, at: position, work.products)
      work.heard.store(y, frame)
      loudest = sostenuto_larger_magnitudes(loudest, y)
      (before, first) = (y, once)
      frame &+= 16
    }
    // The comb comes behind the loop: the frames that it reads are no longer on their way to memory.
    let (level, to) = (block.parameters[Self.level], block.outputs[0][channel])
    frame = 0
    while frame < block.frames {
      let comb = line.taps(head &+ frame, place, rest.combWeights)
      to.store((work.heard.vector(frame) - comb) * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
    line.fetch(head &+ block.frames)
    return !sostenuto_has_above(loudest, 1e-10)
  }

  /// Writes a channel's block. True when all of it is inaudible.
  @_noLocks private mutating func run(_ block: Block, _ channel: Int, _ work: StringWork) -> Bool {
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
        : work.isFlat
          ? line.taps(
            position, work.wholes + frame, work.parts + frame, flats: work.flats + frame, work.products)
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

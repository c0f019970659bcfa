import Patch
import Realtime

/// A slow wave that moves parameters.
///
/// Its place is a whole number that wraps, 40 bits a cycle (`Cycles.h`): no error builds up, and any split of the frames
/// gives the same bits. Random values are hashes of the cycle's number, by the node's seed.
///
/// A rate in notes is in phase with the transport while that rolls: the place glides to where cycles begin with the notes,
/// counted from bar 1. A channel that was reset goes its own way until the rate is set again.
public struct Lfo: Kernel {
  public static let description = KindDescription(
    name: "lfo", summary: "A slow wave that moves parameters of other nodes.", category: .modulation,
    inputs: [
      PortDescription(
        "reset", .parameter("channels"), "Opening it begins a cycle, of each channel by itself.", role: .gate)
    ],
    outputs: [
      PortDescription(
        "out", .parameter("channels"), "From -1 to 1 (bipolar) or from 0 to 1 (unipolar), as `range` says.",
        swing: .choice("range"))
    ],
    parameters: [
      .choice(
        "shape",
        "The wave. Saws go up or down; `random` takes a new value in each cycle (sample and hold). `wander` glides to a new random value during each cycle.",
        ["sine", "triangle", "up", "down", "square", "random", "wander"]),
      rateDescription,
      .number(
        "phase", "How far it is ahead; 100 % is a cycle.", default: 0, range: -100...100, unit: .percent),
      .percent("width", "Part of the cycle in which a square is high.", default: 50),
      .choice("range", "Bipolar: from -1 to 1. Unipolar: from 0 to 1.", ["bipolar", "unipolar"]),
      .percent(
        "spread", "How far channels are apart in the cycle; 100 %: two go against each other.", default: 0),
      .count(
        "channels",
        "How many waves, one a channel; at least one for each channel of cables into `reset` and `rate`.",
        default: 1, smoothing: .kernel),
    ], face: .level, amplification: .never, cost: .init(8, perChannel: 12))

  private static var rateDescription: ParameterDescription {
    var rate = ParameterDescription.frequency(
      "rate",
      "Cycles a second; backwards where a cable brings it below zero. A note is in phase with the transport's. A list gives one a channel.",
      default: 1, range: 0...1000, isPerChannel: true)
    rate.isInPhase = true
    return rate
  }

  /// Positions in `description.parameters`.
  public static var shape: Int { @_noLocks get { 0 } }
  public static var rate: Int { @_noLocks get { 1 } }
  public static var phase: Int { @_noLocks get { 2 } }
  public static var width: Int { @_noLocks get { 3 } }
  public static var range: Int { @_noLocks get { 4 } }
  public static var spread: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  public static var isEndless: Bool { true }

  let seed: UInt64
  var hasBegun = false
  /// The transport may lead a channel.
  var isLed = false
  /// A rate at rest and the sample rate, and the parts of a frame with them.
  var known = SIMD2<Float>(repeating: .nan)
  var knownStep: Int64 = 0

  /// Parts of a cycle.
  static var parts: Double { @inline(__always) @_noLocks get { 1_099_511_627_776 } }

  /// State of a channel. Its memory begins with zeros.
  struct Voice: BitwiseCopyable {
    /// Place of the next frame, in parts of a cycle.
    var place: Int64
    /// Parts of a frame by which the place glides towards the transport's.
    var lean: Int64
    /// Length of a cycle in whole notes; 0: the rate is in hertz.
    var cycle: Double
    /// Random values of the cycle in which they were needed last, and of the next one.
    var number: UInt32
    var value, next: Float
    var isKnown: Bool
    /// The input was open.
    var wasOpen: Bool
    /// It was reset, so that the transport does not lead it.
    var isFree: Bool
  }

  var voices: UnsafeMutablePointer<Voice>
  var count: Int

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    configuration.outputs[0] * MemoryLayout<Voice>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    seed = configuration.seed
    count = configuration.outputs[0]
    voices = memory.assumingMemoryBound(to: Voice.self)
  }

  /// A new channel goes with the first one, until something tells it apart.
  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    let new = memory.assumingMemoryBound(to: Voice.self)
    let cycle = voices[count &- 1].cycle
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new[channel] = voices[from >= 0 ? from : 0]
      if from != channel { new[channel].isKnown = false }
      if from < 0 { (new[channel].cycle, new[channel].wasOpen) = (cycle, false) }
      channel &+= 1
    }
    (voices, count) = (new, wide)
  }

  /// The lengths of notes come in order: each holds for the channels behind it too.
  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    guard parameter == Self.rate else { return }
    isLed = true
    let length = Self.length(of: value)
    var channel = element
    while channel < count {
      (voices[channel].cycle, voices[channel].isFree) = (length, false)
      channel &+= 1
    }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    // In a function of its own: the other cases use more registers, which this one would have to save.
    guard stay(block) else { return processAny(block) }
    return .sounding
  }

  @inline(never) @_noLocks private mutating func processAny(_ block: Block) -> Activity {
    if isLed, block.time & 63 == 0 || !hasBegun { follow(block) }
    // A byte that was just written would keep what lies beside it from being loaded at once.
    if !hasBegun { hasBegun = true }
    let (shape, range) = (block.crossfades[Self.shape], block.crossfades[Self.range])
    let (ahead, width) = (block.parameters[Self.phase], block.parameters[Self.width])
    let (rate, spread) = (block.parameters[Self.rate], block.parameters[Self.spread])
    // One test for all that may move.
    let moving =
      Int(bitPattern: shape.blend) | Int(bitPattern: range.blend) | Int(bitPattern: ahead.stream)
      | Int(bitPattern: width.stream) | Int(bitPattern: spread.stream)
    guard moving == 0 else { return move(block) }
    // Random values mostly stay for many blocks.
    if shape.new < 5, let rates = rate.stream, sweeps(block) {
      sweep(block, rates)
    } else if shape.new < 5 || !rate.isSteady {
      run(block)
    } else if shape.new > 5 {
      glide(block)
    } else {
      hold(block)
    }
    return .sounding
  }

  /// How far a channel is ahead, in parts of a cycle.
  @inline(__always) @_noLocks static func ahead(_ percent: Float, _ spread: Float, _ channel: Int)
    -> Int64
  {
    let cycles =
      limited(percent * 0.01, -1000, 1000) + limited(spread, 0, 100) * (Sweep.part(channel) * 0.01)
    return whole(Double(cycles) * parts)
  }

  /// Waves of which no more than the rate moves.
  @inline(never) @_noLocks private mutating func run(_ block: Block) {
    let (shape, range) = (block.crossfades[Self.shape].new, block.crossfades[Self.range].new)
    let (ahead, spread) = (block.parameters[Self.phase].value(0), block.parameters[Self.spread].value(0))
    var row = Row(block)
    let (scale, offset) = (1 - 0.5 * range, 0.5 * range)
    let high = block.parameters[Self.width].value(0) * 0.01
    let output = block.outputs[0]
    let isRandom = shape >= 5
    var channel = 0
    while channel < count {
      let (rises, more) = (rises(channel, block), Self.ahead(ahead, spread, channel))
      // Several channels share the places that are written.
      let step = isRandom || rises != 0 || count > 1 ? nil : restingStep(channel, block)
      if step == nil { write(&row, channel, block, rises) }
      let course =
        step.map { Course.steady(first: voices[channel].place &+ more, step: $0) }
        ?? .places(row.places, more: more)
      let wave = Wave(course: course, high: high, scale: scale, offset: offset, to: output[channel])
      if let step { voices[channel].place &+= step &* Int64(truncatingIfNeeded: block.frames) }
      if isRandom {
        vary(wave, row.places, more, channel, isSmooth: shape > 5, block.frames)
      } else {
        wave.write(shape, block.frames)
      }
      channel &+= 1
    }
  }

  /// The same while more than the rate moves.
  @inline(never) @_noLocks private mutating func move(_ block: Block) -> Activity {
    var row = Row(block)
    let places = row.places
    let (shape, range) = (block.crossfades[Self.shape], block.crossfades[Self.range])
    let (ahead, width) = (block.parameters[Self.phase], block.parameters[Self.width])
    let (spread, output) = (block.parameters[Self.spread], block.outputs[0])
    var channel = 0
    while channel < count {
      write(&row, channel, block, rises(channel, block))
      let (to, part) = (output[channel], Sweep.part(channel) * 0.01)
      var frame = 0
      while frame < block.frames {
        // Within what `sostenuto_moved_on` rounds exactly.
        let cycles =
          limited(ahead.vector(0, frame) * 0.01, -1000, 1000)
          + limited(spread.vector(0, frame), 0, 100) * part
        let high = width.vector(0, frame) * 0.01
        var y = wave(shape.new, places + frame, cycles, high, channel)
        if let blend = shape.blend {
          let share = blend.vector(frame)
          y = wave(shape.old, places + frame, cycles, high, channel) * (1 - share) + y * share
        }
        var share = Frames(repeating: range.new)
        if let blend = range.blend {
          share = blend.vector(frame) * range.new + (1 - blend.vector(frame)) * range.old
        }
        to.store(y * (1 - 0.5 * share) + 0.5 * share, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    return .sounding
  }
}

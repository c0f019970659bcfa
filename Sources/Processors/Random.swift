import CVector
import Patch
import Realtime

/// A new random value at each trigger, or at a rate.
///
/// Values are hashes of the seed, the trigger's number and the channel, so that the same patch gives the same ones.
public struct Random: Kernel {
  public static let description = KindDescription(
    name: "random", summary: "A new random value at each trigger, or at a rate.", category: .modulation,
    inputs: [
      PortDescription(
        "trigger", .flexible, "Above 0 it is open; nothing connected: at `rate`.", role: .sidechain)
    ],
    outputs: [PortDescription("out", .parameter("channels"), "From `low` to `high`.")],
    parameters: [
      .number("low", "The lowest value.", default: -1, range: -20_000...20_000),
      .number("high", "The highest value.", default: 1, range: -20_000...20_000),
      ParameterDescription(
        "distribution",
        "Uniform: all are as likely. Normal: those in the middle most, a deviation is a sixth of the range. Coin: one or the other end. Walk: a step from the one before, at most a quarter of the range.",
        form: .choice(["uniform", "normal", "coin", "walk"]), range: 0...3, default: .text("uniform"),
        smoothing: .kernel),
      .frequency(
        "rate", "Values a second where nothing is connected to `trigger`.", default: 4, range: 0...1000),
      ParameterDescription(
        "seed", "Another number gives other values; 0: by the node's name.", form: .integer,
        range: 0...999_999, default: .number(0, .none), smoothing: .kernel),
      .count("channels", "How many values, one a channel.", default: 1),
    ], face: .level, amplification: .never, cost: .init(30, perChannel: 12))

  /// Positions in `description.parameters`.
  public static var low: Int { @_noLocks get { 0 } }
  public static var high: Int { @_noLocks get { 1 } }
  public static var distribution: Int { @_noLocks get { 2 } }
  public static var rate: Int { @_noLocks get { 3 } }
  public static var seed: Int { @_noLocks get { 4 } }
  public static var channels: Int { @_noLocks get { 5 } }

  public static var isEndless: Bool { true }

  /// The present value of one channel, 0...1.
  struct Held: BitwiseCopyable {
    var share: Float = 0.5
    var number: Int64 = 0
    var isOpen = false
    var isNew = true

    @_noLocks init() {}
  }

  private let name: UInt64
  private var seed: UInt64
  private var distribution: Float
  private var beat = Beat(0)
  private var held: UnsafeMutablePointer<Held>
  private let channels: Int

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    configuration.outputs[0] * MemoryLayout<Held>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    name = configuration.seed
    seed = UInt64(max(configuration.value(Self.seed), 0))
    distribution = configuration.value(Self.distribution)
    channels = configuration.outputs[0]
    held = memory.bindMemory(to: Held.self, capacity: channels)
    held.initialize(repeating: Held(), count: channels)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    // As many as before: channels of the trigger do not count.
    copyMemory(memory, held, channels &* MemoryLayout<Held>.stride)
    held = memory.assumingMemoryBound(to: Held.self)
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if parameter == Self.seed { seed = value > 0 ? UInt64(value) : 0 } else { distribution = value }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let parameters = block.parameters
    let (low, high) = (parameters[Self.low], parameters[Self.high])
    let trigger = block.inputs[0]
    if !trigger.isConnected, trigger.isSilent, low.isSteady, high.isSteady,
      beat.goOn(block, parameters[Self.rate]) != nil
    {
      let output = block.outputs[0]
      stay(0, low.value(0), high.value(0), output)
      if output.count > 1 { stayOthers(low.value(0), high.value(0), output) }
    } else {
      change(block)
    }
    return .sounding
  }

  // Mutating, though only memory changes: of a kernel that has just been written a copy would wait for what was written.

  /// A block in which values may change.
  @inline(never) @_noLocks private mutating func change(_ block: Block) {
    let pulses = beat.run(block, Beat.Settings(rate: block.parameters[Self.rate])).ticks
    let (trigger, output, parameters) = (block.inputs[0], block.outputs[0], block.parameters)
    let (low, high, row) = (parameters[Self.low], parameters[Self.high], Rows(block)[0])
    var channel = 0
    while channel < output.count {
      let state = held + channel
      if state.pointee.isNew {
        state.pointee.isNew = false
        draw(state, channel)
      }
      var ticks = pulses
      let open = Gates.open(trigger, channel, block.frames)
      if trigger.isConnected { ticks = Gates.rises(open, state.pointee.isOpen) }
      state.pointee.isOpen = Gates.last(open, block.frames)
      row.fill(state.pointee.share)
      while ticks != 0 {
        var frame = ticks.trailingZeroBitCount
        ticks &= ticks &- 1
        draw(state, channel)
        while frame < block.frames {
          row.store(Frames(repeating: state.pointee.share), frame)
          frame &+= 16
        }
      }
      let to = output[channel]
      var frame = 0
      while frame < 64 {
        let (least, most) = (low.vector(0, frame), high.vector(0, frame))
        to.store(least + (most - least) * row.vector(frame) + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// A block in which a channel keeps its value. It has one, since a beat begins in a block of the other sort.
  @inline(__always) @_noLocks private mutating func stay(
    _ channel: Int, _ low: Float, _ high: Float, _ output: OutputPort
  ) {
    let state = held + channel
    state.pointee.isOpen = false
    output[channel].fill(low + (high - low) * state.pointee.share + 0)
  }

  /// All channels but the first. Apart, since a loop in the caller would make it save registers for one channel too.
  @inline(never) @_noLocks private mutating func stayOthers(_ low: Float, _ high: Float, _ output: OutputPort)
  {
    var channel = 1
    while channel < output.count {
      stay(channel, low, high, output)
      channel &+= 1
    }
  }

  /// Takes the next value of a channel.
  @inline(never) @_noLocks private mutating func draw(_ state: UnsafeMutablePointer<Held>, _ channel: Int) {
    let origin = seed == 0 ? name : seed
    let number = UInt64(bitPattern: state.pointee.number)
    let place = (origin &+ UInt64(truncatingIfNeeded: channel) &* 0xd1b5_4a32_d192_ed03) ^ number
    let bits = Self.mixed(Self.mixed(place &+ 0x9e37_79b9_7f4a_7c15) &+ origin)
    state.pointee.number &+= 1
    let share = Float(bits &>> 40) * (1 / 16_777_215)
    switch Int(distribution) {
    case 0: state.pointee.share = share
    case 1:
      // G. Box and M. Muller, "A note on the generation of random normal deviates", 1958.
      let other = Float(bits & 0xFF_FFFF) * (1 / 16_777_216)
      let size = squareRoot(-2 * logarithm(share * 0.999_999 + 0.000_000_5))
      state.pointee.share = limited(0.5 + size * cosine(6.283_185 * other) / 6, 0, 1)
    case 2: state.pointee.share = bits &>> 63 == 0 ? 0 : 1
    default:
      let next = state.pointee.share + (share - 0.5) * 0.5
      // Beyond an end it turns back.
      state.pointee.share = limited(next < 0 ? 0 - next : next > 1 ? 2 - next : next, 0, 1)
    }
  }

  /// Finaliser of S. Vigna's SplitMix64, after D. Stafford.
  @inline(__always) @_noLocks static func mixed(_ value: UInt64) -> UInt64 {
    var z = value
    z = (z ^ z &>> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z &>> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z &>> 31
  }
}

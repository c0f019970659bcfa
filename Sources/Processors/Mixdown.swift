import Patch
import Realtime

/// The channels of a polyphonic cable, added up.
///
/// To two sides each channel goes by the equal-power law from its place: left cos(t), right sin(t), with t from 0 (place -1)
/// to pi/2 (place 1).
public struct Mixdown: Kernel {
  public static let description = KindDescription(
    name: "mixdown", summary: "Adds up all channels, to two sides or to one.", category: .mixing,
    inputs: [PortDescription("in", .flexible, "Any number of channels.")],
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .number(
        "spread",
        "How far channels are spread over the sides, in order: 100 % has the first left and the last right.",
        default: 0, range: -100...100, unit: .percent),
      .number(
        "pan",
        "Added to each channel's place; -1 is left, 1 is right, a list gives one a channel. Equal power: -3 dB in the middle.",
        default: 0, range: -1...1, isPerChannel: true),
      .gain("level", "Gain of the sum.", default: 0),
      .count("channels", "2: left and right. 1: the plain sum.", default: 2, range: 1...2),
    ], face: .level, cost: .init(20, perChannel: 12))

  /// Positions in `description.parameters`.
  public static var spread: Int { @_noLocks get { 0 } }
  public static var pan: Int { @_noLocks get { 1 } }
  public static var level: Int { @_noLocks get { 2 } }
  /// Index behind the last parameter: the document's channel count of the input.
  private static var countPosition: Int { @_noLocks get { 4 } }

  public static var followsCount: Bool { true }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, output) = (block.inputs[0], block.outputs[0])
    guard !input.isSilent else { return .silent }
    let (spread, pan) = (block.parameters[Self.spread], block.parameters[Self.pan])
    let (level, count) = (block.parameters[Self.level], block.crossfades[Self.countPosition])
    guard count.blend == nil else {
      blend(block, count)
      return .sounding
    }
    let number = Self.number(count.new, input)
    if output.count == 1 {
      add(input, number, level, output[0], block.frames)
    } else if spread.isSteady, pan.isSteady {
      let gains = block.scratch.assumingMemoryBound(to: Float.self)
      Self.write(gains, number, spread.value(0), pan)
      place(input, number, gains, level, output, block.frames)
    } else {
      place(input, number, spread, pan, level, output, block.frames)
    }
    return .sounding
  }

  @inline(__always) @_noLocks private static func number(_ count: Float, _ input: InputPort) -> Int {
    let number = Int(count)
    return number < input.count ? number : input.count
  }

  /// The plain sum.
  @inline(never) @_noLocks private func add(
    _ input: InputPort, _ number: Int, _ level: ParameterStream, _ to: UnsafeMutablePointer<Float>,
    _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      var sum = Frames(repeating: 0)
      var channel = 0
      while channel < number {
        sum += input[channel].vector(frame)
        channel &+= 1
      }
      to.store(sum * level.vector(0, frame) + 0, frame)
      frame &+= 16
    }
  }

  /// Places at rest: the gains of the sides, one pair a channel.
  @inline(never) @_noLocks private func place(
    _ input: InputPort, _ number: Int, _ gains: UnsafeMutablePointer<Float>, _ level: ParameterStream,
    _ output: OutputPort, _ frames: Int
  ) {
    let rights = gains + 64
    var frame = 0
    while frame < frames {
      var (left, right) = (Frames(repeating: 0), Frames(repeating: 0))
      var channel = 0
      while channel < number {
        let x = input[channel].vector(frame)
        left = addProduct(left, x, gains[channel])
        right = addProduct(right, x, rights[channel])
        channel &+= 1
      }
      let gain = level.vector(0, frame)
      output[0].store(left * gain + 0, frame)
      output[1].store(right * gain + 0, frame)
      frame &+= 16
    }
  }

  /// Places that move.
  @inline(never) @_noLocks private func place(
    _ input: InputPort, _ number: Int, _ spread: ParameterStream, _ pan: ParameterStream,
    _ level: ParameterStream,
    _ output: OutputPort, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      let width = spread.vector(0, frame)
      var (left, right) = (Frames(repeating: 0), Frames(repeating: 0))
      var channel = 0
      while channel < number {
        let x = input[channel].vector(frame)
        let gains = Self.gains(
          width, Frames(repeating: Self.part(channel, of: number)), pan.vector(channel, frame))
        left = addProduct(left, x, gains.left)
        right = addProduct(right, x, gains.right)
        channel &+= 1
      }
      let gain = level.vector(0, frame)
      output[0].store(left * gain + 0, frame)
      output[1].store(right * gain + 0, frame)
      frame &+= 16
    }
  }

  /// The number of channels changes, and places with it.
  @inline(never) @_noLocks private func blend(_ block: Block, _ count: CrossfadeStream) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let (spread, pan, level) = (
      block.parameters[Self.spread], block.parameters[Self.pan], block.parameters[Self.level]
    )
    let old = block.scratch.assumingMemoryBound(to: Float.self)
    let before = OutputPort(base: old, count: output.count)
    if output.count == 1 {
      add(input, Self.number(count.old, input), level, before[0], block.frames)
      add(input, Self.number(count.new, input), level, output[0], block.frames)
    } else {
      place(input, Self.number(count.old, input), spread, pan, level, before, block.frames)
      place(input, Self.number(count.new, input), spread, pan, level, output, block.frames)
    }
    guard let blend = count.blend else { return }
    var channel = 0
    while channel < output.count {
      var frame = 0
      while frame < block.frames {
        let share = blend.vector(frame)
        let y = before[channel].vector(frame) * (1 - share) + output[channel].vector(frame) * share
        output[channel].store(y + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// Writes the gains of places at rest: of the left side, and 64 floats behind them of the right one.
  @inline(__always) @_noLocks private static func write(
    _ gains: UnsafeMutablePointer<Float>, _ number: Int, _ spread: Float, _ pan: ParameterStream
  ) {
    let pans = gains + 128
    let parts = gains + 192
    var channel = 0
    while channel < number {
      pans[channel] = pan.value(channel)
      parts[channel] = part(channel, of: number)
      channel &+= 1
    }
    channel = 0
    while channel < number {
      let pair = Self.gains(Frames(repeating: spread), parts.vector(channel), pans.vector(channel))
      gains.store(pair.left, channel)
      gains.store(pair.right, 64 &+ channel)
      channel &+= 16
    }
  }

  /// Place of a channel with the whole spread, -1...1.
  @inline(__always) @_noLocks private static func part(_ channel: Int, of number: Int) -> Float {
    number > 1 ? Float(2 &* channel) / Float(number &- 1) - 1 : 0
  }

  @inline(__always) @_noLocks private static func gains(_ spread: Frames, _ part: Frames, _ pan: Frames)
    -> (left: Frames, right: Frames)
  {
    let place = limited(addProduct(pan, spread * 0.01, part), -1, 1)
    return (sineOfQuarters((1 - place) * 0.5), sineOfQuarters((1 + place) * 0.5))
  }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

import CVector
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
  /// A single channel is multiplied for each side.
  public static var isAffineOfOneChannel: Bool { true }

  /// Gains of places at rest: of each channel the left one and the right one.
  private var gains: UnsafeMutablePointer<Float>
  /// The pans that they are for, one a channel.
  private var pans: UnsafeMutablePointer<Float>
  /// The spread and the number of channels that they are for, the pan where all have the same, and 1 where it is a list.
  private var known = SIMD4<Float>(repeating: .nan)

  public static func memorySize(_ configuration: KernelConfiguration) -> Int { 3 * 64 * 4 }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    gains = memory.assumingMemoryBound(to: Float.self)
    pans = gains + 128
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    gains = memory.assumingMemoryBound(to: Float.self)
    pans = gains + 128
    known = SIMD4(repeating: .nan)
  }

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
    if input.count == 1, number == 1 {
      multiply(block)
    } else if output.count == 1 {
      add(input, number, level, output[0])
    } else if spread.isSteady, pan.isSteady {
      if !knows(number, spread.value(0), pan) { write(number, spread.value(0), pan) }
      place(input, number, level, output)
    } else {
      place(input, number, spread, pan, level, output, block.frames)
    }
    return .sounding
  }

  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    let (spread, pan) = (block.parameters[Self.spread], block.parameters[Self.pan])
    let (level, count) = (block.parameters[Self.level], block.crossfades[Self.countPosition])
    guard count.blend == nil, count.new >= 1, spread.isSteady, pan.isSteady, level.isSteady else {
      return false
    }
    let sides = block.outputs[0].count
    let factors = factors(spread.value(0), pan, level.value(0), sides: sides)
    channels[0] = Affine(factor: factors.left, addend: 0)
    if sides > 1 { channels[1] = Affine(factor: factors.right, addend: 0) }
    return true
  }

  /// A single channel, as `affine` says.
  @inline(__always) @_noLocks private mutating func multiply(_ block: Block) {
    let (from, output) = (block.inputs[0][0], block.outputs[0])
    let (spread, pan) = (block.parameters[Self.spread], block.parameters[Self.pan])
    let level = block.parameters[Self.level]
    if spread.isSteady, pan.isSteady, level.isSteady {
      let factors = factors(spread.value(0), pan, level.value(0), sides: output.count)
      multiplyWhole(from, factors.left, to: output[0])
      if output.count > 1 { multiplyWhole(from, factors.right, to: output[1]) }
    } else {
      place(from, spread, pan, level, output, block.frames)
    }
  }

  /// The same while something moves, with the rounding of a place at rest.
  @inline(never) @_noLocks private func place(
    _ from: UnsafePointer<Float>, _ spread: ParameterStream, _ pan: ParameterStream, _ level: ParameterStream,
    _ output: OutputPort, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      let (x, gain) = (from.vector(frame), level.vector(0, frame))
      if output.count > 1 {
        let gains = Self.gains(spread.vector(0, frame), Frames(repeating: 0), pan.vector(0, frame))
        output[0].store(x * (gains.left * gain) + 0, frame)
        output[1].store(x * (gains.right * gain) + 0, frame)
      } else {
        output[0].store(x * gain + 0, frame)
      }
      frame &+= 16
    }
  }

  /// Factors of a single channel for both sides, or for one.
  @inline(__always) @_noLocks private mutating func factors(
    _ spread: Float, _ pan: ParameterStream, _ level: Float, sides: Int
  ) -> (left: Float, right: Float) {
    guard sides > 1 else { return (level, 0) }
    if !knows(1, spread, pan) { write(1, spread, pan) }
    return (gains[0] * level, gains[1] * level)
  }

  @inline(__always) @_noLocks private static func number(_ count: Float, _ input: InputPort) -> Int {
    let number = Int(count)
    return number < input.count ? number : input.count
  }

  /// The plain sum of a whole block: the frames behind a shorter one are nobody's.
  @inline(__always) @_noLocks private func add(
    _ input: InputPort, _ number: Int, _ level: ParameterStream, _ to: UnsafeMutablePointer<Float>
  ) {
    let zero = Frames(repeating: 0)
    var (a, b, c, d) = (zero, zero, zero, zero)
    var channel = 0
    while channel < number {
      let from = input[channel]
      a += from.vector(0)
      b += from.vector(16)
      c += from.vector(32)
      d += from.vector(48)
      channel &+= 1
    }
    to.store(a * level.vector(0, 0) + 0, 0)
    to.store(b * level.vector(0, 16) + 0, 16)
    to.store(c * level.vector(0, 32) + 0, 32)
    to.store(d * level.vector(0, 48) + 0, 48)
  }

  /// Places at rest, a whole block: half of it at a time, of which both sides' sums have registers anywhere.
  @inline(__always) @_noLocks private func place(
    _ input: InputPort, _ number: Int, _ level: ParameterStream, _ output: OutputPort
  ) {
    let (lefts, rights) = (output[0], output[1])
    var frame = 0
    while frame < blockCapacity {
      let zero = Frames(repeating: 0)
      var (a, b, c, d) = (zero, zero, zero, zero)
      var channel = 0
      while channel < number {
        let from = input[channel]
        let (x, y) = (from.vector(frame), from.vector(frame &+ 16))
        let (left, right) = (gains[2 &* channel], gains[2 &* channel &+ 1])
        a = addProduct(a, x, left)
        b = addProduct(b, y, left)
        c = addProduct(c, x, right)
        d = addProduct(d, y, right)
        channel &+= 1
      }
      let (first, second) = (level.vector(0, frame), level.vector(0, frame &+ 16))
      lefts.store(a * first + 0, frame)
      lefts.store(b * second + 0, frame &+ 16)
      rights.store(c * first + 0, frame)
      rights.store(d * second + 0, frame &+ 16)
      frame &+= 32
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
    let output = block.outputs[0]
    let before = OutputPort(base: block.scratch.assumingMemoryBound(to: Float.self), count: output.count)
    write(block, count.old, to: before)
    write(block, count.new, to: output)
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

  /// Writes the sum of the first `count` channels.
  @inline(__always) @_noLocks private func write(_ block: Block, _ count: Float, to output: OutputPort) {
    let (input, number) = (block.inputs[0], Self.number(count, block.inputs[0]))
    let (spread, pan) = (block.parameters[Self.spread], block.parameters[Self.pan])
    let level = block.parameters[Self.level]
    if input.count == 1, number == 1 {
      place(input[0], spread, pan, level, output, block.frames)
    } else if output.count == 1 {
      add(input, number, level, output[0])
    } else {
      place(input, number, spread, pan, level, output, block.frames)
    }
  }

  /// True where the gains of places at rest have been written already.
  @inline(__always) @_noLocks private func knows(_ number: Int, _ spread: Float, _ pan: ParameterStream)
    -> Bool
  {
    guard known[0] == spread, known[1] == Float(number) else { return false }
    if pan.elements == 1 { return known[2] == pan.values.pointee && known[3] == 0 }
    guard known[3] == 1 else { return false }
    var channel = 0
    while channel < number {
      if pans[channel] != pan.value(channel) { return false }
      channel &+= 1
    }
    return true
  }

  /// Writes the gains of places at rest.
  @inline(never) @_noLocks private mutating func write(
    _ number: Int, _ spread: Float, _ pan: ParameterStream
  ) {
    var parts = Frames(repeating: 0)
    var channel = 0
    while channel < number {
      pans[channel] = pan.value(channel)
      let lane = channel & 15
      parts[lane] = Self.part(channel, of: number)
      channel &+= 1
      guard lane == 15 || channel == number else { continue }
      let first = channel &- 1 &- lane
      let pair = Self.gains(Frames(repeating: spread), parts, pans.vector(first))
      gains.store(sostenuto_first_turns(pair.left, pair.right), 2 &* first)
      gains.store(sostenuto_last_turns(pair.left, pair.right), 2 &* first &+ 16)
    }
    known = SIMD4(spread, Float(number), pan.value(0), pan.elements == 1 ? 0 : 1)
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

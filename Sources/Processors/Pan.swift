import Patch
import Realtime

/// Places sound between left and right.
///
/// A mono input follows the equal-power law: left cos(t), right sin(t), with t from 0 (pan -1) to pi/2 (pan
/// 1), so both are -3 dB in the middle. A stereo input is balanced: the far side falls as cos(pi/2 * |pan|)
/// while the near side stays at unity. With more channels the even ones are left, the odd ones right, and
/// each pair is balanced the same way.
public struct Pan: Kernel {
  public static let description = KindDescription(
    name: "pan",
    summary: "Between left and right: mono by equal power (-3 dB in the middle), stereo by "
      + "balance.", category: .mixing, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .channels(2))],
    parameters: [.number("pan", "-1 is left, 1 is right.", default: 0, range: -1...1)],
    amplification: .never, cost: .init(20))

  /// Position in `description.parameters`.
  public static var pan: Int { @_noLocks get { 0 } }

  /// The place and the channel count that `left` and `right` are for.
  private var place = Float.nan
  private var count = 0
  private var left: Float = 0
  private var right: Float = 0

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {}

  /// Index behind the last parameter: the document's channel count of the input.
  private static var countPosition: Int { @_noLocks get { 1 } }

  public static var followsCount: Bool { true }
  public static var worksInPlace: Bool { true }
  /// A balance multiplies.
  public static var isAffine: Bool { true }

  /// So does a single channel for both sides.
  @_noLocks public mutating func affine(_ block: Block, _ sides: UnsafeMutablePointer<Affine>) -> Bool {
    let pan = block.parameters[Self.pan]
    let count = block.crossfades[Self.countPosition]
    let channels = block.inputs[0].count
    guard pan.isSteady, count.blend == nil, channels <= 2, count.new == Float(channels) else { return false }
    settle(pan.value(0), channels)
    sides[0] = Affine(factor: left, addend: 0)
    sides[1] = Affine(factor: right, addend: 0)
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    guard !input.isSilent else { return .silent }
    let pan = block.parameters[Self.pan]
    let count = block.crossfades[Self.countPosition]
    if pan.isSteady, count.blend == nil {
      settle(pan.value(0), Int(count.new))
      balance(input, block.outputs[0], block.frames)
    } else {
      move(input, pan, count, block.outputs[0], block.frames)
    }
    return .sounding
  }

  /// Calculates the gains of a place that stays. They are those of a moving one, to the bit.
  @inline(__always) @_noLocks private mutating func settle(_ pan: Float, _ channels: Int) {
    guard pan != place || channels != count else { return }
    let gains = Self.gains(Frames(repeating: pan), channels)
    (left, right) = (gains.left[0], gains.right[0])
    (place, count) = (pan, channels)
  }

  @inline(__always) @_noLocks private mutating func balance(
    _ input: InputPort, _ output: OutputPort, _ frames: Int
  ) {
    let (l, r) = (output[0], output[1])
    var frame = 0
    if count <= 2, input.count >= count {
      let (first, second) = (input[0], input[count == 2 ? 1 : 0])
      while frame < frames {
        let (x, y) = (first.vector(frame), second.vector(frame))
        l.store(x * left + 0, frame)
        r.store(y * right + 0, frame)
        frame &+= 16
      }
    } else {
      while frame < frames {
        let sides = Self.sides(input, count, frame)
        l.store(sides.left * left + 0, frame)
        r.store(sides.right * right + 0, frame)
        frame &+= 16
      }
    }
  }

  /// The place moves, or the input's channels change.
  @_noLocks private mutating func move(
    _ input: InputPort, _ pan: ParameterStream, _ count: CrossfadeStream, _ output: OutputPort, _ frames: Int
  ) {
    let (left, right) = (output[0], output[1])
    let (old, new) = (Int(count.old), Int(count.new))
    var frame = 0
    while frame < frames {
      let gains = Self.gains(pan.vector(0, frame), new)
      var (l, r) = Self.sides(input, new, frame)
      l *= gains.left
      r *= gains.right
      if let blend = count.blend {
        let b = blend.vector(frame)
        let oldGains = Self.gains(pan.vector(0, frame), old)
        let (oldLeft, oldRight) = Self.sides(input, old, frame)
        l = oldLeft * oldGains.left * (1 - b) + l * b
        r = oldRight * oldGains.right * (1 - b) + r * b
      }
      left.store(l + 0, frame)
      right.store(r + 0, frame)
      frame &+= 16
    }
  }

  /// Sums of the first `count` channels for the left side and for the right side.
  @inline(__always) @_noLocks private static func sides(
    _ input: InputPort, _ count: Int, _ frame: Int
  ) -> (left: Frames, right: Frames) {
    if count == 1 {
      let x = input[0].vector(frame)
      return (x, x)
    }
    var l = Frames(repeating: 0)
    var r = Frames(repeating: 0)
    var channel = 0
    while channel < count, channel < input.count {
      let x = input[channel].vector(frame)
      if channel & 1 == 0 { l += x } else { r += x }
      channel &+= 1
    }
    return (l, r)
  }

  @inline(__always) @_noLocks private static func gains(
    _ pan: Frames, _ channels: Int
  ) -> (left: Frames, right: Frames) {
    let p = limited(pan, -1, 1)
    if channels == 1 { return (sineOfQuarters((1 - p) * 0.5), sineOfQuarters((1 + p) * 0.5)) }
    return (sineOfQuarters(1 - atLeast(0, p)), sineOfQuarters(1 - atLeast(0, 0 - p)))
  }

  @_noLocks public mutating func isFinished() -> Bool { true }
}

import CVector
import Patch
import Realtime

/// Brings pitches to the nearest degree of a scale.
///
/// Pitches are octaves above A4, as everywhere: 0 is A4, and `by 1oct` leads them to a frequency.
public struct Quantizer: Kernel {
  public static let description = KindDescription(
    name: "quantizer", summary: "Brings pitches to the nearest degree of a scale.", category: .modulation,
    inputs: [PortDescription("in", .flexible, "Octaves above A4.")],
    outputs: [
      PortDescription("out", .flexible, "Octaves above A4; `by 1oct` leads them to a frequency."),
      PortDescription(
        "change", .flexible, "1 in each frame in which the degree becomes another.", isOptional: true),
    ],
    parameters: [
      Degrees.scale, Degrees.root,
      .number(
        "transpose", "Added afterwards.", default: 0, range: -120...120, unit: .semitones, isPerChannel: true),
    ], face: .level, cost: .init(20, perChannel: 120))

  /// Positions in `description.parameters`.
  public static var scale: Int { @_noLocks get { 0 } }
  public static var root: Int { @_noLocks get { 1 } }
  public static var transpose: Int { @_noLocks get { 2 } }

  private var degrees: Scaled
  /// The last degree of each channel.
  private var last: PerChannel<Float>
  private var root: Float
  private var isZero = false

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { arena in
      (arena.reserve(Scaled.size), arena.reserve(PerChannel<Float>.size(configuration.inputs[0])))
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    degrees = Scaled(configuration.values[Self.scale], arena.reserve(Scaled.size))
    last = PerChannel(
      configuration.inputs[0], .nan, arena.reserve(PerChannel<Float>.size(configuration.inputs[0])))
    root = configuration.value(Self.root)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    degrees = degrees.moved(to: arena.reserve(66 &* 4))
    last = last.widened(widening, .nan, arena.reserve(widening.inputs[0] &* 4))
  }

  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    if parameter == Self.scale { degrees.set(element, value) } else { root = value }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, output, changes) = (block.inputs[0], block.outputs[0], block.outputs[1])
    let (transpose, rows) = (block.parameters[Self.transpose], Rows(block))
    let channels = output.count < input.count ? output.count : input.count
    let count = degrees.count
    // Of C, nine semitones below A.
    let origin = (root - 9) / 12
    var (channel, any) = (0, false)
    while channel < channels {
      let (from, to) = (input[channel], output[channel])
      var frame = 0
      // Two vectors share each border. Four would need more registers than AVX2 has.
      while frame < 64 {
        let a = limited(from.vector(frame), -100, 100) - origin
        let b = limited(from.vector(frame &+ 16), -100, 100) - origin
        let (first, second) = count > 0 ? nearest(a, b) : (a, b)
        write(first + origin, frame, transpose.vector(channel, frame), rows[0], to)
        write(second + origin, frame &+ 16, transpose.vector(channel, frame &+ 16), rows[0], to)
        frame &+= 32
      }
      if mark(rows[0], channel, block.frames, changes[channel]) { any = true }
      channel &+= 1
    }
    isZero = false
    if input.isSilent, transpose.isSteady, !any {
      isZero = true
      channel = 0
      while channel < channels {
        if output[channel][0] != 0 { isZero = false }
        channel &+= 1
      }
    }
    return .sounding
  }

  /// Keeps degrees in a row, and writes them transposed.
  @inline(__always) @_noLocks private func write(
    _ degree: Frames, _ frame: Int, _ transpose: Frames, _ row: UnsafeMutablePointer<Float>,
    _ to: UnsafeMutablePointer<Float>
  ) {
    row.store(degree, frame)
    to.store(degree + transpose * (1.0 / 12) + 0, frame)
  }

  /// The nearest degrees, of a scale that has some.
  @inline(__always) @_noLocks private func nearest(_ a: Frames, _ b: Frames) -> (Frames, Frames) {
    let (count, period) = (degrees.count, degrees.period)
    let (wholeA, wholeB) = (floors(a * (1 / period)) * period, floors(b * (1 / period)) * period)
    let (partA, partB) = (a - wholeA, b - wholeB)
    // The last degree of the period below, then all of this one, then the first of the next one.
    var last = degrees[count &- 1] - period
    var (nearA, nearB) = (Frames(repeating: last), Frames(repeating: last))
    var index = 0
    while index <= count {
      let next = index < count ? degrees[index] : degrees[0] + period
      let (border, degree) = (0.5 * (next + last), Frames(repeating: next))
      nearA = sostenuto_where_above(partA, border, degree, nearA)
      nearB = sostenuto_where_above(partB, border, degree, nearB)
      last = next
      index &+= 1
    }
    return (nearA + wholeA, nearB + wholeB)
  }

  /// Writes where the degrees of a row become others.
  @inline(__always) @_noLocks private func mark(
    _ row: UnsafeMutablePointer<Float>, _ channel: Int, _ frames: Int, _ to: UnsafeMutablePointer<Float>
  ) -> Bool {
    let before = last[channel].pointee
    var bits: UInt64 = 0
    var value = before
    // Most blocks have one value. Frames behind the end of a short block may differ: the slow way looks closer.
    var frame = 0
    var isSame = true
    while frame < frames {
      if sostenuto_magnitudes_exceed(row.vector(frame) - value, 1e-5) { isSame = false }
      frame &+= 16
    }
    if !isSame {
      frame = 0
      while frame < frames {
        if isOther(row[frame], value) {
          // None was there before the first one.
          if value == value { bits |= 1 &<< UInt64(truncatingIfNeeded: frame) }
          value = row[frame]
        }
        frame &+= 1
      }
    }
    last[channel].pointee = value
    Gates.write(bits, to)
    return bits != 0
  }

  /// The last digits of a degree differ between periods.
  @inline(__always) @_noLocks private func isOther(_ a: Float, _ b: Float) -> Bool {
    !(a - b < 1e-5 && b - a < 1e-5)
  }

  /// Rounded down.
  @inline(__always) @_noLocks private func floors(_ x: Frames) -> Frames {
    // Above this number floats are whole.
    let near = x + 12_582_912 - 12_582_912
    return near - sostenuto_where_above(near - x, 0, Frames(repeating: 1), Frames(repeating: 0))
  }

  /// Where nothing comes in and 0, A4, stays as it is.
  @_noLocks public mutating func isFinished() -> Bool { isZero }
}

import CVector
import Patch
import Realtime

/// Tells how loud a sound is, and passes it.
public struct Meter: Kernel {
  public static let description = KindDescription(
    name: "meter", summary: "Tells how loud a sound is, and passes it as it is.", category: .mixing,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    face: .channels(), amplification: .never, cost: .init(10, perChannel: 10),
    readings: [
      ReadingDescription("peak", "Highest peak; it falls by 20 dB a second.", unit: .decibels),
      ReadingDescription(
        "rms", "Root of the mean square over 300 ms, of the loudest channel.", unit: .decibels),
      ReadingDescription("most", "Highest peak since the node began.", unit: .decibels),
    ])

  private var peak: Float = 0
  private var most: Float = 0
  /// `most` in decibels: the figures are asked for after each block, and this one seldom changes.
  private var mostDecibels: Float = -120
  private var pace = MeterPace()
  private var squares: PerChannel<Float>
  private var isAsleep = true

  public static var worksInPlace: Bool { true }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    PerChannel<Float>.size(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    squares = PerChannel(configuration.inputs[0], 0, memory)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    squares = squares.widened(widening, 0, memory)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, output) = (block.inputs[0], block.outputs[0])
    if isAsleep, input.isSilent { return .silent }
    isAsleep = false
    let count = output.count < input.count ? output.count : input.count
    pace.follow(block)
    var loudest: Float = 0
    let share = pace.share
    var channel = 0
    while channel < count {
      let (from, to) = (input[channel], output[channel])
      var (peaks, sum, frame) = (Frames(repeating: 0), Frames(repeating: 0), 0)
      while frame < block.frames {
        let frames = from.vector(frame)
        let heard = sostenuto_join(
          frames, Frames(repeating: 0), Int32(truncatingIfNeeded: block.frames &- frame))
        let bits = sostenuto_larger(
          unsafeBitCast(peaks, to: SIMD16<UInt32>.self),
          unsafeBitCast(magnitude(heard), to: SIMD16<UInt32>.self))
        peaks = unsafeBitCast(bits, to: Frames.self)
        sum = addProduct(sum, heard, heard)
        to.store(frames, frame)
        frame &+= 16
      }
      let most = Float(bitPattern: largest(unsafeBitCast(peaks, to: SIMD16<UInt32>.self)))
      if most > loudest { loudest = most }
      let square = squares[channel]
      square.pointee += (total(sum) * pace.inverse - square.pointee) * share
      if !(square.pointee < 1e20) { square.pointee = 0 }
      channel &+= 1
    }
    peak *= pace.fall
    if loudest > peak { peak = loudest }
    if loudest > most, loudest < 1e20 {
      most = loudest
      mostDecibels = Self.decibels(most)
    }
    return input.isSilent ? .silent : .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool {
    var channel = 0
    while channel < squares.count {
      if squares[channel].pointee > 1e-12 { return false }
      channel &+= 1
    }
    guard peak < 1e-6 else { return false }
    peak = 0
    isAsleep = true
    return true
  }

  /// In decibels, -120 at least.
  @_noLocks public func reading(_ position: Int) -> Float {
    switch position {
    case 0: return Self.decibels(peak)
    case 1:
      var loudest: Float = 0
      var channel = 0
      while channel < squares.count {
        if squares[channel].pointee > loudest { loudest = squares[channel].pointee }
        channel &+= 1
      }
      return Self.decibels(squareRoot(loudest))
    default: return mostDecibels
    }
  }

  @inline(__always) @_noLocks static func decibels(_ level: Float) -> Float {
    level > 1e-6 ? 6.020_6 * logarithm2(level) : -120
  }
}

/// By how much a block's length lets the figures move. Most blocks are as long as the one before.
private struct MeterPace: BitwiseCopyable {
  private var frames = 0
  private var rate: Float = 0
  /// How much of the way the mean square goes.
  private(set) var share: Float = 1
  /// One over its frames.
  private(set) var inverse: Float = 1
  /// Share of the peak that is left.
  private(set) var fall: Float = 1

  @_noLocks init() {}

  @inline(__always) @_noLocks mutating func follow(_ block: Block) {
    if frames != block.frames || rate != block.rate { learn(block.frames, block.rate) }
  }

  @inline(never) @_noLocks private mutating func learn(_ frames: Int, _ rate: Float) {
    (self.frames, self.rate) = (frames, rate)
    inverse = 1 / Float(frames)
    let time = Float(frames) / rate
    share = time < 0.3 ? time / 0.3 : 1
    // 20 dB a second.
    fall = exponential(-2.302_585 * time)
  }
}

import CVector
import Realtime

/// Places of an echo's taps in a block, along one course of its time. At rest each tap has one place, and the weights of the
/// frames around it.
struct EchoCourse: BitwiseCopyable {
  private let delays: UnsafeMutablePointer<Double>
  /// Delays of a tap that swings.
  private let swung: UnsafeMutablePointer<Double>
  private let rows: UnsafeMutablePointer<Float>
  private let taps: Int
  /// All frames of the block have the same places.
  private(set) var rests = false

  /// Minimum tap delay, in frames, so that a 16-frame read never overlaps the vector being written.
  static var nearest: Double { @inline(__always) @_noLocks get { 20 } }
  /// Floats of a tap: 64 wholes, 64 parts, eight weights.
  private static var stride: Int { @inline(__always) @_noLocks get { 144 } }

  @_noLocks init(_ taps: Int, _ arena: inout Arena) {
    self.taps = taps
    delays = arena.reserve(8 &* blockCapacity).assumingMemoryBound(to: Double.self)
    swung = arena.reserve(8 &* blockCapacity).assumingMemoryBound(to: Double.self)
    rows = arena.take(Float.self, taps &* Self.stride)
  }

  @inline(__always) private func wholes(_ tap: Int) -> UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(rows + tap &* Self.stride).assumingMemoryBound(to: Int32.self)
  }
  @inline(__always) private func parts(_ tap: Int) -> UnsafeMutablePointer<Float> {
    rows + (tap &* Self.stride &+ 64)
  }
  @inline(__always) private func weights(_ tap: Int) -> UnsafeMutablePointer<Float> {
    rows + (tap &* Self.stride &+ 128)
  }

  /// The delay of the last tap in a frame.
  @inline(__always) @_noLocks func set(_ delay: Double, _ frame: Int) { delays[frame] = delay }

  /// The delays for times of each frame, in seconds.
  @inline(__always) @_noLocks func set(
    _ times: UnsafePointer<Float>, _ rate: Double, _ frames: Int, within longest: Double
  ) {
    var frame = 0
    while frame < frames {
      sostenuto_write_delays(times + frame, rate, Self.nearest, longest, delays + frame)
      frame &+= 8
    }
  }

  /// The delay of the last tap in a frame, as it was set.
  @inline(__always) @_noLocks func delay(_ frame: Int) -> Double { delays[frame] }

  /// Finds the places of the taps. Between those that are evenly spaced, odd ones come later by `swing` of a distance.
  @_noLocks mutating func place(_ frames: Int, rests: Bool, _ swing: ParameterStream, within longest: Double)
  {
    self.rests = rests && swing.isSteady
    let count = self.rests ? 1 : frames
    var tap = 0
    while tap < taps {
      let share = Double(tap &+ 1) / Double(taps)
      let isOdd = tap & 1 == 0 && tap &+ 1 < taps
      if isOdd && !swing.isSteady {
        var frame = 0
        while frame < frames {
          swung[frame] = delays[frame] * (share + part(swing, frame))
          frame &+= 1
        }
        split(tap, swung, count, 1, longest)
      } else {
        split(tap, delays, count, isOdd ? share + part(swing, 0) : share, longest)
      }
      if self.rests {
        let all = Interpolator.weights(Int(wholes(tap)[0]), parts(tap)[0])
        UnsafeMutableRawPointer(weights(tap)).storeBytes(of: all, as: SIMD8<Float>.self)
      }
      tap &+= 1
    }
  }

  /// How much later an odd tap comes, in parts of the last tap's delay.
  @inline(__always) @_noLocks private func part(_ swing: ParameterStream, _ frame: Int) -> Double {
    Double(limited(swing.value(0, at: frame) * 0.01, 0, 1)) / Double(taps)
  }

  /// The vectors go beyond the block.
  @inline(__always) @_noLocks private func split(
    _ tap: Int, _ delays: UnsafePointer<Double>, _ count: Int, _ part: Double, _ longest: Double
  ) {
    var frame = 0
    while frame < (count &+ 15) & ~15 {
      sostenuto_split_delays(
        delays + frame, part, Self.nearest, longest, wholes(tap) + frame, parts(tap) + frame)
      frame &+= 8
    }
  }

  /// Sixteen frames of a tap.
  @inline(__always) @_noLocks func vector(
    _ tap: Int, _ line: DelayLine, _ position: Int, _ frame: Int, _ products: UnsafeMutablePointer<Float>
  ) -> Frames {
    rests ? resting(line, position, tap) : moving(line, position, frame, products, tap)
  }

  /// The same amid a glide.
  @inline(__always) @_noLocks func moving(
    _ line: DelayLine, _ position: Int, _ frame: Int, _ products: UnsafeMutablePointer<Float>, _ tap: Int = 0
  ) -> Frames {
    line.taps(position, wholes(tap) + frame, parts(tap) + frame, products)
  }

  /// The same at rest.
  @inline(__always) @_noLocks func resting(_ line: DelayLine, _ position: Int, _ tap: Int = 0) -> Frames {
    let whole = Int(wholes(tap)[0])
    return parts(tap)[0] == 0 ? line.vector(position &- whole) : line.taps(position, whole, weights(tap))
  }
}

import Realtime

/// Waves of one channel in one block, computed from their phases.
///
/// Saw, square and triangle have their harmonics weighted by one curve over frequency: flat (-0.5 dB at 3/8 of the
/// sample rate, 18 kHz of 48), and below -75 dB from 2/3 on, beyond which aliases would fold below a third (16 kHz).
/// It is the transform of a kernel that reaches six frames to either side of a corner (E. Brandt, "Hard sync without
/// aliasing", 2001), found by linear programming for the least overshoot. Peaks are at one.
///
/// The kernel is a sum of cosines over its twelve frames. A step that it rounds is therefore a line and eight sines,
/// and these a polynomial: no table is read. Where corners are closer than twelve frames, their kernels would overlap;
/// there are at most eight harmonics then, which are added up. Both give the same wave: a frequency may go from one to the
/// other in any frame.
struct Wave: BitwiseCopyable {
  /// Phases of the first sixteen frames, and the increment per frame, for a steady frequency. For a moving one, the
  /// phase of the first frame.
  private let first: SIMD16<Int32>
  private let step: Int32
  private let steadySize: Float
  /// Phases and increments of each frame, for a moving frequency.
  private let moving: MovingPhases?

  /// Phases of a steady frequency. `size`: magnitude of the increment, at least one unit.
  @inline(__always) @_noLocks init(from start: Int32, step: Int32, size: Float) {
    first = SIMD16<Int32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) &* step &+ start
    self.step = step
    steadySize = size
    moving = nil
  }

  /// Phases of a moving frequency, from `start` on.
  @inline(__always) @_noLocks init(_ moving: MovingPhases, from start: Int32) {
    first = SIMD16(repeating: start)
    step = 0
    steadySize = 1
    self.moving = moving
  }

  @inline(__always) @_noLocks private func phase(_ frame: Int) -> SIMD16<Int32> {
    guard let moving else { return first &+ step &* Int32(truncatingIfNeeded: frame) }
    return first &+ UnsafeRawPointer(moving.phases + frame).loadUnaligned(as: SIMD16<Int32>.self)
  }

  /// `shape`: index among the oscillator's choices. Audio thread.
  @_noLocks func make(_ shape: Float, _ to: UnsafeMutablePointer<Float>, _ frames: Int) {
    if shape == 0 {
      makeSine(to, frames)
    } else if shape == 1 {
      makeSaw(to, frames)
    } else if shape == 2 {
      makeSquare(to, frames)
    } else {
      makeTriangle(to, frames)
    }
  }

  @_noLocks private func makeSine(_ to: UnsafeMutablePointer<Float>, _ frames: Int) {
    var frame = 0
    while frame < frames {
      to.store(Corners.sine(phase(frame)), frame)
      frame &+= 16
    }
  }

  @inline(never) @_noLocks private func makeSaw(_ to: UnsafeMutablePointer<Float>, _ frames: Int) {
    make(to, frames, .saw)
  }

  @inline(never) @_noLocks private func makeSquare(_ to: UnsafeMutablePointer<Float>, _ frames: Int) {
    make(to, frames, .square)
  }

  @inline(never) @_noLocks private func makeTriangle(_ to: UnsafeMutablePointer<Float>, _ frames: Int) {
    make(to, frames, .triangle)
  }

  @_transparent @_noLocks private func make(
    _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ shape: CornerShape
  ) {
    var frame = 0
    guard let moving else {
      if steadySize <= shape.densest {
        let perPhase = Frames(repeating: 1 / steadySize)
        while frame < frames {
          to.store(shape.sparse(phase(frame), perPhase), frame)
          frame &+= 16
        }
        return
      }
      let weights = HarmonicWeights(steadySize * (1 / 4_294_967_296), shape.numbers, shape.strengths)
      while frame < frames {
        to.store(shape.sum(phase(frame), weights), frame)
        frame &+= 16
      }
      return
    }
    while frame < frames {
      let size = moving.sizes.vector(frame)
      let bits = unsafeBitCast(size, to: SIMD16<UInt32>.self)
      let p = phase(frame)
      var y = Frames(repeating: 0)
      let smallest = Float(bitPattern: least(bits))
      if smallest <= shape.densest { y = shape.sparse(p, 1 / size) }
      if Float(bitPattern: largest(bits)) > shape.densest {
        let increment = size * (1 / 4_294_967_296)
        let weights = HarmonicWeights(
          increment, least: smallest * (1 / 4_294_967_296), shape.numbers, shape.strengths)
        y = shape.sum(p, weights).replacing(with: y, where: size .<= shape.densest)
      }
      to.store(y, frame)
      frame &+= 16
    }
  }
}

/// Weights of eight harmonics in sixteen frames.
struct HarmonicWeights: BitwiseCopyable {
  let (a, b, c, d, e, f, g, h): (Frames, Frames, Frames, Frames, Frames, Frames, Frames, Frames)

  /// Weights for a steady frequency, as a fraction of the sample rate.
  @inline(__always) @_noLocks init(_ frequency: Float, _ numbers: SIMD8<Float>, _ strengths: SIMD8<Float>) {
    // All harmonics in one vector.
    let w = Corners.curve(Frames(lowHalf: numbers, highHalf: numbers) * frequency).lowHalf * strengths
    (a, b) = (Frames(repeating: w[0]), Frames(repeating: w[1]))
    (c, d) = (Frames(repeating: w[2]), Frames(repeating: w[3]))
    (e, f) = (Frames(repeating: w[4]), Frames(repeating: w[5]))
    (g, h) = (Frames(repeating: w[6]), Frames(repeating: w[7]))
  }

  /// Weights for sixteen frequencies, of which `least` is the lowest: harmonics that are zero in all are left out.
  @inline(__always) @_noLocks init(
    _ frequency: Frames, least: Float, _ numbers: SIMD8<Float>, _ strengths: SIMD8<Float>
  ) {
    a = Self.weight(frequency, least, numbers[0], strengths[0])
    b = Self.weight(frequency, least, numbers[1], strengths[1])
    c = Self.weight(frequency, least, numbers[2], strengths[2])
    d = Self.weight(frequency, least, numbers[3], strengths[3])
    e = Self.weight(frequency, least, numbers[4], strengths[4])
    f = Self.weight(frequency, least, numbers[5], strengths[5])
    g = Self.weight(frequency, least, numbers[6], strengths[6])
    h = Self.weight(frequency, least, numbers[7], strengths[7])
  }

  @inline(__always) @_noLocks private static func weight(
    _ frequency: Frames, _ least: Float, _ number: Float, _ strength: Float
  ) -> Frames {
    least * number > 0.69 ? Frames(repeating: 0) : Corners.curve(frequency * number) * strength
  }
}

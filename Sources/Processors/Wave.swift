import CVector
import Realtime

/// Waves of one channel in one block, computed from their phases.
///
/// Saw, square and triangle have their harmonics weighted by one curve over frequency: flat (-0.5 dB at 3/8 of the
/// sample rate, 18 kHz of 48), and below -75 dB from 2/3 on, beyond which aliases would fold below a third (16 kHz).
/// It is the transform of a kernel that reaches six frames to either side of a corner (E. Brandt, "Hard sync without
/// aliasing", 2001), found by linear programming for the least overshoot. Peaks are at one.
///
/// The kernel is a sum of cosines over its twelve frames, and what it changes of the sharp wave is a polynomial for each
/// segment of these. Where corners are closer than twelve frames, their kernels would overlap; there are at most eight
/// harmonics then, which are added up. Both give the same wave: a frequency may go from one to the other in any frame.
struct Wave: BitwiseCopyable {
  /// Phase of the first frame, and the increment per frame where the frequency is steady.
  private let start: Int32
  private let step: Int32
  private let size: Float
  /// Phases and increments of each frame, for a moving frequency.
  private let moving: MovingPhases?

  /// Phases of a steady frequency. `size`: magnitude of the increment, at least one unit.
  @inline(__always) @_noLocks init(from start: Int32, step: Int32, size: Float) {
    self.start = start
    self.step = step
    self.size = size
    moving = nil
  }

  /// Phases of a moving frequency, from `start` on. `largest`: of the increments.
  @inline(__always) @_noLocks init(_ moving: MovingPhases, from start: Int32, largest: Float) {
    self.start = start
    step = 0
    size = largest
    self.moving = moving
  }

  /// Phases of the first sixteen frames at a steady frequency.
  private var first: SIMD16<Int32> { @inline(__always) @_noLocks get { sostenuto_row(start, step) } }

  /// Phases of the sixteen frames from `frame` on.
  @inline(__always) @_noLocks private func phases(_ first: SIMD16<Int32>, _ frame: Int) -> SIMD16<Int32> {
    sostenuto_plus(first, step &* Int32(truncatingIfNeeded: frame))
  }

  @inline(__always) @_noLocks private func phases(_ moving: MovingPhases, _ frame: Int) -> SIMD16<Int32> {
    sostenuto_plus(UnsafeRawPointer(moving.phases + frame).loadUnaligned(as: SIMD16<Int32>.self), start)
  }

  /// `shape`: index among the oscillator's choices. Audio thread.
  @_noLocks func make(
    _ shape: Float, _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if shape == 0 {
      makeSine(level, to, frames)
    } else if shape == 1 {
      makeSaw(level, to, frames)
    } else if shape == 2 {
      makeSquare(level, to, frames)
    } else {
      makeTriangle(level, to, frames)
    }
  }

  @inline(never) @_noLocks private func makeSine(
    _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    var frame = 0
    if let moving {
      while frame < frames {
        to.store(Corners.sine(phases(moving, frame)) * level.vector(frame) + 0, frame)
        frame &+= 16
      }
    } else {
      let first = first
      while frame < frames {
        to.store(Corners.sine(phases(first, frame)) * level.vector(frame) + 0, frame)
        frame &+= 16
      }
    }
  }

  @inline(never) @_noLocks private func makeSaw(
    _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    make(level, to, frames, .saw)
  }

  @inline(never) @_noLocks private func makeSquare(
    _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    make(level, to, frames, .square)
  }

  @inline(never) @_noLocks private func makeTriangle(
    _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    make(level, to, frames, .triangle)
  }

  @_transparent @_noLocks private func make(
    _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ shape: CornerShape
  ) {
    if let moving {
      if size <= shape.densest {
        makeSparse(moving, level, to, frames, shape)
      } else {
        makeMixed(moving, level, to, frames, shape)
      }
    } else if size <= shape.densest {
      makeSparse(level, to, frames, shape)
    } else {
      let weights = HarmonicWeights(size * (1 / 4_294_967_296), shape.numbers, shape.strengths)
      let first = first
      var frame = 0
      while frame < frames {
        to.store(shape.sum(phases(first, frame), weights) * level.vector(frame) + 0, frame)
        frame &+= 16
      }
    }
  }

  /// The sharp wave, then once more the sixteen frames around each corner, as a whole.
  @_transparent @_noLocks private func makeSparse(
    _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ shape: CornerShape
  ) {
    let first = first
    let pace = Pace(size)
    var frame = 0
    // Frames do not follow from distances where increments are rounded to much fewer or more units.
    if size < 1024 {
      while frame < frames {
        to.store(shape.sparse(phases(first, frame), pace) * level.vector(frame) + 0, frame)
        frame &+= 16
      }
      return
    }
    while frame < frames {
      to.store(shape.far(phases(first, frame), pace) * level.vector(frame) + 0, frame)
      frame &+= 16
    }
    let perPhase = 1 / size
    let apart = shape.spacing * perPhase
    let last = frame &- 16
    // A frame more than kernels reach, since places are rounded. The corner before the next one may reach into the block.
    let end = Float(frames) + 7
    var corner = Float(shape.distance(start, isForward: step >= 0)) * perPhase - apart
    while corner < end {
      if corner > -7 {
        // Twelve frames of these are within reach.
        let start = Int(sostenuto_whole(corner + 16)) &- 23
        let near = start < 0 ? 0 : start > last ? last : start
        to.store(shape.sparse(phases(first, near), pace) * level.vector(near) + 0, near)
      }
      corner += apart
    }
  }

  @_transparent @_noLocks private func makeSparse(
    _ moving: MovingPhases, _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int,
    _ shape: CornerShape
  ) {
    var frame = 0
    while frame < frames {
      let pace = Pace(moving.sizes.vector(frame))
      to.store(shape.sparse(phases(moving, frame), pace) * level.vector(frame) + 0, frame)
      frame &+= 16
    }
  }

  /// Where corners come closer than twelve frames, or are in some frames.
  @_transparent @_noLocks private func makeMixed(
    _ moving: MovingPhases, _ level: WaveLevel, _ to: UnsafeMutablePointer<Float>, _ frames: Int,
    _ shape: CornerShape
  ) {
    var frame = 0
    while frame < frames {
      let size = moving.sizes.vector(frame)
      let bits = unsafeBitCast(size, to: SIMD16<UInt32>.self)
      let p = phases(moving, frame)
      var y = Frames(repeating: 0)
      let smallest = Float(bitPattern: least(bits))
      if smallest <= shape.densest { y = shape.sparse(p, Pace(size)) }
      if Float(bitPattern: largest(bits)) > shape.densest {
        let increment = size * (1 / 4_294_967_296)
        let weights = HarmonicWeights(
          increment, least: smallest * (1 / 4_294_967_296), shape.numbers, shape.strengths)
        y = shape.sum(p, weights).replacing(with: y, where: size .<= shape.densest)
      }
      to.store(y * level.vector(frame) + 0, frame)
      frame &+= 16
    }
  }
}

/// The factor of a wave in each frame.
struct WaveLevel: BitwiseCopyable {
  private let frames: UnsafePointer<Float>?
  private let value: Float

  @inline(__always) @_noLocks init(_ stream: ParameterStream, _ channel: Int) {
    frames = stream.frames(channel)
    value = stream.value(channel)
  }

  /// The wave as it is.
  @inline(__always) @_noLocks init() {
    frames = nil
    value = 1
  }

  @inline(__always) @_noLocks func vector(_ frame: Int) -> Frames {
    guard let frames else { return Frames(repeating: value) }
    return frames.vector(frame)
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

import Realtime

@inline(__always) @_noLocks private func isDenseSize(_ size: Float) -> Bool { size > 715_827_904 }

/// Memory for one channel's phases in a block.
struct MovingPhases: BitwiseCopyable {
  let phases: UnsafeMutablePointer<Int32>
  /// Frames per unit of phase.
  let perPhase: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    phases = arena.take(Int32.self, blockCapacity)
    perPhase = arena.take(Float.self, blockCapacity)
  }
}

/// Waves of one channel in one block, computed from their phases.
///
/// Saw, square and triangle are the naive waves plus polynomial corrections around each corner (V. Välimäki,
/// J. Pekonen and J. Nam, "Perceptually informed synthesis of bandlimited classical waveforms using
/// integrated polynomial interpolation", 2012). The kernel is a cubic B-spline, sharpened by the filter
/// (-1/6, 4/3, -1/6) so that its droop starts at the fourth order. It reaches three frames to either side of
/// a corner.
struct Wave: BitwiseCopyable {
  // Phases are signed fractions of a cycle: 2^32 is a whole cycle.
  /// Phases of the first sixteen frames, and the increment per frame, for a steady frequency.
  private let first: SIMD16<Int32>
  private let step: Int32
  private let steadyPerPhase: Float
  /// Phases of each frame, with the frames per unit of phase, for a moving frequency.
  private let moving: MovingPhases?
  /// Corrections of adjacent corners overlap: fewer than six frames per cycle.
  private let isDense: Bool

  /// Phases of a steady frequency. `size`: magnitude of the increment, at least one unit.
  @inline(__always) @_noLocks init(from start: Int32, step: Int32, size: Float) {
    first = SIMD16<Int32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) &* step &+ start
    self.step = step
    steadyPerPhase = 1 / size
    isDense = isDenseSize(size)
    moving = nil
  }

  /// Phases of a moving frequency. `largest`: magnitude of the block's largest increment.
  @inline(__always) @_noLocks init(_ moving: MovingPhases, largest: Float) {
    first = SIMD16(repeating: 0)
    step = 0
    steadyPerPhase = 0
    isDense = isDenseSize(largest)
    self.moving = moving
  }

  @inline(__always) @_noLocks private func phase(_ frame: Int) -> SIMD16<Int32> {
    guard let moving else { return first &+ step &* Int32(truncatingIfNeeded: frame) }
    return UnsafeRawPointer(moving.phases + frame).loadUnaligned(as: SIMD16<Int32>.self)
  }

  @inline(__always) @_noLocks private func perPhase(_ frame: Int) -> Frames {
    guard let moving else { return Frames(repeating: steadyPerPhase) }
    return moving.perPhase.vector(frame)
  }

  /// `shape`: index among the oscillator's choices. Audio thread.
  @inline(__always) @_noLocks func make(
    _ shape: Float, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if isDense { makeDense(shape, to, frames) } else { makeSparse(shape, to, frames) }
  }

  // Two functions, so that no loop has to test `isDense`.
  @inline(never) @_noLocks private func makeDense(
    _ shape: Float, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    make(shape, to, frames, isDense: true)
  }

  @inline(never) @_noLocks private func makeSparse(
    _ shape: Float, _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    make(shape, to, frames, isDense: false)
  }

  @inline(__always) @_noLocks private func make(
    _ shape: Float, _ to: UnsafeMutablePointer<Float>, _ frames: Int, isDense: Bool
  ) {
    if shape == 0 {
      makeSine(to, frames)
    } else if shape == 1 {
      makeSaw(to, frames, isDense)
    } else if shape == 2 {
      makeSquare(to, frames, isDense)
    } else {
      makeTriangle(to, frames, isDense)
    }
  }

  @_noLocks private func makeSine(_ to: UnsafeMutablePointer<Float>, _ frames: Int) {
    var frame = 0
    while frame < frames {
      // The outer quarters are folded onto the inner ones in integers, which loses no bit.
      let p = phase(frame)
      let isOuter = (p ^ (p &<< 1)) &>> 31
      let folded = p ^ ((p ^ (Int32.min &- p)) & isOuter)
      to.store(sineOfQuarters(converted(folded) * (1 / 1_073_741_824)), frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func makeSaw(
    _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ isDense: Bool
  ) {
    var frame = 0
    while frame < frames {
      to.store(Self.saw(converted(phase(frame)), perPhase(frame), isDense), frame)
      frame &+= 16
    }
  }

  /// A square is the difference of two saws half a cycle apart; it starts high.
  @inline(__always) @_noLocks private func makeSquare(
    _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ isDense: Bool
  ) {
    var frame = 0
    while frame < frames {
      let p = phase(frame)
      let scale = perPhase(frame)
      to.store(
        Self.saw(converted(p &+ Int32.min), scale, isDense) - Self.saw(converted(p), scale, isDense), frame)
      frame &+= 16
    }
  }

  /// Triangle in phase with the sine.
  @inline(__always) @_noLocks private func makeTriangle(
    _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ isDense: Bool
  ) {
    var frame = 0
    while frame < frames {
      let scale = perPhase(frame)
      let peak = converted(phase(frame) &- 0x4000_0000)
      let trough = converted(phase(frame) &+ 0x4000_0000)
      var bend = Self.corner(trough * scale) - Self.corner(peak * scale)
      let period = scale * 4_294_967_296
      if isDense {
        bend += Self.corner(trough * scale - period) - Self.corner(peak * scale - period)
        bend += Self.corner(trough * scale + period) - Self.corner(peak * scale + period)
      }
      to.store(1 - magnitude(peak) * (1 / 1_073_741_824) + bend * (8 / period), frame)
      frame &+= 16
    }
  }

  /// Rises from -1 to 1 and falls at phase 0.
  @inline(__always) @_noLocks private static func saw(
    _ phase: Frames, _ perPhase: Frames, _ isDense: Bool
  ) -> Frames {
    let step = copySign(1 - step(magnitude(phase * perPhase)), phase)
    var y = phase * (1 / 2_147_483_648) - step
    if isDense {
      let period = perPhase * 4_294_967_296
      let before = phase * perPhase - period
      let after = phase * perPhase + period
      y += copySign(Self.step(magnitude(before)), before)
      y += copySign(Self.step(magnitude(after)), after)
    }
    return y
  }

  /// Difference between the naive and the band-limited step of height two, `x` frames from the step.
  @inline(__always) @_noLocks private static func step(_ x: Frames) -> Frames {
    let a = pointwiseMax(3 - x, Frames(repeating: 0))
    let b = pointwiseMax(2 - x, Frames(repeating: 0))
    let c = pointwiseMax(1 - x, Frames(repeating: 0))
    let aa = a * a
    let bb = b * b
    let cc = c * c
    return bb * bb * (1.0 / 6) - aa * aa * (1.0 / 72) - cc * cc * (6.5 / 12)
  }

  /// The integral of half of it: the rounding of a corner of slope one, `x` frames from the corner.
  @inline(__always) @_noLocks private static func corner(_ x: Frames) -> Frames {
    let distance = magnitude(x)
    let a = pointwiseMax(3 - distance, Frames(repeating: 0))
    let b = pointwiseMax(2 - distance, Frames(repeating: 0))
    let c = pointwiseMax(1 - distance, Frames(repeating: 0))
    let aa = a * a
    let bb = b * b
    let cc = c * c
    return bb * bb * b * (1.0 / 60) - aa * aa * a * (1.0 / 720) - cc * cc * c * (6.5 / 120)
  }
}

import Realtime

/// Bit and sample rate reduction, 0...100 each, as sfizz has measured them in Cakewalk's
/// players.
struct Crusher {
  /// `levels`: number of levels between 0 and 1 (0: no reduction). `turn`: fraction of the hold time per
  /// frame (1: no hold).
  private var levels: Float = 0
  private var turn: Float = 1
  private var held = SIMD2<Float>(repeating: 0)
  private var place: Float = 1

  @_noLocks init() {}

  var isUsed: Bool { @_noLocks @inline(__always) get { levels > 0 || turn < 1 } }
  var isQuiet: Bool { @_noLocks get { held.x < 1e-6 && held.x > -1e-6 && held.y < 1e-6 && held.y > -1e-6 } }

  /// Audio thread.
  @_noLocks mutating func set(bitReduction: Float, decimation: Float, rate: Float) {
    levels = bitReduction > 0 ? 0.75 * (101 - (bitReduction < 100 ? bitReduction : 100)) : 0
    turn = Self.turn(decimation, rate)
  }

  /// Fraction of the hold time per frame; the hold time is 131 us (e^(d/28.45) - 1). Audio thread.
  @_noLocks static func turn(_ depth: Float, _ rate: Float) -> Float {
    let limited = depth > 0 ? (depth < 100 ? depth : 100) : 0
    let frames = 1.313_298e-4 * (exponential(limited * 0.035_147) - 1) * rate
    return frames > 1 ? 1 / frames : 1
  }

  /// One frame of both sides. Audio thread.
  @_noLocks @inline(__always) mutating func next(_ sound: SIMD2<Float>) -> SIMD2<Float> {
    var sound = sound
    if turn < 1 {
      // Without input and held value the phase stands still: it must not depend on how long the sampler was
      // skipped.
      if sound == SIMD2(repeating: 0), held == sound {
        place = 1
        return sound
      }
      place += turn
      if place >= 1 {
        place -= 1
        held = sound
      }
      sound = held
    }
    return levels > 0 ? SIMD2(rounded(sound.x), rounded(sound.y)) : sound
  }

  @_noLocks @inline(__always) private func rounded(_ x: Float) -> Float {
    let place = x * levels
    guard place < 1e6, place > -1e6 else { return x }
    return Float(Int32(place + (place < 0 ? -0.5 : 0.5))) / levels
  }
}

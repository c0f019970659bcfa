import Realtime

/// The low-pass that splits the tone of one channel.
struct ToneState: BitwiseCopyable {
  var low: Float = 0
  /// The tone was not 0 in some frame of this 64-frame cell.
  var isFollowed = false
}

/// One channel's buffers, each with room for its history before the block.
struct DistortionRow {
  let tone: UnsafeMutablePointer<ToneState>
  /// The shaped sound of this 64-frame cell of engine time, while the tone is 0.
  let cell: UnsafeMutablePointer<Float>
  /// State of the tone's low-pass before each frame.
  let low: UnsafeMutablePointer<Float>
  let wet: UnsafeMutablePointer<Float>
  let dry: UnsafeMutablePointer<Float>
  let input: UnsafeMutablePointer<Float>
  let even: UnsafeMutablePointer<Float>
  let odd: UnsafeMutablePointer<Float>
  let double: UnsafeMutablePointer<Float>
  /// Even phase of the driven sound at the highest rate.
  let driven: UnsafeMutablePointer<Float>
  let innerEven: UnsafeMutablePointer<Float>
  let innerOdd: UnsafeMutablePointer<Float>
  let halved: UnsafeMutablePointer<Float>
  /// Working memory of the curves.
  let curves: CurveRoom
  /// The curve that fades out, both phases.
  let oldEven: UnsafeMutablePointer<Float>
  let oldOdd: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    tone = arena.reserve(MemoryLayout<ToneState>.size).assumingMemoryBound(to: ToneState.self)
    cell = arena.take(Float.self, 64)
    low = arena.take(Float.self, 64)
    wet = arena.take(Float.self, 64)
    dry = arena.take(Float.self, 64, after: 48)
    input = arena.take(Float.self, 64, after: 48)
    even = arena.take(Float.self, 64, after: 32)
    odd = arena.take(Float.self, 64, after: 16)
    double = arena.take(Float.self, 128, after: 32)
    driven = arena.take(Float.self, 128, after: 32)
    innerEven = arena.take(Float.self, 128, after: 16)
    innerOdd = arena.take(Float.self, 128, after: 16)
    halved = arena.take(Float.self, 128)
    curves = CurveRoom(&arena)
    oldEven = arena.take(Float.self, 128)
    oldOdd = arena.take(Float.self, 128)
  }

  /// Bytes of a row, which begins with `tone`.
  static var size: Int {
    @_noLocks get {
      var arena = Arena(measuring: ())
      _ = Self(&arena)
      return arena.bytes
    }
  }

  @_noLocks func keep(_ frames: Int, _ oversampling: Int) {
    keepHistory(dry - 48, 48, frames)
    keepHistory(input - 48, 48, frames)
    if oversampling == 1 { return }
    keepHistory(even - 32, 32, frames)
    keepHistory(odd - 16, 16, frames)
    if oversampling == 2 {
      keepHistory(driven - 32, 32, frames)
      return
    }
    keepHistory(double - 32, 32, 2 &* frames)
    keepHistory(driven - 32, 32, 2 &* frames)
    keepHistory(innerEven - 16, 16, 2 &* frames)
    keepHistory(innerOdd - 16, 16, 2 &* frames)
  }
}

/// Memory of a distortion.
struct DistortionMemory: BitwiseCopyable {
  /// `outer`: 63 taps, between the node's rate and twice it. `inner`: 31 taps, between two and four times the
  /// rate.
  let outer: HalfBand
  let inner: HalfBand
  /// What each frame of a 64-frame cell contributes to the tone's low-pass at the cell's end.
  let decays: UnsafeMutablePointer<Float>
  private let rows: UnsafeMutableRawPointer

  @_noLocks init(_ channels: Int, _ arena: inout Arena) {
    outer = HalfBand(half: 16, &arena)
    inner = HalfBand(half: 8, &arena)
    decays = arena.take(Float.self, 64)
    rows = arena.reserve(channels &* DistortionRow.size)
  }

  @_noLocks func row(_ channel: Int) -> DistortionRow {
    var arena = Arena(rows + channel &* DistortionRow.size)
    return DistortionRow(&arena)
  }
}

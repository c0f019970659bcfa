import CVector
import Realtime

/// One grain: a part of a sound behind a window. What it gives is a function of the frames since it began.
struct Grain: BitwiseCopyable {
  private var sample: UnsafeMutablePointer<GrainSample>?
  /// Frames since it began, and its length.
  private var age = 0
  private var length = 1
  /// Place of its first frame, and frames of the sound for each of its own: 32 bits behind the point.
  private var start: Int64 = 0
  private var step: Int64 = 0
  private var left: Float = 0
  private var right: Float = 0

  @_noLocks init() {}

  /// A grain that begins now. `start` in frames; gains of both sides. It counts as a use of the sample. Audio thread.
  @_noLocks init(
    _ sample: UnsafeMutablePointer<GrainSample>, start: Double, ratio: Double, length: Int, left: Float,
    right: Float
  ) {
    self.sample = sample
    self.start = Int64(start * 4_294_967_296)
    step = Int64(ratio * 4_294_967_296)
    self.length = length
    (self.left, self.right) = (left, right)
    sample.pointee.header.count(1)
  }

  var isSounding: Bool { @inline(__always) @_noLocks get { sample != nil } }

  /// Goes on at another rate; the sample stays as it is. Worker.
  mutating func retune(by factor: Double) {
    let place = start + Int64(age) * step
    age = Int(Double(age) * factor)
    length = max(Int(Double(length) * factor), age + 1)
    step = Int64(Double(step) / factor)
    start = place - Int64(age) * step
  }

  /// Counts as returned. Worker.
  mutating func release() {
    sample?.pointee.header.returned += 1
    sample = nil
  }

  /// Adds the next frames to both sides. `room`: for 160 floats. Audio thread.
  @inline(never) @_noLocks mutating func add(
    _ first: UnsafeMutablePointer<Float>, _ second: UnsafeMutablePointer<Float>, _ frames: Int,
    _ room: UnsafeMutablePointer<Float>
  ) {
    guard let sample else { return }
    let inverse = 1 / Float(length)
    var frame = 0
    while frame < frames {
      let number = age &+ frame
      let n = converted(sostenuto_row(Int32(truncatingIfNeeded: number), 1)) + 0.5
      let t = n * inverse
      // The square of half a sine: Hann's window.
      let half = sineOfQuarters(limited(1 - magnitude(2 * t - 1), 0, 1))
      let window = sostenuto_where_above(Float(length) - n, 0, half * half, Frames(repeating: 0))
      let y = Self.read(sample, 0, start &+ Int64(number) &* step, step, room) * window
      var z = y
      if sample.pointee.channels > 1 {
        z = Self.read(sample, 1, start &+ Int64(number) &* step, step, room) * window
      }
      // Nothing behind the frames, where others may follow.
      let count = Int32(truncatingIfNeeded: frames &- frame)
      let (l, r) = (first.vector(frame), second.vector(frame))
      first.store(sostenuto_join(l + y * left, l, count), frame)
      second.store(sostenuto_join(r + z * right, r, count), frame)
      frame &+= 16
    }
    age &+= frames
    if age >= length { end() }
  }

  /// Ends now. Audio thread.
  @inline(__always) @_noLocks mutating func end() {
    if let sample { sample.pointee.header.count(-1) }
    sample = nil
  }

  /// Sixteen frames from a place on; silence beyond the ends.
  @inline(__always) @_noLocks private static func read(
    _ sample: UnsafeMutablePointer<GrainSample>, _ channel: Int, _ place: Int64, _ step: Int64,
    _ room: UnsafeMutablePointer<Float>
  ) -> Frames {
    let (plane, frames) = (sample.pointee.plane(channel), sample.pointee.frames)
    let first = Int(place &>> 32)
    if step == 1 &<< 32, place & 0xffff_ffff == 0 {
      return first >= -16 && first <= frames ? plane.vector(first) : Frames(repeating: 0)
    }
    var (frame, at) = (0, place)
    while frame < 16 {
      let (a, da) = clamp(at, frames)
      let (b, db) = clamp(at &+ step, frames)
      let d = Frames(lowHalf: SIMD8(repeating: da), highHalf: SIMD8(repeating: db))
      let both = Frames(
        lowHalf: UnsafeRawPointer(plane + a).loadUnaligned(as: SIMD8<Float>.self),
        highHalf: UnsafeRawPointer(plane + b).loadUnaligned(as: SIMD8<Float>.self))
      room.store(Interpolator.weights(d) * both, frame &* 8)
      at = at &+ 2 &* step
      frame &+= 2
    }
    return sostenuto_sum_rows(room)
  }

  /// First of the eight frames around a place, and how far it is before the fifth of them. (Places go forward here, and those of
  /// the weights back.)
  @inline(__always) @_noLocks private static func clamp(_ place: Int64, _ frames: Int) -> (Int, Float) {
    let whole = Int(place &>> 32)
    guard whole > -8, whole < frames &+ 8 else { return (-16, 0) }
    let part = Float(UInt32(truncatingIfNeeded: place)) * 0x1p-32
    return (whole &- 3, 1 - part)
  }
}

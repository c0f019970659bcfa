import CVector
import Patch
import Realtime

/// Pace of a course from 0 to 1 that takes some time. Its parts are whole numbers, so that they add up without an error
/// and any split of the frames gives the same bits.
enum Course {
  /// Parts of a whole course.
  static var parts: Double { @inline(__always) @_noLocks get { 1_099_511_627_776 } }
  /// A course takes as long at most, in frames.
  private static var longest: Float { @inline(__always) @_noLocks get { 1e9 } }

  /// Parts of a frame, of a course of some seconds at `rate` Hz.
  @inline(__always) @_noLocks static func step(_ seconds: Float, _ rate: Float) -> Double {
    // The sum has the nearest whole number in its low bits.
    let rounding = 6_755_399_441_055_744.0
    return parts / Double(limited(seconds * rate, 1, longest)) + rounding - rounding
  }

  /// Frames until a course with `place` parts done is whole.
  @inline(__always) @_noLocks static func framesLeft(_ place: Double, _ step: Double) -> Int {
    let frames = Int((parts - place) / step)
    return place + Double(frames) * step < parts ? frames &+ 1 : frames
  }

  /// Shares that are done in sixteen frames, the first of which makes `place` parts whole.
  @inline(__always) @_noLocks static func shares(_ place: Double, _ step: Double) -> Frames {
    atMost(1, sostenuto_line(place, step) * Float(1 / parts))
  }
}

/// A bent course from 0 to 1: a share of a capacitor's charge, (1 - exp(-c p)) / (1 - exp(-c)). Above 0 % it is fast at
/// first (8 at 100 %), below slow at first, and at 0 % straight.
struct Bend: BitwiseCopyable {
  private let c, exponent, scale: Frames

  /// By the percentage.
  @inline(__always) @_noLocks init(_ percent: Frames) {
    c = limited(percent, -100, 100) * 0.08
    exponent = c * -1.442_695
    scale = 1 / (1 - sostenuto_powers_of_two(exponent))
  }

  /// The course at these shares of its time.
  @inline(__always) @_noLocks func callAsFunction(_ shares: Frames) -> Frames {
    let far = (1 - sostenuto_powers_of_two(shares * exponent)) * scale
    // Near 0 % both differences are mostly rounding: there it is a series.
    let inner = c * (1.0 / 12) * (1 - 2 * shares) + 0.5
    let near = shares + shares * (1 - shares) * c * inner
    return limited(sostenuto_where_above(magnitude(c), 0.05, far, near), 0, 1)
  }
}

/// A parameter of one channel that may be read from any frame of a block on. A moving one is copied into a row of
/// `Rows`, as nothing may be read behind its own.
struct Readable: BitwiseCopyable {
  private let row: UnsafePointer<Float>?
  private let rest: Float

  @inline(__always) @_noLocks init(
    _ stream: ParameterStream, _ channel: Int, _ room: UnsafeMutablePointer<Float>
  ) {
    rest = stream.value(channel)
    guard let moving = stream.frames(channel) else {
      row = nil
      return
    }
    room.store(moving.vector(0), 0)
    room.store(moving.vector(16), 16)
    room.store(moving.vector(32), 32)
    room.store(moving.vector(48), 48)
    row = UnsafePointer(room)
  }

  var isSteady: Bool { @inline(__always) @_noLocks get { row == nil } }

  @inline(__always) @_noLocks func vector(_ frame: Int) -> Frames {
    guard let row else { return Frames(repeating: rest) }
    return row.vector(frame)
  }

  @inline(__always) @_noLocks subscript(_ frame: Int) -> Float { row?[frame] ?? rest }
}

/// Rows of 64 frames within a block's scratch memory, each with room for a vector behind it.
struct Rows: BitwiseCopyable {
  private let base: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ block: Block) {
    base = block.scratch.assumingMemoryBound(to: Float.self)
  }

  /// 21 rows.
  @inline(__always) @_noLocks subscript(_ row: Int) -> UnsafeMutablePointer<Float> { base + 96 &* row }

  /// Copies the frames of a row to an output's channel.
  @inline(__always) @_noLocks func copy(_ row: Int, to channel: UnsafeMutablePointer<Float>) {
    let from = self[row]
    let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
    channel.store(a, 0)
    channel.store(b, 16)
    channel.store(c, 32)
    channel.store(d, 48)
  }
}

extension UnsafeMutablePointer where Pointee == Float {
  /// Fills the 64 frames.
  @inline(__always) @_noLocks func fill(_ value: Float) {
    let all = Frames(repeating: value)
    store(all, 0)
    store(all, 16)
    store(all, 32)
    store(all, 48)
  }

  /// Fills the frames from `first` on; room for a vector behind them.
  @inline(__always) @_noLocks func fill(from first: Int, _ value: Float) {
    var frame = first
    while frame < 64 {
      store(Frames(repeating: value), frame)
      frame &+= 16
    }
  }
}

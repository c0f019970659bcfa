import CVector
import Realtime

/// Place of a delay's tap in each frame of a block: a whole number of frames, or between them, at rest or gliding.
struct DelayTap: BitwiseCopyable {
  private enum Course: UInt8 {
    case whole, between, gliding
  }

  /// Delay of a tap at rest, in whole frames.
  private var delay: Int
  private var course = Course.whole
  /// The largest delay that is read, with the frames around it.
  private(set) var farthest: Int
  private let room: UnsafeMutablePointer<Float>

  /// Floats of its memory, which holds what it needs within a block.
  static var size: Int { @inline(__always) @_noLocks get { 288 } }

  /// Delays of a gliding tap, frame by frame: whole frames, and the rest (0..<1), of which a tap at rest has one.
  private var wholes: UnsafeMutablePointer<Int32> {
    @inline(__always) @_noLocks get { UnsafeMutableRawPointer(room).assumingMemoryBound(to: Int32.self) }
  }
  private var parts: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { room + 64 } }
  /// Scratch for eight vectors.
  var scratch: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { room + 128 } }
  /// The eight weights of a tap at rest between frames.
  private var weights: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { room + 256 } }
  /// Smallest whole of each sixteen frames.
  private var nearest: UnsafeMutablePointer<Int32> {
    @inline(__always) @_noLocks get { wholes + 272 }
  }

  /// A tap of whole frames.
  @inline(__always) @_noLocks init(_ room: UnsafeMutablePointer<Float>, _ frames: Int) {
    self.room = room
    delay = frames
    farthest = frames
  }

  /// Adds `shift`, in seconds, to the delay: at least one frame, and within lines of `length` frames.
  @_noLocks mutating func follow(_ shift: ParameterStream, _ rate: Float, _ frames: Int, within length: Int) {
    let base = Int32(truncatingIfNeeded: delay)
    // Four more frames are read behind the tap, and a block is written before it is read.
    let last = Int32(truncatingIfNeeded: length &- 68)
    if shift.frames(0) == nil {
      place(Frames(repeating: shift.value(0)) * rate, base, last, 0)
      delay = Int(wholes[0])
      course = parts[0] == 0 ? .whole : .between
      farthest = delay &+ 4
      if course == .between {
        let all = Interpolator.weights(delay, parts[0])
        UnsafeMutableRawPointer(weights).storeBytes(of: all, as: SIMD8<Float>.self)
      }
    } else {
      course = .gliding
      farthest = length &- 64
      var frame = 0
      while frame < frames {
        place(shift.vector(0, frame) * rate, base, last, frame)
        frame &+= 16
      }
    }
  }

  /// Sets the places of sixteen frames, moved by `glide` frames from `base`.
  @inline(__always) @_noLocks
  private func place(_ glide: Frames, _ base: Int32, _ last: Int32, _ frame: Int) {
    let glide = limited(glide, -4_000_000, 4_000_000)
    // Rounded by the addition: from there on a float has no fraction (and no vector conversion to integers).
    let rounded = glide + 12_582_912
    let rest = glide - (rounded - 12_582_912)
    // All bits where the rest is negative, which is then taken from the frame before.
    let below = unsafeBitCast(rest, to: SIMD16<Int32>.self) &>> 31
    let part = rest + unsafeBitCast(below & 0x3f80_0000, to: Frames.self)
    let whole = unsafeBitCast(rounded, to: SIMD16<Int32>.self) &+ (base &- 0x4b40_0000) &+ below
    let place = sostenuto_limit(whole, 1, last)
    UnsafeMutableRawPointer(wholes + frame).storeBytes(of: place, as: SIMD16<Int32>.self)
    parts.store(sostenuto_where_equal(whole, place, part), frame)
    nearest[frame &>> 4] = Int32(truncatingIfNeeded: least(unsafeBitCast(place, to: SIMD16<UInt32>.self)))
  }

  /// True when the taps of the sixteen frames from `frame` read none of these frames; or none after their own,
  /// if those `areWritten` first.
  @inline(__always) @_noLocks func isBehind(_ frame: Int, _ areWritten: Bool) -> Bool {
    switch course {
    case .whole: areWritten || delay >= 16
    case .between: delay >= (areWritten ? 4 : 19)
    case .gliding: nearest[frame &>> 4] >= (areWritten ? 4 : 19)
    }
  }

  /// Where the taps of a whole block at `position` are side by side, if none of them reads it.
  @inline(__always) @_noLocks func whole(_ line: DelayLine, _ position: Int) -> UnsafePointer<Float>? {
    switch course {
    case .whole: delay >= blockCapacity ? line.whole(position &- delay) : nil
    case .between, .gliding: nil
    }
  }

  /// The sixteen taps from `frame` on, of a line at `position`, which are `isBehind`.
  @inline(__always) @_noLocks func vector(_ line: DelayLine, _ position: Int, _ frame: Int) -> Frames {
    switch course {
    case .whole: line.vector(position &- delay)
    case .between: line.taps(position, delay, weights)
    case .gliding: line.taps(position, wholes + frame, parts + frame, scratch)
    }
  }

  /// The tap of one frame.
  @inline(__always) @_noLocks func value(_ line: DelayLine, _ position: Int, _ frame: Int) -> Float {
    switch course {
    case .whole: line[position &- delay]
    case .between: line.tap(position, delay, parts[0])
    case .gliding: line.tap(position, Int(wholes[frame]), parts[frame])
    }
  }

  /// The sixteen taps from `frame` on, of a line that is written up to the end of the block.
  @inline(__always) @_noLocks func written(
    _ line: DelayLine, _ position: Int, _ frame: Int, _ frames: Int
  ) -> Frames {
    if isBehind(frame, true) { return vector(line, position, frame) }
    var lane = 0
    while lane < 16, frame &+ lane < frames {
      scratch[lane] = value(line, position &+ lane, frame &+ lane)
      lane &+= 1
    }
    return scratch.vector(0)
  }
}

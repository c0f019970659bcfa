import Realtime

/// Place of a delay's tap in each frame of a block: a whole number of frames, or gliding between them.
struct DelayTap: BitwiseCopyable {
  /// Delay of a tap at rest, in frames.
  var delay = 0
  var isGliding = false
  /// Delays of a gliding tap, frame by frame: whole frames, and the rest (0..<1).
  private let wholes: UnsafeMutablePointer<Int32>
  private let parts: UnsafeMutablePointer<Float>
  private let scratch: UnsafeMutablePointer<Float>
  /// Smallest whole of each sixteen frames.
  private let nearest: UnsafeMutablePointer<Int32>

  @_noLocks init(_ arena: inout Arena) {
    wholes = arena.reserve(blockCapacity &* 4).assumingMemoryBound(to: Int32.self)
    parts = arena.take(Float.self, blockCapacity)
    scratch = arena.take(Float.self, 128)
    nearest = arena.reserve(16).assumingMemoryBound(to: Int32.self)
  }

  /// Adds `shift`, in seconds, to the delay: at least one frame, and within lines of `length` frames.
  @_noLocks mutating func glide(_ shift: ParameterStream, _ rate: Float, _ frames: Int, within length: Int) {
    let base = Int32(truncatingIfNeeded: delay)
    // Four more frames are read behind the tap, and a block is written before it is read.
    let farthest = Int32(truncatingIfNeeded: length &- 68)
    var frame = 0
    while frame < frames {
      let glide = limited(shift.vector(0, frame) * rate, -4_000_000, 4_000_000)
      // Rounded by the addition: from there on a float has no fraction (and no vector conversion to integers).
      let rounded = glide + 12_582_912
      var whole = unsafeBitCast(rounded, to: SIMD16<Int32>.self) &+ (base &- 0x4b40_0000)
      var part = glide - (rounded - 12_582_912)
      let isBelow = part .< 0
      whole = whole.replacing(with: whole &- 1, where: isBelow)
      part = part.replacing(with: part + 1, where: isBelow)
      part = part.replacing(with: 0, where: (whole .< 1) .| (whole .> farthest))
      whole = whole.replacing(with: 1, where: whole .< 1)
      whole = whole.replacing(with: farthest, where: whole .> farthest)
      UnsafeMutableRawPointer(wholes + frame).storeBytes(of: whole, as: SIMD16<Int32>.self)
      parts.store(part, frame)
      nearest[frame &>> 4] = Int32(truncatingIfNeeded: least(unsafeBitCast(whole, to: SIMD16<UInt32>.self)))
      frame &+= 16
    }
  }

  /// True when the taps of the sixteen frames from `frame` read none of these frames; or none after their own,
  /// if those `areWritten` first.
  @inline(__always) @_noLocks func isBehind(_ frame: Int, _ areWritten: Bool) -> Bool {
    isGliding ? nearest[frame &>> 4] >= (areWritten ? 4 : 19) : areWritten || delay >= 16
  }

  /// The sixteen taps from `frame` on, of a line at `position`, which are `isBehind`.
  @inline(__always) @_noLocks func vector(_ line: DelayLine, _ position: Int, _ frame: Int) -> Frames {
    isGliding ? line.taps(position, wholes + frame, parts + frame, scratch) : line.vector(position &- delay)
  }

  /// The tap of one frame.
  @inline(__always) @_noLocks func value(_ line: DelayLine, _ position: Int, _ frame: Int) -> Float {
    isGliding ? line.tap(position, Int(wholes[frame]), parts[frame]) : line[position &- delay]
  }

  /// The sixteen taps from `frame` on, of a line that is written up to the end of the block.
  @inline(__always) @_noLocks func written(
    _ line: DelayLine, _ position: Int, _ frame: Int, _ frames: Int
  ) -> Frames {
    if isBehind(frame, true) { return vector(line, position, frame) }
    var taps = Frames(repeating: 0)
    withUnsafeMutableBytes(of: &taps) { bytes in
      var lane = 0
      while lane < 16, frame &+ lane < frames {
        bytes.storeBytes(
          of: value(line, position &+ lane, frame &+ lane), toByteOffset: lane &* 4, as: Float.self)
        lane &+= 1
      }
    }
    return taps
  }
}

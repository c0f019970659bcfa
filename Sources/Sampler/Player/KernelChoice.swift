import CVector
import Realtime

/// The long kernels of a head, by its pace, so that nothing above the Nyquist frequency comes through.
///
/// While the pace moves, its two nearest kernels are mixed. When it rests, the mixture glides to the next kernel, which
/// costs half.
struct KernelChoice: BitwiseCopyable {
  /// Kernels by which the mixture moves in a frame, on its way to one of them and back.
  private static var speed: Float { @_noLocks get { 1 / 256 } }

  /// Pace of the frame before; negative at the start.
  private var pace: Float = -1
  /// Kernels beyond the one that the pace asks for.
  private var excess: Float = 0
  /// The kernel on which it rests; -1 on the way.
  private var resting = 0

  @_noLocks init() {}

  /// Follows the paces of the frames. Returns the kernel for all of them, or -1 after writing numbers between kernels for
  /// each. Audio thread.
  @_noLocks mutating func follow(_ course: PlayerHead.Course, _ scratch: PlayerHead.Scratch) -> Int {
    let frames = course.frames
    if !course.isFast, excess == 0 {
      pace = scratch.paces[frames &- 1]
      resting = 0
      return 0
    }
    if course.isEven, scratch.paces[0] == pace, resting >= 0 { return resting }
    var frame = 0
    while frame < frames {
      setNumbers(frame, scratch)
      frame &+= 16
    }
    if excess == 0, pace >= 0, movesThroughout(frames, scratch.paces) {
      pace = scratch.paces[frames &- 1]
      resting = -1
      return -1
    }
    let first = move(to: scratch.paces[0], scratch.mixes)
    var isEven = first >= 0
    frame = 1
    while frame < frames {
      let next = move(to: scratch.paces[frame], scratch.mixes + frame)
      isEven = isEven && next == first
      frame &+= 1
    }
    return isEven ? first : -1
  }

  /// True when no frame has the pace of the frame before.
  @_noLocks private func movesThroughout(_ frames: Int, _ paces: UnsafeMutablePointer<Float>) -> Bool {
    guard paces[0] != pace else { return false }
    // Behind the last.
    paces[frames] = -1
    var frame = 1
    while frame < frames {
      let these = unsafeBitCast(vector(paces + frame), to: SIMD16<UInt32>.self)
      let before = unsafeBitCast(vector(paces + (frame &- 1)), to: SIMD16<UInt32>.self)
      if sostenuto_least(these ^ before) == 0 { return false }
      frame &+= 16
    }
    return true
  }

  /// One frame at `pace`: turns the number of kernels that it asks for into that of its mixture, and returns the kernel
  /// where there is just one.
  @_noLocks @inline(__always)
  private mutating func move(to pace: Float, _ number: UnsafeMutablePointer<Float>) -> Int {
    let wanted = number.pointee
    let isNew = self.pace < 0
    let rests = isNew || pace == self.pace
    self.pace = pace
    // Upwards, as voices do: rather less than the Nyquist frequency.
    let kernel = sostenuto_whole(wanted + 0.66)
    let goal: Float = rests ? Float(kernel) - wanted : 0
    let left = goal - excess
    if isNew || (left <= Self.speed && left >= -Self.speed) {
      excess = goal
      if rests {
        resting = Int(kernel)
        number.pointee = Float(kernel)
        return resting
      }
    } else {
      excess += left > 0 ? Self.speed : -Self.speed
    }
    resting = -1
    let mixture = wanted + excess
    let last = Float(SincKernels.count &- 1) - 0.001
    number.pointee = mixture > 0 ? (mixture < last ? mixture : last) : 0
    return -1
  }

  /// The kernels for the paces: that for no transposition up to a pace of 1. From there on the cutoff falls
  /// twice as fast as the pace rises, for a semitone, and then as fast.
  @_noLocks @inline(__always) private func setNumbers(_ frame: Int, _ scratch: PlayerHead.Scratch) {
    let bits = unsafeBitCast(vector(scratch.paces + frame), to: SIMD16<UInt32>.self)
    let octave = unsafeBitCast(bits &>> 23 | 0x4B00_0000, to: SIMD16<Float>.self) - (8_388_608 + 127)
    let part = unsafeBitCast(bits & 0x7F_FFFF | 0x3F80_0000, to: SIMD16<Float>.self) - 1
    // The logarithm to 0.008; what counts is that the kernels follow each other without a step.
    let semitones = 12 * (octave + part * (1.3465 - 0.3465 * part))
    let numbers = sostenuto_lesser(semitones * 2, semitones + 1)
    let last = SIMD16(repeating: Float(SincKernels.count &- 2))
    store(
      0 - sostenuto_lesser(0 - sostenuto_lesser(numbers, last), SIMD16(repeating: 0)), scratch.mixes + frame)
  }
}

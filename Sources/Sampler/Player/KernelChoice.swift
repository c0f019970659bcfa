import CVector
import Realtime

/// The long kernels of a head, by its pace, so that nothing above the Nyquist frequency comes through.
///
/// A head rests on one kernel as long as that suits its pace, and glides to another when it no longer does; on the way two
/// kernels are mixed, which costs twice as much.
struct KernelChoice: BitwiseCopyable {
  /// Kernels by which the mixture glides in a frame.
  private static var speed: Float { @_noLocks get { 1 / 64 } }
  /// The cutoff may be this part of a semitone above the one that is wanted, as for voices; and so far below before
  /// another kernel is chosen, so that a pace that trembles keeps its kernel.
  private static var above: Float { @_noLocks get { 0.34 } }
  private static var below: Float { @_noLocks get { 1 } }

  /// Pace of the frame before; negative at the start.
  private var pace: Float = -1
  /// The kernel on which it rests, or to which it glides.
  private var goal = 0
  /// Between these two, each pace surely suits the goal: by more than rounding may put one of their numbers
  /// before another.
  private var suiting: (least: Float, most: Float)
  /// The number between two kernels; the goal's at rest.
  private var number: Float = 0
  /// Beginning of the glide, and the frames since then.
  private var origin: Float = 0
  private var frames: Int32 = 0

  @_noLocks init() { suiting = Self.paces(0) }

  /// Follows the paces of the frames. Returns the kernel for all of them, or -1 after writing numbers between kernels for
  /// each. Audio thread.
  @_noLocks mutating func follow(_ course: PlayerHead.Course, _ scratch: PlayerHead.Scratch) -> Int {
    let frames = course.frames
    let isNew = pace < 0
    let isSame = course.isEven && scratch.paces[0] == pace
    pace = scratch.paces[frames &- 1]
    let rests = number == Float(goal)
    if rests, isSame || (course.slowest > suiting.least && course.fastest < suiting.most) { return goal }
    var frame = 0
    while frame < frames {
      store(Self.numbers(vector(scratch.paces + frame)), scratch.mixes + frame)
      frame &+= 16
    }
    if isNew {
      aim(at: scratch.mixes[0])
      number = Float(goal)
    }
    if number == Float(goal), fits(scratch.mixes, frames) { return goal }
    let first = goal
    var isEven = true
    frame = 0
    while frame < frames {
      let count = frames &- frame < 16 ? frames &- frame : 16
      if count == 16, glide(scratch.mixes + frame) {
        isEven = false
      } else {
        for index in frame..<frame &+ count {
          move(scratch.mixes + index)
          isEven = isEven && goal == first && number == Float(first)
        }
      }
      frame &+= 16
    }
    return isEven ? first : -1
  }

  /// Chooses the kernel for a number that is wanted: upwards, as for voices, so that rather less than the Nyquist
  /// frequency comes through.
  @_noLocks private mutating func aim(at wanted: Float) {
    goal = Int(sostenuto_whole(wanted + (1 - Self.above)))
    suiting = Self.paces(goal)
  }

  /// The numbers that a goal suits. That of no transposition is left at once, and found again only without
  /// one.
  @_noLocks @inline(__always) private static func numbers(_ goal: Int) -> (least: Float, most: Float) {
    let least = Float(goal) - below
    return (goal == 0 ? 0 : least > 0 ? least : Float.leastNormalMagnitude, Float(goal) + above)
  }

  private var suited: (least: Float, most: Float) {
    @_noLocks @inline(__always) get { Self.numbers(goal) }
  }

  /// The paces between which all surely suit a goal.
  @_noLocks private static func paces(_ goal: Int) -> (least: Float, most: Float) {
    let (least, most) = numbers(goal)
    let margin: Float = 0.001
    return (
      goal == 0 ? -1 : pace(least + margin), most < last ? pace(most - margin) : Float.greatestFiniteMagnitude
    )
  }

  /// The pace whose number this is, of those above 1: the inverse of `numbers`.
  @_noLocks private static func pace(_ number: Float) -> Float {
    let octaves = (number < 2 ? number / 2 : number - 1) / 12
    let whole = sostenuto_whole(octaves)
    let root = squareRoot(curve.first * curve.first - 4 * curve.second * (octaves - Float(whole)))
    let part = (curve.first - root) / (2 * curve.second)
    return Float(bitPattern: UInt32(bitPattern: whole &+ 127) &<< 23) * (1 + part)
  }

  /// True when the goal suits all numbers.
  @_noLocks @inline(__always) private func fits(_ numbers: UnsafeMutablePointer<Float>, _ frames: Int) -> Bool
  {
    let (least, most) = suited
    var frame = 0
    while frame < frames {
      if !Self.areWithin(vector(numbers + frame), least, most) { return false }
      frame &+= 16
    }
    return true
  }

  @_noLocks @inline(__always)
  private static func areWithin(_ v: SIMD16<Float>, _ least: Float, _ most: Float) -> Bool {
    !sostenuto_has_below(v, least) && !sostenuto_has_above(v, most)
  }

  /// Sixteen frames of a glide that goes on undisturbed: as `move` would; otherwise false, with no effect.
  @_noLocks @inline(__always) private mutating func glide(_ place: UnsafeMutablePointer<Float>) -> Bool {
    guard frames > 0 else { return false }
    let wanted = vector(place)
    let isUp = Float(goal) > number
    let numbers = (lanes16 + Float(frames &+ 1)) * (isUp ? Self.speed : -Self.speed) + origin
    let left = Float(goal) - Self.last(origin, frames &+ 15, isUp)
    let (least, most) = suited
    guard isUp ? left > Self.speed : left < -Self.speed, Self.areWithin(wanted, least, most),
      Self.areWithin(numbers - wanted, -Self.above, Self.below + Self.above)
    else { return false }
    store(numbers, place)
    frames &+= 16
    number = Self.last(origin, frames, isUp)
    return true
  }

  /// The number some frames after the glide's beginning.
  @_noLocks @inline(__always) private static func last(_ origin: Float, _ frames: Int32, _ isUp: Bool)
    -> Float
  {
    Float(frames) * (isUp ? speed : -speed) + origin
  }

  /// One frame: replaces the number that is wanted by that of its mixture.
  @_noLocks @inline(__always) private mutating func move(_ place: UnsafeMutablePointer<Float>) {
    let wanted = place.pointee
    let (least, most) = suited
    if wanted < least || wanted > most {
      aim(at: wanted)
      (origin, frames) = (number, 0)
    }
    let left = Float(goal) - number
    frames &+= 1
    number =
      left <= Self.speed && left >= -Self.speed
      ? Float(goal) : Self.last(origin, frames, left > 0)
    // Never far from a pace that is quicker than the glide.
    let excess = number - wanted
    if excess < -Self.above || excess > Self.below + Self.above {
      number = wanted + (excess < 0 ? -Self.above : Self.below + Self.above)
      (origin, frames) = (number, 0)
    }
    if number == Float(goal) { (origin, frames) = (number, 0) }
    place.pointee = number
  }

  /// The kernels for the paces: that for no transposition up to a pace of 1. From there on the cutoff falls
  /// twice as fast as the pace rises, for a semitone, and then as fast.
  @_noLocks @inline(__always) private static func numbers(_ paces: SIMD16<Float>) -> SIMD16<Float> {
    let bits = unsafeBitCast(paces, to: SIMD16<UInt32>.self)
    let octave = unsafeBitCast(bits &>> 23 | 0x4B00_0000, to: SIMD16<Float>.self) - (8_388_608 + 127)
    let part = unsafeBitCast(bits & 0x7F_FFFF | 0x3F80_0000, to: SIMD16<Float>.self) - 1
    let semitones = 12 * (octave + part * (curve.first - curve.second * part))
    let numbers = sostenuto_lesser(semitones * 2, semitones + 1)
    return 0 - sostenuto_lesser(0 - sostenuto_lesser(numbers, SIMD16(repeating: last)), SIMD16(repeating: 0))
  }

  /// The largest number.
  private static var last: Float { @_noLocks @inline(__always) get { Float(SincKernels.count &- 2) } }
  /// Coefficients of the logarithm, to 0.008; what counts is that the kernels follow each other without a
  /// step.
  private static var curve: (first: Float, second: Float) {
    @_noLocks @inline(__always) get { (1.3465, 0.3465) }
  }
}

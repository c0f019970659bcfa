/// A value that moves smoothly to a target: the one kind of smoothing in the program.
///
/// A move is the minimum-jerk polynomial of degree five (T. Flash and N. Hogan, "The coordination of arm
/// movements", 1985) from the present value, speed and acceleration to rest at the target. It is
/// complementary: a fade in and a fade out that start together sum to one. Its residue above 5 kHz over 10 ms
/// lies below -110 dB. A new target in mid-move joins without a kink.
///
/// The value moves or, in a glide by ratio, its logarithm: a gain in decibels, a frequency in octaves.
///
/// The value is a function of the frames counted since the move began, so splitting a block never changes a
/// bit.
public struct Ramp: Sendable, BitwiseCopyable {
  /// The course of a move.
  public enum Law: UInt8, Sendable {
    /// Evenly in the value.
    case even
    /// Evenly in the logarithm. Where a move begins or ends below -80 dB (0.0001), in silence for instance, 0.0001 is added
    /// before the logarithm is taken: it goes in decibels down to about -80 dB, and evenly from there. Between
    /// values of which one is negative it goes evenly, and so it does where it turns a move that is under way evenly.
    case ratio
  }

  /// Final value.
  public private(set) var target: Float
  private var frame: Int32 = 0
  private var length: Int32 = 0
  /// Frames in which the speed at the move's start is lost.
  private var braking: Int32 = 0
  /// Summand before the logarithm is taken; negative: the value itself moves.
  private var floor: Float = -1
  /// Place of the target: the value or its logarithm (base 2).
  private var end: Float
  /// Distance of the start from `end`.
  private var distance: Float = 0
  /// Speed and acceleration at the start, in units of `braking`.
  private var speed: Float = 0
  private var acceleration: Float = 0

  /// A ramp at rest at `value`.
  @_noLocks public init(_ value: Float) {
    target = value
    end = value
  }

  /// True until the target is reached.
  public var isMoving: Bool { @_noLocks get { frame < length } }

  /// Frames until rest.
  public var framesLeft: Int { @_noLocks get { Int(length &- frame) } }

  /// The value of the next frame.
  public var value: Float {
    @_noLocks get { isMoving ? values(at: SIMD16(repeating: Float(frame)))[0] : target }
  }

  /// Values at frames of the move.
  @inline(__always) @_noLocks private func values(at frames: SIMD16<Float>) -> SIMD16<Float> {
    // Computed from the nearer end, where the course keeps its digits.
    let done = frames / Float(length)
    let left = (Float(length) - frames) / Float(length)
    let isEarly = done .< left
    let t = left.replacing(with: done, where: isEarly)
    let inner = t * (6 * t - 15) + 10
    let travelled = t * t * t * inner
    let remaining = travelled.replacing(with: 1 - travelled, where: isEarly)
    var place = remaining * distance + end
    if speed != 0 || acceleration != 0 {
      let one = SIMD16<Float>(repeating: 1)
      let all = frames / Float(braking)
      let u = all.replacing(with: one, where: all .> one)
      let squared = u * u
      let bySpeed = u * (8 - 3 * u) - 6
      let byAcceleration = u * (1.5 - 0.5 * u) - 1.5
      place += u * (squared * bySpeed + 1) * speed
      place += squared * (u * byAcceleration + 0.5) * acceleration
    }
    return floor < 0 ? place : exponentials2(place) - floor
  }

  /// Place at the next frame, and its first and second derivative by frames.
  private var motion: (place: Float, speed: Float, acceleration: Float) {
    @_noLocks get {
      guard isMoving else { return (end, 0, 0) }
      let (all, brake) = (Float(length), Float(braking))
      let t = Float(frame) / all
      let s = Float(frame) / brake
      let u: Float = s > 1 ? 1 : s
      let course = Self.derivatives(t, SIMD4(-10, 15, -6, 0), 1, 0)
      let ofSpeed = Self.derivatives(u, SIMD4(-6, 8, -3, 0), 0, 1)
      let ofAcceleration = Self.derivatives(u, SIMD4(-1.5, 1.5, -0.5, 0.5), 0, 0)
      let brakes = ofSpeed * speed + ofAcceleration * acceleration
      let far = course * distance
      return (
        end + far[0] + brakes[0], far[1] / all + brakes[1] / brake,
        far[2] / all / all + brakes[2] / brake / brake
      )
    }
  }

  /// A polynomial and its first two derivatives: `a` + `b` t + c[3] t^2 + c[0] t^3 + c[1] t^4 + c[2] t^5.
  @_noLocks private static func derivatives(_ t: Float, _ c: SIMD4<Float>, _ a: Float, _ b: Float)
    -> SIMD4<Float>
  {
    let inner: Float = c[0] + t * (c[1] + t * c[2])
    let value: Float = a + t * (b + t * (c[3] + t * inner))
    let innerSlope: Float = 3 * c[0] + t * (4 * c[1] + t * 5 * c[2])
    let slope: Float = b + t * (2 * c[3] + t * innerSlope)
    let innerBend: Float = 6 * c[0] + t * (12 * c[1] + t * 20 * c[2])
    let bend: Float = 2 * c[3] + t * innerBend
    return SIMD4(value, slope, bend, 0)
  }

  /// Upper bound of the absolute value from here on, even if the same target is set again any number of times
  /// at the same pace. The value alone gives no such bound: a ramp with a new target in mid-move overshoots.
  public var ceiling: Float {
    @_noLocks get {
      guard isMoving else { return abs(target) }
      let motion = motion
      let all = Float(length)
      let reach = abs(motion.place - end) + abs(motion.speed * all) + abs(motion.acceleration * all * all)
      return floor < 0 ? abs(target) + reach : exponential2(end + reach)
    }
  }

  /// Frames of the move that made the present speed; 0 at rest. That speed would carry the value far past both targets in a
  /// longer time: another move loses it within these frames.
  public var pace: Int { @_noLocks get { isMoving ? Int(frame < braking ? braking : length) : 0 } }

  /// Starts a move to `newTarget` over `frames` (0: at once). `common`: the pace of several moves that together keep their
  /// sum, also of those at rest; 0: its own. Audio thread.
  @_noLocks public mutating func move(
    to newTarget: Float, over frames: Int, law: Law = .even, pace common: Int = 0
  ) {
    guard frames > 0 else {
      self = Ramp(newTarget)
      return
    }
    guard isMoving || newTarget != target else { return }
    let pace = common > 0 ? common : self.pace
    let brake = Int32(truncatingIfNeeded: pace > 0 && pace < frames ? pace : frames)
    // A move under way evenly goes on evenly: near silence its speed would be thousands of octaves a second.
    take(isMoving && floor < 0 ? -1 : Self.floor(law, value, newTarget))
    let motion = motion
    target = newTarget
    end = floor < 0 ? newTarget : logarithm2(newTarget + floor)
    frame = 0
    length = Int32(truncatingIfNeeded: frames)
    braking = brake
    distance = motion.place - end
    speed = motion.speed * Float(brake)
    acceleration = motion.acceleration * Float(brake) * Float(brake)
  }

  @_noLocks private static func floor(_ law: Law, _ a: Float, _ b: Float) -> Float {
    switch law {
    case .even: return -1
    case .ratio:
      let least: Float = 0.0001
      guard a >= 0, b >= 0 else { return -1 }
      return a >= least && b >= least ? 0 : least
    }
  }

  /// Expresses the motion in another logarithm, or in the value itself: the same value, speed and acceleration.
  @_noLocks private mutating func take(_ newFloor: Float) {
    guard newFloor != floor else { return }
    var (place, speed, acceleration) = motion
    if floor >= 0 {
      let value = exponential2(place)
      let rate = 0.693_147_2 * speed
      acceleration = value * (0.693_147_2 * acceleration + rate * rate)
      speed = value * rate
      place = value - floor
    }
    if !isMoving { place = target }
    if newFloor >= 0 {
      let value = place + newFloor
      let rate = speed / value
      acceleration = (acceleration / value - rate * rate) * 1.442_695
      speed = rate * 1.442_695
      place = logarithm2(value)
    }
    floor = newFloor
    // A motion that begins here, with all of its place in `end`.
    end = place
    distance = 0
    guard isMoving else { return }
    length = length &- frame
    braking = length
    frame = 0
    self.speed = speed * Float(length)
    self.acceleration = acceleration * Float(length) * Float(length)
  }

  /// Writes the values of the next `frames` frames (at most 64) and advances. Audio thread.
  ///
  /// `output` has room for 64 floats; the values behind `frames` are unspecified.
  @_noLocks public mutating func fill(_ output: UnsafeMutablePointer<Float>, frames: Int) {
    let left = framesLeft
    let moving = left < frames ? left : frames
    if moving > 0 {
      let first = Float(frame)
      let lanes = SIMD16<Float>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
      var index = 0
      while index < moving {
        let y = values(at: lanes + (first + Float(index)))
        UnsafeMutableRawPointer(output + index).storeBytes(of: y, as: SIMD16<Float>.self)
        index &+= 16
      }
    }
    var index = moving
    while index < frames {
      output[index] = target
      index &+= 1
    }
    frame &+= Int32(truncatingIfNeeded: moving)
  }

  /// Advances by `frames` without writing. Audio thread.
  @_noLocks public mutating func skip(_ frames: Int) {
    let left = framesLeft
    frame &+= Int32(truncatingIfNeeded: left < frames ? left : frames)
  }

  /// Stretches the rest of the move by `factor`: the same time at another rate. Worker.
  public mutating func stretch(by factor: Double) {
    guard isMoving else { return }
    let part = Double(frame) / Double(length)
    length = Int32(clamping: Int64(max(1, (Double(length) * factor).rounded())))
    braking = Int32(clamping: Int64(max(1, (Double(braking) * factor).rounded())))
    frame = min(Int32((part * Double(length)).rounded()), length - 1)
  }
}

/// 2^x for x in -120...120, within 2e-7 of the value: the Taylor series around the nearest whole number.
@inline(__always) @_noLocks func exponentials2(_ x: SIMD16<Float>) -> SIMD16<Float> {
  let (low, high) = (SIMD16<Float>(repeating: -120), SIMD16<Float>(repeating: 120))
  let above = low.replacing(with: x, where: x .> low)
  let held = high.replacing(with: above, where: above .< high)
  // Adding a large number rounds to a whole number, which then stands in the lowest bits.
  let large = held + 12_582_912
  let y = (held - (large - 12_582_912)) * 0.693_147_2
  var sum = y * 1.984_127e-4 + 1.388_888_9e-3
  sum = sum * y + 8.333_333e-3
  sum = sum * y + 4.166_666_8e-2
  sum = sum * y + 0.166_666_67
  sum = sum * y + 0.5
  sum = sum * y * y + y + 1
  let exponents = unsafeBitCast(large, to: SIMD16<Int32>.self) &<< 23
  return unsafeBitCast(unsafeBitCast(sum, to: SIMD16<Int32>.self) &+ exponents, to: SIMD16<Float>.self)
}

/// A setting that cannot glide, such as a waveform or a delay time: the old and the new setting are both
/// computed while `blend` goes from 0 (all old) to 1 (all new).
///
/// A change that arrives during a blend waits until the blend is done; the last one wins.
public struct Crossfade: Sendable, BitwiseCopyable {
  /// Setting that fades out.
  public private(set) var old: Float
  /// Setting that fades in.
  public private(set) var new: Float
  /// Gain of `new`, from 0 to 1.
  public private(set) var blend: Ramp
  private var waiting: Float
  private var length: Int32 = 0

  /// A ramp at rest at `value`.
  @_noLocks public init(_ value: Float) {
    old = value
    new = value
    waiting = value
    blend = Ramp(1)
  }

  /// True during a blend.
  public var isMoving: Bool { @_noLocks get { blend.isMoving } }

  /// Final value, once a waiting change is done.
  public var target: Float { @_noLocks get { waiting } }

  /// Starts (or queues) the change to `value`. Audio thread.
  @_noLocks public mutating func move(to value: Float, over frames: Int) {
    waiting = value
    length = Int32(truncatingIfNeeded: frames)
    if !blend.isMoving { startWaiting() }
  }

  @_noLocks private mutating func startWaiting() {
    guard waiting != new else { return }
    old = new
    new = waiting
    blend = Ramp(0)
    blend.move(to: 1, over: Int(length))
    if !blend.isMoving { old = new }
  }

  /// Writes the blend of the next frames and advances. Audio thread.
  @_noLocks public mutating func fill(_ output: UnsafeMutablePointer<Float>, frames: Int) {
    blend.fill(output, frames: frames)
  }

  /// The same time at another rate. Worker.
  public mutating func stretch(by factor: Double) {
    blend.stretch(by: factor)
    length = Int32(clamping: Int64((Double(length) * factor).rounded()))
  }

  /// Ends a finished blend and starts a waiting one. Called only at the end of a 64-frame cell of engine
  /// time, so that the split into blocks changes nothing. Audio thread.
  @_noLocks public mutating func settle() {
    guard !blend.isMoving else { return }
    old = new
    startWaiting()
  }
}

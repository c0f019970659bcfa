/// A value that moves smoothly to a target: the one kind of smoothing in the program.
///
/// A move is the minimum-jerk polynomial of degree five (T. Flash and N. Hogan, "The coordination of arm
/// movements", 1985) from the present value, speed and acceleration to rest at the target. It is
/// complementary: a fade in and a fade out that start together sum to one. Its residue above 5 kHz over 10 ms
/// lies below -110 dB. A new target in mid-move joins without a kink.
///
/// The value is a function of the frames counted since the move began, so splitting a block never changes a
/// bit.
public struct Ramp: Sendable, BitwiseCopyable {
  /// Final value.
  public private(set) var target: Float
  private var frame: Int32 = 0
  private var length: Int32 = 0
  /// Polynomial coefficients of the distance from the target, by powers 0...5 of normalised time.
  private var c0: Float = 0
  private var c1: Float = 0
  private var c2: Float = 0
  private var c3: Float = 0
  private var c4: Float = 0
  private var c5: Float = 0

  /// A ramp at rest at `value`.
  @_noLocks public init(_ value: Float) { target = value }

  /// True until the target is reached.
  public var isMoving: Bool { @_noLocks get { frame < length } }

  /// Frames until rest.
  public var framesLeft: Int { @_noLocks get { Int(length &- frame) } }

  /// The value of the next frame.
  public var value: Float { @_noLocks get { isMoving ? value(at: Float(frame) / Float(length)) : target } }

  @_noLocks private func value(at t: Float) -> Float {
    target + (c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5)))))
  }

  /// State at the next frame: distance from the target, and its first and second derivative in normalised
  /// time.
  private var motion: (distance: Float, speed: Float, acceleration: Float) {
    @_noLocks get {
      guard isMoving else { return (0, 0, 0) }
      let t = Float(frame) / Float(length)
      return (
        c0 + t * (c1 + t * (c2 + t * (c3 + t * (c4 + t * c5)))),
        c1 + t * (2 * c2 + t * (3 * c3 + t * (4 * c4 + t * 5 * c5))),
        2 * c2 + t * (6 * c3 + t * (12 * c4 + t * 20 * c5))
      )
    }
  }

  /// Upper bound of the absolute value from here on, even if the same target is set again any number of times
  /// at the same pace. The value alone gives no such bound: a ramp with a new target in mid-move overshoots.
  public var ceiling: Float {
    @_noLocks get {
      let motion = motion
      return abs(target) + abs(motion.distance) + abs(motion.speed) + abs(motion.acceleration)
    }
  }

  /// Starts a move to `newTarget` over `frames` (0: at once). Audio thread.
  @_noLocks public mutating func move(to newTarget: Float, over frames: Int) {
    guard frames > 0 else {
      self = Ramp(newTarget)
      return
    }
    guard isMoving || newTarget != target else { return }
    let motion = motion
    let distance = motion.distance + target - newTarget
    let stretch = isMoving ? Float(frames) / Float(length) : 0
    let speed = stretch * motion.speed
    let acceleration = stretch * stretch * motion.acceleration
    target = newTarget
    frame = 0
    length = Int32(truncatingIfNeeded: frames)
    c0 = distance
    c1 = speed
    c2 = 0.5 * acceleration
    c3 = -10 * distance - 6 * speed - 1.5 * acceleration
    c4 = 15 * distance + 8 * speed + 1.5 * acceleration
    c5 = -6 * distance - 3 * speed - 0.5 * acceleration
  }

  /// Writes the values of the next `frames` frames (at most 64) and advances. Audio thread.
  ///
  /// `output` has room for 64 floats; the values behind `frames` are unspecified.
  @_noLocks public mutating func fill(_ output: UnsafeMutablePointer<Float>, frames: Int) {
    let left = framesLeft
    let moving = left < frames ? left : frames
    if moving > 0 {
      let first = Float(frame)
      let all = Float(length)
      let lanes = SIMD16<Float>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
      var index = 0
      while index < moving {
        let t = (lanes + (first + Float(index))) / all
        let u = c3 + t * (c4 + t * c5)
        let y = target + (c0 + t * (c1 + t * (c2 + t * u)))
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
    frame = min(Int32((part * Double(length)).rounded()), length - 1)
  }
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

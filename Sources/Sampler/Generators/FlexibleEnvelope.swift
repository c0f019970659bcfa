import Realtime

/// A running flexible envelope, evaluated once per control period of its voice.
struct FlexibleEnvelope {
  private var settings = FlexibleSettings()
  private var curves: UnsafePointer<Float>?
  private var point: Int32 = 0
  private var frame: Int32 = 0
  private var length: Int32 = 0
  private var start: Float = 0
  private var end: Float = 0
  private var shape: Float = 0
  private var curve: Int32 = -1
  private var turns: Int32 = 0
  private var isReleased = false

  @_noLocks init() {}

  /// Starts the envelope. `points`: the image's. `times` and `levels`: modulation of this envelope. Audio
  /// thread.
  @_noLocks init(
    _ settings: FlexibleSettings, _ points: UnsafePointer<FlexiblePoint>, curves: UnsafePointer<Float>,
    times: UnsafePointer<Float>, levels: UnsafePointer<Float>, rate: Float
  ) {
    self.settings = settings
    self.curves = curves
    point = -1
    enterNext(points, times, levels, rate)
  }

  /// True while the value is constant without further events.
  var isSteady: Bool { @_noLocks get { length == .max } }

  /// True behind its last point, when it is silent or the note is over.
  var isOver: Bool {
    @_noLocks get { length == .max && point >= settings.pointCount && (isReleased || end == 0) }
  }

  var value: Float {
    @_noLocks get {
      guard length > 0, length != .max else { return end }
      let t = Float(frame) / Float(length)
      if curve >= 0 { return start + (end - start) * curveValue(curves! + Int(curve), t * 127) }
      return start + (end - start) * (shape == 0 ? t : bent(t))
    }
  }

  /// An exponential from 0 to 1 whose steepness is the shape; shape 0 must be handled as a straight line.
  @_noLocks private func bent(_ t: Float) -> Float {
    let steepness = shape < 20 ? (shape > -20 ? shape : -20) : 20
    return (exponential(steepness * t) - 1) / (exponential(steepness) - 1)
  }

  @_noLocks private mutating func enterNext(
    _ points: UnsafePointer<FlexiblePoint>, _ times: UnsafePointer<Float>, _ levels: UnsafePointer<Float>,
    _ rate: Float
  ) {
    // A loop of zero length rests.
    var passed: Int32 = 0
    while passed <= 2 &* settings.pointCount {
      passed &+= 1
      let isBack = isAtLoop
      if isBack {
        turns &+= 1
        point = settings.loop
      } else if point >= 0, point == settings.sustain, !isReleased {
        break
      } else {
        point &+= 1
        guard point < settings.pointCount else { break }
      }
      let next = points[Int(settings.firstPoint &+ point)]
      start = end
      end = next.level + levels[Int(point)]
      shape = isBack && settings.loopShape == settings.loopShape ? settings.loopShape : next.shape
      curve = next.curve
      frame = 0
      length = frames(points, times, rate)
      if length > 0 { return }
    }
    length = .max
  }

  /// True when it returns from here.
  private var isAtLoop: Bool {
    @_noLocks get {
      let last = settings.sustain >= 0 ? settings.sustain : settings.pointCount &- 1
      return !isReleased && point >= 0 && point == last && settings.loop >= 0 && settings.loop <= last
        && (settings.loopCount == 0 || turns < settings.loopCount)
    }
  }

  /// Frames of the segment to the point.
  @_noLocks private func frames(
    _ points: UnsafePointer<FlexiblePoint>, _ times: UnsafePointer<Float>, _ rate: Float
  ) -> Int32 {
    let count = (points[Int(settings.firstPoint &+ point)].time + times[Int(point)]) * rate + 0.5
    return count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
  }

  /// Applies changed times: the rest of the segment is rescaled. Audio thread.
  @_noLocks mutating func change(
    _ points: UnsafePointer<FlexiblePoint>, times: UnsafePointer<Float>, rate: Float
  ) {
    guard settings.isDynamic, length != .max, length > 0, point >= 0, point < settings.pointCount else {
      return
    }
    let share = Float(frame) / Float(length)
    length = frames(points, times, rate)
    frame = Int32(share * Float(length))
    // The next step reaches the end.
    if length == 0 { (length, frame) = (1, 0) }
  }

  @_noLocks mutating func advance(
    _ frames: Int, _ points: UnsafePointer<FlexiblePoint>, times: UnsafePointer<Float>,
    levels: UnsafePointer<Float>, rate: Float
  ) {
    var count = frames
    while count > 0, length != .max {
      let left = Int(length &- frame)
      let step = left < count ? left : count
      frame &+= Int32(truncatingIfNeeded: step)
      count &-= step
      if frame >= length { enterNext(points, times, levels, rate) }
    }
  }

  @_noLocks mutating func release(
    _ points: UnsafePointer<FlexiblePoint>, times: UnsafePointer<Float>, levels: UnsafePointer<Float>,
    rate: Float
  ) {
    guard !isReleased else { return }
    isReleased = true
    if settings.sustain < 0, length == .max { point = settings.pointCount }
    guard settings.sustain >= 0, point <= settings.sustain else { return }
    // From the present value to the point after the sustain point.
    end = value
    point = settings.sustain
    enterNext(points, times, levels, rate)
  }

  /// Adapts to a new rate. Worker.
  mutating func retune(_ factor: Double) {
    guard length != .max else { return }
    frame = Int32(min(2e9, (Double(frame) * factor).rounded()))
    length = Int32(min(2e9, (Double(length) * factor).rounded()))
  }
}

import Realtime

/// An envelope of any number of points (SFZ 2's `egN`), as an instrument states it.
struct FlexibleSettings {
  var firstPoint: Int32
  var pointCount: Int32
  /// The point at which it rests while the note is held (-1: nowhere).
  var sustain: Int32
  /// The point to which it goes back from there, or from its last point, while the note is held (-1: it does
  /// not); how often (0: for ever), and how that way bends (NaN: as the point's own).
  var loop: Int32
  var loopCount: Int32
  var loopShape: Float
  /// Controllers reach the way that it is on.
  var isDynamic: Bool
}

/// A point: seconds from the one before, the level there, and how the way bends (0 straight, positive
/// slow at first, negative fast at first), or its curve's place among the image's (-1: none).
struct FlexiblePoint: Hashable {
  var time: Float = 0
  var level: Float = 0
  var shape: Float = 0
  var curve: Int32 = -1
}

/// A running flexible envelope. It is looked at once a control period of its voice.
struct FlexibleEnvelope {
  private var settings = FlexibleSettings(
    firstPoint: 0, pointCount: 0, sustain: -1, loop: -1, loopCount: 0, loopShape: .nan, isDynamic: false)
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

  /// Begins; `points` are the image's, `times` and `levels` what modulation adds to this envelope's.
  /// Audio thread.
  @_noLocks init(
    _ settings: FlexibleSettings, _ points: UnsafePointer<FlexiblePoint>, curves: UnsafePointer<Float>,
    times: UnsafePointer<Float>, levels: UnsafePointer<Float>, rate: Float
  ) {
    self.settings = settings
    self.curves = curves
    point = -1
    enterNext(points, times, levels, rate)
  }

  /// Whether it will stay where it is until something happens.
  var isSteady: Bool { @_noLocks get { length == .max } }

  /// It is behind its last point, where it is silent or the note is over.
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

  /// An exponential from 0 to 1 of which the steepness is the shape; so that 0 would be straight.
  @_noLocks private func bent(_ t: Float) -> Float {
    let steepness = shape < 20 ? (shape > -20 ? shape : -20) : 20
    return (exponential(steepness * t) - 1) / (exponential(steepness) - 1)
  }

  @_noLocks private mutating func enterNext(
    _ points: UnsafePointer<FlexiblePoint>, _ times: UnsafePointer<Float>, _ levels: UnsafePointer<Float>,
    _ rate: Float
  ) {
    // A loop of no length rests.
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

  /// Whether it goes back from here.
  private var isAtLoop: Bool {
    @_noLocks get {
      let last = settings.sustain >= 0 ? settings.sustain : settings.pointCount &- 1
      return !isReleased && point >= 0 && point == last && settings.loop >= 0 && settings.loop <= last
        && (settings.loopCount == 0 || turns < settings.loopCount)
    }
  }

  /// Of the way to the point.
  @_noLocks private func frames(
    _ points: UnsafePointer<FlexiblePoint>, _ times: UnsafePointer<Float>, _ rate: Float
  ) -> Int32 {
    let count = (points[Int(settings.firstPoint &+ point)].time + times[Int(point)]) * rate + 0.5
    return count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
  }

  /// The times have changed: what is left of the way takes its share of the new one. Audio thread.
  @_noLocks mutating func change(
    _ points: UnsafePointer<FlexiblePoint>, times: UnsafePointer<Float>, rate: Float
  ) {
    guard settings.isDynamic, length != .max, length > 0, point >= 0, point < settings.pointCount else {
      return
    }
    let share = Float(frame) / Float(length)
    length = frames(points, times, rate)
    frame = Int32(share * Float(length))
    // The next step finds the end.
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
    // From where it stands to the point behind the one at which it would have rested.
    end = value
    point = settings.sustain
    enterNext(points, times, levels, rate)
  }

  /// The rate changed. Worker.
  mutating func retune(_ factor: Double) {
    guard length != .max else { return }
    frame = Int32(min(2e9, (Double(frame) * factor).rounded()))
    length = Int32(min(2e9, (Double(length) * factor).rounded()))
  }
}

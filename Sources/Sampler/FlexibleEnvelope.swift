import Realtime

/// An envelope of any number of points (SFZ 2's `egN`), as an instrument states it.
struct FlexibleSettings {
  var firstPoint: Int32
  var pointCount: Int32
  /// The point at which it rests while the note is held (-1: nowhere).
  var sustain: Int32
}

/// A point: seconds from the one before, the level there, and how the way bends (0 straight, positive
/// slow at first, negative fast at first).
struct FlexiblePoint: Hashable {
  var time: Float = 0
  var level: Float = 0
  var shape: Float = 0
}

/// A running flexible envelope. It is looked at once a control period of its voice.
struct FlexibleEnvelope {
  private var settings = FlexibleSettings(firstPoint: 0, pointCount: 0, sustain: -1)
  private var point: Int32 = 0
  private var frame: Int32 = 0
  private var length: Int32 = 0
  private var start: Float = 0
  private var end: Float = 0
  private var shape: Float = 0
  private var isReleased = false

  @_noLocks init() {}

  /// Begins; `points` are the image's, `times` and `levels` what modulation adds to this envelope's.
  /// Audio thread.
  @_noLocks init(
    _ settings: FlexibleSettings, _ points: UnsafePointer<FlexiblePoint>,
    times: UnsafePointer<Float>, levels: UnsafePointer<Float>, rate: Float
  ) {
    self.settings = settings
    point = -1
    enterNext(points, times, levels, rate)
  }

  /// Whether it will stay where it is until something happens.
  var isSteady: Bool { @_noLocks get { length == .max } }

  var value: Float {
    @_noLocks get {
      guard length > 0, length != .max else { return end }
      let t = Float(frame) / Float(length)
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
    while true {
      if point >= 0, point == settings.sustain, !isReleased {
        length = .max
        return
      }
      point &+= 1
      guard point < settings.pointCount else {
        length = .max
        return
      }
      let next = points[Int(settings.firstPoint &+ point)]
      start = end
      end = next.level + levels[Int(point)]
      shape = next.shape
      frame = 0
      let count = (next.time + times[Int(point)]) * rate + 0.5
      length = count >= 1 ? (count < 1e9 ? Int32(count) : 1_000_000_000) : 0
      if length > 0 { return }
    }
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

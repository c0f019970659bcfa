/// A stretch of sound as a line: the lowest and the highest value in each of many columns, channel by channel.
public struct ScopeTrace: Sendable, Equatable {
  /// Condition at the trace's middle.
  public enum Trigger: Sendable, CaseIterable {
    /// The sound passes the level upwards.
    case rising
    /// The sound passes the level downwards.
    case falling
    /// None: the latest sound.
    case free
  }

  /// Lowest and highest value of each column, by channel.
  public var channels: [[ClosedRange<Float>]] = []
  /// The trigger was found. Without it, the latest sound is shown.
  public var isTriggered = false

  /// An empty trace.
  public init() {}

  /// The trace of the latest `seconds`, or of the latest such time with the trigger in its middle, in the first of the
  /// channels. `level`: the trigger's, linear.
  public init(
    _ history: SoundHistory, channels: Range<Int>, seconds: Double, columns: Int, trigger: Trigger,
    level: Float
  ) {
    let channels = channels.clamped(to: 0..<history.channels)
    guard let first = channels.first, columns > 0 else { return }
    let span = max(2, seconds * history.rate)
    // Twice as much to look through, and at least the period of 20 Hz.
    let reach = min(history.capacity, Int(span + max(span, history.rate / 20)) + 4)
    let sounds = channels.map { history.latest(reach, channel: $0) }
    var start = Double(reach) - 2 - span
    if let place = Self.crossing(sounds[first - channels.lowerBound], span, trigger, level) {
      isTriggered = true
      start = place - span / 2
    }
    self.channels = sounds.map { Self.columns($0, from: start, span: span, count: columns) }
  }

  /// The last place where the trigger's condition holds, with half a span on both sides. Noise around the level does not
  /// count: the sound must have been beyond it by a twentieth of its range.
  private static func crossing(_ sound: [Float], _ span: Double, _ trigger: Trigger, _ level: Float)
    -> Double?
  {
    guard trigger != .free, let low = sound.min(), let high = sound.max(), high > low else { return nil }
    let sign: Float = trigger == .rising ? 1 : -1
    let margin = (high - low) / 20
    var isArmed = false
    var found: Double?
    let last = Double(sound.count) - 2 - span / 2
    for index in 1..<sound.count where Double(index) <= last {
      let (before, after) = (sign * (sound[index - 1] - level), sign * (sound[index] - level))
      if before < -margin { isArmed = true }
      guard isArmed, before < 0, after >= 0 else { continue }
      isArmed = false
      let place = Double(index - 1) + Double(before / (before - after))
      if place >= span / 2 { found = place }
    }
    return found
  }

  /// Values between samples lie on lines.
  private static func columns(_ sound: [Float], from start: Double, span: Double, count: Int) -> [ClosedRange<
    Float
  >] {
    func value(_ place: Double) -> Float {
      let place = min(max(0, place), Double(sound.count - 1))
      let index = min(Int(place), sound.count - 2)
      return sound[index] + Float(place - Double(index)) * (sound[index + 1] - sound[index])
    }
    return (0..<count).map { column in
      let left = start + span * Double(column) / Double(count)
      let right = start + span * Double(column + 1) / Double(count)
      var (low, high) = (min(value(left), value(right)), max(value(left), value(right)))
      let inner =
        max(0, Int(left.rounded(.up)))..<max(0, Int(left.rounded(.up)), min(sound.count, Int(right) + 1))
      for index in inner { (low, high) = (min(low, sound[index]), max(high, sound[index])) }
      return low...high
    }
  }
}

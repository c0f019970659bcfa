import Glibc

/// Displayed level of one channel. Peaks fall as on a programme meter of type I (IEC 60268-10: by 20 dB in
/// 1.7 s), and the highest is held for a while. The mean comes from the engine with the ballistics of a
/// volume indicator (IEC 60268-17); when a node falls silent, it decays the same way.
public struct MeterLevel: Hashable, Sendable {
  /// Peak; like the others, linear.
  public var peak: Float = 0
  /// RMS; nil if not measured.
  public var mean: Float?
  public var held: Float = 0
  /// Time of the held peak, in seconds of the caller's clock.
  private var heldAt = 0.0

  /// Hold time of the highest peak, in seconds.
  static let holdTime = 1.5
  private static let fall = 20 / 1.7
  /// Time constant of the mean in seconds: 99 % of the power in 300 ms.
  private static let meanTime = 2 * 0.3 / 4.6

  public init(peak: Float = 0, mean: Float? = nil, held: Float? = nil) {
    self.peak = peak
    self.mean = mean
    self.held = held ?? peak
  }

  /// Updates with a measurement over the last `seconds`.
  mutating func take(peak new: Float, mean newMean: Float?, at now: Double, after seconds: Double) {
    let falling = Float(pow(10, -Self.fall * seconds / 20))
    // Invisible levels become zero, so that a silent screen comes to rest.
    peak = max(new, peak * falling > 0.0005 ? peak * falling : 0)
    if peak >= held {
      held = peak
      heldAt = now
    } else if now - heldAt > Self.holdTime {
      held = max(peak, held * falling > 0.0005 ? held * falling : 0)
    }
    mean = newMean.map { new in
      let left = (mean ?? 0) * Float(exp(-seconds / Self.meanTime))
      return max(new, left > 0.0005 ? left : 0)
    }
  }
}

extension MeterLevel {
  /// The same with no level that is too high.
  var unclipped: MeterLevel {
    var level = self
    (level.peak, level.held) = (min(peak, Meter.unclipped), min(held, Meter.unclipped))
    return level
  }

  func isSameSight(as other: Self) -> Bool {
    (peak, held) == (other.peak, other.held) && mean == other.mean
  }
}

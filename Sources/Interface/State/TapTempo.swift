/// The tempo of beats that are tapped: the mean of the latest ones, without those far from their median. A beat that was
/// missed, or tapped twice, does not count.
struct TapTempo {
  /// Times of the taps in seconds, the latest last.
  private var times: [Double] = []
  /// The tempo's edit: all taps of a series are undone together.
  var edit: Int?

  /// Seconds without a tap after which the next one begins anew: slower than any beat that is tapped.
  static let pause = 2.5
  /// Taps that a tempo needs.
  static let least = 3
  private static let most = 9
  /// Shortest and longest beat that counts, beside the median.
  private static let likely = 0.85...1.18

  /// Taps of this series.
  var count: Int { times.count }

  /// Takes a tap; true if it begins a series.
  mutating func tap(at now: Double) -> Bool {
    let isFirst = times.last.map { now - $0 > Self.pause } ?? true
    if isFirst { (times, edit) = ([], nil) }
    times.append(now)
    if times.count > Self.most { times.removeFirst() }
    return isFirst
  }

  /// Beats a minute, in tenths; nil: too few taps, or no beat in them.
  var tempo: Double? {
    guard times.count >= Self.least else { return nil }
    let beats = zip(times, times.dropFirst()).map { $1 - $0 }
    let median = beats.sorted()[beats.count / 2]
    guard median > 0 else { return nil }
    let good = beats.filter { Self.likely.contains($0 / median) }
    guard good.count * 2 > beats.count else { return nil }
    return (600 / (good.reduce(0, +) / Double(good.count))).rounded() / 10
  }
}

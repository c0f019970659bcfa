/// Measured levels of a side of the matrix screen, by channel; empty if not measured.
struct GridLevels: Equatable, Sendable {
  var peaks: [Float] = []
  var means: [Float] = []
}

/// Measurement of the grid on the matrix screen.
struct GridMeasurement {
  var name: String
  var rows: Int
  var columns: Int
  var rowLevels: GridLevels
  var columnLevels: GridLevels
}

/// Meters of the rows and columns on the matrix screen.
public struct GridMeters: Sendable {
  public var rows: [MeterLevel] = []
  public var columns: [MeterLevel] = []
  /// Name of the metered grid.
  var name = ""
  private var takenAt = 0.0

  public init() {}

  /// Updates with the measurements since the last call; returns true if the appearance changed.
  mutating func take(_ measurement: GridMeasurement?, at now: Double) -> Bool {
    guard let measurement else {
      let wasEmpty = rows.isEmpty && columns.isEmpty
      self = GridMeters()
      return !wasEmpty
    }
    if measurement.name != name {
      self = GridMeters()
      name = measurement.name
      takenAt = now
    }
    let seconds = min(1, max(0, now - takenAt))
    takenAt = now
    let isChanged = Self.take(&rows, measurement.rows, measurement.rowLevels, now, seconds)
    return Self.take(&columns, measurement.columns, measurement.columnLevels, now, seconds) || isChanged
  }

  private static func take(
    _ meters: inout [MeterLevel], _ count: Int, _ levels: GridLevels, _ now: Double, _ seconds: Double
  ) -> Bool {
    let old = meters
    if meters.count > count { meters.removeLast(meters.count - count) }
    while meters.count < count { meters.append(MeterLevel()) }
    for index in meters.indices {
      meters[index].take(
        peak: levels.peaks.indices.contains(index) ? levels.peaks[index] : 0,
        mean: levels.means.indices.contains(index) ? levels.means[index] : nil, at: now, after: seconds)
    }
    return !zip(old, meters).allSatisfy { $0.isSameSight(as: $1) } || old.count != meters.count
  }
}

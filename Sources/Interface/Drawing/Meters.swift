import Glibc
import Patch
import Screen
import Session

/// Levels for display.
enum Meter {
  /// Level that counts as silence, in dBFS.
  static let floor = -60.0

  static func decibels(_ peak: Float) -> Double {
    peak > 0 ? 20 * log10(Double(peak)) : -.infinity
  }

  /// Above the level that counts as silence.
  static func isAudible(_ peak: Float) -> Bool { Double(peak) > silence }
  private static let silence = pow(10, floor / 20)

  /// Whole decibels: `-9`, `+2`; `·` below the floor.
  static func text(_ peak: Float) -> String {
    let level = decibels(peak)
    guard level >= floor else { return "·" }
    guard level.isFinite else { return "!" }
    let whole = Int(limited: min(level, 999))
    return whole > 0 ? "+\(whole)" : "\(whole)"
  }

  static func isClipping(_ peak: Float) -> Bool { peak >= 1 }
  /// The highest level that does not.
  static let unclipped = Float(1).nextDown

  /// A horizontal bar; a partially filled last cell is lower.
  static func bar(_ peak: Float, columns: Int) -> [Cell] { bar(MeterLevel(peak: peak), columns: columns) }

  /// A bar of the mean, a line from there to the peak, and a mark at the held peak; the last cell is `!`
  /// after clipping. Without a mean, a bar of the peak.
  static func bar(_ level: MeterLevel, columns: Int) -> [Cell] {
    guard columns > 0 else { return [] }
    /// Sevenths of a cell.
    func length(_ value: Float) -> Int {
      let share = min(1, max(0, (decibels(value) - floor) / -floor))
      return Int(limited: share * Double(columns * 7))
    }
    let body = length(level.mean.map { min($0, level.peak) } ?? level.peak)
    // In whole cells.
    let peak = (length(level.peak) + 6) / 7
    let held = (length(level.held) + 6) / 7
    return (0..<columns).map { cell in
      let height = min(7, body - cell * 7)
      let place = Double(cell + 1) / Double(columns)
      if cell == columns - 1, isClipping(level.held) { return Cell("!", Style(.meterClip)) }
      let key: ThemeKey = place > 0.95 ? .meterHigh : place > 0.8 ? .meterMid : .meterLow
      if height > 0 { return Cell(blocks[height], Style(key)) }
      if cell < peak { return Cell("╌", Style(key)) }
      return cell == held - 1 ? Cell("│", Style(key)) : Cell(" ", Style(.meterEmpty))
    }
  }

  /// One cell per channel, taller when louder; `!` when it clips.
  static func cell(_ peak: Float) -> Cell { cell(MeterLevel(peak: peak)) }

  /// One cell coloured by the peak; clipping is held.
  static func cell(_ meter: MeterLevel) -> Cell {
    let peak = meter.peak
    if isClipping(meter.held) { return Cell("!", Style(.meterClip)) }
    let level = decibels(peak)
    guard level >= floor else { return Cell("▁", Style(.meterEmpty)) }
    let height = min(7, max(1, Int(limited: ((level - floor) / -floor * 7).rounded(.up))))
    let key: ThemeKey = level > -3 ? .meterHigh : level > -12 ? .meterMid : .meterLow
    return Cell(blocks[height], Style(key))
  }

  private static let blocks: [Glyph] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"]
}

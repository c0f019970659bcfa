import Glibc
import Patch
import Screen
import Session

/// Levels as people read them.
enum Meter {
  /// What counts as silence.
  static let floor = -60.0

  static func decibels(_ peak: Float) -> Double {
    peak > 0 ? 20 * log10(Double(peak)) : -.infinity
  }

  /// Whole decibels: `-9`, `+2`; `·` below the floor.
  static func text(_ peak: Float) -> String {
    let level = decibels(peak)
    guard level >= floor else { return "·" }
    guard level.isFinite else { return "!" }
    let whole = Int(limited: min(level, 999))
    return whole > 0 ? "+\(whole)" : "\(whole)"
  }

  static func isClipping(_ peak: Float) -> Bool { peak >= 1 }

  /// A bar from left to right; its last cell is lower when it is filled in part.
  static func bar(_ peak: Float, columns: Int) -> [Span] { bar(MeterLevel(peak: peak), columns: columns) }

  /// A bar of the mean, a line from there to the peak, and a mark where the peak was highest; the last cell
  /// says `!` when it clipped. A bar of the peak where there is no mean.
  static func bar(_ level: MeterLevel, columns: Int) -> [Span] {
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
      if cell == columns - 1, isClipping(level.held) { return Span("!", .meterClip) }
      let key: ThemeKey = place > 0.95 ? .meterHigh : place > 0.8 ? .meterMid : .meterLow
      if height > 0 { return Span(String(blocks[height]), key) }
      if cell < peak { return Span("╌", key) }
      return cell == held - 1 ? Span("│", key) : Span(" ", .meterEmpty)
    }
  }

  /// One cell for a channel, taller when louder; `!` when it clips.
  static func cell(_ peak: Float) -> Span { cell(MeterLevel(peak: peak)) }

  /// By the peak; clipping is held.
  static func cell(_ meter: MeterLevel) -> Span {
    let peak = meter.peak
    if isClipping(meter.held) { return Span("!", .meterClip) }
    let level = decibels(peak)
    guard level >= floor else { return Span("▁", .meterEmpty) }
    let height = min(7, max(1, Int(limited: ((level - floor) / -floor * 7).rounded(.up))))
    let key: ThemeKey = level > -3 ? .meterHigh : level > -12 ? .meterMid : .meterLow
    return Span(String(blocks[height]), key)
  }

  private static let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"]
}

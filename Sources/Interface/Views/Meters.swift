import Glibc
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
    let whole = Int(min(level, 999).rounded())
    return whole > 0 ? "+\(whole)" : "\(whole)"
  }

  static func isClipping(_ peak: Float) -> Bool { peak >= 1 }

  /// A bar from left to right; its last cell is lower when it is filled in part.
  static func bar(_ peak: Float, columns: Int) -> [Span] {
    guard columns > 0 else { return [] }
    let share = min(1, max(0, (decibels(peak) - floor) / -floor))
    let eighths = Int((share * Double(columns * 7)).rounded())
    return (0..<columns).map { cell in
      let height = min(7, eighths - cell * 7)
      let place = Double(cell + 1) / Double(columns)
      if cell == columns - 1, isClipping(peak) { return Span("!", .meterClip) }
      guard height > 0 else { return Span(" ", .meterEmpty) }
      let key: ThemeKey = place > 0.95 ? .meterHigh : place > 0.8 ? .meterMid : .meterLow
      return Span(String(blocks[height]), key)
    }
  }

  /// One cell for a channel, taller when louder; `!` when it clips.
  static func cell(_ peak: Float) -> Span {
    if isClipping(peak) { return Span("!", .meterClip) }
    let level = decibels(peak)
    guard level >= floor else { return Span("▁", .meterEmpty) }
    let height = min(7, max(1, Int(((level - floor) / -floor * 7).rounded(.up))))
    let key: ThemeKey = level > -3 ? .meterHigh : level > -12 ? .meterMid : .meterLow
    return Span(String(blocks[height]), key)
  }

  private static let blocks: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇"]
}

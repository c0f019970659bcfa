import Analysis
import Patch
import Screen
import Session

extension SoundPainting {
  /// Number of channels that the scope shows: as many as have at least two rows.
  static func lanes(_ sound: SoundState, _ rect: Rect) -> Int {
    max(1, min(sound.picture.trace.channels.count, rect.rows / 2))
  }

  /// A lane for each channel.
  static func drawScope(_ sound: SoundState, _ rect: Rect, on canvas: inout Canvas) {
    let picture = sound.picture
    let lanes = lanes(sound, rect)
    let rows = rect.rows / lanes
    for lane in 0..<lanes {
      let place = Rect(column: rect.column, row: rect.row + lane * rows, columns: rect.columns, rows: rows)
      ScopeLane.draw(
        picture.trace, lane: lane, scale: picture.scale, kept: sound.kept?.trace, place, on: &canvas)
      if rows >= 3 {
        PlotLabels.label(number(picture.scale), row: place.row, rect, on: &canvas)
        PlotLabels.label(number(-picture.scale), row: place.bottom - 1, rect, on: &canvas)
      }
      let channel = sound.channel ?? lane
      PlotLabels.label(
        picture.channels > 1 ? "ch \(channel)" : "0", row: place.row + rows / 2, rect, on: &canvas)
    }
    let span = SoundState.spans[sound.span]
    let start = picture.trace.isTriggered ? -span / 2 : -span
    PlotLabels.labels(
      (0...4).map { (time(start + span * Double($0) / 4), Double($0) / 4) }, rect, on: &canvas)
  }

  private static func number(_ value: Float) -> String {
    abs(value) < 0.01
      ? Printout.fixed(Double(value), 3) : Printout.fixed(Double(value), abs(value) < 1 ? 2 : 1)
  }

  /// `-5 ms`, `+200 µs`, `0`.
  private static func time(_ seconds: Double) -> String {
    if abs(seconds) < 1e-9 { return "0" }
    let sign = seconds > 0 ? "+" : "-"
    let size = abs(seconds)
    if size < 0.001 { return "\(sign)\(Int(limited: size * 1e6)) µs" }
    let text = Printout.fixed(size * 1000, 2)
    return "\(sign)\(text.hasSuffix(".00") ? String(text.dropLast(3)) : text) ms"
  }

  static func scopeFacts(_ sound: SoundState) -> [Fact] {
    let picture = sound.picture
    let trigger =
      switch sound.trigger {
      case .rising: "rising"
      case .falling: "falling"
      case .free: "none"
      }
    let level = picture.scale * Float(sound.triggerLevel) / 10
    let isLost = sound.trigger != .free && !picture.trace.isTriggered && picture.peak > 0
    var facts: [Fact] = [
      ("across", time(SoundState.spans[sound.span]).filter { $0 != "+" }),
      (
        "trigger",
        "\(trigger)\(sound.trigger == .free ? "" : " at \(number(level))")\(isLost ? ", not met" : "")"
      ),
      ("peak", "\(decibels(level: picture.peak)) dB"),
      ("scale", "\(number(picture.scale))\(sound.scale == nil ? " as needed" : "")"),
    ]
    if let kept = sound.kept { facts.append(("\(kept.name) peak", "\(decibels(level: kept.peak)) dB")) }
    return facts
  }

  private static func decibels(level: Float) -> String { decibels(Meter.decibels(level)) }
}

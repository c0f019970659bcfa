import Analysis
import Patch
import Screen
import Session

extension SoundPainting {
  /// Lowest loudness on the bars and in the course, LUFS.
  private static let lowest = -59.0

  /// Bars of the three measures, the range and the true peaks, and the course below.
  static func drawLoudness(_ sound: SoundState, _ rect: Rect, on canvas: inout Canvas) {
    let loudness = sound.picture.loudness
    let kept = sound.kept?.loudness
    var row = rect.row
    let rows: [(name: String, value: Double, highest: Double?, kept: Double?)] = [
      ("momentary", loudness.momentary, loudness.highestMomentary, kept?.momentary),
      ("short-term", loudness.shortTerm, loudness.highestShortTerm, kept?.shortTerm),
      ("integrated", loudness.integrated, nil, kept?.integrated),
    ]
    for line in rows where row < rect.bottom {
      let columns = max(0, min(40, rect.right - 56))
      var groups = [
        [
          Span(DisplayWidth.padded(line.name, to: 12), .dim),
          Span(DisplayWidth.padded(decibels(line.value), to: 6, right: true), .value), Span(" LUFS ", .dim),
          Span(
            DisplayWidth.padded(relative(line.value, sound), to: 10, right: true), look(line.value, sound)),
        ]
      ]
      if columns > 0 { groups.append([Span("  ")] + bar(line.value, sound.target, columns: columns)) }
      if let highest = line.highest { groups.append([Span("  highest \(decibels(highest))", .dim)]) }
      if let kept = line.kept { groups.append([Span("  kept \(decibels(kept))", .dim)]) }
      // A figure that has no room is left out rather than cut.
      canvas.put(
        [Span].fitting(groups, columns: rect.right - 1, gap: 0), at: Point(1, row), columns: rect.right - 1)
      row += 1
    }
    guard row < rect.bottom else { return }
    var peaks = [Span(DisplayWidth.padded("true peak", to: 12), .dim)]
    for (channel, peak) in loudness.truePeaks.prefix(8).enumerated() {
      peaks += [
        Span(loudness.truePeaks.count > 1 ? "\(channel) " : "", .dim),
        Span(decibels(peak), peak > -1 ? .meterClip : .value), Span("  "),
      ]
    }
    peaks[peaks.count - 1] = Span(" dBTP", .dim)
    if loudness.truePeaks.max() ?? -.infinity > -1 {
      let isNarrow = peaks.width + 10 > rect.right - 1
      peaks.append(Span(isNarrow ? " !" : "  above -1", .trouble))
    }
    canvas.put(peaks, at: Point(1, row), columns: rect.right - 1)
    drawCourse(
      sound, Rect(column: rect.column, row: row + 1, columns: rect.columns, rows: rect.bottom - row - 1),
      on: &canvas)
  }

  private static func relative(_ value: Double, _ sound: SoundState) -> String {
    value > -150 ? "\(signed(value - sound.target)) LU" : ""
  }

  private static func look(_ value: Double, _ sound: SoundState) -> ThemeKey {
    abs(value - sound.target) <= 0.5 ? .sounding : value > sound.target ? .warning : .dim
  }

  /// Filled up to the value; a line marks the loudness to aim at.
  private static func bar(_ value: Double, _ target: Double, columns: Int) -> [Span] {
    guard columns > 0 else { return [] }
    func place(_ level: Double) -> Int { Int(limited: (level - lowest) / -lowest * Double(columns)) }
    return (0..<columns).map { cell in
      if cell == place(target) { return Span("│", .value) }
      guard cell < place(value) else { return Span("░", .meterEmpty) }
      return Span("█", cell > place(target) ? .meterMid : .meterLow)
    }
  }

  /// Short-term loudness over time, and momentary loudness as dots, the latest at the right.
  private static func drawCourse(_ sound: SoundState, _ rect: Rect, on canvas: inout Canvas) {
    guard rect.rows >= 2 else { return }
    var short = BrailleField(columns: rect.columns, rows: rect.rows)
    var (moments, aim) = (short, short)
    func row(_ level: Double) -> Int { Int(limited: level / lowest * Double(short.dotRows - 1)) }
    for dot in stride(from: 0, to: aim.dotColumns, by: 3) { aim.set(dot, row(sound.target)) }
    for (index, point) in sound.picture.course.reversed().enumerated() where index < short.dotColumns {
      let column = short.dotColumns - 1 - index
      if point.shortTerm > lowest { short.set(column, rows: row(point.shortTerm)...short.dotRows - 1) }
      if point.momentary > lowest { moments.set(column, row(point.momentary)) }
    }
    BrailleField.draw([(moments, .value), (short, .accent), (aim, .rule)], at: rect.origin, on: &canvas)
    PlotLabels.label(
      Printout.fixed(sound.target, 0), row: rect.row + row(sound.target) / 4, rect, on: &canvas)
    let seconds = Double(short.dotColumns) / 4
    PlotLabels.labels(
      (0...4).map {
        ($0 == 4 ? "now" : "-\(Printout.fixed(seconds * Double(4 - $0) / 4, 0)) s", Double($0) / 4)
      }, rect,
      on: &canvas)
  }

  static func loudnessFacts(_ sound: SoundState) -> [Fact] {
    let loudness = sound.picture.loudness
    let seconds = Int(limited: loudness.seconds.rounded(.down))
    let time = "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    var facts: [Fact] = [
      ("measured", time), ("range", "\(Printout.fixed(loudness.range, 1)) LU"),
      ("aim", "\(Printout.fixed(sound.target, 0)) LUFS"),
    ]
    if sound.picture.channels > LoudnessMeter.mostChannels {
      facts.append(("of", "the first \(LoudnessMeter.mostChannels) channels"))
    }
    if let kept = sound.kept, kept.loudness.integrated > -150, loudness.integrated > -150 {
      facts.append(("above \(kept.name)", "\(signed(loudness.integrated - kept.loudness.integrated)) LU"))
    }
    return facts
  }
}

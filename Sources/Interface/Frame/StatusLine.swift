import Patch
import Recording
import Screen
import Session

/// The first row: the file and the driver's state. A fault replaces the latter.
enum StatusLine {
  static func draw(
    _ scene: Scene, isLocked: Bool = false, inside: String? = nil, on canvas: inout Canvas, row: Int
  ) {
    let width = canvas.columns
    let status = scene.status
    canvas.fill(Rect(column: 0, row: row, columns: width, rows: 1), " ", Style(.statusBar))
    if let fault = driverFault(status) {
      canvas.fill(Rect(column: 0, row: row, columns: width, rows: 1), " ", Style(.statusFault))
      canvas.put(
        [Span("! " + fault, .statusFault)], at: Point(min(1, width - 1), row), columns: width - 2)
      return
    }
    let fault = journalFault(status)
    // Dangers come first, since the end is cut.
    let name =
      (fault.map { [Span($0, .trouble), Span("  ")] } ?? []) + [Span(scene.fileName, .statusValue)]
      + (inside.map {
        [Span(" > ", .statusBar), Span($0.split(separator: "/").joined(separator: " > "), .statusValue)]
      } ?? [])
      + (scene.isModified ? [Span(" •", .statusValue)] : [])
    let room = width - 2 - name.width - 3
    var groups = figures(status)
    // Groups are dropped by weight when there is no room; they stand in reading order.
    var weights = [0, 1, 3, 4, 2]
    func insert(_ group: [Span], weight: Int) {
      groups.insert(group, at: 0)
      weights = weights.map { $0 + 1 }
      weights.insert(0, at: weight)
    }
    if status.transport.isUsed, !status.isPatchbay { insert(transport(status.transport), weight: 2) }
    if let load = status.loading.first {
      insert([Span("loading ", .statusBar), Span(load.words, .statusValue)], weight: 1)
    }
    if status.isFreewheeling { insert([Span("freewheeling", .warning)], weight: 0) }
    if status.underruns > 0 {
      insert([Span("under-runs ", .statusBar), Span("\(status.underruns)", .warning)], weight: 1)
    }
    if status.lostMidi > 0 {
      insert([Span("MIDI lost ", .statusBar), Span("\(status.lostMidi)", .warning)], weight: 1)
    }
    if status.lostEvents > 0 {
      insert([Span("events lost ", .statusBar), Span("\(status.lostEvents)", .warning)], weight: 1)
    }
    if let take = status.takes.first {
      let name = take.path.split(separator: "/").last.map(String.init) ?? take.path
      let others = status.takes.count > 1 ? " +\(status.takes.count - 1)" : ""
      let lost = status.takes.reduce(0) { $0 + $1.lost }
      var group = [
        Span("● ", .trouble), Span("\(name)\(others) ", .statusBar),
        Span(Take.words(seconds: take.seconds), .statusValue),
      ]
      if lost > 0 { group.append(Span(" lost \(lost)", .trouble)) }
      if let left = take.secondsLeft, left < 3600 {
        group.append(Span(" full in \(Take.words(seconds: left))", .warning))
      }
      insert(group, weight: 0)
    }
    if let muted = status.muted.first {
      let others = status.muted.count > 1 ? " +\(status.muted.count - 1)" : ""
      insert([Span("muted ", .statusBar), Span(muted + others, .trouble)], weight: 0)
    }
    for (group, weight) in marks(PatchMarks.of(scene)) { insert(group, weight: weight) }
    if isLocked { insert([Span("LOCKED", .warning)], weight: 0) }
    var shown = Set(groups.indices)
    for index in weights.reversed() where index < groups.count {
      if total(groups, shown, gap: 2) <= room { break }
      shown.remove(index)
    }
    let spans = [Span].fitting(
      groups.indices.filter(shown.contains).map { groups[$0] }, columns: max(0, room),
      gap: total(groups, shown, gap: 3) <= room ? 3 : 2)
    canvas.put(name, at: Point(1, row), columns: width - 2, on: .statusBar)
    canvas.put(spans, endingAt: width - 1, row: row, on: .statusBar)
  }

  private static func journalFault(_ status: SessionStatus) -> String? {
    status.journalFault.map { "NOT SAFE FROM A CRASH: \($0)" }
  }

  private static func driverFault(_ status: SessionStatus) -> String? {
    guard status.isDisturbed, !status.driverMessage.isEmpty else { return nil }
    return (journalFault(status).map { $0 + "; " } ?? "") + status.driverMessage
  }

  /// The driver's fault as a message, if the status line has no room for all of it.
  static func cutFault(_ scene: Scene, columns: Int) -> ViewState.Message? {
    guard let fault = driverFault(scene.status), DisplayWidth.of("! " + fault) > columns - 2 else {
      return nil
    }
    return ViewState.Message(fault, isError: true)
  }

  /// `mute main  solo main`, and numbers of maps and controls: `2 ◂  3 ①`. Mutes and solos come first, and stay longest.
  private static func marks(_ marks: PatchMarks) -> [(group: [Span], weight: Int)] {
    var groups: [(group: [Span], weight: Int)] = []
    func more(_ names: [String]) -> String { names[0] + (names.count > 1 ? " +\(names.count - 1)" : "") }
    var figures: [Span] = []
    if marks.maps > 0 {
      figures += [Span("\(marks.maps)", .statusValue), Span(" \(PatchMarks.map)", .statusBar)]
    }
    if marks.controls > 0 {
      figures += [
        Span((figures.isEmpty ? "" : "  ") + "\(marks.controls)", .statusValue),
        Span(" \(PatchMarks.control(1))", .statusBar),
      ]
    }
    if !figures.isEmpty { groups.append((figures, 4)) }
    if !marks.soloed.isEmpty {
      groups.append(([Span("solo ", .statusBar), Span(more(marks.soloed), .warning)], 1))
    }
    if !marks.muted.isEmpty {
      groups.append(([Span("mute ", .statusBar), Span(more(marks.muted), .warning)], 1))
    }
    return groups
  }

  /// `▶ 5.3  120  3/4  leads`
  private static func transport(_ transport: TransportStatus) -> [Span] {
    let tempo = (transport.tempo * 10).rounded() / 10
    let digits = tempo == tempo.rounded() ? 0 : 1
    var spans = [
      Span(transport.isRolling ? "▶ " : "■ ", .statusBar), Span(transport.place, .statusValue),
      Span("  \(Printout.fixed(tempo, digits))", .statusValue), Span(" \(transport.meter)", .statusBar),
    ]
    if transport.role != .own { spans.append(Span(" \(transport.role.rawValue)", .statusBar)) }
    return spans
  }

  private static func total(_ groups: [[Span]], _ shown: Set<Int>, gap: Int) -> Int {
    shown.reduce(0) { $0 + groups[$1].width + gap } - gap
  }

  private static func figures(_ status: SessionStatus) -> [[Span]] {
    if status.isPatchbay {
      return [
        [Span("programs ", .statusBar), Span("\(status.programs)", .statusValue)],
        [Span("connections ", .statusBar), Span("\(status.connections)", .statusValue)],
      ]
    }
    let rate = status.rate / 1000
    let digits = rate == rate.rounded() ? 0 : 1
    var driver = [
      Span("\(status.driver) ", .statusBar),
      Span("\(Printout.fixed(rate, digits)) kHz/\(status.period)", .statusValue),
    ]
    if status.roundTrip > 0 {
      driver.append(Span("  \(Printout.fixed(status.roundTrip * 1000, 1)) ms", .statusValue))
    }
    return [
      driver,
      [Span("load ", .statusBar), Span("\(percent(status.load)) %", .statusValue)],
      [Span("peak ", .statusBar), Span("\(percent(status.peakLoad)) %", .statusValue)],
      [Span("xruns ", .statusBar), Span("\(status.xruns)", status.xruns > 0 ? .warning : .statusValue)],
      [
        Span("voices ", .statusBar),
        Span(
          right("\(status.voices)", 2) + (status.polyphony > 0 ? "/\(status.polyphony)" : ""), .statusValue),
      ],
    ]
  }

  private static func percent(_ share: Double) -> String {
    guard share.isFinite else { return " ?" }
    return right("\(Int(limited: min(999, max(0, share * 100))))", 2)
  }

  private static func right(_ text: String, _ columns: Int) -> String {
    String(repeating: " ", count: max(0, columns - text.count)) + text
  }
}

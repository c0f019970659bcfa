import Patch
import Recording
import Screen
import Session

/// The first row: the file and the driver's state. A fault replaces the latter.
enum StatusLine {
  /// All that the row shows.
  private struct Contents: Equatable, Sendable {
    let status: SessionStatus
    let fileName: String
    let isModified: Bool
    let revision: Revision
    let inside: String?
    let isLocked: Bool
    let isFaultKnown: Bool

    static func == (a: Contents, b: Contents) -> Bool {
      a.revision === b.revision && a.isModified == b.isModified && a.isLocked == b.isLocked
        && a.isFaultKnown == b.isFaultKnown && a.inside == b.inside && a.fileName == b.fileName
        && a.status == b.status
    }
  }

  private static let kept = KeptCells<Contents>()

  static func draw(
    _ scene: Scene, isLocked: Bool = false, isFaultKnown: Bool = false, inside: String? = nil,
    on canvas: inout Canvas, row: Int
  ) {
    let contents = Contents(
      status: scene.status.shown, fileName: scene.fileName, isModified: scene.isModified,
      revision: scene.patch.revision, inside: inside, isLocked: isLocked, isFaultKnown: isFaultKnown)
    canvas.draw(
      in: Rect(column: 0, row: row, columns: canvas.columns, rows: 1), showing: contents, from: kept
    ) { draw(scene, contents, on: &$0) }
  }

  private static func draw(_ scene: Scene, _ contents: Contents, on canvas: inout Canvas) {
    let (width, row) = (canvas.bounds.columns, 0)
    let status = scene.status
    canvas.fill(Rect(column: 0, row: row, columns: width, rows: 1), " ", Style(.statusBar))
    if let fault = driverFault(status) {
      canvas.fill(Rect(column: 0, row: row, columns: width, rows: 1), " ", Style(.statusFault))
      canvas.put(
        [Span("! " + fault, .statusFault)], at: Point(min(1, width - 1), row), columns: width - 2)
      return
    }
    let fault = journalFault(status, isKnown: contents.isFaultKnown, columns: width)
    var groups = notices(status, isLocked: contents.isLocked) + marks(PatchMarks.of(scene))
    if status.transport.isUsed, !status.isPatchbay { groups.append(transport(status.transport)) }
    groups += figures(status)
    // Dangers come first, since the end is cut.
    let danger = fault.map { [Span($0, .trouble), Span("  ")] } ?? []
    let mark = scene.isModified ? [Span(" •", .statusValue)] : []
    let columns = titleColumns(beside: groups, width: width, taken: danger.width + mark.width)
    let name = danger + title(scene.fileName, inside: contents.inside, columns: columns) + mark
    let room = width - 2 - name.width - 3
    fit(&groups, columns: room)
    let spans = groups.filter(\.isShown).map(\.spans)
    canvas.put(name, at: Point(1, row), columns: width - 2, on: .statusBar)
    canvas.put(
      [Span].fitting(spans, columns: max(0, room), gap: total(groups, gap: 3) <= room ? 3 : 2),
      endingAt: width - 1, row: row, on: .statusBar)
  }

  /// Columns of a name that is always whole, where the screen is not narrow.
  private static let wholeName = 24

  /// Columns for the names of the file and of what is looked into: what notices, the driver and the load leave.
  private static func titleColumns(beside groups: [Group], width: Int, taken: Int) -> Int {
    let needed = groups.filter { $0.rank <= .load && $0.rank != .switches }.reduce(0) {
      $0 + ($1.rank == .take ? $1.short ?? $1.spans : $1.spans).width + 2
    }
    let least = min(wholeName, max(10, width - (width < 30 ? 4 : 14)))
    return max(1, min(max(least, width - 3 - needed - taken), width - 2 - taken))
  }

  /// `song.patch > verb > tank`: the name of the file is shortened first.
  private static func title(_ file: String, inside: String?, columns: Int) -> [Span] {
    let path = inside?.split(separator: "/").joined(separator: " > ")
    let pathColumns = path.map { DisplayWidth.of($0) + 3 } ?? 0
    let name = Wrapping.shortened(file, to: max(min(8, columns), columns - pathColumns))
    guard let path else { return [Span(name, .statusValue)] }
    let rest = max(2, columns - DisplayWidth.of(name) - 3)
    let way = Wrapping.shortened(path, to: rest)
    return [Span(name, .statusValue), Span(" > ", .statusBar), Span(way, .statusValue)]
  }

  /// Figures that belong together.
  private struct Group {
    var spans: [Span]
    /// The same in fewer columns.
    var short: [Span]?
    var rank: Rank
    var isShown = true
  }

  /// Importance, the highest first. Before `rest` is left out for a take or the transport, the others are shortened.
  private enum Rank: Int, Comparable {
    case lock, fault, take, loss, switches, loading, driver, load, transport, voices, rest, marks, peak

    static func < (a: Rank, b: Rank) -> Bool { a.rawValue < b.rawValue }
  }

  /// Leaves groups out, and shortens others, until the rest has room.
  private static func fit(_ groups: inout [Group], columns: Int) {
    let order = groups.indices.sorted { (groups[$0].rank, $0) > (groups[$1].rank, $1) }
    func leaveOut(_ isNext: (Rank) -> Bool) {
      for index in order where isNext(groups[index].rank) && total(groups, gap: 2) > columns {
        groups[index].isShown = false
      }
    }
    for index in order where groups[index].rank == .marks && total(groups, gap: 2) > columns {
      if let short = groups[index].short { groups[index].spans = short }
    }
    leaveOut { $0 > .rest }
    // Otherwise the driver is shown whole as long as possible.
    if groups.contains(where: { $0.rank == .take || $0.rank == .transport }) {
      for index in order where total(groups, gap: 2) > columns {
        if let short = groups[index].short { groups[index].spans = short }
      }
    }
    leaveOut { $0 <= .rest }
  }

  private static func total(_ groups: [Group], gap: Int) -> Int {
    groups.filter(\.isShown).reduce(-gap) { $0 + $1.spans.width + gap }
  }

  /// Warnings and running operations, the gravest first.
  private static func notices(_ status: SessionStatus, isLocked: Bool) -> [Group] {
    var groups: [Group] = []
    func add(_ rank: Rank, _ spans: Span...) { groups.append(Group(spans: spans, rank: rank)) }
    if isLocked { add(.lock, Span("LOCKED", .warning)) }
    if let muted = status.muted.first {
      let others = status.muted.count > 1 ? " +\(status.muted.count - 1)" : ""
      add(.fault, Span("muted ", .statusBar), Span(muted + others, .trouble))
    }
    if let take = status.takes.first { groups.append(self.take(take, of: status.takes)) }
    if let song = status.song { groups.append(self.song(song)) }
    for (name, count) in [
      ("events lost", status.lostEvents), ("MIDI lost", status.lostMidi), ("under-runs", status.underruns),
    ] where count > 0 {
      add(.loss, Span("\(name) ", .statusBar), Span("\(count)", .warning))
    }
    if status.isFreewheeling { add(.fault, Span("freewheeling", .warning)) }
    if let load = status.loading.first {
      add(.loading, Span("loading ", .statusBar), Span(load.words, .statusValue))
    }
    return groups
  }

  /// `● take.wav 0:12`
  private static func take(_ take: Take.Status, of takes: [Take.Status]) -> Group {
    let name = take.path.split(separator: "/").last.map(String.init) ?? take.path
    let others = takes.count > 1 ? " +\(takes.count - 1)" : ""
    let lost = takes.reduce(0) { $0 + $1.lost }
    var figures = [Span(Take.words(seconds: take.seconds), .statusValue)]
    if lost > 0 { figures.append(Span(" lost \(lost)", .trouble)) }
    if let left = take.secondsLeft, left < 3600 {
      figures.append(Span(" full in \(Take.words(seconds: left))", .warning))
    }
    let mark = [Span("● ", .trouble)]
    return Group(
      spans: mark + [Span("\(name)\(others) ", .statusBar)] + figures, short: mark + figures, rank: .take)
  }

  /// `3:05`
  private static func minutes(_ seconds: Double) -> String {
    let whole = Int(limited: seconds)
    return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
  }

  /// `plays tune.mid 0:12 of 3:05`
  private static func song(_ song: SongStatus) -> Group {
    let word = [Span(song.isHalted ? "halted " : "plays ", .statusBar)]
    let place = [Span(minutes(song.seconds), .statusValue)]
    return Group(
      spans: word + [Span("\(song.name) ", .statusBar)] + place
        + [Span(" of \(minutes(song.duration))", .statusBar)],
      short: word + place, rank: .transport)
  }

  /// `isKnown`: it has been seen whole for a while, so that it leaves room for the figures where there is little.
  private static func journalFault(_ status: SessionStatus, isKnown: Bool = false, columns: Int = 0)
    -> String?
  {
    status.journalFault.map { isKnown && columns < wideColumns ? "NOT SAFE" : "NOT SAFE FROM A CRASH: \($0)" }
  }

  /// From this width on a lasting fault stays whole.
  private static let wideColumns = 140

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

  /// `mute main  solo main`, and numbers of maps and controls: `2 maps  3 controls`, or `2 ◂  3 ①`.
  private static func marks(_ marks: PatchMarks) -> [Group] {
    var groups: [Group] = []
    func add(_ word: String, _ names: [String]) {
      guard let first = names.first else { return }
      let others = names.count > 1 ? " +\(names.count - 1)" : ""
      groups.append(
        Group(spans: [Span("\(word) ", .statusBar), Span(first + others, .warning)], rank: .switches))
    }
    add("mute", marks.muted)
    add("solo", marks.soloed)
    let sums = [(marks.maps, "map", PatchMarks.map), (marks.controls, "control", PatchMarks.control(1))]
      .filter { $0.0 > 0 }
    func figures(_ word: (_ count: Int, _ name: String, _ sign: String) -> String) -> [Span] {
      sums.enumerated().flatMap { index, sum in
        [
          Span((index == 0 ? "" : "  ") + "\(sum.0)", .statusValue),
          Span(" " + word(sum.0, sum.1, sum.2), .statusBar),
        ]
      }
    }
    if !sums.isEmpty {
      groups.append(
        Group(
          spans: figures { count, name, _ in count == 1 ? name : name + "s" },
          short: figures { _, _, sign in sign }, rank: .marks))
    }
    return groups
  }

  /// `▶ 5.3  120 3/4 leads`
  private static func transport(_ transport: TransportStatus) -> Group {
    let tempo = (transport.tempo * 10).rounded() / 10
    let digits = tempo == tempo.rounded() ? 0 : 1
    let short = [
      Span(transport.isRolling ? "▶ " : "■ ", .statusBar), Span(transport.place, .statusValue),
      Span("  \(Printout.fixed(tempo, digits))", .statusValue),
    ]
    let role = transport.role == .own ? "" : " \(transport.role.rawValue)"
    return Group(
      spans: short + [Span(" \(transport.meter)\(role)", .statusBar)], short: short, rank: .transport)
  }

  private static func figures(_ status: SessionStatus) -> [Group] {
    func group(_ word: String, _ value: String, _ rank: Rank, _ key: ThemeKey = .statusValue) -> Group {
      Group(spans: [Span("\(word) ", .statusBar), Span(value, key)], rank: rank)
    }
    if status.isPatchbay {
      return [
        group("programs", "\(status.programs)", .driver),
        group("connections", "\(status.connections)", .load),
      ]
    }
    let rate = status.rate / 1000
    let number = Printout.fixed(rate, rate == rate.rounded() ? 0 : 1)
    var driver = group(status.driver, "\(number) kHz/\(status.period)", .driver)
    driver.short = [Span("\(status.driver) ", .statusBar), Span("\(number)/\(status.period)", .statusValue)]
    if status.roundTrip > 0 {
      driver.spans.append(Span("  \(Printout.fixed(status.roundTrip * 1000, 1)) ms", .statusValue))
    }
    let polyphony = status.polyphony > 0 ? "/\(status.polyphony)" : ""
    return [
      driver, group("load", "\(percent(status.load)) %", .load),
      group("peak", "\(percent(status.peakLoad)) %", .peak),
      status.xruns > 0
        ? group("xruns", "\(status.xruns)", .loss, .warning) : group("xruns", "0", .rest),
      group("voices", right("\(status.voices)", 2) + polyphony, .voices),
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

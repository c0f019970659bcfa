import Engine
import Patch
import Screen
import Session

extension ViewName {
  static let trace = ViewName(rawValue: "trace")
}

extension KeyContext {
  static let trace = KeyContext(name: "trace", title: "In the trace")
}

/// The lifecycle trace: what the engine did to each node, and when.
struct TraceView: View {
  let name = ViewName.trace
  let help = "The lifecycle trace"
  let keys: KeyValuePairs<KeyContext, String> = [.anywhere: "F5", .patch: "4"]
  let context: KeyContext? = .trace
  let actions = [
    Action("filter-trace", "The focused node alone, or all", [.trace: "n"]) {
      $0.state.trace.node = $0.state.trace.node == nil ? $0.state.focus : nil
    },
    Action("follow-trace", "Follow the newest line, or stay", [.trace: "f"]) {
      $0.state.trace.isFollowing.toggle()
    },
  ]

  func hints(_ scene: Scene, _ state: ViewState) -> [ActionHint] {
    [
      ("filter-trace", "filter"), ("follow-trace", "follow"), ("find", "find"), ("show-help", "help"),
      ("leave", "graph"),
    ]
  }

  func extent(_ scene: Scene, _ state: ViewState) -> Int {
    scene.trace.count { state.trace.node == nil || $0.node == state.trace.node }
  }

  func lines(_ scene: Scene, _ state: ViewState) -> [String]? {
    filtered(scene, state).map { entry in
      let (event, detail, _) = words(entry.happening)
      return "\(entry.name)  \(event)  \(detail)"
    }
  }

  func line(_ desk: Desk) -> Int {
    desk.state.trace.isFollowing ? lastRow(desk) : desk.state.scroll[name]?.row ?? 0
  }

  func reveal(_ line: Int, _ desk: Desk) {
    desk.state.trace.isFollowing = false
    desk.state.scroll[name] = (min(max(0, line - desk.viewSize.rows / 2), lastRow(desk)), 0)
  }

  func settle(_ desk: Desk) {
    if let id = desk.state.trace.node, desk.scene.patch[id] == nil { desk.state.trace.node = nil }
  }

  /// Moving up stops following the end; reaching the end resumes it.
  func move(_ motion: Motion, _ desk: Desk) {
    let (page, lastRow) = (page(desk), lastRow(desk))
    var place = ScrollPlace(desk.state.scroll[name])
    place.move(motion, page: page)
    if desk.state.trace.isFollowing, [.up, .pageUp, .home].contains(motion) {
      desk.state.trace.isFollowing = false
      if motion != .home { place.row = lastRow - (motion == .pageUp ? page : 1) }
    } else if place.row >= lastRow {
      desk.state.trace.isFollowing = true
    }
    desk.state.scroll[name] = place.clamped(lastRow: lastRow)
  }

  func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at place: Point) -> Hit {
    let entry = entry(scene, state, row: place.row, rows: size.rows)
    return entry?.node.map { .node($0) } ?? .nothing
  }

  func draw(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas) {
    let bounds = canvas.bounds
    guard !bounds.isEmpty else { return }
    let entries = filtered(scene, state)
    let hasFooter = bounds.rows >= 3
    let head = bounds.rows >= 5 ? 1 : 0
    let rows = max(0, bounds.rows - head - (hasFooter ? 1 : 0))
    let names = min(max(4, entries.suffix(500).map(\.name.count).max() ?? 4), max(4, bounds.columns / 5))
    let columns = Columns(names: names, width: bounds.columns)
    if head == 1 {
      for (text, column) in [
        ("time", columns.time), ("node", columns.name), ("event", columns.event), ("detail", columns.detail),
      ] where column < bounds.columns {
        canvas.put([Span(text, .header)], at: Point(column, 0), columns: bounds.columns - column)
      }
    }
    let first = self.first(entries.count, state, rows: rows)
    for row in 0..<rows where first + row < entries.count {
      draw(entries[first + row], scene, state, columns, row: head + row, on: &canvas)
    }
    if entries.isEmpty {
      canvas.put([Span("nothing has happened yet", .dim)], at: Point(1, head), columns: bounds.columns - 2)
    }
    if first > 0, rows > 0 { canvas.set("↑", at: Point(bounds.columns - 1, head), Style(.accent)) }
    if first + rows < entries.count, rows > 0 {
      canvas.set("↓", at: Point(bounds.columns - 1, head + rows - 1), Style(.accent))
    }
    if hasFooter { drawFooter(scene, state, row: bounds.rows - 1, on: &canvas) }
    canvas.placeCursor(
      at: Point(0, min(bounds.rows - 1, head + max(0, min(rows, entries.count - first) - 1))))
  }

  private struct Columns {
    var time = 1
    var name: Int
    var event: Int
    var detail: Int
    init(names: Int, width: Int) {
      name = width < 40 ? 10 : 15
      event = name + names + 2
      detail = event + (width < 60 ? 11 : 17)
    }
  }

  private func draw(
    _ entry: TraceEntry, _ scene: Scene, _ state: ViewState, _ columns: Columns, row: Int,
    on canvas: inout Canvas
  ) {
    let width = canvas.bounds.columns
    let time = self.time(entry.time, rate: scene.report.rate)
    let isFocused = entry.node != nil && entry.node == state.focus
    if isFocused { canvas.set("▎", at: Point(0, row), Style(.accent)) }
    canvas.put(
      [Span(columns.name < 15 ? String(time.dropLast(4)) : time, .dim)], at: Point(columns.time, row),
      columns: columns.name - 2)
    canvas.put(
      [Span(entry.name, isFocused ? .accent : .text)], at: Point(columns.name, row),
      columns: min(width - columns.name, columns.event - columns.name - 1))
    let (event, detail, key) = words(entry.happening)
    canvas.put([Span(event, key)], at: Point(columns.event, row), columns: width - columns.event)
    canvas.put([Span(detail, .value)], at: Point(columns.detail, row), columns: width - columns.detail)
  }

  /// Seconds with six digits, grouped: `   12.402 341`.
  private func time(_ frames: Int64, rate: Double) -> String {
    let text = Printout.fixed(rate > 0 ? Double(frames) / rate : 0, 6)
    let grouped = String(text.dropLast(3)) + " " + String(text.suffix(3))
    return String(repeating: " ", count: max(0, 12 - grouped.count)) + grouped
  }

  private func words(_ happening: TraceEntry.Happening) -> (event: String, detail: String, key: ThemeKey) {
    switch happening {
    case .allocated(let bytes): ("allocated", self.bytes(bytes), .text)
    case .prepared: ("prepared", "", .text)
    case .started: ("started", "", .text)
    case .noteOn(let key, let velocity):
      ("note on", "\(Value.noteName(Int(key))) velocity \(velocity)", .sounding)
    case .noteOff(let key): ("note off", Value.noteName(Int(key)), .text)
    case .pedal(let isDown): ("pedal", isDown ? "down" : "up", .text)
    case .fadingIn(let seconds): ("fading in", Printout.milliseconds(seconds), .added)
    case .fadingOut(let seconds): ("fading out", Printout.milliseconds(seconds), .removed)
    case .ringingOut: ("ringing out", "", .removed)
    case .retired(let plan): ("retired", "plan \(plan - 1) -> \(plan)", .dim)
    case .freed: ("freed", "worker", .dim)
    case .loaded(let file): ("loaded", file, .text)
    case .muted(let reason): ("muted", reason, .trouble)
    case .revived: ("revived", "", .sounding)
    case .reset: ("reset", "", .warning)
    case .failed(let reason), .lacking(let reason): ("failed", reason, .trouble)
    case .edited(let edit): ("edit", Printout.figures(of: edit) + "  " + edit.line, .text)
    }
  }

  private func bytes(_ count: Int) -> String {
    count < 1000
      ? "\(count) bytes"
      : count < 1_000_000
        ? Printout.fixed(Double(count) / 1000, 1) + " kB" : Printout.fixed(Double(count) / 1e6, 1) + " MB"
  }

  private func filtered(_ scene: Scene, _ state: ViewState) -> [TraceEntry] {
    guard let node = state.trace.node else { return scene.trace }
    return scene.trace.filter { $0.node == node }
  }

  private func first(_ count: Int, _ state: ViewState, rows: Int) -> Int {
    let last = max(0, count - rows)
    return state.trace.isFollowing ? last : min(max(0, state.scroll[name]?.row ?? 0), last)
  }

  /// The entry at a row of the view.
  private func entry(_ scene: Scene, _ state: ViewState, row: Int, rows: Int) -> TraceEntry? {
    let head = rows >= 5 ? 1 : 0
    let entries = filtered(scene, state)
    let shown = max(0, rows - head - (rows >= 3 ? 1 : 0))
    guard row >= head, row < head + shown else { return nil }
    let index = first(entries.count, state, rows: shown) + row - head
    return entries.indices.contains(index) ? entries[index] : nil
  }

  // MARK: The summary

  private func drawFooter(_ scene: Scene, _ state: ViewState, row: Int, on canvas: inout Canvas) {
    let width = canvas.bounds.columns
    let name = state.trace.node.flatMap { scene.patch[$0]?.name } ?? "all nodes"
    let right = [
      Span("filter: ", .dim), Span(name, .value), Span("   follow: ", .dim),
      Span(state.trace.isFollowing ? "on" : "off", .value),
    ]
    let summary = self.summary(scene, state)
    canvas.put([Span(summary, .accent)], at: Point(1, row), columns: width - 2)
    let short = [Span(name, .dim), Span(state.trace.isFollowing ? ", following" : ", standing", .dim)]
    for spans in [right, short] where summary.count + spans.width + 4 <= width {
      canvas.put(spans, endingAt: width - 1, row: row)
      break
    }
  }

  /// `piano since 12.4 s: 1 note on, 0 prepares, 0 resets`: for the filtered or focused node, since its first
  /// note or its creation.
  private func summary(_ scene: Scene, _ state: ViewState) -> String {
    guard let id = state.trace.node ?? state.focus else { return "" }
    let own = scene.trace.filter { $0.node == id }
    let report = scene.report.nodes.first { $0.id == id }
    guard let name = scene.patch[id]?.name ?? report?.name ?? own.last?.name else { return "" }
    func isNote(_ entry: TraceEntry) -> Bool {
      if case .noteOn = entry.happening { true } else { false }
    }
    let start = own.first(where: isNote)?.time ?? report?.startedAt ?? own.first?.time ?? 0
    let since = own.filter { $0.time >= start }
    let seconds = scene.report.rate > 0 ? Double(start) / scene.report.rate : 0
    let notes = since.count(where: isNote)
    let prepares = since.count { $0.happening == .prepared && $0.time > start }
    let resets = since.count { $0.happening == .reset }
    return "\(name) since \(Printout.fixed(seconds, 1)) s: \(plural(notes, "note")) on, "
      + "\(plural(prepares, "prepare")), \(plural(resets, "reset"))"
  }

  private func plural(_ count: Int, _ word: String) -> String {
    "\(count) \(word)" + (count == 1 ? "" : "s")
  }
}

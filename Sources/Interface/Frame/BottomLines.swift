import Patch
import Screen
import Session

/// The last two rows: the message or the focus, and the mode with its keys.
enum BottomLines {
  static func drawMessage(_ scene: Scene, _ state: ViewState, on canvas: inout Canvas, row: Int) {
    if let message = state.message ?? StatusLine.cutFault(scene, columns: canvas.columns) {
      // A long message is wrapped, since its end may matter.
      let words = Wrapping.words(said(message), look(message))
      let lines = Wrapping.lines([words], columns: canvas.columns - 2, gap: 1)
      if lines.count > 1 {
        let most = mostRows(message, columns: canvas.columns, row: row)
        Wrapping.draw(
          Wrapping.bounded(lines, to: most, columns: canvas.columns - 2), endingAt: row, on: &canvas)
        return
      }
    }
    canvas.put(
      messageSpans(scene, state, columns: canvas.columns - 2), at: Point(1, row), columns: canvas.columns - 2)
  }

  /// A message covers as many cells as three rows of 80 columns, and an error no more than half of the screen: the patch
  /// and the piano stay in sight.
  private static func mostRows(_ message: ViewState.Message, columns: Int, row: Int) -> Int {
    let rows = (3 * 80 + columns - 1) / max(1, columns)
    return max(3, message.isError ? row / 2 : min(rows, row / 2))
  }

  /// `isShared`: there is no message row, so this one shows messages.
  static func drawHints(
    _ scene: Scene, _ state: ViewState, on canvas: inout Canvas, row: Int, isShared: Bool
  ) {
    let isPlaying = state.mode == .play
    let contents = isShared ? nil : Hints(keys: state.keyHints, isPlaying: isPlaying)
    let rect = Rect(column: 0, row: row, columns: canvas.columns, rows: 1)
    canvas.draw(in: rect, showing: contents, from: keptHints) { canvas in
      let columns = canvas.bounds.columns
      let mode = Span(isPlaying ? " PLAY " : " PATCH ", isPlaying ? .modePlay : .modePatch)
      canvas.put([mode], at: Point(0, 0), columns: columns)
      let start = mode.width + 2
      let room = max(0, columns - start - 1)
      if isShared {
        canvas.put(
          messageSpans(scene, state, columns: room), at: Point(mode.width + 1, 0), columns: room + 1)
      } else {
        canvas.put(fitting(state.keyHints, columns: room), at: Point(start, 0), columns: room)
      }
    }
  }

  /// All that the last row shows.
  private struct Hints: Equatable, Sendable {
    let keys: [KeyHelp]
    let isPlaying: Bool
  }

  private static let keptHints = KeptCells<Hints>()

  /// The hints that have room. The way out is the last one to be dropped.
  private static func fitting(_ hints: [KeyHelp], columns: Int) -> [Span] {
    func spans(_ hint: KeyHelp) -> [Span] { [Span(hint.keys, .keyName), Span(" " + hint.name, .hint)] }
    let all = [Span].fitting(hints.map(spans), columns: columns)
    guard let way = hints.firstIndex(where: \.isWayOut) else { return all }
    let end = spans(hints[way])
    // It stands in its place if all before it have room, otherwise behind those that have room beside it.
    if [Span].fitting(hints.prefix(way + 1).map(spans), columns: columns).width
      == hints.prefix(way + 1).map(spans).reduce(0, { $0 + $1.width }) + 3 * way
    {
      return all
    }
    let before = [Span].fitting(hints.prefix(way).map(spans), columns: columns - end.width - 3)
    return before.isEmpty ? end : before + [Span("   ")] + end
  }

  private static func said(_ message: ViewState.Message) -> String {
    (message.isError ? "! " : "") + message.text
  }

  private static func look(_ message: ViewState.Message) -> ThemeKey { message.isError ? .trouble : .text }

  private static func messageSpans(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span] {
    if let message = state.message { return [Span(said(message), look(message))] }
    return Views[state.view].footer(scene, state, columns: columns)
      ?? focusSpans(scene, state, columns: columns)
  }

  /// `dist ▸ distortion   drive 18.0 dB   shape tanh`
  private static func focusSpans(_ scene: Scene, _ state: ViewState, columns: Int) -> [Span] {
    guard let focus = state.focus else { return [] }
    guard let node = scene.patch[focus] else {
      guard let leaving = scene.report.nodes.first(where: { $0.id == focus }) else { return [] }
      return [Span(leaving.name, .accent), Span(" ▸ \(leaving.kind), leaving", .dim)]
    }
    var spans = [Span(node.name, .accent), Span(" ▸ ", .dim), Span(node.kind, .kind)]
    if let place = scene.report.nodes.firstIndex(where: { $0.id == focus }) {
      let report = scene.report.nodes[place]
      switch report.state {
      case .placeholder(let reason): spans += [Span("   placeholder: \(reason)", .trouble)]
      case .muted(let reason): spans += [Span("   muted: \(reason)", .trouble)]
      default: break
      }
      if let load = report.loading { spans.append(Span("   loading \(load.words)", .accent)) }
      if let fault = report.fault { spans.append(Span("   plays on, since \(fault)", .trouble)) }
      if report.underruns > 0 { spans.append(Span("   under-runs \(report.underruns)", .warning)) }
      if report.memory > 0 { spans.append(Span("   \(Printout.megabytes(report.memory))", .dim)) }
    }
    let values = NodeFacts(node, scene).values(8).map { path, value in
      [Span("\(path.line) ", .dim), Span(value.display, .value)]
    }
    return [Span].fitting([spans] + values, columns: max(columns, spans.width))
  }
}

import Patch
import Screen
import Session

/// A narrator: it tells in lines, as it changes, what a screen would show. For screen readers and braille displays. The keys are those of
/// the screen. Main thread.
@MainActor public final class Narrator {
  private let app: App
  private var view: ViewName
  private var mode: ViewState.Mode
  private var focus: String?
  private var overlay: [String] = []
  private var hasOverlay = false
  private var line = ""
  private var tourStep: Int?
  /// The driver's trouble that was told last; empty: none.
  private var trouble = ""
  /// The hands' settings that were told last.
  private var before = ""

  /// The narrator of a user interface; its first news say where one is.
  public init(_ app: App) {
    self.app = app
    (view, mode) = (app.state.view, app.state.mode)
    // Lists are told line by line, so a page is short.
    app.desk.size = Size(columns: 200, rows: 12)
  }

  /// The line that is being typed, behind its sign; nil: none.
  public var entry: (sign: String, text: String, cursor: Int)? {
    app.state.overlay?.entry.map { ($0.sign, $0.line.text, $0.line.textBeforeCursor.count) }
  }

  /// The first lines: the file, the driver and the nodes.
  public func greeting() -> [String] {
    let nodes = app.scene.patch.names
    line = telling
    focus = described
    return [
      app.scene.state(of: nil), "\(nodes.count) nodes: \(nodes.joined(separator: ", "))",
      described ?? "no node", "? lists the keys, Alt-S tells the state, q quits",
    ]
  }

  /// Lines about what has changed since the last call. `isAnswer`: after a key, and not by itself.
  public func news(isAnswer: Bool) -> [String] {
    var lines: [String] = []
    app.fillHelp()
    let state = app.state
    if isAnswer, mode == .play, state.mode == .play, hand != before { lines.append(hand) }
    before = hand
    if state.mode != mode {
      mode = state.mode
      lines.append(mode == .play ? "play mode, \(hand), Esc leaves" : "patch mode")
    }
    if state.view != view {
      view = state.view
      lines.append("view \(view.rawValue)")
      line = ""
    }
    if state.tour?.step != tourStep {
      tourStep = state.tour?.step
      if let tour = state.tour {
        if !tour.praise.isEmpty { lines.append("done: \(tour.praise)") }
        lines.append(
          "tour \(tour.words.number) of \(tour.words.count), \(tour.words.title): \(tour.words.text)")
      }
    }
    let words = state.overlay?.words(app.scene) ?? []
    if words != overlay { lines += words.filter { !overlay.contains($0) } }
    if hasOverlay, state.overlay == nil, state.message == nil { lines.append("closed") }
    (overlay, hasOverlay) = (words, state.overlay != nil)
    if let message = state.message {
      lines.append((message.isError ? "error: " : "") + message.text)
      app.state.message = nil
    }
    // A view's own line moves with meters, which is no news.
    if isAnswer {
      let now = telling
      // An edit that has been told already, as the newest of the history, is not told again.
      if let told = lines.firstIndex(where: { !$0.isEmpty && now.hasPrefix($0) }) {
        lines[told] = now
      } else if now != line, !now.isEmpty {
        lines.append(now)
      }
      line = now
      if described != focus {
        focus = described
        if view == .graph || view == .scope, let focus { lines.append(focus) }
      }
    }
    let status = app.scene.status
    let trouble = status.isDisturbed ? status.driverMessage : ""
    if trouble != self.trouble {
      self.trouble = trouble
      lines.append(status.driverMessage)
    }
    return lines
  }

  /// Octave, velocity and pedal of the computer keyboard.
  private var hand: String {
    let play = app.state.play
    return "octave \(play.octave), velocity \(play.velocity), pedal \(play.pedal ? "down" : "up")"
  }

  /// The focused node in words.
  private var described: String? { app.state.focus.map { app.scene.telling($0) } }

  /// The line at the cursor of a view that is not the graph.
  private var telling: String {
    if app.state.view == .graph { return app.state.graph.showsOverview ? "overview" : "" }
    let view = Views[app.state.view]
    if app.state.view == .scope {
      guard let name = app.state.sound.port.flatMap({ app.scene.name(of: $0) }) else {
        return SoundPainting.wordsOfNone(app.scene, app.state)
      }
      let facts = view.footer(app.scene, app.state, columns: 200)?.map(\.text).joined() ?? ""
      return "\(app.state.sound.mode.rawValue) of \(name): \(facts)"
    }
    if app.state.view == .matrix || app.state.view == .history,
      let spans = view.footer(app.scene, app.state, columns: 200)
    {
      let words = spans.map(\.text).joined()
      guard app.state.view == .history else { return words }
      let lines = view.lines(app.scene, app.state) ?? []
      let place = view.line(app.desk)
      return lines.indices.contains(place) ? (place == 0 ? "before these edits" : lines[place]) : words
    }
    guard let lines = view.lines(app.scene, app.state), !lines.isEmpty else { return "" }
    // The printout follows the focus.
    if app.state.view == .printout, let focus { return focus == described ? focus : described ?? "" }
    let place = min(max(0, view.line(app.desk)), lines.count - 1)
    return app.state.view == .help ? HelpView().telling(place, app.state) : lines[place]
  }
}

import Patch
import PatchLanguage
import Screen

/// The front end without a terminal: events in, canvases out. Actions become edits of the session; the views
/// show the session's scene. Main thread.
@MainActor public final class App {
  let desk: Desk
  public var keymap: Keymap {
    didSet { knownHints = nil }
  }
  /// The screen may have changed since the last `render`.
  public private(set) var needsRender = true
  private var lastSight: Sight?
  /// The keys that were shown last, and for what: actions, each with its word.
  private var knownHints: (words: [String], contexts: [KeyContext], keys: [KeyHelp])?
  /// Time of the last event, or of the last change of the screen.
  private var movedAt = 0.0
  /// Seconds without either after which the screen counts as resting: longer than a gated note.
  private static let restlessTime = 1.0

  /// `findLayout`: a layout of the piano's keys by a name at the prompt.
  public init(
    workbench: any Workbench, keymap: Keymap = .standard, history: [String] = [],
    findLayout: ((String) throws -> KeyboardLayout)? = nil,
    now: @escaping () -> Double = App.steadySeconds
  ) {
    self.keymap = keymap
    desk = Desk(workbench: workbench, history: history, now: now)
    if let findLayout { desk.findLayout = findLayout }
    tick()
    if let first = preferredFocus { desk.focus(first) }
  }

  public var state: ViewState {
    get { desk.state }
    _modify { yield &desk.state }
  }
  public var scene: Scene { desk.scene }
  /// Request of the user beyond the screen; the caller carries it out and resets it.
  public var wish: Wish {
    get { desk.wish }
    set { desk.wish = newValue }
  }
  /// Text for the terminal's clipboard since the last call; nil: none.
  public func takeCopied() -> String? { desk.copied.take() }
  /// Name of the theme that the user chose here, or looks at; nil: that of the settings.
  public var theme: String? { desk.shownTheme }
  /// The user's file of settings, as it is named to the user.
  public var settingsFile: String {
    get { desk.settingsFile }
    set { desk.settingsFile = newValue }
  }
  /// Names of themes to choose from.
  public var themes: [String] {
    get { desk.themes }
    set { desk.themes = newValue }
  }
  /// Shows errors of the user's files, or that they are read.
  public func tell(_ problems: [String]) {
    needsRender = true
    desk.state.help = []
    if problems.isEmpty { return desk.say("your settings were read again") }
    desk.complain(Self.summary(problems))
  }
  private static func summary(_ problems: [String]) -> String {
    let more = problems.count - mostProblems
    return problems.prefix(mostProblems).joined(separator: "; ") + (more > 0 ? " (and \(more) more)" : "")
  }
  /// Shows errors of the user's files and what there is to say about the patch, errors first. News that are told already,
  /// such as that edits were recovered, stay behind them: nobody else would tell them again.
  public func begin(problems: [String], _ message: ViewState.Message?) {
    let told = [desk.state.message, message].compactMap { $0 }
    guard !problems.isEmpty || message != nil else { return }
    let errors = (problems.isEmpty ? [] : [Self.summary(problems)]) + told.filter(\.isError).map(\.text)
    let texts = errors + told.filter { !$0.isError }.reversed().map(\.text)
    needsRender = true
    desk.state.message = .init(texts.joined(separator: "; "), isError: !errors.isEmpty)
  }
  /// Problems that are told together: a screen has room for so many lines.
  private static let mostProblems = 4
  /// Lines of the prompt, oldest first.
  public var promptHistory: [String] { desk.promptHistory }

  /// Initial focus: the first effect, otherwise the first node; what is inside sub-patches comes later.
  private var preferredFocus: NodeID? {
    let nodes = scene.patch.nodes.values.filter { NodePath.container(of: $0.name) == nil }
    return (nodes.first { scene.catalogue[$0.kind]?.category == .effect } ?? nodes.first)?.id
  }

  // MARK: Events

  /// True when nothing has happened for a while: ticks may come less often until the next event.
  public var isResting: Bool {
    desk.now() - movedAt > Self.restlessTime && !(desk.state.overlay is Learning)
  }

  /// True when it has been resting for long and nothing stirs: a tick may be left out, but for one or two a second.
  public var isAsleep: Bool {
    isResting && !needsRender && desk.now() - movedAt > Self.wakefulTime && !desk.workbench.isStirring
  }
  /// Seconds of rest before it sleeps.
  private static let wakefulTime = 5.0

  /// Reduced motion: what moves by itself is shown once a second; what is done is shown at once.
  public var isCalm = false
  private var calmAt = -Double.infinity
  /// Something has moved that is not shown yet.
  private var hasMoved = false
  /// Seconds between two pictures of what moves by itself.
  private static let calmInterval = 1.0

  /// Takes a new scene. Call it about 25 times a second, when it is resting some times a second.
  public func tick() {
    desk.workbench.holdFileBack(desk.state.isLocked)
    desk.workbench.tick()
    let notices = desk.workbench.takeNotices()
    if !notices.isEmpty {
      show(news: notices.joined(separator: "; "))
      needsRender = true
    }
    endGreeting()
    if Saving(desk).tellOfVersion() { needsRender = true }
    noteFault()
    Piano(desk).findPlayer()
    Piano(desk).tick()
    Piano(desk).settle()
    answer()
    Learning.tick(desk)
    settle()
    for view in Views.all where view.tick(desk) { hasMoved = true }
    let sight = Sight(scene)
    if sight != lastSight || sight.isMoving {
      lastSight = sight
      hasMoved = true
    }
    if hasMoved, !isCalm || desk.now() - calmAt >= Self.calmInterval {
      (hasMoved, calmAt) = (false, desk.now())
      needsRender = true
    }
    if needsRender { movedAt = desk.now() }
  }

  /// The error that stands before the news, and the message that has both.
  private var errorBeforeNews: (error: String, whole: String)?

  /// Shows news. An error stays in front of it: nobody else would tell it again.
  private func show(news: String) {
    guard let message = desk.state.message, message.isError else { return desk.say(news) }
    let known = errorBeforeNews.flatMap { $0.whole == message.text ? $0.error : nil }
    let error = known ?? message.text
    let whole = "\(error); \(EditWords.short(news))"
    errorBeforeNews = (error, whole)
    desk.complain(whole)
  }

  /// The message at the start, and what the driver said then.
  private var greeting: (text: String, driver: String)?

  /// Shows a message about the start, for as long as the driver says the same and nothing else is shown.
  public func greet(_ text: String) {
    needsRender = true
    desk.state.message = .init(text)
    greeting = (text, scene.status.driverMessage)
  }

  private func endGreeting() {
    guard let greeting, scene.status.driverMessage != greeting.driver else { return }
    self.greeting = nil
    guard desk.state.message?.text == greeting.text else { return }
    desk.state.message = nil
    needsRender = true
  }

  /// Seconds for which the reason why edits are not safe stands in the status line of a narrow screen. `Alt-S` tells it later.
  private static let faultTime = 8.0

  private func noteFault() {
    let words = scene.status.journalFault
    if words != desk.fault?.words { desk.fault = words.map { ($0, desk.now()) } }
    let isKnown = desk.fault.map { desk.now() - $0.time > Self.faultTime } ?? false
    if isKnown != desk.state.isFaultKnown { needsRender = true }
    desk.state.isFaultKnown = isKnown
  }

  /// Takes a press for the answer that it may be, when the key does not repeat.
  private func answer() {
    guard let key = desk.presses.settle(at: desk.now()), desk.asked?.isAnswered == true else { return }
    isAnswering = true
    handle(.key(KeyStroke(key)))
    isAnswering = false
  }
  /// The stroke that is handled has been handled before, as one in doubt.
  private var isAnswering = false

  public func handle(_ event: InputEvent) {
    needsRender = true
    movedAt = desk.now()
    let view = desk.state.view
    let asked = desk.asked?.time
    switch event {
    case .key(let stroke): handle(stroke)
    case .paste(let text):
      if let overlay = desk.state.overlay as? any Overlay {
        overlay.paste(text, desk)
      } else {
        do {
          try desk.paste(text)
        } catch let error as Diagnostic where text.dropLast().contains(where: \.isNewline) {
          desk.complain("line \(error.line): \(error.words)")
        } catch {
          desk.complain(Desk.words(error))
        }
      }
    case .mouse(let mouse): Mouse(desk).handle(mouse)
    case .resize(let columns, let rows): desk.size = Size(columns: columns, rows: rows)
    case .focus(false): Piano(desk).releaseHeldKeys()
    case .focus(true): wish = .redraw
    case .terminate: wish = .quit
    }
    while !desk.requests.isEmpty { perform(desk.requests.removeFirst()) }
    if event.isDeed, let asked, desk.asked?.time == asked { desk.asked = nil }
    // On the smallest screens the inspector takes all rows: another view takes its place.
    if desk.state.view != view, desk.state.overlay is Inspector, desk.viewSize.rows == 0 {
      desk.state.overlay = nil
    }
    Piano(desk).settle()
    settle()
  }

  private func handle(_ stroke: KeyStroke) {
    if stroke.action == .release { return Piano(desk).release(stroke) }
    desk.press =
      stroke.action == .repeat
      ? .repeated
      : scene.hasKeyRelease || isAnswering ? .new : desk.presses.press(stroke.key, at: desk.now())
    // A key press clears the old message.
    desk.state.message = nil
    if let overlay = desk.state.overlay as? any Overlay {
      if overlay.letsPlay, desk.state.mode == .play, Piano(desk).press(stroke) { return }
      // It leads to the shell from everywhere.
      let isSuspended = action(for: stroke.key)?.name == "suspend"
      if !isSuspended, overlay.takes(stroke.key) { return overlay.handle(stroke, desk) }
    }
    if desk.state.mode == .play, Piano(desk).press(stroke) { return }
    if Views[desk.state.view].type(stroke.key, desk) { return }
    guard let action = action(for: stroke.key) else { return sayIdle(stroke) }
    if stroke.action == .repeat, !action.repeats { return }
    action.effect(desk, stroke.key)
  }

  /// Keys that a layout adds to play mode come first, since the usual ones may not be printed there.
  private func action(for key: Key) -> Action? {
    let added = desk.state.mode == .play ? desk.state.play.layout.actions[key] : nil
    return added.flatMap { ActionTable[$0] } ?? keymap.action(for: key, in: contexts)
  }

  /// Says that a key does nothing here. Esc is pressed to be sure that nothing is open.
  private func sayIdle(_ stroke: KeyStroke) {
    if stroke.key == "esc" || stroke.action == .repeat { return }
    let help = keymap.hints([("show-help", "shows the keys")], in: contexts).first
    desk.say("no \(stroke.key) here" + (help.map { ": \($0.keys) \($0.name)" } ?? ""))
  }

  /// Performs an action by its name; does nothing for a name that no action has.
  public func perform(_ name: String) {
    needsRender = true
    ActionTable[name]?.effect(desk, nil)
  }

  /// After a change, keeps what is focused and shown on what exists.
  private func settle() {
    desk.keepFocus()
    if !(desk.state.overlay is Prompt) { desk.previewedTheme = nil }
    Controls(desk).settle()
    (desk.state.overlay as? any Overlay)?.settle(desk)
    for view in Views.all { view.settle(desk) }
    Tour.follow(desk)
  }

  /// Begins the tour.
  public func beginTour() {
    needsRender = true
    Tour(desk).toggle()
  }

  /// Shows the browser in a folder.
  public func browse(_ folder: String) {
    needsRender = true
    Browser.open(folder, desk)
  }

  /// Ends everything played through the keyboard, before the program ends.
  public func endNotes() { Piano(desk).endAll() }

  // MARK: The screen

  /// Renders the whole screen. Main thread.
  public func render(columns: Int, rows: Int) -> Canvas { picture(columns: columns, rows: rows)() }

  /// True for a patch so small that the screen is drawn in no time.
  public var isSmall: Bool { scene.patch.nodes.count <= Self.smallPatch }
  private static let smallPatch = 40

  /// The whole screen as it is now, to be drawn on any thread. Main thread.
  public func picture(columns: Int, rows: Int) -> @Sendable () -> Canvas {
    desk.size = Size(columns: columns, rows: rows)
    needsRender = false
    desk.state.keyHints = keyHints
    fillHelp()
    if desk.state.mode == .play { desk.state.play.labels = Piano(desk).labels }
    return { [scene, state = desk.state] in Views.draw(scene, state, columns: columns, rows: rows) }
  }

  func fillHelp() {
    if desk.state.help.isEmpty { desk.state.help = keymap.helpSections(desk.state.play.layout) }
  }

  /// Contexts of the keys, the most specific first.
  private var contexts: [KeyContext] {
    if desk.state.mode == .play { return [.playing, .anywhere] }
    return [Views[desk.state.view].context, .patch, .anywhere].compactMap(\.self)
  }

  /// Keys for the present situation, the most useful first.
  private var keyHints: [KeyHelp] {
    if let overlay = desk.state.overlay { return overlay.hints }
    let view = Views[desk.state.view]
    let isPlaying = desk.state.mode == .play
    if !isPlaying, let keys = view.typingHints(desk.state) { return keys }
    let isTurning = desk.state.play.control != nil
    var hints =
      isPlaying ? Piano.hints(view, isTurning: isTurning) : view.hints(desk.scene, desk.state)
    if isPlaying, !desk.state.play.hasPlayer {
      hints.removeAll { ["pedal", "octave-down", "octave-up"].contains($0.action) }
    }
    if desk.state.isLocked, let quit = hints.firstIndex(where: { $0.action == "quit" }) {
      hints[quit] = ("lock", "unlock")
    }
    let (words, contexts) = (hints.flatMap { [$0.action, $0.word] } + [view.name.rawValue], contexts)
    if let knownHints, knownHints.words == words, knownHints.contexts == contexts {
      return knownHints.keys
    }
    var keys = keymap.hints(hints, in: contexts)
    // No notes are on the arrows.
    if isPlaying {
      let arrows =
        isTurning
        ? KeyHelp(keys: "← →", name: "turn")
        : KeyHelp(keys: "arrows", name: view.name == .matrix ? "cell" : view.movesFocus ? "node" : "move")
      keys.insert(arrows, at: min(1, keys.count))
    }
    knownHints = (words, contexts, keys)
    return keys
  }
}

extension InputEvent {
  /// Something that the user does, and not the end or the repetition of it.
  fileprivate var isDeed: Bool {
    switch self {
    case .key(let stroke): stroke.action == .press
    case .mouse(let mouse): mouse.action == .press || mouse.action == .wheel
    case .paste: true
    case .resize, .focus, .terminate: false
    }
  }
}

extension App {
  /// Monotonic time in seconds.
  public nonisolated static func steadySeconds() -> Double {
    let time = ContinuousClock.now - startOfTime
    return Double(time.components.seconds) + Double(time.components.attoseconds) * 1e-18
  }
  private nonisolated static let startOfTime = ContinuousClock.now
}

import Glibc
import Interface
import Loop
import PatchLanguage
import Screen
import Session
import Terminal

/// The terminal front end's loop: events in, canvases out, 25 per second while something moves, and one at once after a key.
enum FrontEnd {
  /// Time between two drawings: twice that of a drawing, but a new layout of thousands of boxes takes seconds once.
  private static let pause: ClosedRange<Int64> = 8_000_000...500_000_000

  @MainActor static func run(_ options: FrontEndOptions) throws {
    let preferences = try preferences(options)
    let notes = try (options.layout ?? preferences.keymap.layout).map { try layout($0) }
    var sessionOptions = SessionOptions()
    sessionOptions.driver = options.driver
    sessionOptions.threads = options.threads
    sessionOptions.quality = nil
    sessionOptions.isPatchbay = options.isPatchbay
    sessionOptions.heldSeconds = options.heldSeconds
    sessionOptions.keepsTape = true
    sessionOptions.followsFile = true
    sessionOptions.keepsInputs = options.keepsInputs
    let session = Session(options: sessionOptions)
    let isNew = options.patch.map { access($0, F_OK) != 0 } ?? false
    if options.isTour {
      session.openText(StarterPatch.tour(instrument: Installation.organ))
    } else {
      try open(options.patch, session)
    }
    let stop = StopWork(before: { session.withdraw() }, after: { session.rejoin() })
    let lines = options.isLinear ? try LineTerminal(isPlain: options.isPlain, stop: stop) : nil
    let terminal = options.isLinear ? nil : try Terminal(isPlain: options.isPlain, stop: stop)
    defer {
      lines?.close()
      terminal?.close()
    }
    session.start()
    defer { session.stop() }
    let workbench = SessionWorkbench(session: session)
    defer { workbench.endPreview() }
    if options.isPatchbay {
      workbench.showPrograms(true)
      _ = session.awaitPrograms(seconds: 1)
    }
    let app = App(
      workbench: workbench, keymap: preferences.keymap, history: readHistory(),
      findLayout: { try layout($0) })
    if let notes { app.state.play.layout = notes }
    app.themes = preferences.names
    app.settingsFile = preferences.settingsFile
    let start =
      session.diagnostics.summary.map { ViewState.Message($0.text, isError: $0.isError) }
      ?? session.songName.map { ViewState.Message(SessionWorkbench.songPlays($0)) }
    app.begin(problems: preferences.problems, start)
    if app.state.message == nil {
      let file = isNew ? session.file.map { "\(PatchFile.split($0).name) is a new patch; " } : nil
      app.greet((file ?? "") + app.scene.status.driverMessage)
    }
    app.isCalm = options.isCalm || preferences.settings.isCalm
    if let folder = options.patch, FolderListing.isFolder(folder) { app.browse(folder) }
    if options.isTour { app.beginTour() }
    let ending: Int32
    if let lines {
      ending = try LinearFrontEnd.loop(app, workbench, lines, preferences)
    } else if let terminal {
      ending = try loop(app, workbench, terminal, preferences) { app.isCalm = options.isCalm || $0.isCalm }
    } else {
      ending = 0
    }
    app.endNotes()
    writeHistory(app.promptHistory)
    if ending != 0 {
      // Unsaved edits stay in the journal, since the user did not choose to quit.
      workbench.endPreview()
      session.close(keepingEdits: true)
      lines?.end(by: ending)
      terminal?.end(by: ending)
    }
    session.close(keepingEdits: app.wish == .quitKeepingEdits)
  }

  /// Opens a patch, a patch that plays the file, or an empty one.
  @MainActor private static func open(_ path: String?, _ session: Session) throws {
    guard let path, !FolderListing.isFolder(path) else { return session.openEmpty() }
    guard let text = StarterPatch.text(playing: path) else { return try session.open(path) }
    // A file of such a name is never written as a patch.
    guard access(path, R_OK) == 0 else { throw CommandError("\(path): \(String(cString: strerror(errno)))") }
    session.openText(text)
    if StarterPatch.isSong(path) { try session.playSong(path) }
  }

  /// Returns the signal that ended it, or 0.
  @MainActor private static func loop(
    _ app: App, _ workbench: SessionWorkbench, _ terminal: Terminal,
    _ preferences: Preferences, reread: @escaping (Settings) -> Void
  ) throws -> Int32 {
    let loop = EventLoop()
    var nextDrawing = EventLoop.now()
    let drawing = DrawingThread(loop) { canvas, nanoseconds in
      terminal.draw(canvas, theme: preferences.theme(app.theme))
      // A graph that is slow to draw is drawn less often, so that the engine comes first.
      nextDrawing = EventLoop.now() + min(max(pause.lowerBound, 2 * nanoseconds), pause.upperBound)
    }
    func show() {
      if app.needsRender, !drawing.isBusy, EventLoop.now() >= nextDrawing {
        drawing.draw(app.picture(columns: terminal.columns, rows: terminal.rows), isSmall: app.isSmall)
      }
    }
    var pace = TickPace()
    let ticks = loop.timer(due: nextDrawing) { now in
      if pace.sleeps(app, now: now) { return pace.next(app, now: now) }
      workbench.hasKeyRelease = terminal.capabilities.hasKeyRelease
      if preferences.look(now: now) {
        app.keymap = preferences.keymap
        app.themes = preferences.names
        reread(preferences.settings)
        app.tell(preferences.problems)
      }
      workbench.followsFile = preferences.settings.followsFile
      app.tick()
      show()
      return pace.next(app, now: now)
    }
    var ending: Int32 = 0
    terminal.listen(on: loop) { events in
      // Keys that follow the terminal's answer are let go as it says.
      workbench.hasKeyRelease = terminal.capabilities.hasKeyRelease
      for event in events {
        if case .terminate(let signal) = event {
          ending = signal
          return loop.end()
        }
        app.handle(event)
        if let text = app.takeCopied() { terminal.copy(text) }
        switch app.wish {
        case .none: break
        case .quit, .quitKeepingEdits: return loop.end()
        case .suspend: terminal.suspend()
        case .redraw: terminal.redraw()
        }
        app.wish = .none
      }
      show()
      ticks.due = min(ticks.due ?? .max, TickPace.soon(now: EventLoop.now()))
    }
    try loop.run()
    return ending
  }

  // MARK: The user's files

  /// Settings, keys and themes of the user. Files named on the command line have to exist; errors of the user's files are
  /// shown on the screen.
  @MainActor private static func preferences(_ options: FrontEndOptions) throws -> Preferences {
    let preferences = Preferences(theme: options.theme, keys: options.keys)
    for file in [options.keys, options.theme.flatMap(Preferences.themeFile)].compactMap(\.self) {
      _ = try readText(file)
    }
    preferences.load()
    if let wanted = options.theme, preferences.problems.contains(where: { $0.hasPrefix("--theme") }) {
      throw CommandError(
        "no theme `\(wanted)`: there are \(preferences.names.joined(separator: ", ")), or name a file")
    }
    return preferences
  }

  /// A built-in layout by name, a file, or one of the user's by name.
  private static func layout(_ wanted: String) throws -> KeyboardLayout {
    if let layout = KeyboardLayout.builtIn(named: wanted) { return layout }
    let path = Installation.layout(named: wanted) ?? wanted
    guard access(path, R_OK) == 0 else { throw CommandError(UnknownLayout(name: wanted).description) }
    let file = PatchFile.split(path).name
    let name = file.lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    let (layout, problems) = KeyboardLayout.read(try readText(path), name: name, file: path)
    guard let layout else { throw CommandError(problems.joined(separator: "\n")) }
    return layout
  }

  /// Lines of the prompt, oldest first.
  private static var historyPath: String { StateFolder.path + "/history" }

  private static func readHistory() -> [String] {
    // Remains of a write by a program that was killed.
    _ = PatchFile.clearLeftOvers(of: historyPath)
    guard let text = try? readText(historyPath) else { return [] }
    return text.split(separator: "\n").map(String.init)
  }

  /// A failure is not reported, since losing the history is harmless.
  private static func writeHistory(_ lines: [String]) {
    PatchFile.makeFolder(StateFolder.path)
    try? PatchFile.replace(historyPath, with: lines.suffix(500).map { $0 + "\n" }.joined())
  }
}

import CTerminal
@preconcurrency import CNcurses
import Glibc
import Loop
import Screen

/// The terminal: canvases out; keys, mouse and sizes in.
///
/// There is one at a time. From `init` to `close` the terminal is ours; on every way out (a signal, a
/// crash, `exit`) it is put back as it was. Main thread.
///
/// ```swift
/// let terminal = try Terminal()
/// defer { terminal.close() }
/// terminal.listen(on: loop) { events in
///   for event in events { handle(event) }
///   terminal.draw(view(terminal.columns, terminal.rows), theme: .dark)
/// }
/// try loop.run()
/// ```
@MainActor
public final class Terminal {
  /// Capabilities of this terminal. The answers to some queries arrive a moment after the start.
  public struct Capabilities: Hashable, Sendable {
    /// Key releases are reported: the kitty keyboard protocol, which tmux and others lack.
    public var hasKeyRelease = false
    /// Synchronised output: a screen appears as a whole (mode 2026).
    public var hasSynchronizedOutput = false
    /// Lines, blocks and letters of all languages are shown; otherwise ASCII takes their places.
    public var hasUnicode = true
    /// Buttons, drags and the wheel are reported, if the terminal has a mouse at all.
    public var hasMouse = false
    public var colors = ColorDepth.monochrome
    /// `$TERM`
    public var name = ""
    /// True when the terminal has answered the initial queries.
    public var isAnswered = false
  }

  public var capabilities: Capabilities {
    var all = known
    all.hasKeyRelease = line.hasKeyRelease
    return all
  }
  private var known = Capabilities()
  public private(set) var columns = 0
  public private(set) var rows = 0

  private let line: TerminalLine
  private let screen: OpaquePointer
  private var sheet: OutputSheet
  private var painter: Painter

  /// Takes over the terminal at standard input and output. `isPlain`: it gets ASCII alone, whatever it could show.
  public init(isPlain: Bool = false, stop: StopWork = StopWork()) throws(TerminalError) {
    let name = getenv("TERM").map { String(cString: $0) } ?? ""
    let hasUnicode = CharacterSet.chooseUnicode(terminal: name) && !isPlain
    // Before ncurses, which leaves signals alone that have a handler.
    line = try TerminalLine(stop: stop)
    guard !name.isEmpty else {
      line.close()
      throw .unknownTerminal(name)
    }
    guard let sheet = OutputSheet(of: line.output), let stream = fdopen(sheet.descriptor, "w") else {
      let failure = errno
      line.close()
      throw .system(String(cString: strerror(failure)))
    }
    self.sheet = sheet
    guard let opened = newterm(Terminal.directDescription(of: name), stream, stdin) else {
      fclose(stream)
      line.close()
      throw .unknownTerminal(name)
    }
    screen = opened
    painter = Painter()
    guard Terminal.string("cup") != nil else {
      endwin()
      delscreen(screen)
      line.close()
      throw .tooSimple(name)
    }
    raw()
    noecho()
    nonl()
    // Input bypasses ncurses, so it must not pause output for pending keys.
    typeahead(-1)
    self.sheet.begin()
    painter.start()
    painter.isPlain = !hasUnicode
    known.hasUnicode = hasUnicode
    known.name = name
    known.colors = painter.depth
    takeSize()
    line.begin(ending: Terminal.ending)
    painter.clear()
    enterModes()
    line.resume = { [unowned self] in resume() }
    line.resize = { [unowned self] in
      resize()
      line.queue(.resize(columns: columns, rows: rows))
    }
    line.answer = { [unowned self] in take($0) }
  }

  /// Limit of the screen size, whatever the terminal or the environment reports: each cell costs memory and
  /// time at each drawing.
  private static let (mostColumns, mostRows): (Int32, Int32) = (1000, 500)

  private func takeSize() {
    columns = Int(min(sostenuto_columns(), Self.mostColumns))
    rows = Int(min(sostenuto_rows(), Self.mostRows))
  }

  /// The 24-bit description for a terminal that claims 24-bit colours (`COLORTERM`), if it is installed:
  /// `xterm-direct` for `xterm-256color`.
  private static func directDescription(of name: String) -> String {
    guard let claim = getenv("COLORTERM").map({ String(cString: $0) }),
      claim == "truecolor" || claim == "24bit"
    else { return name }
    let base = name.hasSuffix("-256color") ? String(name.dropLast(9)) : name
    let direct = base + "-direct"
    var error: Int32 = 0
    return setupterm(direct, STDOUT_FILENO, &error) == OK ? direct : name
  }

  /// A string capability of the terminal's description.
  private static func string(_ name: String) -> String? {
    guard let value = tigetstr(name), Int(bitPattern: value) != -1 else { return nil }
    // Delays ($<5>) are for printing terminals.
    var text = String(cString: value)
    while let start = text.indices.first(where: { text[$0...].hasPrefix("$<") }),
      let end = text[start...].firstIndex(of: ">")
    {
      text.removeSubrange(start...end)
    }
    return text
  }

  // MARK: Modes

  private static let startModes =
    "\u{1B}[?1002h\u{1B}[?1006h"  // buttons and drags, in SGR form
    + "\u{1B}[?2004h"  // bracketed paste
    + "\u{1B}[?1004h"  // focus
  private static let endModes =
    "\u{1B}[?2026l\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?2004l\u{1B}[?1004l"

  private func enterModes() {
    // Queries come last, so that their answers imply that the modes have been read; every terminal answers
    // the last one.
    line.write(Terminal.startModes + "\u{1B}[?u\u{1B}[?2026$p\u{1B}[c")
    known.hasMouse =
      Terminal.string("kmous") != nil || known.name.hasPrefix("tmux")
      || known.name.hasPrefix("screen")
  }

  /// Bytes that put the terminal back.
  private static var ending: String {
    endModes + ["sgr0", "op", "rmkx", "cnorm"].map { string($0) ?? "" }.joined() + (string("rmcup") ?? "\r\n")
  }

  /// Restores the terminal. No other method may be called afterwards. May be called twice.
  public func close() {
    if line.close() { leaveCurses() }
  }

  /// Tells ncurses that the terminal is not its own any more, until it is drawn on again. ncurses would restore its own idea of
  /// the terminal, and a terminal that has been restored would put the cursor where it was before the program: so the output
  /// goes nowhere.
  private func leaveCurses() {
    endwin()
    _ = sheet.take()
  }

  /// Restores the terminal and ends the process by the signal, as the parent expects.
  public func end(by signalNumber: Int32) -> Never {
    close()
    cterminal_die(signalNumber)
  }

  /// The effect of ctrl-z elsewhere: restores the terminal and stops until the shell continues the process.
  public func suspend() { line.suspend() }

  private func resume() {
    leaveCurses()
    line.begin(ending: Terminal.ending)
    // Answers to queries would be echoed in the shell's mode.
    sheet.withTerminal { reset_prog_mode() }
    resize()
    painter.clear()
    enterModes()
    line.queue(.resize(columns: columns, rows: rows))
  }

  private func resize() {
    var size = winsize()
    guard ioctl(line.output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return }
    resizeterm(min(Int32(size.ws_row), Self.mostRows), min(Int32(size.ws_col), Self.mostColumns))
    takeSize()
    painter.forget()
  }

  // MARK: Output

  /// Shows the canvas; only changes since the last one are sent. A canvas of another size is cut, or leaves
  /// the rest blank.
  public func draw(_ canvas: Canvas, theme: Theme) {
    guard !line.isClosed else { return }
    guard painter.stage(canvas, theme: theme, columns: columns, rows: rows) else { return }
    doupdate()
    var bytes = sheet.take()
    if capabilities.hasSynchronizedOutput {
      bytes = Array("\u{1B}[?2026h".utf8) + bytes + Array("\u{1B}[?2026l".utf8)
    }
    // A terminal that takes no output gets all that it missed as soon as it does.
    if !line.write(bytes) { painter.clear() }
  }

  /// Redraws everything with the next canvas, after another program wrote to the terminal.
  public func redraw() {
    painter.clear()
  }

  public func bell() {
    beep()
    line.write(sheet.take())
  }

  /// Puts a text into the clipboard, where the terminal lets programs do so (OSC 52).
  public func copy(_ text: String) { line.copy(text) }

  // MARK: Input

  /// Hands over what the user does, whenever `loop` runs: several events in the order of the keys.
  public func listen(on loop: EventLoop, _ take: @escaping ([InputEvent]) -> Void) {
    line.listen(on: loop, take)
  }

  private func take(_ answer: InputParser.Item) {
    switch answer {
    case .mode(2026, let status): known.hasSynchronizedOutput = status == 1 || status == 2
    case .deviceAttributes: known.isAnswered = true
    case .event, .keyboardFlags, .mode: break
    }
  }
}

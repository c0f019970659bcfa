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

  public private(set) var capabilities = Capabilities()
  public private(set) var columns = 0
  public private(set) var rows = 0

  private let input: Int32
  private let output: Int32
  private let screen: OpaquePointer
  private var sheet: OutputSheet
  private var painter: Painter
  private var parser = InputParser()
  /// Ends the wait for the rest of an incomplete sequence.
  private var patience: EventLoop.Timer?
  private var queued: [InputEvent] = []
  private var isClosed = false

  /// Nanoseconds after which a lone escape byte counts as the key: longer than a slow line takes for the
  /// rest of a sequence, shorter than anyone notices.
  private static let escapeDelay: Int64 = 40_000_000
  /// Nanoseconds of pause after which a paste counts as ended.
  private static let pasteDelay: Int64 = 2_000_000_000

  /// Takes over the terminal at standard input and output. `isPlain`: it gets ASCII alone, whatever it could show.
  public init(isPlain: Bool = false) throws(TerminalError) {
    input = STDIN_FILENO
    output = STDOUT_FILENO
    let name = getenv("TERM").map { String(cString: $0) } ?? ""
    guard isatty(input) == 1 else { throw .notATerminal("standard input") }
    guard isatty(output) == 1 else { throw .notATerminal("standard output") }
    guard !name.isEmpty else { throw .unknownTerminal(name) }
    let hasUnicode = Terminal.chooseLocale() && !Terminal.isOld(name) && !isPlain
    // Before ncurses, which leaves signals alone that have a handler.
    let failure = cterminal_install(input, output)
    guard failure == 0 else { throw .system(String(cString: strerror(failure))) }
    guard let sheet = OutputSheet(of: output), let stream = fdopen(sheet.descriptor, "w") else {
      let failure = errno
      cterminal_remove()
      throw .system(String(cString: strerror(failure)))
    }
    self.sheet = sheet
    guard let opened = newterm(Terminal.directDescription(of: name), stream, stdin) else {
      fclose(stream)
      cterminal_remove()
      throw .unknownTerminal(name)
    }
    screen = opened
    painter = Painter()
    guard Terminal.string("cup") != nil else {
      endwin()
      delscreen(screen)
      cterminal_remove()
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
    capabilities.hasUnicode = hasUnicode
    capabilities.name = name
    capabilities.colors = painter.depth
    takeSize()
    prepareRestoring(keyboard: false)
    cterminal_set_active(1)
    painter.clear()
    enterModes()
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

  /// Terminals and consoles from before Unicode.
  private static func isOld(_ name: String) -> Bool {
    ["vt1", "vt2", "vt3", "vt4", "vt5", "ansi", "cons25", "wy", "sun"].contains { name.hasPrefix($0) }
  }

  /// Sets the user's locale, and says if it has Unicode. Where none is set, or the one set is missing here, one with
  /// Unicode is looked for. Only the character type is set, so decimal points stay points.
  private static func chooseLocale() -> Bool {
    // Of a locale's name, as in `de_DE.utf8@euro`, or alone.
    func isUnicode(_ name: String) -> Bool {
      let codeset = name.split(separator: ".").last?.split(separator: "@").first
      return ["utf-8", "utf8"].contains(codeset?.lowercased())
    }
    let wanted = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
      .compactMap { (name: String) in getenv(name).map { String(cString: $0) } }.first { !$0.isEmpty }
    setlocale(LC_CTYPE, "")
    if isUnicode(String(cString: sostenuto_codeset())) { return true }
    if let wanted, !isUnicode(wanted) { return false }
    for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8"] where setlocale(LC_CTYPE, name) != nil { break }
    return true
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
  /// Flags 1, 2, 8: every key as a sequence, with releases; 4 and 16: with its physical position and its
  /// text, which flag 8 would omit.
  private static let startKeyboard = "\u{1B}[>31u"
  private static let endKeyboard = "\u{1B}[<u"

  private func enterModes() {
    // Queries come last, so that their answers imply that the modes have been read; every terminal answers
    // the last one.
    write(Terminal.startModes + "\u{1B}[?u\u{1B}[?2026$p\u{1B}[c")
    capabilities.hasMouse =
      Terminal.string("kmous") != nil || capabilities.name.hasPrefix("tmux")
      || capabilities.name.hasPrefix("screen")
  }

  /// Tells the signal handlers which bytes to write. The keyboard flags belong to the alternate screen, so
  /// they are reset before leaving it.
  private func prepareRestoring(keyboard: Bool) {
    let bytes =
      "\u{18}"  // cancels a sequence that was cut short
      + (keyboard ? Terminal.endKeyboard : "") + Terminal.endModes
      + (Terminal.string("sgr0") ?? "") + (Terminal.string("op") ?? "")
      + (Terminal.string("rmkx") ?? "") + (Terminal.string("cnorm") ?? "")
      + (Terminal.string("rmcup") ?? "\r\n")
    Array(bytes.utf8).withUnsafeBytes { cterminal_set_bytes($0.baseAddress, $0.count) }
  }

  private func write(_ text: String) { write(Array(text.utf8)) }

  /// False when the terminal does not take all of it.
  @discardableResult private func write(_ bytes: [UInt8]) -> Bool {
    var start = 0
    while start < bytes.count {
      let written = bytes[start...].withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
      if written < 0 {
        guard errno == EINTR || errno == EAGAIN else { return false }
        var ready = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&ready, 1, 1000) > 0 else { return false }
      } else {
        start += written
      }
    }
    return true
  }

  /// Restores the terminal. No other method may be called afterwards. May be called twice.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    cterminal_remove()
    leaveCurses()
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
  public func suspend() {
    // Keys that are let go meanwhile are told to the shell.
    queued.append(.focus(false))
    beforeStop()
    cterminal_restore()
    cterminal_stop()
    resume()
    afterStop()
  }

  /// Called before the process is stopped, and when it goes on.
  public var beforeStop: () -> Void = {}
  public var afterStop: () -> Void = {}

  private func resume() {
    capabilities.hasKeyRelease = false
    parser = InputParser()
    patience?.due = nil
    leaveCurses()
    prepareRestoring(keyboard: false)
    cterminal_set_active(1)
    // Answers to queries would be echoed in the shell's mode.
    sheet.withTerminal { reset_prog_mode() }
    resize()
    painter.clear()
    enterModes()
    queued.append(.resize(columns: columns, rows: rows))
  }

  private func resize() {
    var size = winsize()
    guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return }
    resizeterm(min(Int32(size.ws_row), Self.mostRows), min(Int32(size.ws_col), Self.mostColumns))
    takeSize()
    painter.forget()
  }

  // MARK: Output

  /// Shows the canvas; only changes since the last one are sent. A canvas of another size is cut, or leaves
  /// the rest blank.
  public func draw(_ canvas: Canvas, theme: Theme) {
    guard !isClosed else { return }
    guard painter.stage(canvas, theme: theme, columns: columns, rows: rows) else { return }
    doupdate()
    var bytes = sheet.take()
    if capabilities.hasSynchronizedOutput {
      bytes = Array("\u{1B}[?2026h".utf8) + bytes + Array("\u{1B}[?2026l".utf8)
    }
    // What a terminal that takes nothing has missed is drawn when it does.
    if !write(bytes) { painter.clear() }
  }

  /// Redraws everything with the next canvas, after another program wrote to the terminal.
  public func redraw() {
    painter.clear()
  }

  public func bell() {
    beep()
    write(sheet.take())
  }

  /// Puts a text into the clipboard, where the terminal lets programs do so (OSC 52).
  public func copy(_ text: String) {
    guard !isClosed else { return }
    write("\u{1B}]52;c;\(Base64.text(Array(text.utf8)))\u{7}")
  }

  // MARK: Input

  /// Hands over what the user does, whenever `loop` runs: several events in the order of the keys.
  public func listen(on loop: EventLoop, _ take: @escaping ([InputEvent]) -> Void) {
    func handOver() {
      // Suspending within `take` queues a further event.
      while !queued.isEmpty {
        let events = queued
        queued = []
        take(events)
      }
    }
    let patience = loop.timer { [self] _ in
      accept(parser.flush(endingPaste: parser.isPasting))
      handOver()
      return nil
    }
    self.patience = patience
    loop.watch(input) { [self] in
      // A terminal at its end is always ready.
      if !readInput() { loop.forget(input) }
      handOver()
    }
    loop.watch(cterminal_wake_descriptor()) { [self] in
      takeSignals()
      handOver()
    }
  }

  /// Reads available input; false at its end.
  private func readInput() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(input, &buffer, buffer.count)
    if count > 0 {
      accept(parser.feed(buffer[..<count]))
      let delay = parser.isPasting ? Terminal.pasteDelay : Terminal.escapeDelay
      patience?.due = parser.isPending || parser.isPasting ? EventLoop.now() + delay : nil
    } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
      queued.append(.terminate(signal: SIGHUP))
      return false
    }
    return true
  }

  private func takeSignals() {
    let signals = cterminal_take_signals()
    func has(_ signal: Int32) -> Bool { signals & 1 << UInt64(signal) != 0 }
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] where has(signal) {
      queued.append(.terminate(signal: signal))
    }
    if has(SIGTSTP) {
      suspend()
    } else if has(SIGCONT) {
      // Stopped by a signal that cannot be caught: the terminal's contents and modes are unknown.
      queued.append(.focus(false))
      cterminal_restore()
      resume()
    } else if has(SIGWINCH) {
      resize()
      queued.append(.resize(columns: columns, rows: rows))
    }
  }

  private func accept(_ items: [InputParser.Item]) {
    for item in items {
      switch item {
      case .event(let event): queued.append(event)
      case .keyboardFlags:
        guard !capabilities.hasKeyRelease else { continue }
        prepareRestoring(keyboard: true)
        write(Terminal.startKeyboard)
        capabilities.hasKeyRelease = true
      case .mode(2026, let status): capabilities.hasSynchronizedOutput = status == 1 || status == 2
      case .mode: break
      case .deviceAttributes: capabilities.isAnswered = true
      }
    }
  }
}

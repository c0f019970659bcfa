import CTerminal
@preconcurrency import CNcurses
import Glibc
import Screen

/// The terminal: canvases out; keys, mouse and sizes in.
///
/// There is one at a time. From `init` to `close` the terminal is ours; on every way out (a signal, a
/// crash, `exit`) it is put back as it was. Main thread.
///
/// ```swift
/// let terminal = try Terminal()
/// defer { terminal.close() }
/// while isRunning {
///   terminal.draw(view(terminal.columns, terminal.rows), theme: .dark)
///   for event in terminal.poll(timeoutMilliseconds: 33) { handle(event) }
/// }
/// ```
@MainActor
public final class Terminal {
  /// What this terminal turned out to be able to do. The answers to some questions arrive a moment
  /// after the start.
  public struct Capabilities: Hashable, Sendable {
    /// Keys report that they come up: the kitty keyboard protocol, which tmux and others lack.
    public var hasKeyRelease = false
    /// Screens appear whole (mode 2026).
    public var hasSynchronizedOutput = false
    /// Buttons, drags and the wheel are reported, if the terminal has a mouse at all.
    public var hasMouse = false
    public var colors = ColorDepth.monochrome
    /// `$TERM`
    public var name = ""
    /// Whether the terminal has answered what it was asked at the start.
    public var isAnswered = false
  }

  public private(set) var capabilities = Capabilities()
  /// Descriptors given to the last `poll` that have something to read, or have ended.
  public private(set) var readable: Set<Int32> = []
  public private(set) var columns = 0
  public private(set) var rows = 0

  private let input: Int32
  private let output: Int32
  private let screen: OpaquePointer
  private var painter: Painter
  private var parser = InputParser()
  /// When the parser last got a part of something without its end, in milliseconds.
  private var heldSince: Int64?
  private var queued: [InputEvent] = []
  private var isClosed = false
  private var inputEnded = false

  /// How long an escape byte may stand alone before it is the key, in milliseconds: longer than a slow
  /// line takes to send the rest of a sequence, shorter than anyone notices.
  private static let escapeDelay: Int32 = 40
  /// How long a paste may pause before it counts as ended, in milliseconds.
  private static let pasteDelay: Int32 = 2000

  /// Takes over the terminal at standard input and output.
  public init() throws(TerminalError) {
    input = STDIN_FILENO
    output = STDOUT_FILENO
    let name = getenv("TERM").map { String(cString: $0) } ?? ""
    guard isatty(input) == 1 else { throw .notATerminal("standard input") }
    guard isatty(output) == 1 else { throw .notATerminal("standard output") }
    guard !name.isEmpty else { throw .unknownTerminal(name) }
    Terminal.chooseLocale()
    // Before ncurses, which leaves signals alone that have a handler.
    let failure = cterminal_install(input, output)
    guard failure == 0 else { throw .system(String(cString: strerror(failure))) }
    guard let opened = newterm(Terminal.directDescription(of: name), stdout, stdin) else {
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
    // Input never passes through ncurses: nothing may stop its output for a key that waits.
    typeahead(-1)
    painter.start()
    capabilities.name = name
    capabilities.colors = painter.depth
    takeSize()
    prepareRestoring(keyboard: false)
    cterminal_set_active(1)
    painter.clear()
    enterModes()
  }

  /// As much of the screen is used, whatever size the terminal or the environment says that it has: each cell costs
  /// memory and time at each drawing.
  private static let (mostColumns, mostRows): (Int32, Int32) = (1000, 500)

  private func takeSize() {
    columns = Int(min(sostenuto_columns(), Self.mostColumns))
    rows = Int(min(sostenuto_rows(), Self.mostRows))
  }

  /// The description with 24-bit colours that belongs to a terminal that says that it has them
  /// (`COLORTERM`), where it is installed: `xterm-direct` for `xterm-256color`.
  private static func directDescription(of name: String) -> String {
    guard let claim = getenv("COLORTERM").map({ String(cString: $0) }),
      claim == "truecolor" || claim == "24bit"
    else { return name }
    let base = name.hasSuffix("-256color") ? String(name.dropLast(9)) : name
    let direct = base + "-direct"
    var error: Int32 = 0
    return setupterm(direct, STDOUT_FILENO, &error) == OK ? direct : name
  }

  /// The locale of the user's text, or at least one whose text is Unicode. Only the kind of characters
  /// is set: decimal points stay points.
  private static func chooseLocale() {
    setlocale(LC_CTYPE, "")
    guard !String(cString: sostenuto_codeset()).uppercased().contains("UTF") else { return }
    for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8"] where setlocale(LC_CTYPE, name) != nil { return }
  }

  /// A string capability of the terminal's description.
  private static func string(_ name: String) -> String? {
    guard let value = tigetstr(name), Int(bitPattern: value) != -1 else { return nil }
    // Delays ($<5>) are for terminals of wire and ink.
    var text = String(cString: value)
    while let start = text.firstRange(of: "$<"), let end = text[start.upperBound...].firstIndex(of: ">") {
      text.removeSubrange(start.lowerBound...end)
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
  /// Flags 1, 2, 8: every key as a sequence, with releases; 4 and 16: with its place and its text,
  /// which flag 8 would take away.
  private static let startKeyboard = "\u{1B}[>31u"
  private static let endKeyboard = "\u{1B}[<u"

  private func enterModes() {
    // Questions last, so that their answers tell that the modes have been read; every terminal answers
    // the last one.
    write(Terminal.startModes + "\u{1B}[?u\u{1B}[?2026$p\u{1B}[c")
    capabilities.hasMouse =
      Terminal.string("kmous") != nil || capabilities.name.hasPrefix("tmux")
      || capabilities.name.hasPrefix("screen")
  }

  /// Tells the signal handlers what to write. The keyboard's flags belong to the alternate screen, so
  /// they go before it does.
  private func prepareRestoring(keyboard: Bool) {
    let bytes =
      "\u{18}"  // cancels a sequence that was cut short
      + (keyboard ? Terminal.endKeyboard : "") + Terminal.endModes
      + (Terminal.string("sgr0") ?? "") + (Terminal.string("op") ?? "")
      + (Terminal.string("rmkx") ?? "") + (Terminal.string("cnorm") ?? "")
      + (Terminal.string("rmcup") ?? "\r\n")
    Array(bytes.utf8).withUnsafeBytes { cterminal_set_bytes($0.baseAddress, $0.count) }
  }

  private func write(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = bytes.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
      if written < 0 {
        guard errno == EINTR || errno == EAGAIN else { return }
        var ready = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
        guard Glibc.poll(&ready, 1, 1000) > 0 else { return }
      } else {
        bytes = bytes.dropFirst(written)
      }
    }
  }

  /// Gives the terminal back. Afterwards nothing else may be called. May be called twice.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    cterminal_remove()
    // ncurses has its own idea of what to put back; the terminal is past that, so it goes nowhere.
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    let saved = fcntl(output, F_DUPFD_CLOEXEC, 3)
    if null >= 0, saved >= 0 {
      dup2(null, output)
      endwin()
      dup2(saved, output)
    }
    if null >= 0 { Glibc.close(null) }
    if saved >= 0 { Glibc.close(saved) }
  }

  /// Gives the terminal back and ends the process by the signal, as the parent expects.
  public func end(by signalNumber: Int32) -> Never {
    close()
    cterminal_die(signalNumber)
  }

  /// What ctrl-z does elsewhere: gives the terminal back and stops, until the shell continues us.
  public func suspend() {
    cterminal_restore()
    cterminal_stop()
    resume()
  }

  private func resume() {
    capabilities.hasKeyRelease = false
    parser = InputParser()
    heldSince = nil
    endwin()
    prepareRestoring(keyboard: false)
    cterminal_set_active(1)
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

  // MARK: Out

  /// Shows the canvas; only what changed since the last one is sent. One of another size than the
  /// terminal is cut, or leaves the rest blank.
  public func draw(_ canvas: Canvas, theme: Theme) {
    guard !isClosed else { return }
    guard painter.stage(canvas, theme: theme, columns: columns, rows: rows) else { return }
    if capabilities.hasSynchronizedOutput {
      write("\u{1B}[?2026h")
      doupdate()
      write("\u{1B}[?2026l")
    } else {
      doupdate()
    }
  }

  /// Draws everything anew with the next canvas: something else wrote on the terminal.
  public func redraw() {
    painter.clear()
  }

  public func bell() {
    beep()
  }

  // MARK: In

  /// Waits until something comes in, a signal arrives, one of the descriptors can be read (then
  /// `readable` has it), the capabilities change or the time is over; negative: however long it takes. Several events come in
  /// the order of the keys.
  public func poll(timeoutMilliseconds: Int, descriptors: [Int32] = []) -> [InputEvent] {
    readable = []
    let known = capabilities
    let patience = Int32(clamping: queued.isEmpty ? timeoutMilliseconds : 0)
    let deadline = patience < 0 ? nil : Terminal.now() + Int64(patience)
    var wait = patience
    while true {
      var hold: Int32?
      if let heldSince {
        let delay = parser.isPasting ? Terminal.pasteDelay : Terminal.escapeDelay
        hold = Int32(clamping: max(0, heldSince + Int64(delay) - Terminal.now()))
      }
      let count = pause(for: hold.map { wait < 0 ? $0 : min($0, wait) } ?? wait, descriptors)
      if count == 0, let hold, wait < 0 || hold <= wait {
        accept(parser.flush(endingPaste: parser.isPasting))
        heldSince = nil
      }
      if !queued.isEmpty || !readable.isEmpty || capabilities != known { break }
      if let deadline {
        let left = deadline - Terminal.now()
        if left <= 0 { break }
        wait = Int32(clamping: left)
      }
    }
    defer { queued = [] }
    return queued
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// One wait; reads what there is. Returns how many descriptors had something.
  private func pause(for milliseconds: Int32, _ others: [Int32]) -> Int32 {
    let events = Int16(POLLIN)
    var descriptors = [
      // A terminal that is gone is ready for ever: it is asked no more.
      pollfd(fd: inputEnded ? -1 : input, events: events, revents: 0),
      pollfd(fd: cterminal_wake_descriptor(), events: events, revents: 0),
    ]
    descriptors += others.map { pollfd(fd: $0, events: events, revents: 0) }
    let count = Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    guard count > 0 else {
      return count < 0 && errno == EINTR ? 1 : max(0, count)
    }
    for entry in descriptors.dropFirst(2) where entry.revents != 0 { readable.insert(entry.fd) }
    if descriptors[0].revents != 0 { readInput() }
    if descriptors[1].revents != 0 { takeSignals() }
    return count
  }

  private func readInput() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(input, &buffer, buffer.count)
    if count > 0 {
      accept(parser.feed(buffer[..<count]))
      heldSince = parser.isPending || parser.isPasting ? Terminal.now() : nil
    } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
      inputEnded = true
      queued.append(.terminate(signal: SIGHUP))
    }
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
      // Stopped in a way that cannot be noticed: what the terminal shows and its modes are unknown.
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

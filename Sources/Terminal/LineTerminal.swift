import CTerminal
import Glibc
import Loop
import Screen

/// A terminal as a roll of lines: text below text, and one line that is being typed. Keys come one by one, as from
/// `Terminal`, of which there is none at the same time. Nothing is drawn over, so that a screen reader tells what comes.
/// Main thread.
@MainActor public final class LineTerminal {
  /// Key releases are reported.
  public private(set) var hasKeyRelease = false
  private let input = STDIN_FILENO
  private let output = STDOUT_FILENO
  private var parser = InputParser()
  private var queued: [InputEvent] = []
  private var patience: EventLoop.Timer?
  private var isClosed = false
  /// The typed line stands in the last row.
  private var hasEntry = false
  /// Called before the process is stopped, and when it goes on.
  public var beforeStop: () -> Void = {}
  public var afterStop: () -> Void = {}

  private static let escapeDelay: Int64 = 40_000_000
  private static let startModes = "\u{1B}[?2004h\u{1B}[?1004h\u{1B}[?u\u{1B}[c"
  private static let endModes = "\u{1B}[?2004l\u{1B}[?1004l"
  private static let startKeyboard = "\u{1B}[>31u"
  private static let endKeyboard = "\u{1B}[<u"

  /// Takes over the terminal at standard input and output.
  public init() throws(TerminalError) {
    guard isatty(input) == 1 else { throw .notATerminal("standard input") }
    guard isatty(output) == 1 else { throw .notATerminal("standard output") }
    let failure = cterminal_install(input, output)
    guard failure == 0 else { throw .system(String(cString: strerror(failure))) }
    begin()
  }

  private func begin() {
    hasKeyRelease = false
    parser = InputParser()
    var settings = termios()
    tcgetattr(input, &settings)
    cfmakeraw(&settings)
    tcsetattr(input, TCSANOW, &settings)
    prepareRestoring()
    cterminal_set_active(1)
    write(Self.startModes)
  }

  private func prepareRestoring() {
    let bytes = Array(((hasKeyRelease ? Self.endKeyboard : "") + Self.endModes + "\r\n").utf8)
    bytes.withUnsafeBytes { cterminal_set_bytes($0.baseAddress, $0.count) }
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

  // MARK: Output

  /// Adds lines, above the one that is being typed.
  public func say(_ lines: [String]) {
    guard !lines.isEmpty, !isClosed else { return }
    write((hasEntry ? "\r\u{1B}[K" : "") + lines.map { $0 + "\r\n" }.joined())
    hasEntry = false
  }

  /// Shows the line that is being typed, with the cursor before its character of this number; nil: none is. A letter at the
  /// end is written alone.
  public func show(_ entry: (sign: String, text: String, cursor: Int)?) {
    guard !isClosed else { return }
    guard let entry else {
      if hasEntry { write("\r\n") }
      (hasEntry, shown) = (false, "")
      return
    }
    let text = entry.sign + entry.text
    let behind = entry.text.count - entry.cursor
    if hasEntry, text.hasPrefix(shown), behind == 0, wasAtEnd {
      write(String(text.dropFirst(shown.count)))
    } else if !hasEntry || text != shown || behind != 0 || !wasAtEnd {
      let back = behind > 0 ? "\u{1B}[\(DisplayWidth.of(entry.text.suffix(behind)))D" : ""
      write("\r" + text + "\u{1B}[K" + back)
    }
    (hasEntry, shown, wasAtEnd) = (true, text, behind == 0)
  }

  private var shown = ""
  private var wasAtEnd = true

  /// Puts a text into the clipboard, where the terminal lets programs do so (OSC 52).
  public func copy(_ text: String) {
    guard !isClosed else { return }
    write("\u{1B}]52;c;\(Base64.text(Array(text.utf8)))\u{7}")
  }

  // MARK: Ends

  /// Restores the terminal. No other method may be called afterwards. May be called twice.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    cterminal_remove()
  }

  /// Restores the terminal and ends the process by the signal, as the parent expects.
  public func end(by signalNumber: Int32) -> Never {
    close()
    cterminal_die(signalNumber)
  }

  /// The effect of ctrl-z elsewhere.
  public func suspend() {
    queued.append(.focus(false))
    beforeStop()
    cterminal_restore()
    cterminal_stop()
    begin()
    afterStop()
  }

  // MARK: Input

  /// Hands over what the user does, whenever `loop` runs.
  public func listen(on loop: EventLoop, _ take: @escaping ([InputEvent]) -> Void) {
    func handOver() {
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
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(input, &buffer, buffer.count)
      if count > 0 {
        accept(parser.feed(buffer[..<count]))
        patience.due = parser.isPending || parser.isPasting ? EventLoop.now() + Self.escapeDelay : nil
      } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
        queued.append(.terminate(signal: SIGHUP))
        loop.forget(input)
      }
      handOver()
    }
    loop.watch(cterminal_wake_descriptor()) { [self] in
      let signals = cterminal_take_signals()
      func has(_ signal: Int32) -> Bool { signals & 1 << UInt64(signal) != 0 }
      for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] where has(signal) {
        queued.append(.terminate(signal: signal))
      }
      if has(SIGTSTP) {
        suspend()
      } else if has(SIGCONT) {
        queued.append(.focus(false))
        cterminal_restore()
        begin()
      }
      handOver()
    }
  }

  private func accept(_ items: [InputParser.Item]) {
    for item in items {
      switch item {
      case .event(let event): queued.append(event)
      case .keyboardFlags:
        guard !hasKeyRelease else { continue }
        hasKeyRelease = true
        prepareRestoring()
        write(Self.startKeyboard)
      case .mode, .deviceAttributes: break
      }
    }
  }
}

import CTerminal
import Glibc
import Loop
import Screen

/// A terminal as a roll of lines: text below text, and one line that is being typed. Keys come one by one, as from
/// `Terminal`, of which there is none at the same time. Nothing is drawn over, so that a screen reader tells what comes.
/// Main thread.
@MainActor public final class LineTerminal {
  /// Key releases are reported.
  public var hasKeyRelease: Bool { line.hasKeyRelease }
  private let line: TerminalLine
  /// The typed line stands in the last row.
  private var hasEntry = false
  /// It gets ASCII alone.
  private let isPlain: Bool

  private static let startModes = "\u{1B}[?2004h\u{1B}[?1004h\u{1B}[?u\u{1B}[c"
  private static let endModes = "\u{1B}[?2004l\u{1B}[?1004l"

  /// Takes over the terminal at standard input and output. `isPlain`: it gets ASCII alone, whatever it could show.
  public init(isPlain: Bool = false, stop: StopWork = StopWork()) throws(TerminalError) {
    let name = getenv("TERM").map { String(cString: $0) } ?? ""
    self.isPlain = !CharacterSet.chooseUnicode(terminal: name) || isPlain
    line = try TerminalLine(stop: stop)
    line.resume = { [unowned self] in begin() }
    begin()
  }

  private func begin() {
    var settings = termios()
    tcgetattr(line.input, &settings)
    cfmakeraw(&settings)
    tcsetattr(line.input, TCSANOW, &settings)
    line.begin(ending: Self.endModes + "\r\n")
    line.write(Self.startModes)
  }

  // MARK: Output

  /// Adds lines, above the one that is being typed. What is wider than the terminal goes on in the next row, with a whole word.
  public func say(_ lines: [String]) {
    guard !lines.isEmpty, !line.isClosed else { return }
    let columns = columns
    let rows = lines.flatMap { DisplayWidth.rows(of: shown($0), columns: columns) }
    line.write((hasEntry ? "\r\u{1B}[K" : "") + rows.map { $0 + "\r\n" }.joined())
    hasEntry = false
  }

  private func shown(_ text: String) -> String { isPlain ? text.plain : text }

  /// Columns of the terminal; as good as endless where it does not tell.
  private var columns: Int {
    var size = winsize()
    return ioctl(line.output, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : .max
  }

  /// Shows the line that is being typed, with the cursor before its character of this number; nil: none is. A letter at the
  /// end is written alone.
  public func show(_ entry: (sign: String, text: String, cursor: Int)?) {
    guard !line.isClosed else { return }
    guard let entry else {
      if hasEntry { line.write("\r\n") }
      (hasEntry, written) = (false, "")
      return
    }
    let text = shown(entry.sign + entry.text)
    let behind = entry.text.count - entry.cursor
    if hasEntry, text.hasPrefix(written), behind == 0, wasAtEnd {
      line.write(String(text.dropFirst(written.count)))
    } else if !hasEntry || text != written || behind != 0 || !wasAtEnd {
      let back = behind > 0 ? "\u{1B}[\(DisplayWidth.of(shown(String(entry.text.suffix(behind)))))D" : ""
      line.write("\r" + text + "\u{1B}[K" + back)
    }
    (hasEntry, written, wasAtEnd) = (true, text, behind == 0)
  }

  private var written = ""
  private var wasAtEnd = true

  /// Puts a text into the clipboard, where the terminal lets programs do so (OSC 52).
  public func copy(_ text: String) { line.copy(text) }

  // MARK: Ends

  /// Restores the terminal. No other method may be called afterwards. May be called twice.
  public func close() { line.close() }

  /// Restores the terminal and ends the process by the signal, as the parent expects.
  public func end(by signalNumber: Int32) -> Never {
    close()
    cterminal_die(signalNumber)
  }

  /// The effect of ctrl-z elsewhere.
  public func suspend() { line.suspend() }

  /// Hands over what the user does, whenever `loop` runs.
  public func listen(on loop: EventLoop, _ take: @escaping ([InputEvent]) -> Void) {
    line.listen(on: loop, take)
  }
}

import CTerminal
import Glibc
import Loop
import Screen

/// Work around a stop of the process, as by ctrl-z.
public struct StopWork {
  let before: () -> Void
  let after: () -> Void

  /// `before`: done before the process is stopped; `after`: when it goes on.
  public init(before: @escaping () -> Void = {}, after: @escaping () -> Void = {}) {
    (self.before, self.after) = (before, after)
  }
}

/// The line to the terminal at standard input and output: bytes out; keys, signals and answers in. There is one at a time, and
/// on every way out of the program the terminal is put back as it was. Main thread.
@MainActor final class TerminalLine {
  let input = STDIN_FILENO
  let output = STDOUT_FILENO
  /// Key releases are reported: the kitty keyboard protocol, which tmux and others lack.
  private(set) var hasKeyRelease = false
  private(set) var isClosed = false
  private let stop: StopWork
  /// Takes the terminal over again after a stop.
  var resume: () -> Void = {}
  /// The size has changed.
  var resize: () -> Void = {}
  /// Takes what the terminal answers besides.
  var answer: (InputParser.Item) -> Void = { _ in }

  private var parser = InputParser()
  /// Ends the wait for the rest of an incomplete sequence.
  private var patience: EventLoop.Timer?
  private var queued: [InputEvent] = []
  /// Bytes that put the terminal back, besides those for its keyboard.
  private var ending = ""

  /// Nanoseconds after which a lone escape byte counts as the key: longer than a slow line takes for the
  /// rest of a sequence, shorter than anyone notices.
  private static let escapeDelay: Int64 = 40_000_000
  /// Nanoseconds of pause after which a paste counts as ended.
  private static let pasteDelay: Int64 = 2_000_000_000
  /// Flags 1, 2, 8: every key as a sequence, with releases; 4 and 16: with its physical position and its
  /// text, which flag 8 would omit.
  private static let startKeyboard = "\u{1B}[>31u"
  private static let endKeyboard = "\u{1B}[<u"

  init(stop: StopWork) throws(TerminalError) {
    self.stop = stop
    guard isatty(input) == 1 else { throw .notATerminal("standard input") }
    guard isatty(output) == 1 else { throw .notATerminal("standard output") }
    let failure = cterminal_install(input, output)
    guard failure == 0 else { throw .system(String(cString: strerror(failure))) }
  }

  /// The terminal is in its own state, and `ending` puts it back. It may be another one than before a stop.
  func begin(ending: String) {
    hasKeyRelease = false
    parser = InputParser()
    patience?.due = nil
    self.ending = ending
    prepareRestoring()
    cterminal_set_active(1)
  }

  /// Tells the signal handlers which bytes to write. The keyboard flags belong to the alternate screen, so
  /// they are reset before leaving it.
  private func prepareRestoring() {
    // CAN cancels a sequence that was cut short.
    let bytes = Array(("\u{18}" + (hasKeyRelease ? Self.endKeyboard : "") + ending).utf8)
    bytes.withUnsafeBytes { cterminal_set_bytes($0.baseAddress, $0.count) }
  }

  // MARK: Output

  func write(_ text: String) { write(Array(text.utf8)) }

  /// False when the terminal does not take all of it.
  @discardableResult func write(_ bytes: [UInt8]) -> Bool {
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

  /// Puts a text into the clipboard, where the terminal lets programs do so (OSC 52).
  func copy(_ text: String) {
    guard !isClosed else { return }
    write("\u{1B}]52;c;\(Base64.text(Array(text.utf8)))\u{7}")
  }

  // MARK: Ends

  /// Restores the terminal; false when it has been restored before.
  @discardableResult func close() -> Bool {
    guard !isClosed else { return false }
    isClosed = true
    cterminal_remove()
    return true
  }

  /// The effect of ctrl-z elsewhere: restores the terminal and stops until the shell continues the process.
  func suspend() {
    // Keys that are let go meanwhile are told to the shell.
    queue(.focus(false))
    stop.before()
    cterminal_restore()
    cterminal_stop()
    resume()
    stop.after()
  }

  // MARK: Input

  func queue(_ event: InputEvent) { queued.append(event) }

  /// Hands over what the user does, whenever `loop` runs: several events in the order of the keys.
  func listen(on loop: EventLoop, _ take: @escaping ([InputEvent]) -> Void) {
    func handOver() {
      // Suspending within `take` queues a further event.
      while !queued.isEmpty {
        let events = queued
        queued = []
        take(events)
      }
    }
    patience = loop.timer { [self] _ in
      accept(parser.flush(endingPaste: parser.isPasting))
      handOver()
      return nil
    }
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
      let delay = parser.isPasting ? Self.pasteDelay : Self.escapeDelay
      patience?.due = parser.isPending || parser.isPasting ? EventLoop.now() + delay : nil
    } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
      queue(.terminate(signal: SIGHUP))
      return false
    }
    return true
  }

  private func takeSignals() {
    let signals = cterminal_take_signals()
    func has(_ signal: Int32) -> Bool { signals & 1 << UInt64(signal) != 0 }
    for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] where has(signal) { queue(.terminate(signal: signal)) }
    if has(SIGTSTP) {
      suspend()
    } else if has(SIGCONT) {
      // Stopped by a signal that cannot be caught: the terminal's contents and modes are unknown.
      queue(.focus(false))
      cterminal_restore()
      resume()
    } else if has(SIGWINCH) {
      resize()
    }
  }

  private func accept(_ items: [InputParser.Item]) {
    for item in items {
      switch item {
      case .event(let event): queue(event)
      case .keyboardFlags:
        guard !hasKeyRelease else { continue }
        hasKeyRelease = true
        prepareRestoring()
        write(Self.startKeyboard)
      case .mode, .deviceAttributes: answer(item)
      }
    }
  }
}

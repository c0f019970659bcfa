import Glibc
import Loop
import Screen
import Terminal
import Testing

/// A loop that hears the terminal.
@MainActor private final class Ear {
  let loop = EventLoop()
  private var events: [InputEvent] = []

  init(_ terminal: Terminal) { terminal.listen(on: loop) { [unowned self] in events += $0 } }

  /// What comes in one turn of the loop.
  func hear(atMost nanoseconds: Int64? = nil) throws -> [InputEvent] {
    try loop.turn(atMost: nanoseconds)
    defer { events = [] }
    return events
  }
}

/// The whole terminal layer in a process of its own, on a terminal played by the test.
@Suite(.serialized) struct TerminalTests {
  private static let question = "\u{1B}[c"
  /// Answers of a terminal with the kitty keyboard protocol and synchronised output, and of one without.
  private static let able = "\u{1B}[?0u\u{1B}[?2026;2$y\u{1B}[?62c"
  private static let plain = "\u{1B}[?2026;0$y\u{1B}[?1;2c"

  /// In the child: sends a signal to this thread at once. The main actor runs on a thread that blocks
  /// signals.
  private static func send(_ signal: Int32) {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, signal)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(signal)
  }

  /// In the child: takes over the terminal, and waits for its answers.
  @MainActor private static func open(_ path: String, term: String = "xterm-256color") throws -> Terminal {
    let descriptor = Glibc.open(path, O_RDWR)
    dup2(descriptor, 0)
    dup2(descriptor, 1)
    setenv("TERM", term, 1)
    setenv("SWIFT_BACKTRACE", "enable=no", 1)
    unsetenv("NO_COLOR")
    // A test run in the background may have inherited ignored signals.
    for ending in [SIGINT, SIGQUIT, SIGHUP, SIGTERM] { signal(ending, SIG_DFL) }
    let terminal = try Terminal()
    let ear = Ear(terminal)
    while !terminal.capabilities.isAnswered { _ = try ear.hear() }
    var canvas = Canvas(columns: terminal.columns, rows: terminal.rows)
    canvas.put("hello 日本", at: Point(1, 1))
    terminal.draw(canvas, theme: .dark)
    return terminal
  }

  /// Sequences that every exit must write, in this order, as the last output.
  private func expectRestored(_ text: String, keyboard: Bool, at location: SourceLocation = #_sourceLocation)
  {
    let ending = text.components(separatedBy: "\u{18}").last ?? ""
    var wanted = keyboard ? ["\u{1B}[<u"] : []
    wanted += [
      "\u{1B}[?2026l", "\u{1B}[?1006l", "\u{1B}[?1002l", "\u{1B}[?2004l", "\u{1B}[?1004l", "\u{1B}[?1049l",
    ]
    var rest = Substring(ending)
    for part in wanted {
      guard let found = rest.firstRange(of: part) else {
        Issue.record("no \(part.debugDescription) in \(ending.debugDescription)", sourceLocation: location)
        return
      }
      rest = rest[found.upperBound...]
    }
    #expect(
      ending.contains("\u{1B}[?25h") || ending.contains("\u{1B}[?12l\u{1B}[?25h"), sourceLocation: location)
    #expect(text.contains("hello 日本"), sourceLocation: location)
    #expect(text.contains("\u{1B}[>31u") == keyboard, sourceLocation: location)
  }

  @Test func closingRestores() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.able)]))
    let before = outside.modes
    await #expect(processExitsWith: .success) { [path = outside.path as String] in
      try await MainActor.run {
        let terminal = try Self.open(path)
        precondition(terminal.capabilities.hasKeyRelease && terminal.capabilities.hasSynchronizedOutput)
        precondition(terminal.capabilities.colors >= .colors256)
        terminal.close()
        terminal.close()
      }
      exit(0)
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: true)
  }

  @Test func exitingRestoresAndAPlainTerminalIsReportedAsSuch() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.plain)]))
    let before = outside.modes
    await #expect(processExitsWith: .exitCode(3)) { [path = outside.path as String] in
      try await MainActor.run {
        let terminal = try Self.open(path)
        precondition(!terminal.capabilities.hasKeyRelease && !terminal.capabilities.hasSynchronizedOutput)
      }
      exit(3)
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: false)
  }

  @Test(arguments: [SIGSEGV, SIGABRT, SIGILL, SIGBUS, SIGFPE, SIGTRAP])
  func aCrashRestores(_ signal: Int32) async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.able)]))
    let before = outside.modes
    await #expect(processExitsWith: .signal(signal)) {
      [path = outside.path as String, signal = signal as Int32] in
      try await MainActor.run {
        // A run that shows the stack of crashes has a handler of its own.
        Glibc.signal(signal, SIG_DFL)
        _ = try Self.open(path)
        Self.send(signal)
      }
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: true)
  }

  @Test func aRealFaultRestores() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.able)]))
    let before = outside.modes
    await #expect(processExitsWith: .signal(SIGSEGV)) { [path = outside.path as String] in
      try await MainActor.run {
        _ = try Self.open(path)
        UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
      }
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: true)
  }

  @Test func whatLibrariesWriteWhileTheScreenIsOnIsShownBehindIt() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.able)]))
    await #expect(processExitsWith: .success) { [path = outside.path as String] in
      try await MainActor.run {
        dup2(Glibc.open(path, O_RDWR), 2)
        let terminal = try Self.open(path)
        for text in ["a library's words\n", String(repeating: "x", count: 100_000), "too much\n"] {
          // More than there is room for is lost, and nobody waits.
          _ = text.withCString { write(2, $0, strlen($0)) }
        }
        terminal.close()
        _ = "afterwards\n".withCString { write(2, $0, strlen($0)) }
      }
      exit(0)
    }
    let text = outside.finish()
    let parts = text.components(separatedBy: "\u{1B}[?1049l")
    #expect(parts.count == 2)
    #expect(!parts[0].contains("library"))
    #expect(parts.last?.contains("a library's words") == true)
    #expect(parts.last?.contains("afterwards") == true)
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT])
  func aSignalToEndIsAnEventAndThenTheEnd(_ signal: Int32) async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.plain)]))
    let before = outside.modes
    await #expect(processExitsWith: .signal(signal)) {
      [path = outside.path as String, signal = signal as Int32] in
      try await MainActor.run {
        let terminal = try Self.open(path)
        let ear = Ear(terminal)
        Self.send(signal)
        while true {
          for case .terminate(let heard) in try ear.hear() { terminal.end(by: heard) }
        }
      }
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: false)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [SIGTERM, SIGINT, SIGHUP])
  func oneSignalEndsAProgramThatHangs(_ signal: Int32) async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.plain)]))
    let before = outside.modes
    await #expect(processExitsWith: .signal(signal)) {
      [path = outside.path as String, signal = signal as Int32] in
      try await MainActor.run {
        // A run that shows the stack of crashes has a handler of its own.
        Glibc.signal(signal, SIG_DFL)
        _ = try Self.open(path)
        Self.send(signal)
        while true { pause() }
      }
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: false)
  }

  @Test func aSecondSignalEndsAProgramThatHangs() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.able)]))
    let before = outside.modes
    await #expect(processExitsWith: .signal(SIGTERM)) { [path = outside.path as String] in
      try await MainActor.run {
        _ = try Self.open(path)
        Self.send(SIGTERM)
        Self.send(SIGTERM)
      }
    }
    #expect(outside.modes == before)
    expectRestored(outside.finish(), keyboard: true)
  }

  @Test func keysArriveWithTheirReleasesAndALoneEscapeIsTheKey() async throws {
    let outside = try #require(
      PseudoTerminal(answers: [
        (Self.question, Self.able), ("\u{1B}[>31u", "é\u{1B}[122;1;122u\u{1B}[122;1:3u\u{1B}[<0;3;4M\u{1B}"),
      ]))
    await #expect(processExitsWith: .exitCode(0)) { [path = outside.path as String] in
      try await MainActor.run {
        let terminal = try Self.open(path)
        let wanted: [InputEvent] = [
          .key(KeyStroke("é")), .key(KeyStroke("z")), .key(KeyStroke("z", .release)),
          .mouse(MouseEvent(.press, .left, at: Point(2, 3))), .key(KeyStroke("esc")),
        ]
        var heard: [InputEvent] = []
        let ear = Ear(terminal)
        while heard.count < wanted.count { heard += try ear.hear(atMost: 5_000_000) }
        terminal.close()
        exit(heard == wanted ? 0 : 1)
      }
    }
    _ = outside.finish()
  }

  @Test func otherDescriptorsWakeIt() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.plain)]))
    await #expect(processExitsWith: .exitCode(0)) { [path = outside.path as String] in
      try await MainActor.run {
        let terminal = try Self.open(path)
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0)
        let ear = Ear(terminal)
        var isReadable = false
        ear.loop.watch(ends[0]) { isReadable = true }
        let early = try ear.hear(atMost: 0)
        precondition(early.isEmpty && !isReadable)
        write(ends[1], "x", 1)
        while !isReadable { _ = try ear.hear() }
        terminal.close()
        exit(0)
      }
    }
    _ = outside.finish()
  }

  @Test func anySizeIsSafe() async throws {
    let outside = try #require(PseudoTerminal(answers: [(Self.question, Self.able)]))
    await #expect(processExitsWith: .exitCode(0)) { [path = outside.path as String] in
      try await MainActor.run {
        let terminal = try Self.open(path)
        let ear = Ear(terminal)
        for (columns, rows) in [(1, 1), (300, 2), (2, 100), (20, 5), (1, 50), (500, 200), (1, 1), (80, 24)] {
          var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
          _ = ioctl(0, UInt(TIOCSWINSZ), &size)
          Self.send(SIGWINCH)
          let events = try ear.hear()
          precondition(events.contains(.resize(columns: columns, rows: rows)))
          precondition(terminal.columns == columns && terminal.rows == rows)
          // Canvases of the terminal's size and of other sizes: the view may have been drawn before a resize
          // was known.
          for (width, height) in [(columns, rows), (80, 24), (0, 0), (columns + 1, rows + 1)] {
            var canvas = Canvas(columns: width, rows: height)
            canvas.box(canvas.bounds)
            for row in 0..<height { canvas.put("日本語e\u{301}😀", at: Point(row % 7, row)) }
            canvas.placeCursor(at: Point(width - 1, height - 1))
            terminal.draw(canvas, theme: .light)
          }
        }
        terminal.close()
        exit(0)
      }
    }
    _ = outside.finish()
  }

  @Test(arguments: ["dumb", "no-such-terminal", ""])
  func terminalsThatCannotDoAreRefusedInWords(_ name: String) async throws {
    let outside = try #require(PseudoTerminal(answers: []))
    let before = outside.modes
    await #expect(processExitsWith: .exitCode(0)) { [path = outside.path as String, name = name as String] in
      await MainActor.run {
        do {
          _ = try Self.open(path, term: name)
          exit(1)
        } catch {
          exit("\(error)".contains("TERM=xterm-256color") ? 0 : 2)
        }
      }
    }
    #expect(outside.modes == before)
    _ = outside.finish()
  }
}

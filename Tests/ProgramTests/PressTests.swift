import Foundation
import TestSupport
import Testing

/// The piano in the real program on a real terminal that reports releases, or none: ten thousand presses, with held
/// keys that repeat, lost focus, other sizes, views, layouts and octaves, Ctrl-Z and `fg`. A take's journal tells which notes
/// began and ended.
@Suite(.serialized) struct PressTests {
  @Test(arguments: [false, true]) func noNoteHangsAfterTenThousandPresses(reportsReleases: Bool) throws {
    let folder = try Folder()
    let patch = try folder.file(
      "keys.patch",
      "sostenuto 1\nnode keys keyboard\nnode piano sampler\nconnect keys -> piano\nnode out output\nconnect piano -> out\n"
    )
    let terminal = try KeyTerminal(
      ["/bin/bash", "--norc", "--noprofile", "-i"],
      ["TERM=xterm-256color", "LC_ALL=C.UTF-8", "HOME=\(folder.path)", "XDG_STATE_HOME=\(folder.path)"],
      reportsReleases: reportsReleases)
    terminal.send("'\(Program.path)' '\(patch)' --driver clock\r")
    try terminal.wait(for: "voices")
    terminal.send(":record piano \(folder.path)/take.wav\r")
    try terminal.wait(for: "recording")
    terminal.send("p")
    try terminal.wait(for: "PLAY")
    var hand = Hand(terminal, seed: reportsReleases ? 1 : 2)
    for part in 1...100 {
      for _ in 0..<100 { hand.press() }
      if part % 20 == 0 {
        hand.stopAndGoOn()
        try terminal.wait(for: "Stopped")
        terminal.send("fg\r")
        // The answer to what it asks must not come to the shell when it stops again.
        try terminal.wait(for: "\u{1B}[c")
        terminal.flush()
        try terminal.wait(for: "PLAY")
      } else {
        try hand.disturb()
      }
    }
    try hand.end()
    if !reportsReleases {
      // Gated notes end by themselves; the pedal is up.
      if !hand.isGated { terminal.send("/") }
      try terminal.wait(for: "none")
    }
    terminal.send("\u{1B}")
    try terminal.wait(for: "PATCH")
    terminal.send(":tempo 99\r")
    try terminal.wait(for: "tempo 99")
    terminal.send(":quit!\r")
    // It leaves the terminal's other screen.
    try terminal.wait(for: "\u{1B}[?1049l")
    terminal.send("exit\r")
    #expect(terminal.end() == 0)
    let journal = try String(contentsOfFile: folder.path + "/take.journal", encoding: .utf8)
    let lines = journal.split(separator: "\n").map { $0.split(separator: " ") }
    let mark = try #require(lines.firstIndex { $0.dropFirst(2).elementsEqual(["edit", "tempo", "99"]) })
    var sounding: Set<Substring> = []
    var begun = 0
    // `at FRAME event NODE TYPE CHANNEL KEY …`; 0 begins a note, 1 ends one.
    for words in lines[..<mark] where words.count > 6 && words[2] == "event" {
      if words[4] == "0" {
        sounding.insert(words[6])
        begun += 1
      } else if words[4] == "1" {
        sounding.remove(words[6])
      }
    }
    #expect(begun > 5000, "\(begun) notes began")
    #expect(sounding.isEmpty, "\(sounding.sorted()) hang")
  }
}

/// Fingers on the rows of the piano.
private struct Hand {
  private let terminal: KeyTerminal
  private var random: SeededGenerator
  private var down: [Character] = []
  /// Notes end by themselves.
  private(set) var isGated = false
  private var layout = "qwerty"
  private static let places = Array("zsxdcvgbhnjmq2w3er5t6y7u")

  init(_ terminal: KeyTerminal, seed: UInt64) {
    self.terminal = terminal
    random = SeededGenerator(seed: seed)
  }

  /// 1: pressed, 2: repeated, 3: let go. `modifiers`: one more than the sum of their bits.
  private func send(_ place: Character, _ action: Int, modifiers: Int = 1) {
    guard terminal.reportsReleases else {
      if action < 3 { terminal.put(String(place)) }
      return
    }
    let scalar = place.unicodeScalars.first?.value ?? 0
    terminal.put("\u{1B}[\(scalar);\(modifiers):\(action)u")
  }

  /// Presses a key, after the one held last has repeated some times and others have been let go.
  mutating func press() {
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      if let held = down.last { send(held, 2) }
    }
    while !down.isEmpty, down.count > 6 || Bool.random(using: &random) {
      let place = down.remove(at: Int.random(in: 0..<down.count, using: &random))
      // A finger may be on Shift, Alt or Caps Lock by now.
      send(place, 3, modifiers: [1, 1, 1, 2, 3, 65].randomElement(using: &random) ?? 1)
    }
    let place = Self.places.filter { !down.contains($0) }.randomElement(using: &random) ?? "z"
    down.append(place)
    send(place, 1)
  }

  /// Something that happens while keys are held.
  mutating func disturb() throws {
    terminal.flush()
    switch Int.random(in: 0..<7, using: &random) {
    case 0:
      // The terminal's other windows, in which keys are let go.
      terminal.send("\u{1B}[O")
      forget()
      terminal.send("\u{1B}[I")
    case 1:
      terminal.resize(
        columns: Int.random(in: 70...140, using: &random), rows: Int.random(in: 20...50, using: &random))
    case 2:
      // Matrix, trace, history, scope, graph.
      terminal.send(["\u{1B}OS", "\u{1B}[15~", "\u{1B}[24~", "\u{1B}OQ"].randomElement(using: &random) ?? "")
    // These are notes of the isomorphic layout.
    case 3 where layout == "qwerty":
      terminal.send("/")
      if !terminal.reportsReleases { isGated.toggle() }
    case 4 where layout == "qwerty": terminal.send(Bool.random(using: &random) ? "[" : "]")
    case 5: try change(to: nil)
    default:
      try change(to: ["qwertz", "azerty", "dvorak", "isomorphic", "qwerty"].randomElement(using: &random))
    }
  }

  /// Leaves play mode, chooses a layout there, and enters it again.
  private mutating func change(to other: String?) throws {
    try leave()
    if let other {
      terminal.send(":piano \(other)\r")
      try terminal.wait(for: other)
      layout = other
    }
    terminal.send("p")
    try terminal.wait(for: "PLAY")
  }

  /// Leaves play mode, and lets go of some keys outside of it.
  private mutating func leave() throws {
    terminal.send("\u{1B}")
    try terminal.wait(for: "PATCH")
    guard terminal.reportsReleases else { return }
    for _ in 0..<Int.random(in: 0...3, using: &random) where !down.isEmpty { send(down.removeLast(), 3) }
    terminal.flush()
  }

  /// Keys let go where the program is not told.
  mutating func forget() { down = [] }

  mutating func stopAndGoOn() {
    // The finger that presses z with Ctrl has let it go before.
    if let place = down.firstIndex(of: "z") { send(down.remove(at: place), 3) }
    terminal.put(terminal.reportsReleases ? "\u{1B}[122;5:1u" : "\u{1A}")
    forget()
    terminal.flush()
  }

  mutating func end() throws {
    for place in down { send(place, 3) }
    forget()
    terminal.flush()
    try change(to: "qwerty")
  }
}

/// A terminal of 80 by 24 that the test plays itself: it answers what the program asks for, and has what it wrote.
private final class KeyTerminal {
  let reportsReleases: Bool
  private let master: Int32
  private var process: pid_t = 0
  private var written = ""
  /// Where the next wait begins.
  private var seen: String.Index
  private var outgoing: [UInt8] = []

  init(_ words: [String], _ variables: [String], reportsReleases: Bool) throws {
    self.reportsReleases = reportsReleases
    seen = written.startIndex
    // Swift does not see glibc's own functions for this, because of feature macros.
    master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard master >= 0, ioctl(master, 0x4004_5431, &locked) == 0,  // TIOCSPTLCK
      ioctl(master, 0x8004_5430, &number) == 0  // TIOCGPTN
    else { throw CancellationError() }
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    guard ioctl(master, UInt(TIOCSWINSZ), &size) == 0 else { throw CancellationError() }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // Of a session of its own, the first terminal that it opens is the controlling one.
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/pts/\(number)", O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    // What a runner of tests ignores, a shell would ignore, too.
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    // The last one is POSIX_SPAWN_SETSID.
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | 0x80)
    func list(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] { texts.map { strdup($0) } + [nil] }
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let (arguments, environment) = (list(words), list(variables + ["PATH=\(path)"]))
    defer { for text in arguments + environment { free(text) } }
    guard posix_spawn(&process, words[0], &actions, &attributes, arguments, environment) == 0 else {
      throw CancellationError()
    }
  }

  func resize(columns: Int, rows: Int) {
    var size = winsize(ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
  }

  deinit {
    if process > 0 {
      kill(-process, SIGKILL)
      waitpid(process, nil, 0)
    }
    close(master)
  }

  /// Bytes of keys, to be sent by `flush`.
  func put(_ text: String) { outgoing += Array(text.utf8) }

  func send(_ text: String) {
    put(text)
    flush()
  }

  /// Sends all keys, and takes meanwhile what the program writes.
  func flush() {
    while !outgoing.isEmpty { pump(milliseconds: 1000) }
  }

  /// Waits until words have been written since the last wait.
  func wait(for words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let deadline = Date().addingTimeInterval(120)
    while Date() < deadline {
      if let found = written.range(of: words, range: seen..<written.endIndex) {
        seen = found.upperBound
        return
      }
      guard pump(milliseconds: 1000) else { break }
    }
    Issue.record(
      "`\(words)` was not written: \(written[seen...].suffix(600))", sourceLocation: sourceLocation)
    throw CancellationError()
  }

  /// The exit status, when it has ended.
  func end() -> Int32 {
    while pump(milliseconds: 1000) {}
    var status: Int32 = 0
    waitpid(process, &status, 0)
    process = 0
    return status >> 8 & 0xFF
  }

  /// Sends and takes what there is; false when the program has ended.
  @discardableResult private func pump(milliseconds: Int32) -> Bool {
    var ready = pollfd(fd: master, events: Int16(POLLIN | (outgoing.isEmpty ? 0 : POLLOUT)), revents: 0)
    poll(&ready, 1, milliseconds)
    if ready.revents & Int16(POLLIN) != 0 {
      var buffer = [UInt8](repeating: 0, count: 65536)
      let count = read(master, &buffer, buffer.count)
      let reason = errno
      if count <= 0 {
        if count < 0, reason == EAGAIN || reason == EINTR { return true }
        written += "(read \(count), error \(reason))"
        return false
      }
      take(String(decoding: buffer[..<count], as: UTF8.self))
    } else if ready.revents & Int16(POLLHUP | POLLERR) != 0 {
      written += "(events \(ready.revents))"
      return false
    }
    if ready.revents & Int16(POLLOUT) != 0 {
      let count = write(master, outgoing, min(outgoing.count, 512))
      if count > 0 { outgoing.removeFirst(count) }
    }
    return true
  }

  private func take(_ text: String) {
    // Colours and moves of the cursor stand between the letters of what is seen.
    written += text
    if written.utf8.count > 200_000 {
      let rest = String(written[seen...].suffix(50_000))
      written = rest
      seen = written.startIndex
    }
    // The program asks for the keyboard and then for the terminal, at the start and after each stop.
    for _ in text.components(separatedBy: "\u{1B}[c").dropFirst() {
      put((reportsReleases ? "\u{1B}[?0u" : "") + "\u{1B}[?62c")
    }
  }
}

import Drivers
import Engine
import Glibc
import Session

/// Times one session with a patch of many nodes (`make bench-scale`): prints a name, a tab and milliseconds of processor time
/// a line. The arguments are the number of nodes, a path for the patch, and its form: `groups` by default, `chain`, `sum`,
/// `web`, `latent`, `loops`.
@main @MainActor enum Scale {
  static func main() throws {
    guard CommandLine.arguments.count >= 3, let count = Int(CommandLine.arguments[1]) else {
      fatalError("Scale NODES PATH [FORM]")
    }
    let path = CommandLine.arguments[2]
    let form = CommandLine.arguments.count > 3 ? CommandLine.arguments[3] : "groups"
    write(form == "groups" ? patch(of: count) : patch(of: count, form), to: path)
    let before = memory()
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    options.driver.period = 64
    let session = Session(options: options)
    try time("open") { try session.open(path) }
    try time("first block") { try render(session, blocks: 1) }
    print("memory\t\(Double(memory() - before) / Double(count))")
    try time("steady block", of: 200) { try render(session, blocks: 200) }
    _ = session.report
    time("report", of: 10) {
      for _ in 0..<10 {
        session.refreshReport()
        _ = session.report
      }
    }

    for (name, lines) in form == "groups" ? edits(in: count) : edits(in: count, form) {
      var sum = 0.0
      let rounds = 5
      for round in 0..<rounds * lines.count {
        let start = now()
        try session.perform(lines[round % lines.count])
        sum += now() - start
        // Crossfades end, so that each edit meets a graph at rest.
        try render(session, blocks: 40)
        if round % lines.count == lines.count - 1 { session.engine.collect() }
      }
      print("\(name)\t\(sum / Double(rounds * lines.count) * 1000)")
    }
    if form == "groups" { try undoes(session, edits: 1000) }
    unlink(path)
  }

  /// A line, and the one that takes it back.
  private static func edits(in count: Int) -> [(String, [String])] {
    [
      ("set", ["set g0_2.gain -1dB", "set g0_2.gain 0.5dB"]),
      ("connect, disconnect", ["connect g0_1 -> g0_4", "disconnect g0_1 -> g0_4"]),
      ("add, remove", ["node more gain", "remove more"]),
      ("insert", ["insert between gain into g0_2 -> g0_3", "undo"]),
      ("replace", ["replace g0_3 filter", "replace g0_3 gain"]),
      ("undo, redo", ["undo", "redo"]),
    ]
  }

  /// The same for the other forms, at several places.
  private static func edits(in count: Int, _ form: String) -> [(String, [String])] {
    let places = [count / 2, 7, count - 9, count / 3].map { $0 / 3 * 3 + 1 }
    func lines(_ body: (Int) -> [String]) -> [String] { places.flatMap(body) }
    let hub = form == "sum" ? "sum" : "n\(count / 2 + 2)"
    return [
      ("set", lines { ["set n\($0).gain -1dB", "set n\($0).gain 0.5dB"] }),
      ("connect, disconnect", lines { ["connect n\($0) -> out", "disconnect n\($0) -> out"] }),
      (
        "connect to a far node",
        lines { ["connect lone\($0 % 2) -> n\($0)", "disconnect lone\($0 % 2) -> n\($0)"] }
      ),
      ("map", lines { ["connect n\($0) -> \(hub == "n\($0 + 1)" ? "out" : hub).in map=[0]", "undo"] }),
      ("add, remove", lines { ["node more gain ; connect n\($0) -> more", "remove more"] }),
      (
        "insert",
        lines {
          ["insert between gain into \(form == "sum" ? "n\($0) -> sum" : "n\($0) -> n\($0 + 1)")", "undo"]
        }
      ),
      ("remove, undo", lines { ["remove n\($0) bridge", "undo"] }),
      ("replace", lines { ["replace n\($0) filter", "replace n\($0) gain"] }),
      ("undo, redo", ["undo", "redo"]),
    ]
  }

  /// Gains in one chain; gains into one mixer; a web of gains with two cables each, and one in which every thousandth node is late;
  /// or short loops in a chain of gains.
  private static func patch(of count: Int, _ form: String) -> String {
    var text = "sostenuto 1\n\nnode tone oscillator freq=220Hz level=-60dB\n"
    for i in 0..<2 { text += "\nnode lone\(i) oscillator freq=\(300 + i)Hz level=-60dB\n" }
    var random: UInt64 = 88_172_645_463_325_252
    func next(_ bound: Int) -> Int {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(random >> 33) % bound
    }
    for i in 0..<count - 5 {
      let isLate = form == "latent" && i % 1000 == 500
      let kind = isLate ? "distortion oversample=2" : "gain gain=\(i % 2 == 0 ? 0.5 : -0.5)dB"
      text +=
        "\nnode n\(i) \(kind)\nconnect \(i == 0 || form == "sum" ? "tone" : "n\(i - 1)") -> n\(i)\n"
      if form == "web" || form == "latent", i > 1 {
        text += "connect n\(i - 2 - next(min(i - 1, 2000))) -> n\(i) gain=-20dB\n"
      }
      if form == "loops", i % 50 == 49 { text += "connect n\(i) -> n\(i - 4) gain=-40dB\n" }
    }
    if form == "sum" {
      text += "\nnode sum mix\n" + (0..<count - 5).map { "connect n\($0) -> sum\n" }.joined()
    }
    return text + "\nnode out output\nconnect \(form == "sum" ? "sum" : "n\(count - 6)") -> out gain=-20dB\n"
  }

  private static func undoes(_ session: Session, edits count: Int) throws {
    for edit in 0..<count {
      try session.perform("set g0_\(2 + edit % 3).gain \(Double(edit % 90) / -10 - 0.5)dB")
    }
    try time("undo of a thousand edits") { for _ in 0..<count { try session.undo() } }
  }

  /// Chains of a saw, a filter and gains on both sides of 0 dB, in groups of 48 nodes with a mixer each.
  private static func patch(of count: Int) -> String {
    var text = "sostenuto 1\n"
    var (made, group) = (0, 0)
    while made + 2 < count {
      let size = min(48, count - made - 2)
      var ends: [String] = []
      for i in 0..<size {
        let name = "g\(group)_\(i)"
        switch i % 6 {
        case 0:
          text += "\nnode \(name) oscillator shape=saw freq=\(55 + (group * 7 + i) % 400)Hz level=-60dB\n"
        case 1:
          text += "\nnode \(name) filter freq=\(900 + i)Hz q=1.3\nconnect g\(group)_\(i - 1) -> \(name)\n"
        default:
          text +=
            "\nnode \(name) gain gain=\(i % 2 == 0 ? 0.5 : -0.5)dB\nconnect g\(group)_\(i - 1) -> \(name)\n"
        }
        if i % 6 == 5 || i == size - 1 { ends.append(name) }
      }
      text += "\nnode m\(group) mix\n" + ends.map { "connect \($0) -> m\(group)\n" }.joined()
      made += size + 1
      group += 1
    }
    return text + "\nnode out output\n" + (0..<group).map { "connect m\($0) -> out\n" }.joined()
  }

  private static func render(_ session: Session, blocks: Int) throws {
    try OfflineRenderer(engine: session.engine, rate: session.engine.rate, period: 64, tracks: []).render(
      frames: Int64(64 * blocks))
  }

  /// Milliseconds of each of `count`.
  private static func time(_ name: String, of count: Int = 1, _ body: () throws -> Void) rethrows {
    let start = now()
    try body()
    print("\(name)\t\((now() - start) * 1000 / Double(count))")
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Bytes of the process that are in memory.
  private static func memory() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 200)
    guard fgets(&text, 200, file) != nil else { return 0 }
    let pages = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
      separator: " ")[1]
    return (Int(pages) ?? 0) * 4096
  }

  private static func write(_ text: String, to path: String) {
    guard let file = fopen(path, "w") else { fatalError("cannot write \(path)") }
    fputs(text, file)
    fclose(file)
  }
}

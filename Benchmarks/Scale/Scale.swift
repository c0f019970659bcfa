import Drivers
import Engine
import Glibc
import Session

/// Times one session with a patch of many nodes (`make bench-scale`): prints a name, a tab and milliseconds of processor time
/// a line. The arguments are the number of nodes and a path for the patch.
@main @MainActor enum Scale {
  static func main() throws {
    guard CommandLine.arguments.count == 3, let count = Int(CommandLine.arguments[1]) else {
      fatalError("Scale NODES PATH")
    }
    let path = CommandLine.arguments[2]
    write(patch(of: count), to: path)
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

    for (name, lines) in edits(in: count) {
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
    try undoes(session, edits: 1000)
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

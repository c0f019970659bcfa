import PatchLanguage
import TestSupport
import Testing

@testable import Engine
@testable import Session

/// Reports are built once per plan and updated at each request: they must never be out of date.
@MainActor @Suite struct ReportTests {
  @Test func manyLooksShowWhatAFirstOneWould() throws {
    let seed: UInt64 = 2718
    print("seed \(seed)")
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    try session.open(repository + "/Patches/reconnect.patch")
    var edits = RandomLines(seed: seed, of: session.patch, keeping: [])
    var random = SeededGenerator(seed: seed)
    for number in 0..<400 {
      let line = edits.next()
      try session.perform(line)
      // Fades begin, continue and end between two requests.
      for _ in 0..<Int.random(in: 1...6, using: &random) { try session.renderOneBlock() }
      let seen = Printout.json(session.report)
      session.engine.picture = nil
      session.refreshReport()
      let first = Printout.json(session.report)
      #expect(seen == first, "seed \(seed), edit \(number): \(line)")
      if seen != first { break }
    }
    #expect(session.engine.plansSent > 200)
  }

  /// A front end looks at many nodes in turns: what sounds is seen at each look, what begins to sound soon, and no peak is lost.
  @Test func manyNodesAreLookedAtInTurns() throws {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    session.looksInTurns = true
    session.engine.isMetering = true
    var lines = ["node first oscillator level=-inf", "node out output", "connect first -> out"]
    for number in 0..<2600 { lines.append("node g\(number) gain") }
    lines += ["node last oscillator level=-inf", "connect last -> out"]
    try session.perform(pasted: lines.joined(separator: "\n"))
    func look() throws -> GraphReport {
      try session.renderOneBlock()
      session.refreshReport()
      return session.report
    }
    func peak(_ name: String, _ report: GraphReport) -> Float {
      report.nodes.first { $0.name == name }?.outputs[0].peaks.max() ?? -1
    }
    for _ in 0..<20 { _ = try look() }
    let rest = try look()
    #expect(rest.looked.map { $0.count <= 1100 } == true, "\(rest.looked?.count ?? -1)")
    #expect(!rest.isMoving)
    for name in ["first", "last"] {
      try session.perform("set \(name).level 0dB")
      var looks = 0
      while peak(name, try look()) <= 0, looks < 10 { looks += 1 }
      #expect(looks <= 3, "\(name) is seen after \(looks) looks")
      for _ in 0..<10 {
        let report = try look()
        #expect(peak(name, report) > 0 && report.isMoving)
      }
      try session.perform("set \(name).level -inf")
      for _ in 0..<60 { _ = try look() }
      #expect(peak(name, try look()) == 0)
    }
    for _ in 0..<20 { _ = try look() }
    let seen = Printout.json(session.report)
    session.looksInTurns = false
    session.engine.picture = nil
    session.refreshReport()
    #expect(seen == Printout.json(session.report))
  }
}

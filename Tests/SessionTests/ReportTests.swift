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
}

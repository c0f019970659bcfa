import Realtime
import Testing

@testable import Interface

/// Losses in a flood are seen: notes are missing, and nobody would know why.
@MainActor @Suite struct LossScreenTests {
  private func top(_ stage: Stage) -> String {
    stage.screen.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
  }

  @Test func moreEventsAtOnceThanANodeTakesAreCountedInTheStatusLineAndToldOnce() throws {
    let stage = Stage("node piano sampler", "node out output", "connect piano -> out")
    let piano = try #require(stage.session.patch.id(named: "piano"))
    #expect(!top(stage).contains("lost"))
    for value in 0..<EventQueue.capacity {
      stage.session.play(Event(.control, key: 1, value: Float(value & 127)), on: piano)
    }
    stage.play(seconds: 0.05)
    #expect(!top(stage).contains("lost"))
    for count in [88, 12] {
      for value in 0..<EventQueue.capacity + count {
        stage.session.play(Event(.control, key: 1, value: Float(value & 127)), on: piano)
      }
      stage.play(seconds: 0.05)
      #expect(stage.message.contains("\(count) events were lost"), "\(stage.message)")
    }
    #expect(top(stage).contains("events lost 100 "), "\(top(stage))")
    // It stays for as long as there is room for anything besides the file's name.
    stage.columns = 60
    #expect(top(stage).contains("events lost 100"), "\(top(stage))")
    stage.columns = 110
    // Told once, and counted on.
    stage.press("escape")
    stage.play(seconds: 0.2)
    #expect(!stage.message.contains("lost"))
    #expect(top(stage).contains("events lost 100 "))
  }
}

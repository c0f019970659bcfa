import Testing

@testable import Interface

/// The transport in the status line, and the key that starts and stops it.
@MainActor @Suite struct TransportScreenTests {
  private func top(_ stage: Stage) -> String {
    stage.screen.split(separator: "\n", omittingEmptySubsequences: false).first.map(String.init) ?? ""
  }

  @Test func itIsShownWhereItIsUsed() {
    let stage = Stage("node osc oscillator", "node out output", "connect osc -> out")
    stage.columns = 80
    #expect(!top(stage).contains("120"))
    stage.press(": =tempo_90;meter_3/4 enter")
    stage.play(seconds: 2)
    #expect(top(stage).contains("▶ 2.1  90 3/4"), "\(top(stage))")
    #expect(top(stage).contains("none 48 kHz"))
    stage.press(": =locate_bar_12.3 enter")
    stage.press("space")
    #expect(stage.message == "halt")
    stage.play(seconds: 0.1)
    #expect(top(stage).contains("■ 12.3  90 3/4"), "\(top(stage))")
    stage.press("space")
    #expect(stage.message == "roll")
    stage.play(seconds: 2)
    #expect(top(stage).contains("▶ 13.3  90 3/4"), "\(top(stage))")
    // It goes before the file's name and the driver do.
    stage.columns = 40
    #expect(top(stage).contains("untitled"))
    #expect(stage.session.undoList.first == "tempo 90 ; meter 3/4")
  }

  @Test func aNodeThatGoesByItShowsIt() {
    let stage = Stage("node clock transport")
    #expect(top(stage).contains("120 4/4"), "\(top(stage))")
  }
}

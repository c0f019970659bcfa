import Patch
import Screen
import Testing

@testable import Interface

/// What the inspector shows where it has few rows, and hints on parameters where boxes are narrow.
@Suite @MainActor struct InspectorRoomTests {
  @Test(arguments: ["compressor", "expander", "gate", "limiter"])
  func whatItDoesNowAndItsLevelAreSeenBesideAnyNumberOfParameters(kind: String) throws {
    let stage = Stage(
      "node tone oscillator", "node it \(kind)", "node out output", "connect tone -> it", "connect it -> out")
    (stage.columns, stage.rows) = (80, 24)
    stage.app.desk.focus(try #require(stage.session.patch.id(named: "it")))
    stage.press("enter end")
    stage.play(seconds: 0.2)
    let reading = try #require(
      stage.session.report.nodes.first { $0.name == "it" }?.readings.first?.description.name)
    let inspector = stage.canvas.lines.drop { !$0.contains("it ▸ \(kind)") }
    #expect(inspector.contains { $0.hasPrefix(" \(reading) ") }, "\(stage.screen)")
    #expect(inspector.contains { $0.hasPrefix(" out ") && $0.contains("silent") }, "\(stage.screen)")
    // A port's name and its width are two words.
    #expect(!stage.screen.contains("sidechain1"), "\(stage.screen)")
  }

  @Test func helpThatIsCutHasASign() {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (50, 15)
    stage.press(": =replace_dist_sampler enter enter")
    let help = stage.canvas.lines.drop { !$0.contains("dist ▸ sampler") }.joined(separator: " ")
    #expect(help.contains("folder on.") || help.contains("…"), "\(stage.screen)")
  }

  @Test func aHintOnAParameterShowsItsNameWhole() throws {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (80, 24)
    stage.press(": =node_lfo_lfo enter c")
    let hints = try #require(stage.app.state.overlay as? PortHints)
    let source = try #require(
      hints.targets.first {
        $0.target == .output(PortReference(stage.session.patch.id(named: "lfo") ?? NodeID(raw: 0), "out"))
      })
    stage.type(source.letters)
    stage.press("tab")
    for name in ["level", "drive"] { #expect(stage.screen.contains(name), "\(name): \(stage.screen)") }
  }

  @Test func modulatorsDoNotClip() {
    let stage = Stage("node slow lfo rate=10Hz", "node g gain", "connect slow -> g", "node out output")
    (stage.columns, stage.rows) = (80, 24)
    for _ in 0..<10 {
      stage.play(seconds: 0.05)
      let box = stage.canvas.lines.filter { $0.contains("lfo") || $0.contains("▇") }.joined()
      #expect(!box.contains("▇!"), "\(stage.screen)")
    }
  }
}

import Patch
import PatchLanguage
import Screen
import Session
import Testing

@testable import Interface

/// Sub-patches in the graph: boxes, their inside, the way in and out.
@Suite @MainActor struct SubPatchViewTests {
  private func stage() -> Stage {
    let stage = Stage.demo()
    _ = try? stage.session.perform("collapse dist main into fx")
    _ = try? stage.session.perform("publish fx/dist.drive as fx/dirt")
    stage.app.tick()
    stage.app.desk.focus(stage.session.patch.id(named: "fx") ?? NodeID(raw: 0))
    stage.app.tick()
    stage.app.state.message = nil
    return stage
  }

  @Test func aSubPatchIsOneBoxWithItsPortsAndPublishedValues() {
    let stage = stage()
    #expect(stage.screen.contains(" fx ") && stage.screen.contains("dirt"), "\(stage.screen)")
    #expect(!stage.screen.contains("distortion") && !stage.screen.contains(" fx/dist ─"), "\(stage.screen)")
    #expect(stage.screen.contains("in") && stage.screen.contains("out"))
  }

  @Test func enterShowsTheInsideWithItsPathAndEscapeLeaves() {
    let stage = stage()
    stage.press("enter")
    #expect(stage.app.state.graph.inside == "fx")
    #expect(stage.screen.contains("> fx"), "\(stage.screen)")
    #expect(stage.screen.contains("distortion") && !stage.screen.contains(" piano "), "\(stage.screen)")
    stage.press("esc")
    #expect(stage.app.state.graph.inside == nil && stage.focus == "fx")
    #expect(stage.screen.contains("piano"))
  }

  @Test func anUndoThatTakesTheSubPatchAwayLeavesItsInside() {
    let stage = stage()
    stage.press("enter")
    stage.press("u u")
    #expect(stage.app.state.graph.inside == nil)
    #expect(stage.screen.contains("piano") && stage.screen.contains("dist"), "\(stage.screen)")
  }

  @Test func theInspectorTurnsWhatASubPatchPublishes() {
    let stage = stage()
    stage.session.tick()
    // From the neighbour, whose inspector follows the focus.
    stage.app.desk.focus(stage.session.patch.id(named: "piano") ?? NodeID(raw: 0))
    stage.press("enter")
    stage.app.desk.focus(stage.session.patch.id(named: "fx") ?? NodeID(raw: 0))
    stage.app.tick()
    #expect(stage.screen.contains("fx ▸ patch") && stage.screen.contains("dirt"), "\(stage.screen)")
    stage.press("end")
    #expect(stage.screen.contains("drive") || stage.screen.contains("18.0 dB"), "\(stage.screen)")
    let drive = { stage.session.patch[named: "fx/dist"]?.settings[ParameterPath("drive")]?.line ?? "" }
    let before = drive()
    stage.press("right")
    #expect(
      drive() != before && stage.screen.contains(drive().replacing("dB", with: ".0 dB")), "\(stage.screen)")
    stage.press("7 enter")
    #expect(drive() == "7dB")
    stage.press("delete")
    #expect(drive() == "")
    stage.press("u u u")
    #expect(drive() == before)
  }
}

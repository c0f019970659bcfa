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
}

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

  // MARK: The cables of a sub-patch

  /// They lead to nodes inside, and are those of the box: the keys for cables find them.
  @Test func theKeysForCablesWorkAtASubPatch() {
    let stage = stage()
    stage.press("i")
    let hints = stage.app.state.overlay as? PortHints
    #expect(hints?.targets.count == 2, "one cable into it, one out of it: \(stage.message)")
    for hint in hints?.targets ?? [] { #expect(stage.screen.contains(hint.letters), "\(stage.screen)") }
    let first = hints?.targets.first { hint in
      guard case .cable(let ends) = hint.target else { return false }
      return stage.session.patch[ends.source.node]?.name == "piano"
    }
    stage.type(first?.letters ?? "")
    stage.press("=gain enter")
    #expect(stage.lastEdit == "insert gain gain into piano -> fx", "\(stage.session.undoList)")
    stage.app.desk.focus(stage.session.patch.id(named: "fx") ?? NodeID(raw: 0))
    stage.press("m")
    #expect((stage.app.state.overlay as? PortHints)?.targets.count == 2, "\(stage.message)")
    stage.press("esc d")
    #expect((stage.app.state.overlay as? PortHints)?.targets.count == 2, "\(stage.message)")
    stage.press("esc")
    stage.app.desk.focus(stage.session.patch.id(named: "fx") ?? NodeID(raw: 0))
    stage.press("s d")
    #expect(stage.lastEdit == "disconnect fx", "\(stage.message)")
  }

  @Test func theEffectKeysInsertBehindASubPatch() {
    let stage = stage()
    stage.press("F8")
    #expect(stage.lastEdit == "insert delay delay into fx -> out", "\(stage.message)")
    stage.app.desk.focus(stage.session.patch.id(named: "fx") ?? NodeID(raw: 0))
    stage.press("x")
    #expect(stage.focus == "delay", "along the path, to where the gap closes")
  }

  @Test func notesInsideASubPatchAreAskedAboutBeforeItIsBridged() {
    let stage = Stage("node keys keyboard", "node piano voices", "node out output", "connect keys -> piano")
    stage.press(": =collapse_piano_into_box enter p space z c")
    stage.play(seconds: 0.1)
    stage.press("z c")
    stage.app.desk.focus(stage.session.patch.id(named: "box") ?? NodeID(raw: 0))
    stage.play(seconds: 0.5)
    stage.press("F9")
    #expect(stage.message == "notes of box/piano sound, and would end: again to remove it")
    #expect(stage.names.contains("box"))
    stage.press("F9")
    stage.play(seconds: 0.2)
    #expect(!stage.names.contains("box"), "\(stage.message)")
  }

  /// What takes the place of a removed node is a box beside it, not a node inside that box.
  @Test func aNodeThatIsRemovedBesideASubPatchLeavesTheFocusOutside() {
    let stage = stage()
    stage.app.desk.focus(stage.session.patch.id(named: "piano") ?? NodeID(raw: 0))
    stage.press("F8 F9")
    #expect(stage.lastEdit == "remove delay bridge" && stage.focus == "fx", "\(stage.focus)")
    stage.app.tick()
    #expect(stage.app.state.graph.inside == nil, "\(stage.screen)")
    stage.app.desk.focus(stage.session.patch.id(named: "piano") ?? NodeID(raw: 0))
    stage.press("F8 F10")
    stage.app.tick()
    #expect(stage.focus == "fx" && stage.app.state.graph.inside == nil, "\(stage.focus): \(stage.screen)")
  }

  @Test func enterIsNamedForWhatItDoes() {
    let stage = stage()
    stage.columns = 140
    #expect(stage.canvas.lines.last?.contains("Enter inside") == true, "\(stage.screen)")
    stage.app.desk.focus(stage.session.patch.id(named: "piano") ?? NodeID(raw: 0))
    #expect(stage.canvas.lines.last?.contains("Enter edit") == true, "\(stage.screen)")
  }

  @Test func aSubPatchIsToldWithItsCablesAndWhatItPublishes() {
    let stage = stage()
    let telling = stage.app.scene.telling(stage.session.patch.id(named: "fx") ?? NodeID(raw: 0))
    #expect(telling == "fx, patch, dirt 18.0 dB; from piano; to out")
  }

  // MARK: What a sub-patch publishes

  @Test func publishedParametersAreWithTheNodesOwnInAllLists() {
    let stage = stage()
    #expect(stage.canvas.lines.contains { $0 == " fx ▸ patch   dirt 18.0 dB" }, "\(stage.screen)")
    stage.press("ctrl-p =fxdirt enter")
    #expect((stage.app.state.overlay as? Prompt)?.line.text == "set fx.dirt 18dB")
    stage.press("esc : =set_fx.d tab")
    let line = (stage.app.state.overlay as? Prompt)?.line.text ?? ""
    #expect(line.hasPrefix("set fx.dirt"), "\(stage.screen)")
    stage.press("esc alt-1 =fx.dirt enter")
    #expect(stage.lastEdit.hasPrefix("control 1 fx"), "\(stage.message)")
    stage.press("ctrl-l")
    #expect((stage.app.state.overlay as? Chooser)?.items.first?.name == "dirt", "\(stage.screen)")
  }

  // MARK: Its sound

  @Test func theScopeShowsWhatLeavesASubPatchAndWhatGoesIn() {
    let stage = stage()
    stage.press("v")
    stage.play(seconds: 0.2)
    #expect(stage.screen.contains("fx/out.out"), "\(stage.screen)")
    stage.press("down")
    stage.play(seconds: 0.2)
    #expect(stage.screen.contains("fx/in.in what goes in"), "\(stage.screen)")
  }
}

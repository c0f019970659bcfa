import Patch
import Screen
import Session
import Testing

@testable import Interface

/// Marks, duplicates and the clipboard.
@Suite @MainActor struct SelectingTests {
  private func paste(_ text: String, _ stage: Stage) { stage.app.handle(.paste(text)) }

  private func focus(_ name: String, _ stage: Stage) {
    stage.app.desk.focus(stage.session.patch.id(named: name) ?? NodeID(raw: 0))
  }

  private func mark(_ names: String..., on stage: Stage) {
    for name in names {
      focus(name, stage)
      stage.press("s")
    }
  }

  @Test func markedNodesCarryASignAndTheLastRowsSayWhatMayBeDone() {
    let stage = Stage.demo()
    mark("piano", "dist", on: stage)
    stage.app.state.message = nil
    #expect(stage.screen.contains("◆ piano"))
    #expect(stage.screen.contains("2 marked  piano  dist"))
    #expect(stage.screen.contains("Esc unmark   s mark   y copy   Y cut   D duplicate"))
    stage.press("esc")
    #expect(!stage.screen.contains("◆") && stage.app.state.view == .graph)
    stage.press("S")
    #expect(stage.app.state.marked.count == 5)
    stage.press("S")
    #expect(stage.app.state.marked.isEmpty)
  }

  @Test func duplicatesKeepTheCablesBetweenThemAndAreOneEdit() {
    let stage = Stage.demo()
    let before = stage.session.patch
    mark("piano", "dist", on: stage)
    stage.press("D")
    #expect(stage.names == ["keys", "piano", "dist", "main", "out", "piano2", "dist2"])
    #expect(stage.lastEdit == "copy piano piano2 ; copy dist dist2 ; connect piano2 -> dist2")
    #expect(stage.focus == "piano2" && stage.app.state.marked.count == 2)
    stage.press("D")
    #expect(stage.names.suffix(2) == ["piano3", "dist3"])
    stage.press("u u")
    #expect(stage.session.patch == before)
  }

  /// A box goes to the clipboard, and is doubled, with all that is inside and published.
  @Test func aSubPatchIsCopiedWithItsInside() throws {
    let stage = Stage.demo()
    try stage.session.perform("collapse dist main into fx")
    try stage.session.perform("publish fx/dist.drive as fx/dirt")
    try stage.session.perform("add lfo lfo".replacing("add", with: "node"))
    try stage.session.perform("connect lfo -> fx.dirt gain=-20dB")
    stage.app.tick()
    let before = stage.session.patch
    func cables(_ names: [String: String]) -> [String] {
      stage.session.patch.cables.values.compactMap { cable in
        let name = stage.session.patch.name(of: cable.ends).description
        return names.keys.contains(where: name.contains) ? name : nil
      }.map { name in names.reduce(name) { $0.replacing($1.key, with: $1.value) } }.sorted()
    }
    let wanted = cables(["fx/": "fx/"]).filter { !$0.contains("piano") && !$0.hasSuffix("-> out.in") }
    mark("fx", "lfo", on: stage)
    stage.press("D")
    #expect(stage.session.patch.published(by: "fx2").map(\.name) == ["dirt"])
    #expect(cables(["fx2/": "fx/", "lfo2": "lfo"]) == wanted)
    stage.press("u")
    mark("fx", "lfo", on: stage)
    stage.press("y P")
    #expect(stage.session.patch.published(by: "fx2").map(\.name) == ["dirt"], "\(stage.message)")
    #expect(cables(["fx2/": "fx/", "lfo2": "lfo"]) == wanted)
    #expect(stage.session.patch[named: "fx2/dist"]?.settings == before[named: "fx/dist"]?.settings)
    stage.press("u")
    #expect(stage.session.patch == before)
  }

  @Test func theFocusedNodeAloneNeedsNoMark() {
    let stage = Stage.demo()
    stage.press("D")
    #expect(stage.lastEdit == "copy dist dist2")
    #expect(stage.focus == "dist2" && stage.app.state.marked.isEmpty)
    #expect(stage.session.patch[named: "dist2"]?.settings == stage.session.patch[named: "dist"]?.settings)
  }

  @Test func whatIsCutGoesToTheClipboardAndComesBackByPasting() {
    let stage = Stage.demo()
    mark("piano", "dist", on: stage)
    stage.press("Y")
    #expect(stage.names == ["keys", "main", "out"])
    #expect(
      stage.app.takeCopied()
        == "node piano sampler\n\nnode dist distortion drive=18dB\nconnect piano -> dist\n")
    #expect(stage.app.takeCopied() == nil)
    #expect(stage.session.undoList.count == 10)
    stage.press("P")
    #expect(stage.names == ["keys", "main", "out", "piano", "dist"])
    #expect(stage.message == "pasted piano, dist")
    stage.press("u u")
    #expect(stage.names == ["keys", "piano", "dist", "main", "out"])
  }

  /// Another instance, in another folder, finds the files of what was copied here; here they keep their names.
  @Test func filesOfCopiedNodesAreFoundElsewhere() throws {
    let stage = Stage.demo()
    try stage.session.perform("set piano.instrument ../Instruments/x.sfz")
    stage.app.tick()
    mark("piano", on: stage)
    stage.press("y")
    let copied = try #require(stage.app.takeCopied())
    #expect(copied.hasPrefix("node piano sampler instrument=/"), "\(copied)")
    #expect(copied.hasSuffix("/Instruments/x.sfz\n"), "\(copied)")
    stage.press("P")
    #expect(stage.lastEdit == "node piano2 sampler instrument=../Instruments/x.sfz")
    stage.app.handle(.paste(copied))
    #expect(stage.lastEdit == "node piano3 sampler instrument=../Instruments/x.sfz")
  }

  @Test func marksAreWhatIsRemovedAndDisconnected() {
    let stage = Stage.demo()
    mark("dist", "main", on: stage)
    stage.press("d")
    #expect(stage.lastEdit == "disconnect dist ; disconnect main")
    #expect(stage.session.patch.cables.count == 1)
    stage.press("u x")
    #expect(stage.lastEdit == "remove dist ; remove main")
    #expect(stage.app.state.marked.isEmpty && stage.focus == "out")
    stage.press("u")
    mark("dist", "main", on: stage)
    stage.press("X")
    #expect(stage.names == ["keys", "piano", "out"])
    #expect(stage.session.patch.cables.count == 2)
  }

  @Test func linesPastedByTheTerminalAreOneEdit() {
    let stage = Stage.demo()
    paste("# from an editor\nnode dist distortion\nconnect piano -> dist # a second one\n", stage)
    #expect(stage.names.last == "dist2")
    #expect(stage.message == "pasted dist2")
    #expect(stage.session.undoList.count == 10)
    stage.press("u")
    #expect(stage.names == ["keys", "piano", "dist", "main", "out"])
    paste("node x gain\nconect x -> out", stage)
    #expect(stage.message.contains("line 2: no verb `conect`"))
    #expect(!stage.names.contains("x"))
  }

  @Test func aSubPatchThatIsPastedIsShownFromOutside() {
    let stage = Stage.demo()
    paste("node verb/g gain\nnode verb/o outlet\nnode verb patch\nconnect verb/g -> verb/o", stage)
    #expect(stage.names.suffix(3) == ["verb/g", "verb/o", "verb"])
    #expect(stage.message == "pasted verb")
    #expect(stage.app.state.graph.inside == nil)
    #expect(stage.app.state.focus == stage.session.patch.id(named: "verb"))
  }

  @Test func linesPastedAtThePromptAreEditsAndARefusedOneStandsThere() {
    let stage = Stage.demo()
    stage.press(":")
    paste("set dist.drive 6dB\n# not a word of this is lost\n\nset dist.mix 50%\n", stage)
    #expect(stage.app.state.overlay == nil)
    #expect(stage.lastEdit == "set dist.drive 6dB ; set dist.mix 50%")
    stage.press(": =set_")
    paste("dist.drive 9dB\nset dist.miz 20%", stage)
    #expect(stage.lastEdit == "set dist.drive 6dB ; set dist.mix 50%")
    #expect(stage.screen.contains(": set dist.miz 20%"))
    #expect(stage.screen.contains("line 2: `dist` has no parameter `miz`"))
    stage.press("esc : =set_")
    paste("dist.drive 9dB\n", stage)
    #expect(stage.session.undoList.count == 10)
    stage.press("enter")
    #expect(stage.lastEdit == "set dist.drive 9dB")
  }

  @Test func aLockedStageKeepsWhatPastedLinesWouldSilence() {
    let stage = Stage.demo()
    stage.press("alt-l")
    paste("remove dist\nnode x gain", stage)
    #expect(stage.message.hasPrefix("locked"))
    #expect(stage.names.count == 5)
  }

  @Test func aHeldNoteIsTheSameWithCopiesAndPastes() {
    let stage = Stage.demo()
    stage.press("p z esc")
    stage.play(seconds: 0.1)
    let trace = stage.session.trace(since: 0).last?.id ?? 0
    stage.press("S y P D u u s D Y P")
    stage.play(seconds: 0.1)
    #expect(!stage.session.trace(since: trace + 1).contains { $0.name == "piano" })
  }
}

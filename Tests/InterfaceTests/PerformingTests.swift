import Engine
import Patch
import Screen
import Testing

@testable import Interface

/// What a hand does by mistake while others listen: held notes, questions, the mouse, and messages that must leave the patch
/// in sight.
@Suite @MainActor struct PerformingTests {
  private func sized(_ stage: Stage, _ columns: Int = 80, _ rows: Int = 24) -> Stage {
    (stage.columns, stage.rows) = (columns, rows)
    return stage
  }

  private func rows(_ stage: Stage) -> [String] { stage.canvas.lines }

  // MARK: Messages

  @Test func anEditOfManyLinesIsToldInARowAndNeverCoversThePatch() {
    let stage = sized(Stage())
    stage.app.handle(.paste((0..<300).map { "node n\($0) delay\n" }.joined()))
    stage.press("u")
    #expect(stage.message == "undone: 300 edits (node n0 delay, …)")
    stage.press("ctrl-r")
    #expect(stage.message == "redone: 300 edits (node n0 delay, …)")
    stage.press("u :")
    stage.type((0..<200).map { "node m\($0) delay" }.joined(separator: " ; "))
    stage.press("enter")
    #expect(stage.message.hasPrefix("200 edits"), "\(stage.message)")
    // One edit that is long, and text that is none.
    for text in [
      String(repeating: "word ", count: 500), "connect a -> b map=[" + String(repeating: "1,", count: 900),
    ] {
      for (columns, rows) in [(80, 24), (120, 40), (40, 20)] {
        _ = sized(stage, columns, rows)
        stage.app.desk.say(text)
        let most = max(3, (240 + columns - 1) / columns)
        let whole = self.rows(stage)
        stage.app.state.message = nil
        let changed = zip(whole, self.rows(stage)).count { $0 != $1 }
        #expect(changed <= most, "\(columns)x\(rows) \(stage.screen)")
        #expect(whole.contains { $0.contains("…") }, "what is left out has a sign")
      }
    }
  }

  @Test func fewEditsAndQuotedTextsAreToldWhole() {
    #expect(EditWords.short("undone: node a gain ; node b gain") == "undone: node a gain ; node b gain")
    #expect(EditWords.short("header \"a ; b ; c ; d ; e\"") == "header \"a ; b ; c ; d ; e\"")
    #expect(EditWords.short("x ; y ; z ; w") == "4 edits (x, …)")
    #expect(EditWords.short("") == "")
  }

  // MARK: Questions

  @Test(arguments: ["esc", "left", "z", "F4"])
  func anyOtherKeyDropsTheQuestionBeforeALastWayGoes(key: String) {
    let stage = Stage.demo()
    stage.press("p end F9")
    #expect(stage.message.hasSuffix("again to remove it"))
    stage.press(key)
    if key == "left" { stage.press("right") }
    stage.press("F9")
    #expect(stage.names.contains("out"), "\(key) was no yes")
    stage.press("F9")
    // It may be a repeat, until none follows.
    stage.play(seconds: 0.2)
    #expect(!stage.names.contains("out"))
  }

  @Test func aClickDropsTheQuestionAndTheReleaseOfItsKeyDoesNot() {
    let stage = Stage.demo(hasKeyRelease: true)
    stage.press("p end F9")
    stage.release("F9")
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: Point(0, 5))))
    stage.press("end F9")
    #expect(stage.names.contains("out"))
    stage.release("F9")
    stage.press("F9")
    #expect(!stage.names.contains("out"))
  }

  // MARK: Held notes

  @Test func theLockKeepsTheCablesOfHeldNotesAndStoredScenes() {
    let stage = Stage.demo()
    stage.press("alt-Q p z c esc alt-l")
    let before = stage.session.patch
    for line in [
      "disconnect_keys_->_piano", "remove_piano_bridge", "disconnect_keys", "scene_1", "scene_1_other",
    ] {
      stage.press(": =\(line) enter")
      #expect(
        stage.session.patch == before && stage.message.hasPrefix("locked: "), "\(line): \(stage.message)")
      stage.press("esc")
    }
    stage.press("alt-Q")
    #expect(stage.message == "locked: scene 1 stays; Alt-L unlocks" && stage.session.patch == before)
    // A new scene takes nothing away, nor does an effect.
    stage.press("alt-W p F8")
    #expect(stage.session.patch.scenes.count == 2 && stage.lastEdit.hasPrefix("insert"), "\(stage.message)")
    // Without notes the cable is free.
    stage.press("z c esc : =disconnect_keys_->_piano enter")
    #expect(stage.session.patch.cables.count == before.cables.count, "one more for the effect, one less")
  }

  @Test func notesThatAnEditHasEndedAreNoLongerHeldTheNextPressSounds() {
    let stage = Stage.demo()
    stage.press("p z c esc : =disconnect_keys_->_piano enter")
    #expect(stage.app.state.play.held.isEmpty)
    stage.press("u p")
    stage.play(seconds: 0.1)
    #expect(!stage.screen.contains("C4 E4"))
    stage.press("z")
    stage.play(seconds: 0.1)
    #expect(stage.app.state.play.held == [60])
    #expect(stage.session.report.nodes.first { $0.name == "piano" }?.heldNotes == 1)
    // Edits elsewhere leave them, and so does the edge of a sub-patch.
    stage.press("F7 esc : =collapse_piano_dist_into_fx enter")
    #expect(stage.session.patch[named: "fx"] != nil && stage.app.state.play.held == [60], "\(stage.message)")
    stage.press("p z")
    stage.play(seconds: 0.1)
    #expect(stage.session.report.nodes.contains { $0.heldNotes > 0 } == false)
  }

  // MARK: Controls and scenes

  private func mastering() -> Stage {
    sized(
      Stage(
        "node in input", "node low gain", "node out output", "connect in -> low", "connect low -> out",
        "control 1 low.gain"))
  }

  @Test func playModeOpensForControlsWithoutAPlayerAndThePianoSaysThatThereIsNone() {
    let stage = mastering()
    stage.press("p")
    #expect(stage.app.state.mode == .play && stage.screen.contains("1 low.gain"), "\(stage.screen)")
    #expect(stage.screen.contains("no keyboard and no sampler"), "\(stage.screen)")
    #expect(stage.canvas.lines.last?.contains("pedal") == false, "nothing has a pedal")
    stage.press("alt-1 right")
    #expect(stage.lastEdit.hasPrefix("set low.gain"))
    stage.press("esc z")
    #expect(stage.message == "nothing to play: add a keyboard or a sampler")
    stage.press("esc : =control_1_off enter p")
    #expect(stage.app.state.mode == .patch && stage.message.hasPrefix("nothing to play"))
    stage.press("alt-Q p")
    #expect(stage.app.state.mode == .play && stage.screen.contains(" scenes"))
  }

  @Test func enterAfterTheKeyOfAControlLeavesTheControlAsItIs() {
    let stage = mastering()
    let edits = stage.session.undoList.count
    stage.press("alt-1")
    #expect(stage.screen.contains("▸ low.gain"), "\(stage.screen)")
    stage.press("enter")
    #expect(stage.session.undoList.count == edits && stage.session.patch.settings.controls.count == 1)
    stage.press("alt-1 =off enter")
    #expect(stage.session.patch.settings.controls.isEmpty)
  }

  @Test func anUndoneControlIsLetGoAndTheArrowsChooseNodesAgain() {
    let stage = sized(.demo())
    stage.press("p alt-1 =dist.drive enter F10")
    #expect(stage.app.state.play.control == nil)
    #expect(stage.canvas.lines.last?.contains("Esc leaves") == true, "\(stage.screen)")
    let focus = stage.focus
    stage.press("right")
    #expect(stage.focus != focus)
  }

  @Test func theValueOfAControlStandsAtThePromptAndTheFirstLetterReplacesIt() {
    let stage = sized(.demo())
    stage.press(": =control_1_dist.drive enter p alt-1 enter")
    #expect(stage.screen.contains(": set dist.drive 18dB"), "\(stage.screen)")
    stage.press("=6dB enter")
    #expect(stage.lastEdit == "set dist.drive 6dB")
    // Other keys edit it as it stands.
    stage.press("enter left left backspace =9 enter")
    #expect(stage.lastEdit == "set dist.drive 9dB", "\(stage.lastEdit)")
    stage.press("enter")
    stage.app.handle(.paste("12dB"))
    stage.press("enter")
    #expect(stage.lastEdit == "set dist.drive 12dB")
  }

  // MARK: The mouse

  private func point(of key: Character, _ stage: Stage) -> Point {
    for (row, line) in stage.canvas.lines.enumerated() where line.contains("│ z │ x │") {
      return Point(Array(line).firstIndex(of: key) ?? 0, row)
    }
    return .zero
  }

  @Test func aPressOfTheMouseOnThePianoSoundsUntilItsRelease() {
    let stage = sized(.demo())
    stage.press("p")
    func mouse(_ action: MouseEvent.Action, _ button: MouseEvent.Button, _ key: Character) {
      stage.app.handle(.mouse(MouseEvent(action, button, at: point(of: key, stage))))
    }
    mouse(.press, .left, "x")
    #expect(stage.app.state.play.held == [62])
    // It slides to the next key.
    mouse(.drag, .left, "c")
    #expect(stage.app.state.play.held == [64])
    mouse(.release, .left, "c")
    #expect(stage.app.state.play.held.isEmpty)
    // The right button leaves it on, until either one is pressed there.
    for button in [MouseEvent.Button.right, .left] {
      mouse(.press, .right, "x")
      mouse(.release, .right, "x")
      #expect(stage.app.state.play.held == [62])
      mouse(.press, button, "x")
      mouse(.release, button, "x")
      #expect(stage.app.state.play.held.isEmpty, "\(button)")
    }
    // The window may lose the focus meanwhile, and the release is told to nobody.
    mouse(.press, .left, "x")
    stage.app.handle(.focus(false))
    #expect(stage.app.state.play.held.isEmpty)
  }
}

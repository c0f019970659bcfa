import Patch
import Screen
import Testing

@testable import Interface

/// The row of scenes in play mode, and the keys that store and recall.
@MainActor @Suite struct SceneStripTests {
  private func stage() -> Stage {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (80, 24)
    stage.press(": =scene_1_verse enter : =set_dist.drive_30dB enter : =scene_2_chorus enter p")
    return stage
  }

  /// The row of scenes.
  private func row(_ stage: Stage) -> String {
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let keyboard = lines.firstIndex(where: { $0.hasPrefix(" octave") || $0.hasPrefix(" pedal") }) else {
      return ""
    }
    return lines[keyboard - 1]
  }

  @Test func keysStoreAndRecallWhileNotesSoundAndTheRowShowsWhereThePatchIs() {
    let stage = stage()
    #expect(row(stage).hasPrefix(" scenes  1 verse  ▸2 chorus  "))
    #expect(row(stage).hasSuffix("  at once"))
    stage.press("z c alt-q")
    #expect(stage.lastEdit == "recall 1" && stage.message == "recall 1")
    #expect(row(stage).hasPrefix(" scenes ▸1 verse   2 chorus  "))
    #expect(stage.app.state.play.held.count == 2 && stage.app.state.mode == .play)
    stage.press("alt-o alt-o alt-w")
    #expect(stage.lastEdit.hasPrefix("recall 2 over 1s"))
    #expect(row(stage).hasSuffix("over 1s"))
    // It has moved on.
    _ = try? stage.workbench.perform(line: "set main.master -3dB")
    #expect(row(stage).hasPrefix(" scenes  1 verse  ▸2 chorus •  "))
    stage.press("alt-E")
    #expect(stage.lastEdit == "scene 3" && row(stage).hasPrefix(" scenes  1 verse   2 chorus  ▸3"))
    stage.press("F10 F10 F10")
    #expect(row(stage).hasPrefix(" scenes ▸1 verse   2 chorus  "))
    stage.press("alt-t")
    #expect(stage.message == "no scene 5 yet: Alt-Shift-t stores it")
    #expect(stage.app.state.play.held.count == 2)
  }

  @Test func aClickRecallsAndANarrowScreenShowsThePresentOne() {
    let stage = stage()
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false)
    let row = (lines.firstIndex { $0.hasPrefix(" octave") || $0.hasPrefix(" pedal") } ?? 0) - 1
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: Point(10, row))))
    #expect(stage.lastEdit == "recall 1")
    stage.press("alt-R alt-T alt-Y alt-U")
    stage.columns = 40
    #expect(self.row(stage).contains("▸7") && self.row(stage).hasPrefix("‹"), "\(self.row(stage))")
    stage.press("alt-q")
    #expect(self.row(stage).hasPrefix("▸1 verse") && self.row(stage).contains("›"), "\(self.row(stage))")
    stage.columns = 60
    stage.press("alt-r")
    #expect(
      self.row(stage).hasPrefix(" scenes ‹") || self.row(stage).hasPrefix(" scenes  1"), "\(self.row(stage))")
    stage.columns = 40
    stage.press("alt-u")
    #expect(!self.row(stage).contains("1 verse"))
  }

  @Test func theStageLockKeepsScenesAndAllowsRecalls() {
    let stage = stage()
    stage.press("alt-l")
    stage.press("alt-q")
    #expect(stage.lastEdit == "recall 1")
    stage.press("esc : =scene_2_off enter")
    #expect(stage.message == "locked: scene 2 stays; Alt-L unlocks")
    #expect(stage.session.patch.scenes.count == 2)
    // A scene that silences is what was asked for.
    stage.press("alt-l : =disconnect_main_->_out enter alt-E : =connect_main_->_out enter")
    stage.press("alt-l alt-e")
    #expect(stage.lastEdit == "recall 3")
  }

  @Test func aControlMorphsBetweenTwo() {
    let stage = stage()
    stage.press("esc : =control_1_morph_1_2 enter p")
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let keyboard = lines.firstIndex { $0.hasPrefix(" octave") || $0.hasPrefix(" pedal") } ?? 3
    #expect(lines[keyboard - 2].hasPrefix(" 1 morph 1 2") && lines[keyboard - 1].contains("100 %"))
    #expect(lines[keyboard - 3].hasPrefix(" scenes  1 verse  ▸2 chorus"))
    stage.press("alt-1")
    for _ in 0..<10 { stage.app.handle(.key(KeyStroke("left"))) }
    #expect(stage.lastEdit == "morph 1 2 50%")
    #expect(stage.session.patch[named: "dist"]?.settings[ParameterPath("drive")] == .number(24, .decibels))
    stage.press("F10")
    #expect(stage.session.patch[named: "dist"]?.settings[ParameterPath("drive")] == .number(30, .decibels))
  }

  @Test func theScreenWithTheRow() {
    let stage = stage()
    stage.press("alt-w z c b alt-o")
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      String(line.reversed().drop { $0 == " " }.reversed())
    }
    #expect(lines.prefix(2).last?.hasPrefix("─[graph]─") == true)
    #expect(
      lines.dropFirst(15).joined(separator: "\n") == """
         scenes  1 verse  ▸2 chorus                                          over 500ms
         octave 4   velocity 100   pedal ○ up   release: press again   keys C4 E4 G4
          │  ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃  │
          │  ┗s┛ ┗d┛  │  ┗g┛ ┗h┛ ┗j┛  │  ┗2┛ ┗3┛  │  ┗5┛ ┗6┛ ┗7┛  │  ┗9┛ ┗0┛  │
          │ ● │   │ ● │   │ ● │   │   │   │   │   │   │   │   │   │   │   │   │
          │ z │ x │ c │ v │ b │ n │ m │ q │ w │ e │ r │ t │ y │ u │ i │ o │ p │
        ────────────────────────────────────────────────────────────────────────────────
         scenes are recalled over 500ms
         PLAY   Esc leaves   arrows node   Space pedal   F7 swap   F8 insert

        """)
  }
}

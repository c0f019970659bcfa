import Engine
import Foundation
import Patch
import Screen
import Testing

@testable import Interface

/// Notes on the keys of keyboards as they are printed.
@Suite @MainActor struct LayoutTests {
  private func played(_ stage: Stage, _ keys: String) -> [Int] {
    stage.app.state.play.heldBy = [:]
    let before = stage.session.trace(since: 0).count
    for key in keys { stage.app.handle(.key(KeyStroke(Key(.character(key))))) }
    stage.play(seconds: 0.05)
    return stage.session.trace(since: 0).dropFirst(before).filter { $0.name == "piano" }.compactMap {
      if case .noteOn(let key, _) = $0.happening { Int(key) } else { nil }
    }
  }

  @Test(arguments: [
    ("qwerty", "zsxqi90p", [60, 61, 62, 72, 84, 85, 87, 88]), ("qwertz", "ysxqzö", [60, 61, 62, 72, 81, 75]),
    ("azerty", "wsxaé(à:", [60, 61, 62, 72, 73, 78, 87, 74]), ("dvorak", ";oq',2", [60, 61, 62, 72, 74, 73]),
    ("isomorphic", "zxasq1", [60, 62, 65, 67, 70, 75]),
  ])
  func everyLayoutHasItsNotesWhereTheyArePrinted(name: String, keys: String, notes: [Int]) {
    let stage = Stage.demo()
    stage.press(": =piano_\(name) enter p")
    #expect(stage.app.state.play.layout.name == name)
    #expect(played(stage, keys).sorted() == notes.sorted())
  }

  @Test func aTerminalThatKnowsPositionsNeedsNoLayout() {
    let stage = Stage.demo(hasKeyRelease: true)
    stage.press("p")
    for layout in ["qwerty", "azerty", "dvorak"] {
      stage.app.desk.use(KeyboardLayout.builtIn(named: layout)!)
      // The key beside tab of a French keyboard, which prints a, and the one at the left of the lower row, which prints w.
      for (printed, place) in [("a", "q"), ("w", "z")] as [(Character, Character)] {
        stage.app.handle(.key(KeyStroke(Key(.character(printed)), .press, place: place)))
      }
      #expect(stage.app.state.play.held == [60, 72], "\(layout)")
      for place in ["q", "z"] as [Character] {
        stage.app.handle(.key(KeyStroke(Key(.character(place)), .release, place: place)))
      }
      #expect(stage.app.state.play.held.isEmpty, "\(layout)")
    }
  }

  @Test func keysThatALayoutAddsReplaceThoseThatAreNotPrinted() {
    let stage = Stage.demo()
    stage.press(": =piano_azerty enter p")
    let velocity = stage.app.state.play.velocity
    // On a French keyboard the minus is G sharp.
    #expect(played(stage, "-") == [80])
    #expect(stage.app.state.play.velocity == velocity)
    stage.type(")ù")
    #expect(stage.app.state.play.velocity == velocity - 10 && stage.app.state.play.octave == 3)
  }

  @Test func aChangeOfTheLayoutLeavesWhatSounds() {
    let stage = Stage.demo()
    stage.press("p z c")
    stage.press("esc : =piano_dvorak enter p")
    #expect(stage.app.state.play.held == [60, 64])
    // The keys that began them end them.
    stage.press("z")
    #expect(stage.app.state.play.held == [64])
  }

  @Test func anUnknownNameSaysWhichThereAre() {
    let stage = Stage.demo()
    stage.press(": =piano_colemak enter")
    #expect(
      stage.screen.contains("no layout `colemak`: there are qwerty, qwertz, azerty, dvorak, isomorphic"))
    stage.press("esc : =piano enter")
    #expect(stage.message.hasPrefix("piano qwerty: there are qwerty, qwertz"))
    stage.press(": =piano_az tab enter")
    #expect(stage.app.state.play.layout.name == "azerty")
  }

  @Test func theDrawnKeysHaveThePrintedLettersAndTheLineNamesTheLayout() {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (110, 24)
    stage.press(": =piano_azerty enter p")
    #expect(stage.screen.contains("│ w │ x │ c │ v │ b │ n │ , │ a │ z │ e │ r │ t │ y │ u │ i │ o │ p │"))
    #expect(stage.screen.contains("layout azerty"))
    stage.press("esc : =piano_qwerty enter p")
    #expect(stage.screen.contains("│ z │ x │ c │ v │ b │ n │ m │ q │ w │ e │ r │ t │ y │ u │ i │ o │ p │"))
    #expect(!stage.screen.contains("layout qwerty"))
  }

  @Test func aFileOfOnesOwnHasErrorsWithLines() {
    func problems(_ text: String) -> [String] {
      KeyboardLayout.read(text, name: "own", file: "own.toml").problems
    }
    let rows = "digits = \"1234\"\nupper = \"qwer\"\nhome = \"asdf\"\nlower = \"zxcv\"\n"
    #expect(problems(rows).isEmpty)
    #expect(
      problems("digits = \"1\"\nupper = \"qq\"\nhome = \"a\"\nlower = \"z\"").first
        == "own.toml:2: error: the key `q` stands twice")
    #expect(
      problems(rows + "notes = \"jazz\"").first
        == "own.toml:5: error: `notes` is piano or isomorphic, not `jazz`")
    #expect(
      problems("notes = \"isomorphic\"\nacross = 40\nup = 5\n" + rows).first
        == "own.toml:2: error: `across` is 1 to 12 semitones")
    #expect(problems(rows + "colour = 3").first?.hasPrefix("own.toml:5: error: unknown key `colour`") == true)
    #expect(problems(rows + "[play]\nx = \"fly\"").first?.contains("unknown action `fly`") == true)
    #expect(problems("upper = ").first?.hasPrefix("own.toml:1: error:") == true)
    #expect(problems("upper = \"q\"").contains("own.toml: error: no row `lower`"))
  }

  @Test func theFileOfKeysMayNameIt() {
    let (keymap, problems) = Keymap.read("layout = \"dvorak\"\n[patch]\nc = \"none\"", file: "k")
    #expect(problems.isEmpty && keymap.layout == "dvorak")
  }
}

@Suite @MainActor struct TapTempoTests {
  private func tap(_ stage: Stage, _ gaps: [Double], _ key: String = "alt-b") {
    for gap in gaps {
      stage.clock.seconds += gap
      stage.app.handle(.key(KeyStroke(Key(name: key)!)))
    }
  }

  @Test func threeBeatsSetTheTempoAndAllTapsAreOneUndo() {
    let stage = Stage.demo()
    let edits = stage.session.undoList.count
    tap(stage, [1, 0.5])
    #expect(stage.session.patch.settings.tempo == 120 && stage.message == "tap the beat: 1 more")
    tap(stage, [0.4, 0.4, 0.4, 0.4, 0.4])
    #expect(abs(stage.session.patch.settings.tempo - 150) < 0.05)
    #expect(stage.session.undoList.count == edits + 1)
    stage.press("u")
    #expect(stage.session.patch.settings.tempo == 120)
  }

  @Test func missedAndDoubleBeatsDoNotCount() {
    let stage = Stage.demo()
    tap(stage, [1, 0.6, 0.6, 1.2, 0.6, 0.1, 0.5, 0.6, 0.6])
    #expect(stage.session.patch.settings.tempo == 100)
  }

  @Test func beatsThatDisagreeSetNothing() {
    let stage = Stage.demo()
    tap(stage, [1, 0.3, 1.1])
    #expect(stage.session.patch.settings.tempo == 120 && stage.message == "no beat in these taps")
  }

  @Test func aPauseBeginsAnewAndTheNextSeriesIsAnEditOfItsOwn() {
    let stage = Stage.demo()
    tap(stage, [1, 0.6, 0.6, 0.6])
    tap(stage, [5, 0.75, 0.75], "t")
    #expect(stage.session.patch.settings.tempo == 80)
    stage.press("u")
    #expect(stage.session.patch.settings.tempo == 100)
  }

  @Test func tapsInPlayModeTouchNoNote() {
    let stage = Stage.demo()
    stage.press("p z c")
    tap(stage, [1, 0.5, 0.6, 0.6, 0.6])
    #expect(stage.app.state.play.held == [60, 64])
    #expect(stage.lastEdit.hasPrefix("tempo "))
  }
}

/// Play mode in every view.
@Suite @MainActor struct PlayViewTests {
  @Test func theMatrixIsPlayedByKeysThatAreNoNotes() {
    let stage = Stage.demo()
    stage.press("p z F4 right down")
    #expect(stage.app.state.matrix.cell == GridCell(1, 1))
    stage.press("shift-down shift-down")
    #expect(stage.lastEdit == "set main[1,1] -2dB")
    stage.press("left delete")
    #expect(stage.lastEdit == "set main[1,0] 0dB")
    stage.press("enter")
    #expect(stage.screen.contains(": set main[1,0]"))
    stage.press("esc")
    #expect(stage.app.state.play.held == [60] && stage.app.state.mode == .play)
  }

  @Test func theFooterSaysWhatTheArrowsMove() {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (80, 24)
    stage.press("p")
    #expect(stage.screen.contains("Esc leaves   arrows node"))
    stage.press("F4")
    #expect(stage.screen.contains("Esc leaves   arrows cell"))
    stage.press("F5 right")
    #expect(stage.focus != "dist")
  }

  @Test(arguments: [30, 50, 80]) func anErrorOfThePromptIsReadWhole(columns: Int) {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (columns, 24)
    stage.press(": =piano_colemak enter")
    let words = stage.screen.split(whereSeparator: \.isWhitespace).map(String.init).joined(separator: " ")
    #expect(
      words.contains(
        "no layout `colemak`: there are qwerty, qwertz, azerty, dvorak, isomorphic, or name a TOML file"))
    #expect(stage.screen.contains(": piano colemak"))
  }

  @Test func theFocusReturnsWithItsNodeAfterARecall() {
    let stage = Stage.demo()
    stage.press(": =scene_1 enter : =insert_echo_delay_into_dist_->_main enter : =scene_2 enter")
    stage.app.desk.focus(stage.session.patch.id(named: "echo")!)
    stage.press(": =recall_1 enter")
    #expect(stage.focus != "echo" && !stage.focus.isEmpty)
    stage.press(": =recall_2 enter")
    #expect(stage.focus == "echo")
    // Who has moved on stays there.
    stage.press(": =recall_1 enter")
    stage.app.desk.focus(stage.session.patch.id(named: "out")!)
    stage.press(": =recall_2 enter")
    #expect(stage.focus == "out")
  }
}

import Foundation
import Patch
import PatchLanguage
import Screen
import Testing

@testable import Interface

/// What the screen tells of the way on and out: footers, empty views, help, and names that have little room.
@Suite @MainActor struct GuidanceTests {
  private func footer(_ stage: Stage) -> String {
    stage.canvas.lines.last ?? ""
  }

  private func sized(_ stage: Stage, _ columns: Int, _ rows: Int) -> Stage {
    (stage.columns, stage.rows) = (columns, rows)
    return stage
  }

  // MARK: Footers

  @Test(arguments: ["ctrl-p", "a", "r", "i", ":", "/", "enter"])
  func theWayOutIsTheLastKeyThatANarrowFooterDrops(key: String) {
    for columns in [24, 34, 40, 60] {
      let stage = sized(.demo(), columns, 15)
      stage.press(key)
      #expect(footer(stage).contains("Esc"), "\(columns): \(footer(stage))")
    }
  }

  @Test func whileAControlIsPickedTheFooterSaysWhatTheKeysDoThen() {
    let stage = sized(.demo(), 80, 24)
    stage.press("p alt-1 =dist.drive enter")
    #expect(footer(stage).contains("Esc lets go") && footer(stage).contains("← → turn"))
    stage.press("esc")
    #expect(footer(stage).contains("Esc leaves") && footer(stage).contains("arrows node"))
  }

  @Test func theFooterSaysWhatTheKeysDoHere() {
    let stage = sized(.demo(), 80, 24)
    stage.press("F4 [")
    #expect(footer(stage).contains("Esc drop range") && footer(stage).contains("] end of range"))
    stage.press("]")
    #expect(footer(stage).contains("Esc drop range") && !footer(stage).contains("end of range"))
    stage.press("esc")
    #expect(footer(stage).contains("Esc graph"))
    stage.press("F2 : =collapse_dist_main_into_fx enter")
    #expect(footer(stage).contains("Esc out of it"), "\(stage.screen)")
    stage.press("esc")
    stage.app.state.graph.showsOverview = true
    #expect(footer(stage).contains("Esc go there"))
    stage.press("esc alt-l")
    stage.columns = 140
    #expect(!footer(stage).contains("quit") && footer(stage).contains("Alt-L unlock"))
    stage.press("alt-l p F12")
    #expect(footer(stage).contains("arrows move"))
  }

  /// Nothing is offered that would do nothing, and a key that finds nothing says so.
  @Test func inAnEmptyPatchKeysForNodesSayHowOneComes() {
    let stage = sized(Stage(), 100, 24)
    #expect(!footer(stage).contains("undo") && !footer(stage).contains("Esc"))
    for key in ["x", "r", "R", "F8", "F9", "enter"] {
      stage.press(key)
      #expect(
        stage.message == "there is no node: a adds one, Ctrl-O opens a file", "\(key): \(stage.message)")
      #expect(stage.app.state.overlay == nil, "\(key)")
    }
  }

  /// The pedal, and how notes end, on any screen.
  @Test func playModeNamesThePedalAndTheReleaseOnAnyScreen() {
    for layout in ["qwerty", "isomorphic"] {
      for (columns, rows) in [(40, 12), (40, 24), (60, 15), (60, 24), (80, 24), (120, 40)] {
        let stage = sized(.demo(), columns, rows)
        stage.press(": =piano_\(layout) enter p z c b space")
        let screen = stage.screen
        #expect(screen.contains("release: press again"), "\(columns)x\(rows): \(screen)")
        #expect(screen.contains("pedal ● down"), "\(columns)x\(rows): \(screen)")
      }
    }
  }

  /// The bar's first line has the first of many held keys, and how many there are besides.
  @Test func manyHeldKeysLeaveRoomForTheOctaveAndArePartlyNamed() {
    let keys = "p z x c v b n m q w e r t y u i o"
    let stage = sized(.demo(), 80, 24)
    stage.press(keys)
    func bar() -> String { stage.canvas.lines.first { $0.contains("release: ") } ?? "" }
    #expect(bar() == " octave 4   velocity 100   pedal ○ up   release: press again   keys C4 D4 +14")
    stage.columns = 120
    let wide = " octave 4   velocity 100   pedal ○ up   release: press again   "
    #expect(bar() == wide + "keys C4 D4 E4 F4 G4 A4 B4 C5 D5 E5 F5 G5 A5 +3   to keys")
    (stage.columns, stage.rows) = (60, 15)
    #expect(bar() == " keys C4 D4 E4 F4 G4 A4 B4 C5 D5 +7   release: press again")
    stage.press("space")
    #expect(bar() == " keys C4 D4 E4 F4 +12   release: press again   pedal ● down")
  }

  @Test func theInspectorHasHelpLeadsToTheShellAndGivesWayOnTheSmallestScreens() {
    let stage = sized(.demo(), 40, 12)
    _ = stage.screen
    stage.press("enter ctrl-z")
    #expect(stage.app.wish == .suspend && stage.app.state.overlay != nil)
    stage.press("F4")
    #expect(stage.screen.contains("in 0") && stage.app.state.overlay == nil, "\(stage.screen)")
    stage.press("F2 enter ?")
    #expect(stage.app.state.view == .help)
  }

  @Test func aNumberStaysWithItsUnit() {
    let words = Wrapping.words("From 1 % to 4.00 kHz, or 3 of -6 dB.", .text).map { $0.map(\.text).joined() }
    #expect(words == ["From", "1 %", "to", "4.00 kHz,", "or", "3", "of", "-6 dB."])
  }

  @Test func pickersLeaveControlsInSight() {
    let stage = sized(.demo(), 80, 24)
    stage.press(": =control_1_dist.drive enter : =control_4_dist.mix enter p alt-5")
    #expect(
      stage.screen.contains("4 dist.mix") && stage.screen.contains("control 5 turns"), "\(stage.screen)")
  }

  @Test func thePaletteHasThemes() {
    let stage = sized(.demo(), 80, 24)
    stage.app.themes = ["nord", "paper"]
    stage.press("ctrl-p =theme_nord enter")
    #expect(stage.app.theme == "nord")
  }

  @Test func whereThereIsNothingToShowTheScreenSaysWhatToPress() {
    let stage = sized(Stage(), 80, 24)
    for key in ["F2", "F4", "5", "F12", "6"] {
      stage.press(key)
      #expect(footer(stage).contains("a add"), "\(key): \(footer(stage))")
      for word in ["connect", "replace", "on/off", "freeze", "begin anew", "go there"] {
        #expect(!footer(stage).contains(word), "\(key): nothing to \(word)")
      }
    }
    stage.press("F2")
    #expect(stage.screen.contains("an empty patch: a adds a node, Ctrl-O opens a file"))
  }

  // MARK: Help

  @Test func helpHasVerbsCommandsAndActionsAndNoSentenceIsCut() {
    for (columns, rows) in [(40, 20), (60, 15), (80, 24), (120, 40)] {
      let stage = sized(.demo(), columns, rows)
      for (word, sentence) in [
        ("insert", "Inserts a new node into a cable."), ("recall", "recall"), ("theme", "other colours"),
        ("undo", "Takes back the last edit."),
      ] {
        _ = stage.screen
        stage.press(": =help_\(word) enter")
        #expect(
          stage.app.state.view == .help && stage.screen.contains(sentence), "\(columns): \(stage.screen)")
      }
      stage.press(": =help_nonsense enter")
      #expect(stage.message == "no help for `nonsense`: Tab after `help ` lists all words")
      let lines = HelpView().lines(stage.app.scene, stage.app.state) ?? []
      #expect(lines.count > 100)
      let all = lines.flatMap { $0.split(separator: " ") }.joined(separator: " ")
      for verb in Verb.all {
        let summary = verb.summary.filter { $0 != "`" }.split(separator: " ").joined(separator: " ")
        #expect(all.contains(summary), "\(columns): \(verb.name)")
      }
      // What the screen shows of a line is all of it.
      func words(_ text: String) -> String {
        text.split(separator: " ").filter { $0 != "↑" && $0 != "↓" }.joined(separator: " ")
      }
      let known = Set(lines.map(words))
      stage.press("home")
      for _ in 0..<lines.count / rows + 2 {
        for row in stage.canvas.lines.dropFirst(2).dropLast(3) {
          #expect(known.contains(words(row)), "\(columns): \(row)")
        }
        stage.press("pagedown")
      }
    }
  }

  @Test func completionsStandBesideWhatTheyMean() {
    let stage = sized(.demo(), 80, 24)
    stage.press(": =pani tab")
    #expect(stage.screen.contains("panic"))
    stage.press("esc : =the")
    #expect(stage.screen.contains("theme NAME: other colours"), "\(stage.screen)")
  }

  @Test func pickersFindWordsOfTheirDescriptionsWhateverTheirCase() {
    #expect(
      FuzzyMatch.ranked("sine", names: ["oscillator", "gain"], details: ["Sine, saw.", "Louder."]) == [0])
    #expect(
      FuzzyMatch.ranked("LOUD", names: ["oscillator", "gain"], details: ["Sine, saw.", "Louder."]) == [1])
    let stage = sized(.demo(), 80, 24)
    stage.press("ctrl-p =echoes")
    #expect(stage.screen.contains("add delay"), "\(stage.screen)")
  }

  @Test func theEndOfALongFilterIsSeen() {
    let stage = sized(.demo(), 60, 20)
    let text = String(repeating: "abcdefghij", count: 9) + "XYZ"
    stage.press("ctrl-p")
    stage.type(text)
    #expect(stage.screen.contains("hijxyz"), "\(stage.screen)")
  }

  // MARK: Names

  @Test func longNamesKeepThePartThatTellsThemApart() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<300 {
      let node = String(
        (0..<Int.random(in: 1...60, using: &random)).map { _ in "ab長é_".randomElement(using: &random) ?? "a" }
      )
      let part = [".drive", ".mix", "[0,1]", ".band2.freq"].randomElement(using: &random) ?? ""
      let columns = Int.random(in: 1...40, using: &random)
      let short = Wrapping.shortened(part: node + part, to: columns)
      #expect(DisplayWidth.of(short) <= columns, "\(short)")
      let end = part.hasPrefix(".band2") ? ".freq" : part
      if columns >= DisplayWidth.of(end) + 2 { #expect(short.hasSuffix(end), "\(node)\(part) as \(short)") }
    }
    let stage = sized(
      Stage("node \(String(repeating: "x", count: 50)) distortion", "node out output"), 80, 24)
    let name = stage.names[0]
    stage.press(
      ": =control_1_\(name).drive enter : =control_2_\(name).mix enter : =control_8_\(name).tone enter")
    stage.press("a =keyboard enter p")
    #expect(
      stage.screen.contains("….drive") && stage.screen.contains("….mix"), "\(stage.message) \(stage.screen)")
    #expect(stage.screen.contains("›"), "there are controls beyond the edge: \(stage.screen)")
    stage.press("alt-8")
    #expect(stage.screen.contains("….tone") && stage.screen.contains("‹"))
  }

  @Test func everyCrosspointIsOfferedToAControl() {
    let stage = sized(.demo(), 80, 24)
    stage.press("F2 alt-2 =main[3,1] enter")
    #expect(stage.lastEdit == "control 2 main[3,1]")
    stage.press("alt-3 =main.in[2] enter")
    #expect(stage.lastEdit == "control 3 main.in[2]")
  }

  // MARK: The prompt

  @Test func theWordThatIsWrongIsSeenAboveItsMark() {
    let stage = sized(.demo(), 60, 15)
    stage.press(
      ": =set_dist.nothing_12dB_;_remove_main_;_connect_nobody_->_out_gain=-12dB_;_set_dist.mix_10% enter")
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    let mark = lines.lastIndex { $0.contains("^") } ?? 0
    let column = lines[mark].distance(
      from: lines[mark].startIndex, to: lines[mark].firstIndex(of: "^") ?? lines[mark].startIndex)
    #expect(mark > 0 && lines[mark - 1].dropFirst(column).hasPrefix("nothing"), "\(stage.screen)")
  }

  @Test func aLetterReplacesTheSuggestedDepth() {
    let stage = sized(
      Stage("node wave lfo", "node dist distortion", "node out output", "connect dist -> out"), 100, 24)
    let ends = Cable.Ends(
      PortReference(stage.session.patch.id(named: "wave") ?? NodeID(raw: 0), "out"),
      PortReference(stage.session.patch.id(named: "dist") ?? NodeID(raw: 0), "drive"))
    #expect(Modulating.open(ends, stage.app.desk))
    stage.type("3dB")
    stage.press("enter")
    #expect(stage.lastEdit == "connect wave -> dist.drive by 3dB", "\(stage.lastEdit) \(stage.message)")
    #expect(Modulating.open(ends, stage.app.desk))
    stage.type("7Hz")
    stage.press("enter")
    #expect(footer(stage).contains("Esc leave"), "a refusal leaves the keys on the screen: \(stage.screen)")
  }

  // MARK: The keys that are played

  @Test func aKeyboardShowsItsOwnNotesAndTheyEndWithIt() {
    let stage = sized(.demo(), 110, 30)
    stage.press("p z c b")
    #expect(stage.app.state.play.held == [60, 64, 67])
    stage.app.desk.focus(stage.session.patch.id(named: "keys") ?? NodeID(raw: 0))
    stage.press("esc D")
    #expect(stage.names.contains("keys2"))
    stage.play(seconds: 0.1)
    let boxes = stage.screen.components(separatedBy: "C4 E4 G4").count - 1
    #expect(boxes == 1, "one keyboard holds them: \(stage.screen)")
    // Taking it away is asked about, since it holds notes.
    stage.app.desk.focus(stage.session.patch.id(named: "keys") ?? NodeID(raw: 0))
    stage.press("p F9")
    #expect(
      stage.names.contains("keys") && stage.message == "keys holds notes, which would end: again to remove it"
    )
    stage.press("F9")
    stage.play(seconds: 0.2)
    #expect(!stage.names.contains("keys"))
    stage.press("F10")
    stage.play(seconds: 0.1)
    #expect(stage.names.contains("keys") && stage.app.state.play.held.isEmpty)
    #expect(!stage.screen.contains("C4 E4 G4"), "\(stage.screen)")
  }

  @Test func aNodeWhoseNotesThePedalHoldsIsAskedAboutAlsoWhereNobodyHearsIt() {
    let stage = sized(
      Stage("node keys keyboard", "node piano voices", "node out output", "connect keys -> piano"), 110, 30)
    stage.press("p space z c")
    stage.play(seconds: 0.1)
    stage.press("z c")
    stage.app.desk.focus(stage.session.patch.id(named: "piano") ?? NodeID(raw: 0))
    stage.play(seconds: 0.5)
    #expect(stage.app.state.play.held.isEmpty, "the pedal holds them")
    stage.press("F9")
    #expect(
      stage.names.contains("piano")
        && stage.message == "notes of piano sound, and would end: again to remove it")
    stage.press("F9")
    stage.play(seconds: 0.2)
    #expect(!stage.names.contains("piano"))
  }

  @Test func keysWithNothingToPlaySaySo() {
    let stage = sized(.demo(), 80, 24)
    stage.press("p z")
    stage.app.desk.attempt { _ = try stage.app.desk.workbench.perform(line: "remove keys ; remove piano") }
    stage.play(seconds: 0.1)
    #expect(stage.app.state.play.held.isEmpty)
    stage.press("x")
    #expect(stage.message == "nothing to play: add a keyboard or a sampler")
  }

  // MARK: Inspector and history

  @Test func theInspectorHasASpectrumWhereThereIsRoom() {
    let stage = sized(
      Stage("node tone oscillator freq=1kHz level=-12dB", "node out output", "connect tone -> out"), 120, 40)
    stage.app.desk.focus(stage.session.patch.id(named: "tone") ?? NodeID(raw: 0))
    stage.press("enter")
    _ = stage.screen
    stage.play(seconds: 0.6)
    #expect(stage.screen.contains("1k") && stage.screen.contains("10k"), "\(stage.screen)")
    let spectrum = (stage.app.state.overlay as? Inspector)?.picture.spectrum
    #expect(abs((spectrum?.peak?.frequency ?? 0) - 1000) < 2)
    stage.rows = 24
    _ = stage.screen
    stage.play(seconds: 0.1)
    #expect(!stage.screen.contains("10k"))
  }

  @Test func theLineUnderTheHistorysCursorIsSeenWhole() {
    let stage = sized(.demo(), 80, 24)
    let line =
      "set dist.drive 3dB ; set main[0,1] -3dB ; set dist.mix 20% ; set main[1,0] -4dB ; set main.master -1dB"
    stage.app.desk.attempt { _ = try stage.app.desk.workbench.perform(line: line) }
    stage.columns = 120
    stage.press("F12")
    #expect(stage.screen.contains(line), "\(stage.screen)")
  }
}

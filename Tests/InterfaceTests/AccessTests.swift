import Patch
import Screen
import Session
import Testing

@testable import Interface

/// Without a screen, without motion: what is told by lines, and what rests.
@Suite @MainActor struct AccessTests {
  private func told(_ stage: Stage, _ narrator: Narrator, _ keys: String) -> String {
    var lines: [String] = []
    for key in keys.split(separator: " ") {
      stage.press(String(key))
      lines += narrator.news(isAnswer: true)
    }
    return lines.joined(separator: "\n")
  }

  @Test func theFirstLinesSayWhereOneIs() {
    let stage = Stage.demo()
    let lines = Narrator(stage.app).greeting().joined(separator: "\n")
    #expect(lines.contains("5 nodes: keys, piano, dist, main, out"))
    #expect(lines.contains("dist, distortion, drive 18.0 dB"))
    #expect(lines.contains("from piano") && lines.contains("to main"))
  }

  @Test func focusEditsAndRefusalsAreTold() {
    let stage = Stage.demo()
    let narrator = Narrator(stage.app)
    _ = narrator.greeting()
    #expect(told(stage, narrator, "tab").contains("main, matrix 4 × 2"))
    #expect(told(stage, narrator, "shift-tab").hasPrefix("dist, distortion"))
    let swapped = told(stage, narrator, "F7")
    #expect(swapped.contains("replace dist") && swapped.contains("dist, equalizer"))
    #expect(told(stage, narrator, "u").contains("undone: replace dist"))
    #expect(told(stage, narrator, ": =remov enter").contains("error at 1"))
    #expect(told(stage, narrator, "esc").contains("closed"))
  }

  /// Every overlay says what it asks, and what is chosen in it.
  @Test func listsQuestionsAndHintsAreTold() {
    let stage = Stage.demo()
    let narrator = Narrator(stage.app)
    _ = narrator.greeting()
    let list = told(stage, narrator, "r")
    #expect(list.contains("1 of "))
    #expect(told(stage, narrator, "down").contains("2 of "))
    _ = told(stage, narrator, "esc")
    #expect(told(stage, narrator, "q").contains("y: save and quit"))
    _ = told(stage, narrator, "esc")
    let hints = told(stage, narrator, "c")
    #expect(hints.contains("dist.out") || hints.contains("piano.out"))
    _ = told(stage, narrator, "esc")
    #expect(told(stage, narrator, "enter").contains("drive 18.0 dB, set, 1 of "))
    #expect(told(stage, narrator, "down").contains("shape "))
    #expect(told(stage, narrator, "up right").contains("drive 19.0 dB"))
  }

  @Test func viewsAreToldLineByLine() {
    let stage = Stage.demo()
    let narrator = Narrator(stage.app)
    _ = narrator.greeting()
    let matrix = told(stage, narrator, "F4")
    #expect(matrix.contains("view matrix") && matrix.contains("main"))
    let before = told(stage, narrator, "right")
    #expect(!before.isEmpty && before != matrix)
    #expect(told(stage, narrator, "F12").contains("view history"))
    #expect(told(stage, narrator, "up").contains("connect dist -> main"))
    #expect(told(stage, narrator, "F1").contains("view help"))
    #expect(!told(stage, narrator, "down").isEmpty)
    #expect(told(stage, narrator, "esc F5").contains("view trace"))
  }

  /// The help of a verb is told whole, an edit once, and a node without sound in words.
  @Test func nothingIsToldTwiceOrByHalves() {
    let stage = Stage.demo()
    let narrator = Narrator(stage.app)
    _ = narrator.greeting()
    let help = told(stage, narrator, ": =help_tempo enter")
    #expect(help.ranges(of: "tempo 120").count == 1, "\(help)")
    #expect(help.contains("Beats a minute") && help.contains("position in the bar stays."), "\(help)")
    #expect(told(stage, narrator, "down").isEmpty, "the rest of the sentence")
    _ = told(stage, narrator, "esc F12")
    let edit = told(stage, narrator, ": =set_dist.drive_4dB enter")
    #expect(edit.split(separator: "\n").filter { $0.hasPrefix("set dist.drive 4dB") }.count == 1, "\(edit)")
    stage.app.desk.focus(stage.session.patch.id(named: "keys") ?? NodeID(raw: 0))
    #expect(told(stage, narrator, "F2 v").contains("keys has no sound of its own"))
  }

  @Test func playModeAndItsPedalAreToldAndTheTypedLineIsKnown() {
    let stage = Stage.demo()
    let narrator = Narrator(stage.app)
    #expect(told(stage, narrator, "p").contains("play mode"))
    #expect(told(stage, narrator, "space").contains("pedal down"))
    #expect(told(stage, narrator, "]").contains("octave 5"))
    #expect(told(stage, narrator, "space esc").contains("patch mode"))
    stage.press(":")
    stage.type("set dist.")
    #expect(narrator.entry?.sign == ":" && narrator.entry?.text == "set dist." && narrator.entry?.cursor == 9)
    stage.press("esc")
    #expect(narrator.entry == nil)
    #expect(told(stage, narrator, "alt-s").contains("voices 0"))
  }

  /// A server that hangs first silences, and later the clock takes over: both are told, and the end of it.
  @Test func eachTurnOfTheDriversTroubleIsToldOnce() throws {
    let workbench = FaultyWorkbench(Stage.demo().workbench)
    let narrator = Narrator(App(workbench: workbench))
    _ = narrator.greeting()
    #expect(narrator.news(isAnswer: false).isEmpty)
    for trouble in ["stands still: silent", "stands still: playing on through the clock driver", nil] {
      workbench.trouble = trouble
      #expect(narrator.news(isAnswer: false) == [trouble ?? "sound is back"])
      #expect(narrator.news(isAnswer: false).isEmpty)
    }
  }

  /// Nothing is told by itself while sound moves.
  @Test func metersAreNoNews() {
    let stage = Stage("node tone oscillator", "node out output", "connect tone -> out")
    let narrator = Narrator(stage.app)
    _ = narrator.greeting()
    _ = narrator.news(isAnswer: true)
    for _ in 0..<20 {
      stage.play(seconds: 0.05)
      #expect(narrator.news(isAnswer: false).isEmpty)
    }
  }

  @Test func reducedMotionShowsMetersOnceASecondAndKeysAtOnce() {
    func pictures(isCalm: Bool) -> Int {
      let stage = Stage(
        "node tone oscillator", "node swell gain", "node lfo lfo rate=2Hz", "node out output",
        "connect tone -> swell",
        "connect lfo -> swell.gain by 24dB", "connect swell -> out")
      stage.session.engine.isMetering = true
      stage.app.isCalm = isCalm
      _ = stage.screen
      var count = 0
      for _ in 0..<100 {
        stage.play(seconds: 0.04)
        if stage.app.needsRender {
          count += 1
          _ = stage.screen
        }
      }
      stage.press("tab")
      #expect(stage.app.needsRender)
      return count
    }
    #expect(pictures(isCalm: false) > 80)
    #expect((3...5).contains(pictures(isCalm: true)))
  }

  @Test func theSettingIsReadAndRefusedInWords() {
    #expect(Settings.read("motion = \"reduced\"\n", file: "c").settings.isCalm)
    #expect(!Settings.read("motion = \"full\"\n", file: "c").settings.isCalm)
    #expect(Settings.read("motion = 3\n", file: "c").problems.first?.contains("`motion` is") == true)
  }
}

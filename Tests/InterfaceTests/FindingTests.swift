import Foundation
import Patch
import Screen
import Session
import Testing

@testable import Interface

/// Search in views of lines, the history as a script, commands of the prompt.
@Suite @MainActor struct FindingTests {
  @Test func aSearchInTheHelpGoesFromLineToLineAndBack() {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (80, 24)
    // Drawn once, so that the view has its size.
    stage.press("?")
    #expect(stage.screen.contains("Everywhere"))
    stage.press("/ =stage_lock")
    let canvas = stage.canvas
    let row = canvas.lines.firstIndex { $0.contains("Stage lock") }
    #expect(row != nil)
    let column = canvas.lines[row ?? 0].range(of: "Stage").map {
      canvas.lines[row ?? 0].distance(from: canvas.lines[row ?? 0].startIndex, to: $0.lowerBound)
    }
    #expect(canvas[Point(column ?? 0, row ?? 0)].style.key == .match)
    stage.press("esc")
    #expect(!stage.screen.contains("Stage lock"))
    stage.press("/ =undo enter")
    let first = stage.message
    #expect(first.hasPrefix("line 1 of "))
    stage.press("n")
    #expect(stage.message.hasPrefix("line 2 of "))
    stage.press("N")
    #expect(stage.message == first)
    stage.press("N")
    #expect(stage.message != first)
    stage.press("esc")
    #expect(stage.app.state.view == .help && stage.app.state.search.isEmpty)
    stage.press("/ =xyzzy")
    #expect(stage.message == "no line with xyzzy")
  }

  @Test func theHistorysCursorGoesToTheLineFoundAndAPrintoutsFocusToo() {
    let stage = Stage.demo()
    stage.press("U / =sampler enter")
    #expect(stage.app.state.history.point == 2)
    stage.press("enter")
    #expect(stage.names == ["keys", "piano"])
    stage.press("end enter esc")
    stage.play(seconds: 0.1)
    stage.press("2 / ={matrix enter")
    #expect(stage.focus == "main")
    stage.press("1 / =out enter")
    #expect(stage.focus == "out")
  }

  @Test func aTraceStandsStillAtWhatWasFound() {
    let stage = Stage.demo()
    for _ in 0..<40 { stage.press("F8 F9") }
    stage.play(seconds: 0.2)
    stage.press("4 / =distortion")
    stage.press("esc / =dist enter")
    #expect(!stage.app.state.trace.isFollowing)
    #expect(stage.message.contains(" with dist"))
  }

  @Test func anEditOfTheHistoryIsCopied() {
    let stage = Stage.demo()
    stage.press("U up y")
    #expect(stage.app.takeCopied() == "connect dist -> main map=[0,1,-1,-1]\n")
  }

  @Test func theHistoryIsWrittenAsAScriptThatMakesTheSamePatch() throws {
    let path = NSTemporaryDirectory() + "sostenuto-\(UUID().uuidString).script"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let stage = Stage.demo()
    stage.press("u U w")
    stage.type(path)
    stage.press("enter")
    #expect(stage.message == "8 edits written to \(path)")
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    #expect(lines.first == "# Edits of untitled, on the patch as it was before the first of them.")
    let other = Stage()
    for line in lines.dropFirst() {
      let words = line.split(separator: " ", maxSplits: 2)
      #expect(words[0] == "at")
      try other.session.perform(String(words[2]))
    }
    #expect(other.names == stage.names)
    #expect(other.session.patch.cables.count == stage.session.patch.cables.count)
    // Another file of that name is asked about.
    stage.press("w")
    stage.type(path)
    stage.press("enter")
    #expect(stage.screen.contains("There is another file of that name"))
    stage.press("o")
    #expect(stage.message.hasPrefix("8 edits written"))
  }

  @Test func aThemeIsSeenWhileItIsTypedAndStaysWithEnter() {
    let stage = Stage.demo()
    stage.app.themes = Theme.builtIn.map(\.name)
    stage.press(": =theme_")
    #expect(stage.app.theme == nil)
    stage.press("tab")
    #expect(stage.app.theme == "dark")
    stage.press("tab tab")
    #expect(stage.app.theme == "nord")
    stage.press("esc")
    #expect(stage.app.theme == nil)
    stage.press(": =theme_gru")
    #expect(stage.app.theme == nil)
    stage.press("tab enter")
    #expect(stage.app.theme == "gruvbox")
    stage.press(": =theme_amber")
    #expect(stage.app.theme == "amber")
    stage.press("esc")
    #expect(stage.app.theme == "gruvbox")
    stage.press(": =theme_no enter")
    #expect(stage.message.hasPrefix("no theme `no`"))
    stage.press(": =qui tab")
    #expect(stage.screen.contains(": quit"))
  }

  @Test func settingsAreReadAndWhatIsWrongIsNamedWithItsLine() {
    let (settings, problems) = Settings.read(
      """
      # mine
      theme = "nord"
      follow-file = "no"
      thema = "x"
      [more]
      a = 1
      """, file: "config.toml")
    #expect(settings.theme == "nord" && settings.followsFile)
    #expect(
      problems == [
        "config.toml:3: error: `follow-file` is true or false",
        "config.toml:4: error: unknown setting `thema`; did you mean `theme`?",
        "config.toml:5: error: unknown setting `more`; there are follow-file, motion, theme",
      ])
    #expect(Settings.read("theme = \n", file: "c").problems == ["c:1: error: a value is missing"])
    #expect(Settings.read("", file: "c").problems.isEmpty)
  }

  @Test func keysThatContradictEachOtherAreNamed() {
    let (_, problems) = Keymap.read(
      """
      [patch]
      "ctrl-y" = "undo"
      "control-y" = "redo"
      g = "und"
      [play]
      z = "undo"
      """, file: "keys.toml")
    #expect(
      problems == [
        "keys.toml:2: error: [patch] `ctrl-y` is the same key as `control-y`",
        "keys.toml:4: error: [patch] `g`: unknown action `und`; did you mean `undo`?",
        "keys.toml:6: error: [play] `z` is a key of the piano, which comes first in play mode",
      ])
  }
}

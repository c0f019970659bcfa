import Foundation
import Patch
import Screen
import Testing

@testable import Interface

/// The prompt, lists and footers as they stand on the screen.
@Suite @MainActor struct PromptScreenTests {
  private func demo(_ columns: Int = 80, _ rows: Int = 24) -> Stage {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (columns, rows)
    return stage
  }

  private func footer(_ stage: Stage) -> String { stage.canvas.lines.last ?? "" }

  @Test(arguments: [(80, 24), (60, 20), (40, 12)])
  func besideAnErrorTheWayOutStays(columns: Int, rows: Int) {
    let stage = demo(columns, rows)
    stage.press(": =set_dist.mix_4_xx enter")
    #expect(footer(stage).contains("^") && footer(stage).contains("Esc leave"), "\(stage.screen)")
    let column = Array(footer(stage)).firstIndex(of: "^")
    let line = stage.canvas.lines[rows - 2]
    let error = Array(line).count > (column ?? 0) ? Array(line)[column ?? 0] : " "
    #expect(error == "x" || error == "4", "the mark stands below the mistake: \(stage.screen)")
  }

  /// Quadratic work would take minutes.
  @Test func aPastedWordOf20000LettersIsRefusedAtOnceInItsBeginningAndEnd() {
    let stage = demo()
    stage.press(":")
    stage.app.handle(.paste(String(repeating: "a", count: 20_000) + "z"))
    stage.press("enter")
    #expect(stage.screen.contains("no verb `aaaa") && stage.screen.contains("…aaaa"), "\(stage.screen)")
    #expect(footer(stage).contains("Esc leave"))
    let text = String(repeating: "ab音", count: 20_000)
    let lines = Wrapping.lines([Wrapping.words(text, .text)], columns: 78, gap: 1)
    #expect(lines.allSatisfy { $0.width <= 78 })
    #expect(lines.joined().map(\.text).joined() == text)
  }

  /// A terminal without bracketed paste types what is pasted; quadratic work would take minutes.
  @Test(arguments: ["", "set dist.mix 40% ; ", "save "])
  func thousandsOfLettersAreTypedAtOnce(before: String) {
    let stage = demo()
    stage.press(":")
    stage.type(before)
    let letters = String(repeating: "ab音 ", count: 3000)
    stage.type(letters)
    stage.press("home right")
    stage.type(String(repeating: "xy", count: 2000))
    let line = (stage.app.state.overlay as? Prompt)?.line
    let typed = String((before + letters).prefix(1)) + String(repeating: "xy", count: 2000)
    #expect(line?.text == typed + (before + letters).dropFirst())
    #expect(line?.textBeforeCursor == typed)
    #expect(stage.canvas.lines[22].contains(String(repeating: "xy", count: 30)), "\(stage.screen)")
  }

  @Test func aFunctionKeySaysThatThePromptIsOpen() {
    let stage = demo()
    stage.press(": =set F5")
    #expect(footer(stage).contains("F5 waits: Esc leaves the prompt"), "\(stage.screen)")
    #expect((stage.app.state.overlay as? Prompt)?.line.text == "set")
    stage.press("space")
    #expect(!footer(stage).contains("waits"))
  }

  @Test func nothingStandsBesideTheRowsOfCompletions() {
    let stage = demo()
    stage.press(": tab")
    let lines = stage.canvas.lines
    let prompt = lines.count - 2
    for row in prompt - 8..<prompt {
      #expect(!lines[row].contains { "─│╭╰┃".contains($0) }, "\(stage.screen)")
    }
    #expect(lines[prompt - 1].contains(" more"), "\(stage.screen)")
    stage.press("esc p : =set")
    stage.press("esc : =control_1_dist.drive enter p alt-1 enter")
    #expect(stage.screen.contains("How far into the curve: -inf to 60dB"), "\(stage.screen)")
  }

  // MARK: Questions and footers

  @Test func aQuestionAndItsAnswersAreSaidOnce() {
    for (columns, rows) in [(80, 24), (50, 15), (30, 12)] {
      let stage = demo(columns, rows)
      stage.press("q")
      let words = stage.screen.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(words.contains("Not saved: untitled"), "\(stage.screen)")
      for answer in ["save and quit", "quit without saving", "stay"] {
        #expect(words.components(answer) == 1, "\(answer): \(stage.screen)")
      }
    }
  }

  @Test func quittingWhileSomethingIsRecordedAsks() throws {
    let folder = NSTemporaryDirectory() + "takes-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let stage = demo()
    try stage.session.save(as: folder + "/night.patch")
    stage.press(":")
    stage.type("record out \(folder)/take.wav")
    stage.press("enter")
    stage.play(seconds: 0.1)
    stage.press("q")
    #expect(stage.screen.contains("Recording: take.wav"), "\(stage.screen)")
    #expect(stage.app.wish == .none)
    stage.press("esc q y")
    #expect(stage.app.wish == .quit)
    stage.app.wish = .none
    stage.press(": =set_dist.drive_3dB enter q")
    #expect(stage.screen.contains("Not saved: night.patch; Recording: take.wav"), "\(stage.screen)")
  }

  @Test func aRefusedLineComesBackFromTheHistory() {
    let stage = demo()
    stage.press(": =set_dist.drvie_3dB enter esc : up")
    #expect((stage.app.state.overlay as? Prompt)?.line.text == "set dist.drvie 3dB", "\(stage.screen)")
    stage.press("esc : =at_1s_undo enter")
    #expect(stage.screen.contains("times stand in a script"), "\(stage.screen)")
  }

  @Test func aKeyWithoutAnActionIsAnswered() {
    let stage = demo()
    stage.press("alt-9")
    #expect(stage.screen.contains("no alt-9 here: ? shows the keys"), "\(stage.screen)")
    stage.press("esc")
    #expect(!stage.screen.contains("here: ?"), "\(stage.screen)")
  }

  @Test func theFooterSaysWhatTheKeysDoWhileAGainIsTyped() {
    let stage = demo()
    stage.press("F4 5")
    #expect(footer(stage).contains("Enter set") && footer(stage).contains("Esc leave"), "\(stage.screen)")
    #expect(!footer(stage).contains("mute"))
    stage.press("esc")
    #expect(footer(stage).contains("mute"))
    stage.press("F2 a =zzzz")
    #expect(footer(stage).contains("Esc leave") && !footer(stage).contains("take"), "\(stage.screen)")
    stage.press("esc")
    stage.app.state.graph.showsOverview = true
    #expect(footer(stage).contains("Esc go there"))
  }

  // MARK: The palette

  @Test func thePaletteHasTheCommandsOfThePromptAndNothingTwice() {
    let stage = demo()
    for (filter, found) in [
      (":save", ":save"), (":open", ":open"), (":theme", ":theme"), ("reload", ":reload"),
      (":tuner", ":tuner"),
      (":wq", ":wq"), (":quit", "quit"), (":undo", "undo"),
    ] {
      stage.press("ctrl-p")
      stage.type(filter)
      #expect((stage.app.state.overlay as? Chooser)?.matching.first?.name == found, "\(filter)")
      stage.press("esc")
    }
    stage.press("ctrl-p")
    let names = (stage.app.state.overlay as? Chooser)?.items.map(\.name) ?? []
    #expect(Set(names).count == names.count)
    for name in ["undo", "redo", "panic", "quit"] {
      #expect(names.contains(name) && !names.contains(":" + name), "\(name)")
    }
    stage.type(":save")
    stage.press("enter")
    #expect((stage.app.state.overlay as? Prompt)?.line.text == "save ")
  }

  @Test func pastedTextFiltersAndTheHelpOfTheChosenIsWhole() {
    for columns in [40, 80, 100, 160] {
      let stage = demo(columns)
      stage.press("ctrl-p")
      stage.app.handle(.paste("lock\nmore"))
      #expect((stage.app.state.overlay as? Chooser)?.filter == "lock")
      let words = stage.screen.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(words.contains("panic by two presses; again to unlock"), "\(columns): \(stage.screen)")
    }
  }

  @Test func ofAPathTheEndIsSeen() {
    #expect(Wrapping.shortened(path: "open /tmp/a/b/c/song.patch", to: 20) == "open …/c/song.patch")
    #expect(Wrapping.shortened(path: "open /tmp/a.patch", to: 20) == "open /tmp/a.patch")
    for columns in 6...30 {
      let short = Wrapping.shortened(path: "open /home/somebody/music/reconnect.patch", to: columns)
      #expect(DisplayWidth.of(short) <= columns)
    }
  }
}

extension String {
  /// How often a text stands in it.
  fileprivate func components(_ text: String) -> Int {
    var (count, rest) = (0, self[...])
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}

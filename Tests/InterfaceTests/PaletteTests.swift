import Testing

@testable import Interface

/// The palette, and the search by some letters of a name.
@Suite @MainActor struct PaletteTests {
  private func ranked(_ letters: String, _ names: String...) -> [String] {
    FuzzyMatch.ranked(letters, names: names, details: names.map { _ in "" }).map { names[$0] }
  }

  @Test func lettersSideBySideAndAtBeginningsOfWordsComeFirst() {
    #expect(ranked("dd", "add delay", "dist.drive", "odd", "xyz") == ["dist.drive", "add delay", "odd"])
    #expect(ranked("mix", "m.i.x", "dist.mix", "mix", "main.in[0]") == ["mix", "dist.mix", "m.i.x"])
    #expect(ranked("gain", "again", "gain", "agaXin").first == "gain")
    #expect(ranked("é", "e", "É").first == "É")
    #expect(ranked("", "b", "a") == ["b", "a"])
    #expect(FuzzyMatch.score(Array("abc".unicodeScalars), in: Array("ab".unicodeScalars)) == nil)
  }

  @Test func everythingIsFoundAndDone() {
    let stage = Stage.demo()
    stage.press("ctrl-p")
    #expect(stage.screen.contains("go to or do"))
    stage.press("=piano enter")
    #expect(stage.focus == "piano")
    stage.press("ctrl-p =ddrive enter")
    #expect((stage.app.state.overlay as? Prompt)?.line.text == "set dist.drive 18dB")
    stage.press("=6dB enter")
    #expect(stage.lastEdit == "set dist.drive 6dB")
    stage.press("ctrl-p =undo enter")
    #expect(stage.message == "undone: set dist.drive 6dB")
    stage.press("ctrl-p =add_del enter")
    #expect(stage.lastEdit == "node delay delay" && stage.focus == "delay")
    stage.press("ctrl-p =:tempo enter =99 enter")
    #expect(stage.lastEdit == "tempo 99")
    // While playing too; the piano is silent as long as it is open, and Esc closes it.
    stage.press("p ctrl-p =matrix esc z")
    #expect(stage.app.state.play.held.count == 1)
  }
}

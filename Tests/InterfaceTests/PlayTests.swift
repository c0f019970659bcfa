import Engine
import Patch
import Screen
import Testing

@testable import Interface

/// Play mode, checked at the engine: its trace shows which notes arrived.
@Suite @MainActor struct PlayTests {
  private func notes(_ stage: Stage) -> [String] {
    stage.play(seconds: 0.05)
    return stage.session.trace(since: 0).filter { $0.name == "piano" }.compactMap {
      switch $0.happening {
      case .noteOn(let key, _): "on \(key)"
      case .noteOff(let key): "off \(key)"
      case .pedal(let isDown): isDown ? "pedal down" : "pedal up"
      default: nil
      }
    }
  }

  @Test func withoutKeyReleasesAKeySoundsUntilItIsPressedAgain() {
    let stage = Stage.demo()
    stage.press("p z")
    #expect(notes(stage) == ["on 60"])
    stage.press("q")
    #expect(stage.app.state.play.held == [60, 72])
    stage.press("z")
    #expect(notes(stage) == ["on 60", "on 72", "off 60"])
  }

  @Test func afterAPanicFromThePromptNoKeyCountsAsHeldTheNextPressSounds() {
    let stage = Stage.demo()
    stage.press("p z space esc : =panic enter")
    #expect(stage.app.state.play.held.isEmpty)
    #expect(!stage.app.state.play.pedal)
    stage.press("p z")
    #expect(notes(stage).last == "on 60")
  }

  @Test func aTerminalThatRepeatsAHeldKeyDoesNotEndItsNote() {
    let stage = Stage.demo()
    stage.press("p z")
    for _ in 0..<20 {
      stage.clock.seconds += 0.03
      stage.app.handle(.key(KeyStroke("z")))
    }
    #expect(notes(stage) == ["on 60"])
  }

  @Test func withKeyReleasesANoteLastsAsLongAsItsKeyIsDownInAnyMode() {
    let stage = Stage.demo(hasKeyRelease: true)
    stage.press("F6 z c")
    stage.release("c")
    #expect(notes(stage) == ["on 60", "on 64", "off 64"])
    stage.press("esc")
    stage.release("z")
    #expect(notes(stage) == ["on 60", "on 64", "off 64", "off 60"])
  }

  @Test func octavesVelocityAndThePedal() {
    let stage = Stage.demo()
    stage.press("p [ z ] s space space")
    #expect(notes(stage) == ["on 48", "on 61", "pedal down", "pedal up"])
  }

  /// Function keys rewire while notes sound, and the trace shows the sampler nothing but its notes.
  @Test func functionKeysRewireWhileNotesSound() {
    let stage = Stage.demo()
    stage.press("p z c b space")
    stage.play(seconds: 0.1)
    let start = stage.session.trace(since: 0).last?.id ?? 0
    let before = stage.session.patch
    stage.press("F7")
    stage.play(seconds: 0.05)
    #expect(stage.session.patch[named: "dist"]?.kind == "equalizer")
    stage.press("F7")
    #expect(stage.session.patch[named: "dist"]?.settings == before[named: "dist"]?.settings)
    stage.press("F8")
    #expect(stage.lastEdit == "insert delay delay into dist -> main")
    stage.play(seconds: 0.05)
    stage.press("F9")
    #expect(stage.lastEdit == "remove delay bridge")
    stage.press("F10 F10 F10 F10")
    #expect(stage.session.patch == before)
    stage.play(seconds: 0.1)
    #expect(stage.app.state.play.held == [60, 64, 67])
    let events = stage.session.trace(since: start + 1).filter { $0.name == "piano" }
    #expect(events.isEmpty, "the sampler was touched: \(events)")
  }

  @Test func viewsChangeByFunctionKeysWithoutLeavingPlayMode() {
    let stage = Stage.demo()
    stage.press("p F3")
    #expect(stage.app.state.view == .printout && stage.app.state.mode == .play)
    stage.press("F5 F4 F2 1")
    #expect(stage.app.state.view == .graph)
    stage.press("esc 4")
    #expect(stage.app.state.view == .trace)
  }
}

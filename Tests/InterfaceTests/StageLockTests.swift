import Patch
import Testing

@testable import Interface

/// The stage lock, and the questions before something falls silent.
@Suite @MainActor struct StageLockTests {
  @Test func lockedNothingQuitsAndNoSourceFallsSilent() {
    let stage = Stage.demo()
    stage.press("alt-l")
    #expect(stage.screen.contains("LOCKED"))
    let before = stage.session.patch
    for keys in ["q", "ctrl-q", "ctrl-c", "ctrl-z", ": =quit! enter", ": =q enter"] {
      stage.press(keys)
      #expect(stage.app.wish == .none, "\(keys)")
      #expect(stage.message.hasPrefix("locked"), "\(keys): \(stage.message)")
    }
    for keys in ["x", ": =remove_out enter", ": =disconnect_main_->_out enter", "end F9"] {
      stage.press(keys)
      #expect(stage.session.patch == before, "\(keys)")
      #expect(stage.message == "locked: that would silence piano; Alt-L unlocks", "\(keys): \(stage.message)")
    }
    // What leaves a way is free: the effect goes, its neighbours are joined.
    stage.press(": =remove_dist_bridge enter")
    #expect(stage.session.patch != before)
    stage.press("alt-l")
    #expect(!stage.screen.contains("LOCKED"))
    stage.press("x")
    #expect(stage.names.count == 3)
  }

  @Test func lockedPanicWantsASecondPress() {
    let stage = Stage.demo()
    stage.press("p z alt-l !")
    #expect(stage.app.state.play.held == [60] && stage.message == "locked: again for silence")
    stage.press("!")
    #expect(stage.app.state.play.held.isEmpty)
    stage.press("z !")
    stage.clock.seconds += 10
    stage.press("!")
    #expect(stage.app.state.play.held == [60], "the first press was long ago")
  }

  @Test func f9AsksBeforeItTakesTheLastWayToAnOutput() {
    let stage = Stage.demo()
    stage.press("p end F9")
    #expect(
      stage.names.contains("out") && stage.message == "out is the last way to an output: again to remove it")
    // The piano plays on meanwhile.
    stage.press("z")
    #expect(stage.app.state.play.held == [60])
    stage.press("F9 F9")
    #expect(!stage.names.contains("out"))
    // Where another way is left it does not ask.
    let other = Stage(
      "node a oscillator", "node b gain", "node out output", "connect a -> b", "connect b -> out",
      "node c oscillator",
      "connect c -> out")
    other.app.desk.focus(other.session.patch.id(named: "b") ?? NodeID(raw: 0))
    other.press("F9")
    #expect(other.names == ["a", "out", "c"])
  }

  @Test func undoBringsTheFocusToWhatItBringsBack() {
    let stage = Stage.demo()
    stage.press("x left left")
    #expect(stage.focus == "keys")
    stage.press("u")
    #expect(stage.focus == "dist")
    stage.press("ctrl-r home u")
    #expect(stage.focus == "dist")
    // Another node of the same name, and a cable's destination.
    stage.press("F7 home u")
    #expect(stage.focus == "dist")
    stage.press(": =disconnect_dist_->_main enter home u")
    #expect(stage.focus == "main")
    // A change of a value leaves it where it is.
    stage.press(": =set_main[0,1]_-6dB enter")
    stage.press("home u")
    #expect(stage.focus == "keys")
  }
}

import Patch
import Screen
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
    stage.play(seconds: 0.2)
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
    stage.play(seconds: 0.2)
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

  // MARK: Ways around the lock

  @Test func lockedTheHistoryTakesNothingAwayEither() {
    let stage = Stage.demo()
    stage.press("p z")
    // What an undo would take away is the last way to the output, and what holds a note.
    for keys in ["alt-l", "F10"] { stage.press(keys) }
    let before = stage.session.patch
    #expect(stage.message.hasPrefix("locked: that would "), "\(stage.message)")
    stage.press("esc")
    for keys in ["u", ": =undo enter", ": =undo_;_undo enter"] {
      stage.press(keys)
      #expect(stage.session.patch == before, "\(keys)")
      #expect(stage.message.hasPrefix("locked: that would "), "\(keys): \(stage.message)")
    }
    // The history's point is before everything.
    stage.press("U home enter")
    #expect(
      stage.session.patch == before && stage.message.hasPrefix("locked: that would "), "\(stage.message)")
    #expect(stage.app.state.play.held == [60])
    // What takes nothing away is undone.
    stage.press("F2")
    _ = try? stage.workbench.perform(line: "set dist.drive 3dB")
    stage.press("u")
    #expect(stage.session.patch == before)
    // And redone; but not a removal.
    stage.press("alt-l")
    _ = try? stage.workbench.perform(line: "disconnect main -> out")
    stage.press("u alt-l F11")
    #expect(
      stage.session.patch == before && stage.message == "locked: that would silence piano; Alt-L unlocks")
  }

  @Test func lockedAnUndoLeavesStoredScenes() {
    let stage = Stage.demo()
    _ = try? stage.workbench.perform(line: "scene 1 verse")
    stage.press("alt-l u")
    #expect(stage.session.patch.scenes[1] != nil && stage.message == "locked: scene 1 stays; Alt-L unlocks")
    stage.press("alt-l")
    _ = try? stage.workbench.perform(line: "set dist.drive 3dB ; scene 1")
    stage.press("alt-l u")
    #expect(stage.message == "locked: scene 1 stays; Alt-L unlocks")
  }

  @Test func lockedARecallEndsNoHeldNotes() {
    let stage = Stage.demo()
    for line in ["scene 1 all", "remove keys", "scene 2 none", "recall 1"] {
      _ = try? stage.workbench.perform(line: line)
    }
    stage.play(seconds: 0.1)
    stage.press("p z alt-l alt-w")
    #expect(
      stage.names.contains("keys")
        && stage.message == "locked: that would end the notes of keys; Alt-L unlocks")
    #expect(stage.app.state.play.held == [60])
    stage.press("z")
    stage.play(seconds: 0.2)
    stage.press("alt-w")
    #expect(!stage.names.contains("keys"))
  }

  @Test func lockedALineOfSeveralPartsGetsAroundNothing() {
    let stage = Stage.demo()
    let before = stage.session.patch
    stage.press("alt-l : =note_keys_on_C4_;_remove_out enter")
    #expect(stage.session.patch == before && stage.message.hasPrefix("locked: that would silence piano"))
    stage.press("esc : =reload enter")
    #expect(stage.message == "locked: the file waits; Alt-L unlocks")
  }

  // MARK: A key that is held

  /// The presses that a terminal without releases tells of a key that is held.
  private func hold(_ name: String, _ stage: Stage, seconds: Double, delay: Double = 0.5) {
    guard let key = Key(name: name) else { return }
    stage.app.handle(.key(KeyStroke(key)))
    let start = stage.clock.seconds
    var next = delay
    while stage.clock.seconds - start < seconds {
      stage.play(seconds: 0.01)
      if stage.clock.seconds - start >= next {
        stage.app.handle(.key(KeyStroke(key)))
        next += 0.04
      }
    }
  }

  @Test(arguments: [0.25, 0.5, 0.66])
  func aHeldKeyDoesNotAnswerWhatItAsked(_ delay: Double) {
    let stage = Stage.demo()
    stage.press("p end")
    stage.play(seconds: 0.5)
    hold("F9", stage, seconds: 3, delay: delay)
    stage.play(seconds: 0.3)
    #expect(
      stage.names.contains("out") && stage.message.hasSuffix("again to remove it"), "\(stage.message)")
    // A press behind it does.
    stage.press("F9")
    stage.play(seconds: 0.2)
    #expect(!stage.names.contains("out"))
    let locked = Stage.demo()
    locked.press("p z alt-l")
    hold("!", locked, seconds: 2, delay: delay)
    #expect(locked.app.state.play.held == [60])
  }

  @Test func ctrlCHeldAsksOnce() {
    let stage = Stage.demo()
    hold("ctrl-c", stage, seconds: 2)
    #expect(stage.app.state.overlay is Question)
  }

  @Test func aNodeThatIsTheLastWayAndHoldsNotesIsRemovedByTwoPresses() {
    let stage = Stage("node piano sampler", "node out output", "connect piano -> out")
    stage.press("home p z F9 F9")
    stage.play(seconds: 0.2)
    #expect(stage.names == ["out"])
  }

  @Test func undoBringsTheFocusToWhatItBringsBack() {
    let stage = Stage.demo()
    stage.press("x home")
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

import Engine
import Patch
import Realtime
import Screen
import Testing

@testable import Interface

/// The graph is laid out once and drawn with the levels of each frame: the screen must be the one of a graph laid out anew.
@Suite @MainActor struct KnownPictureTests {
  private func check(_ stage: Stage, _ what: String) {
    for (columns, rows) in [(110, 30), (60, 20), (34, 9)] {
      var scene = stage.app.scene
      let known = Views.draw(scene, stage.app.state, columns: columns, rows: rows)
      // A report that no engine made is never known.
      scene.report.form = nil
      let fresh = Views.draw(scene, stage.app.state, columns: columns, rows: rows)
      #expect(known == fresh, "\(columns)x\(rows) after \(what)")
    }
  }

  @Test func theScreenFollowsEveryEditNoteAndLevel() {
    let lines = [
      "set dist.drive 6dB", "node wide gain", "insert echo delay into dist -> main", "remove echo bridge",
      "rename dist very-long-name-of-a-distortion", "undo", "connect piano -> main", "replace dist equalizer",
      "undo",
      "node hiss noise level=-6dB ; connect hiss -> main", "set hiss.level -20dB", "remove hiss",
      "remove wide",
      "node tame compressor", "node alike nonsense", "node lim distortion drive=40dB ; connect lim -> out",
    ]
    for seed in UInt64(1)...4 {
      var random = SeededGenerator(seed: seed)
      let stage = Stage.demo(hasKeyRelease: true)
      stage.session.engine.isMetering = true
      check(stage, "the start")
      for step in 0..<30 {
        let line = lines.randomElement(using: &random)!
        // Some do not fit at the moment, and change nothing.
        _ = try? stage.workbench.perform(line: line)
        check(stage, "\(line), seed \(seed), step \(step)")
        if step % 5 == 1 { stage.press("p z") }
        if step % 5 == 3 {
          stage.release("z")
          stage.press("esc")
        }
        stage.play(seconds: [0.0, 0.01, 0.05].randomElement(using: &random)!)
        check(stage, "a moment, seed \(seed), step \(step)")
      }
    }
  }

  @Test func metersMoveInAGraphThatStays() {
    let stage = Stage("node hiss noise level=0dB", "node out output", "connect hiss -> out")
    stage.session.engine.isMetering = true
    stage.play(seconds: 0.1)
    let loud = stage.screen
    _ = try? stage.workbench.perform(line: "set hiss.level -40dB")
    stage.play(seconds: 0.2)
    #expect(loud.contains("▇▇▇▇▇") && loud != stage.screen)
    #expect(stage.screen.contains("-4"))
  }

  /// Nothing is looked at for long while nothing stirs; a note from outside wakes the screen at once.
  @Test func aNoteWakesASleepingScreen() throws {
    let stage = Stage(
      "node keys keyboard", "node trim gain", "node v voices", "connect keys -> v",
      "map keys.cc7 -> trim.gain -24dB..0dB takeover=jump")
    stage.play(seconds: 2)
    _ = stage.screen
    stage.play(seconds: 3)
    #expect(!stage.app.isAsleep)
    stage.play(seconds: 4)
    #expect(stage.app.isAsleep)
    let keys = try #require(stage.session.patch.id(named: "keys"))
    // The audio thread has it, and nobody has looked.
    stage.session.play(Event(.control, key: 7, value: 100), on: keys)
    stage.play(seconds: 0.02, looking: false)
    #expect(!stage.app.isAsleep)
    for _ in 0..<3 {
      stage.play(seconds: 4)
      _ = stage.screen
    }
    stage.play(seconds: 8)
    #expect(stage.app.isAsleep)
    stage.session.play(Event(.noteOn, key: 60, value: 100), on: keys)
    stage.play(seconds: 0.02, looking: false)
    #expect(!stage.app.isAsleep)
    stage.session.play(Event(.noteOff, key: 60), on: keys)
    for _ in 0..<3 {
      stage.play(seconds: 4)
      _ = stage.screen
    }
    stage.play(seconds: 8)
    #expect(stage.app.isAsleep)
    stage.press("tab")
    #expect(!stage.app.isAsleep)
  }

  @Test func theScreenRestsASecondAfterTheLastChangeAndNotWhileSomethingSounds() {
    let stage = Stage.demo(hasKeyRelease: true)
    stage.play(seconds: 2)
    _ = stage.screen
    stage.play(seconds: 2)
    #expect(stage.app.isResting)
    stage.press("right")
    #expect(!stage.app.isResting)
    let noisy = Stage("node hiss noise", "node out output", "connect hiss -> out")
    noisy.session.engine.isMetering = true
    for _ in 0..<20 {
      noisy.play(seconds: 0.1)
      _ = noisy.screen
    }
    #expect(!noisy.app.isResting)
  }
}

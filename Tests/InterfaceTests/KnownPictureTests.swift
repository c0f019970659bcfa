import Engine
import Patch
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

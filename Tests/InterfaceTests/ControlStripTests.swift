import Patch
import Screen
import Testing

@testable import Interface

/// The controls of play mode: the strip above the keyboard, and the keys that pick and turn.
@MainActor @Suite struct ControlStripTests {
  private func stage() -> Stage {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (80, 24)
    stage.press(
      ": =control_1_dist.drive enter : =control_3_main[0,1] enter : =control_4_piano_->_dist enter p")
    return stage
  }

  /// The rows of the strip.
  private func strip(_ stage: Stage) -> [String] {
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    guard let keyboard = lines.firstIndex(where: { $0.hasPrefix(" octave") || $0.hasPrefix(" pedal") })
    else { return [] }
    return lines[keyboard - 2..<keyboard].map { line in
      let end = line.lastIndex { $0 != " " }
      return end.map { String(line[...$0]) } ?? ""
    }
  }

  @Test func theStripShowsWhatEachTurnsAndItsValue() {
    let stage = stage()
    #expect(
      strip(stage) == [
        " 1 dist.drive       2 ·                3 main[0,1]        4 piano -> dist",
        " ▕████░░▏18.0 dB                       ▕░░░░░░▏-inf dB    ▕███░░░▏0.0 dB",
      ])
    stage.press("alt-3")
    #expect(strip(stage).first == " 1 dist.drive       2 ·               ▸3 main[0,1]        4 piano -> dist")
    // A narrow screen shows those around the picked one.
    stage.columns = 40
    stage.press("alt-4")
    #expect(strip(stage).first == "‹3 main[0,1]       ▸4 piano -> dist", "a mark for those at the left")
  }

  @Test func arrowsTurnThePickedOneAndAGestureIsOneEdit() {
    let stage = stage()
    let focus = stage.focus
    let before = stage.session.patch
    stage.press("right")
    #expect(stage.focus != focus, "no control is picked: the arrows choose the node")
    stage.press("left alt-1")
    for _ in 0..<5 { stage.app.handle(.key(KeyStroke("right"))) }
    #expect(stage.lastEdit == "set dist.drive 23dB" && stage.focus == focus)
    stage.press("shift-left")
    #expect(stage.lastEdit == "set dist.drive 13dB")
    stage.press("F10 F10")
    #expect(stage.session.patch == before)
    stage.press("alt-4 left left")
    #expect(
      stage.lastEdit == "connect piano.out -> dist.in gain=-2dB"
        || stage.lastEdit == "connect piano -> dist gain=-2dB")
    stage.press("alt-3 right")
    #expect(stage.lastEdit == "set main[0,1] -60dB")
    // Notes play on meanwhile, on keys that are no controls.
    stage.press("z 2")
    #expect(stage.app.state.play.held.count == 2)
    stage.press("esc")
    #expect(stage.app.state.mode == .play && stage.app.state.play.control == nil)
    stage.press("esc")
    #expect(stage.app.state.mode == .patch)
  }

  @Test func valuesAreTypedAndTheWheelTurnsWhatItIsOver() {
    let stage = stage()
    stage.press("alt-1 enter =7.5dB enter")
    #expect(stage.lastEdit == "set dist.drive 7.5dB" && stage.app.state.mode == .play)
    stage.press("alt-4 enter =-9dB enter")
    #expect(stage.session.patch.cables.values.contains { $0.gain == -9 })
    let lines = stage.screen.split(separator: "\n", omittingEmptySubsequences: false)
    let row = (lines.firstIndex { $0.hasPrefix(" octave") } ?? 0) - 1
    stage.app.handle(.mouse(MouseEvent(.wheel, at: Point(5, row), wheelRows: -1)))
    #expect(stage.lastEdit == "set dist.drive 8dB")
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: Point(45, row))))
    #expect(stage.app.state.play.control == 3)
  }

  @Test func aFreeControlAsksWhatItIsToTurn() {
    let stage = stage()
    stage.press("alt-2")
    #expect(stage.screen.contains("control 2 turns"))
    stage.press("=mix enter")
    #expect(stage.lastEdit == "control 2 dist.mix" && stage.app.state.play.control == 2)
    stage.press("left")
    #expect(stage.lastEdit.hasPrefix("set dist.mix"))
    // In patch mode the key always asks; a crosspoint stands first in the matrix view.
    stage.press("esc esc F4 alt-1")
    #expect(stage.screen.contains("control 1 turns"))
    stage.press("=off enter")
    #expect(stage.lastEdit == "control 1 off")
  }

  @Test func whatIsGoneIsSaidAndComesBackWithUndo() {
    let stage = stage()
    stage.press("esc x p")
    #expect(strip(stage)[1].hasPrefix(" gone"))
    stage.press("alt-1 right")
    #expect(stage.message == "no node `dist`")
    stage.press("F10")
    #expect(strip(stage)[1].hasPrefix(" ▕████░░▏18.0 dB"))
  }
}

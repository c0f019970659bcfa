import Patch
import Screen
import Testing

@testable import Interface

/// The matrix view by mouse.
extension MatrixTests {
  private func mouse(
    _ stage: Stage, _ action: MouseEvent.Action, _ point: Point, _ button: MouseEvent.Button = .left,
    wheel: Int = 0
  ) {
    stage.app.handle(.mouse(MouseEvent(action, button, at: point, wheelRows: wheel)))
  }

  @Test func draggingACrosspointMovesItsGainStepByStepAndIsOneEdit() {
    let stage = Stage.demo()
    stage.press("F4")
    _ = stage.screen
    let start = stage.session.undoList.count
    // Input 0 to output 1.
    let cell = Point(40, 8)
    mouse(stage, .press, cell)
    #expect(stage.app.state.matrix.cell == GridCell(0, 1))
    for row in 1...6 {
      mouse(stage, .drag, cell + Point(0, -row))
      stage.play(seconds: 0.01)
    }
    mouse(stage, .release, cell + Point(0, -6))
    #expect(stage.lastEdit == "set main[0,1] -55dB")
    #expect(stage.session.undoList.count == start + 1)
    // Another drag is another edit; down and left lower the gain.
    mouse(stage, .press, cell)
    mouse(stage, .drag, cell + Point(-1, 1))
    mouse(stage, .drag, cell + Point(-20, 10))
    mouse(stage, .release, cell)
    #expect(stage.lastEdit == "set main[0,1] -inf")
    #expect(stage.session.undoList.count == start + 2)
    stage.press("u u")
    #expect(stage.grid?.gain(GridCell(0, 1)) == -.infinity)
    #expect(stage.session.undoList.count == start)
  }

  @Test func aCellOfAZoomedMatrixIsWhereTheMouseFindsItAClickOnAHeadIsForItsGain() {
    let stage = Stage("node big matrix inputs=64 outputs=64", "node out output", "connect big -> out")
    (stage.columns, stage.rows) = (80, 24)
    stage.press("F4")
    _ = stage.screen
    mouse(stage, .press, Point(14 + 37, 8 + 5))
    mouse(stage, .release, Point(14 + 37, 8 + 5))
    #expect(stage.app.state.matrix.cell == GridCell(5, 37))
    #expect(stage.canvas.cursor == Point(14 + 37, 8 + 5))
    // The column's meter, and the row's number.
    mouse(stage, .press, Point(14 + 12, 5))
    #expect(stage.app.state.matrix.cell == GridCell(-1, 12))
    mouse(stage, .press, Point(2, 10))
    #expect(stage.app.state.matrix.cell == GridCell(2, -1))
    // Moving the cursor down scrolls the rows; the column headers stay.
    stage.press("right pagedown pagedown pagedown pagedown pagedown pagedown")
    #expect(stage.app.state.matrix.row == 63)
    #expect(stage.screen.contains("rows 51…63 of 64"))
    #expect(stage.screen.contains("│0123456789"))
    // The visible rows stay until the cursor would leave them.
    stage.press("up up up")
    #expect(stage.screen.contains("rows 51…63 of 64"))
    stage.press("down down down")
    stage.press("> >")
    #expect(stage.screen.contains("columns 0…15 of 64"))
    stage.press("< < <")
    #expect(!stage.screen.contains("columns"))
  }

  @Test func theWholeScreenAt80x24AsOneMeetsItWithTheKeysThatCountThere() {
    let stage = Stage(
      "node kick oscillator level=-6dB freq=55Hz", "node desk matrix inputs=3 outputs=2", "node out output",
      "connect kick -> desk", "connect desk -> out", "set desk.label.in[0] Kick", "set desk[1,1] -3dB")
    (stage.columns, stage.rows) = (80, 24)
    stage.session.engine.isMetering = true
    stage.press("F4 down right")
    stage.play(seconds: 1)
    let expected = """
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       desk   matrix 3 × 2

                                 │    out 0     out 1
                                 │  ▇▇▇▇▇▇╌
       master               0.0  │     0.0       0.0
       ──────────────────────────┼─────────────────────
       in 0  Kick ▇▇▇▇▂     0.0  │     0.0         ·
       in 1                 0.0  │       ·     [-3.0]
       in 2                 0.0  │       ·         ·










      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 1 → 1   -3.0 dB   set desk[1,1] -3dB   factor 0.708
       PATCH   Space on/off   0–9 type dB   + more   - less   m mute   Esc graph
      """
    // All lines but the status line, which shows figures of the machine.
    #expect(stage.canvas.lines.dropFirst().joined(separator: "\n") == expected)
  }

  @Test func theOtherButtonOnACableOfTheGraphOpensItAsAMatrix() {
    let stage = Stage.demo()
    let canvas = stage.canvas
    let scene = stage.app.scene
    let places = (0..<canvas.rows).flatMap { row in (0..<canvas.columns).map { Point($0, row) } }
    let cable = places.first {
      if case .cable(let ends) = Views.hit(scene, stage.app.state, columns: 110, rows: 30, at: $0) {
        return stage.session.patch[ends.source.node]?.name == "dist"
      }
      return false
    }
    mouse(stage, .press, cable ?? .zero, .right)
    #expect(stage.app.state.view == .matrix)
    #expect(stage.grid?.name == "dist -> main")
    #expect(stage.screen.contains("map [0,1,-1,-1]"))
  }

  @Test func theWheelStepsAGainTurnedAtOnceItIsOneEditOverARangeItStepsAllOfIt() {
    let stage = Stage.demo()
    stage.press("F4")
    _ = stage.screen
    let start = stage.session.undoList.count
    for _ in 0..<4 {
      stage.clock.seconds += 0.05
      mouse(stage, .wheel, Point(30, 8), .none, wheel: 1)
    }
    #expect(stage.lastEdit == "set main[0,0] -4dB")
    #expect(stage.session.undoList.count == start + 1)
    // The other button selects a range.
    mouse(stage, .press, Point(30, 8), .right)
    mouse(stage, .drag, Point(40, 9), .right)
    mouse(stage, .release, Point(40, 9), .right)
    mouse(stage, .wheel, Point(30, 9), .none, wheel: -1)
    #expect(
      stage.lastEdit == "set main[0,0] -3dB ; set main[0,1] -60dB ; set main[1,0] -60dB ; set main[1,1] 1dB")
    // Without a drag it toggles a crosspoint.
    stage.press("esc")
    mouse(stage, .press, Point(30, 10), .right)
    mouse(stage, .release, Point(30, 10), .right)
    #expect(stage.lastEdit == "set main[2,0] 0dB")
  }
}

import Engine
import Patch
import Screen
import Session
import Testing

@testable import Interface

/// The inspector beside the graph: it covers nothing, follows the focus, and edits everything about a node.
@Suite @MainActor struct InspectorTests {
  private func value(_ stage: Stage, _ name: String, of node: String = "dist") -> String {
    stage.session.patch.value(of: node, ParameterPath(name), catalogue: stage.session.catalogue)?.line ?? ""
  }

  private func inspector(_ stage: Stage) -> Inspector? { stage.app.state.overlay as? Inspector }

  private func rect(_ stage: Stage) -> Rect {
    ViewFrame(stage.app.scene, stage.app.state, columns: stage.columns, rows: stage.rows).inspector
      ?? Rect(column: 0, row: 0, columns: 0, rows: 0)
  }

  /// Cell of a text in the inspector.
  private func cell(_ stage: Stage, of text: String) -> Point {
    let rect = rect(stage)
    for (row, line) in stage.canvas.lines.enumerated() where row >= rect.row && row < rect.bottom {
      let characters = Array(line)
      let wanted = Array(text)
      guard characters.count >= wanted.count else { continue }
      for column in rect.column...max(rect.column, characters.count - wanted.count)
      where column + wanted.count <= characters.count
        && Array(characters[column..<column + wanted.count]) == wanted
      {
        return Point(column, row)
      }
    }
    Issue.record("no `\(text)` in the inspector")
    return .zero
  }

  // MARK: Place

  @Test(arguments: [(110, 30), (80, 24), (60, 16), (200, 50)])
  func theViewKeepsItsOwnRoomAndNothingIsCovered(columns: Int, rows: Int) {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (columns, rows)
    stage.press("enter")
    let frame = ViewFrame(stage.app.scene, stage.app.state, columns: columns, rows: rows)
    let inspector = frame.inspector ?? Rect(column: 0, row: 0, columns: 0, rows: 0)
    #expect(!inspector.isEmpty && !inspector.intersects(frame.view))
    #expect((inspector.column > 0) == (columns >= 100))
    // The graph is the one that a screen of this size without inspector shows.
    #expect(frame.view.rows > 0)
    #expect(stage.screen.contains("dist ▸ distortion"))
  }

  @Test func itFollowsTheFocusByKeysAndByClicksOutside() {
    let stage = Stage.demo()
    stage.press("enter down")
    stage.press("tab")
    #expect(stage.focus == "main")
    #expect(inspector(stage)?.owner == stage.session.patch.id(named: "main"))
    stage.press("shift-tab")
    #expect(stage.focus == "dist")
    let lines = stage.canvas.lines
    let row = lines.firstIndex { $0.contains("piano") } ?? 0
    let column = Array(lines[row]).firstIndex(of: "p") ?? 0
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: Point(column, row))))
    #expect(stage.focus == "piano")
    #expect(stage.screen.contains("piano ▸ sampler"))
    #expect(inspector(stage) != nil)
  }

  @Test func itStaysWhileItsNodeIsReplacedAndClosesWithTheLastOne() throws {
    let stage = Stage.demo()
    stage.press("enter")
    _ = try stage.session.perform("replace dist filter")
    stage.play(seconds: 0.05)
    #expect(stage.screen.contains("dist ▸ filter"))
    _ = try stage.session.undo()
    stage.play(seconds: 0.05)
    #expect(stage.screen.contains("dist ▸ distortion"))
    for name in stage.names { _ = try stage.session.perform("remove \(name)") }
    stage.play(seconds: 0.05)
    #expect(stage.app.state.overlay == nil)
  }

  // MARK: Values

  @Test func enterEditsTheValueAsItStands() {
    let stage = Stage.demo()
    stage.press("enter enter")
    #expect(inspector(stage)?.typed?.text == "18dB")
    // Two letters and the 8 go, and another digit comes.
    stage.press("backspace backspace backspace 9 d B enter")
    #expect(value(stage, "drive") == "19dB")
    stage.press("enter home delete")
    stage.type("2")
    stage.press("enter")
    #expect(value(stage, "drive") == "29dB")
    stage.press("enter = esc")
    #expect(value(stage, "drive") == "29dB")
  }

  @Test func aLetterBeginsAnewAndNonsenseIsRefusedInWords() {
    let stage = Stage.demo()
    stage.press("enter")
    stage.type("6dB")
    stage.press("enter")
    #expect(value(stage, "drive") == "6dB")
    stage.type("7 bananas")
    stage.press("enter")
    #expect(value(stage, "drive") == "6dB")
    #expect(stage.app.state.message?.isError == true)
    stage.press("delete")
    #expect(value(stage, "drive") == "12dB")
    #expect(stage.session.patch[named: "dist"]?.settings[ParameterPath("drive")] == nil)
  }

  @Test func arrowsStepAndAHeldArrowIsOneUndo() {
    let stage = Stage.demo()
    stage.press("enter")
    for _ in 0..<5 { stage.app.handle(.key(KeyStroke("right"))) }
    #expect(value(stage, "drive") == "23dB")
    stage.press("u")
    #expect(value(stage, "drive") == "18dB")
    stage.press("down right")
    #expect(value(stage, "shape") == "fold")
  }

  @Test func whatFollowsOrMovesAParameterStandsBesideIt() throws {
    let stage = Stage.demo()
    for line in [
      "node in midi", "node wobble oscillator freq=3Hz", "connect wobble -> dist.tone",
      "map in.cc74 -> dist.drive",
      "control 3 dist.mix",
    ] { _ = try stage.session.perform(line) }
    stage.press("enter")
    stage.play(seconds: 0.05)
    #expect(
      stage.screen.contains("in.cc74") && stage.screen.contains("~wobble") && stage.screen.contains("Alt-3"))
    #expect(stage.screen.contains("Follows") && stage.screen.contains("in.cc74."))
  }

  // MARK: Ports and instrument

  @Test func portsSayWhereTheyLeadAndFreeOnesWhereTheyMay() throws {
    let stage = Stage.demo()
    _ = try stage.session.perform("node spare gain")
    _ = try stage.session.perform("connect piano -> dist gain=-3dB")
    stage.press("enter")
    stage.play(seconds: 0.05)
    #expect(stage.screen.contains("← piano -3.0 dB"))
    #expect(stage.screen.contains("→ main ⇄"))
    stage.app.desk.focus(stage.session.patch.id(named: "spare") ?? NodeID(raw: 0))
    stage.play(seconds: 0.05)
    #expect(stage.screen.contains("← free: piano, dist, main"))
    #expect(stage.screen.contains("→ free: dist, main, out"))
  }

  @Test func anInstrumentSaysItsRegionsKeysAndMemory() {
    var (scene, state) = reconnecting()
    scene.change("piano") { $0.memory = 141_000_000 }
    scene.instruments[scene.id("piano")] = InstrumentFacts(regions: 320, programs: 1, keys: 21...108)
    state.focus = scene.id("piano")
    state.overlay = Inspector(scene.id("piano"))
    let screen = Views.draw(scene, state, columns: 120, rows: 40).text
    #expect(screen.contains("upright.sfz  320 regions  A0…C8  134 MB"))
    #expect(screen.contains("6 of 64 voices  3 notes held"))
  }

  // MARK: Sound

  @Test func aScopeOfTheNodesSoundMovesBesideIt() {
    let stage = Stage("node tone oscillator freq=440Hz level=-12dB", "node out output", "connect tone -> out")
    stage.app.desk.focus(stage.session.patch.id(named: "tone") ?? NodeID(raw: 0))
    stage.press("enter")
    _ = stage.screen
    stage.play(seconds: 0.3)
    #expect(inspector(stage)?.picture.trace.isTriggered == true)
    #expect(abs((inspector(stage)?.picture.peak ?? 0) - 0.2512) < 0.001)
    stage.press("esc")
    stage.play(seconds: 0.05)
    #expect(stage.session.takeListened() == nil)
  }

  // MARK: Mouse

  @Test func theWheelAndClicksInsideStayInside() {
    let stage = Stage.demo()
    stage.press("enter")
    let place = cell(stage, of: "mix")
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: place)))
    #expect(inspector(stage)?.selected == 3 && stage.focus == "dist")
    stage.app.handle(.mouse(MouseEvent(.release, .left, at: place)))
    let bar = cell(stage, of: "▕")
    stage.app.handle(.mouse(MouseEvent(.wheel, at: bar + Point(3, 0), wheelRows: -1)))
    #expect(value(stage, "drive") == "19dB")
    stage.app.handle(.mouse(MouseEvent(.wheel, at: cell(stage, of: "dist ▸"), wheelRows: 1)))
    #expect(stage.focus == "dist" && inspector(stage)?.selected == 1)
    // Outside it is the graph's, which has nothing to scroll here.
    stage.app.handle(.mouse(MouseEvent(.wheel, at: Point(3, 20), wheelRows: 1)))
    #expect(stage.focus == "dist" && inspector(stage)?.selected == 1)
  }

  @Test func aSliderIsDraggedAsOneEdit() {
    let stage = Stage.demo()
    stage.press("enter")
    let edits = stage.session.undoList.count
    let bar = cell(stage, of: "▕") + Point(1, 0)
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: bar)))
    for step in 1..<8 {
      stage.clock.seconds += 0.6
      stage.app.handle(.mouse(MouseEvent(.drag, .left, at: bar + Point(step, 0))))
    }
    stage.app.handle(.mouse(MouseEvent(.release, .left, at: bar + Point(7, 0))))
    let dragged = value(stage, "drive")
    #expect(dragged != "18dB" && stage.session.undoList.count == edits + 1)
    // The button is up.
    stage.app.handle(.mouse(MouseEvent(.drag, .left, at: bar)))
    #expect(value(stage, "drive") == dragged)
    stage.press("u")
    #expect(value(stage, "drive") == "18dB")
  }

  @Test func playingGoesOnBesideIt() {
    let stage = Stage.demo()
    stage.press("p z")
    let column = Array(stage.canvas.lines[4]).firstIndex(of: "d") ?? 0
    stage.app.handle(.mouse(MouseEvent(.press, .right, at: Point(column, 4))))
    Inspector.open(stage.app.desk)
    stage.press("c right")
    #expect(stage.app.state.play.held == [60, 64])
    #expect(inspector(stage) != nil)
  }

  @Test func functionKeysKeepTheirMeaning() {
    let stage = Stage.demo()
    stage.press("enter right F10")
    #expect(value(stage, "drive") == "18dB")
    stage.press("F4")
    #expect(stage.app.state.view == .matrix && inspector(stage) != nil)
  }

  @Test func aPlaceholderAndANodeWithoutParametersAreInspectedToo() {
    let scene = makeScene("sostenuto 1\nnode odd wobbulator speed=3\nnode sum mix\n")
    var state = ViewState()
    state.overlay = Inspector(scene.id("odd"))
    #expect(Views.draw(scene, state, columns: 110, rows: 30).text.contains("nobody knows a kind wobbulator"))
    state.overlay = Inspector(scene.id("sum"))
    #expect(Views.draw(scene, state, columns: 110, rows: 30).text.contains("It has no parameters."))
    let stage = Stage("node sum mix")
    stage.press("enter down up left enter delete 5 ctrl-l x")
    #expect(stage.names == ["sum"] && stage.session.undoList.count == 1)
  }

  @Test func anInputOfTheNameOfAParameterIsNoModulation() {
    let stage = Stage.demo()
    stage.app.desk.focus(stage.session.patch.id(named: "main") ?? NodeID(raw: 0))
    stage.press("enter")
    #expect(stage.screen.contains("in[0]") && !stage.screen.contains("~dist"))
  }
}

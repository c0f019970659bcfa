import Patch
import PatchLanguage
import Realtime
import Screen
import Session
import Testing

@testable import Interface

/// The history as a list: each line is the patch after an edit, and the cursor takes it there.
@Suite @MainActor struct HistoryTests {
  /// A player who shaped the distortion, and took the last two edits back.
  private func edited() -> (scene: Scene, state: ViewState) {
    var (scene, state) = reconnecting()
    let lines = [
      "node eq equalizer", "connect piano -> eq gain=-3dB", "connect eq -> main", "set eq.band2.gain 9dB",
      "set main[0,1] -6dB", "rename delay2 echo", "replace dist filter",
    ]
    for (index, line) in lines.enumerated() {
      let time = index == 0 ? nil : TimeOfDay(hour: 9, minute: 41 + index / 3, second: 7 * index)
      scene.history.append(HistoryStep(line: line, time: time, isUndone: index > 4))
    }
    state.view = .history
    return (scene, state)
  }

  // MARK: On the screen

  @Test func at80x24AnEditStandsOnALineWithItsTime() {
    let (scene, state) = edited()
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─ scope ─ meters ─[history]─ help ──────────
         time      edit
                   before these edits
                   node eq equalizer
         09:41:07  connect piano -> eq gain=-3dB
         09:41:14  connect eq -> main
         09:42:21  set eq.band2.gain 9dB
      ▎▸ 09:42:28  set main[0,1] -6dB
        ╌09:42:35  rename delay2 echo
        ╌09:43:42  replace dist filter










      ────────────────────────────────────────────────────────────────────────────────
       5 of 7 edits are done
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func at110x30TheFooterCountsTheStepsToTheCursor() {
    var (scene, state) = edited()
    state.history.point = 2
    expectScreen(
      scene, state, 110, 30,
      """
       reconnect.patch •                    jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─ scope ─ meters ─[history]─ help ────────────────────────────────────────
         time      edit
                   before these edits
                   node eq equalizer
       ▸ 09:41:07  connect piano -> eq gain=-3dB
         09:41:14  connect eq -> main
         09:42:21  set eq.band2.gain 9dB
      ▎  09:42:28  set main[0,1] -6dB
        ╌09:42:35  rename delay2 echo
        ╌09:43:42  replace dist filter
















      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       5 of 7 edits are done   the cursor is 3 back
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }

  @Test func at50x12TheListScrollsWithTheCursor() {
    var (scene, state) = edited()
    state.history.point = 7
    expectScreen(
      scene, state, 50, 12,
      """
       reconnect.patch •         jack 48 kHz/64  1.3 ms
      ─[history]────────────────────────────────────────
         time      edit
         09:41:07  connect piano -> eq gain=-3dB       ↑
         09:41:14  connect eq -> main
         09:42:21  set eq.band2.gain 9dB
      ▎  09:42:28  set main[0,1] -6dB
        ╌09:42:35  rename delay2 echo
       ▸╌09:43:42  replace dist filter
      ──────────────────────────────────────────────────
       5 of 7 edits are done   the cursor is 2 ahead
       PATCH   ? help   : prompt   c connect
      """)
  }

  @Test func whatIsUndoneIsGrey() {
    let (scene, state) = edited()
    let canvas = Views.draw(scene, state, columns: 80, rows: 24)
    func ink(_ line: String) -> ThemeKey? {
      guard let row = canvas.lines.firstIndex(where: { $0.contains(line) }) else { return nil }
      return canvas[Point(15, row)].style.key
    }
    #expect(ink("connect eq -> main") == .text)
    #expect(ink("replace dist filter") == .dim)
  }

  // MARK: Entries

  /// The first repeat of a held key comes long after the press: the list would have two lines for one turn.
  @Test(arguments: [true, false]) func aHeldArrowIsOneEntry(hasKeyRelease: Bool) {
    let stage = Stage.demo(hasKeyRelease: hasKeyRelease)
    let start = stage.session.undoList.count
    stage.press("enter")
    for hold in 1...2 {
      stage.clock.seconds += 3
      stage.app.handle(.key(KeyStroke("right")))
      for step in 0..<12 {
        stage.clock.seconds += step == 0 ? 0.6 : 0.03
        stage.app.handle(.key(KeyStroke("right", hasKeyRelease ? .repeat : .press)))
      }
      if hasKeyRelease { stage.release("right") }
      #expect(stage.session.undoList.count == start + hold, "\(stage.session.undoList)")
    }
    #expect(stage.lastEdit == "set dist.drive 44dB")
    stage.press("u")
    #expect(stage.lastEdit == "set dist.drive 31dB")
  }

  @Test func aLineTellsTheValueOrTheKindThatWasThere() {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (100, 24)
    for line in [
      "set dist.drive 24dB", "set dist.mix 40%", "set main[0,1] -6dB", "set dist.drive default over 1s",
      "replace dist equalizer band1.gain=6dB", "tempo 99", "control 1 main.master", "control 1 main[0,0]",
      "set dist.band1.gain 3dB ; set dist.band2.gain 3dB", "undo", "undo",
    ] {
      _ = try? stage.workbench.perform(line: line)
      stage.play(seconds: 0.1)
    }
    stage.press("U")
    let screen = stage.screen
    for words in [
      "set dist.drive 24dB  was 18dB", "set dist.mix 40%  was 100%", "set main[0,1] -6dB  was -inf",
      "set dist.drive default over 1s  was 24dB", "replace dist equalizer band1.gain=6dB  was distortion",
      "tempo 99  was 120", "control 1 main[0,0]  was main.master",
    ] { #expect(screen.contains(words), "\(words) in \(screen)") }
    #expect(screen.split(separator: "  was ").count == 8, "\(screen)")
    // A gesture is one edit from where it began.
    _ = try? stage.workbench.perform(line: "replace dist distortion")
    stage.play(seconds: 0.1)
    stage.press("F2")
    stage.app.desk.focus(stage.session.patch.id(named: "dist") ?? NodeID(raw: 0))
    stage.press("enter right right right")
    stage.press("esc U")
    #expect(stage.screen.contains("  was 12dB"), "\(stage.screen)")
    // What does not fit is left out whole.
    let formers = [
      "18dB", "100%", "-inf", "24dB", "distortion", "equalizer", "120", "main.master", "12dB",
    ]
    for columns in 20..<100 {
      stage.columns = columns
      for row in stage.canvas.lines where row.contains("  was") {
        let former = row.split(separator: "  was ").last?.prefix { $0 != " " } ?? ""
        #expect(formers.contains(String(former)), "\(row)")
      }
    }
  }

  // MARK: The way there

  @Test func enterTakesThePatchToTheCursorAndHeldNotesGoOn() {
    let stage = Stage.demo()
    let start = stage.session.undoList.count
    stage.press("p z c")
    stage.play(seconds: 0.1)
    let before = stage.session.patch
    stage.press("F7 F8 F9")
    let after = stage.session.patch
    let trace = stage.session.trace(since: 0).last?.id ?? 0
    stage.press("esc U up up up")
    #expect(stage.app.state.history.point == start)
    stage.press("enter")
    #expect(stage.session.patch == before)
    #expect(stage.message == "undone: 3 edits")
    stage.play(seconds: 0.1)
    #expect(stage.app.state.play.held == [60, 64])
    #expect(!stage.session.trace(since: trace + 1).contains { $0.name == "piano" })
    stage.press("down enter")
    #expect(stage.message == "redone: 1 edit")
    #expect(stage.session.redoList.count == 2)
    stage.press("end enter")
    #expect(stage.session.patch == after)
    stage.press("enter")
    #expect(stage.message == "the patch is here")
    stage.press("home enter")
    #expect(stage.names.isEmpty)
  }

  @Test func theCursorStaysWithThePatchUntilItIsMoved() {
    let stage = Stage.demo()
    stage.press("U u u")
    #expect(stage.app.state.history.point == nil)
    stage.app.state.message = nil
    #expect(stage.screen.contains("7 of 9 edits are done"))
    #expect(
      stage.screen.contains(
        " PATCH   Enter go there   u undo   F11 redo   / find   y copy   w export   ? help   Esc graph"))
    stage.press("up down")
    #expect(stage.app.state.history.point == nil)
    stage.press("up ctrl-r")
    #expect(stage.app.state.history.point == 6)
    stage.app.state.message = nil
    #expect(stage.screen.contains("8 of 9 edits are done   the cursor is 2 back"))
  }

  @Test func aClickMovesTheCursorAndTheRightButtonThePatch() {
    let stage = Stage.demo()
    (stage.columns, stage.rows) = (80, 24)
    stage.press("U")
    _ = stage.screen
    func click(_ button: MouseEvent.Button, _ row: Int) {
      stage.app.handle(.mouse(MouseEvent(.press, button, at: Point(20, row))))
    }
    click(.left, 5)
    #expect(stage.app.state.history.point == 2)
    click(.right, 4)
    #expect(stage.session.undoList.count == 1)
    #expect(stage.names == ["keys"])
    click(.left, 20)
    stage.app.handle(.mouse(MouseEvent(.wheel, .left, at: Point(20, 8), wheelRows: 1)))
    #expect(stage.app.state.history.point == 4)
  }

  @Test func aRefusedUndoEndsTheWayAndIsShownAsAnError() {
    let stage = Stage.demo()
    let workbench = FaultyWorkbench(stage.workbench, after: 2)
    let app = App(workbench: workbench)
    for key in ["U", "home", "enter"] { app.handle(.key(KeyStroke(Key(name: key) ?? "esc"))) }
    #expect(app.state.message?.text == "no room for `out`")
    #expect(app.state.message?.isError == true)
    #expect(app.scene.history.count { !$0.isUndone } == 7)
  }

  @Test func anEditHasATimeOfDay() {
    let stage = Stage.demo()
    #expect(stage.app.scene.history.count == 9)
    for step in stage.app.scene.history { #expect((0..<24).contains(step.time?.hour ?? -1)) }
    #expect(TimeOfDay(hour: 9, minute: 5, second: 30).description == "09:05:30")
  }
}

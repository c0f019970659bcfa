import Patch
import Screen
import Testing

@testable import Interface

/// Lists and questions keep clear of what they are about, and ask for all that an edit needs.
@Suite @MainActor struct PickerTests {
  // MARK: Places

  @Test func noListCoversTheBoxThatItIsAbout() throws {
    for (columns, rows) in [(80, 24), (110, 32), (100, 40)] {
      let stage = Stage.demo()
      (stage.columns, stage.rows) = (columns, rows)
      for node in stage.names {
        stage.app.desk.focus(try #require(stage.session.patch.id(named: node)))
        for keys in ["r", "alt-1", "ctrl-l", "ctrl-p", "a"] {
          let box = try #require(stage.canvas.focus, "\(node)")
          func cells() -> [String] {
            let canvas = stage.canvas
            return (box.row..<box.bottom).map { row in
              (box.column..<box.right).map { String(canvas[Point($0, row)].character) }.joined()
            }
          }
          let before = cells()
          stage.press(keys)
          if stage.app.state.overlay is Chooser {
            #expect(cells() == before, "\(keys) at \(node), \(columns)x\(rows):\n\(stage.screen)")
          }
          stage.press("esc")
        }
      }
    }
  }

  @Test func anyPlaceIsWithinTheRoomAndClearWhereThereIsRoom() {
    var random = SeededGenerator(seed: 3)
    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    for _ in 0..<2000 {
      let room = Rect(column: 0, row: number(0...3), columns: number(1...130), rows: number(1...50))
      let wanted = Size(columns: number(10...80), rows: number(3...40))
      let focus = Rect(
        column: number(0...130), row: number(0...50), columns: number(1...30), rows: number(1...12))
      let place = Popup.place(wanted, in: room, besides: focus)
      #expect(place.intersection(room) == place && !place.isEmpty, "\(room) \(wanted) \(focus)")
      #expect(place.columns <= wanted.columns && place.rows <= wanted.rows)
      let right = room.right - focus.right - 1
      if right >= wanted.columns, room.rows >= wanted.rows {
        #expect(!place.intersects(focus), "\(room) \(wanted) \(focus)")
      }
    }
  }

  // MARK: Modulation

  private func modulated() throws -> (stage: Stage, hint: (PortHint.Target) throws -> Void) {
    let stage = Stage(
      "node slow lfo", "node tone oscillator", "node fil filter", "node out output", "connect tone -> fil",
      "connect fil -> out")
    (stage.columns, stage.rows) = (80, 24)
    return (
      stage,
      { target in
        let hints = try #require(stage.app.state.overlay as? PortHints).targets
        stage.type(try #require(hints.first { $0.target == target }).letters)
      }
    )
  }

  private func port(_ stage: Stage, _ node: String, _ port: String) throws -> PortReference {
    PortReference(try #require(stage.session.patch.id(named: node)), port)
  }

  @Test func aParameterIsReachedByTabAndAskedForDepthAndOffsetInItsUnits() throws {
    let (stage, choose) = try modulated()
    stage.press("c")
    try choose(.output(port(stage, "slow", "out")))
    #expect(stage.screen.includes("Tab parameters"), "\(stage.screen)")
    stage.press("tab")
    #expect(stage.screen.includes("slow.out moves which parameter?"))
    // Back and forth.
    stage.press("tab tab")
    try choose(.input(port(stage, "fil", "freq")))
    #expect(stage.screen.includes("slow -> fil.freq   by [1oct]   around  1kHz"), "\(stage.screen)")
    let before = stage.session.undoList.count
    stage.press("backspace backspace backspace backspace =6dB enter")
    let screen = stage.screen
    #expect(screen.includes("! a cable does not move `fil.freq` by `6dB`; write"), "\(screen)")
    #expect(screen.includes("`50cents`"), "to its end: \(screen)")
    #expect(stage.session.undoList.count == before, "a refused depth changes nothing")
    stage.press("ctrl-u =7st tab ctrl-u =500Hz enter")
    #expect(stage.app.state.overlay == nil, "\(stage.screen)")
    #expect(stage.session.undoList.count == before + 1, "one edit, one undo")
    let cable = try #require(stage.session.patch.cables.values.first { $0.settings.modulation != nil })
    #expect(cable.settings.modulation == Modulation(.number(7, .semitones)))
    #expect(
      stage.session.patch.value(of: "fil", ParameterPath("freq"), catalogue: stage.app.scene.catalogue)
        == .number(500, .hertz))
    stage.press("u")
    #expect(stage.session.patch.cables.count == 2)
  }

  @Test func escMakesNoCable() throws {
    let (stage, choose) = try modulated()
    stage.app.desk.focus(try #require(stage.session.patch.id(named: "tone")))
    stage.press("c")
    try choose(.output(port(stage, "slow", "out")))
    stage.press("tab")
    try choose(.input(port(stage, "fil", "q")))
    stage.press("esc")
    #expect(stage.session.patch.cables.count == 2 && stage.message == "not connected")
    #expect(stage.focus == "tone", "the focus is where it was, and so are the letters")
  }

  // MARK: Learning

  @Test func aCablesGainIsLearnedFromTheNodeAndFromItsMatrix() throws {
    let stage = Stage(
      "node in midi", "node tone oscillator", "node out output", "connect tone -> out gain=-6dB")
    stage.app.desk.focus(try #require(stage.session.patch.id(named: "tone")))
    stage.press("ctrl-l =tone->out enter")
    try stage.session.perform("control in 20 10")
    try stage.session.perform("control in 20 12")
    stage.play(seconds: 0.6)
    #expect(stage.lastEdit.hasPrefix("map in.cc20 -> tone"), "\(stage.lastEdit) \(stage.screen)")
    stage.press("esc u F2 m")
    #expect(stage.app.state.view == .matrix)
    stage.press("ctrl-l")
    #expect(stage.screen.includes("move a controller for tone.out -> out.in"), "\(stage.screen)")
  }
}

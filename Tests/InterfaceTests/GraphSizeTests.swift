import Engine
import Patch
import Screen
import Session
import Testing

@testable import Interface

/// The graph at any size: detail, folding, marks, places, groups, and large patches.
@Suite @MainActor struct GraphSizeTests {
  /// A stage of this size, drawn once.
  func stage(_ columns: Int, _ rows: Int, _ lines: [String]) -> Stage {
    let stage = Stage()
    (stage.columns, stage.rows) = (columns, rows)
    for line in lines where (try? stage.workbench.perform(line: line)) == nil {
      Issue.record("refused: \(line)")
    }
    _ = stage.screen
    stage.play(seconds: 0.05)
    stage.app.state.message = nil
    return stage
  }

  /// `count` gains in a row, between an oscillator and an output.
  private func chain(_ count: Int) -> [String] {
    ["node tone oscillator", "node out output"] + (0..<count).map { "node g\($0) gain" }
      + ["connect tone -> g0", "connect g\(count - 1) -> out"]
      + (1..<count).map { "connect g\($0 - 1) -> g\($0)" }
  }

  func frames(_ stage: Stage) -> [String: Rect] {
    let (scene, state) = (stage.app.scene, stage.app.state)
    let picture = GraphPlaces.picture(scene, state, columns: stage.columns, rows: stage.rows)
    return Dictionary(
      zip(picture.boxes, picture.frames).map { ($0.name, $1) }, uniquingKeysWith: { first, _ in first })
  }

  private func expectScreen(
    _ stage: Stage, _ expected: String, at location: SourceLocation = #_sourceLocation
  ) {
    let lines = stage.canvas.lines.map { row in
      String(row.reversed().drop { $0 == " " }.reversed())
    }
    #expect(lines.joined(separator: "\n") == expected, sourceLocation: location)
  }

  // MARK: Marks

  private let marked = [
    "node in midi", "node tone oscillator", "node dist distortion", "node main matrix inputs=2 outputs=2",
    "node out output", "connect tone -> dist", "connect dist -> main gain=-3dB", "connect main -> out",
    "set main.mute[0,1] on", "set main.solo[1,1] on", "control 1 dist.drive", "control 3 dist.mix",
    "map in.cc74 -> dist.drive", "map in.cc7 -> tone.level", "control 2 dist -> main",
  ]

  @Test func whatIsMutedSoloedMappedAndControlledIsMarked() {
    let stage = stage(110, 16, marked)
    expectScreen(
      stage,
      """
       untitled •         mute main  solo main  2 ◂  3 ①  none 48 kHz/256  load  0 %  peak  0 %  xruns 0  voices  0
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       ┏ in ━━━━━━━━━━━━┓
       ┃ midi           ┃
       ┃ port       any ┃
       ┃ channel    all ┃
       ┗━━━━━━━━━━━━━━━━┛

       ╭ tone ─────── ◂ ╮   ╭ dist ──── ◂①③ ╮   ╭ main ─────── MS ╮   ╭ out ──────────╮
       │ oscillator   ▁ │   │ distortion  ▁ │   │ matrix 2 × 2 ▁▁ │   │ output        │
       │ level◂-12.0 dB ├───┤ drive◂12.0 dB ├─⇄─┤ 0             · ├───┤ L           · │
       │ shape     sine │   │ shape    tanh │   │ 1             · │   │ R           · │
       ╰────────────────╯   ╰───────────────╯   ╰─────────────────╯   ╰───────────────╯
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       in ▸ midi   port any   channel all
       PATCH   ? help   p play   c connect   r replace   i insert   x remove   Enter edit   a add   u undo
      """)
    stage.press("-")
    expectScreen(
      stage,
      """
       untitled •         mute main  solo main  2 ◂  3 ①  none 48 kHz/256  load  0 %  peak  0 %  xruns 0  voices  0
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       ┏ in ━━━━━━━━━━┓
       ┃ midi         ┃
       ┗━━━━━━━━━━━━━━┛
       ╭ tone ───── ◂ ╮  ╭ dist ─── ◂①③ ╮  ╭ main ──── MS ╮  ╭ out ──────╮
       │ oscillator ▁ ├──┤ distortion ▁ ├⇄─┤ matrix 2×2 ▁ ├──┤ output ▁▁ │
       ╰──────────────╯  ╰──────────────╯  ╰──────────────╯  ╰───────────╯





      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       names: 0 fits the graph to the screen
       PATCH   ? help   p play   c connect   r replace   i insert   x remove   Enter edit   a add   u undo
      """)
    stage.press("-")
    expectScreen(
      stage,
      """
       untitled •         mute main  solo main  2 ◂  3 ①  none 48 kHz/256  load  0 %  peak  0 %  xruns 0  voices  0
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
        ▸in
        ○tone ◂────○dist ◂①③─⇄──○main MS────○out









      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       dots: 0 fits the graph to the screen
       PATCH   ? help   p play   c connect   r replace   i insert   x remove   Enter edit   a add   u undo
      """)
  }

  @Test func everyMarkHasACharacterOfASCIIOfItsOwn() {
    let marks = PatchMarks.Marks(isMuted: true, isSoloed: true, isMapped: true, controls: Array(1...8)).text
    let plain = marks.map { Glyph($0).plain.character }
    #expect(Set(plain).count == marks.count && String(plain) == "MS<12345678")
    #expect(Set("▸◆×≠◌○".map { Glyph($0).plain }).count == 6)
  }

  // MARK: Folding

  @Test func aLongChainWrapsAndNoBoxChangesItsSizeWhereOthersAreInserted() {
    let stage = stage(80, 24, chain(6))
    let before = frames(stage)
    for step in 0..<6 {
      _ = try? stage.workbench.perform(line: "insert more\(step) delay into g2 -> g3")
      _ = try? stage.workbench.perform(line: "remove more\(step - 1) bridge")
      stage.play(seconds: 0.05)
      _ = stage.screen
      let after = frames(stage)
      for (name, frame) in before where ["tone", "out", "g0", "g5"].contains(name) {
        #expect(after[name]?.size == frame.size, "\(name), step \(step)")
      }
      #expect(after.values.allSatisfy { $0.right <= 80 })
      // What comes before stays where it is.
      #expect(after["tone"] == before["tone"] && after["g0"] == before["g0"])
    }
  }

  @Test func aChainOfTwelveAt80x24() {
    let stage = stage(80, 24, chain(10))
    expectScreen(
      stage,
      """
       untitled •       none 48 kHz/256   load  0 %   peak  0 %   xruns 0   voices  0
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
          ┏ tone ━━━━━━━━┓  ╭ g0 ───────╮  ╭ g1 ───────╮  ╭ g2 ───────╮
          ┃ oscillator ▁ ┃  │ gain    ▁ │  │ gain    ▁ │  │ gain    ▁ │
          ┃ shape   sine ┠──┤ gain 0 dB ├──┤ gain 0 dB ├──┤ gain 0 dB ├─╮
          ┗━━━━━━━━━━━━━━┛  ╰───────────╯  ╰───────────╯  ╰───────────╯ │
                                                                        │
       ╭────────────────────────────────────────────────────────────────╯
       │
       │  ╭ g3 ───────╮  ╭ g4 ───────╮  ╭ g5 ───────╮  ╭ g6 ───────╮  ╭ g7 ───────╮
       │  │ gain    ▁ │  │ gain    ▁ │  │ gain    ▁ │  │ gain    ▁ │  │ gain    ▁ │
       ╰──┤ gain 0 dB ├──┤ gain 0 dB ├──┤ gain 0 dB ├──┤ gain 0 dB ├──┤ gain 0 dB ├─╮
          ╰───────────╯  ╰───────────╯  ╰───────────╯  ╰───────────╯  ╰───────────╯ │
                                                                                    │
       ╭────────────────────────────────────────────────────────────────────────────╯
       │
       │  ╭ g8 ───────╮  ╭ g9 ───────╮  ╭ out ───────╮
       │  │ gain    ▁ │  │ gain    ▁ │  │ output     │
       ╰──┤ gain 0 dB ├──┤ gain 0 dB ├⇄─┤ L        · │
          ╰───────────╯  ╰───────────╯  │ R        · │
                                        ╰────────────╯
      ────────────────────────────────────────────────────────────────────────────────
       tone ▸ oscillator   shape sine   freq 440.0 Hz   level -12.0 dB
       PATCH   ? help   p play   c connect   r replace   i insert   x remove
      """)
  }

  @Test func islandsStandInColumnsAt80x24() {
    let stage = stage(
      80, 24, (1...9).map { "node lfo\($0) oscillator" } + ["node a gain", "node b gain", "connect a -> b"])
    let frames = frames(stage)
    #expect(frames.values.allSatisfy { $0.right <= 80 })
    #expect(Set(frames.values.map(\.column)).count > 2)
    // Arrows reach all of them.
    var seen: Set<String> = []
    for _ in 0..<4 {
      stage.press("up up up up up up left left left left")
      seen.insert(stage.focus)
    }
    #expect(seen.count == 1)
    stage.press("right")
    #expect(!seen.contains(stage.focus))
  }

  // MARK: Detail and overview

  @Test func theZoomKeysLeadThroughThreeLevelsAndZeroFits() {
    let stage = stage(80, 24, chain(10))
    let fitted = frames(stage)
    stage.press("-")
    #expect(frames(stage).values.allSatisfy { $0.rows == 3 })
    stage.press("-")
    #expect(frames(stage).values.allSatisfy { $0.rows == 1 })
    stage.press("- -")
    #expect(frames(stage).values.allSatisfy { $0.rows == 1 })
    stage.press("+ + +")
    #expect(frames(stage).values.allSatisfy { $0.rows > 3 })
    stage.press("0")
    #expect(frames(stage) == fitted)
  }

  @Test func theOverviewShowsTheWindowAndLeadsAnywhere() {
    let stage = stage(80, 24, chain(60))
    stage.press("end")
    #expect(stage.focus == "out")
    stage.press("z")
    let last = stage.screen
    #expect(last.contains("overview  62 nodes") && last.contains("╰") && last.contains("◉"))
    stage.press("home")
    #expect(stage.screen != last && stage.focus == "tone")
    stage.press("esc")
    #expect(!stage.screen.contains("overview") && stage.screen.contains("┏ tone"))
    // A click goes there.
    stage.press("z")
    _ = stage.screen
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: Point(78, 18))))
    #expect(stage.focus != "tone")
    stage.press("z")
    #expect(stage.screen.contains("┏ \(stage.focus)"))
  }

  @Test func whatIsWhollyInSightNeedsNoOverview() {
    let stage = stage(110, 30, ["node a oscillator", "node out output", "connect a -> out"])
    stage.press("z")
    #expect(stage.message == "the whole graph is on the screen already")
    #expect(stage.screen.contains(" oscillator"))
  }

  // MARK: Places

  @Test func aBoxIsMovedByKeysInOneLineOfTheFileAndOneUndo() throws {
    let stage = stage(
      110, 30, ["node a oscillator", "node b gain", "node out output", "connect a -> b", "connect b -> out"])
    stage.app.desk.focus(try #require(stage.session.patch.id(named: "b")))
    let before = frames(stage)
    stage.press("shift-down shift-down")
    #expect(stage.lastEdit == "layout b 1,2")
    let after = frames(stage)
    #expect(try #require(after["b"]).row == (try #require(before["b"])).row + 10)
    #expect(after["a"] == before["a"] && after["out"]?.row == before["out"]?.row)
    stage.press("shift-left")
    #expect(stage.lastEdit == "layout b 0,2" && frames(stage)["b"]?.column == frames(stage)["a"]?.column)
    stage.press("A")
    #expect(stage.lastEdit == "layout b auto" && frames(stage) == before)
  }

  @Test func aBoxIsDraggedByTheMouseAsOneEdit() throws {
    let stage = stage(
      110, 30, ["node a oscillator", "node b gain", "node out output", "connect a -> b", "connect b -> out"])
    let steps = stage.session.undoList.count
    let frame = try #require(frames(stage)["b"])
    let top = ViewFrame(stage.app.scene, stage.app.state, columns: 110, rows: 30).view.row
    let start = Point(frame.column + 4, frame.row + top + 1)
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: start)))
    for row in 1...11 {
      stage.app.handle(.mouse(MouseEvent(.drag, .left, at: start + Point(0, row))))
      _ = stage.screen
    }
    stage.app.handle(.mouse(MouseEvent(.release, .left, at: start + Point(0, 11))))
    #expect(stage.lastEdit == "layout b 1,2" && stage.session.undoList.count == steps + 1)
    #expect(frames(stage)["b"]?.row == frame.row + 10)
    // A click alone moves nothing.
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: start + Point(0, 10))))
    stage.app.handle(.mouse(MouseEvent(.release, .left, at: start + Point(0, 10))))
    #expect(stage.session.undoList.count == steps + 1)
  }

  // MARK: Groups

  @Test func markedNodesFoldIntoOneBoxWhichStandsForAllOfThem() throws {
    let stage = stage(110, 30, chain(4))
    for name in ["g1", "g2", "g3"] {
      stage.app.desk.focus(try #require(stage.session.patch.id(named: name)))
      stage.press("s")
    }
    let patch = stage.session.patch
    stage.press("f")
    #expect(stage.session.patch.revision === patch.revision)
    #expect(frames(stage).keys.sorted() == ["g0", "g1 +2", "out", "tone"])
    stage.app.state.message = nil
    #expect(stage.screen.contains("3 nodes  g1  g2  g3"))
    #expect(stage.focus == "g1")
    stage.press("right")
    #expect(stage.focus == "out")
    stage.press("left left")
    #expect(stage.focus == "g0")
    // A replaced member stays in it, and what is done to it is done to all.
    _ = try stage.workbench.perform(line: "replace g2 delay")
    stage.press("right")
    stage.play(seconds: 0.05)
    #expect(stage.focus == "g1" && frames(stage).keys.sorted() == ["g0", "g1 +2", "out", "tone"])
    stage.press("X")
    stage.play(seconds: 0.1)
    #expect(stage.names == ["tone", "out", "g0"])
    stage.press("u")
    stage.press("f")
    #expect(stage.names.count == 6 && stage.app.state.graph.groups.isEmpty)
  }

  // MARK: Hints and large graphs

  @Test func hintsKeepTheirLettersThroughBothHalves() throws {
    let stage = stage(110, 30, chain(3) + ["node echo delay"])
    stage.press("c")
    let first = try #require(stage.app.state.overlay as? PortHints).targets
    let tone = PortHint.Target.output(
      PortReference(try #require(stage.session.patch.id(named: "tone")), "out"))
    stage.type(try #require(first.first { $0.target == tone }).letters)
    let second = try #require(stage.app.state.overlay as? PortHints).targets
    #expect(!second.isEmpty)
    for hint in second {
      #expect(first.first { $0.target == hint.target }?.letters == hint.letters)
    }
  }

  @Test func portsOutOfSightAreReachedByScrollingAndByName() throws {
    let stage = stage(80, 24, chain(400))
    stage.press("home c")
    var hints = try #require(stage.app.state.overlay as? PortHints)
    #expect(hints.targets.count < hints.all.count)
    #expect(Set(hints.targets.map(\.letters)).count == hints.targets.count)
    // In sight and lettered, wherever one scrolls to.
    for keys in ["pagedown", "pagedown", "pagedown", "down", "down", "pageup"] {
      stage.press(keys)
      hints = try #require(stage.app.state.overlay as? PortHints)
      let known = Set(hints.targets.map(\.target))
      let screen = Rect(column: 0, row: 2, columns: 80, rows: 18)
      let seen = GraphPlaces.ports(stage.app.scene, stage.app.state, columns: 80, rows: 24)
        .filter { screen.contains($0.place) }.map(\.target)
      #expect(seen.count > 4 && seen.allSatisfy(known.contains), "\(keys)")
      #expect(Set(hints.targets.map(\.letters)).count == hints.targets.count)
    }
    func choose(_ target: PortHint.Target) throws {
      let hints = try #require(stage.app.state.overlay as? PortHints)
      stage.type(try #require(hints.targets.first { $0.target == target }).letters)
    }
    stage.press("/ =tone enter")
    try choose(.output(PortReference(try #require(stage.session.patch.id(named: "tone")), "out")))
    stage.press("/ =g399 enter")
    #expect(stage.screen.contains("g399"))
    try choose(.input(PortReference(try #require(stage.session.patch.id(named: "g399")), "in")))
    #expect(stage.lastEdit == "connect tone -> g399")
  }

  @Test func fiveHundredNodesAreFoundAndWalkedThrough() {
    let stage = stage(80, 24, chain(498))
    for name in ["g497", "g250", "g3"] {
      stage.press("/ =\(name) enter")
      #expect(stage.focus == name && stage.screen.contains("┏ \(name)"))
    }
    let size = GraphPlaces.picture(stage.app.scene, stage.app.state, columns: 80, rows: 24).diagram.size
    #expect(size.columns <= 80)
    // To the right through all of them, across the ends of the bands.
    stage.press("home")
    var count = 1
    while stage.focus != "out", count < 600 {
      stage.press("right")
      count += 1
    }
    #expect(count == 500)
    stage.press("home pagedown pagedown")
    #expect(stage.focus != "tone")
    stage.press("pageup pageup")
    #expect(stage.focus == "tone")
  }
}

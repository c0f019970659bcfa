import Patch
import Screen
import Testing

@testable import Interface

/// MIDI learn: a key, a moved controller, and the map is there.
@MainActor @Suite struct LearnTests {
  private func stage() -> Stage {
    let stage = Stage(
      "node in midi", "node piano sampler", "node dist distortion drive=18dB",
      "node main matrix inputs=4 outputs=2", "node out output", "connect in -> piano",
      "connect piano -> dist", "connect dist -> main map=[0,1,-1,-1]", "connect main -> out",
      "control 1 dist.drive")
    (stage.columns, stage.rows) = (80, 24)
    stage.app.desk.focus(stage.session.patch.id(named: "dist") ?? NodeID(raw: 0))
    return stage
  }

  /// Moves controllers of the node `in`, and waits until they have been listened to.
  private func turn(_ stage: Stage, _ values: (number: Int, value: Int)...) throws {
    for (number, value) in values {
      try stage.session.perform("control in \(number) \(value)")
      stage.play(seconds: 0.02)
    }
    stage.play(seconds: 0.5)
  }

  private func maps(_ stage: Stage) -> [String] {
    stage.session.patch.settings.lines.map(\.line).filter { $0.hasPrefix("map") }
  }

  @Test func aPickedControlLearnsAndShowsItsController() throws {
    let stage = stage()
    stage.press("p alt-1 ctrl-l")
    #expect(stage.screen.contains("move a controller for dist.drive"))
    // Both hands play on meanwhile.
    stage.press("z")
    try turn(stage, (74, 10), (74, 12))
    #expect(maps(stage) == ["map in.cc74 -> dist.drive"])
    #expect(stage.message == "map in.cc74 -> dist.drive")
    #expect(stage.lastEdit == "map in.cc74 -> dist.drive")
    #expect(stage.screen.contains("drive◂"), "the box marks it: \(stage.screen)")
    // The knob stands below the value, and has to come up to it.
    try turn(stage, (74, 12))
    #expect(stage.screen.contains("dist.drive ↑cc74"), "\(stage.screen)")
    try turn(stage, (74, 60), (74, 127))
    #expect(stage.screen.contains("dist.drive cc74") && stage.lastEdit.hasPrefix("set dist.drive"))
    stage.press("F10")
    #expect(stage.screen.contains("dist.drive ↓cc74"), "undo takes one movement back: \(stage.screen)")
    stage.press("F10")
    #expect(maps(stage) == [])
  }

  @Test func escLeavesAndASecondPressTakesTheMapsAway() throws {
    let stage = stage()
    stage.press("p alt-1 ctrl-l esc")
    try turn(stage, (74, 10))
    #expect(maps(stage) == [] && stage.app.state.mode == .play && !stage.session.isLearning)
    for line in ["map in.cc7 -> dist.drive", "map in.bend -> dist.drive", "map in.cc7 -> dist.mix"] {
      try stage.session.perform(line)
    }
    stage.play(seconds: 0.02)
    stage.press("alt-1 ctrl-l")
    #expect(stage.screen.contains("dist.drive follows in.cc7, in.bend"))
    stage.press("ctrl-l")
    #expect(maps(stage) == ["map in.cc7 -> dist.mix"])
    stage.press("F10")
    #expect(maps(stage).count == 3, "one undo")
    stage.press("alt-1 ctrl-l ctrl-l alt-1 ctrl-l ctrl-l")
    #expect(stage.message == "no controller moves dist.drive")
  }

  @Test func aParameterOfThePanelAndACrosspointLearn() throws {
    let stage = stage()
    stage.press("enter down ctrl-l")
    try turn(stage, (1, 3), (33, 7), (1, 4))
    #expect(maps(stage).count == 1 && maps(stage)[0].hasPrefix("map in.cc1+33 -> dist."))
    #expect(stage.app.state.overlay is Inspector, "the panel is back")
    #expect(stage.screen.contains("in.cc1+33"))
    stage.press("esc F4 right down ctrl-l")
    try turn(stage, (20, 65), (20, 65), (20, 65))
    #expect(maps(stage).contains { $0.hasPrefix("map in.cc20 -> main[") && $0.hasSuffix("mode=offset") })
  }

  @Test func elsewhereTheParameterIsAskedForAndTheGraphMarksIt() throws {
    let stage = stage()
    stage.press("ctrl-l")
    #expect(stage.screen.contains("learn for dist"))
    stage.press("=mix enter")
    try turn(stage, (74, 100), (74, 101))
    #expect(maps(stage) == ["map in.cc74 -> dist.mix"])
    #expect(stage.screen.contains("mix◂"))
    #expect(!stage.session.isLearning)
  }

  @Test func theWholeScreen() throws {
    let stage = stage()
    stage.press("p alt-1 ctrl-l")
    try turn(stage, (74, 10), (74, 12))
    try turn(stage, (74, 30))
    let rows = stage.screen.split(separator: "\n", omittingEmptySubsequences: false).map { row in
      String(row.reversed().drop { $0 == " " }.reversed())
    }
    #expect(rows.joined(separator: "\n") == Self.expected + "\n", "\(stage.screen)")
  }

  private static let expected = """
     untitled •     1 ◂  1 ①   none 48 kHz/256   load  0 %   xruns 0   voices  0/64
    ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
     ╭ in ──────╮  ╭ piano ────╮  ┏ dist ━━━ ◂① ┓  ╭ main ──────╮  ╭ out ───────╮
     │ midi     │  │ sampler   │  ┃ distortion  ┃  │ matrix 4×2 │  │ output     │
     │ port any ├──┤         · ├──┨ drive◂18 dB ┠⇄─┤ 0        · ├──┤ L        · │
     ╰──────────╯  ╰──────── 0 ╯  ┗━━━━━━━━━━━━━┛  │ +3 more    │  │ R        · │
                                                   ╰────────────╯  ╰────────────╯







    ▸1 dist.drive ↑cc74 2 ·                3 ·                4 ·
     ▕████░░▏18.0 dB
     octave 4   velocity 100   pedal ○ up   release: press again   keys none
      │  ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃  │
      │  ┗s┛ ┗d┛  │  ┗g┛ ┗h┛ ┗j┛  │  ┗2┛ ┗3┛  │  ┗5┛ ┗6┛ ┗7┛  │  ┗9┛ ┗0┛  │
      │   │   │   │   │   │   │   │   │   │   │   │   │   │   │   │   │   │
      │ z │ x │ c │ v │ b │ n │ m │ q │ w │ e │ r │ t │ y │ u │ i │ o │ p │
    ────────────────────────────────────────────────────────────────────────────────
     map in.cc74 -> dist.drive
     PLAY   Esc lets go   ← → turn   Shift-Left ten down   Shift-Right ten up
    """
}

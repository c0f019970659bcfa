import Patch
import Screen
import Session
import Testing

@testable import Interface

/// The tour: every step says what to press, and goes on when it has been done and not before.
@Suite @MainActor struct TourTests {
  private func stage() -> Stage {
    let stage = Stage()
    let lines = StarterPatch.tour(instrument: nil).split(separator: "\n").dropFirst()
    for line in lines { _ = try? stage.session.perform(String(line)) }
    (stage.columns, stage.rows) = (80, 24)
    stage.play(seconds: 0.1)
    stage.app.desk.focus(stage.session.patch.id(named: "dist") ?? NodeID(raw: 0))
    stage.app.beginTour()
    stage.app.state.message = nil
    return stage
  }

  private func step(_ stage: Stage) -> Int { (stage.app.state.tour?.step ?? -1) + 1 }

  @Test func theFirstStepAt80x24() {
    let stage = stage()
    #expect(
      stage.canvas.lines.joined(separator: "\n") == """
         untitled •    none 48 kHz/256   load  0 %   peak  0 %   xruns 0   voices  0/64
        ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
         Boxes are nodes and lines are cables: sound goes from left to right, to the
         output. The arrow keys walk along them. Go to the box `main`.

        ─ tour 1 of 17 ─ Along the cables ───────────────────────────────── Alt-X next ─
         ╭ keys ────╮  ╭ piano ────╮  ┏ dist ━━━━━━━┓  ╭ main ──────╮  ╭ out ───────╮
         │ keyboard │  │ sampler   │  ┃ distortion  ┃  │ matrix 4×2 │  │ output     │
         │ octave 4 ├──┤         · ├──┨ drive 18 dB ┠⇄─┤ 0        · ├──┤ L        · │
         ╰──────────╯  ╰──────── 0 ╯  ┗━━━━━━━━━━━━━┛  │ +3 more    │  │ R        · │
                                                       ╰────────────╯  ╰────────────╯










        ────────────────────────────────────────────────────────────────────────────────
         dist ▸ distortion   drive 18.0 dB   mix 60 %   shape tanh   tone 0
         PATCH   ? help   p play   c connect   r replace   i insert   x remove
        """)
  }

  /// Who takes a cable away first, or swaps an effect once more, is not misunderstood.
  @Test func detoursAreNoSteps() throws {
    let stage = stage()
    stage.press("right right p space z c b")
    stage.play(seconds: 0.1)
    stage.press("F7")
    stage.play(seconds: 0.1)
    #expect(step(stage) == 5, "\(stage.screen)")
    stage.press("F7")
    stage.play(seconds: 0.1)
    #expect(step(stage) == 5, "another swap is no node more: \(stage.screen)")
    while step(stage) < 14 { stage.press("alt-x") }
    stage.press("esc esc")
    try stage.session.perform("disconnect main -> out")
    stage.play(seconds: 0.1)
    #expect(step(stage) == 14)
    try connect(stage, "piano", "out")
    stage.play(seconds: 0.1)
    #expect(step(stage) == 15, "\(stage.screen)")
  }

  /// Keys for each step, with ones before that do not do it.
  @Test func everyStepIsDoneByTheKeysThatItNamesAndNotByOthers() throws {
    let stage = stage()
    let keys: [(wrong: String, right: String)] = [
      ("left", "right right"), ("+", "p"), ("z", "c space b"), ("right left", "F7"), ("up", "F8"),
      ("F3 F2", "F9"),
      ("up", "F10"), ("F3 F2", "F5 F2"), ("alt-1 esc", "alt-1 =delay.mix enter"), ("up", "right"),
      ("esc", "esc"),
      ("enter esc", "enter right"), ("esc F4", "+"), ("F2 c esc", ""), ("", ": =set_main.master_-6dB enter"),
      ("F12", "up enter"),
    ]
    #expect(keys.count == TourStep.all.count - 1)
    for (index, (wrong, right)) in keys.enumerated() {
      #expect(step(stage) == index + 1, "before step \(index + 1): \(stage.screen)")
      #expect(stage.screen.includes("tour \(index + 1) of \(TourStep.all.count)"))
      stage.press(wrong)
      stage.play(seconds: 0.1)
      #expect(step(stage) == index + 1, "\(wrong) is not what step \(index + 1) wants")
      if right.isEmpty { try connect(stage, "piano", "out") } else { stage.press(right) }
      stage.play(seconds: 0.1)
    }
    #expect(step(stage) == TourStep.all.count)
    #expect(stage.screen.includes("Alt-X closes these lines"), "\(stage.screen)")
    stage.press("alt-x")
    #expect(stage.app.state.tour == nil && !stage.screen.includes("tour 17"))
  }

  /// By the letters on the screen.
  private func connect(_ stage: Stage, _ source: String, _ destination: String) throws {
    stage.press("c")
    for target in [
      PortHint.Target.output(PortReference(try #require(stage.session.patch.id(named: source)), "out")),
      .input(PortReference(try #require(stage.session.patch.id(named: destination)), "in")),
    ] {
      let hints = try #require(stage.app.state.overlay as? PortHints).targets
      stage.type(try #require(hints.first { $0.target == target }).letters)
    }
  }

  @Test func everyTextIsSeenWholeAt80Columns() {
    let stage = stage()
    for each in TourStep.all {
      let lines = Wrapping.lines([Wrapping.words(each.text, .text)], columns: 78, gap: 1)
      #expect(lines.count <= 2 && "Done: \(each.praise)".count <= 78, "\(each.title)")
    }
    var seen = 0
    while let tour = stage.app.state.tour {
      let lines = Wrapping.lines([Wrapping.words(tour.words.text, .text)], columns: 78, gap: 1)
      let screen = stage.screen
      for line in lines { #expect(screen.includes(line.map(\.text).joined()), "\(screen)") }
      if !tour.praise.isEmpty { #expect(screen.includes("Done: \(tour.praise)"), "\(screen)") }
      seen += 1
      stage.press("alt-x")
    }
    // One of them is done by itself where its step begins: it leads to patch mode.
    #expect(seen >= TourStep.all.count - 1)
  }

  @Test func otherPatchesHaveNoTour() {
    let stage = Stage("node out output")
    stage.type(":tour")
    stage.press("enter")
    #expect(stage.app.state.tour == nil && stage.message.includes("sostenuto tour"))
    let own = self.stage()
    own.type(":tour")
    own.press("enter")
    #expect(own.app.state.tour == nil, "the command ends it, too")
  }
}

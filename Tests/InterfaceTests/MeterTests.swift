import Patch
import Screen
import Testing

@testable import Interface

/// The meter bridge: levels of all ports, the highest, and what clipped.
@Suite @MainActor struct MeterTests {
  private func measured(_ columns: Int, _ rows: Int) -> (scene: Scene, state: ViewState) {
    var (scene, state) = reconnecting()
    scene.isModified = false
    scene.sound("dist", 1.5, 0.4)
    state.view = .meters
    _ = state.meters.take(scene, at: 10, isShown: true)
    scene.sound("dist", 0.6, 0.4)
    _ = state.meters.take(scene, at: 12, isShown: true)
    state.focus = scene.id("dist")
    state.meters.selected = state.meters.strips.first { $0.name == "dist.out" }?.port
    return (scene, state)
  }

  @Test func theScreenAt80x18() {
    let (scene, state) = measured(80, 18)
    expectScreen(
      scene, state, 80, 18,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─ scope ─[meters]─ history ─ help ──────────
       [all ports]  the driver's
                            -60    -48     -36      -24     -12      0  now  highest
        out.in            0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▄         -9     -9.1
                          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▂         -11    -11.1
        piano.out         0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▅       -6     -6.0
                          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▄         -9     -9.1
      ▸ dist.out          0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▆      -4   ! +3.5
                          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▃        -8     -8.0
        main.out          0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▄         -9     -9.1
                          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▂         -11    -11.1



      ────────────────────────────────────────────────────────────────────────────────
       dist.out   2 channels   now -4.4 dB   highest +3.5 dB   clipped
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func whatDoesNotFitInOneColumnGoesOnInASecondAt110x12() {
    let (scene, state) = measured(110, 12)
    expectScreen(
      scene, state, 110, 12,
      """
       reconnect.patch                      jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─ scope ─[meters]─ history ─ help ────────────────────────────────────────
       [all ports]  the driver's
                            -60 -40   -20   0  now  highest                        -60 -40   -20   0  now  highest
        out.in            0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▃     -9     -9.1    dist.out          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▅     -8     -8.0
                          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▆     -11    -11.1    main.out          0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▃     -9     -9.1
        piano.out         0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▂    -6     -6.0                      1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▆     -11    -11.1
                          1 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▃     -9     -9.1
      ▸ dist.out          0 ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▅    -4   ! +3.5
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       dist.out   2 channels   now -4.4 dB   highest +3.5 dB   clipped
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }

  /// What moves others has no level that is too high, as in the graph.
  @Test func anEnvelopeAtItsPeakDoesNotClip() {
    let stage = Stage(
      "node keys keyboard", "node env envelope", "node tone oscillator level=6dB", "node out output",
      "connect tone -> out", "connect env -> tone.level by 6dB", "node one constant",
      "connect one -> env.gate")
    stage.session.engine.isMetering = true
    (stage.columns, stage.rows) = (80, 24)
    stage.play(seconds: 0.2)
    stage.press("6")
    stage.play(seconds: 0.2)
    #expect(!row(stage, "env.out").contains("!"), "\(stage.screen)")
    #expect(row(stage, "env.out").contains("▇"), "\(stage.screen)")
    #expect(row(stage, "tone.out").contains("!"), "\(stage.screen)")
  }

  private func stage() -> Stage {
    let stage = Stage(
      "node tone oscillator freq=1kHz level=-12dB", "node amp gain", "node out output", "connect tone -> amp",
      "connect amp -> out")
    stage.session.engine.isMetering = true
    (stage.columns, stage.rows) = (80, 24)
    stage.app.desk.focus(stage.session.patch.id(named: "amp") ?? NodeID(raw: 0))
    return stage
  }

  private func row(_ stage: Stage, _ name: String) -> String {
    stage.screen.split(separator: "\n").map(String.init).first { $0.includes(name) } ?? ""
  }

  @Test func theHighestLevelIsThatOfTheSoundAlsoWhileAnotherScreenIsShown() {
    let stage = stage()
    stage.play(seconds: 0.3)
    stage.press("6")
    stage.play(seconds: 0.2)
    #expect(row(stage, "tone.out").hasSuffix("-12.0"), "\(stage.screen)")
    #expect(row(stage, "amp.out").hasSuffix("-12.0"))
    // It clips for a moment that nobody looks at.
    stage.press("F2")
    stage.type(":set amp.gain 18dB")
    stage.press("enter")
    stage.play(seconds: 0.2)
    stage.press("u")
    stage.play(seconds: 2)
    stage.press("6")
    stage.play(seconds: 0.1)
    #expect(row(stage, "amp.out").hasSuffix("! +6.0"), "\(stage.screen)")
    #expect(row(stage, "tone.out").hasSuffix("-12.0"))
    #expect(stage.screen.includes("highest +6.0 dB   clipped"), "the selected port's line: \(stage.screen)")
    stage.press("0")
    stage.play(seconds: 0.1)
    #expect(row(stage, "amp.out").hasSuffix("-12.0") && !stage.screen.includes("clipped"))
    // The driver's ports alone, and what goes into them.
    stage.press("6")
    #expect(row(stage, "out.in").hasSuffix("-12.0") && row(stage, "tone.out") == "", "\(stage.screen)")
  }

  @Test func arrowsMoveTheFocusAndTheScopeShowsThePortAtTheCursor() {
    let stage = stage()
    stage.press("6")
    #expect(row(stage, "amp.out").hasPrefix("▸"))
    stage.press("up")
    #expect(stage.focus == "tone" && row(stage, "tone.out").hasPrefix("▸"), "\(stage.screen)")
    stage.press("home")
    #expect(stage.focus == "out" && row(stage, "out.in").hasPrefix("▸"))
    stage.press("v")
    stage.play(seconds: 0.1)
    #expect(stage.app.state.view == .scope && stage.screen.includes("out.in"))
    stage.press("6 / =amp enter")
    #expect(stage.focus == "amp")
    // A node that replaces another of its name has the same line.
    stage.type(":replace amp distortion")
    stage.press("enter")
    stage.play(seconds: 0.2)
    #expect(stage.focus == "amp" && row(stage, "amp.out").hasPrefix("▸"), "\(stage.screen)")
  }

  @Test func theCursorIsSeenAtEverySizeAndEverywhere() {
    let stage = Stage("node out output")
    for number in 0..<40 {
      stage.app.handle(
        .paste("node n\(number) noise channels=\(number % 5 + 1)\nconnect n\(number) -> out\n"))
    }
    stage.press("6")
    var random = SeededGenerator(seed: 7)
    for _ in 0..<120 {
      stage.columns = Int.random(in: 30...160, using: &random)
      stage.rows = Int.random(in: 8...50, using: &random)
      _ = stage.screen
      stage.press(
        ["up", "down", "left", "right", "pageup", "pagedown", "home", "end"].randomElement(using: &random)
          ?? "up")
      let rows = stage.screen.split(separator: "\n")
      #expect(rows.count { $0.includes("▸ ") } >= 1, "\(stage.columns)x\(stage.rows): \(stage.screen)")
    }
  }

  /// Signals that move others reach 1 as they should.
  @Test func aTransportDoesNotClip() {
    let stage = Stage(
      "node tone oscillator level=6dB", "node clock transport", "connect clock.run -> tone.freq by 1Hz",
      "node out output", "connect tone -> out gain=-20dB")
    stage.session.engine.isMetering = true
    stage.press(": =roll enter")
    stage.play(seconds: 0.5)
    #expect(!row(stage, "transport").contains("!"), "\(stage.screen)")
    #expect(row(stage, "oscillator").contains("!"), "\(stage.screen)")
    stage.press("6")
    stage.play(seconds: 0.1)
    #expect(!row(stage, "clock.run").contains("!"), "\(stage.screen)")
    #expect(row(stage, "tone.out").contains("!"), "\(stage.screen)")
  }
}

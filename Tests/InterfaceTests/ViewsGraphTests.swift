import Engine
import Patch
import Screen
import Testing

@testable import Interface

/// The graph on the screen.
@Suite struct ViewsGraphTests {
  @Test func theGraphAt110x30ThreeNotesSoundWhileEqFadesOutUnderDist() {
    let (scene, state) = reconnecting()
    expectScreen(
      scene, state, 110, 30,
      """
       reconnect.patch •                    jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       ╭ keys ─────────╮   ╭ piano ────────╮      ┏ dist ━━━━━━━━━┓      ╭ main ───────────╮   ╭ out ──────────╮
       │ keyboard      │   │ sampler       │      ┃ distortion ▇▇ ┃      │ matrix 4 × 2 ▆▆ │   │ output        │
       │ C4 E4 G4      ├───┤ ▇▇▇▇▇▇▇▇▁  -6 ├──┬───┨ drive 18.0 dB ┠──┬───┤ 0 ▇▇▇▇▇▇▇▇▂  -4 ├───┤ L ▇▇▇▇▇▇   -9 │
       ╰───────────────╯   ╰ upright.sfz 6 ╯  ┊   ┃ shape    tanh ┃  ┊   │ 1 ▇▇▇▇▇▇▇▆   -8 │   │ R ▇▇▇▇▇▅  -11 │
                                              ┊   ┗━━━━━━━━━━━━━━━┛  ┊   │ 2             · │   ╰───────────────╯
                                              ┊4ms                   ┊4ms│ 3             · │
                                              ┊   ╭ eq ┈┈┈┈┈┈┈┈┈┈┈╮  ┊   ╰─────────────────╯
                                              ┊   ┊ equalizer     ┊  ┊
                                              ╰┈┈┈┤ now -11.4 dB  ├┈┈╯
                                                  ╰ fading 4ms ┈┈┈╯















      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %   oversample 2
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }

  @Test func theGraphAt80x24NarrowerBoxesSoThatAllFiveFit() {
    let (scene, state) = reconnecting()
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
       ╭ keys ────╮  ╭ piano ──────╮  ┏ dist ━━━━━━━┓  ╭ main ──────╮  ╭ out ───────╮
       │ keyboard │  │ sampler     │  ┃ distortion  ┃  │ matrix 4×2 │  │ output     │
       │ C4 E4 G4 ├──┤ ▇▇▇▇▇▇▂  -6 ├──┨ drive 18 dB ┠──┤ 0 ▇▇▇▅  -4 ├──┤ L ▇▇▇▃  -9 │
       ╰──────────╯  ╰ upright.… 6 ╯  ┗━━━━━━━━━━━━━┛  │ +3 more    │  │ R ▇▇▇▂ -11 │
                                                       ╰────────────╯  ╰────────────╯

       ╭ eq ┈┈┈┈┈┈┈╮
       ┊ equalizer ┊
       ┊ -11.4 dB  ┊
       ╰ fading ┈┈┈╯









      ────────────────────────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func theGraphAt40x10SmallBoxesAroundTheFocusedOne() {
    let (scene, state) = reconnecting()
    expectScreen(
      scene, state, 40, 10,
      """
       reconnect.patch •
      ─[graph]────────────────────────────────
           ╰──────────╯  ╰ upright.s… 6 ╯ │4m↑
       ╭──────────────────────────────────╯
       │   ┏ dist ━━━━━━━━┓
       ├───┨ distortion ▇ ┠─╮
       ┊   ┗━━━━━━━━━━━━━━┛ │                ↓
      ────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB
       PATCH   ? help   : prompt   c connect
      """)
  }

  @Test func theGraphAt20x5TheFocusedNodeItsNeighboursOutOfSightAndTheMode() {
    let (scene, state) = reconnecting()
    expectScreen(
      scene, state, 20, 5,
      """
       reconnect.patch •
         ┏ dist ━━━━━━━━┓↑
      ───┨ distortion ▇ ┠─
         ┗━━━━━━━━━━━━━━┛↓
       PATCH  dist ▸ dis…
      """)
  }

  @Test func feedbackAChannelMapModulationAndClippingHaveMarksOfTheirOwn() {
    let (scene, state) = feedback()
    expectScreen(
      scene, state, 100, 20,
      """
       reconnect.patch            jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────────────────────────
                                                     ╭ echo ─────────╮
                              ╭ wobble ───────╮      │ filter        │
                              │ oscillator    │  ╭───┤ ⠤⠤⠤⠤⠤⠤⠤⠤⣀⣀⣀⣀⣀ ├⇄─╮
                              │ freq   2.0 Hz ├──│───┤ freq 1.00 kHz │  │
                              │ level -6.0 dB │  │   ╰───────────────╯  │
                              ╰───────────────╯  │                      │
                                                 │                      │
       ╭ tone ─────────╮      ┏ sum ━━━━━━━━━━┓  │   ╭ out ──────────╮  │-6.0
       │ oscillator  ! │      ┃ mix        ▇▇ ┃  │   │ output        │  │
       │ freq 220.0 Hz ├──┬───┨               ┠──┴───┤ L ▇▇▇▇▇▇▂  -6 │  │
       │ shape    sine │  │   ┗━━━━━━━━━━━━━━━┛      │ R ▇▇▇▇▇▇▂  -6 │  │
       ╰───────────────╯  │                          ╰───────────────╯  │
                          │                                             │
                          ╰──────────────────────↺──────────────────────╯

      ────────────────────────────────────────────────────────────────────────────────────────────────────
       sum ▸ mix
       PATCH
      """)
  }

  @Test func aMissingFileAnUnknownKindAndAMutedNodeSaySoInWords() {
    let (scene, state) = broken()
    expectScreen(
      scene, state, 110, 12,
      """
       reconnect.patch                      jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       ┏ piano ━━━━━━━━━━━┓   ╭ space ────────╮   ╭ loud ─────────────╮   ╭ out ──────────╮
       ┃ sampler          ┃   │ shimmer     ▁ │   │ filter            │   │ output        │
       ┃ no file gone.sfz ┠───┤ unknown kind  ├───┤ sent NaN at 3.2 s ├───┤ L           · │
       ┗ placeholder ━━━━━┛   │ `shimmer`     │   ╰ muted ────────────╯   │ R           · │
                              ╰ placeholder ──╯                           ╰───────────────╯


      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       piano ▸ sampler   placeholder: no file gone.sfz   program 0   bank 0   level 0.0 dB   tune 0.0 cents
       PATCH
      """)
  }

  @Test func theKeyboardOfPlayModeAt80x24ShowsTheHeldKeysAndTheirLetters() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    playing(&state)
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
       ╭ keys ────╮  ╭ piano ──────╮  ┏ dist ━━━━━━━┓  ╭ main ──────╮  ╭ out ───────╮
       │ keyboard │  │ sampler     │  ┃ distortion  ┃  │ matrix 4×2 │  │ output     │
       │ C4 E4 G4 ├──┤ ▇▇▇▇▇▇▂  -6 ├──┨ drive 18 dB ┠──┤ 0 ▇▇▇▅  -4 ├──┤ L ▇▇▇▃  -9 │
       ╰──────────╯  ╰ upright.… 6 ╯  ┗━━━━━━━━━━━━━┛  │ +3 more    │  │ R ▇▇▇▂ -11 │
                                                       ╰────────────╯  ╰────────────╯

       ╭ eq ┈┈┈┈┈┈┈╮
       ┊ equalizer ┊
       ┊ -11.4 dB  ┊
       ╰ fading ┈┈┈╯




       octave 4   velocity 100   pedal ○ up   release: press again   keys C4 E4 G4
        │  ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃ ┃ ┃  │  ┃ ┃ ┃ ┃  │
        │  ┗s┛ ┗d┛  │  ┗g┛ ┗h┛ ┗j┛  │  ┗2┛ ┗3┛  │  ┗5┛ ┗6┛ ┗7┛  │  ┗━┛ ┗━┛  │
        │ ● │   │ ● │   │ ● │   │   │   │   │   │   │   │   │   │   │   │   │
        │ z │ x │ c │ v │ b │ n │ m │ q │ w │ e │ r │ t │ y │ u │   │   │   │
      ────────────────────────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %
       PLAY   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func playModeAt40x10NamesTheHeldKeys() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    playing(&state)
    expectScreen(
      scene, state, 40, 10,
      """
       reconnect.patch •
      ─[graph]────────────────────────────────
       ╭──────────────────────────────────╯  ↑
       │   ┏ dist ━━━━━━━━┓
       ├───┨ distortion ▇ ┠─╮
       ┊   ┗━━━━━━━━━━━━━━┛ │                ↓
       keys C4 E4 G4   release: press again
      ────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB
       PLAY   ? help   : prompt   c connect
      """)
  }

  @Test func twoLettersAtEveryPortWhileConnecting() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    hinting(scene, &state)
    expectScreen(
      scene, state, 110, 14,
      """
       reconnect.patch •                    jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       ╭ keys ────╮  ╭ piano ────────╮    ┏ dist ━━━━━━━━━┓    ╭ main ─────────╮  ╭ out ───────╮
       │ keyboard │  │ sampler       │    ┃ distortion ▇▇ ┃    │ matrix 4×2 ▆▆ │  │ output     │
      AA C4 E4 G4 AS─AD ▇▇▇▇▇▇▇▁  -6 AF┬─AG drive   18 dB AH┬─AJ 0 ▇▇▇▇▇▇▃  -4 AK─AL L ▇▇▄  -9 │
       ╰──────────╯  ╰ upright.sfz 6 ╯ ┊  ┗━━━━━━━━━━━━━━━┛ ┊  │ +3 more       │  │ R ▇▇▇▂ -11 │
                                       ┊                    ┊  ╰───────────────╯  ╰────────────╯
                                       ┊  ╭ eq ┈┈┈┈┈┈┈┈┈┈┈╮ ┊
                                       ┊  ┊ equalizer     ┊ ┊
                                       ╰┈AQ -11.4 dB      ├┈╯
                                          ╰ fading 4ms ┈┈┈╯
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       connect from  type two letters
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }

  @Test func aFaultOfTheDriverTakesTheStatusLineOver() {
    var scene: Scene
    let state: ViewState
    (scene, state) = reconnecting()
    scene.status.isDisturbed = true
    scene.status.driverMessage =
      "JACK server gone: playing on through the clock driver; trying again"
    expectScreen(
      scene, state, 80, 6,
      """
       ! JACK server gone: playing on through the clock driver; trying again
          ╭ keys ────╮  ╭ piano ───────╮    ┏ dist ━━━━━━━━┓    ╭ main ────────╮
          │ keyboard ├──┤ sampler   ▇▆ ├─┬──┨ distortion ▇ ┠─┬──┤ matrix 4×2 ▆ ├─╮
          ╰──────────╯  ╰ upright.s… 6 ╯ ┊  ┗━━━━━━━━━━━━━━┛ ┊  ╰──────────────╯ │   ↓
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func channelsThatTheDriverLacksAreNotMeteredButMarked() {
    var scene = makeScene(
      """
      sostenuto 1
      node tone oscillator channels=4
      node out output channels=4
      connect tone -> out
      """)
    let out = scene.report.nodes.firstIndex { $0.name == "out" }!
    scene.report.nodes[out].inputs[0].peaks = [0.25, 0.25, 0.25, 0.25]
    scene.report.nodes[out].lackingChannels = 2
    expectScreen(
      scene, ViewState(), 60, 12,
      """
       reconnect.patch         jack 48 kHz/64  1.3 ms   load  7 %
      ─[graph]────────────────────────────────────────────────────
       ╭ tone ─────────╮   ╭ out ──────────────╮
       │ oscillator    │   │ output            │
       │ shape    sine ├───┤ 0 ▇▇▇▇▇▇▇▇▆   -12 │
       │ freq 440.0 Hz │   │ 1 ▇▇▇▇▇▇▇▇▆   -12 │
       ╰───────────────╯   │ 2          silent │
                           │ 3          silent │
                           ╰ driver has 2 of 4 ╯
      ────────────────────────────────────────────────────────────

       PATCH
      """)
    expectScreen(
      scene, ViewState(), 30, 9,
      """
       reconnect.patch
      ─[graph]──────────────────────
       ╭ tone ──────╮  ╭ out ──────╮
       │ oscillator ├──┤ output ▆▆ │
       ╰────────────╯  ╰ 2 of 4 ───╯



       PATCH
      """)
  }

  @Test func aCardOfANodesOwnIsShownWithItsLatencyAndDriftOrAsAbsent() {
    var scene = makeScene(
      """
      sostenuto 1
      node tone oscillator
      node cue output device=hw:2
      connect tone -> cue
      """)
    let cue = scene.report.nodes.firstIndex { $0.name == "cue" }!
    scene.report.nodes[cue].inputs[0].peaks = [0.25, 0.25]
    var card = CardState(device: "hw:2")
    (card.stage, card.latency, card.drift) = (.running, 0.0214, 12.4)
    scene.report.nodes[cue].card = card
    expectScreen(
      scene, ViewState(), 60, 12,
      """
       reconnect.patch         jack 48 kHz/64  1.3 ms   load  7 %
      ─[graph]────────────────────────────────────────────────────
       ╭ tone ─────────╮   ╭ cue ────────────╮
       │ oscillator    │   │ output          │
       │ shape    sine ├───┤ L ▇▇▇▇▇▇▇▁  -12 │
       │ freq 440.0 Hz │   │ R ▇▇▇▇▇▇▇▁  -12 │
       ╰───────────────╯   ╰ 21.4 ms +12 ppm ╯


      ────────────────────────────────────────────────────────────

       PATCH
      """)
    card.stage = .absent("ALSA device hw:2 was unplugged")
    scene.report.nodes[cue].card = card
    expectScreen(
      scene, ViewState(), 30, 9,
      """
       reconnect.patch
      ─[graph]──────────────────────
       ╭ tone ──────╮  ╭ cue ──────╮
       │ oscillator ├──┤ output ▆▆ │
       ╰────────────╯  ╰ no device ╯



       PATCH
      """)
  }
}

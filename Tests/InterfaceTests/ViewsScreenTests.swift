import Engine
import Patch
import Screen
import Testing

@testable import Interface

/// The other views on the screen.
@Suite struct ViewsScreenTests {
  @Test func theMatrixAt80x16HeadsLevelsAndABracketAroundTheCursorsCell() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    state.view = .matrix
    expectScreen(
      scene, state, 80, 16,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 4 × 2

                            │    out 0     out 1
                            │  ▇▇▇▇▇▇    ▇▇▇▇▇▅
       master         -6.0  │     0.0       0.0
       ─────────────────────┼─────────────────────
       in 0  ▇▇▇▇▄     0.0  │    [0.0]     -6.0
       in 1  ▇▇▇▇▂    -3.0  │       ·       0.0
       in 2            0.0  │       ·         ·
       in 3            0.0  │       ·         ·

      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 0 → 0   0.0 dB   set main[0,0] 0dB   factor 1.000
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func theMatrixAt40x10KeepsItsHeadsAndScrollsToTheCursor() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    state.view = .matrix
    state.matrix.row = 3
    state.matrix.column = 1
    expectScreen(
      scene, state, 40, 10,
      """
       reconnect.patch •
      ─[matrix]───────────────────────────────
       main   matrix 4 × 2   rows 2…3 of 4
                     out 0  out 1
              -6.0    0.0    0.0
      ↑in 2    0.0      ·      ·
       in 3    0.0      ·     [·]
      ────────────────────────────────────────
       3 → 1   -inf dB   set main[3,1] -inf
       PATCH   ? help   : prompt   c connect
      """)
  }

  @Test func thePrintoutAt80x14MarksTheFocusedNode() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    state.view = .printout
    expectScreen(
      scene, state, 80, 14,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─ graph ─[printout]─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
              in 4ch      <- dist.out 2ch   sum 1/2   gain 0.0 dB   active           ↑
                          <- eq.out 2ch     sum 2/2   gain 0.0 dB   fading out at -11…
              out 2ch     -> out.in
       eq     {equalizer}   inputs 1  outputs 1   #4    leaving, 4 ms left, since 0.0…
              in 2ch      <- piano.out 2ch  splitter 2/2   gain 0.0 dB   fading out a…
              out 2ch     -> main.in
      ▎dist   {distortion}  inputs 1  outputs 1   #3    active, since 0.000 s
      ▎       in 2ch      <- piano.out 2ch  splitter 1/2   gain -3.0 dB   active
      ▎       out 2ch     -> main.in                                                 ↓
      ────────────────────────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func theTraceAt110x14FollowsAndSumsUpWhatHappenedToTheFocusedNode() {
    let (scene, state) = tracing()
    expectScreen(
      scene, state, 110, 14,
      """
       reconnect.patch •                    jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─[trace]─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       time          node   event            detail
      ▎   0.000 000  piano  prepared                                                                               ↑
      ▎  12.402 333  piano  note on          C4 velocity 100
         14.000 000  dist   allocated        14.1 kB
         14.000 000  dist   fading in        10 ms
         14.000 000  eq     fading out       10 ms
         14.010 000  eq     retired          plan 41 -> 42
         14.010 250  eq     freed            worker
       piano since 12.4 s: 1 note on, 0 prepares, 0 resets                           filter: all nodes   follow: on
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       piano ▸ sampler   program 0   bank 0   level 0.0 dB   tune 0.0 cents   quality auto   changes on   mpe off
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }

  @Test func theTraceAt40x10OfOneNode() {
    let scene: Scene
    var state: ViewState
    (scene, state) = tracing()
    state.trace.node = state.focus
    expectScreen(
      scene, state, 40, 10,
      """
       reconnect.patch •
      ─[trace]────────────────────────────────
       time          node   event      detail
      ▎   0.000 000  piano  allocated  120.0 …
      ▎   0.000 000  piano  prepared
      ▎  12.402 333  piano  note on    C4 vel…
       piano since 12.4 s: 1 note on, 0 prep…
      ────────────────────────────────────────
       piano ▸ sampler   program 0   bank 0
       PATCH   ? help   : prompt   c connect
      """)
  }

  @Test func thePromptAt60x12CompletionsAboveItTheErrorBelowItsPlace() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    prompting(&state)
    expectScreen(
      scene, state, 60, 12,
      """
       reconnect.patch •       jack 48 kHz/64  1.3 ms   load  7 %
      ─[graph]────────────────────────────────────────────────────
           ╭ keys ────╮  ╭ piano ────────╮    ┏ dist ━━━━━━━━━┓
           │ keyboard │  │ sampler       │    ┃ distortion ▇▇ ┃
           │ C4 E4 G4 ├──┤ ▇▇▇▇▇▇▇▇▁  -6 ├─┬──┨ drive   18 dB ┠─╮
           ╰──────────╯  ╰ upright.sfz 6 ╯ ┊  ┗━━━━━━━━━━━━━━━┛ │
                                           ┊4ms                 │
                                           ┊  ╭ eq ┈┈┈┈┈┈┈┈┈┈┈╮ │
        ▸equalizer  Up to eight parametric bands.
         envelope
      : replace dist equ
                     ^ no kind `equ`                    Esc leave
      """)
  }

  @Test func theParametersOfTheFocusedNodeAt80x14() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    state.overlay = Inspector(scene.id("dist"))
    expectScreen(
      scene, state, 80, 14,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────
          ╭ keys ────╮  ╭ piano ───────╮    ┏ dist ━━━━━━━━┓    ╭ main ────────╮
          │ keyboard ├──┤ sampler   ▇▆ ├─┬──┨ distortion ▇ ┠─┬──┤ matrix 4×2 ▆ ├─╮
          ╰──────────╯  ╰ upright.s… 6 ╯ ┊  ┗━━━━━━━━━━━━━━┛ ┊  ╰──────────────╯ │
                                         ┊  ╭ eq ┈┈┈┈┈┈┈┈┈┈╮ ┊                   │   ↓
      ─ dist ▸ distortion ────────────────────────────────────────────────────────────
       ▸ drive•      ▕█████░░░▏   18.0 dB
         shape       [tanh] fold  hard
         tone        ▕████░░░░▏         0
       How far into the curve. From -inf dB to 60.0 dB; 12.0 dB unless it is set.
      ────────────────────────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func choosingAmongWhatMatchesAt60x12() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    choosing(&state)
    expectScreen(
      scene, state, 60, 12,
      """
       reconnect.patch •       jack 48 kHz/64  1.3 ms   load  7 %
      ─[graph]────────────────────────────────────────────────────
      ╭─ replace dist by ───────────────────╮ ┏ dist ━━━━━━━━━┓
      │ /l                                  │ ┃ distortion ▇▇ ┃
      │   filter     A resonant two-pole f… │─┨ drive   18 dB ┠─╮
      │ ▸ equalizer  Up to eight parametri… │ ┗━━━━━━━━━━━━━━━┛ │
      │   delay      Echoes.                │ms                 │
      │                                     │ ╭ eq ┈┈┈┈┈┈┈┈┈┈┈╮ │
      ╰─────────────────────────────────────╯ ┊ equalizer     ┊ │↓
      ────────────────────────────────────────────────────────────
       Up to eight parametric bands.
       PATCH   ? help   : prompt   c connect   d disconnect
      """)
  }

  @Test func aQuestionTakesTheMessagesRow() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    state.overlay = Question(
      text: "save reconnect.patch before leaving?", keys: [("y", "yes"), ("n", "no")])
    state.keyHints = state.overlay?.hints ?? []
    expectScreen(
      scene, state, 60, 10,
      """
       reconnect.patch •       jack 48 kHz/64  1.3 ms   load  7 %
      ─[graph]────────────────────────────────────────────────────
           ╭ keys ────╮  ╭ piano ───────╮    ┏ dist ━━━━━━━━┓
           │ keyboard ├──┤ sampler   ▇▆ ├─┬──┨ distortion ▇ ┠─╮
           ╰──────────╯  ╰ upright.s… 6 ╯ ┊  ┗━━━━━━━━━━━━━━┛ │
                                          ┊  ╭ eq ┈┈┈┈┈┈┈┈┈┈╮ │
                                          ╰┈┈┤ equalizer    ├┈┼╮ ↓
      ────────────────────────────────────────────────────────────
       save reconnect.patch before leaving?
       PATCH   y yes   n no
      """)
  }

  @Test func helpAt60x12ListsTheKeysItIsGiven() {
    let scene: Scene
    var state: ViewState
    (scene, state) = reconnecting()
    state.view = .help
    state.help = [HelpSection(title: "Editing", entries: state.keyHints)]
    expectScreen(
      scene, state, 60, 12,
      """
       reconnect.patch •       jack 48 kHz/64  1.3 ms   load  7 %
      ─[help]─────────────────────────────────────────────────────
       Editing
          ?  help
          :  prompt
          c  connect
          d  disconnect
          r  replace
          i  insert                                              ↓
      ────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0
       PATCH   ? help   : prompt   c connect   d disconnect
      """)
  }
}

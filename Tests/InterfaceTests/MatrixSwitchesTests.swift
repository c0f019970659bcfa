@testable import Engine
@testable import Interface
import Patch
import Screen
import Testing

/// Whole screens of a matrix with mutes, solos, inverted signals and names: nothing is conveyed by colour alone.
@Suite struct MatrixSwitchesTests {
  /// Muted, soloed and inverted inputs, outputs and crosspoints, some with labels.
  private func desk(_ change: (inout ViewState) -> Void = { _ in }) -> (Scene, ViewState) {
    matrixScene(
      """
      label.in[0]=Kick label.in[2]="Overhead left" label.out[0]=Left label.out[1]="Right monitor" \
      [0,0]=-12.5dB mute[0,0]=on [1,0]=-6dB invert[1,0]=on solo[1,1]=on invert.in[2]=on mute.in[3]=on \
      in[3]=-3dB solo.out[1]=on
      """.replacing("\n", with: ""), change)
  }

  @Test func mutesSolosPolarityAndNamesAt110x18WithoutAColour() {
    let (scene, state) = desk { ($0.matrix.row, $0.matrix.column) = (1, 0) }
    expectScreen(
      scene, state, 110, 18,
      """
       reconnect.patch    mute main  solo main  jack 48 kHz/64  1.3 ms  load  7 %  peak 11 %  xruns 0  voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       main   matrix 4 × 2
                                               out 0     out 1
                                          │     Left Right mo…
                                          │  ▇▇▇▇▇▄
       master                        0.0  │     0.0       0.0 S
       ───────────────────────────────────┼─────────────────────
       in 0  Kick          ▇▇▇▇▃     0.0  │   -12.5 M       ·
       in 1                ▇▅        0.0  │  [Ø-6.0]      0.0 S
       in 2  Overhead left          Ø0.0  │       ·         ·
       in 3                         -3.0 M│       ·         ·



      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       crosspoint 1 → 0 Left   -6.0 dB   inverted, silent while others are soloed   set main[1,0] -6dB
       PATCH
      """)
  }

  @Test func mutesSolosPolarityAndNamesAt40x16() {
    let (scene, state) = desk { ($0.matrix.row, $0.matrix.column) = (0, 0) }
    expectScreen(
      scene, state, 40, 16,
      """
       reconnect.patch   mute main  solo main
      ─[matrix]───────────────────────────────
       main   matrix 4 × 2
                                out 0  out 1
                              │  Left Right…
                              │  ▇▇▇▁
       master            0.0  │  0.0    0.0 S
       ───────────────────────┼───────────────
       in 0  Kick        0.0  [-12.5]M    ·
       in 1              0.0  │Ø-6.0    0.0 S
       in 2  Overhead … Ø0.0  │    ·      ·
       in 3             -3.0 M│    ·      ·

      ────────────────────────────────────────
       0 Kick → 0 Left   -12.5 dB   muted
       PATCH
      """)
  }

  @Test func mutesSolosPolarityAndNamesInWholeDecibelsAt80x16() {
    let (scene, state) = desk { $0.matrix.cellWidth = 4 }
    expectScreen(
      scene, state, 80, 16,
      """
       reconnect.patch     mute main   solo main   jack 48 kHz/64  1.3 ms   load  7 %
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 4 × 2
                                     0   1
                                 │ Le… Ri…
                                 │ ▇▇▃
       master                  0 │   0   S
       ──────────────────────────┼─────────
        0 Kick          ▇▇▇▄   0 │  [M]  ·
        1               ▇▂     0 │ Ø-6   S
        2 Overhead left       Ø0 │   ·   ·
        3                      M │   ·   ·

      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 0 Kick → 0 Left   -12.5 dB   muted   set main[0,0] -12.5dB
       PATCH
      """)
  }

  @Test func mutesSolosPolarityAndNamesInBarsAt80x16() {
    let (scene, state) = desk { $0.matrix.cellWidth = 2 }
    expectScreen(
      scene, state, 80, 16,
      """
       reconnect.patch     mute main   solo main   jack 48 kHz/64  1.3 ms   load  7 %
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 4 × 2

                                 │ 0 1
                                 │ ▆
       master                  0 │ ▇ S
       ──────────────────────────┼─────
        0 Kick          ▇▇▇▄   0 │[M]·
        1               ▇▂     0 │ Ø S
        2 Overhead left       Ø0 │ · ·
        3                      M │ · ·

      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 0 Kick → 0 Left   -12.5 dB   muted   set main[0,0] -12.5dB
       PATCH
      """)
  }

  @Test func mutesSolosPolarityAndNamesInDotsAt80x16() {
    let (scene, state) = desk { $0.matrix.cellWidth = 1 }
    expectScreen(
      scene, state, 80, 16,
      """
       reconnect.patch     mute main   solo main   jack 48 kHz/64  1.3 ms   load  7 %
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 4 × 2

                                 │01
                                 │▆
       master                  0 │●S
       ──────────────────────────┼▾──
        0 Kick          ▇▇▇▄   0 ▸M·
        1               ▇▂     0 │ØS
        2 Overhead left       Ø0 │··
        3                      M │··

      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 0 Kick → 0 Left   -12.5 dB   muted   set main[0,0] -12.5dB
       PATCH
      """)
  }

  @Test func withoutColoursTheRangeIsReversedAndTheCursorBoldLettersSayTheRest() {
    let (scene, state) = desk {
      $0.matrix.rangeStart = GridCell(1, 0)
      ($0.matrix.row, $0.matrix.column) = (2, 1)
    }
    let canvas = Views.draw(scene, state, columns: 80, rows: 16)
    let cursor = canvas.cursor ?? .zero
    let here = Theme.monochrome.paint(for: canvas[cursor].style)
    #expect(here.attributes.contains([.reverse, .bold]))
    let above = Theme.monochrome.paint(for: canvas[cursor + Point(0, -1)].style)
    #expect(above.attributes.contains(.reverse))
    let outside = Theme.monochrome.paint(for: canvas[cursor + Point(0, 1)].style)
    #expect(!outside.attributes.contains(.reverse))
  }
}

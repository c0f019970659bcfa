@testable import Engine
@testable import Interface
import Patch
import Screen
import Testing

/// Whole screens of the matrix view, compared as text: nothing is conveyed by colour alone.
@Suite struct MatrixScreenTests {
  @Test func aMatrixOf64x64At80x24ADotACrosspointEveryColumnSeenHeadsThatStayRulesThatPoint() {
    let (scene, state) = matrixScene("inputs=64 outputs=64 [20,10]=-6dB [21,11]=3dB [22,22]=-inf") {
      ($0.matrix.row, $0.matrix.column) = (20, 10)
    }
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 64 × 64   rows 8…20 of 64
                    0         1         2         3         4         5         6
                   │0123456789012345678901234567890123456789012345678901234567890123
                   │▆
       master    0 │●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●●
       ────────────┼──────────▾──────────────────────────────────────────────────────
      ↑ 8        0 │········●·······················································
        9        0 │·········●······················································
       10        0 │··········●·····················································
       11        0 │···········●····················································
       12        0 │············●···················································
       13        0 │·············●··················································
       14        0 │··············●·················································
       15        0 │···············●················································
       16        0 │················●···············································
       17        0 │·················●··············································
       18        0 │··················●·············································
       19        0 │···················●············································
      ↓20        0 ▸··········•·········●···········································
      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 20 → 10   -6.0 dB   set main[20,10] -6dB   factor 0.501
       PATCH
      """)
  }

  @Test func aMatrixOf32x32At80x24BarsTheCursorInBrackets() {
    let (scene, state) = matrixScene("inputs=32 outputs=32 [1,2]=-6dB [2,1]=-30dB [3,3]=6dB") {
      ($0.matrix.row, $0.matrix.column) = (1, 2)
    }
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 32 × 32   rows 0…12 of 32
                     0                   1                   2                   3
                   │ 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
                   │ ▆
       master    0 │ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇ ▇
       ────────────┼─────────────────────────────────────────────────────────────────
        0 ▇▇▇▄   0 │ ▇ · · · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
        1 ▇▂     0 │ · ▇[▆]· · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
        2        0 │ · ▃ ▇ · · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
        3        0 │ · · · █ · · · · · · · · · · · · · · · · · · · · · · · · · · · ·
        4        0 │ · · · · ▇ · · · · · · · · · · · · · · · · · · · · · · · · · · ·
        5        0 │ · · · · · ▇ · · · · · · · · · · · · · · · · · · · · · · · · · ·
        6        0 │ · · · · · · ▇ · · · · · · · · · · · · · · · · · · · · · · · · ·
        7        0 │ · · · · · · · ▇ · · · · · · · · · · · · · · · · · · · · · · · ·
        8        0 │ · · · · · · · · ▇ · · · · · · · · · · · · · · · · · · · · · · ·
        9        0 │ · · · · · · · · · ▇ · · · · · · · · · · · · · · · · · · · · · ·
       10        0 │ · · · · · · · · · · ▇ · · · · · · · · · · · · · · · · · · · · ·
       11        0 │ · · · · · · · · · · · ▇ · · · · · · · · · · · · · · · · · · · ·
      ↓12        0 │ · · · · · · · · · · · · ▇ · · · · · · · · · · · · · · · · · · ·
      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 1 → 2   -6.0 dB   set main[1,2] -6dB   factor 0.501
       PATCH
      """)
  }

  @Test func aMatrixOf16x16At80x24WholeDecibels() {
    let (scene, state) = matrixScene("inputs=16 outputs=16 [1,2]=-6dB [2,1]=-30.4dB in[3]=-12dB") {
      ($0.matrix.row, $0.matrix.column) = (2, 1)
    }
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 16 × 16   rows 0…12 of 16

                   │   0   1   2   3   4   5   6   7   8   9  10  11  12  13  14  15
                   │ ▇▇▃
       master    0 │   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0   0
       ────────────┼─────────────────────────────────────────────────────────────────
        0 ▇▇▇▄   0 │   0   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
        1 ▇▂     0 │   ·   0  -6   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
        2        0 │   ·[-30]  0   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
        3      -12 │   ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
        4        0 │   ·   ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
        5        0 │   ·   ·   ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
        6        0 │   ·   ·   ·   ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·   ·   ·
        7        0 │   ·   ·   ·   ·   ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·   ·
        8        0 │   ·   ·   ·   ·   ·   ·   ·   ·   0   ·   ·   ·   ·   ·   ·   ·
        9        0 │   ·   ·   ·   ·   ·   ·   ·   ·   ·   0   ·   ·   ·   ·   ·   ·
       10        0 │   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   0   ·   ·   ·   ·   ·
       11        0 │   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   0   ·   ·   ·   ·
      ↓12        0 │   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·   0   ·   ·   ·
      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 2 → 1   -30.4 dB   set main[2,1] -30.4dB   factor 0.030
       PATCH
      """)
  }

  @Test func aRangeAt110x18BracketsAroundItsRowsAndHowMuchItIs() {
    let (scene, state) = matrixScene("inputs=8 outputs=6 [1,2]=-6dB") {
      $0.matrix.rangeStart = GridCell(1, 1)
      ($0.matrix.row, $0.matrix.column) = (3, 2)
    }
    expectScreen(
      scene, state, 110, 18,
      """
       reconnect.patch                      jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ────────────────────────────────────────
       main   matrix 8 × 6   rows 0…6 of 8

                            │    out 0     out 1     out 2     out 3     out 4     out 5
                            │  ▇▇▇▇▇▄
       master          0.0  │     0.0       0.0       0.0       0.0       0.0       0.0
       ─────────────────────┼─────────────────────────────────────────────────────────────
       in 0  ▇▇▇▇▃     0.0  │     0.0         ·         ·         ·         ·         ·
       in 1  ▇▅        0.0  │       ·      [0.0      -6.0]        ·         ·         ·
       in 2            0.0  │       ·        [·       0.0]        ·         ·         ·
       in 3            0.0  │       ·        [·         ·]      0.0         ·         ·
       in 4            0.0  │       ·         ·         ·         ·       0.0         ·
       in 5            0.0  │       ·         ·         ·         ·         ·       0.0
      ↓in 6            0.0  │       ·         ·         ·         ·         ·         ·
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       range 1…3 → 1…2, 6 crosspoints   -inf dB   set main[3,2] -inf   factor 0.000
       PATCH
      """)
  }

  @Test func aMatrixOf64x64WithCellsMadeLargerByHandAt80x20ScrollsBothWays() {
    let (scene, state) = matrixScene("inputs=64 outputs=64 [40,40]=-6.5dB") {
      ($0.matrix.row, $0.matrix.column) = (40, 40)
      $0.matrix.cellWidth = 7
    }
    expectScreen(
      scene, state, 80, 20,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 64 × 64   rows 32…40 of 64   columns 33…40 of 64

                            │out 33 out 34 out 35 out 36 out 37 out 38 out 39 out 40
                            │
       master          0.0  ‹  0.0    0.0    0.0    0.0    0.0    0.0    0.0    0.0  ›
       ─────────────────────┼─────────────────────────────────────────────────────────
      ↑in 32           0.0  │    ·      ·      ·      ·      ·      ·      ·      ·
       in 33           0.0  │  0.0      ·      ·      ·      ·      ·      ·      ·
       in 34           0.0  │    ·    0.0      ·      ·      ·      ·      ·      ·
       in 35           0.0  │    ·      ·    0.0      ·      ·      ·      ·      ·
       in 36           0.0  │    ·      ·      ·    0.0      ·      ·      ·      ·
       in 37           0.0  │    ·      ·      ·      ·    0.0      ·      ·      ·
       in 38           0.0  │    ·      ·      ·      ·      ·    0.0      ·      ·
       in 39           0.0  │    ·      ·      ·      ·      ·      ·    0.0      ·
      ↓in 40           0.0  │    ·      ·      ·      ·      ·      ·      ·  [-6.5]
      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 40 → 40   -6.5 dB   set main[40,40] -6.5dB   factor 0.473
       PATCH
      """)
  }

  @Test func metersAt80x16TheMeanAsABarThePeakAsALineBeyondItTheHighestPeakHeld() {
    let (scene, state) = matrixScene("inputs=2 outputs=2") {
      $0.matrix.meters.name = "main"
      $0.matrix.meters.rows = [
        MeterLevel(peak: 0.2, mean: 0.05, held: 0.8), MeterLevel(peak: 0.01, mean: 0.001, held: 1.2),
      ]
      $0.matrix.meters.columns = [MeterLevel(peak: 0.5, mean: 0.1, held: 0.6), MeterLevel()]
    }
    expectScreen(
      scene, state, 80, 16,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       main   matrix 2 × 2

                            │    out 0     out 1
                            │  ▇▇▇▇▅╌╌
       master          0.0  │     0.0       0.0
       ─────────────────────┼─────────────────────
       in 0  ▇▇▆╌│     0.0  │    [0.0]        ·
       in 1  ╌╌  !     0.0  │       ·       0.0



      ────────────────────────────────────────────────────────────────────────────────
       crosspoint 0 → 0   0.0 dB   set main[0,0] 0dB   factor 1.000
       PATCH
      """)
  }

  @Test func aCableAt80x16ItsChannelMapAsTheGridThatItIs() {
    var (scene, state) = reconnecting()
    _ =
      try? scene.patch =
      scene.patch.applying(
        .connect(CableName("dist", "main"), CableSettings(gain: -3, map: ChannelMap([1, 0, 0, -1]))),
        catalogue: scene.catalogue
      ).patch
    state.view = .matrix
    state.matrix.cable = Cable.Ends(
      PortReference(scene.id("dist"), "out"), PortReference(scene.id("main"), "in"))
    (state.matrix.row, state.matrix.column) = (0, 2)
    expectScreen(
      scene, state, 80, 16,
      """
       reconnect.patch •     jack 48 kHz/64  1.3 ms  load  7 %  xruns 0  voices  6/64
      ─ graph ─ printout ─[matrix]─ trace ─ scope ─ meters ─ history ─ help ──────────
       dist -> main   cable 2 → 4   map [1,0,0,-1]

                            │     in 0      in 1      in 2      in 3
                            │  ▇▇▇▇▇▅    ▇▇▇▇▇▇▁   ▇▇▇▇▇▇▁
       gain           -3.0  │
       ─────────────────────┼─────────────────────────────────────────
       out 0 ▇▇▇▇▄          │       ·         ●        [●]        ·
       out 1 ▇▇▇▇▂          │       ●         ·         ·         ·



      ────────────────────────────────────────────────────────────────────────────────
       channel 0 → 2   on   connect dist -> main gain=-3dB map=[1,0,0,-1]
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }
}

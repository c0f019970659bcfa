import Analysis
import Glibc
import Patch
import Screen
import Session
import Testing

@testable import Interface

/// The whole screens of scope, spectrum, tuner and loudness, of sounds that are known.
@Suite struct SoundScreenTests {
  private let rate = 48000.0

  /// Five harmonics of 220 Hz, in two channels that differ in level.
  private func history() -> SoundHistory {
    var history = SoundHistory(channels: 2, rate: rate, seconds: 1)
    let samples = (0..<48000).map { frame -> Float in
      let turn = 2 * Double.pi * 220 * Double(frame) / rate
      return (1...5).reduce(0) { $0 + Float(0.2 / Double($1) * sin(turn * Double($1))) }
    }
    history.append([samples, samples.map { $0 / 2 }], frames: samples.count)
    return history
  }

  private func looking(_ mode: SoundState.Mode, columns: Int) -> (scene: Scene, state: ViewState) {
    var (scene, state) = reconnecting()
    scene.isModified = false
    let history = history()
    state.view = .scope
    state.sound.mode = mode
    state.sound.port = ListenedPort(scene.id("dist"), "out", isInput: false)
    var picture = SoundPicture()
    picture.name = "dist.out"
    (picture.channels, picture.rate, picture.scale) = (2, rate, 0.5)
    picture.peak = history.peak(24000, channels: 0..<2)
    picture.trace = ScopeTrace(
      history, channels: 0..<2, seconds: 0.02, columns: columns, trigger: .rising, level: 0)
    picture.spectrum = SpectrumAnalyser(rate: rate).measure(history, channels: 0..<2)
    picture.held = picture.spectrum
    picture.pitch = Pitch(frequency: 222, clarity: 0.98)
    picture.pitches = (0..<40).map { $0 % 10 < 2 ? nil : Pitch(frequency: 218 + Double($0) / 10) }
    picture.loudness.momentary = -19.4
    picture.loudness.shortTerm = -22.8
    picture.loudness.integrated = -23.1
    picture.loudness.highestMomentary = -14
    picture.loudness.highestShortTerm = -21.2
    picture.loudness.range = 6.3
    picture.loudness.truePeaks = [-0.4, -6.2]
    picture.loudness.seconds = 83
    picture.course = (0..<120).map { index in
      let level = -26 + 4 * sin(Double(index) / 9)
      return LoudnessPoint(momentary: level + 3, shortTerm: level)
    }
    state.sound.picture = picture
    return (scene, state)
  }

  @Test func theScopeAt80x18HasALaneForEachChannel() {
    let (scene, state) = looking(.scope, columns: 146)
    expectScreen(
      scene, state, 80, 18,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─[scope]─ meters ─ history ─ help ──────────
       [scope] spectrum  tuner  loudness   dist.out  2 channels
       0.50     ⢀                ⡀               ⢀                ⣀                ⡀
               ⢰⠋⠳⠤⠤⣄           ⡼⠙⠦⠤⢤⡀          ⢠⠏⠹⠤⠤⣄           ⣸⠉⠳⠤⢤⡀          ⢀⡞⠙⠦
       ch 0 ⠄ ⠄⡏⠄ ⠄ ⠌⠉⠝⠲⢤⣀⣄ ⠄ ⠄⢰⠇ ⠄ ⠄⠉⠍⠓⠦⣄⣄⡀⠄ ⠄ ⡼ ⠄ ⠄⠈⠍⠙⠶⢤⣄⣀⠄ ⠄ ⢤⠇⠄ ⠄ ⠍⠉⠗⠦⣄⣀⡄ ⠄ ⠄⣸⠄ ⠄
            ⠲⣄⡼⠁          ⠈⠓⠒⢦⣀⡏           ⠙⠒⠒⣆⣰⠃          ⠈⠓⠒⠲⣄⡞           ⠙⠒⠒⢦⣠⠇
      -0.50  ⠈                ⠉                ⠁               ⠈                ⠁
       0.50
               ⢀⣠⣀              ⢀⣄⡀              ⣠⣀              ⢀⣤⣀              ⣀⣄⡀
       ch 1 ⣄ ⢄⡞⠄⠈⠍⠉⠝⠒⠖⠲⠤⠤⢤⣀⣄⡀⠄⣰⠏ ⠍⠉⠍⠓⠖⠒⠦⠤⠤⣄⣄⣀⡄⢀⡼⠁⠌⠉⠍⠙⠖⠒⠶⠤⠤⢤⣄⣀⣄ ⣤⠏⠄⠈⠍⠉⠗⠒⠖⠦⠤⠤⣄⣀⣄⡀⠄⡼⠅ ⠍
            ⠈⠙⠉              ⠉⠛⠁              ⠉⠋              ⠈⠙⠁              ⠉⠋⠁
      -0.50

         -10 ms             -5 ms               0               +5 ms           +10 ms
      ────────────────────────────────────────────────────────────────────────────────
       across 20 ms   trigger rising at 0.000   peak -10.0 dB   scale 0.50 as needed
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func theSpectrumAt110x30ComparesWithWhatWasKept() {
    var (scene, state) = looking(.spectrum, columns: 206)
    state.sound.kept = state.sound.picture
    state.sound.kept?.name = "piano.out"
    for index in state.sound.kept?.spectrum?.levels.indices ?? 0..<0 {
      state.sound.kept?.spectrum?.levels[index] -= 20
    }
    state.sound.isFrozen = true
    expectScreen(
      scene, state, 110, 30,
      """
       reconnect.patch                      jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─[scope]─ meters ─ history ─ help ────────────────────────────────────────
        scope [spectrum] tuner  loudness   dist.out  frozen  2 channels  beside piano.out

          0


        -12                                    ⢠⡀
                                               ⢸⢱         ⡀
        -24                                    ⡸⢸        ⢀⢿     ⡀
                                               ⡇⢸        ⢸⢸     ⣿   ⣦  ⢀
                                               ⡇⢸        ⢸⢸     ⣿   ⣿  ⢸⡇
        -36                                    ⣿⣼        ⢸⢸     ⣿   ⣿  ⢸⡇
                                               ⣿⣿        ⢸⣾    ⢸⢸   ⡿⡀ ⢸⡇
                                               ⣿⣿        ⢸⣿    ⢸⣿   ⡇⡇ ⢸⡇
        -48                                    ⣿⣿        ⢸⣿    ⢸⣿   ⡇⡇ ⢸⡇
                                               ⣿⣿        ⢸⣿    ⢸⣿   ⡇⡇ ⢸⡇
        -60                                    ⣿⣿        ⢸⣿    ⢸⣿   ⡇⡇ ⢸⡇
                                               ⣿⣿        ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
                                               ⣿⣿        ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
        -72                                    ⣿⣿        ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
                                               ⣿⡟⡄       ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
        -84                                    ⣿⡇⡇       ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
                                               ⣿⡇⡇       ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
                                               ⣿⡇⡇       ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
                                               ⣿⣇⡇       ⢸⣿    ⢸⣿   ⣿⡇ ⢸⡇
           20            50        100       200           500       1k        2k            5k        10k       20k
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
       loudest 220.0 Hz A3 at -14.0 dB   above piano.out +20.0 dB   held 220.0 Hz at -14.0 dB   down to -96 dB
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }

  @Test func theTunerAt60x14HasANeedleAndItsCourse() {
    let (scene, state) = looking(.tuner, columns: 106)
    expectScreen(
      scene, state, 60, 14,
      """
       reconnect.patch         jack 48 kHz/64  1.3 ms   load  7 %
      ─[scope]────────────────────────────────────────────────────
        scope  spectrum [tuner] loudness   dist.out  2 channels

                A3   +15.7 cents   222.0 Hz      ◂ sharp

            ┬────┬────┬─────┬────┬────┼────┬──◆─┬─────┬────┬────┬
                                      ⠈      ⡔⠁
                                      ⠈    ⡠⠊
                                      ⠈  ⢀⠄
           -50  -40  -30   -20  -10   0   +10  +20   +30  +40  +50
      ────────────────────────────────────────────────────────────
       A4 440 Hz   clarity 98 %
       PATCH   ? help   : prompt   c connect   d disconnect
      """)
  }

  @Test func loudnessAt80x24HasBarsPeaksAndACourse() {
    let (scene, state) = looking(.loudness, columns: 146)
    expectScreen(
      scene, state, 80, 24,
      """
       reconnect.patch    jack 48 kHz/64  1.3 ms   load  7 %   xruns 0   voices  6/64
      ─ graph ─ printout ─ matrix ─ trace ─[scope]─ meters ─ history ─ help ──────────
        scope  spectrum  tuner [loudness]  dist.out  2 channels
       momentary    -19.4 LUFS    +3.6 LU  ██████████████│░░░░░░░░  highest -14.0
       short-term   -22.8 LUFS    +0.2 LU  ██████████████│░░░░░░░░  highest -21.2
       integrated   -23.1 LUFS    -0.1 LU  ██████████████│░░░░░░░░
       true peak   0 -0.4  1 -6.2 dBTP  above -1




                         ⢀⣀⠤⠔⠒⣒⣊⣉⣑⡒⠒⠤⢄⣀               ⣀⡠⠤⠒⣒⣊⣉⣑⣒⠒⠤⠤⣀               ⢀⡠⠤
        -23 ⠁⠈ ⠁⠈ ⠁⠈ ⠁⠈ ⠁⣭⣴⣷⣿⣿⣿⣿⣿⣿⣿⣿⣷⣾⣤⣍⡚⠢⠥⢌⣀⣁⣈⣀⣁⡨⠤⠕⣊⣩⣥⣾⣾⣿⣿⣿⣿⣿⣿⣿⣿⣶⣧⣍⣑⠓⠬⢄⣁⣈⣀⣁⣈⣀⠥⠜⢒⣉⣭⣶⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣶⣶⣤⣤⣤⣤⣴⣶⣾⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣷⣶⣦⣤⣤⣤⣤⣶⣶⣿⣿⣿⣿⣿⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
                         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
          -37 s             -27 s             -18 s             -9 s               now
      ────────────────────────────────────────────────────────────────────────────────
       measured 1:23   range 6.3 LU   aim -23 LUFS
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert
      """)
  }

  @Test func theInspectorAt120x32() {
    var (scene, state) = looking(.scope, columns: 86)
    state.view = .graph
    var inspector = Inspector(scene.id("dist"))
    inspector.picture = state.sound.picture
    state.overlay = inspector
    expectScreen(
      scene, state, 120, 32,
      """
       reconnect.patch                                jack 48 kHz/64  1.3 ms   load  7 %   peak 11 %   xruns 0   voices  6/64
      ─[graph]─ printout ─ matrix ─ trace ─ scope ─ meters ─ history ─ help ──────────────────────────────────────────────────
      ╭ keys ────╮  ╭ piano ────╮  ┏ dist ━━━━━┓  ╭ main ─────╮  ╭ out ──────╮│ dist ▸ distortion
      │ keyboard │  │ sampler   │  ┃ distorti… ┃  │ matrix 4… │  │ output    ││ Drives sound through a curve, oversampled.
      │ C4 E4 G4 ├──┤ ▇▇▇▇▃  -6 ├──┨ dr… 18 dB ┠──┤ 0 ▇▇▅  -4 ├──┤ L ▇▇▄  -9 ││
      ╰──────────╯  ╰ uprigh… 6 ╯  ┗━━━━━━━━━━━┛  │ +3 more   │  │ R ▇▇▃ -11 ││ ▸ drive•      ▕█████░░░▏   18.0 dB
                                                  ╰───────────╯  ╰───────────╯│   shape       [tanh] fold  hard
                                                                              │   tone        ▕████░░░░▏         0
      ╭ eq ┈┈┈┈┈┈┈╮                                                           │   mix         ▕████████▏     100 %
      ┊ equalizer ┊                                                           │   oversample  ▕███░░░░░▏         2
      ┊ -11.4 dB  ┊                                                           │
      ╰ fading ┈┈┈╯                                                           │ How far into the curve. From -inf dB to
                                                                              │ 60.0 dB; 12.0 dB unless it is set.
                                                                              │
                                                                              │ in       2 ch   ← piano -3.0 dB
                                                                              │ out      2 ch   → main
                                                                              │
                                                                              │ out      ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▄    -4 dB
                                                                              │   ⢀⣀         ⣀         ⢀⡀        ⣀⡀        ⢀⡀
                                                                              │   ⣸⠘⠒⢦⣀⡀    ⢰⠋⠓⠲⣄⣀    ⢸⡏⠙⠲⢤⣀    ⢰⠋⠙⠒⢦⣀⡀    ⡏⠙
                                                                              │ ⣥⣀⡇ ⠁ ⠁⠉⠙⠦⢥⣀⡽ ⠁ ⠁⠈⠙⠲⢥⣀⡏⠁⠁ ⠁⠈⠉⠳⠥⣄⡽ ⠁ ⠁ ⠉⠙⠧⢤⢹⠁⠁
                                                                              │  ⠉         ⠉⠁        ⠉         ⠈⠁        ⠈⠉
                                                                              │
                                                                              │    0
                                                                              │  -24              ⢸⡇  ⢰  ⡄⢠ ⡄
                                                                              │  -48              ⢸⡇  ⢸⡇ ⡇⢸ ⡇
                                                                              │  -72              ⢸⡇  ⢸⡇ ⡇⢸ ⡇
                                                                              │                   ⢸⡇  ⢸⡇ ⡇⢸ ⡇
                                                                              │     20   50  100 200  500 1k  2k   5k  10k 20k
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
       dist ▸ distortion   drive 18.0 dB   shape tanh   tone 0   mix 100 %   oversample 2
       PATCH   ? help   : prompt   c connect   d disconnect   r replace   i insert   x remove   u undo   p play
      """)
  }
}

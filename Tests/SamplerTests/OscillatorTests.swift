import Glibc
import Testing

@testable import Instruments
@testable import Sampler

/// Sound files as single-cycle waves, and several oscillators of one.
@Suite struct Oscillators {
  let folder = Folder()

  func rig(_ text: String, findings: Int = 0, rate: Double = 48000) throws -> Rig<Sampler> {
    let (resource, report) = try InstrumentLoader.load(path: folder.write("a.sfz", text))
    #expect(report.findings.count == findings, "\(report.findings)")
    let rig = Rig<Sampler>(Sampler.description, rate: rate)
    rig.use(resource)
    return rig
  }

  /// Level of a sine at `hertz` in `frames`.
  static func level(_ frames: some Collection<Float>, _ hertz: Double, rate: Double = 48000) -> Double {
    var (x, y, power) = (0.0, 0.0, 0.0)
    let count = Double(frames.count)
    for (index, value) in frames.enumerated() {
      // Hann window, against leakage from neighbouring frequencies.
      let window = 1 - cos(2 * .pi * (Double(index) + 0.5) / count)
      x += Double(value) * window * cos(2 * .pi * hertz * Double(index) / rate)
      y += Double(value) * window * sin(2 * .pi * hertz * Double(index) / rate)
      power += window
    }
    return 2 * (x * x + y * y).squareRoot() / power
  }

  /// Waves of any length and rate, without aliases.
  @Test(arguments: [64, 600, 2048, 100_000]) func aSoundFileIsOneTurnOfAWave(_ length: Int) throws {
    // First, third and twentieth harmonic.
    let wave = (0..<length).map { frame -> Float in
      let angle = 2 * Double.pi * Double(frame) / Double(length)
      return Float(0.5 * sin(angle) + 0.25 * cos(3 * angle) + 0.125 * sin(20 * angle))
    }
    folder.wav("wave.wav", [wave], rate: 11025)
    let text = "<region> sample=wave.wav oscillator=on amp_veltrack=0"
    for (key, rate) in [(UInt8(57), 48000.0), (69, 44100), (93, 48000)] {
      let output = try rig(text, rate: rate).run(20000, [(0, .on(key))])[0][2000...]
      let hertz = 440 * exp2((Double(key) - 69) / 12)
      for (number, level) in [(1, 0.5), (2, 0), (3, 0.25), (20, 0.125)] {
        let found = Self.level(output, hertz * Double(number), rate: rate)
        // Harmonics that are too high are left out, and do not alias.
        let expected = hertz * Double(number) < 20000 ? level : 0
        let tolerance = hertz * Double(number) > 10000 ? 0.05 : 0.005
        #expect(abs(found - expected) < tolerance, "key \(key), harmonic \(number): \(found)")
      }
      let back = rate - 20 * hertz
      if back > 0, back < rate / 2 { #expect(Self.level(output, back, rate: rate) < 1e-4) }
    }
  }

  @Test func aWaveBeginsAtItsPhaseAndIsNeverOver() throws {
    let wave = (0..<256).map { Float(0.5 * sin(2 * .pi * Double($0) / 256)) }
    folder.wav("wave.wav", [wave])
    let text =
      "<region> sample=wave.wav oscillator=on amp_veltrack=0 loop_mode=no_loop end=5 oscillator_phase="
    let output = try rig(text + "90").run(48000, [(0, .on(60))])[0]
    #expect(near(output[1], 0.5, 0.01) && near(output[0], 0.5, 0.01))
    #expect(output[47000...].max()! > 0.4)
    // Random phase: no two notes begin alike.
    let rig = try rig(text + "-1")
    let starts = (0..<8).map { number in
      rig.run(4000, [(4000 * number, .on(60)), (4000 * number + 2000, .off(60))])[0][2]
    }
    #expect(Set(starts).count > 4)
  }

  @Test func aRecordingIsNoTurnOfAWave() throws {
    folder.wav("long.wav", [noise(WaveSpectrum.mostFrames + 1)])
    let path = folder.write("a.sfz", "<region> sample=long.wav oscillator=on\n<region> sample=*sine")
    let report = try InstrumentLoader.load(path: path).report
    #expect(report.missingSamples == ["long.wav"])
  }

  @Test func aSmallTableHasFewHarmonics() throws {
    let output = try rig(
      "<region> sample=*saw oscillator_table_size=8 amp_veltrack=0"
    ).run(20000, [(0, .on(57))])[0][2000...]
    #expect(Self.level(output, 880) > 0.15 && Self.level(output, 1100) < 0.005)
  }

  /// Cakewalk's unison as measured by sfizz's authors: detuning and level on each side.
  @Test func severalOscillatorsAreSpreadOverPitchAndSides() throws {
    for multi in [3, 5, 9] {
      let output = try rig(
        "<region> sample=*sine oscillator=on oscillator_multi=\(multi) oscillator_detune=1200 amp_veltrack=0"
      ).run(40000, [(0, .on(69))])
      let shares: [Double] = [0, -1, 1, -0.25, 0.25, -0.5, 0.5, -0.75, 0.75]
      for number in 0..<multi {
        let hertz = 440 * exp2(shares[number])
        let left = Double(number) / Double(multi - 1)
        #expect(abs(Self.level(output[0][2000...], hertz) - left) < 0.02)
        #expect(abs(Self.level(output[1][2000...], hertz) - (1 - left)) < 0.02)
      }
    }
  }

  @Test func theSpreadFollowsAController() throws {
    let rig = try rig(
      "<region> sample=*sine oscillator_multi=3 oscillator_detune=0 oscillator_detune_oncc1=1200 amp_veltrack=0"
    )
    let before = rig.run(20000, [(0, .on(69))])
    #expect(abs(Self.level(before[0][2000...], 440) - 1.5) < 0.02)
    let after = rig.run(40000, [(20000, .control(1, 127))])
    #expect(abs(Self.level(after[0][8000...], 880) - 1) < 0.02)
    #expect(abs(Self.level(after[0][8000...], 220) - 0.5) < 0.02)
  }

  @Test func aSecondOscillatorIsAFactorOrMovesPhaseOrFrequency() throws {
    // Ring modulation: at full depth only sum and difference; at half depth the carrier as well.
    for (depth, carrier) in [(100, 0.0), (50, 0.5)] {
      let text =
        "oscillator_multi=2 oscillator_detune=700 oscillator_mod_depth=\(depth) amp_veltrack=0"
      let ring = try rig("<region> sample=*sine \(text)").run(40000, [(0, .on(69))])[0][2000...]
      let other = 440 * exp2(7.0 / 12)
      #expect(abs(Self.level(ring, 440) - carrier) < 0.01)
      #expect(abs(Self.level(ring, other + 440) - Double(depth) / 200) < 0.01)
      #expect(abs(Self.level(ring, other - 440) - Double(depth) / 200) < 0.01)
      #expect(Self.level(ring, other) < 0.01)
    }
    // Phase modulation: Bessel functions of the index, here one.
    let index = 100 / (2 * Double.pi)
    let moved = try rig(
      "<region> sample=*sine oscillator_mode=1 oscillator_detune=700 oscillator_mod_depth=\(index) amp_veltrack=0"
    ).run(40000, [(0, .on(81))])[0][2000...]
    let other = 880 * exp2(7.0 / 12)
    #expect(abs(Self.level(moved, 880) - j0(1)) < 0.01)
    #expect(abs(Self.level(moved, 880 + other) - j1(1)) < 0.01)
    #expect(abs(Self.level(moved, other - 880) - j1(1)) < 0.01)
    #expect(Self.level(moved, other) < 0.01)
    // Frequency modulation: more depth, more sidebands.
    let text = "<region> sample=*sine oscillator_mode=2 amp_veltrack=0 oscillator_mod_depth="
    let none = try rig(text + "0").run(40000, [(0, .on(69))])[0][2000...]
    let much = try rig(text + "200").run(40000, [(0, .on(69))])[0][2000...]
    #expect(Self.level(none, 880) < 0.01 && abs(Self.level(none, 440) - 1) < 0.01)
    #expect(Self.level(much, 880) > 0.1)
  }

  /// One voice per note, however many oscillators it has.
  @Test func oscillatorsOfANoteAreOneVoice() throws {
    let rig = try rig(
      "<region> sample=*saw oscillator_multi=9 oscillator_detune=20 note_polyphony=1 polyphony=2")
    _ = rig.run(100, [(0, .on(60)), (0, .on(64))])
    #expect(rig.kernel.voices == 2)
  }
}

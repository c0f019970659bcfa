import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Noise, bit reduction, decimation and drive before a voice's filters; and the pink-noise filter.
@Suite struct VoiceStages {
  let folder = Folder()

  func output(_ opcodes: String, _ events: [(Int, Event)] = [(0, .on(60))], _ frames: Int = 20000) throws
    -> [[Float]]
  {
    try folder.rig("<global> amp_veltrack=0", "<region> loop_mode=loop_continuous \(opcodes)", findings: 0)
      .run(frames, events)
  }

  private func power(_ frames: some Sequence<Float>) -> Double {
    var (sum, count) = (0.0, 0.0)
    for frame in frames { (sum, count) = (sum + Double(frame) * Double(frame), count + 1) }
    return (sum / count).squareRoot()
  }

  @Test func fewerBitsAreSteps() throws {
    let output = try output("sample=sine.wav bitred=95")[0]
    // Steps of 1/4.5.
    let values = Set(output[500..<2000].map { ($0 * 4.5 * 1000).rounded() / 1000 })
    #expect(values == [-2, -1, 0, 1, 2])
    // By a controller, from 0 (no change) on.
    let moved = try self.output(
      "sample=sine.wav bitred_oncc1=95", [(0, .on(60)), (9600, .control(1, 127))])[0]
    #expect(Set(moved[500..<9000]).count > 40)
    #expect(Set(moved[15000..<20000].map { ($0 * 4.5 * 1000).rounded() / 1000 }) == [-2, -1, 0, 1, 2])
  }

  @Test func fewerFramesAreHeld() throws {
    let output = try output("sample=*noise decim=50")[0]
    let frames = 1.313_298e-4 * (exp(50 * 0.035_147) - 1) * 48000
    let changes = (1000..<20000).count { output[$0] != output[$0 - 1] }
    #expect(abs(Double(changes) - 19000 / frames) < 3)
    #expect(try self.output("sample=*noise decim=0")[0] == self.output("sample=*noise")[0])
  }

  @Test func noiseIsAddedAsLoudAsItsLevelSays() throws {
    // RMS of uniform noise in -1...1.
    let whole = (1.0 / 3).squareRoot()
    for (level, expected) in [(0.0, 1.0), (-12, 0.251_189), (-96, 0)] {
      let output = try output("sample=*silence noise_level=\(level)")[0]
      #expect(abs(power(output[1000...]) - whole * expected) < 0.01)
    }
    // One noise for both sides, or one per side.
    let one = try output("sample=*silence noise_level=0")
    #expect(one[0] == one[1])
    let two = try output("sample=*silence noise_level=0 noise_stereo=on")
    #expect(abs(power(two[0][1000...]) / power(one[0][1000...]) - 1) < 0.02)
    #expect(
      abs(power(zip(two[0], two[1]).map { $0 - $1 }[1000...]) / power(one[0][1000...]) - 2.0.squareRoot())
        < 0.04)
    // A controller fades it in from silence.
    let moved = try output(
      "sample=*silence noise_level_oncc1=96", [(0, .on(60)), (10000, .control(1, 127))])[0]
    #expect(power(moved[..<9900]) == 0 && abs(power(moved[15000...]) - whole) < 0.02)
  }

  @Test func noiseHasATone() throws {
    func sharpness(_ opcodes: String) throws -> Double {
      let output = try output("sample=*silence noise_level=0 \(opcodes)")[0]
      return power(zip(output[1000...], output[999...]).map { $0 - $1 }) / power(output[1000...])
    }
    let white = try sharpness("")
    #expect(abs(white - 2.0.squareRoot()) < 0.03)
    #expect(try sharpness("noise_tone=30") < 0.3)
    #expect(try sharpness("noise_tone=30 noise_filter=lpf_2p") < sharpness("noise_tone=30"))
    #expect(try sharpness("noise_tone=90 noise_filter=hpf_2p") > 1.5)
    #expect(try sharpness("noise_tone=30 noise_filter=off") > 1.35)
    #expect(try sharpness("noise_step=50") < 0.5)
  }

  @Test func driveMakesHarmonicsAndKeepsFullScale() throws {
    let clean = try output("sample=*sine", [(0, .on(69))])[0][2000...]
    let soft = try output("sample=*sine drive=50", [(0, .on(69))])[0][2000...]
    let hard = try output("sample=*sine drive=50 drive_shape=100", [(0, .on(69))])[0][2000...]
    #expect(abs(soft.max()! - 1) < 0.01 && abs(hard.max()! - 1) < 0.01)
    #expect(Oscillators.level(clean, 1320) < 0.001)
    #expect(Oscillators.level(soft, 1320) > 0.05)
    #expect(Oscillators.level(hard, 1320) > Oscillators.level(soft, 1320))
  }

  @Test func envelopesAndLfosMoveThem() throws {
    let rising = try output(
      "sample=*silence noise_level=-96 eg1_time1=0.2 eg1_level1=1 eg1_sustain=1 eg1_noiselevel=96")[
        0]
    #expect(power(rising[..<2000]) < 0.01 && power(rising[15000...]) > 0.5)
    let swinging = try output(
      "sample=sine.wav lfo1_freq=2 lfo1_wave=3 lfo1_bitred=100", [(0, .on(60))], 24000)[0]
    let halves = [swinging[1000..<11000], swinging[13000..<23000]].map { Set($0).count }
    #expect(halves.min()! < 10 && halves.max()! > 40)
  }

  /// Noise, decimation and filters advance with the voice's own frames.
  @Test func theSplitIntoBlocksChangesNothing() throws {
    let opcodes =
      "<region> sample=sine.wav bitred_oncc1=60 decim=30 noise_level=-20 noise_tone=50 noise_stereo=on drive=20 lfo1_freq=7 "
      + "lfo1_decim=20 lfo1_drive=20 cutoff=3000\n<region> sample=*saw oscillator_multi=5 oscillator_detune=30 "
      + "lfo1_freq=3 lfo1_pitch=50\n<region> sample=*sine oscillator_mode=1 oscillator_mod_depth_oncc1=50"
    var random = SeededGenerator(seed: 7)
    let events: [(Int, Event)] = [
      (3, .on(60)), (700, .control(1, 90)), (1500, .on(67)), (3000, .off(60)), (4100, .control(1, 3)),
    ]
    let whole = try folder.rig("<global> loop_mode=loop_continuous", opcodes, findings: 0).run(6000, events)
    for _ in 0..<4 {
      let split = try folder.rig("<global> loop_mode=loop_continuous", opcodes, findings: 0)
        .run(6000, events) { Int.random(in: 1...64, using: &random) }
      #expect(whole == split)
    }
  }

  @Test(arguments: [44100.0, 48000, 96000]) func aPinkFilterFallsByThreeDecibelsAnOctave(_ rate: Double)
    throws
  {
    folder.wav("click.wav", [[1] + [Float](repeating: 0, count: 1 << 15)], rate: UInt32(rate))
    let path = folder.write("a.sfz", "<region> sample=click.wav fil_type=pink amp_veltrack=0")
    let (resource, report) = try InstrumentLoader.load(path: path)
    #expect(report.findings == [])
    let rig = Rig<Sampler>(Sampler.description, rate: rate)
    rig.use(resource)
    let output = rig.run(1 << 15, [(0, .on(60))])[0]
    func decibels(_ hertz: Double) -> Double {
      var (x, y) = (0.0, 0.0)
      for (index, value) in output.enumerated() {
        x += Double(value) * cos(2 * .pi * hertz * Double(index) / rate)
        y += Double(value) * sin(2 * .pi * hertz * Double(index) / rate)
      }
      return 10 * log10(x * x + y * y)
    }
    let middle = decibels(632.455)
    for octave in [-3.5, -3, -2, -1, 0, 1, 2, 3, 3.5] {
      let expected = middle - octave * 10 * log10(2)
      #expect(abs(decibels(632.455 * exp2(octave)) - expected) < 0.7, "octave \(octave)")
    }
    // No gain at low frequencies.
    #expect(decibels(5) < 0.01)
  }
}

import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Chorus, flanger and phaser against their formulas.
struct SweepTests {
  private func sine(_ frequency: Double, _ frames: Int) -> [Float] {
    (0..<frames).map { (frame: Int) -> Float in
      Float(sin(2 * Double.pi * frequency * Double(frame) / 48_000))
    }
  }

  /// At rest a flanger is a comb, and its feedback repeats it.
  @Test func aFlangerAtRestIsAComb() {
    for feedback in [Float(0), 50, -80] {
      let out = KernelBench(
        Flanger.self, Flanger.description, inputs: [[impulse(1000)]], outputs: [1],
        [Swept.depth: [0], Swept.delay: [0.001], Swept.mix: [50], Swept.feedback: [feedback]]
      ).run(1000)[0][0]
      for frame in 0..<1000 {
        let echo = frame / 48
        let expected =
          frame == 0 ? 0.5 : frame % 48 == 0 ? 0.5 * pow(Double(feedback) / 100, Double(echo - 1)) : 0
        #expect(abs(Double(out[frame]) - expected) < 1e-5, "frame \(frame), feedback \(feedback)")
      }
    }
  }

  /// Copies are late by `delay`, and by up to `depth` more as the sine goes; channels are apart by `spread`.
  @Test func copiesAreLateByWhatIsSet() {
    let (tone, frames) = (sine(500, 48_000), 48_000)
    let out = KernelBench(
      Chorus.self, Chorus.description, inputs: [[tone, tone]], outputs: [2],
      [
        Chorus.voices: [1], Swept.mix: [100], Swept.rate: [2], Swept.depth: [0.005], Swept.delay: [0.01],
        Swept.spread: [50],
      ]
    ).run(frames)[0]
    for channel in 0..<2 {
      var most = 0.0
      for frame in 1000..<frames {
        let time = Double(frame) / 48_000
        let course = sin(2 * Double.pi * (2 * time + 0.25 * Double(channel)))
        let late = 0.01 + 0.005 * (0.5 + 0.5 * course)
        most = max(most, abs(Double(out[channel][frame]) - sin(2 * Double.pi * 500 * (time - late))))
      }
      #expect(decibels(most) < -60, "channel \(channel): \(decibels(most)) dB")
    }
  }

  /// Response of the analogue circuit, at frequencies that the bilinear transform moves.
  @Test(arguments: [(2, Float(0)), (6, 0), (6, 70), (12, -60)])
  func aPhaserAtRestHasTheResponseOfItsModel(stages: Int, feedback: Float) {
    for freq in [Float(300), 1500, 6000] {
      let out = KernelBench(
        Phaser.self, Phaser.description, inputs: [[impulse(24_000)]], outputs: [1],
        [
          Phaser.depth: [0], Phaser.freq: [freq], Phaser.stages: [Float(stages)], Phaser.feedback: [feedback],
          Phaser.mix: [50],
        ]
      ).run(24_000)[0][0]
      for f in stride(from: 40.0, to: 20_000, by: 417) {
        let x = tan(.pi * f / 48_000) / tan(.pi * Double(freq) / 48_000)
        // Each stage turns by twice the arc tangent.
        let angle = -2 * Double(stages) * atan(x)
        let (re, im, k) = (cos(angle), sin(angle), Double(feedback) / 100)
        let (under, underIm) = (1 - k * re, -k * im)
        let size = under * under + underIm * underIm
        let (wet, wetIm) = ((re * under + im * underIm) / size, (im * under - re * underIm) / size)
        let expected = hypot(0.5 + 0.5 * wet, 0.5 * wetIm)
        #expect(abs(response(out, f) - expected) < 0.002 * max(1, expected), "\(f) Hz of \(freq) Hz")
      }
    }
  }

  @Test func changesOfEverythingDoNotClick() {
    let tone = (sine(300, 40_000)).map { $0 * 0.5 }
    func expectSmooth<K: Kernel>(_ type: K.Type, _ description: KindDescription, _ values: [(Int, Float)]) {
      for (parameter, value) in values {
        let bench = KernelBench(type, description, inputs: [[tone]], outputs: [1])
        bench.moves = [.init(frame: 20_010, parameter: parameter, value: value, over: 480)]
        let out = bench.run(40_000)[0][0]
        let name = "\(description.name).\(description.parameters[parameter].name) to \(value)"
        #expect(largestStep(Array(out[19_900...])) < 0.2, "\(name): \(largestStep(Array(out[19_900...])))")
      }
    }
    expectSmooth(
      Chorus.self, Chorus.description,
      [(Swept.rate, 5), (Swept.depth, 0), (Swept.mix, 0), (Swept.feedback, 90), (Swept.spread, 0)])
    expectSmooth(
      Flanger.self, Flanger.description,
      [(Swept.rate, 5), (Swept.depth, 0), (Swept.mix, 0), (Swept.feedback, -90)])
    expectSmooth(
      Phaser.self, Phaser.description,
      [(Phaser.rate, 5), (Phaser.depth, 0), (Phaser.freq, 4000), (Phaser.mix, 0), (Phaser.feedback, 90)])
  }

  @Test func theyFallAsleepWhenTheirSoundHasEnded() {
    var chance = Chance(8)
    let noise = chance.signal(1000)
    func sleeps<K: Kernel>(_ type: K.Type, _ description: KindDescription) {
      let bench = KernelBench(type, description, inputs: [[noise]], outputs: [1])
      _ = bench.run(48_000)
      #expect(bench.sleptBlocks > 300, "\(description.name)")
    }
    sleeps(Chorus.self, Chorus.description)
    sleeps(Flanger.self, Flanger.description)
    sleeps(Phaser.self, Phaser.description)
  }
}

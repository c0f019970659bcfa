import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Filters and equalizers that move, sleep and widen; the matrix against double precision.
struct EffectTests {
  @Test func aMovingFilterMatchesTheSameFilterAtRest() {
    var chance = Chance(4)
    let signal = chance.signal(6000)
    func bench(_ freq: Float) -> KernelBench<Filter> {
      KernelBench(
        Filter.self, Filter.description, inputs: [[signal]], outputs: [1],
        [Filter.freq: [freq], Filter.q: [5]])
    }
    let steady = bench(2000).run(6000)[0][0]
    let moving = bench(500)
    moving.moves = [.init(frame: 5, parameter: Filter.freq, value: 2000, over: 300)]
    let out = moving.run(6000)[0][0]
    for frame in 4000..<6000 { #expect((out[frame] - steady[frame]).magnitude < 2e-5) }
    // The per-frame path and the table path give the same filter: a modulation of nearly zero changes
    // nothing.
    let wobbled = bench(2000)
    wobbled.modulation[Filter.freq] = [(0..<6000).map { $0 % 2 == 0 ? 0.001 : 0 }]
    let same = wobbled.run(6000)[0][0]
    for frame in 0..<6000 { #expect((same[frame] - steady[frame]).magnitude < 1e-4) }
  }

  @Test func theFilterStaysTameUnderWildModulation() {
    var chance = Chance(8)
    let bench = KernelBench(
      Filter.self, Filter.description, inputs: [[chance.signal(48_000)]], outputs: [1],
      [Filter.freq: [1000], Filter.q: [2]])
    bench.modulation = [Filter.freq: [chance.signal(48_000, 100_000)], Filter.q: [chance.signal(48_000, 3)]]
    #expect(peak(bench.run(48_000)[0][0]) < 100)
  }

  @Test func aChangeOfFilterDoesNotClick() {
    let tone = (0..<20_000).map { 0.5 * Float(sin(2 * .pi * 300 * Double($0) / 48_000)) }
    for (parameter, value) in [
      (Filter.freq, Float(100)), (Filter.freq, 9000), (Filter.type, 1), (Filter.q, 30),
    ] {
      let bench = KernelBench(Filter.self, Filter.description, inputs: [[tone]], outputs: [1])
      bench.moves = [.init(frame: 10_000, parameter: parameter, value: value, over: 480)]
      let out = bench.run(20_000)[0][0]
      #expect(largestStep(Array(out[9_900..<11_000])) < 0.03)
    }
  }

  @Test func filtersFallAsleepAndWakeInSilence() {
    var signal = impulse(30_000)
    signal[20_011] = 1
    let bench = KernelBench(Filter.self, Filter.description, inputs: [[signal]], outputs: [1])
    let out = bench.run(30_000)[0][0]
    #expect(bench.sleptBlocks > 200)
    let first = Array(out[0..<500])
    let second = Array(out[20_011..<20_511])
    for frame in 0..<500 { #expect((first[frame] - second[frame]).magnitude < 1e-6) }
  }

  @Test func aWiderCableKeepsTheState() {
    var chance = Chance(9)
    let signal = chance.signal(3000)
    func expectKept<K: Kernel>(
      _ type: K.Type, _ description: KindDescription, _ values: [Int: [Float]] = [:],
      within tolerance: Float = 0
    ) {
      let others = description.inputs.dropFirst().map { _ in [[Float]]() }
      let plain = KernelBench(type, description, inputs: [[signal]] + others, outputs: [1], values)
      let expected = plain.run(3000)[0][0]
      let bench = KernelBench(type, description, inputs: [[signal]] + others, outputs: [1], values)
      let before = bench.run(1003)[0][0]
      bench.widen([signal, signal], outputs: 2)
      let after = bench.run(997)[0]
      bench.widen([signal, signal, signal, signal], outputs: 4)
      let last = bench.run(1000)[0]
      #expect(before == Array(expected[..<1003]), "\(description.name)")
      for channel in 0..<2 {
        #expect(
          relativeError(after[channel], expected[1003..<2000]) <= tolerance, "\(description.name)")
        #expect(relativeError(last[channel], expected[2000...]) <= tolerance, "\(description.name)")
      }
      #expect(bench.isMemoryIntact)
    }
    expectKept(Filter.self, Filter.description)
    expectKept(Equalizer.self, Equalizer.description, [Equalizer.gain(1): [4]])
    expectKept(Distortion.self, Distortion.description)
    expectKept(Distortion.self, Distortion.description, [Distortion.oversample: [4], Distortion.mix: [50]])
    expectKept(Delay.self, Delay.description, [Delay.time: [0.004]])
    expectKept(Gain.self, Gain.description)
    // Channels that are apart in the cycle do not stay alike.
    expectKept(Chorus.self, Chorus.description, [Swept.spread: [0]])
    expectKept(Flanger.self, Flanger.description, [Swept.spread: [0], Swept.feedback: [50]])
    // The stages of one channel go at once, those of more one after the other.
    expectKept(Phaser.self, Phaser.description, [Phaser.spread: [0], Phaser.feedback: [50]], within: 2e-4)
    for link in [Float(0), 1] {
      expectKept(Limiter.self, Limiter.description, [Limiter.link: [link], Limiter.ceiling: [0.3]])
      // Levels of one or two channels go by sixteens, those of more frame by frame.
      expectKept(Compressor.self, Compressor.description, [Compressor.link: [link]], within: 1e-5)
      expectKept(Gate.self, Gate.description, [Gate.link: [link], Gate.threshold: [0.9]])
    }
  }

  @Test func aFlatEqualizerPassesEverything() {
    var chance = Chance(10)
    let signal = chance.signal(1000)
    let bench = KernelBench(
      Equalizer.self, Equalizer.description, inputs: [[signal]], outputs: [1])
    let out = bench.run(1000)[0][0]
    for frame in 0..<1000 { #expect((out[frame] - signal[frame]).magnitude < 1e-5) }
  }

  // MARK: Matrix

  @Test func theMatrixIsTheProductOfItsGains() {
    var chance = Chance(12)
    for (n, m) in [(1, 1), (2, 2), (7, 3), (16, 16), (64, 2), (3, 64), (64, 64)] {
      let signals = (0..<n).map { _ in chance.signal(128) }
      let ins = chance.signal(n).map(\.magnitude)
      let outs = chance.signal(m).map(\.magnitude)
      let cross = chance.signal(n * m).map { $0 < -0.3 ? 0 : $0.magnitude }
      let bench = KernelBench(
        Matrix.self, Matrix.description, inputs: [signals], outputs: [m],
        [Matrix.in: ins, Matrix.out: outs, Matrix.crosspoint: cross, Matrix.master: [0.7]])
      let out = bench.run(128)[0]
      #expect(bench.isMemoryIntact)
      for j in 0..<m {
        for frame in [0, 31, 64, 127] {
          var sum = 0.0
          for i in 0..<n {
            sum += Double(signals[i][frame]) * Double(ins[i]) * Double(cross[i * m + j])
          }
          sum *= Double(outs[j]) * 0.7
          #expect(abs(Double(out[j][frame]) - sum) < 2e-5, "\(n)x\(m)")
        }
      }
    }
  }

  @Test func everyMovingGainOfTheMatrixFollowsItsRamp() {
    let ones = [Float](repeating: 1, count: 1000)
    var half: [Float] = []
    for frame in 0..<1000 { half.append(frame % 2 == 0 ? 0.5 : -0.25) }
    let bench = KernelBench(
      Matrix.self, Matrix.description, inputs: [[ones, half]], outputs: [2],
      [Matrix.in: [1, 1], Matrix.out: [1, 1], Matrix.crosspoint: [1, 0, 0.3, 1], Matrix.master: [1]])
    bench.moves = [
      .init(frame: 10, parameter: Matrix.crosspoint, element: 0, value: 0.2, over: 480),
      .init(frame: 60, parameter: Matrix.in, element: 1, value: 2, over: 240),
      .init(frame: 61, parameter: Matrix.out, element: 0, value: 0.1, over: 100),
      .init(frame: 100, parameter: Matrix.crosspoint, element: 0, value: 1.5, over: 480),
      .init(frame: 200, parameter: Matrix.master, value: 0.5, over: 333),
    ]
    var ramps: [Int: Ramp] = [:]
    for (key, value) in [(0, Float(1)), (10, 1), (20, 1), (30, 1)] { ramps[key] = Ramp(value) }
    let out = bench.run(1000)[0]
    for frame in 0..<1000 {
      if frame == 10 { ramps[0]!.move(to: 0.2, over: 480) }
      if frame == 60 { ramps[10]!.move(to: 2, over: 240) }
      if frame == 61 { ramps[20]!.move(to: 0.1, over: 100) }
      if frame == 100 { ramps[0]!.move(to: 1.5, over: 480) }
      if frame == 200 { ramps[30]!.move(to: 0.5, over: 333) }
      let second = half[frame] * ramps[10]!.value
      let first = (ramps[0]!.value + 0.3 * second) * ramps[20]!.value * ramps[30]!.value
      #expect((out[0][frame] - first).magnitude < 2e-6, "frame \(frame)")
      #expect((out[1][frame] - second * ramps[30]!.value).magnitude < 2e-6, "frame \(frame)")
      for key in ramps.keys { ramps[key]!.skip(1) }
    }
  }

  @Test func aMatrixWhoseInputIsSilentStillFinishesItsFades() {
    let bench = KernelBench(
      Matrix.self, Matrix.description, inputs: [[impulse(4000, at: 3000)]], outputs: [1],
      [Matrix.in: [1], Matrix.out: [1], Matrix.crosspoint: [1], Matrix.master: [1]])
    bench.moves = [.init(frame: 100, parameter: Matrix.crosspoint, value: 0.25, over: 480)]
    let out = bench.run(4000)[0][0]
    #expect(out[3000] == 0.25)
    #expect(bench.sleptBlocks > 20)
  }

  // MARK: Events and outputs

  @Test func theKeyboardPassesEventsOn() {
    let bench = KernelBench(Keyboard.self, Keyboard.description, outputs: [])
    bench.events = [(3, Event(.noteOn, key: 60, value: 100)), (130, Event(.noteOff, key: 60))]
    _ = bench.run(200)
    #expect(bench.sentEvents.map(\.frame) == [3, 130])
    #expect(bench.sentEvents.map(\.event.kind) == [.noteOn, .noteOff])
  }

  @Test func endpointsUseTheirOwnChannelsOfTheDriver() {
    let played = UnsafeMutablePointer<Float>.allocate(capacity: 128)
    played.initialize(repeating: 0.25, count: 128)
    defer { played.deallocate() }
    var chance = Chance(14)
    let signals = [chance.signal(128), chance.signal(128)]
    let out = KernelBench(
      Output.self, Output.description, inputs: [signals], outputs: [], extra: 5)
    out.driverOutputs[6] = played
    _ = out.run(128, .init(lengths: [17]))
    for frame in 0..<128 { #expect(played[frame] == 0.25 + signals[1][frame]) }

    let input = KernelBench(Input.self, Input.description, outputs: [2], extra: 9)
    input.driverInputs[9] = UnsafePointer(played)
    let captured = input.run(128, .init(lengths: [50]))[0]
    for frame in 0..<128 {
      #expect(captured[0][frame] == played[frame])
      #expect(captured[1][frame] == 0)
    }
  }
}

/// The ring modulator against products of sines.
extension EffectTests {
  private func sine(_ frequency: Double, _ frames: Int = 4800) -> [Float] {
    (0..<frames).map { Float(sin(2 * Double.pi * frequency * Double($0) / 48000)) }
  }

  @Test func aRingModulatorGivesTheSumAndTheDifference() {
    let out = KernelBench(
      Ringmod.self, Ringmod.description, inputs: [[sine(1000)], []], outputs: [1],
      [Ringmod.freq: [300], Ringmod.mix: [100]]
    ).run(4800)[0][0]
    for (frequency, expected) in [(700.0, 0.5), (1300, 0.5), (1000, 0), (300, 0)] {
      #expect(abs(amplitude(out[...], frequency) - expected) < 1e-4, "\(frequency) Hz")
    }
  }

  @Test func aConnectedCarrierTakesTheSinesPlace() {
    let (voice, carrier) = (sine(1000), sine(200))
    let out = KernelBench(
      Ringmod.self, Ringmod.description, inputs: [[voice, voice], [carrier]], outputs: [2]
    ).run(4800)[0]
    for channel in out {
      for frame in 0..<4800 { #expect(abs(channel[frame] - voice[frame] * carrier[frame]) < 1e-6) }
    }
    let half = KernelBench(
      Ringmod.self, Ringmod.description, inputs: [[voice], [carrier]], outputs: [1], [Ringmod.mix: [50]]
    ).run(4800)[0][0]
    for frame in 0..<4800 {
      #expect(abs(half[frame] - voice[frame] * (1 + carrier[frame]) / 2) < 1e-6)
    }
  }
}

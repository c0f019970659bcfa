import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Gates as signals: ones in the given frames, zeros elsewhere.
func gate(_ frames: Int, _ open: Range<Int>..., level: Float = 1) -> [Float] {
  var signal = [Float](repeating: 0, count: frames)
  for range in open { for frame in range where frame < frames { signal[frame] = level } }
  return signal
}

extension Chance {
  /// A gate that opens and shuts at random, also for single frames.
  mutating func gate(_ frames: Int, longest: Int) -> [Float] {
    var signal: [Float] = []
    var isOpen = Bool.random(using: &self)
    while signal.count < frames {
      let length = Int.random(in: 0..<4, using: &self) == 0 ? 1 : Int.random(in: 1...longest, using: &self)
      // Any level above zero is open, any other shut.
      let level = isOpen ? Float.random(in: 0.001...2, using: &self) : [0, -1].randomElement(using: &self)!
      signal += [Float](repeating: level, count: length)
      isOpen.toggle()
    }
    return Array(signal.prefix(frames))
  }
}

struct EnvelopeTests {
  /// The settings of an envelope: times in seconds, the rest in percent.
  private struct Settings {
    var times: [Int: Double] = [
      Envelope.delay: 0, Envelope.attack: 0.01, Envelope.hold: 0, Envelope.decay: 0.02,
      Envelope.release: 0.03,
    ]
    var sustain = 50.0
    var bend = 0.0
    var curve = 50.0

    var values: [Int: [Float]] {
      var all = times.mapValues { [Float($0)] }
      all[Envelope.sustain] = [Float(sustain)]
      all[Envelope.bend] = [Float(bend)]
      all[Envelope.curve] = [Float(curve)]
      return all
    }
  }

  /// A share of a capacitor's charge, by the percentage.
  private static func charge(_ share: Double, _ percent: Double) -> Double {
    let c = 0.08 * percent
    return abs(c) < 1e-9 ? share : (1 - exp(-c * share)) / (1 - exp(-c))
  }

  /// The levels by their definition, frame by frame.
  private static func model(_ gate: [Float], _ settings: Settings, rate: Double) -> [Double] {
    var (stage, done, from, level, wasOpen) = (0, 0, 0.0, 0.0, false)
    let order = [Envelope.delay, Envelope.attack, Envelope.hold, Envelope.decay]
    let goals = [nil, 1, nil, settings.sustain / 100]
    // Frames of a stage: 1 to 4 in the order, 5 sustain, 6 release, 0 rest.
    func length(_ stage: Int) -> Double? {
      let parameter = stage == 6 ? Envelope.release : (1...4).contains(stage) ? order[stage - 1] : nil
      return parameter.map { Double(Float(settings.times[$0]!)) * rate }
    }
    func begin(_ new: Int) { (stage, done, from) = (new, 0, level) }
    return gate.map { value in
      if (value > 0) != wasOpen {
        wasOpen = value > 0
        begin(wasOpen ? 1 : level > 0 ? 6 : 0)
      }
      while let frames = length(stage), done == 0, frames < 0.5 {
        if stage < 5, let goal = goals[stage - 1] { level = goal }
        if stage == 6 { level = 0 }
        begin(stage == 6 ? 0 : stage + 1)
      }
      guard let frames = length(stage) else {
        level = stage == 5 ? settings.sustain / 100 : 0
        return level
      }
      done += 1
      let share = min(Double(done) / frames, 1)
      switch stage {
      case 2: level = from + (1 - from) * charge(share, settings.bend)
      case 4:
        let goal = settings.sustain / 100
        level = goal + (from - goal) * (1 - charge(share, settings.curve))
      case 6: level = from * (1 - charge(share, settings.curve))
      default: level = from
      }
      let present = level
      if Double(done) >= frames - 1e-6 { begin(stage == 6 ? 0 : stage + 1) }
      return present
    }
  }

  private func bench(_ gates: [[Float]], _ settings: Settings, rate: Double = 48_000) -> KernelBench<Envelope>
  {
    KernelBench(
      Envelope.self, Envelope.description, inputs: [gates], outputs: [gates.count], settings.values,
      rate: rate)
  }

  private static func error(_ signal: [Float], _ model: [Double]) -> Double {
    zip(signal, model).map { abs(Double($0) - $1) }.max() ?? 0
  }

  /// Gates at random, with gaps of one frame, any number of channels, and any bends.
  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func levelsAreTheirFormulas(rate: Double) {
    var chance = Chance(UInt64(rate))
    for _ in 0..<12 {
      var settings = Settings()
      for parameter in settings.times.keys.sorted() {
        let isNone = Int.random(in: 0..<4, using: &chance) == 0
        settings.times[parameter] = isNone ? 0 : Double.random(in: 0.0005...0.03, using: &chance)
      }
      settings.sustain = [0, 100, Double.random(in: 1...99, using: &chance)].randomElement(using: &chance)!
      settings.bend = Double.random(in: -100...100, using: &chance)
      settings.curve = [0, 0.3, -0.5, Double.random(in: -100...100, using: &chance)].randomElement(
        using: &chance)!
      let frames = Int(rate * 0.3)
      let gates = (0..<Int.random(in: 1...5, using: &chance)).map { _ in
        chance.gate(frames, longest: Int(rate * 0.06))
      }
      let out = bench(gates, settings, rate: rate).run(frames)[0]
      for (channel, gate) in gates.enumerated() {
        let worst = Self.error(out[channel], Self.model(gate, settings, rate: rate))
        #expect(worst < 1e-5, "channel \(channel) at \(rate) Hz, \(settings): \(worst)")
      }
    }
  }

  /// Long times too: what is set is what passes, to the frame.
  @Test(arguments: [0.001, 0.02, 1.7, 20]) func theTopAndTheEndComeInTime(seconds: Double) {
    var settings = Settings()
    settings.times[Envelope.attack] = seconds
    settings.times[Envelope.release] = seconds
    settings.times[Envelope.decay] = 0
    settings.sustain = 100
    let frames = Int(seconds * 48_000)
    let out = bench([gate(3 * frames + 100, 10..<frames + 50)], settings).run(3 * frames + 100)[0][0]
    let top = out.firstIndex { $0 == 1 } ?? 0
    #expect(abs(top - (10 + frames - 1)) <= 1 + frames / 10_000, "at \(top)")
    let end = out.lastIndex { $0 != 0 } ?? 0
    #expect(abs(end - (frames + 50 + frames - 1)) <= 1 + frames / 100, "until \(end)")
  }

  /// Nothing jumps when a gate opens again in the middle of anything, or shuts.
  @Test func aGateInMidCourseJoinsWithoutAStep() {
    var chance = Chance(4)
    var settings = Settings()
    (settings.bend, settings.curve) = (60, 60)
    for parameter in settings.times.keys { settings.times[parameter] = 0.005 }
    let gates = (0..<3).map { _ in chance.gate(48_000, longest: 900) }
    for channel in bench(gates, settings).run(48_000)[0] {
      // The steepest course: 240 frames, and exp(-4.8 p) at its start.
      #expect(largestStep(channel) < 5 / 240.0)
    }
  }

  @Test func theLevelFollowsASustainThatMoves() {
    let bench = bench([gate(9600, 0..<9600)], Settings())
    bench.moves = [.init(frame: 4800, parameter: Envelope.sustain, value: 80, over: 2000)]
    let out = bench.run(9600)[0][0]
    #expect(abs(out[4799] - 0.5) < 1e-6 && abs(out[9000] - 0.8) < 1e-6)
    #expect(largestStep(Array(out[4000...])) < 0.001)
  }

  /// A time that moves passes at the pace of each frame: an attack of 10 ms that becomes one of 20 ms in its middle.
  @Test func aTimeThatMovesCountsFrameByFrame() {
    let bench = bench([gate(2000, 0..<2000)], Settings())
    bench.modulation[Envelope.attack] = [(0..<2000).map { $0 < 240 ? 0 : 0.01 }]
    let out = bench.run(2000)[0][0]
    #expect(abs(out[239] - 0.5) < 1e-5 && abs(out[479] - 0.75) < 1e-5)
    #expect(abs(out[719] - 1) < 1e-5 && out[718] < 1)
  }

  @Test func aChannelNeitherKnowsNorWakesTheOthers() {
    var chance = Chance(9)
    let gates = (0..<7).map { _ in chance.gate(20_000, longest: 3000) }
    let all = bench(gates, Settings()).run(20_000)
    for (channel, gate) in gates.enumerated() {
      #expect(firstDifference([[all[0][channel]]], bench([gate], Settings()).run(20_000)) == nil)
    }
  }

  /// It sleeps before the first gate and after the release, and a wider gate leaves what is held as it is.
  @Test func itSleepsAtRestAndWidens() {
    let bench = bench([gate(9600, 640..<2000)], Settings())
    let out = bench.run(9600)[0][0]
    #expect(bench.sleptBlocks > 80 && bench.sleptBlocks < 150)
    #expect(out[639] == 0 && out[640] > 0)
    var settings = Settings()
    settings.sustain = 100
    let held = self.bench([gate(960, 0..<960)], settings)
    #expect(held.run(960)[0][0].last == 1)
    held.widen([gate(3000, 0..<3000), gate(3000, 0..<1000)], outputs: 2)
    held.rewind()
    let after = held.run(3000)[0]
    // A mono gate was both sides of a stereo one.
    #expect(after[0].allSatisfy { $0 == 1 })
    #expect(after[1][999] == 1 && after[1][1000] < 1 && after[1][2800] == 0)
  }

  @Test func anotherRateKeepsItsTime() {
    var settings = Settings()
    settings.times[Envelope.attack] = 0.1
    let bench = bench([gate(96_000, 0..<96_000)], settings)
    _ = bench.run(2400)
    bench.retune(to: 96_000)
    let out = bench.run(9600)[0][0]
    #expect(abs(out[0] - 0.5) < 0.001)
    #expect(abs((out.firstIndex { $0 == 1 } ?? 0) - 4799) <= 1)
  }
}

extension SplitTests {
  @Test(arguments: [1, 3]) func envelope(channels: Int) {
    var chance = Chance(UInt64(channels))
    let gates = (0..<channels).map { _ in chance.gate(1500, longest: 300) }
    expectSameBits(
      Envelope.self, Envelope.description, inputs: [gates], outputs: [channels],
      [
        Envelope.attack: [0.001], Envelope.hold: [0.0007], Envelope.decay: [0.002], Envelope.release: [0.002],
        Envelope.bend: [-40],
      ],
      modulation: [
        Envelope.attack: [wobble(0.002)], Envelope.release: [wobble(0.004)], Envelope.curve: [wobble(90)],
      ],
      moves: [
        .init(frame: 100, parameter: Envelope.sustain, value: 10, over: 700),
        .init(frame: 333, parameter: Envelope.bend, value: 70, over: 400),
        .init(frame: 801, parameter: Envelope.decay, value: 0, over: 99),
        .init(frame: 905, parameter: Envelope.delay, value: 0.001, over: 50),
      ], startingAt: 37)
  }
}

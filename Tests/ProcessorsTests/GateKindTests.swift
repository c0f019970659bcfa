import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Frames in which a gate opens.
func openings(_ signal: [Float]) -> [Int] {
  signal.indices.filter { signal[$0] > 0 && ($0 == 0 || signal[$0 - 1] <= 0) }
}

/// Kinds that make gates of signals, and signals of gates, against plain definitions, frame by frame.
struct GateKindTests {
  private static let rates = [8000.0, 44_100, 48_000, 192_000]

  @Test func aValueIsKeptFromItsTriggerOnAndATrackedOneFollows() {
    var chance = Chance(2)
    for _ in 0..<10 {
      let channels = Int.random(in: 1...5, using: &chance)
      let sides = Int.random(in: 1...3, using: &chance)
      let signals = (0..<channels).map { _ in chance.signal(3000) }
      let gates = (0..<sides).map { _ in chance.gate(3000, longest: 150) }
      for mode in [0, 1] {
        let out = KernelBench(
          Samplehold.self, Samplehold.description, inputs: [signals, gates], outputs: [channels],
          [Samplehold.mode: [Float(mode)]]
        ).run(3000)[0]
        for channel in 0..<channels {
          let gate = gates[channel % sides]
          var (held, wasOpen) = (Float(0), false)
          for frame in 0..<3000 {
            let isOpen = gate[frame] > 0
            if isOpen, mode == 1 || !wasOpen { held = signals[channel][frame] }
            wasOpen = isOpen
            guard out[channel][frame] == held else {
              Issue.record(
                "mode \(mode), channel \(channel), frame \(frame): \(out[channel][frame]), not \(held)")
              return
            }
          }
        }
      }
    }
  }

  /// A steady sine's peak and its root of the mean square, in decibels.
  @Test(arguments: rates) func levelsOfASineAreFollowed(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 1)
    let frequency = rate / 48 / Double(Int.random(in: 1...3, using: &chance))
    let level = Double(Float.random(in: 0.01...2, using: &chance))
    let sine = (0..<Int(rate)).map { Float(level * sin(2 * Double.pi * frequency * Double($0) / rate)) }
    for (detector, expected, attack) in [(Float(0), level, 0.0005), (1, level / 2.0.squareRoot(), 0.1)] {
      let out = KernelBench(
        Follower.self, Follower.description, inputs: [[sine, sine, sine]], outputs: [3],
        [
          Follower.detector: [detector], Follower.attack: [Float(attack)],
          Follower.release: [attack < 0.01 ? 5 : 0.1],
        ],
        rate: rate
      ).run(sine.count)[0][2]
      let off = decibels(Double(out.last!)) - decibels(expected)
      #expect(abs(off) < 0.2, "detector \(detector) at \(frequency) Hz of \(rate): \(off) dB")
    }
  }

  @Test func aComparatorOpensAboveAndShutsBelow() {
    var chance = Chance(6)
    for _ in 0..<20 {
      let channels = Int.random(in: 1...4, using: &chance)
      let signals = (0..<channels).map { _ in chance.signal(2000) }
      let limits = chance.signal(2000, 0.5)
      let gap: Float = [0, 0.3, 1].randomElement(using: &chance)!
      let bench = KernelBench(
        Comparator.self, Comparator.description, inputs: [signals], outputs: [channels],
        [Comparator.hysteresis: [gap]])
      bench.modulation[Comparator.threshold] = [limits]
      let out = bench.run(2000)[0]
      for channel in 0..<channels {
        var isOpen = false
        for frame in 0..<2000 {
          let x = signals[channel][frame]
          isOpen = x > limits[frame] || isOpen && x > limits[frame] - gap
          guard out[channel][frame] == (isOpen ? 1 : 0) else {
            Issue.record("channel \(channel), frame \(frame), gap \(gap)")
            return
          }
        }
      }
    }
  }

  /// A gate that a signal above the threshold has opened stays open where the hysteresis becomes larger, and a shut one shut:
  /// also if all was at rest until then.
  @Test(arguments: [1, 3]) func aComparatorAtRestRemembersItsGates(channels: Int) {
    var chance = Chance(UInt64(channels))
    for _ in 0..<20 {
      let block = Int.random(in: 1...6, using: &chance) * 64
      // The first block ends above or below the threshold; the second stays between it and the lower one.
      let ends = (0..<channels).map { _ in Bool.random(using: &chance) }
      // Some blocks before have no frame above.
      let tops = (0..<6).map { _ in Bool.random(using: &chance) ? Float(1) : -0.1 }
      let signals = ends.map { isAbove in
        (0..<block - 1).map { Float.random(in: -1...tops[$0 / 64], using: &chance) } + [isAbove ? 0.9 : -0.9]
          + (0..<128).map { _ in Float.random(in: -0.5 ... -0.1, using: &chance) }
      }
      let bench = KernelBench(
        Comparator.self, Comparator.description, inputs: [signals], outputs: [channels],
        [Comparator.hysteresis: [0]])
      bench.moves = [.init(frame: block, parameter: Comparator.hysteresis, value: 0.7, over: 0)]
      let out = bench.run(block + 128)[0]
      for channel in 0..<channels {
        #expect(out[channel][block...].allSatisfy { $0 == (ends[channel] ? 1 : 0) })
      }
    }
  }

  @Test(arguments: 0..<7) func gatesAreJoinedByTheirTables(operation: Int) {
    var chance = Chance(UInt64(operation))
    let a = (0..<3).map { _ in chance.gate(2000, longest: 90) }
    let b = (0..<2).map { _ in chance.gate(2000, longest: 90) }
    let out = KernelBench(
      Logic.self, Logic.description, inputs: [a, b], outputs: [3], [Logic.operation: [Float(operation)]]
    ).run(2000)[0]
    for channel in 0..<3 {
      for frame in 0..<2000 {
        let (x, y) = (a[channel][frame] > 0, b[channel % 2][frame] > 0)
        let tables = [x && y, x || y, x != y, !x, !(x && y), !(x || y), x == y]
        #expect(out[channel][frame] == (tables[operation] ? 1 : 0), "channel \(channel), frame \(frame)")
      }
    }
  }

  /// Values are even, normal, two or a walk; others for another seed and channel, the same for the same.
  @Test func randomValuesHaveTheirDistributions() {
    func values(_ distribution: Float, seed: Float, channels: Int = 1) -> [[Double]] {
      // A trigger each sixteenth frame.
      let trigger = (0..<64_000).map { Float($0 % 16 == 0 ? 1 : 0) }
      let out = KernelBench(
        Random.self, Random.description, inputs: [[trigger]], outputs: [channels],
        [Random.distribution: [distribution], Random.seed: [seed]]
      ).run(64_000)[0]
      for channel in out {
        for frame in channel.indices where frame % 16 != 0 { #expect(channel[frame] == channel[frame - 1]) }
      }
      return out.map { channel in stride(from: 0, to: 64_000, by: 16).map { Double(channel[$0]) } }
    }
    for (distribution, power) in [(Float(0), 1 / 3.0), (1, 1 / 9.0), (2, 1)] {
      let all = values(distribution, seed: 3, channels: 2)
      for channel in all {
        let mean = channel.reduce(0, +) / 4000
        let square = channel.map { $0 * $0 }.reduce(0, +) / 4000
        #expect(abs(mean) < 0.05, "\(distribution): mean \(mean)")
        #expect(abs(square - power) < 0.05 * max(power, 0.2), "\(distribution): \(square)")
      }
      #expect(all[0] != all[1] && all[0] != values(distribution, seed: 4)[0])
      #expect(all[0] == values(distribution, seed: 3)[0])
    }
    let walk = values(3, seed: 3)[0]
    #expect(zip(walk, walk.dropFirst()).allSatisfy { abs($0 - $1) <= 0.51 })
    #expect(walk.min()! < -0.8 && walk.max()! > 0.8)
  }

  @Test func aDividerPassesOneOfSeveralGates() {
    var chance = Chance(12)
    for _ in 0..<20 {
      let gate = chance.gate(3000, longest: 60)
      let reset = chance.gate(3000, longest: 900)
      let (by, offset) = (Int.random(in: 1...5, using: &chance), Int.random(in: 0...4, using: &chance))
      let out = KernelBench(
        Divider.self, Divider.description, inputs: [[gate], [reset]], outputs: [1],
        [Divider.by: [Float(by)], Divider.offset: [Float(offset)]]
      ).run(3000)[0][0]
      var (number, passes) = (0, false)
      var (wasOpen, wasReset) = (false, false)
      for frame in 0..<3000 {
        let (isOpen, isReset) = (gate[frame] > 0, reset[frame] > 0)
        if isReset, !wasReset { number = 0 }
        if isOpen, !wasOpen {
          passes = number >= offset && (number - offset) % by == 0
          number += 1
        }
        (wasOpen, wasReset) = (isOpen, isReset)
        guard out[frame] == (isOpen && passes ? 1 : 0) else {
          Issue.record("frame \(frame), by \(by), offset \(offset)")
          return
        }
      }
    }
  }

  /// Ticks by the transport begin in the frames that its tempo gives, through swing, changes of tempo and jumps.
  @Test(arguments: rates) func ticksComeAtTheirExactFrames(rate: Double) {
    var chance = Chance(UInt64(rate) &+ 9)
    for note in 1..<Beat.notes.count {
      let swing = Double([50, 60, 66.667].randomElement(using: &chance)!)
      let bench = KernelBench(
        Clock.self, Clock.description, outputs: [1, 1],
        [Clock.note: [Float(note)], Clock.swing: [Float(swing)], Clock.width: [30]], rate: rate)
      let tempo = Double.random(in: 60...200, using: &chance)
      var transport = Transport(rate: rate)
      transport.apply(.tempo(tempo), at: 0)
      bench.transport = transport
      let frames = Int(rate * 3)
      let out = bench.run(frames)[0][0]
      let lengths: [Double] = [
        0, 0.25, 4, 2, 1, 0.5, 0.125, 0.0625, 8, 16, 3, 1.5, 0.75, 0.375, 4.0 / 3, 2.0 / 3, 1.0 / 3, 1.0 / 6,
        1.0 / 12,
      ]
      let tick = lengths[note] * 60 * rate / tempo
      var expected: [Int] = []
      for number in 0..<Int(Double(frames) / tick + 2) {
        let late = number % 2 == 0 ? 0 : Double(Float(swing)) * 0.02 - 1
        let frame = ((Double(number) + late) * tick - 1e-6).rounded(.up)
        if frame < Double(frames) { expected.append(Int(frame)) }
      }
      #expect(openings(out) == expected, "\(Beat.notes[note]) at \(tempo) and \(rate) Hz")
      let open = out.filter { $0 > 0 }.count
      let whole = expected.count == 1 ? min(tick * 0.3 * Double(Float(swing)) / 50, Double(frames)) : 0
      if whole > 0 { #expect(abs(Double(open) - whole) < 2) }
    }
  }

  /// A jump begins anew, a transport that stands shuts the gate, and going on tells so.
  @Test func aClockFollowsTheTransportsTurns() {
    let bench = KernelBench(
      Clock.self, Clock.description, outputs: [1, 1], [Clock.note: [4], Clock.width: [50]])
    bench.transport = Transport(rate: 48_000)
    bench.changes = [
      (10_000, .halt), (20_000, .roll), (40_000, .locate(bar: 3, beat: 1.5)), (60_000, .tempo(240)),
    ]
    let out = bench.run(96_000)
    // A quarter has 24,000 frames, and 10,000 of the second one are left at frame 34,000.
    let ticks = openings(out[0][0])
    #expect(ticks.prefix(2) == [0, 34_000], "\(ticks)")
    #expect(out[0][0][9999] == 1 && out[0][0][10_000...33_999].allSatisfy { $0 == 0 })
    // From beat 1.5 on the next one is a half away; later the tempo is double.
    #expect(Array(ticks.dropFirst(2)) == [52_000, 68_000, 80_000, 92_000], "\(ticks)")
    #expect(openings(out[1][0]) == [0, 20_000, 40_000])
  }

  /// A gate is open for its part of its own tick, as long as swing leaves that, and shut before the next one.
  @Test(arguments: rates, [1, 50, 80, 99]) func gatesAreAPartOfTheirOwnTicks(rate: Double, width: Float) {
    var chance = Chance(UInt64(rate) &+ UInt64(width))
    for isFree in [false, true] {
      let swing = Double([50, 62.5, 75].randomElement(using: &chance)!)
      let bench = KernelBench(
        Clock.self, Clock.description, outputs: [1, 1],
        [
          Clock.note: [isFree ? 0 : 1], Clock.rate: [5], Clock.swing: [Float(swing)], Clock.width: [width],
        ], rate: rate)
      var transport = Transport(rate: rate)
      transport.apply(.tempo(75), at: 0)
      bench.transport = transport
      let out = bench.run(Int(rate * 2.5))[0][0]
      let tick = 0.2 * rate
      for (number, start) in openings(out).enumerated().dropLast() {
        let length = tick * (number % 2 == 0 ? swing / 50 : 2 - swing / 50)
        let open = out[start...].prefix { $0 > 0 }.count
        let expected = max(1, min(length * Double(width) / 100, length - 1))
        #expect(abs(Double(open) - expected) <= 1, "tick \(number): \(open), not \(expected)")
      }
      #expect(openings(out).count == 13, "\(openings(out))")
    }
  }

  /// A tick to which the transport jumps is one also where a gate is open: that shuts for a frame. One that swing delays is to
  /// come where the transport jumps to the place that it would have without.
  @Test func ticksAfterAJumpAreNotLost() {
    let bench = KernelBench(
      Clock.self, Clock.description, outputs: [1, 1],
      [Clock.note: [4], Clock.width: [80], Clock.swing: [60]])
    bench.transport = Transport(rate: 48_000)
    // Gates are open from 0 and 28,800 on, for 23,040 and 15,360 frames.
    bench.changes = [(10_000, .locate(bar: 2, beat: 0)), (20_000, .locate(bar: 3, beat: 1.1))]
    let ticks = openings(bench.run(48_000)[0][0])
    #expect(ticks == [0, 10_001, 22_400, 41_600], "\(ticks)")
  }

  /// Ten minutes of a rate that is no part of the sample rate.
  @Test(arguments: [8000.0, 44_100, 48_000]) func aFreeClockDoesNotDrift(rate: Double) {
    let bench = KernelBench(
      Clock.self, Clock.description, outputs: [1, 1], [Clock.note: [0], Clock.rate: [0.73]], rate: rate)
    let ticks = openings(bench.run(Int(rate) * 600)[0][0])
    let expected = (0..<438).map { Int((Double($0) * rate / Double(Float(0.73)) - 1e-3).rounded(.up)) }
    #expect(zip(ticks, expected).allSatisfy { abs($0 - $1) <= 1 } && abs(ticks.count - 438) <= 1)
  }

  @Test(arguments: rates) func aFreeClockKeepsItsRate(rate: Double) {
    let bench = KernelBench(
      Clock.self, Clock.description, outputs: [1, 1],
      [Clock.note: [0], Clock.rate: [7.3], Clock.swing: [66]],
      rate: rate)
    let out = bench.run(Int(rate) * 4)[0][0]
    let expected = (0..<30).map { number in
      let late = number % 2 == 0 ? 0 : Double(Float(66)) * 0.02 - 1
      return Int(((Double(number) + late) * rate / Double(Float(7.3)) - 1e-3).rounded(.up))
    }.filter { $0 < Int(rate) * 4 }
    let ticks = openings(out)
    #expect(
      ticks.count == expected.count && zip(ticks, expected).allSatisfy { abs($0 - $1) <= 1 },
      "\(ticks) \(expected)")
  }

  /// At 0 Hz a clock never ticks, not even at its start; it begins where the rate rises.
  @Test(arguments: rates) func aClockAtZeroHertzNeverTicks(rate: Double) {
    var chance = Chance(UInt64(rate))
    let rise = Int.random(in: 1...3000, using: &chance)
    for isMoving in [false, true] {
      let bench = KernelBench(
        Clock.self, Clock.description, outputs: [1, 1],
        [Clock.note: [0], Clock.rate: [0], Clock.width: [Float.random(in: 1...99, using: &chance)]],
        rate: rate)
      let rates: [Float] = (0..<6000).map { $0 < rise ? 0 : 50 }
      if isMoving { bench.modulation = [Clock.rate: [rates]] }
      let out = bench.run(6000)[0][0]
      #expect(openings(out).first == (isMoving ? rise : nil))
    }
  }

  /// Rhythms of the literature, from their first hit on; and each number of hits for each number of steps.
  @Test func hitsAreSpreadAsBjorklundHasThem() {
    func rhythm(_ pulses: Int, _ steps: Int, _ rotation: Int = 0) -> String {
      let clock = (0..<steps * 64).map { Float($0 % 64 < 20 ? 1 : 0) }
      let out = KernelBench(
        Euclid.self, Euclid.description, inputs: [[clock], [[0]]],
        outputs: [1, 1],
        [Euclid.steps: [Float(steps)], Euclid.pulses: [Float(pulses)], Euclid.rotation: [Float(rotation)]]
      ).run(steps * 64)
      return (0..<steps).map { step in
        let (hit, rest) = (out[0][0][step * 64 + 10], out[1][0][step * 64 + 10])
        return hit == 1 && rest == 0 ? "x" : hit == 0 && rest == 1 ? "." : "?"
      }.joined()
    }
    #expect(rhythm(3, 8) == "x..x..x.")
    #expect(rhythm(4, 16) == "x...x...x...x...")
    #expect(rhythm(2, 5) == "x..x.")
    #expect(rhythm(5, 12) == "x..x.x..x.x.")
    for steps in 1...16 {
      for pulses in 0...steps {
        let text = rhythm(pulses, steps)
        #expect(text.filter { $0 == "x" }.count == pulses, "\(pulses) of \(steps): \(text)")
        // Distances between hits differ by one at most.
        let hits = text.enumerated().filter { $0.element == "x" }.map(\.offset)
        let gaps = zip(hits, hits.dropFirst() + hits.prefix(1).map { $0 + steps }).map { $1 - $0 }
        if let least = gaps.min(), let most = gaps.max() { #expect(most - least <= 1, "\(text)") }
        for rotation in [-3, 1, 5] {
          let place = (rotation % steps + steps) % steps
          #expect(rhythm(pulses, steps, rotation) == String(text.dropFirst(place) + text.prefix(place)))
        }
      }
    }
  }
}

extension SplitTests {
  private func gates(_ channels: Int, _ seed: UInt64) -> [[Float]] {
    var chance = Chance(seed)
    return (0..<channels).map { _ in chance.gate(1500, longest: 200) }
  }

  @Test(arguments: [1, 3], [1, 2]) func samplehold(channels: Int, sides: Int) {
    expectSameBits(
      Samplehold.self, Samplehold.description, inputs: [signals(channels), gates(sides, 3)],
      outputs: [channels],
      moves: [.init(frame: 300, parameter: Samplehold.mode, value: 1, over: 300)], startingAt: 21)
  }

  @Test(arguments: [1, 3, 9]) func slewAndFollower(channels: Int) {
    expectSameBits(
      Slew.self, Slew.description, inputs: [signals(channels)], outputs: [channels],
      [Slew.rise: [0.001], Slew.fall: [0.003]], modulation: [Slew.rise: [wobble(0.001)]],
      moves: [
        .init(frame: 300, parameter: Slew.shape, value: 1, over: 300),
        .init(frame: 900, parameter: Slew.fall, value: 0, over: 300),
      ])
    expectSameBits(
      Follower.self, Follower.description, inputs: [signals(channels)], outputs: [channels],
      [Follower.attack: [0.001], Follower.release: [0.003]], modulation: [Follower.release: [wobble(0.002)]],
      moves: [
        .init(frame: 300, parameter: Follower.detector, value: 1, over: 300),
        .init(frame: 900, parameter: Follower.gain, value: 3, over: 300),
      ])
  }

  @Test(arguments: [1, 3]) func comparatorAndLogic(channels: Int) {
    expectSameBits(
      Comparator.self, Comparator.description, inputs: [signals(channels)], outputs: [channels],
      [Comparator.hysteresis: [0.4]], modulation: [Comparator.threshold: [wobble(0.5)]],
      moves: [.init(frame: 900, parameter: Comparator.hysteresis, value: 0, over: 300)])
    expectSameBits(
      Logic.self, Logic.description, inputs: [gates(channels, 1), gates(2, 2)], outputs: [channels],
      moves: [
        .init(frame: 300, parameter: Logic.operation, value: 3, over: 300),
        .init(frame: 900, parameter: Logic.operation, value: 2, over: 100),
      ])
  }

  @Test(arguments: [0, 1, 2]) func random(triggers: Int) {
    expectSameBits(
      Random.self, Random.description, inputs: [gates(triggers, 1)], outputs: [3], [Random.rate: [900]],
      modulation: [Random.rate: [wobble(800)], Random.low: [wobble(2)]],
      moves: [
        .init(frame: 300, parameter: Random.distribution, value: 1, over: 0),
        .init(frame: 900, parameter: Random.high, value: 7, over: 100),
      ], startingAt: 5)
  }

  @Test(arguments: [Float(0), 7, 18]) func clock(note: Float) {
    func bench() -> KernelBench<Clock> {
      let bench = KernelBench(
        Clock.self, Clock.description, outputs: [1, 1], [Clock.note: [note], Clock.rate: [333]])
      var transport = Transport(rate: 48_000)
      transport.apply(.tempo(999), at: 0)
      bench.transport = transport
      bench.time = 13
      bench.changes = [(400, .tempo(777)), (777, .halt), (800, .roll), (1200, .locate(bar: 7, beat: 0.3))]
      bench.moves = [
        .init(frame: 200, parameter: Clock.swing, value: 70, over: 300),
        .init(frame: 300, parameter: Clock.width, value: 90, over: 500),
        .init(frame: 600, parameter: Clock.rate, value: 3000, over: 400),
        .init(frame: 1800, parameter: Clock.note, value: 7 - note, over: 0),
      ].filter { $0.value >= 0 }
      return bench
    }
    let whole = bench().run(2500)
    for lengths in [[1], [17], [5, 64, 30]] {
      #expect(firstDifference(whole, bench().run(2500, .init(lengths: lengths))) == nil, "split \(lengths)")
    }
  }

  @Test(arguments: [0, 1]) func dividerAndEuclid(clocks: Int) {
    expectSameBits(
      Divider.self, Divider.description, inputs: [gates(3, 1), gates(clocks, 2)], outputs: [3],
      moves: [.init(frame: 300, parameter: Divider.by, value: 5, over: 300)])
    expectSameBits(
      Euclid.self, Euclid.description, inputs: [gates(clocks, 1), gates(1, 2)], outputs: [1, 1],
      [Euclid.note: [0], Euclid.rate: [700]], modulation: [Euclid.pulses: [wobble(4)]],
      moves: [.init(frame: 300, parameter: Euclid.rotation, value: 5, over: 300)])
  }
}

import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// `looper`: what is recorded comes again to the bit, nothing clicks, and undo brings back what was.
struct LooperTests {
  private func bench(
    _ sound: [Float], pedal: [Float] = [0], undo: [Float] = [0], clear: [Float] = [0],
    _ values: [Int: [Float]] = [:], rate: Double = 48_000
  ) -> KernelBench<Looper> {
    KernelBench(
      Looper.self, Looper.description, inputs: [[sound], [pedal], [undo], [clear]], outputs: [1],
      values.merging([Looper.longest: [2], Looper.channels: [1], Looper.through: [0]]) { own, _ in own },
      rate: rate)
  }

  @Test(arguments: [8000.0, 44_100, 48_000, 192_000]) func aLoopComesAgainToTheBit(rate: Double) {
    var chance = Chance(UInt64(rate))
    let join = Int(rate * 0.01)
    let start = Int.random(in: join * 2...join * 4, using: &chance)
    let length = Int.random(in: join * 4...join * 9, using: &chance)
    let frames = start + 4 * length
    let sound = chance.signal(frames, 0.5)
    let out = bench(
      sound, pedal: gate(frames, start..<start + 5, start + length..<start + length + 7), rate: rate
    )
    .run(frames)[0][0]
    #expect(out[..<(start + length)].allSatisfy { $0 == 0 })
    for round in 1..<4 {
      let begin = start + round * length
      let first = round == 1 ? join / 2 + 1 : 0
      #expect(
        Array(out[(begin + first)..<(begin + length - join)])
          == Array(sound[(start + first)..<(start + length - join)]), "round \(round)")
      // The end becomes what was before the beginning.
      #expect(abs(out[begin + length - 1] - sound[start - 1]) < 0.01)
    }
  }

  @Test(arguments: [8000.0, 44_100, 48_000]) func aLoopInBeatsHasTheirFrames(rate: Double) {
    for (tempo, beats) in [(120.0, 1), (97.3, 2), (180, 3)] {
      let frames = Int(rate * 5)
      let bench = bench(
        (0..<frames).map { Float($0 % 9973) / 9973 - 0.5 },
        [Looper.beats: [Float(beats)], Looper.longest: [4]], rate: rate)
      var transport = Transport(rate: rate)
      transport.apply(.tempo(tempo), at: 0)
      bench.transport = transport
      let asked = Int(rate * 0.3) & ~63
      bench.moves = [.init(frame: asked, parameter: Looper.mode, value: 2, over: 0)]
      let out = bench.run(frames)[0][0]
      let quarter = 60 * rate / tempo
      let start = Int((Double(Int((Double(asked) / quarter).rounded(.up))) * quarter - 1e-6).rounded(.up))
      let length = Int((Double(beats) * quarter).rounded())
      let join = Int(rate * 0.01)
      #expect(out[..<(start + length)].allSatisfy { $0 == 0 })
      let begin = start + length
      #expect(
        Array(out[(begin + join)..<(begin + length - join)])
          == Array(bench.inputs[0][0][(start + join)..<(start + length - join)]), "\(tempo), \(beats) beats")
    }
  }

  /// Loop, overdub for a round, undo, redo.
  @Test func undoBringsBackWhatWas() {
    var chance = Chance(3)
    let (start, length, join) = (1000, 6000, 480)
    let frames = start + 12 * length
    let sound = chance.signal(frames, 0.25)
    // Overdub in round 2 from 1500 to 4500; undo in round 4, redo in round 7.
    let (on, off) = (start + 2 * length + 1500, start + 2 * length + 4500)
    let out = bench(
      sound,
      pedal: gate(frames, start..<start + 9, start + length..<start + length + 9, on..<on + 9, off..<off + 9),
      undo: gate(
        frames, start + 4 * length..<start + 4 * length + 3, start + 7 * length..<start + 7 * length + 3)
    ).run(frames)[0][0]
    func round(_ number: Int) -> [Float] {
      Array(out[(start + number * length)..<(start + (number + 1) * length)])
    }
    let (plain, added) = (round(2), round(3))
    for frame in 1500 + join..<4500 {
      #expect(added[frame] == plain[frame] + sound[start + 2 * length + frame])
    }
    #expect(
      added[..<1500] == plain[..<1500] && Array(added[(4500 + join)...]) == Array(plain[(4500 + join)...]))
    #expect(round(5) == plain && round(6) == plain, "undone")
    #expect(round(8) == added && round(9) == added, "redone")
  }

  /// Undo of `set looper.mode overdub` takes the overdub away and lets the loop play on, whatever the mode was before; a
  /// recording is not begun anew by it.
  @Test(arguments: [0, 1, 2]) func whatAModeBeganIsTakenBack(before: Int) {
    var chance = Chance(9)
    let (start, length) = (1000, 6000)
    let frames = start + 8 * length
    let sound = chance.signal(frames, 0.25)
    let pedal = gate(frames, start..<start + 9, start + length..<start + length + 9)
    let bench = bench(sound, pedal: before == 2 ? [0] : pedal)
    let second = start + 2 * length
    bench.moves =
      before == 2
      ? [
        .init(frame: start, parameter: Looper.mode, value: 2, over: 0),
        .init(frame: start + length, parameter: Looper.mode, value: 3, over: 0),
      ]
      : [
        .init(frame: second, parameter: Looper.mode, value: before == 1 ? 1 : 3, over: 0),
        .init(frame: second + 64, parameter: Looper.mode, value: 3, over: 0),
      ]
    bench.moves.append(.init(frame: second + 3000, parameter: Looper.mode, value: -1, over: 0))
    let out = bench.run(frames)[0][0]
    func round(_ number: Int) -> [Float] {
      Array(out[(start + number * length)..<(start + (number + 1) * length)])
    }
    let loop = Array(sound[(start + 300)..<(start + length - 480)])
    for number in [4, 5, 7] {
      #expect(Array(round(number)[300..<(length - 480)]) == loop, "round \(number), mode before \(before)")
    }
  }

  /// Play right after an overdub was asked for, which waits for the recording's end: there is none.
  @Test func anOverdubThatWaitsIsCalledOff() {
    var chance = Chance(10)
    let frames = 48_000
    let sound = chance.signal(frames, 0.25)
    let bench = bench(sound, [Looper.beats: [1]])
    var transport = Transport(rate: 48_000)
    transport.apply(.tempo(480), at: 0)
    bench.transport = transport
    // It records from 12000 to 18000.
    bench.moves = [(6400, 2), (14_016, 3), (15_040, 1)].map { frame, mode in
      .init(frame: frame, parameter: Looper.mode, value: mode, over: 0)
    }
    let out = bench.run(frames)[0][0]
    for round in 1...4 {
      #expect(
        Array(out[(12_300 + round * 6000)..<(17_500 + round * 6000)]) == Array(sound[12_300..<17_500]),
        "round \(round)")
    }
  }

  /// A second overdub on top of one that was undone: the undone one is gone, and undo leads to the loop.
  @Test func anOverdubAfterAnUndoTakesItsPlace() {
    var chance = Chance(4)
    let (start, length) = (1000, 6000)
    let frames = start + 16 * length
    let sound = chance.signal(frames, 0.25)
    func at(_ round: Int, _ frame: Int) -> Range<Int> {
      start + round * length + frame..<start + round * length + frame + 9
    }
    let out = bench(
      sound, pedal: gate(frames, at(0, 0), at(1, 0), at(2, 1500), at(2, 4500), at(6, 500), at(6, 3500)),
      undo: gate(frames, at(4, 0), at(9, 100))
    ).run(frames)[0][0]
    func round(_ number: Int) -> [Float] {
      Array(out[(start + number * length)..<(start + (number + 1) * length)])
    }
    let plain = round(1).suffix(5000)
    for frame in 980..<3500 {
      #expect(round(7)[frame] == round(5)[frame] + sound[start + 6 * length + frame])
    }
    #expect(round(5).suffix(5000) == plain && round(11).suffix(5000) == plain && round(8) == round(7))
  }

  @Test func anOverdubThatKeepsNothingReplaces() {
    var chance = Chance(5)
    let (start, length) = (1000, 6000)
    let frames = start + 8 * length
    let sound = chance.signal(frames, 0.25)
    let out = bench(
      sound,
      pedal: gate(
        frames, start..<start + 9, start + length..<start + length + 9,
        start + 2 * length..<start + 2 * length + 9, start + 4 * length..<start + 4 * length + 9),
      [Looper.keep: [0]]
    ).run(frames)[0][0]
    let replaced = Array(sound[(start + 3 * length + 480)..<(start + 4 * length)])
    #expect(Array(out[(start + 4 * length + 480)..<(start + 5 * length)]) == replaced)
  }

  /// A tone that is recorded at any length, played, stopped and cleared has no steps beyond its own.
  @Test func nothingClicks() {
    var chance = Chance(6)
    for _ in 0..<12 {
      let frames = 60_000
      let tone = (0..<frames).map { Float(0.5 * sin(2 * Double.pi * 200 * Double($0) / 48_000)) }
      let (start, length) = (
        Int.random(in: 0...2000, using: &chance), Int.random(in: 50...9000, using: &chance)
      )
      let bench = bench(
        tone,
        pedal: gate(
          frames, start..<start + 9, start + length..<start + length + 9, 24_000..<24_010, 30_000..<30_005),
        [Looper.keep: [50]])
      bench.moves = [
        .init(frame: 40_000, parameter: Looper.mode, value: 0, over: 0),
        .init(frame: 45_000, parameter: Looper.mode, value: 1, over: 0),
        .init(frame: 52_000, parameter: Looper.mode, value: 4, over: 0),
      ]
      let out = bench.run(frames)[0][0]
      #expect(largestStep(out) < 0.05, "\(start) \(length): \(largestStep(out))")
      #expect(peak(Array(out[20_000..<23_000])) > 0.4 && peak(Array(out[40_600..<45_000])) == 0)
      #expect(peak(Array(out[46_000..<51_000])) > 0.4 && peak(Array(out[52_600...])) == 0)
    }
  }

  @Test func anEmptyLooperSleepsAndTheSoundPasses() {
    var chance = Chance(7)
    let sound = chance.signal(9600, 0.5) + [Float](repeating: 0, count: 9600)
    let bench = bench(sound, [Looper.through: [1]])
    #expect(bench.run(19_200)[0][0] == sound)
    #expect(bench.sleptBlocks > 100)
  }

  @Test func anotherRateKeepsPitchAndLength() {
    let tone = (0..<20_000).map { Float(0.5 * sin(2 * Double.pi * 500 * Double($0) / 48_000)) }
    let bench = bench(tone, pedal: gate(20_000, 960..<970, 10_560..<10_570))
    _ = bench.run(20_000)
    bench.retune(to: 96_000)
    let out = bench.run(96_000)[0][0]
    #expect(abs(amplitude(out[19_200..<38_400], 500, rate: 96_000) - 0.5) < 0.01)
    #expect(abs(Double(bench.kernel.reading(0)) - 0.2) < 1e-4)
  }

  /// The driver comes back at another rate amid an overdub, in its first round or a later one, and other sound comes: what was
  /// added ends and begins without a step, and undo takes all of it away.
  @Test(arguments: [44_100.0, 48_001, 96_000]) func anotherRateAmidAnOverdubLeavesNoStep(rate: Double) {
    var chance = Chance(UInt64(rate))
    for turn in 0..<8 {
      let length = Int.random(in: 4000...9000, using: &chance)
      let on = 2000 + length + Int.random(in: 0...length, using: &chance)
      let late = on + 1200 + turn % 2 * length + Int.random(in: 0..<length - 1600, using: &chance)
      // Where the tone is loudest.
      let cut = late / 240 * 240 + 60
      let tone = (0..<cut).map { Float(0.3 * sin(2 * Double.pi * 200 * Double($0) / 48_000)) }
      let round = Int((Double(length) * rate / 48_000).rounded(.up))
      let undone = cut + 2 * round
      let frames = undone + 2 * round
      let bench = bench(
        tone, pedal: gate(frames, 1000..<1009, 1000 + length..<1009 + length, on..<on + 9),
        undo: gate(frames, undone..<undone + 9), [Looper.keep: [turn % 4 < 2 ? 100 : 60]])
      _ = bench.run(cut)
      bench.retune(to: rate)
      let out = bench.run(4 * round)[0][0]
      let about = "\(turn): \(largestStep(out))"
      #expect(largestStep(out) < 0.05, "\(about)")
      #expect(peak(Array(out[round..<2 * round])) > 0.15, "\(about)")
      let plain = peak(Array(out[(2 * round + 1000)...]))
      #expect(plain > 0.28 && plain < 0.32, "\(about), \(plain)")
    }
  }
}

extension SplitTests {
  @Test func looper() {
    var chance = Chance(21)
    let frames = 20_000
    expectSameBits(
      Looper.self, Looper.description,
      inputs: [
        signals(2, frames: frames), [chance.gate(frames, longest: 900)], [chance.gate(frames, longest: 2000)],
        [chance.gate(frames, longest: 6000)],
      ],
      outputs: [2], [Looper.longest: [1]], frames: frames, modulation: [Looper.keep: [wobble(50, frames)]],
      moves: [
        .init(frame: 4000, parameter: Looper.mode, value: 3, over: 0),
        .init(frame: 9005, parameter: Looper.level, value: 0.3, over: 99),
        .init(frame: 15_000, parameter: Looper.mode, value: 2, over: 0),
      ], startingAt: 37)
  }
}

import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Loops in beats stay on the beat, through any tempo, jump and stop, and nothing clicks.
struct LoopBeatTests {
  private func bench(
    _ sound: [Float], beats: Float, tempo: Double, rate: Double = 48_000, _ values: [Int: [Float]] = [:]
  ) -> KernelBench<Looper> {
    let bench = KernelBench(
      Looper.self, Looper.description, inputs: [[sound], [], [], []], outputs: [1],
      values.merging([
        Looper.longest: [4], Looper.channels: [1], Looper.through: [0], Looper.beats: [beats],
      ]) { own, _ in own }, rate: rate)
    var transport = Transport(rate: rate)
    transport.apply(.tempo(tempo), at: 0)
    bench.transport = transport
    bench.moves = [.init(frame: 0, parameter: Looper.mode, value: 2, over: 0)]
    return bench
  }

  /// Frames in which beats begin.
  private func starts(_ beats: Int, _ tempo: Double, _ rate: Double, until frames: Int) -> [Int] {
    (0...).lazy.map { Int((Double($0 * beats) * 60 * rate / tempo - 1e-6).rounded(.up)) }
      .prefix { $0 < frames }
  }

  /// A minute of rounds, each of which begins in the frame of its beat, and is what was recorded but for its last 10 ms.
  @Test(arguments: [8000.0, 44_100, 48_000]) func roundsBeginOnTheirBeats(rate: Double) {
    var chance = Chance(UInt64(rate))
    for (tempo, beats) in [(97.3, 4), (133.7, 1), (61.9, 3)] {
      let frames = Int(rate * 60)
      let starts = starts(beats, tempo, rate, until: frames)
      let sound = chance.signal(starts[1], 0.5)
      let out = bench(sound, beats: Float(beats), tempo: tempo, rate: rate).run(frames)[0][0]
      let join = Int(rate * 0.01)
      for (round, (start, end)) in zip(starts, starts.dropFirst()).enumerated().dropFirst(2) {
        guard Array(out[start..<end - join - 2]) == Array(sound[..<(end - join - 2 - start)]) else {
          Issue.record("\(tempo) at \(rate) Hz: round \(round) of \(starts.count) is not on its beat")
          return
        }
      }
    }
  }

  /// A tone goes round with lengths that differ by a frame, while more is added: nothing clicks, and undo leads back.
  @Test func aFrameMoreOrLessIsNoClick() {
    let frames = 48_000 * 30
    let tone = (0..<frames).map { Float(0.3 * sin(2 * Double.pi * 211 * Double($0) / 48_000)) }
    // 28,846.15 frames.
    for keep in [Float(100), 0] {
      let bench = bench(tone, beats: 2, tempo: 199.68, [Looper.keep: [keep]])
      bench.moves += [
        .init(frame: 30_016, parameter: Looper.mode, value: 3, over: 0),
        .init(frame: 30_016 + 6 * 28_864, parameter: Looper.mode, value: 1, over: 0),
        .init(frame: 30_016 + 12 * 28_864, parameter: Looper.mode, value: 5, over: 0),
      ]
      let out = bench.run(frames)[0][0]
      let step = Double(largestStep(out))
      #expect(step < (keep > 0 ? 8 : 1.3) * 0.3 * 2 * Double.pi * 211 / 48_000, "\(keep): \(step)")
      let end = Array(out[(30_016 + 16 * 28_864)...])
      #expect(peak(end) < 0.31 && peak(end) > 0.29, "\(keep): \(peak(end))")
    }
  }

  /// Tempo, place and rolling change at random: a minute later the loop still begins on its beats, without a click.
  @Test(arguments: 1...6) func theLoopFollowsTheTransport(seed: Int) {
    var chance = Chance(UInt64(seed))
    let (rate, frames) = (48_000.0, 48_000 * 40)
    // The first tenth of a second is loud, the rest soft: where it begins is seen.
    let sound = (0..<96_000).map { frame in
      Float((frame < 4800 ? 0.4 : 0.1) * sin(2 * Double.pi * 200 * Double(frame) / rate))
    }
    let bench = bench(sound, beats: 2, tempo: 120)
    var frame = 60_000
    while frame < frames - 48_000 * 12 {
      let change: TransportChange =
        switch Int.random(in: 0..<6, using: &chance) {
        case 0: .halt
        case 1: .roll
        case 2:
          .locate(
            bar: Int32.random(in: 1...9, using: &chance), beat: Double.random(in: 0...3, using: &chance))
        default: .tempo(Double.random(in: 70...200, using: &chance))
        }
      bench.changes.append((frame, change))
      frame += Int.random(in: 100...60_000, using: &chance)
    }
    let tempo = Double.random(in: 80...160, using: &chance)
    bench.changes += [(frame, .roll), (frame + 1, .tempo(tempo)), (frame + 2, .locate(bar: 1, beat: 0))]
    let out = bench.run(frames)[0][0]
    let step = largestStep(out)
    #expect(step < 0.4 * 2 * Float.pi * 200 / 48_000 * 1.5, "\(step)")
    let origin = frame + 2
    for start in starts(2, tempo, rate, until: frames - origin - 5000).dropFirst() {
      let begin = origin + start
      guard Array(out[begin..<begin + 4000]) == Array(sound[..<4000]) else {
        Issue.record("seed \(seed): the round at \(start) of \(tempo) is not on its beat")
        return
      }
    }
  }

  /// Overdubs amid changes of tempo and jumps, of which most come before all of the loop is copied: undo leads back to the bit.
  @Test(arguments: 1...6) func undoLeadsBackWhateverTheTransportDid(seed: Int) {
    var chance = Chance(UInt64(seed) &+ 70)
    let sound = chance.signal(48_000 * 14, 0.2)
    let bench = bench(sound, beats: 2, tempo: 120, [Looper.keep: [seed % 2 == 0 ? 100 : 30]])
    var frame = 50_000
    for round in 0..<3 {
      frame += Int.random(in: 1000...50_000, using: &chance)
      bench.moves.append(.init(frame: frame, parameter: Looper.mode, value: 3, over: 0))
      for _ in 0..<6 {
        frame += [Int.random(in: 1...900, using: &chance), 30_000].randomElement(using: &chance)!
        let change: TransportChange =
          Bool.random(using: &chance)
          ? .tempo(Double.random(in: 60...220, using: &chance))
          : .locate(bar: 1, beat: Double.random(in: 0...3, using: &chance))
        bench.changes.append((frame, change))
      }
      frame += 700
      bench.moves.append(.init(frame: frame, parameter: Looper.mode, value: 5, over: 0))
      frame += round * 300 + 1
    }
    frame += 60_000
    bench.changes += [(frame, .tempo(120)), (frame + 1, .locate(bar: 1, beat: 0))]
    let out = bench.run(48_000 * 15)[0][0]
    for start in stride(from: frame + 1 + 48_000, to: out.count - 48_000, by: 48_000) {
      #expect(Array(out[start..<start + 47_500]) == Array(sound[..<47_500]), "seed \(seed), \(start)")
    }
  }

  /// A slower tempo leaves a silence behind the loop, a faster one cuts it, and 0 beats let it go round as before.
  @Test func aTempoThatChangesLeavesASilenceOrCuts() {
    let sound = [Float](repeating: 0.25, count: 96_000)
    let bench = bench(sound, beats: 2, tempo: 120)
    bench.changes = [(100_000, .tempo(60))]
    bench.moves.append(.init(frame: 48_000 * 10, parameter: Looper.beats, value: 0, over: 0))
    let out = bench.run(48_000 * 14)[0][0]
    // Recorded up to 48,000. Of the round that began at 96,000 there had been 4,000 frames; the rest takes twice as long.
    #expect(out[100_000..<143_000].allSatisfy { $0 == 0.25 } && out[144_000..<187_000].allSatisfy { $0 == 0 })
    #expect(out[188_000..<235_000].allSatisfy { $0 == 0.25 } && out[236_000..<283_000].allSatisfy { $0 == 0 })
    // Free, it goes round without a silence, but for the end that leads to the beginning.
    #expect(out[(48_000 * 11)...].filter { $0 == 0.25 }.count > 48_000 * 3 * 95 / 100)
  }
}

extension SplitTests {
  @Test(arguments: 1...4) func looperInBeats(seed: Int) {
    func bench() -> KernelBench<Looper> {
      var chance = Chance(UInt64(seed))
      let frames = 60_000
      let bench = KernelBench(
        Looper.self, Looper.description,
        inputs: [
          signals(2, frames: frames), [chance.gate(frames, longest: 9000)],
          [chance.gate(frames, longest: 20_000)], [],
        ],
        outputs: [2], [Looper.longest: [1], Looper.beats: [1]])
      var transport = Transport(rate: 48_000)
      transport.apply(.tempo(737.3), at: 0)
      bench.transport = transport
      bench.time = 37
      for _ in 0..<12 {
        let change: TransportChange =
          switch Int.random(in: 0..<7, using: &chance) {
          case 0: .halt
          case 1, 2: .roll
          case 3: .locate(bar: 2, beat: Double.random(in: 0...3, using: &chance))
          default: .tempo(Double.random(in: 500...1200, using: &chance))
          }
        bench.changes.append((Int.random(in: 0..<frames, using: &chance), change))
      }
      bench.changes.sort { $0.frame < $1.frame }
      for mode in [3, 5, 1, 3, 6] {
        bench.moves.append(
          .init(
            frame: Int.random(in: 5000..<frames, using: &chance), parameter: Looper.mode, value: Float(mode),
            over: 0))
      }
      return bench
    }
    let expected = bench().run(60_000)
    var chance = Chance(5)
    for lengths in [[1], [17], [5, 64, 30], chance.lengths()] {
      let difference = firstDifference(expected, bench().run(60_000, .init(lengths: lengths)))
      #expect(difference == nil, "split \(lengths): \(difference ?? "")")
    }
  }
}

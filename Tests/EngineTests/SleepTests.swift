import Engine
import Patch
import TestSupport
import Testing

/// A node falls asleep at the same frame whatever the period: what it had left goes on until then, and is
/// dropped.
@Suite struct SleepTests {
  /// Plays to a frame as a driver does whose periods begin at multiples of their length.
  private func play(_ bench: Bench, to frame: Int) {
    while bench.heard[0].count < frame {
      let done = bench.heard[0].count
      bench.render(min(frame, (done / bench.period + 1) * bench.period) - done)
    }
  }

  /// The saw of Patches/basics/10-modulation through a filter, whose frequency another oscillator moves; then the
  /// filter is cut off, and its frequency comes back to its own value in 10 ms.
  @Test(arguments: manyLawSeeds) func aTailAfterAWayBackEndsAtTheSameFrame(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let rate = [44_100.0, 48_000, 96_000].randomElement(using: &random)!
    let (freq, q) = (Int.random(in: 600...4000, using: &random), Double.random(in: 0.7...4, using: &random))
    let (sweep, port) = [
      ("filter freq=\(freq)Hz q=\(q)", "freq"),
      ("equalizer bands=1 band1.freq=\(freq)Hz band1.gain=12dB band1.q=\(q)", "band1.freq"),
    ].randomElement(using: &random)!
    let source = """
      node saw oscillator shape=saw freq=55Hz level=-18dB
      node slow oscillator freq=\(Double.random(in: 0.5...20, using: &random))Hz level=0dB
      node sweep \(sweep)
      connect saw -> sweep
      connect slow -> sweep.\(port) gain=50dB
      node out output
      connect sweep -> out
      """
    let lines = [
      ["remove sweep tail"], ["disconnect saw -> sweep ; disconnect slow -> sweep.\(port)"],
      ["disconnect saw -> sweep", "disconnect slow -> sweep.\(port)"],
    ].randomElement(using: &random)!
    var start = Int.random(in: 1000...6000, using: &random)
    // Most ways back end in the last quarter of a 64-frame cell, after which a filter has no moving group to see
    // that it rests.
    if Int.random(in: 0..<3, using: &random) > 0 {
      start -= (start + Int(rate / 100) - Int.random(in: 49...63, using: &random)) & 63
    }
    let pause = Int.random(in: 1...300, using: &random)
    let periods = [
      64, 17, Int.random(in: 1...128, using: &random), 64 * Int.random(in: 2...16, using: &random),
    ]
    let heard = try periods.map { period -> [Float] in
      let bench = Bench(rate: rate, period: period)
      try bench.begin(source)
      for (index, line) in lines.enumerated() {
        play(bench, to: start + index * pause)
        #expect(bench.perform(line))
      }
      play(bench, to: start + Int(rate))
      #expect(bench.heard[0].suffix(100).allSatisfy { $0 == 0 }, "period \(period)")
      return bench.heard[0]
    }
    for (period, other) in zip(periods, heard).dropFirst() {
      let difference = firstDifference(heard[0], other)
      #expect(difference == nil, "period \(period)")
    }
  }

  /// A burst goes round a loop of a mixer and a filter until it is inaudible; then both sleep, at the same frame whatever
  /// the period, and wake for the next burst.
  @Test func aLoopFallsAsleep() throws {
    let source = """
      node tone oscillator freq=300Hz level=-6dB
      node sum mix
      connect tone -> sum
      node round filter freq=2kHz q=0.8
      connect sum -> round
      connect round -> sum gain=-3dB
      node out output
      connect round -> out
      """
    func states(_ bench: Bench) -> [NodeReport.State] {
      bench.engine.report().nodes.filter { ["sum", "round"].contains($0.name) }.map(\.state)
    }
    let heard = try [64, 17, 100, 1024].map { period -> [Float] in
      let bench = Bench(rate: 48_000, period: period)
      try bench.begin(source)
      play(bench, to: 4800)
      #expect(bench.perform("remove tone"))
      play(bench, to: 4800 + 3 * 48_000)
      #expect(states(bench) == [.silent, .silent], "period \(period)")
      #expect(bench.perform("node tone oscillator freq=500Hz ; connect tone -> sum"))
      play(bench, to: 4800 + 4 * 48_000)
      #expect(bench.heard[0].suffix(1000).contains { abs($0) > 0.1 }, "period \(period)")
      return bench.heard[0]
    }
    for other in heard.dropFirst() { #expect(firstDifference(heard[0], other) == nil) }
  }
}

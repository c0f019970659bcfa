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

  /// The sound that comes after silence begins as it does behind a node that never slept, whatever the settings: no kind has
  /// something in its memory that silence would not leave there. A signal of -180 dB keeps the other one awake.
  @Test(arguments: KindRegistry.builtIn.catalogue.kinds.map(\.name))
  func aSoundAfterSilenceBeginsWithoutAStep(
    name: String
  ) throws {
    let kind = try #require(KindRegistry.builtIn.catalogue[name])
    guard let input = kind.inputs.first(where: { !$0.isEvents }),
      let output = kind.outputs.first(where: { !$0.isEvents }),
      kind.boundary == nil
    else { return }
    var random = SeededGenerator(seed: UInt64(name.utf8.reduce(0) { ($0 * 31 + Int($1)) & 0xFFFF }))
    for variant in 0..<5 {
      let settings = variant == 0 ? [] : kind.parameters.compactMap { Self.setting($0, &random) }
      func run(isAwake: Bool) throws -> [Float] {
        let bench = Bench(channels: 1)
        try bench.begin(
          """
          node keys keyboard
          node v voices polyphony=1
          node tone oscillator shape=sine
          node env envelope attack=30ms release=5ms
          node amp multiply
          node it \(name)
          node out output channels=1
          connect keys -> v
          connect v -> tone
          connect v -> env
          connect tone -> amp
          connect env -> amp.with
          connect amp -> it.\(input.name)
          connect it.\(output.name) -> out
          """ + (isAwake ? "\nnode hum constant level=-0.000000001\nconnect hum -> it.\(input.name)" : ""))
        for setting in settings { bench.perform("set it.\(setting)") }
        for _ in 0..<2 {
          bench.render(24_000)
          bench.perform("note keys on 60 100")
          bench.render(4800)
          bench.perform("note keys off 60")
          bench.render(72_000)
        }
        return bench.heard[0]
      }
      let (slept, awake) = (try run(isAwake: false), try run(isAwake: true))
      for onset in [24_000, 124_800] {
        let (start, rest) = (onset - 1..<onset + 1000, onset + 1000..<onset + 4800)
        // Where an effect sweeps, it has swept on behind the other node.
        let usual = max(Self.largestStep(slept[rest]), Self.largestStep(awake[onset - 1..<onset + 4800]))
        let step = Self.largestStep(slept[start])
        #expect(step <= 1.5 * usual + 0.01, "\(name) \(settings), note at \(onset): \(step), not \(usual)")
      }
    }
  }

  private static func largestStep(_ sound: ArraySlice<Float>) -> Float {
    zip(sound, sound.dropFirst()).map { abs($0 - $1) }.max() ?? 0
  }

  /// A setting of a parameter by chance; nil for files, texts and channel counts.
  private static func setting(
    _ parameter: ParameterDescription, _ random: inout SeededGenerator
  ) -> String? {
    guard parameter.dimensions.isEmpty, Bool.random(using: &random) else { return nil }
    switch parameter.form {
    case .choice(let words): return "\(parameter.name) \(words.randomElement(using: &random)!)"
    case .toggle: return "\(parameter.name) \(Bool.random(using: &random) ? "on" : "off")"
    case .continuous:
      let low = max(parameter.range.lowerBound, -40)
      let high = max(low, min(parameter.range.upperBound, parameter.unit == .decibels ? 12 : 2000))
      return "\(parameter.name) \(Double.random(in: low...high, using: &random))"
        + (parameter.unit == .decibels ? "dB" : "")
    case .integer, .file, .text: return nil
    }
  }
}

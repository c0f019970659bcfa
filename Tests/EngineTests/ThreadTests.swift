import Engine
import Realtime
import TestSupport
import Testing

/// Several threads render one plan, bit for bit as one thread does.
@Suite struct ThreadTests {
  /// Four branches of filters, delays and mixers, connected at random, some in cycles, to two outputs.
  static func randomPatch(seed: UInt64) -> String {
    let kinds = RandomLines.effects + ["filter"]
    var random = SeededGenerator(seed: seed)
    var lines = [
      "node voice oscillator shape=saw freq=220Hz", "node hiss noise channels=2", "node out output",
      "node side output", "node slow oscillator freq=3Hz level=0dB", "connect voice -> out gain=-20dB",
    ]
    var all: [String] = []
    for branch in ["a", "b", "c", "d"] {
      var names = ["voice", "hiss"]
      for index in 0..<25 {
        let kind = kinds.randomElement(using: &random)!
        let name = "\(branch)\(index)"
        lines.append("node \(name) \(kind)")
        let first = names.randomElement(using: &random)!
        let second = names.randomElement(using: &random)!
        lines.append("connect \(first) -> \(name) gain=-6dB")
        if second != first { lines.append("connect \(second) -> \(name) gain=-9dB") }
        if kind == "filter" { lines.append("connect slow -> \(name).freq gain=24dB") }
        if index % 9 == 8 { lines.append("connect \(name) -> \(branch)\(index - 5) gain=-30dB") }
        names.append(name)
      }
      all += names.dropFirst(2)
    }
    // Cables between branches, both ways.
    lines += ["connect a20 -> b3 gain=-30dB", "connect b20 -> a3 gain=-30dB"]
    for end in ["out", "side"] {
      for name in all.shuffled(using: &random).prefix(12) {
        lines.append("connect \(name) -> \(end) gain=-24dB")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Renders on one, two and four threads; a text if they differ.
  private static func render(_ text: String, _ steps: [Step], frames: Int) throws -> String? {
    var heard: [[[Float]]] = []
    for threads in [1, 2, 4] {
      let bench = Bench(period: 96, threads: threads)
      try bench.begin(text)
      bench.render(64)
      let segments = bench.engine.report().segments
      guard threads == 1 ? segments == 1 : segments > 1 else {
        return "\(segments) segments for \(threads) threads"
      }
      bench.play(steps)
      bench.render(frames)
      heard.append(bench.heard)
    }
    guard heard[0][0].contains(where: { abs($0) > 0.001 }), heard[0][2].contains(where: { abs($0) > 0.001 })
    else { return "silence" }
    for (other, threads) in [(1, 2), (2, 4)] {
      for channel in 0..<4 {
        if let difference = firstDifference(heard[0][channel], heard[other][channel]) {
          return "\(threads) threads: channel \(channel) differs at \(difference)"
        }
      }
    }
    return nil
  }

  @Test(arguments: searchSeeds(4, 5, 6))
  func randomEditsSoundTheSameOnOneTwoAndFourThreads(seed: UInt64) throws {
    let text = Self.randomPatch(seed: seed)
    let lines = RandomLines(
      seed: seed, of: try Draft(text).patch, keeping: ["voice", "out", "side"])
    expectLaw("threads", seed: seed, RandomLines.steps(150, mostFrames: 300, from: lines)) { steps in
      (try? Self.render(text, steps, frames: 960)) ?? nil
    }
  }

  @Test func twoEqualBranchesGoToTwoThreadsAndAChainStaysOnOne() throws {
    func chain(_ name: String, _ length: Int) -> String {
      (1...length).reduce("node \(name)0 noise channels=2\n") {
        $0 + "node \(name)\($1) filter\nconnect \(name)\($1 - 1) -> \(name)\($1)\n"
      } + "connect \(name)\(length) -> out\n"
    }
    func segments(_ text: String) throws -> Int {
      let bench = Bench(threads: 2)
      try bench.begin("node out output\n" + text)
      bench.render(64)
      return bench.engine.report().segments
    }
    #expect(try segments(chain("a", 60) + chain("b", 60)) == 3, "the branches and their sum")
    #expect(try segments(chain("a", 120)) == 1)
    #expect(try segments(chain("a", 1) + chain("b", 1)) == 1, "not worth it")
  }

  /// Notes on nodes of several threads appear in the trace in one order.
  @Test func theTraceDoesNotDependOnThreads() throws {
    var traces: [[String]] = []
    for threads in [1, 2] {
      let bench = Bench(threads: threads)
      var text = "node keys keyboard\nnode out output\n"
      for index in 0..<6 {
        text += "node piano\(index) sampler\nnode eq\(index) equalizer\nconnect keys -> piano\(index)\n"
        text += "connect piano\(index) -> eq\(index)\nconnect eq\(index) -> out\n"
      }
      try bench.begin(text)
      bench.render(64)
      let segments = bench.engine.report().segments
      #expect(threads == 1 || segments > 1)
      for key in 60..<70 {
        bench.engine.perform(Event(.noteOn, key: UInt8(key), value: 100), on: try bench.id("keys"))
        bench.render(100)
      }
      let notes = bench.engine.trace(since: 0).filter { $0.time > 0 }
      traces.append(notes.map { "\($0.time) \($0.name) \($0.happening)" })
    }
    #expect(traces[0] == traces[1])
    #expect(traces[0].count == 60)
  }
}

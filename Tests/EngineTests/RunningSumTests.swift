import Patch
import Realtime
import TestSupport
import Testing

@testable import Engine

/// A mixer with many cables is added up while its sources run, and sounds to the bit as when it is added up afterwards. While
/// levels are measured that is done.
@Suite struct RunningSumTests {
  /// Some tens of gains and others of their sort, of one and two channels, on cables with and without a gain or a map, into two
  /// outputs and a mix, and among them nodes of other sorts and some that are silent.
  private static func patch(seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    var lines = [
      "node voice oscillator shape=saw freq=220Hz level=-30dB", "node hiss noise channels=2 level=-40dB",
      "node slow oscillator freq=3Hz level=0dB", "node quiet input channels=2", "node out output",
      "node side output", "node bus mix", "connect bus -> side gain=-6dB",
    ]
    var kinds = [
      "gain", "gain", "pan", "add", "multiply", "constant", "crossfade", "filter", "oscillator",
    ]
    // Without nodes of other sorts nearly all are added in their turn.
    if Bool.random(using: &random) { kinds.removeLast(2) }
    let count = Int.random(in: 36...70, using: &random)
    for index in 0..<count {
      let name = "n\(index)"
      let number = Double(Int.random(in: -9...9, using: &random)) / 10
      let kind = kinds.randomElement(using: &random)!
      let settings =
        switch kind {
        case "gain": "gain=\(Int.random(in: -30...6, using: &random))dB"
        case "pan": "pan=\(number)"
        case "add": "value=\(number / 50)"
        case "multiply": "factor=\(number)"
        case "constant": "level=\(number / 30) channels=\(Int.random(in: 1...2, using: &random))"
        case "oscillator": "freq=\(100 + 17 * index)Hz level=-40dB"
        default: ""
        }
      lines.append("node \(name) \(kind) \(settings)")
      if kind != "constant", kind != "oscillator" {
        let isSilent = Int.random(in: 0...40, using: &random) == 0
        let before = index > 0 && Int.random(in: 0...5, using: &random) == 0 ? "n\(index - 1)" : nil
        let source = isSilent ? "quiet" : before ?? ["voice", "hiss"].randomElement(using: &random)!
        lines.append("connect \(source) -> \(name)")
      }
      if kind == "gain" || kind == "constant", Int.random(in: 0...4, using: &random) == 0 {
        lines.append("connect slow -> \(name).\(kind == "gain" ? "gain" : "level") gain=-40dB")
      }
      let end = ["out", "out", "out", "bus", "bus", "side"].randomElement(using: &random)!
      let cable = ["", "", "", " gain=-3dB", " gain=-20dB", " map=[0]"].randomElement(using: &random)!
      lines.append("connect \(name) -> \(end)\(cable)")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// The greatest number of cables that were added in their turn in the last block, of all sums of the running plan.
  private static func inTurn(_ bench: Bench) -> Int {
    var most = 0
    for row in bench.engine.graph.order.rows {
      guard let sum = row.pointee.ownSum?.record.pointee, sum.moves > 0 else { continue }
      most = max(most, sum.next - sum.first)
    }
    return most
  }

  private static func difference(
    _ text: String, _ steps: [TestSupport.Step], period: Int, threads: Int, length: Int
  ) -> String? {
    let benches = [false, true].map { isMetering in
      let bench = Bench(period: period, threads: threads)
      bench.engine.isMetering = isMetering
      bench.engine.graph.order.length = length
      return bench
    }
    for bench in benches {
      guard (try? bench.begin(text)) != nil else { return "it does not start" }
      bench.feed(0)
      bench.play(steps)
      bench.render(4800)
    }
    for channel in 0..<4 {
      if let difference = firstDifference(benches[0].heard[channel], benches[1].heard[channel]) {
        return "channel \(channel): \(difference)"
      }
    }
    return benches[0].heard[0].contains { abs($0) > 0.001 } ? nil : "silence"
  }

  @Test(arguments: lawSeeds, [(64, 1, 256), (96, 1, 8), (17, 1, 3), (64, 2, 256), (1000, 1, 16)])
  func aMixerSoundsAsItDoesAddedUpAfterwards(seed: UInt64, form: (period: Int, threads: Int, length: Int))
    throws
  {
    print("seed \(seed)")
    let text = Self.patch(seed: seed)
    let lines = RandomLines(
      seed: seed, of: try Draft(text).patch,
      kinds: ["gain", "pan", "mix", "delay", "add", "multiply", "crossfade", "constant", "oscillator"],
      keeping: ["voice", "hiss", "slow", "out", "side", "bus"])
    expectLaw("running sums", seed: seed, RandomLines.steps(lawLength(120), mostFrames: 300, from: lines)) {
      steps in
      Self.difference(text, steps, period: form.period, threads: form.threads, length: form.length)
    }
  }

  /// Sources named by numbers, which are added in the order of their names: 1, 10, 11, 2.
  private static let strips: String = {
    var lines = ["node tone oscillator freq=220Hz level=-40dB", "node out output"]
    for index in 1...40 {
      lines += ["node strip\(index) gain gain=\(index % 7 - 3)dB", "connect tone -> strip\(index)"]
      lines.append("connect strip\(index) -> out")
    }
    return lines.joined(separator: "\n") + "\n"
  }()

  /// Constants come to their sum, those that a cable moves too.
  @Test func constantsAreAddedInTheirTurn() throws {
    var lines = ["node slow oscillator freq=3Hz level=0dB", "node out output"]
    for index in 1...8 {
      lines += ["node still\(index) constant level=\(Double(index) / 100)", "connect still\(index) -> out"]
      lines += ["node moved\(index) constant level=0.01", "connect slow -> moved\(index).level gain=-40dB"]
      lines.append("connect moved\(index) -> out")
    }
    let bench = Bench()
    try bench.begin(lines.joined(separator: "\n") + "\n")
    bench.render(48_000)
    #expect(Self.inTurn(bench) == 16)
    let heard = bench.heard[0].suffix(16_000)
    #expect(abs((heard.max() ?? 0) - 0.52) < 1e-3 && abs((heard.min() ?? 0) - 0.36) < 1e-3)
  }

  /// All of a mixer's strips are added in their turn, whatever they are called, also when one was tapped and is not any more, or
  /// another came.
  @Test(arguments: [8, 256]) func allStripsAreAddedInTheirTurn(length: Int) throws {
    let bench = Bench()
    bench.engine.graph.order.length = length
    try bench.begin(Self.strips)
    bench.render(640)
    #expect(Self.inTurn(bench) == 40)
    bench.play([
      .init(frames: 64, line: "node meter meter"), .init(frames: 64, line: "connect strip7 -> meter"),
    ])
    bench.render(4800)
    #expect(Self.inTurn(bench) < 40)
    bench.play([.init(frames: 64, line: "disconnect strip7 -> meter")])
    bench.render(9600)
    #expect(Self.inTurn(bench) == 40)
    bench.play([.init(frames: 64, line: "remove strip12")])
    bench.render(9600)
    #expect(Self.inTurn(bench) == 39)
  }

  /// A strip whose output another node begins to read has written it by then, and goes on to.
  @Test(arguments: [4, 256], ["strip1", "strip25", "strip9"])
  func whatIsReadElsewhereIsWritten(length: Int, strip: String) throws {
    let heard = try [false, true].map { isMetering in
      let bench = Bench()
      bench.engine.isMetering = isMetering
      bench.engine.graph.order.length = length
      try bench.begin(Self.strips + "node side output\nconnect tone -> side gain=-60dB\n")
      bench.render(640)
      bench.play([
        .init(frames: 10, line: "connect \(strip) -> side"),
        .init(frames: 3000, line: "disconnect \(strip) -> out"),
        .init(frames: 3000, line: "connect \(strip) -> out gain=-6dB"),
        .init(frames: 3000, line: "disconnect \(strip) -> side"),
        .init(frames: 3000, line: "remove \(strip)"),
      ])
      bench.render(3000)
      return bench.heard
    }
    for channel in 0..<4 { #expect(firstDifference(heard[0][channel], heard[1][channel]) == nil) }
    #expect(heard[0][2].dropFirst(2000).prefix(8000).contains { abs($0) > 0.001 })
  }

  /// A strip that is louder than the shield allows is muted, and the others are heard.
  @Test func aStripThatIsFarTooLoudIsMutedAndTheOthersAreHeard() throws {
    let text =
      Self.strips + """
        node loud gain gain=24dB
        node louder gain gain=24dB
        node loudest gain gain=24dB
        node strip26a gain gain=24dB
        node strip26b gain gain=-12dB
        connect tone -> loud
        connect loud -> louder
        connect louder -> loudest
        node top gain gain=0dB
        connect loudest -> top
        connect top -> strip26a
        connect loudest -> strip26b
        connect strip26a -> out gain=-96dB
        connect strip26b -> out gain=-96dB
        """
    let heard = try [false, true].map { isMetering in
      let bench = Bench()
      bench.engine.isMetering = isMetering
      try bench.begin(text)
      bench.render(640)
      bench.play([
        .init(frames: 64, line: "set tone.level=0dB over 100ms"),
        .init(frames: 4800, line: "set top.gain=12dB"),
      ])
      bench.render(9600)
      let muted = bench.engine.report().nodes.filter { if case .muted = $0.state { true } else { false } }
      #expect(!muted.isEmpty)
      return bench.heard[0]
    }
    #expect(firstDifference(heard[0], heard[1]) == nil)
    #expect(heard[0].suffix(64).contains { abs($0) > 0.01 })
  }
}

import Patch
import Realtime
import TestSupport
import Testing

@testable import Engine

/// Nodes in a row that multiply and add are run at once, and sound to the bit as they do one by one. While levels are
/// measured they run one by one.
@Suite struct ChainTests {
  /// Chains of one, two and three channels that begin and end at other nodes, with a modulated gain among them.
  private static func patch(seed: UInt64) -> String {
    var random = SeededGenerator(seed: seed)
    var lines = [
      "node voice oscillator shape=saw freq=220Hz level=-12dB", "node hiss noise channels=2 level=-20dB",
      "node three oscillator freq=[100Hz,201Hz,303Hz] level=-9dB channels=3",
      "node slow oscillator freq=3Hz level=0dB", "node out output", "node side output",
    ]
    for (source, kinds) in [("voice", ["gain"]), ("hiss", ["gain", "pan"]), ("three", ["gain"])] {
      var last = source
      for index in 0..<12 {
        let name = "\(source)\(index)"
        let kind = (kinds + ["add", "multiply", "crossfade", "ringmod"]).randomElement(using: &random)!
        let number = Double(Int.random(in: -9...9, using: &random)) / 10
        let setting =
          switch kind {
          case "pan": "pan=\(number)"
          case "add": "value=\(number)"
          case "multiply": "factor=\(number)"
          case "crossfade":
            "mix=\(Int.random(in: 0...100, using: &random))% law=\(index < 6 ? "linear" : "power")"
          case "ringmod": "mix=\(index < 6 ? 100 : Int.random(in: 0...100, using: &random))%"
          default: "gain=\(Int.random(in: -3...3, using: &random))dB"
          }
        lines += ["node \(name) \(kind) \(setting)", "connect \(last) -> \(name)"]
        // Modulations: of what multiplies or adds, or in octaves.
        if index == 7 {
          switch kind {
          case "multiply": lines.append("connect slow -> \(name).factor gain=-20dB")
          case "add": lines.append("connect slow -> \(name).value gain=-20dB")
          case "crossfade", "ringmod": break
          default:
            let depth = kind == "gain" && Bool.random(using: &random) ? "by 6dB" : "gain=-20dB"
            lines.append("connect slow -> \(name).\(kind) \(depth)")
          }
        }
        // What the other input of two is a factor of, or is added to.
        if let port = ["crossfade": "b", "ringmod": "carrier"][kind] {
          lines.append("connect \(Bool.random(using: &random) ? "slow" : source) -> \(name).\(port)")
        }
        // What is multiplied with another signal, and a sum.
        if index == 9, kind == "multiply" {
          lines.append("connect \(Bool.random(using: &random) ? "slow" : source) -> \(name).with")
        }
        if index == 10 { lines.append("connect \(source)2 -> \(name) gain=-6dB") }
        last = name
      }
      lines += ["connect \(last) -> out gain=-12dB", "connect \(source)4 -> side gain=-18dB"]
    }
    // One channel for both sides, and a sum whose output is read in its place.
    lines += [
      "node left pan pan=-0.3", "connect voice2 -> left", "connect left -> side gain=-18dB", "node sum mix",
    ]
    for source in ["hiss0", "hiss4", "hiss6", "hiss9", "left"] { lines.append("connect \(source) -> sum") }
    lines.append("connect sum -> side gain=-24dB")
    // A value that stays, one that moves, and products of two signals of one or two channels, one of them with a gain.
    lines += [
      "node still constant level=[0.1,-0.2] channels=2", "node moving constant level=0.1",
      "connect slow -> moving.level gain=-20dB", "node two multiply", "connect hiss -> two",
      "connect still -> two.with", "node one multiply", "connect hiss -> one",
      "connect moving -> one.with gain=-3dB", "connect two -> out gain=-6dB", "connect one -> out gain=-6dB",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// Chains of the running plan, and those whose nodes ran at once in the last block.
  private static func chains(_ bench: Bench) -> (all: Int, running: Int) {
    var (all, running) = (0, 0)
    for piece in bench.engine.running?.pieces ?? [] {
      for index in 0..<piece.run.count where piece.run.steps[index].operation == .chain {
        all += 1
        if piece.run.steps[index].chain.pointee.settledAt > 0 { running += 1 }
      }
    }
    return (all, running)
  }

  private static func difference(_ text: String, _ steps: [TestSupport.Step], period: Int, threads: Int)
    -> String?
  {
    let benches = [false, true].map { isMetering in
      let bench = Bench(period: period, threads: threads)
      bench.engine.isMetering = isMetering
      return bench
    }
    for bench in benches {
      guard (try? bench.begin(text)) != nil else { return "it does not start" }
      bench.render(960)
    }
    let chains = benches.map(Self.chains)
    if chains[0].all < 3 || chains[1].running > 0 { return "chains: \(chains)" }
    if period == 64, chains[0].running < chains[0].all { return "chains: \(chains)" }
    for bench in benches {
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

  @Test(arguments: lawSeeds, [(64, 1), (96, 1), (64, 2), (1000, 2)])
  func aChainSoundsAsItsNodesDoOneByOne(seed: UInt64, form: (period: Int, threads: Int)) throws {
    print("seed \(seed)")
    let text = Self.patch(seed: seed)
    let lines = RandomLines(
      seed: seed, of: try Draft(text).patch,
      kinds: ["gain", "pan", "mix", "delay", "add", "multiply", "crossfade", "ringmod", "constant"],
      keeping: [
        "voice", "hiss", "three", "slow", "out", "side", "left", "sum", "still", "moving", "two", "one",
      ])
    expectLaw("chains", seed: seed, RandomLines.steps(lawLength(120), mostFrames: 300, from: lines)) {
      steps in
      Self.difference(text, steps, period: form.period, threads: form.threads)
    }
  }

  /// Of many such nodes in a mixer each costs as little as a gain does.
  @Test(arguments: ["crossfade mix=30%", "crossfade mix=30% law=power", "ringmod", "ringmod mix=60%"])
  func aNodeWithASecondInputIsRunAtOnce(kind: String) throws {
    let port = kind.hasPrefix("ringmod") ? "carrier" : "b"
    let bench = Bench(period: 64)
    try bench.begin(
      """
      node voice oscillator freq=440Hz level=-6dB
      node other oscillator freq=300Hz level=-6dB
      node one \(kind)
      node out output
      connect voice -> one
      connect other -> one.\(port)
      connect one -> out gain=-3dB
      """)
    bench.render(640)
    #expect(Self.chains(bench) == (1, 1))
  }

  /// The sine of a ring modulator goes on behind a carrier: it is heard again at the same place whether its kernel ran or not.
  @Test func aSineGoesOnBehindACarrier() throws {
    let heard = try [false, true].map { isMetering in
      let bench = Bench(period: 64)
      bench.engine.isMetering = isMetering
      try bench.begin(
        """
        node voice oscillator freq=440Hz level=-6dB
        node other oscillator freq=300Hz level=-6dB
        node ring ringmod freq=77Hz
        node out output channels=1
        connect voice -> ring
        connect ring -> out
        """)
      bench.render(1000)
      bench.play([
        .init(frames: 5000, line: "connect other -> ring.carrier"),
        .init(frames: 3000, line: "set ring.freq=91Hz"),
        .init(frames: 4000, line: "disconnect other -> ring.carrier"),
      ])
      bench.render(2000)
      return bench.heard[0]
    }
    #expect(heard[0].suffix(1000).contains { abs($0) > 0.1 })
    #expect(firstDifference(heard[0], heard[1]) == nil)
  }

  @Test func aMovedGainAndAMutedNodeAreHeardAtTheirFrames() throws {
    let text = """
      node voice oscillator freq=440Hz level=0dB
      node a gain
      node b gain
      node c gain gain=24dB
      node d gain gain=24dB
      node e gain gain=24dB
      node f gain gain=-24dB
      node out output channels=1
      connect voice -> a
      connect a -> b
      connect b -> c
      connect c -> d
      connect d -> e
      connect e -> f
      connect f -> out
      """
    // More than 100 dB louder, and quieter again in the end: the shield has to see what is between.
    let steps = [
      TestSupport.Step(frames: 1000, line: "set a.gain=6dB over 20ms"),
      .init(frames: 3000, line: "set b.gain=-12dB"), .init(frames: 2000, line: "set a.gain=24dB"),
      .init(frames: 2000, line: "set b.gain=24dB"),
    ]
    let heard = try [false, true].map { isMetering in
      let bench = Bench(period: 64)
      bench.engine.isMetering = isMetering
      try bench.begin(text)
      bench.play(steps)
      bench.render(9600)
      let muted = bench.engine.report().nodes.filter { if case .muted = $0.state { true } else { false } }
      #expect(muted.map(\.name) == ["e"])
      return bench.heard[0]
    }
    #expect(firstDifference(heard[0], heard[1]) == nil)
    #expect(heard[0].suffix(64).allSatisfy { $0 == 0 })
  }
}

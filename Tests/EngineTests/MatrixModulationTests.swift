import Foundation
import Patch
import TestSupport
import Testing

@testable import Engine

/// Gains of a matrix that cables move: `connect lfo -> main[0,1] by 6dB`.
@Suite struct MatrixModulationTests {
  private static let gains = ["[0,0]", ".in[0]", ".out[0]", ".master"]

  /// Whatever moves a gain node moves each gain of a matrix so, to the bit.
  @Test(arguments: manyLawSeeds)
  func aGainOfAMatrixMovesAsAGainNodeDoes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let gain = ["0dB", "-6dB", "3dB", "-inf"].randomElement(using: &random)!
    let cables = (0..<Int.random(in: 1...3, using: &random)).map { index in
      let depth = (Double.random(in: -12...12, using: &random) * 8).rounded() / 8
      let by = ["", " by \(depth)dB", " by \(depth)dB offset=2dB curve=log"].randomElement(using: &random)!
      return "connect l\(index) -> TARGET\(by) gain=\([0, -6, -12].randomElement(using: &random)!)dB"
    }
    let period = [64, 1, 17, 100].randomElement(using: &random)!
    let isStill = Int.random(in: 0..<3, using: &random) == 0
    func heard(_ node: String, _ target: String, _ setting: String) throws -> [Float] {
      let bench = Bench(period: period, channels: 1)
      try bench.begin(
        ([
          "node tone oscillator", isStill ? "node l0 constant level=0.3" : "node l0 lfo rate=90Hz",
          "node l1 lfo rate=3Hz", "node l2 constant level=-0.2", node, setting, "node out output channels=1",
          "connect tone -> x", "connect x -> out",
        ] + cables.map { $0.replacing("TARGET", with: target) }).joined(separator: "\n"))
      bench.render(2000)
      bench.perform("disconnect l0 -> \(target)")
      bench.render(2000)
      bench.perform("undo")
      bench.render(2000)
      return bench.heard[0]
    }
    let wanted = try heard("node x gain", "x.gain", "set x.gain \(gain)")
    for name in Self.gains {
      let matrix = try heard("node x matrix inputs=1 outputs=1", "x\(name)", "set x\(name) \(gain)")
      let difference = firstDifference(matrix, wanted)
      #expect(difference == nil, "\(name), \(gain), \(cables): \(difference ?? "")")
    }
  }

  /// A matrix of any size with cables into any of its gains.
  private struct Scene {
    let (inputs, outputs): (Int, Int)
    let levels: [Float]
    let rates: [Double]
    var gains: [String: Double] = [:]
    var switches: [(name: String, suffix: String)] = []
    var cables: [(lfo: Int, suffix: String, depth: Double?, gain: Double)] = []

    init(_ random: inout SeededGenerator) {
      (inputs, outputs) = (Int.random(in: 1...9, using: &random), Int.random(in: 1...9, using: &random))
      levels = (0..<inputs).map { _ in Float.random(in: -0.5...0.5, using: &random) }
      rates = (0..<4).map { _ in Double.random(in: 1...400, using: &random) }
      for _ in 0..<Int.random(in: 0...30, using: &random) {
        gains[element(&random)] = [-100, -40, -6, 0, 3].randomElement(using: &random)!
      }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let suffix = element(&random)
        if suffix == ".master" { continue }
        switches.append((["mute", "invert"].randomElement(using: &random)!, suffix))
      }
      var taken: Set<String> = []
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let (lfo, suffix) = (Int.random(in: 0..<4, using: &random), element(&random))
        guard taken.insert("\(lfo)\(suffix)").inserted else { continue }
        let depth =
          Bool.random(using: &random) ? (Double.random(in: -9...9, using: &random) * 8).rounded() / 8 : nil
        cables.append((lfo, suffix, depth, [0, -6, -20].randomElement(using: &random)!))
      }
    }

    func element(_ random: inout SeededGenerator) -> String {
      let (i, j) = (Int.random(in: 0..<inputs, using: &random), Int.random(in: 0..<outputs, using: &random))
      switch Int.random(in: 0..<8, using: &random) {
      case 0: return ".in[\(i)]"
      case 1: return ".out[\(j)]"
      case 2: return ".master"
      default: return "[\(i),\(j)]"
      }
    }

    var text: String {
      var lines = [
        "node mic input channels=\(inputs)", "node main matrix inputs=\(inputs) outputs=\(outputs)",
      ]
      for (suffix, gain) in gains.sorted(by: { $0.key < $1.key }) {
        lines.append("set main\(suffix) \(gain == -100 ? "-inf" : "\(gain)dB")")
      }
      for (name, suffix) in switches { lines.append("set main.\(name)\(suffix) on") }
      lines += ["node out output channels=\(outputs)", "node ear output channels=4"]
      for (index, rate) in rates.enumerated() {
        let map = (0..<4).map { $0 == index ? 0 : -1 }
        lines += [
          "node l\(index) lfo rate=\(rate)Hz", "connect l\(index) -> ear map=\(ChannelMap(map).line)",
        ]
      }
      lines += ["connect mic -> main", "connect main -> out"]
      for cable in cables {
        let by = cable.depth.map { " by \($0)dB" } ?? ""
        lines.append("connect l\(cable.lfo) -> main\(cable.suffix)\(by) gain=\(cable.gain)dB")
      }
      return lines.joined(separator: "\n")
    }

    func heard(period: Int, threads: Int = 1) throws -> [[Float]] {
      let bench = Bench(period: period, channels: outputs + 4, threads: threads)
      for (channel, level) in levels.enumerated() { bench.feed(level, channel: channel) }
      try bench.begin(text)
      bench.render(4000)
      return bench.heard
    }

    /// The gain at this place, from what the LFOs give.
    private func gain(_ suffix: String, _ usual: Double, _ lfos: [Double]) -> Double {
      func factor(_ decibels: Double) -> Double { decibels == -100 ? 0 : pow(10, decibels / 20) }
      var (sum, decibels) = (factor(gains[suffix] ?? usual), 0.0)
      for cable in cables where cable.suffix == suffix {
        let signal = lfos[cable.lfo] * factor(cable.gain)
        if let depth = cable.depth { decibels += depth * signal } else { sum += signal }
      }
      let on = Set(switches.filter { $0.suffix == suffix }.map(\.name))
      return (on.contains("mute") ? 0 : on.contains("invert") ? -1 : 1) * sum * factor(decibels)
    }

    func output(_ j: Int, _ lfos: [Double]) -> Double {
      let sum = (0..<inputs).reduce(0.0) { sum, i in
        sum + Double(levels[i]) * gain(".in[\(i)]", 0, lfos) * gain("[\(i),\(j)]", i == j ? 0 : -100, lfos)
      }
      return sum * gain(".out[\(j)]", 0, lfos) * gain(".master", 0, lfos)
    }
  }

  /// Any sizes, gains, switches and cables, against a sum in double precision; the same bits in any period and on threads.
  @Test(arguments: manyLawSeeds)
  func modulatedMatricesAreTheirSumsInAnyPeriod(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scene = Scene(&random)
    let heard = try scene.heard(period: 64)
    var worst = 0.0
    for frame in heard[0].indices {
      let lfos = (0..<4).map { Double(heard[scene.outputs + $0][frame]) }
      for j in 0..<scene.outputs {
        let wanted = scene.output(j, lfos)
        worst = max(worst, abs(Double(heard[j][frame]) - wanted) / max(1, abs(wanted)))
      }
    }
    #expect(worst < 3e-6, "\(scene.text)")
    let period = [1, 17, 63, 100, 333].randomElement(using: &random)!
    let again = try scene.heard(period: period, threads: Int.random(in: 1...3, using: &random))
    for channel in heard.indices {
      let difference = firstDifference(again[channel], heard[channel])
      #expect(difference == nil, "period \(period), channel \(channel): \(difference ?? "")\n\(scene.text)")
    }
  }

  /// A cable that brings nothing changes no bit, whatever gains move meanwhile: a gain is the same with it, without it and
  /// while it fades.
  @Test(arguments: manyLawSeeds)
  func aCableThatBringsNothingChangesNoBit(seed: UInt64) throws {
    func heard(_ isModulated: Bool, period: Int) throws -> [[Float]] {
      var random = SeededGenerator(seed: seed)
      let size = Int.random(in: 2...9, using: &random)
      let bench = Bench(period: period, channels: size)
      try bench.begin(
        """
        node tone oscillator channels=\(size) level=[-12dB,-20dB] freq=[110Hz,300Hz,7kHz]
        node l lfo rate=50Hz
        node main matrix inputs=\(size) outputs=\(size)
        node out output channels=\(size)
        connect tone -> main mix=discrete
        connect main -> out
        """)
      func place() -> String {
        let (i, j) = (Int.random(in: 0..<size, using: &random), Int.random(in: 0..<size, using: &random))
        return ["[\(i),\(j)]", "[\(i),\(j)]", ".in[\(i)]", ".out[\(j)]", ".master"].randomElement(
          using: &random)!
      }
      for _ in 0..<25 {
        let line: String
        switch Int.random(in: 0..<5, using: &random) {
        case 0: line = "connect l -> main\(place()) by 0dB"
        case 1: line = "disconnect l -> main\(place())"
        case 2:
          line = "set main[..,..] \(Int.random(in: -30...0, using: &random))dB over 30ms"
        case 3: line = "set main.mute[0,1] \(Bool.random(using: &random) ? "on" : "off")"
        default:
          line =
            "set main\(place()) \(["-inf", "-6dB", "0dB", "2dB"].randomElement(using: &random)!) over 20ms"
        }
        let frames = Int.random(in: 1...1500, using: &random)
        if isModulated || line.hasPrefix("set") { bench.attempt(line) }
        bench.render(frames)
      }
      return bench.heard
    }
    let plain = try heard(false, period: 64)
    for period in [64, 37] {
      for (channel, (a, b)) in zip(plain, try heard(true, period: period)).enumerated() {
        let difference = firstDifference(b, a)
        #expect(difference == nil, "period \(period), channel \(channel): \(difference ?? "")")
      }
    }
  }

  /// A constant that two or three cables bring, lines of edits, and what is heard of 0.5 after each.
  struct Course: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let cables: String
    let lines: [(String, [Float])]
  }

  /// What is added to a muted gain is not heard, nor what is added to one that another's solo silences; polarity turns both.
  /// Fewer channels take the cables of the others along, and undo brings them back: the sound is as before.
  private static let courses = [
    Course(
      testDescription: "switches", cables: "connect more -> main[0,0]\nconnect more -> main[0,1]",
      lines: [
        ("", [0.625, 0.125]), ("set main.mute[0,1] on", [0.625, 0]), ("set main[0,1] 0dB", [0.625, 0]),
        ("set main.mute[0,1] off", [0.625, 0.625]), ("set main.invert[0,1] on", [0.625, -0.625]),
        ("set main.solo[0,0] on", [0.625, 0]), ("undo", [0.625, -0.625]),
        ("set main.mute.out[0] on", [0, -0.625]), ("set main.outputs 1", [0, 0]),
      ]),
    Course(
      testDescription: "sizes",
      cables:
        "connect more -> main[0,1] gain=12.041199826559248dB\nconnect more -> main.out[1] by -24.0824dB",
      lines: [
        ("", [0.5, 0.25]), ("set main.outputs 1", [0.5, 0.5]), ("undo", [0.5, 0.25]),
        ("replace main gain", [0.5, 0.5]), ("undo", [0.5, 0.25]),
      ]),
  ]

  @Test(arguments: courses) func whatIsAddedFollowsEditsOfTheMatrix(course: Course) throws {
    let bench = Bench(channels: 2)
    bench.feed(0.5)
    bench.feed(0.25, channel: 1)
    try bench.begin(
      """
      node mic input channels=1
      node more input channels=1
      node main matrix inputs=1 outputs=2
      node out output
      connect mic -> main
      connect main -> out
      \(course.cables)
      """)
    for (line, wanted) in course.lines {
      if !line.isEmpty { #expect(bench.perform(line), "\(line)") }
      bench.render(2000)
      let heard = bench.heard.map { $0.last! }
      #expect(zip(heard, wanted).allSatisfy { abs($0 - $1) < 1e-5 }, "\(line): \(heard), not \(wanted)")
    }
  }

  /// A switch that takes two seconds moves what cables add in the same time as the gain itself, in a line; and back.
  @Test(arguments: ["mute[0,1]", "mute[..,..]", "solo[0,0]", "mute.out[1]"], [64, 100])
  func switchesTakeTheirTimeForWhatIsAdded(name: String, period: Int) throws {
    let bench = Bench(period: period, channels: 2)
    bench.feed(0.5)
    bench.feed(0.25, channel: 1)
    try bench.begin(
      """
      node mic input channels=1
      node more input channels=1
      node main matrix inputs=1 outputs=2 [0,1]=0dB
      node out output
      connect mic -> main
      connect more -> main[0,1]
      connect main -> out
      """)
    bench.render(4800)
    let start = bench.heard[1].count
    bench.perform("set main.\(name) on over 200ms")
    bench.render(9600)
    // Nothing of another fade is left in it.
    bench.perform("set main.\(name) off over 100ms")
    bench.render(9600)
    for (frame, share) in [
      (-1, 1), (2400, 0.896), (4800, 0.5), (9500, 0.01), (9600 + 2400, 0.5), (9600 + 4800, 1),
    ]
      as [(Int, Float)]
    {
      let heard = bench.heard[1][start + frame]
      #expect(abs(heard - 0.625 * share) < 0.01, "\(name), frame \(frame): \(heard)")
    }
  }
}

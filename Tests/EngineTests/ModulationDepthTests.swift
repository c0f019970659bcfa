import Foundation
import Patch
import TestSupport
import Testing

@testable import Engine

/// Depth of a modulation in the parameter's own units: `connect lfo -> filter.freq by 2oct`.
@Suite struct ModulationDepthTests {
  /// Level of a constant 1 through a gain, with these cables from constants into the gain's port.
  private static func level(_ lines: [String], gain: String, levels: [Float], period: Int = 64) throws
    -> [Float]
  {
    let bench = Bench(period: period, channels: 1)
    bench.feed(1)
    for (index, level) in levels.enumerated() { bench.feed(level, channel: index + 1) }
    let sources = levels.indices.map { "node c\($0) input channels=1" }
    try bench.begin(
      """
      node one input channels=1
      \(sources.joined(separator: "\n"))
      node g gain gain=\(gain)
      node out output channels=1
      connect one -> g
      connect g -> out
      \(lines.joined(separator: "\n"))
      """)
    bench.render(4800)
    return bench.heard[0]
  }

  /// A cable into a gain of three channels at random: the line, and the channel of its source that each channel gets, if any.
  private static func wideCable(_ source: String, width: Int, _ random: inout SeededGenerator) -> (
    line: String, channels: [Int?], isAdded: Bool, depth: Double
  ) {
    let isAdded = Bool.random(using: &random)
    let depth = isAdded ? 0.1 : Double(Int.random(in: -4...4, using: &random))
    var line = "connect \(source) -> g.gain" + (isAdded ? " gain=-20dB" : " by \(depth)dB")
    guard Bool.random(using: &random) else {
      return (line, (0..<3).map { width == 1 ? 0 : $0 }, isAdded, depth)
    }
    let map = (0..<3).map { _ in Int.random(in: -1...width, using: &random) }
    line += " map=[\(map.map(String.init).joined(separator: ","))]"
    return (line, map.map { (0..<width).contains($0) ? $0 : nil }, isAdded, depth)
  }

  /// Signals that move, of one and of three channels, with maps and without, in whatever order they are connected.
  @Test(arguments: manyLawSeeds)
  func modulationsOfOneChannelAndOfSeveralAddUpAndMultiplyInEachChannel(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let widths = [1, 1, 3]
    let period = [64, 64, 1, 17, 100].randomElement(using: &random)!
    let bench = Bench(period: period, channels: 8)
    try bench.begin(
      """
      node one constant level=1 channels=3
      node g gain gain=-6dB
      node m0 oscillator freq=\(Int.random(in: 1...50, using: &random))Hz level=0dB
      node m1 oscillator freq=\(Int.random(in: 50...900, using: &random))Hz level=-6dB
      node m2 oscillator freq=[3Hz,40Hz,500Hz] level=0dB channels=3
      node out output channels=3
      node all output channels=5
      connect one -> g
      connect g -> out
      connect m0 -> all map=[0,-1,-1,-1,-1]
      connect m1 -> all map=[-1,0,-1,-1,-1]
      connect m2 -> all map=[-1,-1,0,1,2]
      """)
    bench.render(640)
    var cables: [(source: Int, channels: [Int?], isAdded: Bool, depth: Double)] = []
    for _ in 0..<Int.random(in: 2...4, using: &random) {
      let source = Int.random(in: 0..<3, using: &random)
      guard !cables.contains(where: { $0.source == source }) else { continue }
      let cable = Self.wideCable("m\(source)", width: widths[source], &random)
      bench.render(Int.random(in: 1...500, using: &random))
      try #require(bench.perform(cable.line), "\(cable.line)")
      cables.append((source, cable.channels, cable.isAdded, cable.depth))
    }
    bench.render(9600)
    for frame in (bench.heard[0].count - 2000)..<bench.heard[0].count {
      for channel in 0..<3 {
        var (sum, decibels) = (pow(10, -6.0 / 20), 0.0)
        for cable in cables {
          guard let place = cable.channels[channel] else { continue }
          let signal = Double(bench.heard[3 + cable.source + place][frame])
          if cable.isAdded { sum += signal * cable.depth } else { decibels += signal * cable.depth }
        }
        let wanted = sum * pow(10, decibels / 20)
        try #require(
          abs(Double(bench.heard[channel][frame]) - wanted) < 1e-5,
          "seed \(seed), period \(period): frame \(frame), channel \(channel): \(cables)")
      }
    }
  }

  /// Depths of all units and signs, from one to four cables, at random: a sum in the parameter's unit, and a power of two.
  @Test(arguments: manyLawSeeds)
  func whatIsAddedIsAddedAndWhatMultipliesMultiplies(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let base = Double.random(in: -12...0, using: &random)
    var (sum, decibels) = (pow(10, base / 20), 0.0)
    var (lines, levels): ([String], [Float]) = ([], [])
    for index in 0..<Int.random(in: 1...4, using: &random) {
      let level = Double(Float.random(in: -1...1, using: &random))
      levels.append(Float(level))
      let cable = "connect c\(index) -> g.gain"
      let gain = [0, -6, 3].randomElement(using: &random)!
      let heard = level * pow(10, Double(gain) / 20)
      if Bool.random(using: &random) {
        let depth = (Double.random(in: -6...6, using: &random) * 8).rounded() / 8
        lines.append("\(cable) by \(depth)dB gain=\(gain)dB")
        decibels += depth * heard
      } else {
        lines.append("\(cable) gain=\(gain - 20)dB")
        sum += heard / 10
      }
    }
    // A gain is not turned round.
    let wanted = sum * pow(10, decibels / 20)
    guard wanted > 0, wanted < 10 else { return }
    let period = [64, 1, 17, 100].randomElement(using: &random)!
    let heard = try Self.level(lines, gain: "\(base)dB", levels: levels, period: period)
    #expect(
      heard.suffix(1000).allSatisfy { abs(Double($0) - wanted) < 2e-6 * wanted + 1e-6 },
      "\(lines), \(base) dB, \(levels): \(heard.last ?? 0), not \(wanted)")
  }

  /// Curves, offsets, signals of both signs and beyond 1, silence, maps, two channels, gains, rates and periods at random: the
  /// sums that they are by definition.
  @Test(arguments: manyLawSeeds)
  func curvesAndOffsetsAreThoseOfTheirDefinition(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let (isRatio, channels) = (Bool.random(using: &random), Int.random(in: 1...2, using: &random))
    let own = Double.random(in: -1...1, using: &random)
    let bench = Bench(
      rate: [8000, 48_000, 192_000].randomElement(using: &random)!,
      period: [64, 1, 17, 100].randomElement(using: &random)!, channels: channels)
    var sums = Array(repeating: isRatio ? 0 : own, count: channels)
    var lines: [String] = []
    for index in 0..<Int.random(in: 1...3, using: &random) {
      let curve = Modulation.Curve.allCases.randomElement(using: &random)!
      let gain = [0, -6, 3].randomElement(using: &random)!
      let depth = Double(Int.random(in: -8...8, using: &random)) / 8
      let offset = Double(Int.random(in: -8...8, using: &random)) / 8
      let map = channels > 1 ? [[0, 1], [1, 0], [1, -1]].randomElement(using: &random)! : [0]
      let signals = (0..<channels).map { _ in
        Bool.random(using: &random) ? 0 : Double(Float.random(in: -1.5...1.5, using: &random))
      }
      for (side, from) in map.enumerated() {
        bench.feed(Float(signals[side]), channel: channels * index + side)
        let heard = from < 0 ? 0 : Self.way(signals[from], curve)
        sums[side] += (heard * depth + offset) * pow(10, Double(gain) / 20)
      }
      let unit = isRatio ? "dB" : ""
      lines.append("node c\(index) input channels=\(channels)")
      lines.append(
        "connect c\(index) -> moved.\(isRatio ? "gain" : "level") by \(depth)\(unit) offset=\(offset)\(unit) "
          + "curve=\(curve) gain=\(gain)dB map=\(ChannelMap(map).line)")
    }
    let moved =
      isRatio
      ? "node moved gain\nnode one constant channels=\(channels)\nconnect one -> moved"
      : "node moved constant level=\(own) channels=\(channels)"
    try bench.begin(
      (["node out output channels=\(channels)", moved, "connect moved -> out"] + lines).joined(
        separator: "\n"))
    bench.render(4800)
    for (side, sum) in sums.enumerated() {
      let wanted = isRatio ? pow(10, sum / 20) : sum
      let heard = bench.heard[side].suffix(1000)
      #expect(
        heard.allSatisfy { abs(Double($0) - wanted) < 1e-5 }, "\(lines): \(heard.last ?? 0), not \(wanted)")
    }
  }

  /// The way of a signal on a curve, by definition.
  private static func way(_ signal: Double, _ curve: Modulation.Curve) -> Double {
    let size = abs(signal)
    let way =
      switch curve {
      case .linear: size
      case .log: (pow(81, min(size, 1)) - 1) / 80
      case .square: size * size
      case .root: size.squareRoot()
      case .s: 3 * pow(min(size, 1), 2) - 2 * pow(min(size, 1), 3)
      }
    return signal < 0 ? -way : way
  }

  /// A constant 1 raises a sine by what the cable says.
  @Test(arguments: [
    ("by 1oct", 880.0), ("by -1oct", 220), ("by 7st", 659.255), ("by -50cents", 427.474), ("by 200Hz", 640),
    ("by -200Hz", 240), ("by 2oct gain=-6.0205999dB", 880),
  ])
  func aFrequencyMovesByOctavesAndBySemitones(depth: String, wanted: Double) throws {
    let bench = Bench(channels: 1)
    bench.feed(1)
    try bench.begin(
      """
      node one input channels=1
      node tone oscillator shape=sine freq=440Hz level=0dB
      node out output channels=1
      connect one -> tone.freq \(depth)
      connect tone -> out
      """)
    bench.render(96_000)
    let sound = bench.heard[0].suffix(48_000)
    let rises = zip(sound, sound.dropFirst()).count { $0 < 0 && $1 >= 0 }
    #expect(abs(Double(rises) - wanted) <= 1)
  }

  /// Another depth, or none, crossfades: no step is larger than the way divided by the frames of the fade.
  @Test func aChangeOfDepthIsNoStep() throws {
    let bench = Bench(channels: 1)
    bench.feed(1)
    try bench.begin(
      """
      node one input channels=1
      node g gain gain=-12dB
      node out output channels=1
      connect one -> g
      connect one -> g.gain by 6dB
      connect g -> out
      """)
    bench.render(4800)
    for line in [
      "connect one -> g.gain by -12dB", "connect one -> g.gain gain=-20dB", "connect one -> g.gain by 12dB",
      "undo",
      "disconnect one -> g.gain", "undo", "replace g pan", "undo",
      "connect one -> g.gain by 12dB offset=-3dB", "connect one -> g.gain by 12dB offset=-9dB curve=log",
      "connect one -> g.gain by 12dB gain=-inf offset=-9dB curve=log", "undo", "disconnect one -> g.gain",
      "undo",
    ] {
      bench.perform(line)
      bench.render(2400)
    }
    let sound = bench.heard[0].dropFirst(2400)
    let step = zip(sound, sound.dropFirst()).reduce(Float(0)) { max($0, abs($1.0 - $1.1)) }
    #expect(step < 0.01 && sound.contains { $0 > 0.45 }, "\(step)")
  }
}

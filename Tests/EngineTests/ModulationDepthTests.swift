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

import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Engine

/// How far cables move parameters, and a delay's time moved by cables.
@Suite struct SweepTests {
  private let catalogue = KindRegistry.builtIn.catalogue

  private func sweep(_ node: String, _ name: String, _ patch: Patch) -> (low: Value, high: Value)? {
    guard let node = patch[named: node], let parameter = catalogue[node.kind]?[parameter: name] else {
      return nil
    }
    return patch.sweep(of: node, parameter, wholeNote: patch.settings.wholeNote, catalogue: catalogue)
  }

  /// The ends that are stated are those that the sound has, for waves and envelopes of any sign, gain and depth.
  @Test(arguments: manyLawSeeds)
  func theStatedEndsAreReached(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let range = ["bipolar", "unipolar"].randomElement(using: &random)!
    let (depth, other) = (
      Double(Int.random(in: -8...8, using: &random)) / 8, Double.random(in: -1...1, using: &random)
    )
    let gain = Int.random(in: -12...3, using: &random)
    let (offset, curve) = (
      Double(Int.random(in: -4...4, using: &random)) / 8,
      Modulation.Curve.allCases.randomElement(using: &random)!
    )
    let bench = Bench(rate: [8000, 48_000].randomElement(using: &random)!, channels: 1)
    try bench.begin(
      """
      node wave lfo shape=triangle rate=20Hz range=\(range)
      node gate comparator
      node moved constant level=0.5
      node out output channels=1
      connect wave -> gate
      connect wave -> moved.level by \(depth) offset=\(offset) curve=\(curve) gain=\(gain)dB
      connect gate -> moved.level by \(other)
      connect moved -> out
      """)
    let stated = try #require(sweep("moved", "level", bench.patch))
    guard case (.number(let low, .none), .number(let high, .none)) = stated else {
      Issue.record("\(stated)")
      return
    }
    bench.render(Int(bench.engine.rate))
    let heard = bench.heard[0].suffix(Int(bench.engine.rate / 2)).map(Double.init)
    #expect(heard.min()! >= low - 1e-5 && heard.max()! <= high + 1e-5, "\(low)...\(high)")
    let factor = pow(10, Double(gain) / 20) * depth
    let middle = 0.5 + offset * pow(10, Double(gain) / 20)
    let ends = (range == "bipolar" ? [-factor, factor] : [0, factor]).map { $0 + middle }
    let gates = [0, other]
    #expect(abs(low - ends.min()! - gates.min()!) < 1e-5 && abs(high - ends.max()! - gates.max()!) < 1e-5)
  }

  @Test func sweepsAreStatedInTheUnitOfTheParameter() throws {
    let patch = try Draft(
      """
      tempo 120
      node wave lfo range=unipolar
      node tone oscillator
      node low filter freq=200Hz
      node level gain gain=-6dB
      node echo delay time=1/4
      node sound filter
      connect wave -> low.freq by 2oct
      connect wave -> level.gain by -12dB
      connect wave -> echo.time by 250ms
      connect tone -> sound.freq by 100Hz
      """
    ).patch
    func words(_ node: String, _ name: String) -> String? {
      sweep(node, name, patch).map { "\($0.low.display) … \($0.high.display)" }
    }
    #expect(words("low", "freq") == "200.0 Hz … 800.0 Hz")
    #expect(words("level", "gain") == "-18.0 dB … -6.0 dB")
    #expect(words("echo", "time") == "500.0 ms … 750.0 ms")
    #expect(words("sound", "freq") == nil && words("low", "q") == nil)
  }

  /// A cable to a delay's time glides as one to its shift does, with Doppler effect and without clicks.
  @Test func aDelaysTimeIsAPortThatGlides() throws {
    func heard(_ port: String, period: Int) throws -> [Float] {
      let bench = Bench(period: period, channels: 1)
      try bench.begin(
        """
        node tone oscillator shape=sine freq=1kHz level=-6dB
        node wave lfo shape=triangle rate=1Hz
        node echo delay time=100ms mix=100% feedback=0%
        node out output channels=1
        connect tone -> echo
        connect wave -> echo.\(port) by 10ms
        connect echo -> out
        """)
      bench.render(96_000)
      return bench.heard[0]
    }
    let sound = try heard("time", period: 64)
    #expect(firstDifference(sound, try heard("shift", period: 37)) == nil)
    /// Cycles in a fifth of a second from a frame on.
    func cycles(_ first: Int) -> Int {
      zip(sound[first..<first + 9600], sound[first + 1..<first + 9601]).filter { $0 <= 0 && $1 > 0 }.count
    }
    // The time grows by 40 ms a second, then becomes shorter.
    #expect(abs(cycles(48_000 + 1200) - 192) <= 1, "\(cycles(49_200))")
    #expect(abs(cycles(48_000 + 14_400) - 208) <= 1, "\(cycles(62_400))")
    let steepest = 0.502 * 2 * Double.pi * 1040 / 48_000
    let steps = zip(sound[20_000...], sound[20_001...]).map { abs(Double($1) - Double($0)) }
    #expect(steps.max()! < steepest * 1.02)
  }

  @Test func theCableHasTheNameOfThePortThatGlides() throws {
    var draft = try Draft("node wave lfo\nnode echo delay")
    guard case .edited(let change) = draft.perform("connect wave -> echo.time by 3ms") else {
      Issue.record("it is refused")
      return
    }
    #expect(
      PatchWriter.write(change.patch, catalogue: catalogue).contains("connect wave -> echo.shift by 3ms"))
    guard case .edited(let back) = draft.perform("disconnect wave -> echo.time") else {
      Issue.record("it is not found")
      return
    }
    #expect(back.patch.cables.isEmpty)
  }
}

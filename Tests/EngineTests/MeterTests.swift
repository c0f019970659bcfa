import Engine
import Patch
import TestSupport
import Testing

@Suite struct MeterTests {
  @Test(arguments: [1, 7, 64, 100]) func aMeterShowsTheLoudestSampleOfEachChannelSinceTheLastLook(
    period: Int
  ) throws {
    let bench = Bench(period: period)
    bench.engine.isMetering = true
    bench.feed(-0.5)
    bench.feed(0.25, channel: 1)
    try bench.begin([
      node("in", "input", "channels=2"), node("a", "gain"), node("out", "output"), cable("in", "a"),
      cable("a", "out"),
    ])
    func peaks() -> [Float] {
      let nodes = bench.engine.report().nodes
      return nodes.first { $0.name == "a" }?.outputs.first?.peaks ?? []
    }
    bench.render(1000)
    #expect(peaks() == [0.5, 0.25])
    #expect(peaks() == [0, 0])
    bench.edit(.set("a", ParameterPath("gain", []), .number(-6.0206, .decibels), over: nil))
    bench.settle()
    bench.render(1000)
    _ = peaks()
    bench.render(64)
    let after = peaks()
    #expect(after.count == 2 && abs(after[0] - 0.25) < 1e-6 && abs(after[1] - 0.125) < 1e-6)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>) func everyChannelThatANodeComesToHaveIsMeasured(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let bench = Bench(period: [17, 64, 256].randomElement(using: &random)!)
    bench.engine.isMetering = true
    let levels = (0..<64).map { _ in Float(Int.random(in: 16...64, using: &random)) / 64 }
    let widths = (0..<5).map { _ in Int.random(in: 1...64, using: &random) }
    var text =
      "node a gain\nnode b crossover\nconnect a -> b\nnode out output channels=2\nconnect b.band1 -> out\n"
    for (index, width) in widths.enumerated() {
      let list = levels.prefix(width).map { "\($0)" }.joined(separator: ",")
      text += "node in\(index) constant level=[\(list)] channels=\(width)\n"
    }
    try bench.begin(text)
    func outputs(_ name: String) -> [PortReport] {
      bench.engine.report().nodes.first { $0.name == name }?.outputs ?? []
    }
    for (index, width) in widths.enumerated() {
      bench.perform("connect in\(index) -> a")
      if index > 0 { bench.perform("disconnect in\(index - 1) -> a") }
      bench.settle()
      bench.render(24_000)
      _ = outputs("a")
      bench.render(256)
      let (gain, bands) = (outputs("a"), outputs("b"))
      #expect(
        gain.map { Array($0.peaks.prefix(width)) } == [Array(levels.prefix(width))], "\(width) of \(widths)")
      for band in bands { #expect(band.peaks.count == gain.first?.peaks.count, "\(band.name), \(widths)") }
      let low = bands.first { $0.name == "band1" }?.means ?? []
      for (mean, level) in zip(low, levels.prefix(width)) {
        #expect(abs(mean - level) < 0.02 * level, "\(width) of \(widths): \(mean) for \(level)")
      }
    }
  }

  @Test(arguments: [7, 64, 480]) func aMeterShowsTheMeanOfASoundAsAVolumeIndicatorDoes(period: Int) throws {
    let bench = Bench(period: period)
    bench.engine.isMetering = true
    try bench.begin([
      node("tone", "oscillator", "freq=997Hz", "level=-6.0206dB"), node("out", "output"),
      cable("tone", "out"),
    ])
    func mean() -> Double {
      let nodes = bench.engine.report().nodes
      return Double(nodes.first { $0.name == "tone" }?.outputs.first?.means.first ?? -1)
    }
    // 99 % of the power within 300 ms, whatever the period; then the RMS of a sine.
    let final = 0.5 * 0.5.squareRoot()
    bench.render(14400)
    #expect(abs(mean() - final * 0.99.squareRoot()) < 0.005 * final)
    bench.render(48000)
    #expect(abs(mean() - final) < 0.003 * final)
    bench.edit(.set("tone", ParameterPath("level", []), .number(-.infinity, .decibels), over: nil))
    bench.render(48000)
    #expect(mean() == 0)
  }
}

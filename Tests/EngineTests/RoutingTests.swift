import Engine
import Patch
import Realtime
import Testing

@Suite struct RoutingTests {
  // noise -> loop -> out, loop -> back -> loop: y[n] = x[n] + 0.5 y[n - 64]
  @Test(arguments: [1, 7, 64, 100, 1024]) func aCycleIsDelayedBySixtyFourFrames(period: Int) throws {
    let bench = Bench(period: period)
    try bench.begin([
      node("noise", "noise"), node("loop", "mix"), node("back", "gain"), node("out", "output"),
      node("dry", "output"), cable("noise", "dry"),
      cable("noise", "loop"), cable("loop", "back"), cable("back", "loop", gain: -6.0206),
      cable("loop", "out"),
    ])
    bench.render(2048)
    let x = bench.heard[2]
    let y = bench.heard[0]
    var worst: Float = 0
    for frame in x.indices {
      worst = max(worst, abs(y[frame] - (x[frame] + (frame >= 64 ? 0.5 * y[frame - 64] : 0))))
    }
    #expect(worst < 1e-5, "period \(period)")
    #expect(x.contains { abs($0) > 0.01 })
    let feedback = bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).filter(\.isFeedback)
    #expect(feedback.map { "\($0.from) -> \($0.to)" } == ["back -> loop"])
  }

  @Test func periodsOfEverySizeGiveTheSameBits() throws {
    func render(_ period: Int) throws -> [[Float]] {
      let bench = Bench(period: period)
      try bench.begin([
        node("tone", "oscillator", "shape=saw", "freq=313", "level=-6"), node("hiss", "noise"),
        node("a", "gain", "gain=-3"), node("m", "mix"), node("out", "output"), cable("tone", "a"),
        cable("a", "m"), cable("hiss", "m", gain: -20), cable("m", "out"), cable("m", "a", gain: -12),
      ])
      bench.render(1000)
      bench.edit(.set("a", ParameterPath("gain"), .number(-20, .decibels), over: 0.05))
      bench.edit(.set("tone", ParameterPath("shape"), .text("square"), over: nil))
      bench.render(333)
      bench.edit(.insert(makeNode("b", "pan", ["pan=0.5"]), into: CableName("m", "out")))
      bench.render(777)
      bench.edit(.remove("hiss", bridge: false))
      bench.render(5000)
      return bench.heard
    }
    let reference = try render(64)
    for period in [1, 17, 100, 1024, 8192] {
      let other = try render(period)
      for channel in 0..<2 {
        if let difference = firstDifference(reference[channel], other[channel]) {
          Issue.record("period \(period), channel \(channel): \(difference)")
        }
      }
    }
    #expect(reference[0].contains { abs($0) > 0.1 })
  }

  @Test func mapsSelectAndSilenceChannels() throws {
    let bench = Bench()
    try bench.begin([
      node("left", "oscillator", "freq=100"), node("right", "oscillator", "freq=200"),
      node("pair", "matrix", "inputs=2", "outputs=2"), node("out", "output", "channels=4"),
      cable("left", "pair", map: [0, -1]), cable("right", "pair", map: [-1, 0]),
      cable("pair", "out", map: [-1, 1, 0, 1]),
    ])
    bench.render(960)
    let alone = Bench()
    try alone.begin([
      node("left", "oscillator", "freq=100"), node("right", "oscillator", "freq=200"),
      node("a", "output", "channels=1"), node("b", "output", "channels=1"), cable("left", "a"),
      cable("right", "b"),
    ])
    alone.render(960)
    #expect(bench.heard[0].allSatisfy { $0 == 0 })
    #expect(firstDifference(bench.heard[1], alone.heard[1]) == nil)
    #expect(firstDifference(bench.heard[2], alone.heard[0]) == nil)
    #expect(firstDifference(bench.heard[3], alone.heard[1]) == nil)
    #expect(alone.heard[0].contains { $0 > 0.2 })
  }

  @Test func aMonoSourceReachesBothSides() throws {
    let bench = Bench()
    try bench.begin([node("tone", "oscillator"), node("out", "output"), cable("tone", "out")])
    bench.render(480)
    #expect(firstDifference(bench.heard[0], bench.heard[1]) == nil)
    #expect(bench.heard[1].contains { $0 > 0.2 })
    #expect(bench.engine.report().nodes.first?.inputs.first?.cables.first?.conversion == "mono to stereo")
  }

  @Test func aPlaceholderPassesNothingAndTheRestSounds() throws {
    let bench = Bench()
    try bench.begin([node("tone", "oscillator"), node("out", "output"), cable("tone", "out")])
    bench.engine.markPlaceholder(bench.patch[named: "tone"]!.id, "no such file")
    bench.render(480)
    guard case .placeholder(let reason) = bench.engine.report().nodes.last?.state else {
      Issue.record("not marked")
      return
    }
    #expect(reason == "no such file")
  }

  @Test func aParameterThatIsNoLongerModulatedHasItsOwnValueAgain() throws {
    let start = """
      node voice oscillator freq=440Hz
      node slow oscillator freq=3Hz level=0dB
      node quieter gain gain=-6dB
      node out output
      connect voice -> quieter
      connect quieter -> out

      """
    let plain = Bench()
    try plain.begin(start)
    let modulated = Bench()
    try modulated.begin(start + "connect slow -> quieter.gain\n")
    modulated.render(6400)
    modulated.edit(.disconnect(CableName(PortName("slow", "out"), PortName("quieter", "gain"))))
    modulated.render(6400)
    plain.render(12800)
    #expect(modulated.heard[0][2000..<6400] != plain.heard[0][2000..<6400])
    #expect(modulated.heard[0].suffix(3200) == plain.heard[0].suffix(3200))
  }
}

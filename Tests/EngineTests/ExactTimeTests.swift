import Patch
import TestSupport
import Testing

@testable import Engine

/// Edits that are queued ahead for a frame of their own, which may lie in the middle of a block.
@Suite struct ExactTimeTests {
  private static let start = """
    node tone oscillator shape=saw freq=220Hz
    node lfo oscillator freq=3Hz
    node hiss noise
    node effect filter freq=1kHz q=2
    node shape equalizer band1.gain=3dB
    node loud gain gain=-3dB
    node main matrix inputs=4 outputs=2
    node out output
    connect tone -> effect
    connect lfo -> effect.freq gain=-20dB
    connect effect -> shape
    connect shape -> loud
    connect loud -> main
    connect hiss -> main gain=-12dB
    connect main -> out
    """

  /// Performs the steps at their frames, each `lead` frames ahead, in whole periods.
  static func play(_ steps: [TestSupport.Step], _ bench: Bench, lead: Int64) {
    var due = bench.engine.renderer.time
    var next = 0
    let end = steps.reduce(due) { $0 + Int64($1.frames) }
    while bench.engine.renderer.time < end {
      while next < steps.count, due + Int64(steps[next].frames) <= bench.engine.renderer.time + lead {
        due += Int64(steps[next].frames)
        bench.attempt(steps[next].line, at: due)
        next += 1
      }
      bench.render(min(bench.period, Int(end - bench.engine.renderer.time)))
    }
  }

  /// Frame at which the blast shield first mutes a node.
  private static func firstMute(in bench: Bench) -> Int {
    bench.engine.trace(since: 0).compactMap { entry in
      if case .muted = entry.happening { Int(entry.time) } else { nil }
    }.min() ?? .max
  }

  /// Compares edits between blocks and edits within blocks; nil: the bits are the same.
  private static func difference(_ steps: [TestSupport.Step], period: Int = 64, threads: Int = 1) -> String? {
    let (whole, split) = (Bench(), Bench(period: period, threads: threads))
    guard (try? whole.begin(start)) != nil, (try? split.begin(start)) != nil else { return "no start" }
    for bench in [whole, split] { bench.render(640) }
    whole.play(steps)
    play(steps, split, lead: 300)
    for bench in [whole, split] { bench.render(960) }
    // An edit brings a muted node back, and one that is prepared ahead cannot know of what is muted meanwhile.
    let end = [whole, split].map(firstMute(in:)).min() ?? .max
    for channel in whole.heard.indices {
      let (one, other) = (whole.heard[channel].prefix(end), split.heard[channel].prefix(end))
      if let difference = firstDifference(Array(one), Array(other)) {
        return "channel \(channel): \(difference)"
      }
    }
    return nil
  }

  /// Blocks that an edit does not end give the same bits as blocks that end before it, whatever period and threads.
  @Test(arguments: lawSeeds) func anEditWithinABlockGivesTheBitsOfOneBetweenBlocks(seed: UInt64) throws {
    let lines = RandomLines(seed: seed, of: try Draft(Self.start).patch, keeping: ["tone"])
    let steps = RandomLines.steps(lawLength(400), mostFrames: 700, from: lines)
    expectLaw("exact times", seed: seed, steps) {
      Self.difference($0, period: [64, 64, 100, 256][Int(seed % 4)], threads: 1 + Int(seed / 4 % 2))
    }
  }

  /// What is there at once in a new plan, and must not be noticed before the edit.
  @Test(arguments: [
    // A carrier, which takes the place of the modulator's sine.
    ["insert ring ringmod into effect -> shape", "connect lfo -> ring.carrier"],
    // A map to channels that there are not: the equalizer hears silence, whether or not it has other cables.
    [
      "disconnect hiss -> main", "connect effect -> shape map=[1,2,1]",
      "insert ring ringmod into effect -> shape",
    ],
  ])
  func aNewPlanIsNotHeardBeforeItsEdit(lines: [String]) {
    let steps = (lines + ["set loud.gain -6dB"]).map { TestSupport.Step(frames: 3017, line: $0) }
    #expect(Self.difference(steps) == nil)
  }

  /// Blends that end with a block that lies otherwise, and sound that begins within a cell.
  @Test(arguments: [
    ["set shape.band3.type highpass over 4ms"], ["set hiss.color pink over 4ms"],
    [
      "node still record ; node bent distortion ; connect still -> bent ; connect hiss -> bent ; connect bent -> main",
      "disconnect hiss -> bent", "set bent.tone 0.5", "connect hiss -> bent gain=-20dB",
    ],
  ])
  func theBitsDoNotDependOnWhereBlocksLie(lines: [String]) {
    let steps = (lines + ["set loud.gain -6dB"]).map { TestSupport.Step(frames: 3017, line: $0) }
    #expect(Self.difference(steps) == nil)
  }

  /// The nodes that an edit does not reach render their blocks as wholes.
  @Test(arguments: [
    "set loud.gain -9dB", "replace effect delay", "disconnect hiss -> main", "set effect.freq 300Hz",
    "connect hiss -> loud gain=-20dB", "insert between gain into effect -> shape", "remove shape bridge",
  ])
  func onlyTheNodesThatAnEditReachesNoticeItsFrame(line: String) throws {
    let bench = Bench()
    try bench.begin(Self.start)
    bench.render(640)
    let blocks = bench.engine.renderer.blocks
    bench.perform(line, at: bench.engine.renderer.time + 64 * 3 + 29)
    bench.render(64 * 6)
    #expect(bench.engine.renderer.blocks - blocks == 6)
    #expect(bench.engine.pending.isEmpty)
  }
}

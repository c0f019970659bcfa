import Engine
import Patch
import TestSupport
import Testing

/// Cycles: which cable is delayed, how that sounds, and which delay nodes compensate.
@Suite struct FeedbackTests {
  /// Cables through the feedback delay.
  static func delayed(_ bench: Bench) -> [String] {
    bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).filter(\.isFeedback)
      .map { "\($0.from).\($0.fromPort) -> \($0.to).\($0.toPort)" }.sorted()
  }

  private static func delayedWhenLoaded(_ patch: Patch) -> [String] {
    let bench = Bench()
    bench.begin(patch)
    bench.render(64)
    return delayed(bench)
  }

  /// Two loops that share a node, with two sources.
  private static let nodes =
    "node tone oscillator\nnode other oscillator freq=300Hz\nnode a gain\nnode b mix\nnode c gain\n"
    + "node d mix\nnode out output\nconnect a -> out\n"
  private static let cables = [
    "tone -> a", "other -> c", "a -> b", "b -> c", "c -> a gain=-12dB", "b -> d gain=-12dB", "d -> a",
    "c -> d gain=-20dB",
  ]

  @Test(arguments: searchSeeds(1, 2, 3, 4, 5, 6, 7, 8))
  func theOrderOfEditsDoesNotDecideWhichCableIsDelayed(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let bench = Bench()
    try bench.begin(Self.nodes)
    bench.render(640)
    func pause() { bench.render([0, 1, 64, 300, 700, 4800].randomElement(using: &random)!) }
    for cable in Self.cables.shuffled(using: &random) {
      bench.perform("connect \(cable)")
      pause()
      // Undo and redo, at every stage of a fade.
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        bench.perform("undo")
        pause()
        bench.perform("redo")
        pause()
      }
    }
    bench.settle()
    let expected = Self.delayedWhenLoaded(bench.draft.patch)
    #expect(!expected.isEmpty)
    #expect(Self.delayed(bench) == expected)
  }

  @Test(arguments: lawSeeds) func everyWayToAPatchDelaysTheSameCables(seed: UInt64) throws {
    print("seed \(seed)")
    let start = "node tone oscillator freq=100Hz\nnode out output\nconnect tone -> out gain=-20dB\n"
    let lines = RandomLines(
      seed: seed, of: try Draft(start).patch, kinds: ["gain", "mix", "matrix", "delay", "filter"],
      keeping: ["tone"])
    let steps = RandomLines.steps(250, mostFrames: 400, from: lines)
    var cycles = 0
    expectLaw("the way does not matter in cycles", seed: seed, steps) { steps in
      let bench = Bench()
      guard (try? bench.begin(start)) != nil else { return "it does not start" }
      for (index, step) in steps.enumerated() {
        bench.render(step.frames)
        bench.perform(step.line)
        guard index % 25 == 24 || index == steps.count - 1 else { continue }
        bench.settle()
        if !bench.engine.isSettled { return "fades do not end" }
        let (found, expected) = (Self.delayed(bench), Self.delayedWhenLoaded(bench.draft.patch))
        cycles += expected.count
        if found != expected { return "delayed are \(found), where a fresh start delays \(expected)" }
      }
      return nil
    }
    #expect(cycles > 0)
  }

  /// Loops that are fed by other loops: whatever changes in those, these keep their delayed cables, and so their sound.
  @Test(arguments: lawSeeds) func editsBeforeLoopsDoNotDecideWhichOfTheirCablesIsDelayed(seed: UInt64) throws
  {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let names = (0..<10).map { "n\($0)" }.shuffled(using: &random)
      let (before, behind) = (names.prefix(5), names.suffix(5))
      func cables(_ count: Int, _ sources: ArraySlice<String>, _ destinations: ArraySlice<String>) -> [String]
      {
        let pairs = sources.flatMap { source in destinations.map { (source, $0) } }.filter { $0 != $1 }
        return pairs.shuffled(using: &random).prefix(count).map { "\($0) -> \($1)" }
      }
      let upstream = cables(14, before, before)
      let bench = Bench()
      try bench.begin(
        "node tone oscillator\nnode out output\n" + names.map { "node \($0) mix\n" }.joined()
          + (cables(8, behind, behind) + cables(3, before, behind) + upstream.prefix(7))
          .map { "connect \($0) gain=-30dB\n" }.joined()
          + "connect tone -> \(before[0]) gain=-30dB\nconnect \(behind[5]) -> out\n")
      bench.render(64)
      func delayed() -> [String] {
        Self.delayed(bench).filter { cable in behind.contains { cable.hasSuffix(" \($0).in") } }
      }
      let expected = delayed()
      var made = Set(upstream.prefix(7))
      for cable in upstream.shuffled(using: &random) {
        bench.perform(made.remove(cable) != nil ? "disconnect \(cable)" : "connect \(cable) gain=-30dB")
        bench.settle()
        let found = delayed()
        #expect(found == expected, "after \(cable)")
        made.insert(cable)
      }
    }
  }

  /// A constant through a loop. An edit adds a click of at most -90 dB, relative to the peak.
  @Test func whatComesIntoALoopIsNotHeardToBeginWithAnEmptyDelay() throws {
    let allNew =
      "node x gain ; node y gain ; connect x -> y ; connect y -> x gain=-20dB ; connect in -> x gain=-20dB"
      + " ; connect y -> out gain=-20dB"
    let edits: [(String, [String])] = [
      ("replace", ["replace a gain", "replace b gain gain=-3dB", "replace a mix", "replace b gain"]),
      ("insert and remove", ["insert c gain into a -> b", "insert e mix into b -> a", "remove c bridge"]),
      ("insert a delay", ["insert c delay into a -> b", "set c.time 2ms", "remove c bridge"]),
      ("break and close", ["disconnect b -> a", "connect b -> a gain=-12dB", "undo", "redo"]),
      ("another way in", ["connect in -> b gain=-20dB", "disconnect in -> b", "rename a z", "rename b a"]),
      ("undo", ["replace a mix", "undo", "insert c gain into b -> a", "undo", "redo", "remove c bridge"]),
      ("all new", [allNew, "remove x", "undo"]),
    ]
    for (name, lines) in edits {
      for pause in [30, 240, 4800] {
        let bench = Bench()
        bench.engine.isWatching = true
        bench.feed(1)
        try bench.begin(
          "node in input channels=1\nnode a gain\nnode b gain\nnode out output channels=1\nconnect in -> a\n"
            + "connect a -> b\nconnect b -> a gain=-12dB\nconnect a -> out gain=-12dB\n")
        bench.render(24000)
        for line in lines {
          let isAccepted = bench.attempt(line)
          #expect(isAccepted, "\(name): \(line)")
          bench.render(pause)
        }
        bench.settle()
        bench.render(24000)
        let level = max(1, bench.heard[0].reduce(0) { max($0, abs($1)) })
        for entry in bench.engine.editLog() where entry.residue > 3.162e-5 * level {
          Issue.record("\(name), \(pause) frames apart: \(entry.line): \(entry.residueLevel) dBFS")
        }
        #expect(bench.engine.editLog().count == lines.count)
      }
    }
  }

  // MARK: Delays that compensate

  /// Model of a delay node in a loop: its echo returns on time, its dry signal 64 frames late.
  private static func model(
    _ input: [Float], time: Int, mix: Float, feedback: Float, gain: Float
  ) -> [Float] {
    let lead = time >= 64 ? 64 : 0
    var line = [Float](repeating: 0, count: input.count)
    var dry = line
    var wet = line
    var output = line
    for frame in input.indices {
      let tap = frame >= time ? line[frame - time] : 0
      let late = frame - 64
      // The cable's signal left the delay 64 frames ago; the echo was known then.
      let echo = frame - 64 + lead >= 0 ? (lead == 64 ? mix * tap : wet[max(late, 0)]) : 0
      let back = (late >= 0 ? dry[late] : 0) + (late >= 0 ? echo : 0)
      let x = input[frame] + gain * back
      line[frame] = x + feedback * tap
      dry[frame] = (1 - mix) * x
      wet[frame] = mix * tap
      output[frame] = dry[frame] + wet[frame]
    }
    return output
  }

  @Test(arguments: searchSeeds(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12))
  func aRoundThroughADelayTakesAsLongAsItSays(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let rate = [44_100.0, 48_000, 96_000].randomElement(using: &random)!
    let frames = [
      64, 65, 127, 128, 10, 63, .random(in: 64...200, using: &random), .random(in: 64...6000, using: &random),
      2400,
    ].randomElement(using: &random)!
    let mix = [100, 100, 60, 0].randomElement(using: &random)!
    let feedback = [0, 0, 30].randomElement(using: &random)!
    let channels = Int.random(in: 1...3, using: &random)
    let bench = Bench(rate: rate, period: [1, 64, 100, 777].randomElement(using: &random)!)
    try bench.begin(
      """
      node hiss noise channels=\(channels)
      node d delay time=\((Double(frames) + 0.2) / rate)s mix=\(mix)% feedback=\(feedback)%
      node g gain gain=-6dB
      node out output channels=\(channels)
      node dry output channels=\(channels)
      connect hiss -> d
      connect hiss -> dry
      connect d -> g
      connect g -> d
      connect d -> out
      """)
    bench.render(20_000)
    #expect(Self.delayed(bench) == ["d.out -> g.in"])
    let compensated = bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).filter(\.isCompensated)
    #expect(compensated.count == (frames >= 64 ? 1 : 0), "\(frames) frames")
    for channel in 0..<channels {
      let expected = Self.model(
        bench.heard[channels + channel], time: frames, mix: Float(mix) / 100, feedback: Float(feedback) / 100,
        gain: Float(0.501187))
      let worst = zip(bench.heard[channel], expected).reduce(0) { max($0, abs($1.0 - $1.1)) }
      #expect(worst < 1e-3, "\(frames) frames at \(rate) Hz, mix \(mix), channel \(channel): \(worst)")
    }
  }

  /// A loop around a delay node sounds like the node's own feedback. After a change of its time both agree
  /// again; only the change itself goes round the outer loop 64 frames later.
  @Test func aLoopAroundADelayIsItsFeedback() throws {
    let bench = Bench()
    bench.engine.isWatching = true
    try bench.begin(
      """
      node hiss oscillator freq=50Hz level=-12dB
      node d delay time=20ms mix=100% feedback=0%
      node e delay time=20ms mix=100% feedback=50%
      node out output channels=1
      node other output channels=1
      connect hiss -> d
      connect hiss -> e
      connect d -> d gain=-6.0205999dB
      connect d -> out
      connect e -> other
      """)
    bench.render(9600)
    #expect(distance(bench.heard[0], bench.heard[1]) < 1e-4)
    for line in ["set d.time 30ms ; set e.time 30ms", "set d.shift 3ms ; set e.shift 3ms"] {
      bench.perform(line)
      bench.render(96_000)
      let (loop, own) = (Array(bench.heard[0].suffix(9600)), Array(bench.heard[1].suffix(9600)))
      #expect(distance(loop, own) < 1e-4, "\(line)")
    }
    #expect(bench.heard[0].suffix(4000).contains { abs($0) > 0.1 })
  }

  @Test func aNewTimeBelowTheDelayOfTheLoopIsToldAndNotHeard() throws {
    let bench = Bench()
    bench.engine.isWatching = true
    bench.feed(0.5)
    try bench.begin(
      "node in input channels=1\nnode d delay time=3ms mix=50% feedback=0%\nnode out output channels=1\n"
        + "connect in -> d\nconnect d -> d gain=-12dB\nconnect d -> out\n")
    bench.render(9600)
    func isCompensated() -> [Bool] {
      bench.engine.report().nodes.flatMap(\.inputs).flatMap(\.cables).filter(\.isFeedback).map(
        \.isCompensated)
    }
    #expect(isCompensated() == [true])
    bench.perform("set d.time 0.5ms")
    bench.render(4800)
    #expect(isCompensated() == [false])
    bench.perform("undo")
    bench.render(9600)
    #expect(isCompensated() == [true])
    bench.settle()
    for entry in bench.engine.editLog() where entry.residue > 3.162e-5 {
      Issue.record("\(entry.line): \(entry.residueLevel) dBFS")
    }
  }
}

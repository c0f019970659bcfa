import Engine
import Glibc
import Patch
import PatchLanguage
import Realtime
import Synchronization
import TestSupport
import Testing

/// A script sounds the same live and rendered to a file.
@Suite struct ReplayTests {
  private static let start = """
    node tone oscillator shape=saw freq=220Hz
    node wind noise level=-20dB
    node dist distortion
    node main matrix inputs=4 outputs=2
    node out output
    connect tone -> dist
    connect dist -> main
    connect wind -> main gain=-12dB
    connect main -> out
    """

  @Test(arguments: lawSeeds)
  func liveAndFromAFileAScriptGivesTheSameBits(seed: UInt64) throws {
    print("seed \(seed)")
    let lines = RandomLines(
      seed: seed, of: try Draft(Self.start).patch, kinds: RandomLines.sounding, keeping: ["tone", "wind"])
    let steps = RandomLines.steps(300, mostFrames: 300, from: lines)
    try expectLaw("live as offline", seed: seed, steps) { steps in
      let (offline, muted) = try Self.offline(steps)
      let live = try Self.live(steps, seed: seed)
      // Compared up to the first mute: an edit prepared ahead cannot know that a node will be muted and need
      // a revival.
      for channel in 0..<2 {
        for frame in 0..<muted where offline[channel][frame] != live[channel][frame] {
          return "channel \(channel), frame \(frame): \(offline[channel][frame]) and \(live[channel][frame])"
        }
      }
      return offline[0][..<muted].contains { abs($0) > 0.001 } ? nil : "silence"
    }
  }

  @Test func anEffectThatIsReplacedAThousandTimesASecondAsSoonAsMayBeIsNotHeard() throws {
    let (engine, tape) = (Engine(rate: 48000, period: 256), Tape())
    var draft = try Draft(Self.replaced)
    engine.adopt(draft.patch)
    let thread = RenderThread(engine.renderer, tape, total: 48000, seed: 1)
    thread.start()
    thread.limit.store(4800, ordering: .releasing)
    var mostNodes = 0
    for edit in 0..<900 {
      if case .edited(let change) = draft.perform("replace a \(edit % 2 == 0 ? "mix" : "gain")") {
        engine.adopt(change.patch)
      }
      // The audio thread renders up to here in its own time.
      thread.limit.store(4800 + edit * 48, ordering: .releasing)
      if edit % 16 == 0 {
        engine.collect()
        mostNodes = max(mostNodes, engine.report().nodes.count)
        while engine.renderer.time < 4800 + (edit - 16) * 48 { sched_yield() }
      }
    }
    thread.limit.store(48000, ordering: .releasing)
    while engine.renderer.time < 48000 { engine.collect() }
    thread.join()
    let worst = zip(try Self.untouched(48000), tape.heard[0]).map { abs($0 - $1) }.max() ?? 1
    #expect(worst < 1e-5, "off by \(worst)")
    #expect(mostNodes < 300, "what fades piles up: \(mostNodes) nodes")
  }

  /// A leaving effect is removed once it can no longer be heard. Each edit restarts its fade, so its gain may
  /// pass through zero before that.
  @Test(arguments: 20...120)
  func anEffectThatIsReplacedEverySoManyFramesIsNotHeard(interval: Int) throws {
    let (engine, tape) = (Engine(rate: 48000, period: 256), Tape())
    var draft = try Draft(Self.replaced)
    engine.adopt(draft.patch)
    for edit in 0..<400 {
      if case .edited(let change) = draft.perform("replace a \(edit % 2 == 0 ? "mix" : "gain")") {
        engine.adopt(change.patch, at: engine.renderer.time)
      }
      tape.record(engine.renderer, interval)
      engine.collect(expectingNothingBefore: engine.renderer.time)
    }
    let still = try Self.untouched(400 * interval)
    #expect(still.contains { $0 > 0.2 })
    let worst = zip(still, tape.heard[0]).map { abs($0 - $1) }.max() ?? 1
    #expect(worst < 1e-5, "off by \(worst)")
  }

  private static let replaced =
    "node tone oscillator freq=50Hz\nnode a gain\nnode out output channels=1\nconnect tone -> a\nconnect a -> out"

  /// The tone without an effect.
  private static func untouched(_ frames: Int) throws -> [Float] {
    let (engine, tape) = (Engine(rate: 48000, period: 256), Tape())
    engine.adopt(
      try Draft("node tone oscillator freq=50Hz\nnode out output channels=1\nconnect tone -> out").patch)
    while tape.heard[0].count < frames { tape.record(engine.renderer, 480) }
    return Array(tape.heard[0][..<frames])
  }

  private static let end = 4800

  /// The rendered sound, and the first frame at which the blast shield mutes a node.
  private static func offline(_ steps: [Step]) throws -> ([[Float]], muted: Int) {
    let (engine, tape) = (Engine(rate: 48000, period: 256), Tape())
    var draft = try Draft(start)
    engine.adopt(draft.patch)
    for step in steps + [Step(frames: end, line: "")] {
      var left = step.frames
      while left > 0 {
        let toFadeEnd = engine.nextFadeEnd.map { Int($0 - engine.renderer.time) } ?? left
        let count = min(left, 256, max(toFadeEnd, 1))
        tape.record(engine.renderer, count)
        engine.collect(expectingNothingBefore: engine.renderer.time)
        left -= count
      }
      if case .edited(let change) = draft.perform(step.line) {
        engine.adopt(
          change.patch, ramps: change.ramps, tails: change.tails, at: engine.renderer.time)
      }
    }
    let mutes = engine.trace(since: 0).filter {
      if case .muted = $0.happening { true } else { false }
    }
    return (tape.heard, mutes.map { Int($0.time) }.min() ?? tape.heard[0].count)
  }

  /// Live render: a thread renders periods of random length, up to the frame for which edits are prepared.
  /// The test's own thread makes edits and collects plans at random times.
  private static func live(_ steps: [Step], seed: UInt64) throws -> [[Float]] {
    let (engine, tape) = (Engine(rate: 48000, period: 256), Tape())
    var draft = try Draft(start)
    engine.adopt(draft.patch)
    let total = steps.reduce(end) { $0 + $1.frames }
    let thread = RenderThread(engine.renderer, tape, total: total, seed: seed)
    thread.start()
    var time: Int64 = 0
    var random = SeededGenerator(seed: seed)
    for step in steps {
      time += Int64(step.frames)
      if case .edited(let change) = draft.perform(step.line) {
        engine.adopt(change.patch, ramps: change.ramps, tails: change.tails, at: time)
      } else {
        // The line is refused, and fades that end before it are followed up all the same.
        engine.collect(expectingNothingBefore: time)
      }
      // Rendered up to the frame of the edit, concurrently with this thread.
      thread.limit.store(Int(time), ordering: .releasing)
      if Int.random(in: 0..<3, using: &random) == 0 { engine.collect() }
    }
    engine.collect(expectingNothingBefore: Int64(total))
    thread.limit.store(total, ordering: .releasing)
    while engine.renderer.time < total { engine.collect() }
    thread.join()
    return tape.heard
  }
}

/// Output of the first two driver channels.
private final class Tape: @unchecked Sendable {
  private let inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  private let buffers: [UnsafeMutablePointer<Float>]
  private(set) var heard: [[Float]] = [[], []]

  init() {
    inputs = .allocate(capacity: DriverChannels.capacity)
    inputs.initialize(repeating: nil, count: DriverChannels.capacity)
    outputs = .allocate(capacity: DriverChannels.capacity)
    outputs.initialize(repeating: nil, count: DriverChannels.capacity)
    buffers = (0..<2).map { _ in .allocate(capacity: 8192) }
    for (channel, buffer) in buffers.enumerated() { outputs[channel] = buffer }
  }

  deinit {
    inputs.deallocate()
    outputs.deallocate()
    buffers.forEach { $0.deallocate() }
  }

  func record(_ renderer: Renderer, _ frames: Int) {
    renderer.render(frames: frames, inputs: inputs, outputs: outputs)
    for (channel, buffer) in buffers.enumerated() {
      heard[channel].append(contentsOf: UnsafeBufferPointer(start: buffer, count: frames))
    }
  }
}

private final class RenderThread: @unchecked Sendable {
  /// Frames that may be rendered so far.
  let limit = Atomic<Int>(0)
  private let renderer: Renderer
  private let tape: Tape
  private let total: Int
  private var random: SeededGenerator
  private var thread: pthread_t = 0

  init(_ renderer: Renderer, _ tape: Tape, total: Int, seed: UInt64) {
    self.renderer = renderer
    self.tape = tape
    self.total = total
    random = SeededGenerator(seed: seed)
  }

  func start() {
    pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<RenderThread>.fromOpaque(argument!).takeUnretainedValue().run()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func join() { pthread_join(thread, nil) }

  private func run() {
    var done = 0
    while done < total {
      let count = min(Int.random(in: 1...700, using: &random), limit.load(ordering: .acquiring) - done)
      guard count > 0 else {
        sched_yield()
        continue
      }
      tape.record(renderer, count)
      done += count
    }
  }
}

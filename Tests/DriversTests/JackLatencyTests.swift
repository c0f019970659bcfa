import CJack
import Foundation
import Patch
import Synchronization
import TestSupport
import Testing

@testable import Drivers
@testable import Engine

/// Latency: the figures reported to JACK and the delay measured by other clients.
@Suite(.serialized) @MainActor struct JackLatencyTests {
  private let seed: UInt64 = 27

  /// Runs `body` with a patch on a server, a supervisor, and a probe client.
  private func run(
    _ text: String, period: Int, _ body: (LiveGraph, Supervisor, TestClient) throws -> Void
  ) throws {
    // Synchronous server (`-S`): on a busy machine the server is late instead of its clients.
    let server = try JackTestServer(extra: ["-S"], period: period)
    defer { server.stop() }
    let graph = try LiveGraph(text, period: period)
    var options = server.options()
    options.jack.connectsOutputs = false
    let supervisor = Supervisor(engine: graph.engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    try #require(supervisor.driver?.name == "jack")
    try body(graph, supervisor, try #require(TestClient(server: server.name)))
  }

  private func until(_ graph: LiveGraph, _ supervisor: Supervisor, _ condition: () -> Bool) -> Bool {
    wait {
      graph.engine.collect()
      supervisor.poll()
      return condition()
    }
  }

  /// A random chain of nodes with and without latency, from the input to an output of that name, and an edit
  /// that adds latency.
  private static func chain(_ name: String, _ random: inout SeededGenerator) -> (text: String, edit: String) {
    var lines = ["node \(name) output channels=1"]
    var last = "line"
    for index in 0..<Int.random(in: 0...3, using: &random) {
      let kind = ["distortion drive=0dB", "equalizer", "gain gain=-1dB", "distortion drive=0dB oversample=4"]
        .randomElement(using: &random)!
      lines += ["node \(name)\(index) \(kind)", "connect \(last) -> \(name)\(index)"]
      last = "\(name)\(index)"
    }
    lines.append("connect \(last) -> \(name)")
    return (lines.joined(separator: "\n"), "insert \(name)new distortion drive=0dB into \(last) -> \(name)")
  }

  @Test(arguments: [16, 32, 48, 64, 128, 256, 441, 512, 1024])
  func aLoopThroughThePatchMeasuresForEachPortWhatIsReportedForIt(period: Int) throws {
    var random = SeededGenerator(seed: seed + UInt64(period))
    print("seed \(seed)")
    let (wet, dry) = (Self.chain("wet", &random), Self.chain("dry", &random))
    let text = "node line input channels=1\n\(wet.text)\n\(dry.text)"
    try run(text, period: period) { graph, supervisor, probe in
      let meter = try #require(LoopMeter(probe))
      #expect(until(graph, supervisor) { probe.ports(of: "sostenuto").count == 3 })
      #expect(jack_connect(probe.client, LoopMeter.source, "sostenuto:line_1") == 0)
      for edit in ["", wet.edit] {
        if !edit.isEmpty { try graph.perform(edit) }
        var latest = 0
        for name in ["wet", "dry"] {
          #expect(jack_connect(probe.client, "sostenuto:\(name)_1", LoopMeter.target) == 0)
          let delay = try #require(
            meter.measure {
              graph.engine.collect(); supervisor.poll()
            }, "\(text)\n\(edit)\n\(name)")
          latest = max(latest, delay)
          #expect(
            until(graph, supervisor) {
              probe.latency(of: LoopMeter.target, JackCaptureLatency) == [100 + delay, 120 + delay]
            }, "\(delay) measured, \(probe.latency(of: LoopMeter.target, JackCaptureLatency)) told: \(text)")
          #expect(
            until(graph, supervisor) {
              probe.latency(of: LoopMeter.source, JackPlaybackLatency) == [30 + delay, 40 + delay]
            }, "\(delay) measured, \(probe.latency(of: LoopMeter.source, JackPlaybackLatency)) told: \(text)")
          #expect(jack_disconnect(probe.client, "sostenuto:\(name)_1", LoopMeter.target) == 0)
        }
        #expect(graph.engine.report().latency == latest)
      }
    }
  }

  /// `jack_iodelay` in a loop with the patch. JACK delays a loop by a period.
  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/jack_iodelay")),
    arguments: [64, 441, 1024])
  func theLoopThatJackIodelayMeasuresIsAsLongAsIsTold(period: Int) throws {
    let text = """
      node line input channels=1 connect="jack_delay:out"
      node d distortion drive=-24dB
      node out output channels=1 connect="jack_delay:in"
      connect line -> d
      connect d -> out
      """
    try run(text, period: period) { graph, supervisor, probe in
      let meter = Process()
      // Its output is a file's otherwise, which it never flushes.
      meter.executableURL = URL(filePath: "/usr/bin/stdbuf")
      meter.arguments = ["-oL", "/usr/bin/jack_iodelay"]
      meter.environment = ["JACK_DEFAULT_SERVER": probe.server, "JACK_NO_START_SERVER": "1"]
      let path = FileManager.default.temporaryDirectory.appending(path: "sostenuto-delay-\(UUID())").path
      try Data().write(to: URL(filePath: path))
      defer { try? FileManager.default.removeItem(atPath: path) }
      meter.standardOutput = FileHandle(forWritingAtPath: path)
      meter.standardError = FileHandle.nullDevice
      try meter.run()
      defer {
        kill(meter.processIdentifier, SIGKILL)
        meter.waitUntilExit()
      }
      #expect(
        until(graph, supervisor) {
          let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n") ?? []
          return lines.filter { $0.contains("\(period + 32).000 frames") }.count > 3
            && probe.latency(of: "jack_delay:in", JackCaptureLatency) == [32, 32]
            && probe.latency(of: "jack_delay:out", JackPlaybackLatency) == [32, 32]
        }, "\((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")")
    }
  }

  /// A client in a loop with the patch, its cables made in either order. JACK asks the clients of a loop in
  /// the order of those cables, so one of them reads the other's figures of the pass before.
  @Test(arguments: [true, false])
  func aClientInALoopWithThePatchIsToldTheLatencyThatAnEditAddsAndTakes(isSourceFirst: Bool) throws {
    let text = """
      node line input channels=1
      node g gain
      node out output channels=1
      connect line -> g
      connect g -> out
      """
    try run(text, period: 128) { graph, supervisor, probe in
      let ring = try #require(TestClient(server: probe.server, name: "ring"))
      for (name, flag) in [("out", JackPortIsOutput), ("in", JackPortIsInput)] {
        try #require(
          jack_port_register(ring.client, name, JACK_DEFAULT_AUDIO_TYPE, UInt(flag.rawValue), 0) != nil)
      }
      // JACK waits for ever for a client of its graph that has no process callback.
      jack_set_process_callback(ring.client, playNothing, nil)
      // Without a callback for latency, JACK would lead the sum around the loop.
      jack_set_latency_callback(ring.client, tellNothing, nil)
      #expect(jack_activate(ring.client) == 0)
      defer { jack_deactivate(ring.client) }
      #expect(until(graph, supervisor) { probe.ports(of: "sostenuto").count == 2 })
      let cables = [("ring:out", "sostenuto:line_1"), ("sostenuto:out_1", "ring:in")]
      for (from, to) in isSourceFirst ? cables : cables.reversed() {
        #expect(jack_connect(probe.client, from, to) == 0)
      }
      for (edit, frames) in [("insert d distortion drive=0dB into line -> g", 32), ("remove d bridge", 0)] {
        try graph.perform(edit)
        #expect(
          until(graph, supervisor) {
            probe.latency(of: "ring:in", JackCaptureLatency) == [frames, frames]
              && probe.latency(of: "ring:out", JackPlaybackLatency) == [frames, frames]
          },
          """
          \(edit): \(probe.latency(of: "ring:in", JackCaptureLatency)) and \
          \(probe.latency(of: "ring:out", JackPlaybackLatency)) told, \
          \(probe.latency(of: "sostenuto:out_1", JackCaptureLatency)) and \
          \(probe.latency(of: "sostenuto:line_1", JackPlaybackLatency)) set
          """)
      }
    }
  }

  /// 32 bits hold a latency: where others tell one that leaves no room for the patch's own, it is passed on as the largest.
  @Test func aLatencyOfAnotherProgramWithoutBoundsLeavesThePatchRunning() throws {
    let text = """
      node line input channels=1
      node d distortion drive=0dB
      node out output channels=1
      connect line -> d
      connect d -> out
      """
    try run(text, period: 128) { graph, supervisor, probe in
      let boaster = try #require(TestClient(server: probe.server, name: "boaster"))
      let port = try #require(
        jack_port_register(
          boaster.client, "out", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0))
      jack_set_process_callback(boaster.client, playNothing, nil)
      jack_set_latency_callback(boaster.client, tellNearlyAll, UnsafeMutableRawPointer(port))
      #expect(jack_activate(boaster.client) == 0)
      defer { jack_deactivate(boaster.client) }
      #expect(until(graph, supervisor) { probe.ports(of: "sostenuto").count == 2 })
      #expect(jack_connect(probe.client, "boaster:out", "sostenuto:line_1") == 0)
      let most = Int(UInt32.max)
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:out_1", JackCaptureLatency) == [most, most] })
    }
  }

  @Test func aReviews32FramesThroughADistortionAreToldAndAreNoneWhenItIsRemoved() throws {
    let text = """
      node line input channels=1
      node d distortion
      node out output channels=1
      connect line -> d
      connect d -> out
      """
    try run(text, period: 64) { graph, supervisor, probe in
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:out_1", JackCaptureLatency) == [32, 32] })
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:line_1", JackPlaybackLatency) == [32, 32] })
      try graph.perform("remove d bridge")
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:out_1", JackCaptureLatency) == [0, 0] })
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:line_1", JackPlaybackLatency) == [0, 0] })
    }
  }

  @Test func soundOfThePatchsOwnAndWhatMIDIPlaysIsToldAsLateAsItIsMade() throws {
    let text = """
      node tone oscillator
      node d distortion
      node one output channels=1
      connect tone -> d
      connect d -> one
      node keys midi
      node piano sampler
      node e distortion
      node two output channels=2
      connect keys -> piano
      connect piano -> e
      connect e -> two
      node three output channels=1
      connect tone -> three
      """
    try run(text, period: 256) { graph, supervisor, probe in
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:two_2", JackCaptureLatency) == [32, 32] })
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:midi", JackPlaybackLatency) == [32, 32] })
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:one_1", JackCaptureLatency) == [32, 32] })
      #expect(
        until(graph, supervisor) { probe.latency(of: "sostenuto:three_1", JackCaptureLatency) == [0, 0] })
    }
  }

  /// Of parallel ways, the report has the shortest and the longest: random patches against a walk of all
  /// ways.
  @Test func ofParallelWaysTheReportHasTheShortestAndTheLongest() throws {
    var random = SeededGenerator(seed: seed)
    print("seed \(seed)")
    for round in 0..<40 {
      // Nodes in order; each has inputs from earlier ones only.
      let count = Int.random(in: 3...10, using: &random)
      var text = "node i0 input channels=1\nnode i1 input channels=1"
      var names = ["i0", "i1"]
      for index in 0..<count {
        let kind = ["mix", "gain", "distortion", "distortion", "oscillator"].randomElement(using: &random)!
        text += "\nnode n\(index) \(kind)"
        if kind != "oscillator" {
          for _ in 0..<Int.random(in: 0...3, using: &random) {
            let line = "\nconnect \(names.randomElement(using: &random)!) -> n\(index)"
            if !text.contains(line) { text += line }
          }
        }
        names.append("n\(index)")
      }
      for index in 0..<2 {
        text +=
          "\nnode o\(index) output channels=1\nconnect \(names.randomElement(using: &random)!) -> o\(index)"
      }
      let graph = try LiveGraph(text)
      try render(graph.engine)
      let report = graph.engine.report()
      func ways(_ name: String) -> [(from: String, frames: Int)] {
        guard let node = report.nodes.first(where: { $0.name == name }) else { return [] }
        let cables = node.inputs.filter { !$0.isEvents }.flatMap(\.cables)
        if cables.isEmpty { return [(name.hasPrefix("i") ? name : "", node.latency)] }
        return cables.flatMap { cable in
          ways(cable.from).map { ($0.from, $0.frames + cable.compensation + node.latency) }
        }
      }
      for output in ["o0", "o1"] {
        let found = Dictionary(grouping: ways(output), by: \.from)
          .mapValues { ($0.map(\.frames).min()!)...($0.map(\.frames).max()!) }
        let channel = try #require(graph.engine.endpoints.first { $0.name == output }).firstChannel
        var told: [String: ClosedRange<Int>] = [:]
        for path in graph.engine.pathLatencies where path.channels.contains(channel) {
          if case .input(let channels) = path.origin {
            let input = graph.engine.endpoints.first { $0.isInput && $0.firstChannel == channels.lowerBound }
            told[input?.name ?? "?"] = path.frames
          } else {
            told[""] = path.frames
          }
        }
        #expect(told == found, "round \(round), \(output): \(text)")
      }
    }
  }

  private func render(_ engine: Engine) throws {
    let renderer = OfflineRenderer(engine: engine, rate: 48000, tracks: [])
    try renderer.render(frames: 128)
    engine.collect()
  }
}

extension TestClient {
  /// Minimum and maximum latency reported at a port.
  func latency(of port: String, _ mode: jack_latency_callback_mode_t) -> [Int] {
    guard let port = jack_port_by_name(client, port) else { return [] }
    var range = jack_latency_range_t()
    jack_port_get_latency_range(port, mode, &range)
    return [Int(range.min), Int(range.max)]
  }
}

/// Two clients around the patch. The giver sends pulses and reports a capture latency of 100 to 120 frames.
/// The taker receives them and reports a playback latency of 30 to 40 frames.
private final class LoopMeter {
  static let source = "giver:out"
  static let target = "taker:in"
  private let giver: TestClient
  private let taker: TestClient
  private let tape: LoopTape

  init?(_ probe: TestClient) {
    guard let giver = TestClient(server: probe.server, name: "giver"),
      let taker = TestClient(server: probe.server, name: "taker"),
      let out = jack_port_register(
        giver.client, "out", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsOutput.rawValue), 0),
      let input = jack_port_register(
        taker.client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
    else { return nil }
    (self.giver, self.taker) = (giver, taker)
    tape = LoopTape(giver: giver.client, out: out, taker: taker.client, input: input)
    let argument = Unmanaged.passUnretained(tape).toOpaque()
    jack_set_process_callback(giver.client, givePulse, argument)
    jack_set_latency_callback(giver.client, tellGiver, argument)
    jack_set_process_callback(taker.client, takePulse, argument)
    jack_set_latency_callback(taker.client, tellTaker, argument)
    guard jack_activate(giver.client) == 0, jack_activate(taker.client) == 0 else { return nil }
  }

  deinit {
    jack_deactivate(giver.client)
    jack_deactivate(taker.client)
  }

  /// Frames from a sent to a received pulse, once several in a row agree; nil if they never do.
  func measure(_ look: () -> Void) -> Int? {
    var (last, alike, seen) = (-1, 0, tape.pulses.load(ordering: .acquiring))
    let isFound = wait {
      look()
      let count = tape.pulses.load(ordering: .acquiring)
      guard count != seen else { return false }
      seen = count
      let delay = tape.delay.load(ordering: .relaxed)
      alike = delay == last ? alike + 1 : 0
      last = delay
      return alike == 5
    }
    return isFound ? last : nil
  }
}

/// State shared by both clients' callbacks.
private final class LoopTape: Sendable {
  /// Frames from one pulse to the next.
  static let interval = 4800
  nonisolated(unsafe) let giver: OpaquePointer
  nonisolated(unsafe) let out: OpaquePointer
  nonisolated(unsafe) let taker: OpaquePointer
  nonisolated(unsafe) let input: OpaquePointer
  let pulses = Atomic<Int>(0)
  let delay = Atomic<Int>(0)
  /// Loudest sample since the last pulse was sent, and its frame. Only for the taker's callback.
  nonisolated(unsafe) var loudest: Float = 0
  nonisolated(unsafe) var loudestAt = 0

  init(giver: OpaquePointer, out: OpaquePointer, taker: OpaquePointer, input: OpaquePointer) {
    (self.giver, self.out, self.taker, self.input) = (giver, out, taker, input)
  }
}

private func loopTape(_ argument: UnsafeMutableRawPointer?) -> LoopTape {
  Unmanaged<LoopTape>.fromOpaque(argument!).takeUnretainedValue()
}

// Outside of any actor: a closure formed on the main actor would trap on JACK's thread.
private func givePulse(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let tape = loopTape(argument)
  let start = Int(jack_last_frame_time(tape.giver))
  let buffer = jack_port_get_buffer(tape.out, frames)!.assumingMemoryBound(to: Float.self)
  for frame in 0..<Int(frames) { buffer[frame] = (start + frame) % LoopTape.interval == 0 ? 0.5 : 0 }
  return 0
}

private func takePulse(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let tape = loopTape(argument)
  let start = Int(jack_last_frame_time(tape.taker))
  let buffer = jack_port_get_buffer(tape.input, frames)!.assumingMemoryBound(to: Float.self)
  for frame in 0..<Int(frames) {
    let place = (start + frame) % LoopTape.interval
    if place == LoopTape.interval - 1 {
      if tape.loudest > 0.01 {
        tape.delay.store(tape.loudestAt, ordering: .relaxed)
        tape.pulses.wrappingAdd(1, ordering: .releasing)
      }
      tape.loudest = 0
    } else if abs(buffer[frame]) > tape.loudest {
      tape.loudest = abs(buffer[frame])
      tape.loudestAt = place
    }
  }
  return 0
}

private func playNothing(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 { 0 }

private func tellNothing(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {}

/// `argument`: a port.
private func tellNearlyAll(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {
  guard mode == JackCaptureLatency, let argument else { return }
  var range = jack_latency_range_t(min: .max - 10, max: .max - 10)
  jack_port_set_latency_range(OpaquePointer(argument), mode, &range)
}

private func tellGiver(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {
  guard mode == JackCaptureLatency else { return }
  var range = jack_latency_range_t(min: 100, max: 120)
  jack_port_set_latency_range(loopTape(argument).out, mode, &range)
}

private func tellTaker(_ mode: jack_latency_callback_mode_t, _ argument: UnsafeMutableRawPointer?) {
  guard mode == JackPlaybackLatency else { return }
  var range = jack_latency_range_t(min: 30, max: 40)
  jack_port_set_latency_range(loopTape(argument).input, mode, &range)
}

import CJack
import Engine
import Glibc
import Synchronization
import Testing

@testable import Drivers

/// MIDI from another JACK client, and the sound that it receives in return.
@Suite(.serialized) @MainActor struct JackMidiTests {
  private let instrument = StepInstrument()

  @Test func aNoteSoundsAtTheVeryFrameAtWhichAnotherClientSendsItChannelByChannel() throws {
    // Synchronous server (`-S`): on a busy machine the server is late, and its clients lose no events.
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(
      """
      node all midi
      node second midi channel=2
      node a sampler
      node b sampler
      node out output
      connect all -> a
      connect second -> b
      connect a -> out map=[0,-1]
      connect b -> out map=[-1,1]
      """)
    for name in ["a", "b"] { try graph.load(instrument.path(), into: name) }
    // One port is enough: both nodes listen to all senders.
    #expect(graph.engine.midiPorts == [MidiPort(number: 0, sender: nil)])
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let player = try #require(MidiPlayer(server: server.name, name: "player"))
    #expect(wait { player.connect(to: "sostenuto:midi") })
    let left = try #require(SoundListener(server: server.name, source: "sostenuto:out_1", name: "left"))
    let right = try #require(SoundListener(server: server.name, source: "sostenuto:out_2", name: "right"))

    // At the second frame of a period, at its last one, and twice within one period.
    for (count, offset) in [1, 63, 17, 40].enumerated() {
      let channel: UInt8 = count % 2 == 0 ? 0 : 1
      let sent = player.play([0x90 | channel, 60, 100], at: UInt8(offset))
      #expect(
        wait {
          graph.engine.collect()
          return left.onsets.count == count + 1
        })
      #expect(left.onsets.last == sent)
      #expect(wait { right.onsets.count == (count + 1) / 2 })
      if channel == 1 { #expect(right.onsets.last == sent) }
      _ = player.play([0x80 | channel, 60, 0], at: UInt8(offset))
      #expect(wait { left.isSilent && right.isSilent })
    }
  }

  @Test func aSystemExclusiveMessageOfAnotherClientIsHeardGeneralMIDIOnEndsEveryNote() throws {
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(
      """
      node m midi
      node s sampler
      node out output
      connect m -> s
      connect s -> out map=[0]
      """)
    try graph.load(instrument.path(), into: "s")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let player = try #require(MidiPlayer(server: server.name, name: "player"))
    #expect(wait { player.connect(to: "sostenuto:midi") })
    let listener = try #require(
      SoundListener(server: server.name, source: "sostenuto:out_1", name: "listener"))
    _ = player.play([0x90, 60, 100], at: 3)
    #expect(
      wait {
        graph.engine.collect()
        return listener.onsets.count == 1
      })
    #expect(!listener.isSilent)
    _ = player.play([0xF0, 0x7E, 0x7F, 9, 1, 0xF7], at: 9)
    #expect(wait { listener.isSilent })
  }

  @Test func whenTheOtherSideDisconnectsOrCrashesTheNotesEndThatItHeldAndNoOthers() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(
      """
      node hard midi port=player
      node soft midi port=other channel=3
      node s sampler
      node out output
      connect hard -> s
      connect soft -> s
      connect s -> out
      """)
    try graph.load(instrument.path(), into: "s")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    func voices() -> Int {
      graph.engine.collect()
      return graph.engine.report().nodes.first { $0.name == "s" }?.voices ?? -1
    }
    // Each port finds its sender by a part of its name, whenever that client appears.
    var player = try #require(MidiPlayer(server: server.name, name: "a-Player"))
    let other = try #require(MidiPlayer(server: server.name, name: "another"))
    #expect(wait { player.isConnected && other.isConnected })
    for key: UInt8 in [60, 64] { _ = player.play([0x90, key, 100], at: 0) }
    _ = player.play([0xB0, 64, 127], at: 0)
    _ = player.play([0x80, 64, 0], at: 0)
    _ = other.play([0x92, 67, 100], at: 0)
    #expect(wait { voices() == 3 })
    player.close()
    #expect(wait { voices() == 1 })

    // A client that returns under its name is connected again.
    player = try #require(MidiPlayer(server: server.name, name: "a-Player"))
    #expect(wait { player.isConnected })
    _ = player.play([0x90, 60, 100], at: 0)
    #expect(wait { voices() == 2 })
    player.disconnect(from: "sostenuto:midi player")
    #expect(wait { voices() == 1 })
    // A connection removed by the user stays removed.
    #expect(!player.isConnected)
    try graph.perform("remove soft")
    #expect(wait { voices() == 0 })
  }

  /// A keyboard's program that is restarted at once is connected again, and the notes it held end.
  @Test func aKeyboardsProgramThatIsRestartedAtOnceIsConnectedAgain() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph(
      "node hard midi port=player\nnode s sampler\nnode out output\nconnect hard -> s\nconnect s -> out")
    try graph.load(instrument.path(), into: "s")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    func voices() -> Int {
      graph.engine.collect()
      return graph.engine.report().nodes.first { $0.name == "s" }?.voices ?? -1
    }
    var player = try #require(MidiPlayer(server: server.name, name: "a-Player"))
    for _ in 0..<8 {
      #expect(wait { player.isConnected })
      _ = player.play([0x90, 60, 100], at: 0)
      #expect(wait { voices() == 1 })
      player.close()
      player = try #require(MidiPlayer(server: server.name, name: "a-Player"))
      #expect(wait { voices() == 0 })
    }
  }

  @Test func aPortForWhichJACKHasNoPlaceIsThereAsSoonAsAnotherClientLeavesItOne() throws {
    let server = try JackTestServer(extra: ["-p", "64"])
    defer { server.stop() }
    let graph = try LiveGraph("node s sampler\nnode out output\nconnect s -> out")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let probe = try #require(TestClient(server: server.name))
    #expect(wait { probe.ports(of: "sostenuto").count == 2 })
    var hog = TestClient(server: server.name, name: "hog")
    var count = 0
    while let client = hog?.client, count < 100,
      jack_port_register(client, "\(count)", JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsInput.rawValue), 0) != nil
    {
      count += 1
    }
    #expect(count > 10 && count < 64)
    try graph.perform("node m midi port=player")
    try graph.perform("node more output")
    try graph.perform("rename out main")
    driver.update(midi: graph.engine.midiPorts)
    driver.update(graph.engine.endpoints)
    // The rename came last: once it shows, the earlier ports have been tried.
    #expect(wait { probe.ports(of: "sostenuto").contains("sostenuto:main_1") })
    #expect(probe.ports(of: "sostenuto").count == 2)
    hog = nil
    #expect(
      wait {
        Set(probe.ports(of: "sostenuto")) == [
          "sostenuto:main_1", "sostenuto:main_2", "sostenuto:more_1", "sostenuto:more_2",
          "sostenuto:midi player",
        ]
      })
  }
}

/// A JACK client with a MIDI output.
final class MidiPlayer {
  private var client: TestClient?
  private let desk: Desk
  private let port: String

  init?(server: String, name: String) {
    guard let client = TestClient(server: server, name: name),
      let port = jack_port_register(
        client.client, "out", JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsOutput.rawValue), 0)
    else { return nil }
    self.client = client
    self.port = name + ":out"
    desk = Desk(client.client, port)
    jack_set_process_callback(client.client, playPeriod, Unmanaged.passUnretained(desk).toOpaque())
    guard jack_activate(client.client) == 0 else { return nil }
  }

  func connect(to other: String) -> Bool {
    let error = jack_connect(client!.client, port, other)
    return error == 0 || error == EEXIST
  }

  func disconnect(from other: String) { jack_disconnect(client!.client, port, other) }

  var isConnected: Bool { !client!.connections(of: port).isEmpty }

  /// Sends a message of at most six bytes at a frame offset of the next period. Returns JACK's time of that
  /// frame.
  func play(_ message: [UInt8], at offset: UInt8) -> UInt32 {
    let bytes = message + [UInt8](repeating: 0, count: 6 - message.count)
    let word = bytes.reduce(UInt64(offset)) { $0 << 8 | UInt64($1) } | UInt64(message.count) << 56 | 1 << 63
    desk.message.store(word, ordering: .releasing)
    _ = wait { desk.message.load(ordering: .acquiring) == 0 }
    return desk.sentAt.load(ordering: .relaxed)
  }

  /// Sends messages of any length, one in each period.
  func play(_ messages: [[UInt8]]) {
    for message in messages {
      let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: message.count)
      defer { bytes.deallocate() }
      _ = bytes.initialize(from: message)
      desk.length.store(bytes.count, ordering: .relaxed)
      desk.long.store(UInt(bitPattern: bytes.baseAddress), ordering: .releasing)
      _ = wait { desk.long.load(ordering: .acquiring) == 0 }
    }
  }

  func close() { client = nil }

  deinit { client = nil }
}

private final class Desk: Sendable {
  nonisolated(unsafe) let client: OpaquePointer
  nonisolated(unsafe) let port: OpaquePointer
  /// Message for the callback: flag in the highest bit, byte count, offset, six bytes. 0: none.
  let message = Atomic<UInt64>(0)
  /// Address and length of a message for the callback; 0: none.
  let long = Atomic<UInt>(0)
  let length = Atomic<Int>(0)
  let sentAt = Atomic<UInt32>(0)

  init(_ client: OpaquePointer, _ port: OpaquePointer) {
    self.client = client
    self.port = port
  }
}

// Outside of any actor: a closure formed on the main actor would trap on JACK's thread.
private func playPeriod(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let desk = Unmanaged<Desk>.fromOpaque(argument!).takeUnretainedValue()
  guard let buffer = jack_port_get_buffer(desk.port, frames) else { return 0 }
  jack_midi_clear_buffer(buffer)
  if let long = UnsafePointer<UInt8>(bitPattern: desk.long.load(ordering: .acquiring)) {
    jack_midi_event_write(buffer, 0, long, desk.length.load(ordering: .relaxed))
    desk.long.store(0, ordering: .releasing)
  }
  let word = desk.message.load(ordering: .acquiring)
  guard word != 0 else { return 0 }
  let offset = UInt32(word >> 48 & 0xFF)
  let bytes = (0..<6).map { UInt8(truncatingIfNeeded: word >> UInt64(8 * (5 - $0))) }
  jack_midi_event_write(buffer, offset, bytes, Int(word >> 56 & 0x7F))
  desk.sentAt.store(jack_last_frame_time(desk.client) &+ offset, ordering: .relaxed)
  desk.message.store(0, ordering: .releasing)
  return 0
}

/// A JACK client that records when sound begins after silence.
private final class SoundListener {
  private let client: TestClient
  private let ear: Ear

  init?(server: String, source: String, name: String) {
    guard let client = TestClient(server: server, name: name),
      let port = jack_port_register(
        client.client, "in", JACK_DEFAULT_AUDIO_TYPE, UInt(JackPortIsInput.rawValue), 0)
    else { return nil }
    self.client = client
    ear = Ear(client.client, port)
    jack_set_process_callback(client.client, listenPeriod, Unmanaged.passUnretained(ear).toOpaque())
    guard jack_activate(client.client) == 0,
      wait(until: { jack_connect(client.client, source, "\(name):in") == 0 })
    else { return nil }
  }

  /// JACK's times of the first frames of all sounds so far.
  var onsets: [UInt32] { ear.onsets.withLock { $0 } }
  var isSilent: Bool { ear.isSilent.load(ordering: .relaxed) }

  deinit { jack_deactivate(client.client) }
}

private final class Ear: Sendable {
  nonisolated(unsafe) let client: OpaquePointer
  nonisolated(unsafe) let port: OpaquePointer
  let onsets = Mutex<[UInt32]>([])
  let isSilent = Atomic<Bool>(true)

  init(_ client: OpaquePointer, _ port: OpaquePointer) {
    self.client = client
    self.port = port
  }
}

private func listenPeriod(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let ear = Unmanaged<Ear>.fromOpaque(argument!).takeUnretainedValue()
  guard let buffer = jack_port_get_buffer(ear.port, frames)?.assumingMemoryBound(to: Float.self) else {
    return 0
  }
  let first = (0..<Int(frames)).first { buffer[$0] != 0 }
  if let first, ear.isSilent.load(ordering: .relaxed) {
    ear.onsets.withLock { $0.append(jack_last_frame_time(ear.client) &+ UInt32(first)) }
  }
  ear.isSilent.store(first == nil, ordering: .relaxed)
  return 0
}

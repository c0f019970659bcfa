import CJack
import Engine
import Glibc
import Synchronization
import Testing

@testable import Drivers

/// MIDI to another JACK client.
@Suite(.serialized) @MainActor struct JackMidiOutTests {
  /// Lets a player and a listener speak through a patch that passes MIDI on; no message may be lost.
  private func pass(_ body: (MidiPlayer, MidiListener) throws -> Void) throws {
    // Synchronous server (`-S`): on a busy machine the server is late, and its clients lose no events.
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph(
      "node m midi port=player\nnode o midiout port=thru connect=listener:*\nconnect m -> o")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let player = try #require(MidiPlayer(server: server.name, name: "player"))
    let listener = try #require(MidiListener(server: server.name, name: "listener"))
    #expect(wait { player.isConnected && listener.isConnected })
    try body(player, listener)
    #expect(driver.status.lostMidi == 0)
  }

  @Test func aMessageLeavesAtTheFrameAtWhichItCameAndALongOneWhole() throws {
    try pass { player, listener in
      let messages: [[UInt8]] = [
        [0x93, 60, 100], [0xB3, 1, 77], [0xE3, 5, 6], [0xC3, 9], [0xF8], [0xF0, 0x7D, 1, 2, 0xF7],
        [0x83, 60, 3],
      ]
      for (number, message) in messages.enumerated() {
        let time = player.play(message, at: UInt8(number * 9))
        #expect(wait { listener.messages.count == number + 1 })
        #expect(listener.messages.last?.bytes == message)
        #expect(listener.messages.last?.time == time)
      }
    }
  }

  /// A buffer of JACK's holds half of the longest message.
  @Test func aMessageThatIsLongerThanABufferPassesWholeAndAShorterOneInOnePiece() throws {
    try pass { player, listener in
      var heard = 0
      for count in [32_000, 33_000, 60_000, 65_536, 3] {
        let message = [0xF0] + (0..<count - 2).map { UInt8($0 * 7 % 128) } + [0xF7]
        player.play(
          stride(from: 0, to: count, by: 20_000).map { Array(message[$0..<min($0 + 20_000, count)]) })
        #expect(wait { listener.messages.dropFirst(heard).last?.bytes.last == 0xF7 }, "\(count) bytes")
        let pieces = listener.messages.dropFirst(heard).map(\.bytes)
        #expect(pieces.flatMap { $0 } == message, "\(count) bytes")
        #expect(pieces.count == (count <= 32_000 ? 1 : count <= 65_000 ? 2 : 3))
        heard += pieces.count
        // Nothing comes into its middle, and what follows passes.
        _ = player.play([0x90, 60, 100], at: 5)
        _ = player.play([0x80, 60, 0], at: 5)
        #expect(wait { listener.messages.count == heard + 2 })
        heard += 2
      }
    }
  }

  @Test func notesEndAtTheReceiverWhenTheOutputIsRemovedAndWhenTheProgramEnds() throws {
    let server = try JackTestServer(extra: ["-S"])
    defer { server.stop() }
    let graph = try LiveGraph("node k keyboard\nnode o midiout connect=listener:*\nconnect k -> o")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let listener = try #require(MidiListener(server: server.name, name: "listener"))
    #expect(wait { listener.isConnected })
    try graph.perform("note k on 60")
    #expect(wait { listener.messages.map(\.bytes) == [[0x90, 60, 100]] })
    let removed = graph.patch
    try graph.perform("remove o")
    #expect(
      wait {
        graph.engine.collect()
        driver.update(midi: graph.engine.midiPorts)
        return listener.messages.last?.bytes.prefix(2) == [0x80, 60]
      })
    #expect(wait { !listener.isConnected })
    // The connection comes back with the node.
    graph.restore(removed)
    driver.update(midi: graph.engine.midiPorts)
    #expect(wait { listener.isConnected })
    try graph.perform("note k on 72")
    #expect(wait { listener.messages.last?.bytes.prefix(2) == [0x90, 72] })
    driver.stop()
    #expect(wait { listener.messages.last?.bytes.prefix(2) == [0x80, 72] })
  }

  @Test func aConnectionThatTheUserMakesIsKeptAndOneThatThePatchNoLongerAsksForEnds() throws {
    let server = try JackTestServer()
    defer { server.stop() }
    let graph = try LiveGraph("node o midiout")
    let driver = try server.driver(of: graph)
    defer { driver.stop() }
    let listener = try #require(MidiListener(server: server.name, name: "listener"))
    #expect(wait { driver.device.unheard.count == 1 })
    #expect(wait { listener.connect("sostenuto:o") })
    #expect(wait { driver.device.unheard.isEmpty })
    try graph.perform("rename o synth")
    driver.update(midi: graph.engine.midiPorts)
    #expect(wait { listener.connections == ["sostenuto:synth"] })
    listener.disconnect("sostenuto:synth")
    #expect(wait { driver.device.unheard.count == 1 })
    try graph.perform("set synth.connect \"other, LISTEN*\"")
    driver.update(midi: graph.engine.midiPorts)
    #expect(wait { listener.isConnected })
    try graph.perform("set synth.connect none")
    driver.update(midi: graph.engine.midiPorts)
    #expect(wait { !listener.isConnected })
  }
}

/// A JACK client with a MIDI input that keeps what comes.
final class MidiListener {
  struct Message {
    var time: UInt32
    var bytes: [UInt8]
  }

  private let client: TestClient
  private let tape: Tape
  private let port: String

  init?(server: String, name: String) {
    guard let client = TestClient(server: server, name: name),
      let port = jack_port_register(
        client.client, "in", JACK_DEFAULT_MIDI_TYPE, UInt(JackPortIsInput.rawValue), 0)
    else { return nil }
    self.client = client
    self.port = name + ":in"
    tape = Tape(client.client, port)
    jack_set_process_callback(client.client, keepPeriod, Unmanaged.passUnretained(tape).toOpaque())
    guard jack_activate(client.client) == 0 else { return nil }
  }

  var messages: [Message] { tape.messages.withLock { $0 } }
  var connections: [String] { client.connections(of: port) }
  var isConnected: Bool { !connections.isEmpty }
  func connect(_ other: String) -> Bool { jack_connect(client.client, other, port) == 0 }
  func disconnect(_ other: String) { jack_disconnect(client.client, other, port) }
}

private final class Tape: Sendable {
  nonisolated(unsafe) let client: OpaquePointer
  nonisolated(unsafe) let port: OpaquePointer
  let messages = Mutex<[MidiListener.Message]>([])

  init(_ client: OpaquePointer, _ port: OpaquePointer) {
    self.client = client
    self.port = port
  }
}

// Outside of any actor: a closure formed on the main actor would trap on JACK's thread.
private func keepPeriod(_ frames: UInt32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  let tape = Unmanaged<Tape>.fromOpaque(argument!).takeUnretainedValue()
  guard let buffer = jack_port_get_buffer(tape.port, frames) else { return 0 }
  let start = jack_last_frame_time(tape.client)
  for index in 0..<jack_midi_get_event_count(buffer) {
    var event = jack_midi_event_t()
    guard jack_midi_event_get(&event, buffer, index) == 0 else { continue }
    let bytes = Array(UnsafeBufferPointer(start: event.buffer, count: event.size))
    tape.messages.withLock { $0.append(MidiListener.Message(time: start &+ event.time, bytes: bytes)) }
  }
  return 0
}

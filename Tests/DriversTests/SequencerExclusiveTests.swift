import CAlsa
import CFakeAlsa
import Engine
import Realtime
import TestSupport
import Testing

@testable import Drivers

/// Long system exclusive messages reach a node although ALSA hands them over in pieces, and none does of which
/// a piece is missing.
@Suite(.serialized) @MainActor struct SequencerExclusiveTests {
  /// A sequencer with a port, number 3 of a host.
  @MainActor private final class Bench {
    let host = RenderHost(Engine(rate: 48000, period: 64).renderer)
    let sequencer: AlsaSequencer

    init() throws {
      fake_sequencer_insert(true)
      sequencer = try AlsaSequencer.open(host: host, wishes: ConnectionWishes()).get()
      try sequencer.start()
      sequencer.update([MidiPort(number: 3, sender: nil)])
      // The first hears of programs that come and go.
      #expect(wait { fake_sequencer_ports() == 2 })
    }

    func end() {
      sequencer.stop()
      fake_sequencer_insert(false)
      _ = host.close()
    }

    private func event(from client: UInt8) -> snd_seq_event_t {
      var event = snd_seq_event_t()
      event.source = snd_seq_addr_t(client: client, port: 0)
      event.dest = snd_seq_addr_t(client: 128, port: 1)
      return event
    }

    func send(_ bytes: [UInt8], from client: UInt8 = 20) {
      var event = event(from: client)
      fake_sequencer_send(&event, bytes, UInt32(bytes.count))
    }

    func note(_ key: UInt8, from client: UInt8 = 20) {
      var event = event(from: client)
      event.type = UInt8(SND_SEQ_EVENT_NOTEON.rawValue)
      event.data.note = snd_seq_ev_note_t(channel: 0, note: key, velocity: 100, off_velocity: 0, duration: 0)
      fake_sequencer_send(&event, nil, 0)
    }

    func clock(from client: UInt8 = 20) {
      var event = event(from: client)
      event.type = UInt8(SND_SEQ_EVENT_CLOCK.rawValue)
      fake_sequencer_send(&event, nil, 0)
    }

    /// A program ends.
    func leave(_ client: UInt8) {
      var event = snd_seq_event_t()
      event.type = UInt8(SND_SEQ_EVENT_CLIENT_EXIT.rawValue)
      event.data.addr = snd_seq_addr_t(client: client, port: 0)
      fake_sequencer_send(&event, nil, 0)
    }

    /// Events that the product understands, of those that have come in since last asked.
    func heard() -> [Event] { all().filter { $0.kind != .exclusive && $0.kind != .system } }

    /// Events that have come in since last asked.
    func all() -> [Event] {
      // A note of another program: behind all that was sent.
      note(127, from: 99)
      var events: [Event] = []
      #expect(
        wait {
          host.midi.mergeArrivals(frames: 64, length: 0, now: .max)
          for index in 0..<host.midi.inputs[3].count { events.append(host.midi.inputs[3].events[index]) }
          host.midi.inputs[3].removeAll()
          return events.last?.key == 127 && events.last?.kind == .noteOn
        })
      return events.dropLast().map {
        var event = $0
        event.offset = 0
        return event
      }
    }
  }

  private func bench(_ body: (Bench) throws -> Void) throws {
    let bench = try Bench()
    defer { bench.end() }
    try body(bench)
  }

  /// All keys of a tuning.
  private static let dump: [UInt8] =
    [0xF0, 0x7E, 0, 8, 1, 4] + Array("sixteen letters.".utf8)
    + (0..<128).flatMap { [UInt8($0), 0x40, 0] as [UInt8] } + [0, 0xF7]
  private static let reset: [UInt8] = [0xF0, 0x7E, 0x7F, 9, 1, 0xF7]
  private static let keys = (0..<128).map {
    Event(.keyTuning, key: UInt8($0), value: Float($0) + 0.5, detail: 4)
  }

  private func expect(
    _ heard: [Event], _ expected: [Event], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(heard.map { "\($0)" } == expected.map { "\($0)" }, sourceLocation: sourceLocation)
  }

  @Test(arguments: [1, 2, 12, 256, 404, 1000])
  func inPiecesOfAnyLength(length: Int) throws {
    try bench { bench in
      for start in stride(from: 0, to: Self.dump.count, by: length) {
        bench.send(Array(Self.dump[start..<min(start + length, Self.dump.count)]))
        // The clock of other programs and of the same one comes in between.
        if start % 5 == 0 { bench.clock() }
      }
      bench.send(Self.reset)
      expect(bench.heard(), Self.keys + [Event(.reset)])
    }
  }

  @Test func itsBytesPassWholeAlsoWhenNobodyUnderstandsThem() throws {
    let bytes: [UInt8] = [0xF0, 0x7D] + (0..<20_000).map { UInt8($0 * 5 % 128) } + [0xF7]
    try bench { bench in
      for start in stride(from: 0, to: bytes.count, by: 256) {
        bench.send(Array(bytes[start..<min(start + 256, bytes.count)]))
        if start % 1024 == 0 { bench.clock() }
      }
      let events = bench.all()
      #expect(events.filter { $0.kind == .system && $0.key == 8 }.count == 20)
      let whole = try #require(events.first { $0.kind == .exclusive })
      var copy = [UInt8](repeating: 0, count: Int(whole.detail))
      #expect(bench.host.midi.exclusives.copy(whole, to: &copy))
      #expect(copy == bytes)
    }
  }

  @Test func twoProgramsAtOnce() throws {
    try bench { bench in
      for start in stride(from: 0, to: Self.dump.count, by: 100) {
        let piece = Array(Self.dump[start..<min(start + 100, Self.dump.count)])
        bench.send(piece)
        bench.note(UInt8(start / 100), from: 21)
        bench.send(piece, from: 22)
      }
      let notes = (0..<5).map { Event(.noteOn, key: UInt8($0), value: 100) }
      expect(bench.heard(), notes[..<4] + Self.keys + notes[4...] + Self.keys)
    }
  }

  @Test func oneThatIsBrokenOffSaysNothingAndItsRestNeither() throws {
    let (first, rest) = (Array(Self.dump[..<200]), Array(Self.dump[200...]))
    let note = Event(.noteOn, key: 60, value: 100)
    try bench { bench in
      // By another message of the same program.
      bench.send(first)
      bench.note(60)
      bench.send(rest)
      expect(bench.heard(), [note])
      // By the next of its kind, which is heard.
      bench.send(first)
      bench.send(Self.reset)
      bench.send(rest)
      expect(bench.heard(), [Event(.reset)])
      // By a flood in which a piece may have been lost.
      bench.send(first)
      fake_sequencer_overflow()
      bench.send(rest)
      // Notes that it may have lost the ends of are ended.
      let heard = bench.heard()
      #expect(heard.count == 2 && heard.allSatisfy { $0.kind == .noteOff })
      // By the end of the program, of which another gets the number.
      bench.send(first)
      bench.leave(20)
      bench.send(rest)
      expect(bench.heard(), [])
      // Without a beginning, without anything, without an end, and longer than any that is known.
      bench.send(rest)
      bench.send([])
      for _ in 0..<9 { bench.send(first) }
      for _ in 0..<9 { bench.send(Array(first.dropFirst())) }
      bench.send(rest)
      bench.send(Self.dump)
      expect(bench.heard(), Self.keys)
    }
  }

  @Test(arguments: searchSeeds(61, 62))
  func cutAnywhereAndBegunAnew(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    try bench { bench in
      for _ in 0..<60 {
        var expected: [Event] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let isWhole = Bool.random(using: &random)
          let end = isWhole ? Self.dump.count : Int.random(in: 0..<Self.dump.count, using: &random)
          var place = 0
          while place < end {
            let next = min(end, place + Int.random(in: 1...300, using: &random))
            bench.send(Array(Self.dump[place..<next]))
            place = next
          }
          if isWhole { expected += Self.keys }
        }
        expect(bench.heard(), expected)
      }
    }
  }
}

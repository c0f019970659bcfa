import Engine
import Patch
import Realtime
import TestSupport
import Testing

@testable import Drivers

/// A `midiout` node behind a `midi` node, driven by hand.
@Suite struct MidiOutTests {
  private func graph(_ settings: String = "") throws -> LiveGraph {
    try LiveGraph("node m midi\nnode o midiout \(settings)\nconnect m -> o")
  }

  /// Renders a period, and returns what an output sends in it, each event as far as `room` goes.
  private func sent(_ host: RenderHost, frames: Int = 64, port: Int = 0, room: Int = .max) -> [Event] {
    let isDone = host.render(frames: frames, budget: 0)
    #expect(isDone)
    return take(host, port: port, room: room)
  }

  private func take(_ host: RenderHost, port: Int = 0, room: Int = .max, isLast: Bool = false) -> [Event] {
    var events: [Event] = []
    host.midi.beginSending(port, isLast: isLast)
    while let event = host.midi.outputs[port].next() {
      let isSent = host.midi.outputs[port].admits(event) && events.count < room
      if isSent { events.append(event) }
      host.midi.settle(port, isSent: isSent)
    }
    host.midi.endSending(port)
    return events
  }

  private func text(_ events: [Event]) -> [String] { events.map { "\($0)" } }

  private static func message(_ random: inout SeededGenerator) -> Event {
    let channel = UInt8.random(in: 0...15, using: &random)
    let key = UInt8.random(in: 0...127, using: &random)
    let value = Float(Int.random(in: 1...127, using: &random))
    switch Int.random(in: 0..<8, using: &random) {
    case 0...2: return Event(.noteOn, channel: channel, key: key, value: value)
    case 3: return Event(.noteOff, channel: channel, key: key, value: value)
    // 120 and above end notes.
    case 4: return Event(.control, channel: channel, key: key % 120, value: value)
    case 5: return Event(.bend, channel: channel, value: value / 128)
    case 6: return Event(.program, channel: channel, value: value)
    default: return Event(.system, key: 0x8)
    }
  }

  @Test(arguments: 0..<20)
  func everyMessageLeavesAtTheFrameAtWhichItCame(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let graph = try graph()
    defer { withExtendedLifetime(graph) {} }
    let host = RenderHost(graph.engine.renderer)
    for _ in 0..<40 {
      let frames = Int.random(in: 1...1500, using: &random)
      var came: [Event] = []
      for _ in 0..<Int.random(in: 0...40, using: &random) {
        var event = Self.message(&random)
        event.offset = Int32.random(in: 0..<Int32(frames), using: &random)
        host.midi.receive(event, port: 0)
        came.append(event)
      }
      came = came.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }.map(
        \.element)
      #expect(text(sent(host, frames: frames)) == text(came), "seed \(seed)")
    }
    #expect(host.midi.lost == 0)
  }

  @Test func aChannelOfItsOwnReplacesTheOneThatIsPlayedAndAChangeEndsWhatSounds() throws {
    let graph = try graph("channel=3")
    let host = RenderHost(graph.engine.renderer)
    host.midi.receive(Event(.noteOn, channel: 9, key: 60, value: 100, offset: 7), port: 0)
    #expect(text(sent(host)) == text([Event(.noteOn, channel: 2, key: 60, value: 100, offset: 7)]))
    try graph.perform("set o.channel 5")
    #expect(text(sent(host)) == text([Event(.noteOff, channel: 2, key: 60, value: 64)]))
    host.midi.receive(Event(.noteOff, channel: 9, key: 60, value: 64, offset: 8), port: 0)
    #expect(text(sent(host)) == text([Event(.noteOff, channel: 4, key: 60, value: 64, offset: 8)]))
  }

  @Test func aRemovedCableEndsTheNotesThatWentThroughIt() throws {
    let graph = try graph()
    let host = RenderHost(graph.engine.renderer)
    host.midi.receive(Event(.noteOn, key: 60, value: 100), port: 0)
    host.midi.receive(Event(.control, channel: 1, key: 64, value: 127), port: 0)
    #expect(sent(host).count == 2)
    try graph.perform("disconnect m -> o")
    var ends: [Event] = []
    for _ in 0..<100 { ends += sent(host) }
    #expect(
      Set(ends.map { "\($0.kind) \($0.channel) \($0.key) \($0.value)" }) == [
        "noteOff 0 60 64.0", "control 1 64 0.0",
      ])
  }

  @Test func aPanicSilencesEveryChannelOfTheReceivers() throws {
    let graph = try graph()
    let host = RenderHost(graph.engine.renderer)
    host.midi.receive(Event(.noteOn, channel: 4, key: 60, value: 100), port: 0)
    _ = sent(host)
    try graph.perform("panic")
    let events = sent(host)
    #expect(events.contains { $0.kind == .noteOff && $0.channel == 4 && $0.key == 60 })
    #expect(Set(events.filter { $0.kind == .control && $0.key == 120 }.map(\.channel)) == Set(0...15))
  }

  @Test func aDriverThatStopsEndsWhatItsReceiversHold() throws {
    let graph = try graph()
    defer { withExtendedLifetime(graph) {} }
    let host = RenderHost(graph.engine.renderer)
    for key: UInt8 in [60, 64] { host.midi.receive(Event(.noteOn, key: key, value: 100), port: 0) }
    host.midi.receive(Event(.noteOff, key: 64, value: 0, offset: 5), port: 0)
    _ = sent(host)
    #expect(text(take(host, isLast: true)) == text([Event(.noteOff, key: 60, value: 64)]))
    #expect(take(host, isLast: true).isEmpty)
  }

  /// A driver's buffer that is full now and then. In the end the receivers hold what the sender holds.
  @Test(arguments: 0..<20)
  func anEndingForWhichThereIsNoRoomComesLater(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed) &+ 1000)
    let graph = try graph()
    defer { withExtendedLifetime(graph) {} }
    let host = RenderHost(graph.engine.renderer)
    var sounding: Set<Int> = []
    var lost = 0
    for period in 0..<200 {
      var came = 0
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let note = Int.random(in: 0..<24, using: &random)
        let isOn = Bool.random(using: &random)
        host.midi.receive(
          Event(isOn ? .noteOn : .noteOff, channel: UInt8(note % 16), key: UInt8(60 + note / 16), value: 100),
          port: 0)
        came += 1
      }
      let room = period == 199 ? .max : Int.random(in: 0...5, using: &random)
      let before = host.midi.lost
      for event in sent(host, room: room) {
        let note = Int(event.channel) + 16 * (Int(event.key) - 60)
        if event.kind == .noteOn { sounding.insert(note) } else { sounding.remove(note) }
      }
      lost += host.midi.lost - before
      #expect(host.midi.lost - before <= came)
    }
    #expect(lost > 0, "never full")
    // Every key is lifted, as by a player who lets go.
    for note in 0..<24 {
      host.midi.receive(
        Event(.noteOff, channel: UInt8(note % 16), key: UInt8(60 + note / 16), value: 0), port: 0)
    }
    for event in sent(host) where event.kind == .noteOff {
      sounding.remove(Int(event.channel) + 16 * (Int(event.key) - 60))
    }
    #expect(sounding.isEmpty, "seed \(seed)")
  }

  @Test func aSystemExclusiveMessagePassesWhole() throws {
    let graph = try graph()
    defer { withExtendedLifetime(graph) {} }
    let host = RenderHost(graph.engine.renderer)
    for count in [3, 6, 1000, 5000, 65_536] {
      let bytes = [0xF0] + (0..<count - 2).map { UInt8($0 * 7 % 128) } + [0xF7]
      host.midi.receive(bytes, count: bytes.count, offset: 17, port: 0)
      let events = sent(host)
      try #require(events.map(\.kind) == [.exclusive])
      #expect(events[0].offset == 17)
      var copy = [UInt8](repeating: 0, count: Int(events[0].detail))
      #expect(host.midi.exclusives.copy(events[0], to: &copy))
      #expect(copy == bytes)
    }
    let tooLong = [0xF0] + [UInt8](repeating: 1, count: 70_000) + [0xF7]
    host.midi.receive(tooLong, count: tooLong.count, offset: 0, port: 0)
    #expect(sent(host).isEmpty)
    #expect(host.midi.lost == 1)
  }

  /// JACK's bridges hand over long messages in pieces: of several ports at random, with clocks between them, some of them broken
  /// off by notes, by another message or by a lost connection, or too long. Those that are whole pass, the others count as lost.
  @Test(arguments: searchSeeds(1...40))
  func aSystemExclusiveMessageInPiecesPassesWhole(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let engine = Engine(rate: 48000, period: 64)
    let host = RenderHost(engine.renderer)
    defer { withExtendedLifetime(engine) {} }
    var (open, wanted, heard): ([Int: [UInt8]], [[UInt8]], [[UInt8]]) = ([:], [], [])
    var lost = 0
    func give(_ bytes: [UInt8], _ port: Int) {
      host.midi.receive(bytes, count: bytes.count, offset: 3, port: port)
    }
    func data(_ most: Int) -> [UInt8] {
      (0..<Int.random(in: 1...most, using: &random)).map { _ in UInt8.random(in: 0..<128, using: &random) }
    }
    for _ in 0..<400 {
      let port = [0, 1, 15].randomElement(using: &random)!
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        if open[port] != nil { lost += 1 }
        open[port] = [0xF0] + data(300)
        give(open[port]!, port)
      case 1:
        if open.removeValue(forKey: port) != nil { lost += 1 }
        give([0x90, 60, 100], port)
      case 2: give([0xF8], port)
      case 3:
        host.midi.close(port)
        host.midi.begin(0)
        if open.removeValue(forKey: port) != nil { lost += 1 }
      case 4:
        // Also without a beginning, when it means nothing.
        let piece = data(300) + [0xF7]
        give(piece, port)
        if let begun = open.removeValue(forKey: port) {
          if begun.count + piece.count <= 65_536 { wanted.append(begun + piece) } else { lost += 1 }
        }
      case 5 where Int.random(in: 0..<10, using: &random) == 0:
        let piece = [UInt8](repeating: 5, count: 65_500)
        give(piece, port)
        if let begun = open[port] {
          open[port] = begun.count + piece.count <= 65_536 ? begun + piece : nil
          if open[port] == nil { lost += 1 }
        }
      default:
        let piece = data(300)
        give(piece, port)
        if let begun = open[port] {
          open[port] = begun.count + piece.count <= 65_536 ? begun + piece : nil
          if open[port] == nil { lost += 1 }
        }
      }
      for port in [0, 1, 15] {
        for index in 0..<host.midi.inputs[port].count
        where host.midi.inputs[port].events[index].kind == .exclusive {
          let event = host.midi.inputs[port].events[index]
          var copy = [UInt8](repeating: 0, count: Int(event.detail))
          #expect(host.midi.exclusives.copy(event, to: &copy))
          heard.append(copy)
        }
        host.midi.inputs[port].removeAll()
      }
    }
    #expect(heard == wanted && !heard.isEmpty, "seed \(seed)")
    #expect(host.midi.lost == lost, "seed \(seed)")
  }

  @Test func bytesThatWereOverwrittenAreNeverSent() throws {
    let store = ExclusiveStore()
    defer { store.deallocate() }
    let other = ExclusiveStore()
    defer { other.deallocate() }
    let message = [UInt8](repeating: 0x11, count: 40_000)
    let first = try #require(store.add(message, count: message.count))
    var copy = [UInt8](repeating: 0, count: message.count)
    #expect(!other.copy(first, to: &copy))
    for _ in 0..<5 { _ = store.add([UInt8](repeating: 0x22, count: 40_000), count: 40_000) }
    #expect(store.copy(first, to: &copy) && copy == message)
    _ = store.add([UInt8](repeating: 0x33, count: 40_000), count: 40_000)
    #expect(!store.copy(first, to: &copy))
  }

  /// A keyboard that promised a sign of life every 300 ms is gone when none comes.
  @Test func aKeyboardThatFallsSilentInSpiteOfActiveSensingLeavesNoNoteHanging() throws {
    let graph = try graph()
    defer { withExtendedLifetime(graph) {} }
    let host = RenderHost(graph.engine.renderer)
    func render(milliseconds: Int) -> [Event] {
      let isDone = host.render(frames: 48, budget: Int64(milliseconds) * 1_000_000)
      #expect(isDone)
      return take(host)
    }
    host.midi.receive(Event(.noteOn, key: 60, value: 100), port: 0)
    #expect(render(milliseconds: 1).count == 1)
    // Without a promise, silence means nothing.
    #expect(render(milliseconds: 2000).isEmpty)
    for _ in 0..<5 {
      host.midi.receive(Event(.system, key: 0xE), port: 0)
      #expect(render(milliseconds: 300).isEmpty)
    }
    #expect(render(milliseconds: 300).map(\.kind) == [.noteOff])
    #expect(render(milliseconds: 2000).isEmpty)
  }

  @Test func sixteenOutputsHaveAPortEachAndMoreSaySo() throws {
    let graph = try LiveGraph((0..<17).map { "node o\($0) midiout port=p\($0)" }.joined(separator: "\n"))
    #expect(graph.engine.midiPorts.compactMap(\.outlet?.name) == (0..<16).map { "p\($0)" })
    let host = RenderHost(graph.engine.renderer)
    _ = sent(host)
    graph.engine.collect()
    let last = graph.engine.report().nodes.first { $0.name == "o16" }
    #expect(last.map { "\($0.state)" }?.contains("16 other nodes") == true)
    try graph.perform("remove o3")
    for _ in 0..<100 {
      _ = sent(host)
      graph.engine.collect()
    }
    #expect(graph.engine.midiPorts.first { $0.outlet?.name == "p16" }?.number == 3)
  }
}

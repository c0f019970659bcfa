import Realtime
import Testing

/// A full event queue still has room for endings (note-offs, pedals up, all-notes-off).
@Suite struct EventRoomTests {
  private static func randomEvent(_ random: inout SeededGenerator) -> Event {
    let kinds: [Event.Kind] = [
      .noteOn, .noteOn, .noteOff, .noteOff, .noteOff, .control, .control, .bend, .pressure, .keyPressure,
      .program, .play, .cue,
    ]
    let rare: [Event.Kind] = [.allNotesOff, .allSoundOff, .stop]
    let isRare = Int.random(in: 0..<200, using: &random) == 0
    let kind = (isRare ? rare : kinds).randomElement(using: &random)!
    let controllers: [UInt8] = [1, 7, 64, 66, 67, 120, 121, 123, 127]
    let key =
      kind == .control
      ? controllers.randomElement(using: &random)! : UInt8.random(in: 0...127, using: &random)
    return Event(
      kind, channel: UInt8.random(in: 0...15, using: &random), key: key,
      value: Float(Int.random(in: 1...127, using: &random)), offset: Int32.random(in: 0..<64, using: &random))
  }

  /// An ending without the parts that may be lost: release velocity and frame.
  private static func identity(_ event: Event) -> String {
    let key =
      event.kind == .control && event.key >= 123
      ? 123 : event.kind == .noteOff || event.kind == .control ? event.key : 0
    let channel = event.kind == .noteOff || event.kind == .control ? event.channel : 0
    return "\(event.kind) \(channel) \(key)"
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func aFullQueueLosesNoEndingAndCountsWhatItLoses(seed: UInt64) {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var queue = EventQueue()
    defer { queue.deallocate() }
    for _ in 0..<20 {
      var refused = 0
      var endings: Set<String> = []
      let count = Int.random(in: 0...6000, using: &random)
      for index in 0..<count {
        let event = Self.randomEvent(&random)
        if event.isEnding { endings.insert(Self.identity(event)) }
        if index >= EventQueue.capacity, !event.isEnding { refused += 1 }
        queue.append(event)
      }
      let events = (0..<queue.count).map { queue[$0] }
      let found = Set(events.filter(\.isEnding).map(Self.identity))
      #expect(found == endings)
      #expect(queue.takeDropped() == refused)
      #expect(zip(events, events.dropFirst()).allSatisfy { $0.offset <= $1.offset }, "in order")
      let late = events.dropFirst(EventQueue.capacity)
      #expect(late.allSatisfy { $0.isEnding })
      #expect(Set(late.map(Self.identity)).count == late.count, "each once")
      queue.removeAll()
    }
  }

  @Test func everyNoteOfEveryChannelCanEndInOneBlock() {
    let queue = UnsafeMutablePointer<EventQueue>.allocate(capacity: 1)
    queue.initialize(to: EventQueue())
    let memory = UnsafeMutableRawPointer.allocate(byteCount: HeldNotes.size, alignment: 8)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: HeldNotes.size)
    let held = HeldNotes(memory: memory)
    for channel: UInt8 in 0..<16 {
      for key: UInt8 in 0..<128 { held.track(Event(.noteOn, channel: channel, key: key, value: 1)) }
      // A half-pressed pedal also holds, if the instrument says so.
      held.track(Event(.control, channel: channel, key: 64, value: channel == 3 ? 30 : 127))
      held.track(Event(.control, channel: channel, key: 66, value: 127))
    }
    let holds = held.holds(Event(.noteOff, channel: 15, key: 127))
    held.end(into: queue, offset: 7)
    #expect(holds && !held.holds(Event(.noteOff, channel: 15, key: 127)))
    let events = (0..<queue.pointee.count).map { queue.pointee[$0] }
    #expect(events.count == 16 * 128 + 32)
    #expect(Set(events.map(Self.identity)).count == 16 * 128 + 32)
    #expect(events.allSatisfy { $0.offset == 7 } && queue.pointee.dropped == 0)
    held.deallocate()
    queue.pointee.deallocate()
    queue.deallocate()
  }
}

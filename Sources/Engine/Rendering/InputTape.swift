import Realtime
import Synchronization

/// Writes down what the driver gives the renderer besides sound: MIDI, the server's transport, and which side of the load
/// that notes choose their quality by. With the edits and their frames, everything that decides about the sound is known.
struct InputTape: ~Copyable {
  /// Something from the driver.
  struct Record: BitwiseCopyable {
    /// Engine time.
    var time: Int64
    /// MIDI port; negative: `load` has changed.
    var port: Int32
    /// The port's notes end, in place of an event.
    var isClosed = false
    var isLoaded = false
    var event = Event(.allNotesOff)
    /// A change of the server's transport, in place of everything else.
    var transport: TransportInput?
  }

  let records = Ring(capacity: 8192, of: Record.self)
  /// Records that found no room.
  let lost = Atomic<Int>(0)
  private let generations: UnsafeMutablePointer<Int>
  private var isLoaded = false

  /// Worker.
  init() {
    generations = .allocate(capacity: MidiInput.ports)
    generations.initialize(repeating: 0, count: MidiInput.ports)
  }

  deinit {
    records.deallocate()
    generations.deallocate()
  }

  /// Audio thread.
  @_noLocks mutating func write(_ midi: UnsafePointer<MidiInput>?, load: Float, time: Int64) {
    if (load >= 0.5) != isLoaded {
      isLoaded = load >= 0.5
      push(Record(time: time, port: -1, isLoaded: isLoaded))
    }
    guard let midi else { return }
    var port = 0
    while port < MidiInput.ports {
      if midi[port].generation != generations[port] {
        if generations[port] != 0 { push(Record(time: time, port: Int32(port), isClosed: true)) }
        generations[port] = midi[port].generation
      }
      var index = 0
      while index < midi[port].count {
        let event = midi[port].events[index]
        push(Record(time: time &+ Int64(event.offset), port: Int32(port), event: event))
        index &+= 1
      }
      port &+= 1
    }
  }

  /// Audio thread.
  @_noLocks mutating func write(_ transport: TransportInput, time: Int64) {
    push(Record(time: time, port: -1, transport: transport))
  }

  @_noLocks private mutating func push(_ record: Record) {
    var record = record
    if !records.push(&record) { lost.wrappingAdd(1, ordering: .relaxed) }
  }
}

import Engine
import Midi
import Realtime
import Synchronization

/// MIDI between a driver and the renderer: the inputs' events for the next render, the outputs' events of the last one,
/// and rings to a thread that receives and sends for drivers without MIDI of their own.
struct MidiTraffic: ~Copyable, Sendable {
  /// `MidiInput.ports` entries with the events for the next render; empty after it. Audio thread.
  nonisolated(unsafe) let inputs: UnsafeMutablePointer<MidiInput>
  /// `MidiOutput.ports` entries with the events of the last render, until they are flushed. Audio thread.
  nonisolated(unsafe) let outputs: UnsafeMutablePointer<MidiOutput>
  /// System exclusive messages on their way.
  let exclusives = ExclusiveStore()
  /// Those of which the inputs have a part.
  private let pieces = ExclusivePieces()
  /// Nanoseconds since the last message of an input whose sender promised one at least every 300 ms (active sensing);
  /// negative without a promise. Audio thread.
  nonisolated(unsafe) private let silences: UnsafeMutablePointer<Int64>
  /// A bit for each input that lost a connection.
  private let closedInputs = Atomic<UInt32>(0)
  /// A bit for each output of which the receivers are to end everything.
  private let endedOutputs = Atomic<UInt32>(0)
  /// A bit for each output of which a thread of its own sends the events.
  private let threadedOutputs = Atomic<UInt32>(0)
  /// Messages that arrived between renders, from a thread of its own.
  private let arrivals = Ring(capacity: 2048, of: Passing.self)
  /// Messages for that thread to send.
  private let departures = Ring(capacity: 2048, of: Passing.self)
  /// MIDI messages lost because a ring or a buffer was full.
  private let lostCount = Atomic<Int>(0)

  /// A message, and when it arrived or is due, in nanoseconds of the monotonic clock.
  struct Passing: BitwiseCopyable {
    var event: Event
    var port: Int
    var time: Int64
  }

  init() {
    // A new value for each driver, so that notes held by another driver's ports end.
    let generation = Self.made.wrappingAdd(1, ordering: .relaxed).newValue << 32
    inputs = .allocate(capacity: MidiInput.ports)
    for port in 0..<MidiInput.ports { (inputs + port).initialize(to: MidiInput(generation: generation)) }
    outputs = .allocate(capacity: MidiOutput.ports)
    for port in 0..<MidiOutput.ports { (outputs + port).initialize(to: MidiOutput()) }
    silences = .allocate(capacity: MidiInput.ports)
    silences.initialize(repeating: -1, count: MidiInput.ports)
  }

  private static let made = Atomic<Int>(0)

  deinit {
    for port in 0..<MidiInput.ports { inputs[port].deallocate() }
    inputs.deallocate()
    for port in 0..<MidiOutput.ports { outputs[port].deallocate() }
    outputs.deallocate()
    silences.deallocate()
    exclusives.deallocate()
    pieces.deallocate()
    arrivals.deallocate()
    departures.deallocate()
  }

  /// MIDI messages lost so far. Any thread.
  var lost: Int { lostCount.load(ordering: .relaxed) }

  @_noLocks private func countLost(_ count: Int) {
    if count > 0 { lostCount.wrappingAdd(count, ordering: .relaxed) }
  }

  /// Bytes of a system exclusive message that came in a moment ago; nil: they are not there any more. Any thread.
  func bytes(of exclusive: Event) -> [UInt8]? {
    guard exclusive.kind == .exclusive, (1...ExclusiveStore.longest).contains(Int(exclusive.detail)) else {
      return nil
    }
    var bytes = [UInt8](repeating: 0, count: Int(exclusive.detail))
    let isWhole = bytes.withUnsafeMutableBufferPointer { exclusives.copy(exclusive, to: $0.baseAddress!) }
    return isWhole ? bytes : nil
  }

  /// Counts a message of which a part is missing. Any thread.
  func lose() { countLost(1) }

  // MARK: Inputs

  /// Ends the notes that an input holds, in the next period, after a lost connection. Any thread.
  func close(_ port: Int) { _ = closedInputs.bitwiseOr(1 << UInt32(port), ordering: .relaxed) }

  /// Takes a message for the next render. Audio thread.
  @_noLocks func receive(_ event: Event, port: Int) {
    let isSensing = event.kind == .system && event.key == 0x0E
    if isSensing || silences[port] >= 0 { silences[port] = 0 }
    if !isSensing { inputs[port].append(event) }
  }

  /// Takes a MIDI message of any length, or the next piece of a system exclusive one. Audio thread, if it is the only one that
  /// adds to `exclusives`.
  @_noLocks func receive(_ bytes: UnsafePointer<UInt8>, count: Int, offset: Int32, port: Int) {
    guard count > 0 else { return }
    let (first, isEnd) = (bytes[0], bytes[count &- 1] == 0xF7)
    if first == 0xF0 {
      countLost(pieces.drop(port))
      if isEnd {
        receive(exclusive: bytes, count, offset, port)
      } else if !pieces.append(bytes, count, port) {
        countLost(1)
      }
    } else if first < 0x80 || first == 0xF7 {
      guard pieces.isOpen(port) else { return }
      guard pieces.append(bytes, count, port) else { return countLost(1) }
      guard isEnd else { return }
      let whole = pieces.finish(port)
      if let start = whole.baseAddress { receive(exclusive: start, whole.count, offset, port) }
      return
    } else if first < 0xF8 {
      // MIDI lets nothing but messages of real time come in between: what was begun is broken off.
      countLost(pieces.drop(port))
    }
    var events = MidiMessage(bytes, count: count, offset: offset)
    while let event = events.next() { receive(event, port: port) }
  }

  @_noLocks private func receive(
    exclusive bytes: UnsafePointer<UInt8>, _ count: Int, _ offset: Int32, _ port: Int
  ) {
    if let whole = exclusives.add(bytes, count: count, offset: offset) {
      receive(whole, port: port)
    } else {
      countLost(1)
    }
  }

  /// Adds a message that arrived at a time of the monotonic clock. If the ring is full, it counts as lost; a
  /// lost ending ends all notes of its port. One thread.
  func arrive(_ event: Event, port: Int, at time: Int64) {
    var arrival = Passing(event: event, port: port, time: time)
    guard !arrivals.push(&arrival) else { return }
    countLost(1)
    if event.isEnding { close(port) }
  }

  /// Adds a whole system exclusive message. The same thread.
  func arrive(exclusive bytes: [UInt8], port: Int, at time: Int64) {
    if let whole = exclusives.add(bytes, count: bytes.count) {
      arrive(whole, port: port, at: time)
    } else {
      countLost(1)
    }
    var events = MidiMessage(bytes, count: bytes.count)
    while let event = events.next() { arrive(event, port: port, at: time) }
  }

  /// Schedules the messages of the last period in this one, each at its frame: all are late by one period,
  /// with no jitter. Call it before each render of `frames` in `length` nanoseconds, which begins at `now`.
  /// Audio thread.
  @_noLocks func mergeArrivals(frames: Int, length: Int64, now: Int64) {
    let start = now &- length
    while let raw = arrivals.peek() {
      let arrival = raw.assumingMemoryBound(to: Passing.self).pointee
      guard arrival.time < now else { return }
      arrivals.pop()
      var event = arrival.event
      let place = length > 0 ? (arrival.time &- start) &* Int64(frames) / length : 0
      event.offset = Int32(truncatingIfNeeded: place > 0 ? (place < frames ? place : Int64(frames &- 1)) : 0)
      receive(event, port: arrival.port)
    }
  }

  /// Prepares a render of so many nanoseconds: notes of lost connections end, also where a sender broke its promise to
  /// send something every 300 ms. Audio thread.
  @_noLocks func begin(_ length: Int64) {
    let closed = closedInputs.exchange(0, ordering: .relaxed)
    var port = 0
    while port < MidiInput.ports {
      if silences[port] >= 0 { silences[port] &+= length }
      let isBroken = silences[port] > Self.longestSilence
      if isBroken { silences[port] = -1 }
      if isBroken || closed >> UInt32(port) & 1 == 1 {
        inputs[port].generation &+= 1
        countLost(pieces.drop(port))
      }
      port &+= 1
    }
    port = 0
    while port < MidiOutput.ports {
      // The driver has no such port, or this would have been sent.
      _ = outputs[port].removeAll()
      port &+= 1
    }
  }

  /// Nanoseconds; the standard allows 300 ms, and some tolerance at both ends.
  private static var longestSilence: Int64 { @_noLocks get { 420_000_000 } }

  /// Forgets the inputs' events after a render. Audio thread.
  @_noLocks func end() {
    var port = 0
    while port < MidiInput.ports {
      countLost(inputs[port].dropped)
      inputs[port].removeAll()
      port &+= 1
    }
  }

  // MARK: Outputs

  /// Ends everything at an output's receivers, with the next period. Any thread.
  func endOutput(_ port: Int) { _ = endedOutputs.bitwiseOr(1 << UInt32(port), ordering: .relaxed) }

  /// Ends everything at an output's receivers if that is due, before its events are sent. Audio thread.
  @_noLocks func beginSending(_ port: Int, isLast: Bool = false) {
    let bit = UInt32(1) << UInt32(port)
    guard isLast || endedOutputs.load(ordering: .relaxed) & bit != 0 else { return }
    _ = endedOutputs.bitwiseAnd(~bit, ordering: .relaxed)
    outputs[port].endAll()
  }

  /// Takes note that the last event of an output's `next` was sent, or that there was no room. Audio thread.
  @_noLocks func settle(_ port: Int, isSent: Bool) {
    if outputs[port].settle(isSent: isSent) { countLost(1) }
  }

  /// Forgets an output's events. Audio thread.
  @_noLocks func endSending(_ port: Int) { countLost(outputs[port].removeAll()) }

  /// Sets whether a thread of its own sends an output's events. Any thread.
  func setThreaded(_ port: Int, _ isThreaded: Bool) {
    let bit = UInt32(1) << UInt32(port)
    if isThreaded {
      _ = threadedOutputs.bitwiseOr(bit, ordering: .relaxed)
    } else {
      _ = threadedOutputs.bitwiseAnd(~bit, ordering: .relaxed)
    }
  }

  /// Hands the events of the last render to the thread that sends them, each due one period after its frame: late by
  /// as much as the sound, with no jitter. Audio thread.
  @_noLocks func depart(frames: Int, length: Int64, now: Int64) {
    let threaded = threadedOutputs.load(ordering: .relaxed)
    guard threaded != 0 else { return }
    var port = 0
    while port < MidiOutput.ports {
      if threaded >> UInt32(port) & 1 == 1 {
        depart(port, frames: Int64(frames), length: length, start: now &+ length)
      }
      port &+= 1
    }
  }

  @_noLocks private func depart(_ port: Int, frames: Int64, length: Int64, start: Int64) {
    beginSending(port)
    while let event = outputs[port].next() {
      var departure = Passing(
        event: event, port: port, time: start &+ Int64(event.offset) &* length / (frames > 0 ? frames : 1))
      settle(port, isSent: outputs[port].admits(event) && departures.push(&departure))
    }
    endSending(port)
  }

  /// The next message to send; nil: none has come. The sending thread.
  func nextDeparture() -> Passing? {
    guard let raw = departures.peek() else { return nil }
    defer { departures.pop() }
    return raw.assumingMemoryBound(to: Passing.self).pointee
  }
}

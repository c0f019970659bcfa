import CJack
import Engine
import Realtime
import Synchronization

/// State shared with JACK's callbacks. It outlives the client, since JACK holds a pointer to it.
final class JackState: Sendable {
  let client: JackPointer
  let rate: Atomic<Int>
  let period: Atomic<Int>
  let isFreewheeling = Atomic<Bool>(false)
  /// Periods requested by the server, rendered or not. Stored by the audio thread alone.
  let beats = Atomic<Int>(0)
  /// Set once the server has shut us down; `reason` is complete then.
  let hasFailed = Atomic<Bool>(false)
  /// Called when ports, connections or latencies have changed; must return at once. JACK's notification
  /// thread, which may lock.
  let onChange: @Sendable () -> Void
  /// Told of other programs' ports as they go and come. The same thread.
  let wishes: ConnectionWishes

  /// Passes latencies on outside of JACK's callback; nil: within it. Assigned before JACK can call.
  nonisolated(unsafe) var passesLater: (@Sendable (jack_latency_callback_mode_t) -> Void)?

  /// Path latencies through the engine.
  let latencies = Mutex<[PathLatency]>([])

  /// The server's transport.
  let transport: JackTransport

  private let host: RenderHost
  /// The same reference for the audio thread, without reference counting.
  private let borrowed: Unmanaged<RenderHost>
  private let borrowedTransport: Unmanaged<JackTransport>
  /// Port of each output channel, then of each input channel, as bits of its pointer, or 0.
  nonisolated(unsafe) let ports: UnsafeMutablePointer<Atomic<UInt>>
  /// Port of each MIDI input, likewise.
  nonisolated(unsafe) let midiPorts: UnsafeMutablePointer<Atomic<UInt>>
  /// Port of each MIDI output, likewise.
  nonisolated(unsafe) private let midiOutputPorts: UnsafeMutablePointer<Atomic<UInt>>
  /// Fades of the outputs. Shared with `host`.
  let fades: OutputFades
  /// True for each port that was heard when it lost its channel.
  private let heardPorts = Mutex<[UInt: Bool]>([:])
  /// Time of the last period; 0 before the first. Audio thread.
  nonisolated(unsafe) private let lastPeriod: UnsafeMutablePointer<Int64>
  nonisolated(unsafe) private let reasonText: UnsafeMutablePointer<CChar>
  private static let reasonSize = 256

  init(
    host: RenderHost, fades: OutputFades, client: JackPointer, rate: Int, period: Int,
    wishes: ConnectionWishes, transport: JackTransport,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.host = host
    self.fades = fades
    self.client = client
    lastPeriod = .allocate(capacity: 1)
    lastPeriod.initialize(to: 0)
    borrowed = .passUnretained(host)
    self.transport = transport
    borrowedTransport = .passUnretained(transport)
    self.rate = Atomic(rate)
    self.period = Atomic(period)
    self.wishes = wishes
    self.onChange = onChange
    ports = .allocate(capacity: 2 * channelCapacity)
    for slot in 0..<2 * channelCapacity { (ports + slot).initialize(to: Atomic(0)) }
    midiPorts = .allocate(capacity: MidiInput.ports)
    for number in 0..<MidiInput.ports { (midiPorts + number).initialize(to: Atomic(0)) }
    midiOutputPorts = .allocate(capacity: MidiOutput.ports)
    for number in 0..<MidiOutput.ports { (midiOutputPorts + number).initialize(to: Atomic(0)) }
    reasonText = .allocate(capacity: Self.reasonSize)
    reasonText.initialize(repeating: 0, count: Self.reasonSize)
  }

  deinit {
    ports.deallocate()
    midiPorts.deallocate()
    midiOutputPorts.deallocate()
    lastPeriod.deallocate()
    reasonText.deallocate()
  }

  /// Assigns a port (or none) to a channel. The audio thread uses it from its next period on; the old port is
  /// unused when the period under way is over. Worker.
  func setPort(_ port: OpaquePointer?, input: Bool, channel: Int) {
    if !input { handOver(port, to: channel) }
    ports[(input ? channelCapacity : 0) + channel].store(UInt(bitPattern: port), ordering: .releasing)
  }

  /// A port that was another channel's sounds on at once; a new one fades in when it is connected. Asks JACK nothing,
  /// which would wait for the next period.
  private func handOver(_ port: OpaquePointer?, to channel: Int) {
    let (old, new) = (ports[channel].load(ordering: .relaxed), UInt(bitPattern: port))
    guard old != new else { return }
    heardPorts.withLock {
      if old != 0 { $0[old] = fades.isHeard(channel) }
      if new != 0 { fades.setHeard(channel, $0.removeValue(forKey: new) ?? false, atOnce: true) }
    }
  }

  /// Forgets ports that are about to be unregistered: JACK uses their addresses again.
  func forget(_ ports: [OpaquePointer]) {
    heardPorts.withLock { heard in for port in ports { heard[UInt(bitPattern: port)] = nil } }
  }

  /// Tells whether each output is connected. Worker.
  func checkHeard() {
    for channel in 0..<channelCapacity {
      guard let port = OpaquePointer(bitPattern: ports[channel].load(ordering: .relaxed)) else { continue }
      let isConnected = jack_port_connected(port) > 0
      guard isConnected != fades.isHeard(channel) else { continue }
      fades.setHeard(channel, isConnected)
      // Connected meanwhile.
      if !isConnected, jack_port_connected(port) > 0 { fades.setHeard(channel, true) }
    }
  }

  /// Tells that a port of this client has been connected. JACK's notification thread.
  func noteHeard(_ port: OpaquePointer) {
    for channel in 0..<channelCapacity
    where ports[channel].load(ordering: .relaxed) == UInt(bitPattern: port) && !fades.isHeard(channel) {
      fades.setHeard(channel, true)
    }
  }

  /// Assigns a MIDI port. Worker.
  func setMidiPort(_ port: OpaquePointer?, number: Int, isInput: Bool) {
    (isInput ? midiPorts : midiOutputPorts)[number].store(UInt(bitPattern: port), ordering: .releasing)
  }

  /// Renders one period between JACK's buffers. Audio thread.
  @_noLocks func process(_ frames: UInt32) {
    let (ports, midiPorts, midiOutputPorts, fades) = (ports, midiPorts, midiOutputPorts, fades)
    let count = Int(frames)
    guard count > 0 else { return }
    // Freewheeling has no deadline, so no load is measured.
    let isFree = isFreewheeling.load(ordering: .relaxed)
    let length =
      isFree
      ? 0 : Double(count) / Double(rate.load(ordering: .relaxed)) * 1e9
    noteGap(Int64(length))
    let transport = borrowedTransport._withUnsafeGuaranteedRef { $0.query() }
    borrowed._withUnsafeGuaranteedRef {
      gather($0, ports, frames)
      gatherMidi($0, midiPorts, frames)
      let isOpen = $0.render(
        frames: count, budget: Int64(length), waitsForReaders: isFree, transport: transport)
      if !isOpen { fades.interrupt($0.outputs, frames: count) }
      sendMidi($0, midiOutputPorts, frames, isLast: !isOpen)
    }
    beats.store(beats.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  /// After several missed periods, as when the process was stopped, the outputs fade in. Audio thread.
  @_noLocks private func noteGap(_ length: Int64) {
    let now = nanoseconds()
    let gap = now &- lastPeriod.pointee
    if lastPeriod.pointee != 0, length > 0, gap > 4 &* length, gap > 100_000_000 { fades.restart() }
    // A server that freewheels, or has just done so, is not late.
    lastPeriod.pointee = length > 0 ? now : 0
  }

  /// Records that the server has shut down. It may run on the audio thread, so it only copies.
  func fail(_ reason: UnsafePointer<CChar>?) {
    guard !hasFailed.load(ordering: .acquiring) else { return }
    JackClients.noteLostServer()
    if let reason {
      for index in 0..<Self.reasonSize - 1 {
        reasonText[index] = reason[index]
        if reason[index] == 0 { break }
      }
    }
    hasFailed.store(true, ordering: .releasing)
  }

  /// JACK's reason for the shutdown; nil while the server runs. Worker.
  var failure: String? {
    hasFailed.load(ordering: .acquiring) ? String(cString: reasonText) : nil
  }

  func countXrun() {
    if !isFreewheeling.load(ordering: .relaxed) { host.countXrun() }
  }
}

@_noLocks private func gather(
  _ host: RenderHost, _ ports: UnsafeMutablePointer<Atomic<UInt>>, _ frames: UInt32
) {
  let (inputs, outputs) = (host.inputs, host.outputs)
  var channel = 0
  while channel < channelCapacity {
    let output = OpaquePointer(bitPattern: ports[channel].load(ordering: .acquiring))
    let input = OpaquePointer(bitPattern: ports[channelCapacity &+ channel].load(ordering: .acquiring))
    if let output {
      outputs[channel] = portBuffer(output, frames)?.assumingMemoryBound(to: Float.self)
    } else {
      outputs[channel] = nil
    }
    if let input {
      inputs[channel] = UnsafePointer(portBuffer(input, frames)?.assumingMemoryBound(to: Float.self))
    } else {
      inputs[channel] = nil
    }
    channel &+= 1
  }
}

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

  /// Path latencies through the engine.
  let latencies = Mutex<[PathLatency]>([])

  private let host: RenderHost
  /// The same reference for the audio thread, without reference counting.
  private let borrowed: Unmanaged<RenderHost>
  /// Port of each output channel, then of each input channel, as bits of its pointer, or 0.
  nonisolated(unsafe) let ports: UnsafeMutablePointer<Atomic<UInt>>
  /// Port of each MIDI input, likewise.
  nonisolated(unsafe) let midiPorts: UnsafeMutablePointer<Atomic<UInt>>
  /// Port of each MIDI output, likewise.
  nonisolated(unsafe) private let midiOutputPorts: UnsafeMutablePointer<Atomic<UInt>>
  nonisolated(unsafe) private let reasonText: UnsafeMutablePointer<CChar>
  private static let reasonSize = 256

  init(
    host: RenderHost, client: JackPointer, rate: Int, period: Int, wishes: ConnectionWishes,
    onChange: @escaping @Sendable () -> Void
  ) {
    self.host = host
    self.client = client
    borrowed = .passUnretained(host)
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
    reasonText.deallocate()
  }

  /// Assigns a port (or none) to a channel. The audio thread uses it from its next period on; the old port is
  /// unused when the period under way is over. Worker.
  func setPort(_ port: OpaquePointer?, input: Bool, channel: Int) {
    ports[(input ? channelCapacity : 0) + channel].store(UInt(bitPattern: port), ordering: .releasing)
  }

  /// Assigns a MIDI port. Worker.
  func setMidiPort(_ port: OpaquePointer?, number: Int, isInput: Bool) {
    (isInput ? midiPorts : midiOutputPorts)[number].store(UInt(bitPattern: port), ordering: .releasing)
  }

  /// Renders one period between JACK's buffers. Audio thread.
  @_noLocks func process(_ frames: UInt32) {
    let (ports, midiPorts, midiOutputPorts) = (ports, midiPorts, midiOutputPorts)
    let count = Int(frames)
    // Freewheeling has no deadline, so no load is measured.
    let length =
      isFreewheeling.load(ordering: .relaxed)
      ? 0 : Double(count) / Double(rate.load(ordering: .relaxed)) * 1e9
    borrowed._withUnsafeGuaranteedRef {
      gather($0, ports, frames)
      gatherMidi($0, midiPorts, frames)
      let isOpen = $0.render(frames: count, budget: Int64(length))
      if !isOpen { silence($0, count) }
      sendMidi($0, midiOutputPorts, frames, isLast: !isOpen)
    }
    beats.store(beats.load(ordering: .relaxed) &+ 1, ordering: .releasing)
  }

  /// Records that the server has shut down. It may run on the audio thread, so it only copies.
  func fail(_ reason: UnsafePointer<CChar>?) {
    guard !hasFailed.load(ordering: .acquiring) else { return }
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

/// Writes silence when there is no renderer: JACK would repeat the old contents of the buffers.
@_noLocks private func silence(_ host: RenderHost, _ frames: Int) {
  let outputs = host.outputs
  var channel = 0
  while channel < channelCapacity {
    if let output = outputs[channel] { setMemory(output, 0, frames &* 4) }
    channel &+= 1
  }
}

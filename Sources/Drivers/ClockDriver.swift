import Engine
import Patch
import Realtime
import Synchronization

/// Renders at the pace of the system's clock where there is no sound hardware: everything works, but nothing
/// is audible. A thread of its own wakes once per period.
public final class ClockDriver: Driver, @unchecked Sendable {
  /// "clock".
  public let name = "clock"
  /// Description for people.
  public let place = "the system's clock, without sound"
  /// Sample rate, Hz.
  public let rate: Double
  /// Frames of a period.
  public let period: Int

  private let host: RenderHost
  private let isStopping = Atomic<Bool>(false)
  private var thread: AudioThread?
  private let sequencer: SequencerUse

  /// `rate` 1000...768000 Hz, `period` 1...8192 frames.
  public init(
    renderer: Renderer, rate: Double = 48000, period: Int = 64, wishes: ConnectionWishes = ConnectionWishes()
  ) {
    host = RenderHost(renderer)
    sequencer = SequencerUse(host, wishes: wishes)
    self.rate = min(max(rate, 1000), 768_000)
    self.period = min(max(period, 1), 8192)
  }

  /// Starts the thread.
  public func start() throws(DriverError) {
    guard thread == nil else { return }
    thread = try startThread()
  }

  // Formed in a nonisolated function, as `AudioThread` requires.
  private nonisolated func startThread() throws(DriverError) -> AudioThread {
    // Below the threads of a JACK server, which matter more.
    try AudioThread(name: "clock", priority: 10) { [self] in run(host) }
  }

  /// Each wakeup is computed from the first, so that no error accumulates. A wakeup that is late by more than
  /// a period is an xrun, and the missed time is not made up for. Audio thread.
  @_noLocks private func run(_ host: RenderHost) {
    let length = Int64(Double(period) / rate * 1e9)
    var origin = nanoseconds()
    var periods = 0
    while !isStopping.load(ordering: .relaxed) {
      periods &+= 1
      let deadline = origin &+ Int64(Double(periods) * Double(period) / rate * 1e9)
      sleep(until: deadline)
      let now = nanoseconds()
      if now &- deadline > length {
        host.countXrun()
        origin = now
        periods = 0
      }
      host.midi.mergeArrivals(frames: period, length: length, now: now)
      guard host.render(frames: period, budget: length) else { return }
      host.midi.depart(frames: period, length: length, now: now)
    }
  }

  /// Stops the thread.
  public func stop() {
    isStopping.store(true, ordering: .relaxed)
    thread?.join()
    sequencer.stop()
    _ = host.close()
  }

  /// Sets the wanted MIDI ports.
  public func update(midi ports: [MidiPort]) { sequencer.update(ports) }
  /// Sets whose transport counts: a MIDI clock's, or the engine's own.
  public func update(transport mode: TransportMode) { host.clock.update(mode) }
  /// A clock that says where it is does as it likes.
  public func perform(_ change: TransportChange) -> Bool { host.clock.role == .clock }
  /// Source of the transport that counts now.
  public var transportRole: TransportRole { host.clock.role ?? .own }
  /// Reason why no MIDI arrives; nil while all is well.
  public var midiFault: String? { sequencer.fault }

  /// Bytes of a system exclusive message that came in a moment ago.
  public func bytes(of exclusive: Event) -> [UInt8]? { host.midi.bytes(of: exclusive) }

  /// Sets the cards beside it.
  public func use(_ cards: Cards) { host.use(cards) }
  /// Nothing to do: no channel leads anywhere.
  public func update(_ endpoints: [Endpoint]) {}

  /// Load and xruns so far.
  public var status: DriverStatus { host.status }
}

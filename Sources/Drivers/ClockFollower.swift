import Patch
import Realtime
import Synchronization

/// A MIDI clock among a driver's MIDI inputs, where the patch goes by it (`transport midi`).
struct ClockFollower: ~Copyable, Sendable {
  private let isOn = Atomic<Bool>(false)
  /// `MidiClock.State`, stored by the audio thread alone.
  private let state = Atomic<UInt8>(MidiClock.State.none.rawValue)
  /// Audio thread.
  nonisolated(unsafe) private let clock: UnsafeMutablePointer<MidiClock>

  init() {
    clock = .allocate(capacity: 1)
    clock.initialize(to: MidiClock())
  }

  deinit { clock.deallocate() }

  /// Any thread.
  func update(_ mode: TransportMode) { isOn.store(mode == .midi, ordering: .relaxed) }

  /// Source of the transport; nil: not a clock's matter. Any thread.
  var role: TransportRole? {
    guard isOn.load(ordering: .relaxed) else { return nil }
    return switch MidiClock.State(rawValue: state.load(ordering: .relaxed)) {
    case .whole: .clock
    case .tempo: .clockTempo
    case .lost: .clockLost
    case .none?, nil: .noClock
    }
  }

  /// The transport that the clock asks for in a period; nil: none. Audio thread.
  @_noLocks func follow(
    _ inputs: UnsafePointer<MidiInput>, frames: Int, _ transport: Transport, at time: Int64
  ) -> TransportInput? {
    guard isOn.load(ordering: .relaxed) else {
      if state.load(ordering: .relaxed) != 0 {
        clock.pointee = MidiClock()
        state.store(0, ordering: .relaxed)
      }
      return nil
    }
    let input = clock.pointee.follow(inputs, frames: frames, transport: transport, at: time)
    state.store(clock.pointee.state.rawValue, ordering: .relaxed)
    return input
  }
}

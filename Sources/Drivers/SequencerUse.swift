import Engine
import Synchronization

/// ALSA sequencer for a driver without MIDI of its own. It is opened when a node first listens. If there was
/// none, it is tried again when a node listens to another sender. Worker.
final class SequencerUse: Sendable {
  private enum State {
    case unused
    case open(AlsaSequencer)
    case missing(String)
  }

  private let state = Mutex(State.unused)
  private let host: RenderHost
  private let wishes: ConnectionWishes

  init(_ host: RenderHost, wishes: ConnectionWishes) {
    self.host = host
    self.wishes = wishes
  }

  func update(_ ports: [MidiPort]) {
    state.withLock { state in
      switch state {
      case .unused, .missing: if !ports.isEmpty { state = open() }
      case .open: break
      }
      if case .open(let sequencer) = state { sequencer.update(ports) }
    }
  }

  private func open() -> State {
    switch AlsaSequencer.open(host: host, wishes: wishes) {
    case .failure(let error): return .missing(error.message)
    case .success(let sequencer):
      do throws(DriverError) {
        try sequencer.start()
        return .open(sequencer)
      } catch {
        return .missing(error.message)
      }
    }
  }

  var fault: String? {
    state.withLock { if case .missing(let reason) = $0 { reason } else { nil } }
  }

  func stop() {
    state.withLock { state in
      if case .open(let sequencer) = state { sequencer.stop() }
      state = .unused
    }
  }
}

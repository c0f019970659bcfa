import Engine
import Synchronization

/// How a driver without MIDI of its own uses the ALSA sequencer: opened when somebody first hears it, and
/// found missing once. Worker.
final class SequencerUse: Sendable {
  private enum State {
    case unused
    case open(AlsaSequencer)
    case missing(String)
  }

  private let state = Mutex(State.unused)
  private let host: RenderHost
  private let memory: ConnectionMemory

  init(_ host: RenderHost, memory: ConnectionMemory) {
    self.host = host
    self.memory = memory
  }

  func update(_ ports: [MidiPort]) {
    state.withLock { state in
      if case .unused = state, !ports.isEmpty { state = open() }
      if case .open(let sequencer) = state { sequencer.update(ports) }
    }
  }

  private func open() -> State {
    switch AlsaSequencer.open(host: host, memory: memory) {
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

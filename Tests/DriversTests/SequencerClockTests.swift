import CAlsa
import CFakeAlsa
import Engine
import Patch
import Realtime
import Synchronization
import TestSupport
import Testing

@testable import Drivers

/// A MIDI clock that comes through ALSA's sequencer moves the transport (`transport midi`), as one through JACK does.
@Suite(.serialized) @MainActor struct SequencerClockTests {
  /// Another program that sends a clock.
  private final class Master: @unchecked Sendable {
    /// Beats a minute; 0: no ticks.
    let tempo = Mutex(0.0)
    private let isOver = Atomic<Bool>(false)
    private var thread: AudioThread?

    func start() throws { thread = try AudioThread(name: "ticks", priority: 20) { [self] in run() } }

    func stop() {
      isOver.store(true, ordering: .relaxed)
      thread?.join()
    }

    private func run() {
      var due = nanoseconds()
      while !isOver.load(ordering: .relaxed) {
        let tempo = tempo.withLock { $0 }
        due = max(due + Int64(60e9 / 24 / max(tempo, 60)), nanoseconds() - 20_000_000)
        sleep(until: due)
        if tempo > 0 { send(SND_SEQ_EVENT_CLOCK) }
      }
    }

    func send(_ type: snd_seq_event_type, _ value: Int32 = 0) {
      var event = snd_seq_event_t()
      event.type = UInt8(type.rawValue)
      event.source = snd_seq_addr_t(client: 20, port: 0)
      // The first port hears of programs that come and go.
      event.dest = snd_seq_addr_t(client: 128, port: 1)
      event.data.control = snd_seq_ev_ctrl_t(channel: 0, unused: (0, 0, 0), param: 0, value: value)
      fake_sequencer_send(&event, nil, 0)
    }
  }

  @Test(arguments: [64, 1024])
  func tempoPlaceStartAndStopThroughALSAAreFollowed(period: Int) throws {
    fake_sequencer_insert(true)
    defer { fake_sequencer_insert(false) }
    // Without a node that listens to MIDI there is a port for the clock.
    let graph = try LiveGraph("tempo 60\nmeter 3/4\ntransport midi\nnode out output", period: period)
    var options = DriverOptions()
    (options.preference, options.period) = (.clock, period)
    let supervisor = Supervisor(engine: graph.engine, options: options)
    supervisor.update(transport: .midi)
    supervisor.start()
    defer { supervisor.stop() }
    let master = Master()
    try master.start()
    defer { master.stop() }
    let renderer = graph.engine.renderer
    func until(_ condition: () -> Bool) -> Bool {
      wait {
        supervisor.poll()
        graph.engine.collect()
        return condition()
      }
    }
    func quarters() -> Double { renderer.transport.quarters(at: renderer.time) }
    func hasTempo(_ tempo: Double, within share: Double = 0.01) -> Bool {
      abs(renderer.transport.pulse.tempo / tempo - 1) < share
    }
    #expect(until { fake_sequencer_ports() == 2 && supervisor.transportRole == .noClock })

    master.tempo.withLock { $0 = 133 }
    #expect(until { supervisor.transportRole == .clockTempo && hasTempo(133) })
    master.send(SND_SEQ_EVENT_STOP)
    #expect(until { supervisor.transportRole == .clock && !renderer.transport.isRolling })
    master.send(SND_SEQ_EVENT_SONGPOS, 389)
    #expect(until { quarters() == 389 / 4.0 })
    master.send(SND_SEQ_EVENT_CONTINUE)
    #expect(until { renderer.transport.isRolling && quarters() > 389 / 4.0 + 1 })
    master.tempo.withLock { $0 = 180 }
    #expect(until { hasTempo(180) })
    master.send(SND_SEQ_EVENT_START)
    #expect(until { renderer.transport.isRolling && (0.5..<60).contains(quarters()) && hasTempo(180) })
    // The cable is pulled: place goes on, in the tempo of that moment, which may make up for a late tick. Then the clock
    // is found again.
    master.tempo.withLock { $0 = 0 }
    #expect(until { supervisor.transportRole == .clockLost })
    let before = quarters()
    #expect(until { quarters() > before + 0.5 })
    #expect(renderer.transport.isRolling && hasTempo(180, within: 0.1), "\(renderer.transport.pulse)")
    master.tempo.withLock { $0 = 180 }
    #expect(until { supervisor.transportRole != .clockLost && hasTempo(180) })
  }
}

import CAlsa
import Engine
import Realtime
import Testing

@testable import Drivers

@Suite @MainActor struct AlsaSequencerTests {
  /// What comes in between two renders is heard one period later, each at its place and on its port.
  @Test func whatComesInBetweenTwoRendersIsHeardOnePeriodLater() throws {
    let host = RenderHost(Engine(rate: 48000, period: 64).renderer)
    defer { _ = host.close() }
    let length: Int64 = 1_333_333
    // At the start of the period before, at its middle, at its end, and after it.
    for (key, time) in [(60, 10_000_000), (61, 10_666_667), (62, 11_333_332), (63, 11_333_334)] {
      host.midi.arrive(Event(.noteOn, key: UInt8(key), value: 1), port: 3, at: Int64(time))
    }
    host.midi.arrive(Event(.noteOn, key: 64, value: 1), port: 1, at: 12_000_000)
    host.midi.mergeArrivals(frames: 64, length: length, now: 11_333_333)
    let keys = (0..<host.midi.inputs[3].count).map { host.midi.inputs[3].events[$0].key }
    let offsets = (0..<host.midi.inputs[3].count).map { host.midi.inputs[3].events[$0].offset }
    #expect(keys == [60, 61, 62])
    #expect(offsets == [0, 32, 63])
    #expect(host.midi.inputs[1].count == 0)
    host.midi.inputs[3].removeAll()
    host.midi.mergeArrivals(frames: 64, length: length, now: 11_333_333 + length)
    #expect(host.midi.inputs[3].count == 1)
    #expect(host.midi.inputs[1].count == 1)
    #expect((31...33).contains(host.midi.inputs[1].events[0].offset))
  }

  @Test func whatTheSequencerSaysIsWhatMIDISays() {
    func note(_ type: snd_seq_event_type, _ velocity: UInt8) -> Event? {
      var event = snd_seq_event_t()
      event.type = UInt8(type.rawValue)
      event.data.note = snd_seq_ev_note_t(
        channel: 2, note: 60, velocity: velocity, off_velocity: 0, duration: 0)
      return Event(sequencer: event)
    }
    func control(_ type: snd_seq_event_type, _ parameter: UInt32, _ value: Int32) -> Event? {
      var event = snd_seq_event_t()
      event.type = UInt8(type.rawValue)
      event.data.control = snd_seq_ev_ctrl_t(channel: 9, unused: (0, 0, 0), param: parameter, value: value)
      return Event(sequencer: event)
    }
    func expect(_ event: Event?, _ other: Event) {
      #expect("\(event as Any)" == "\(Event?.some(other) as Any)")
    }
    expect(note(SND_SEQ_EVENT_NOTEON, 100), Event(.noteOn, channel: 2, key: 60, value: 100))
    expect(note(SND_SEQ_EVENT_NOTEON, 0), Event(.noteOff, channel: 2, key: 60, value: 64))
    expect(note(SND_SEQ_EVENT_NOTEOFF, 30), Event(.noteOff, channel: 2, key: 60, value: 30))
    expect(note(SND_SEQ_EVENT_KEYPRESS, 30), Event(.keyPressure, channel: 2, key: 60, value: 30))
    expect(control(SND_SEQ_EVENT_CONTROLLER, 64, 127), Event(.control, channel: 9, key: 64, value: 127))
    expect(control(SND_SEQ_EVENT_PGMCHANGE, 0, 5), Event(.program, channel: 9, value: 5))
    expect(control(SND_SEQ_EVENT_CHANPRESS, 0, 5), Event(.pressure, channel: 9, value: 5))
    expect(control(SND_SEQ_EVENT_PITCHBEND, 0, -4096), Event(.bend, channel: 9, value: -0.5))
    expect(control(SND_SEQ_EVENT_CLOCK, 0, 0), Event(.system, key: 8))
    expect(control(SND_SEQ_EVENT_SONGPOS, 0, 389), Event(.system, key: 2, detail: 389))
    #expect(control(SND_SEQ_EVENT_TEMPO, 0, 0) == nil)
  }

  /// Where there is no sequencer, that is told once, with every driver that follows, and sound goes on.
  @Test func whereThereIsNoSequencerThatIsToldOnceWithEveryDriverThatFollows() throws {
    let graph = try LiveGraph(
      "node m midi\nnode s sampler\nnode out output\nconnect m -> s\nconnect s -> out")
    var options = DriverOptions()
    options.preference = .clock
    let supervisor = Supervisor(engine: graph.engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    let fault = supervisor.takeMidiFault()
    if let fault { #expect(fault.hasPrefix("no ALSA sequencer (")) }
    #expect(supervisor.takeMidiFault() == nil)
    let before = graph.engine.renderer.time
    #expect(wait { graph.engine.renderer.time > before + 1000 })
  }
}

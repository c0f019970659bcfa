import Engine
import Foundation
import Midi
import Patch
import Realtime
import TestSupport
import Testing

@testable import Drivers

/// An instrument that is at full level from its first frame, for ten seconds.
final class StepInstrument: Sendable {
  private let file = FileManager.default.temporaryDirectory
    .appending(path: "sostenuto-step-\(UUID().uuidString).wav").path

  func path() throws -> String {
    let writer = try SoundFileWriter(path: file, rate: 48000, channels: 1, format: .float32, frames: 480_000)
    try writer.write([Float](repeating: 0.25, count: 480_000), frames: 480_000)
    try writer.finish()
    return file
  }

  deinit { try? FileManager.default.removeItem(atPath: file) }
}

/// A `midi` node before a sampler, driven by hand.
@Suite struct MidiNodeTests {
  private let instrument = StepInstrument()
  private let graph: LiveGraph

  init() throws {
    graph = try LiveGraph(
      """
      node m midi
      node k keyboard
      node s sampler
      node out output
      connect m -> s
      connect k -> s
      connect s -> out
      """)
    try graph.load(instrument.path(), into: "s")
  }

  /// Renders half a second in periods of 64 frames: longer than any release.
  private func go(_ host: RenderHost) {
    for _ in 0..<400 {
      let isDone = host.render(frames: 64, budget: 0)
      #expect(isDone)
    }
    graph.engine.collect()
  }

  private var voices: Int { graph.engine.report().nodes.first { $0.name == "s" }?.voices ?? -1 }

  @Test func aDriverThatDiesLeavesNoNoteHangingWhatCablesAndTheNextDriverHoldStays() throws {
    let first = RenderHost(graph.engine.renderer)
    first.midi.inputs[0].append(Event(.noteOn, key: 60, value: 100, offset: 5))
    try graph.perform("note k on 72")
    go(first)
    #expect(voices == 2)
    let isClosed = first.close()
    #expect(isClosed)
    let second = RenderHost(graph.engine.renderer)
    second.midi.inputs[0].append(Event(.noteOn, key: 62, value: 100))
    go(second)
    #expect(voices == 2)
    second.midi.close(0)
    go(second)
    #expect(voices == 1)
  }

  @Test func whatIsForAllChannelsReachesANodeThatListensToOne() throws {
    try graph.perform("set m.channel 3")
    let host = RenderHost(graph.engine.renderer)
    host.midi.inputs[0].append(Event(.noteOn, channel: 2, key: 60, value: 100, offset: 5))
    go(host)
    #expect(voices == 1)
    host.midi.inputs[0].append(Event(.rhythm, channel: 5, value: 1))
    host.midi.inputs[0].append(Event(.noteOff, channel: 5, key: 60))
    go(host)
    #expect(voices == 1)
    host.midi.inputs[0].append(Event(.reset))
    go(host)
    #expect(voices == 0)
  }

  /// Another channel or port, and a cable that goes, end what is held, pedals too, and nothing else.
  @Test func anotherChannelOrPortAndACableThatGoesEndWhatIsHeldPedalsToo() throws {
    let host = RenderHost(graph.engine.renderer)
    func hold() {
      for event in [
        Event(.noteOn, channel: 2, key: 60, value: 100), Event(.control, channel: 2, key: 66, value: 127),
        Event(.noteOff, channel: 2, key: 60), Event(.noteOn, channel: 2, key: 62, value: 100),
        Event(.control, channel: 2, key: 64, value: 127), Event(.noteOff, channel: 2, key: 62),
        Event(.noteOn, channel: 2, key: 64, value: 100),
      ] { host.midi.inputs[0].append(event) }
    }
    // An octave lower, the sample lasts twice as long.
    try graph.perform("note k on 48")
    for line in [
      "set m.channel 3", "set m.channel 2", "set m.channel all", "set m.port Launch", "disconnect m -> s",
    ] {
      hold()
      go(host)
      #expect(voices == (line == "set m.channel all" ? 1 : 4), "before \(line)")
      try graph.perform(line)
      go(host)
      #expect(voices == 1, "after \(line)")
    }
  }

  @Test func whatComesInFasterThanItCanBeTakenIsCounted() throws {
    let host = RenderHost(graph.engine.renderer)
    for index in 0..<EventQueue.capacity + 88 {
      host.midi.inputs[0].append(Event(.control, key: 1, value: Float(index & 127)))
    }
    go(host)
    #expect(host.status.lostMidi == 88)
    for _ in 0..<3000 { host.midi.arrive(Event(.pressure, value: 1), port: 0, at: 0) }
    #expect(host.status.lostMidi > 88)
  }

  @Test func aFloodOfMIDILosesNoEndOfANoteOnTheWayToTheAudioThreadAndBehindIt() throws {
    let host = RenderHost(graph.engine.renderer)
    for key: UInt8 in 60...63 { host.midi.inputs[0].append(Event(.noteOn, key: key, value: 100)) }
    go(host)
    #expect(voices == 4)
    for _ in 0..<2000 { host.midi.inputs[0].append(Event(.pressure, value: 1)) }
    for key: UInt8 in 60...61 { host.midi.inputs[0].append(Event(.noteOff, key: key, offset: 3)) }
    go(host)
    #expect(voices == 2)
    for _ in 0..<3000 { host.midi.arrive(Event(.pressure, value: 1), port: 0, at: 0) }
    host.midi.arrive(Event(.noteOff, key: 62), port: 0, at: 0)
    go(host)
    #expect(voices == 0, "which note was to end is not known any more: all of the port's do")
  }

  @Test func aNodeForWhichNoPortIsLeftSaysSoAndHearsWhenItIsGivenAnothers() throws {
    func state(_ name: String) -> NodeReport.State? {
      graph.engine.report().nodes.first { $0.name == name }?.state
    }
    for number in 1...MidiInput.ports { try graph.perform("node m\(number) midi port=Sender\(number)") }
    go(RenderHost(graph.engine.renderer))
    let last = "m\(MidiInput.ports)"
    guard case .placeholder(let reason)? = state(last) else {
      Issue.record("\(String(describing: state(last)))")
      return
    }
    #expect(reason.hasPrefix("hears nobody"))
    if case .placeholder? = state("m1") { Issue.record("m1 has a port") }
    try graph.perform("set \(last).port Sender1")
    graph.engine.collect()
    if case .placeholder? = state(last) { Issue.record("it shares a port") }
  }

  @Test func aNodeForWhichNoPortWasLeftHearsAsSoonAsAnotherGivesItsPortUp() throws {
    for number in 1...MidiInput.ports + 1 {
      try graph.perform("node m\(number) midi port=Sender\(number)")
      try graph.perform("connect m\(number) -> s")
    }
    func ports() -> [String?] { graph.engine.midiPorts.map(\.sender) }
    let host = RenderHost(graph.engine.renderer)
    go(host)
    // `m` takes one of the sixteen ports, so two nodes wait.
    let (first, second) = ("Sender\(MidiInput.ports)", "Sender\(MidiInput.ports + 1)")
    #expect(!ports().contains(first) && !ports().contains(second))
    // A renamed port is free at once; a removed node's port is free when the node has gone.
    try graph.perform("set m3.port Sender4")
    #expect(ports().contains(first) && !ports().contains("Sender3"))
    try graph.perform("remove m5")
    go(host)
    go(host)
    #expect(ports().contains(second) && !ports().contains("Sender5"))
    let number = try #require(graph.engine.midiPorts.first { $0.sender == second }?.number)
    let before = voices
    host.midi.inputs[number].append(Event(.noteOn, key: 60, value: 100, offset: 5))
    go(host)
    #expect(voices == before + 1)
  }

  /// A MIDI file is the same sound for every period, though it has more in one frame than a block takes.
  @Test func aMIDIFileIsTheSameSoundForEveryPeriod() throws {
    let events = (0..<3000).map { index -> (frame: Int64, event: Event) in
      let key = UInt8(index % 90 + 20)
      return (
        Int64(1000 + index / 1500 * 701), Event(index % 3 == 2 ? .noteOff : .noteOn, key: key, value: 9)
      )
    }
    var first: Data?
    for period in [64, 1, 1000, 8192] {
      let graph = try LiveGraph(
        "node m midi\nnode s sampler polyphony=8\nnode out output\nconnect m -> s\nconnect s -> out",
        period: period)
      try graph.load(instrument.path(), into: "s")
      let path = NSTemporaryDirectory() + "sostenuto-midi-\(UUID().uuidString).wav"
      defer { try? FileManager.default.removeItem(atPath: path) }
      let renderer = OfflineRenderer(
        engine: graph.engine, rate: 48000, period: period, tracks: [.outputs(to: path)])
      let made = try renderer.render(
        frames: 96_000, midi: MidiPerformance(events: events, end: 5000), silence: (from: 5000, hold: 4800))
      // The release of 0.1 s is over before the level falls to -100 dB.
      #expect((9800..<20_000).contains(made))
      let data = try Data(contentsOf: URL(filePath: path))
      #expect(first == nil || first == data, "period \(period)")
      first = data
    }
  }
}

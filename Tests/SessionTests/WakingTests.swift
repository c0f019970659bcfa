import Drivers
import Engine
import Foundation
import Midi
import Patch
import PatchLanguage
import Realtime
import TestSupport
import Testing

@testable import Session

/// Order of waking: a note begins within 64 frames, and the nodes behind it wake at the frame at which they are reached, in
/// every period. So what is behind a level at zero sleeps in every period, or in none.
@MainActor @Suite(.serialized) struct WakingTests {
  private func render(
    _ text: String, _ events: [MidiFile.TimedEvent], _ folder: Folder, period: Int, threads: Int
  ) throws -> Data {
    var options = SessionOptions()
    options.isOffline = true
    options.driver.period = period
    options.threads = threads
    let session = Session(options: options)
    session.openText(text)
    #expect(session.diagnostics == [])
    var request = RenderRequest(seconds: 0.6)
    request.output = folder.path + "/out.wav"
    request.midi = MidiFile(events: events, duration: 0.6)
    try session.render(request)
    return try Data(contentsOf: URL(fileURLWithPath: folder.path + "/out.wav"))
  }

  private func expectSameInEveryPeriod(_ text: String, _ random: inout SeededGenerator) throws {
    var events: [MidiFile.TimedEvent] = []
    // The second note comes when all that the first one has woken sleeps again.
    for start in [0.02, 0.4] {
      let time = start + Double.random(in: 0..<0.05, using: &random)
      let key = UInt8.random(in: 40...80, using: &random)
      events.append(.init(seconds: time, event: Event(.noteOn, key: key, value: 90)))
      events.append(.init(seconds: time + 0.06, event: Event(.noteOff, key: key, value: 0)))
    }
    let folder = try Folder()
    let whole = try render(text, events, folder, period: 1024, threads: 1)
    for (period, threads) in [(17, 1), (64, 2), (100, 1), (256, 1)] {
      let other = try render(text, events, folder, period: period, threads: threads)
      #expect(other == whole, "\(period) frames: \(text)\n\(events.map(\.seconds))")
    }
  }

  /// An envelope without sustain is at zero when its gate shuts, and so is the level that follows it.
  @Test(
    arguments: [
      "oscillator level=-inf", "oscillator level=-inf channels=2", "noise level=-inf", "supersaw level=-inf",
      "additive level=-inf", "fm level=-inf", "chaos level=-inf", "constant level=0",
    ])
  func aLevelAtZeroIsSilentInEveryPeriod(source: String) throws {
    var random = SeededGenerator(seed: UInt64(source.count))
    for level in ["connect env -> tone.level", "connect v.gate -> tone.level gain=-6dB"] {
      try expectSameInEveryPeriod(
        """
        sostenuto 1
        node in midi
        node v voices polyphony=2
        connect in -> v
        node env envelope attack=1ms decay=10ms sustain=0% release=5ms
        connect v.gate -> env
        node tone \(source)
        \(level)
        node after flanger rate=5Hz
        connect tone -> after
        node out output
        connect after -> out
        """, &random)
    }
  }

  @Test(
    arguments: [
      "modal modes=3", "modal modes=40 shape=plate", "string decay=50ms", "chorus", "phaser",
      "filter freq=900Hz",
      "ladder", "svf", "crossover", "distortion", "pitchshift", "freqshift", "equalizer", "expander",
      "compressor",
      "transient", "exciter", "limiter", "bitcrusher", "delay time=5ms", "echo time=5ms",
      "reverb decay=100ms",
    ])
  func whatANoteWakesSoundsTheSameInEveryPeriod(kind: String) throws {
    var random = SeededGenerator(seed: UInt64(kind.count))
    for _ in 0..<2 {
      try expectSameInEveryPeriod(
        """
        sostenuto 1
        node in midi
        node v voices polyphony=1
        connect in -> v
        node env envelope attack=1ms decay=10ms sustain=0% release=5ms
        connect v.gate -> env
        node tone oscillator shape=saw level=-inf
        connect v -> tone.freq by 1oct
        connect env -> tone.level
        node it \(kind)
        connect tone -> it
        node out output
        connect it -> out
        """, &random)
    }
  }
}

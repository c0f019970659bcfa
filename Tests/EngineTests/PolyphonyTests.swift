import Foundation
import Patch
import TestSupport
import Testing

@testable import Engine

/// Polyphonic patches: notes as channels through oscillators, envelopes and sums.
@Suite struct PolyphonyTests {
  private static func patch(_ polyphony: Int, attack: String = "5ms", voices: String = "") -> String {
    """
    node keys keyboard
    node v voices polyphony=\(polyphony) \(voices)
    node tone oscillator shape=sine level=-12dB
    node env envelope attack=\(attack) decay=0ms sustain=100% release=50ms
    node amp multiply
    node down mixdown channels=1
    node out output channels=1
    connect keys -> v
    connect v -> tone
    connect v -> env
    connect tone -> amp
    connect env -> amp.with
    connect amp -> down
    connect down -> out
    """
  }

  /// Frequency of a sine, in cycles a frame, from its first to its last rise through zero.
  private static func frequency(_ sound: ArraySlice<Float>) -> Double {
    let sound = Array(sound)
    let rises = (1..<sound.count).filter { sound[$0 - 1] < 0 && sound[$0] >= 0 }.map {
      Double($0) - Double(sound[$0]) / Double(sound[$0] - sound[$0 - 1])
    }
    return rises.count > 1 ? Double(rises.count - 1) / (rises.last! - rises.first!) : 0
  }

  /// A line without ports joins the pitch to the frequency, by an octave for an octave, and the gate to the gate. The
  /// oscillator has a channel for each note.
  @Test(arguments: [(1, 64), (5, 17), (16, 100)]) func notesAreInTuneToACent(polyphony: Int, period: Int)
    throws
  {
    let bench = Bench(period: period, channels: 1)
    try bench.begin(Self.patch(polyphony))
    for key in stride(from: 36, through: 96, by: 7) {
      bench.perform("note keys on \(key) 100")
      bench.render(24_000)
      let wanted = 440 * pow(2, Double(key - 69) / 12) / 48_000
      let cents = 1200 * log2(Self.frequency(bench.heard[0].suffix(20_000)) / wanted)
      #expect(abs(cents) < 0.1, "key \(key): \(cents) cents")
      bench.perform("note keys off \(key)")
      bench.render(4800)
      #expect(bench.heard[0].suffix(64).allSatisfy { $0 == 0 })
    }
  }

  /// Many more notes than channels: each takes the channel of another, and nothing jumps.
  @Test(arguments: [1, 2, 5]) func aNoteThatTakesTheChannelOfAnotherIsNoStep(polyphony: Int) throws {
    var random = SeededGenerator(seed: UInt64(polyphony))
    let bench = Bench(channels: 1)
    try bench.begin(Self.patch(polyphony))
    for _ in 0..<40 {
      bench.perform(
        "note keys on \(Int.random(in: 48...72, using: &random)) \(Int.random(in: 1...127, using: &random))")
      bench.render(Int.random(in: 300...3000, using: &random))
    }
    let sound = bench.heard[0]
    // A sine of 523 Hz and the envelope's ways up.
    let steepest = Float(polyphony) * 0.251 * (2 * .pi * 524 / 48_000 + 2.0 / 240)
    let step = zip(sound, sound.dropFirst()).map { abs($0 - $1) }.max()!
    #expect(step < steepest && sound.suffix(300).contains { abs($0) > 0.1 }, "\(step), not \(steepest)")
  }

  /// More channels while notes are held: they sound on as if nothing had happened, and new ones have room.
  @Test(arguments: [(4, 9), (3, 16), (16, 64), (2, 5), (1, 2), (1, 4), (1, 6), (4, 6), (1, 16)])
  func polyphonyGrowsUnderHeldNotes(from: Int, to: Int) throws {
    func run(_ grows: Bool) throws -> Bench {
      let bench = Bench(channels: 1)
      try bench.begin(Self.patch(from))
      for key in 0..<from {
        bench.perform("note keys on \(60 + key) 100")
        bench.render(500)
      }
      if grows { bench.perform("set v.polyphony \(to)") }
      bench.render(4800)
      return bench
    }
    let (still, grown) = (try run(false), try run(true))
    let far = zip(still.heard[0], grown.heard[0]).map { abs($0 - $1) }.max()!
    #expect(far < 1e-5, "\(far)")
    for key in from..<to { grown.perform("note keys on \(60 + key) 100") }
    grown.render(64)
    #expect(grown.engine.report().nodes.first { $0.name == "v" }?.voices == to)
    for key in 0..<to { grown.perform("note keys off \(60 + key)") }
    grown.render(4800)
    #expect(grown.heard[0].suffix(64).allSatisfy { $0 == 0 })
    // Fewer again, and undone: the same counts as in a fresh load.
    grown.perform("set v.polyphony 2")
    grown.render(4800)
    grown.perform("note keys on 69 100")
    grown.render(24_000)
    let cents = 1200 * log2(Self.frequency(grown.heard[0].suffix(20_000)) * 48_000 / 440)
    #expect(abs(cents) < 0.1)
  }

  /// Fewer channels while notes are held: some end, the others sound on, and no further channel of the nodes behind comes to
  /// sound with them.
  @Test(arguments: [1, 2, 3], ["connect env -> tone.level", "connect v.gate -> tone.level"])
  func polyphonyFallsUnderHeldNotes(to: Int, cable: String) throws {
    let bench = Bench(channels: 1)
    try bench.begin(
      Self.patch(16).replacing("level=-12dB", with: "level=-inf").replacing("node amp multiply\n", with: "")
        .replacing(
          "connect tone -> amp\nconnect env -> amp.with\nconnect amp -> down",
          with: "\(cable)\nconnect tone -> down"))
    for key in [60, 64, 67] { bench.perform("note keys on \(key) 100") }
    bench.render(9600)
    let before = bench.heard[0].suffix(4800).map(abs).max()!
    bench.perform("set v.polyphony \(to)")
    bench.render(9600)
    let after = bench.heard[0].suffix(9600).map(abs).max()!
    #expect(before > 0.3 && after < 1.05 * before, "\(after), \(before)")
    #expect(bench.heard[0].suffix(480).contains { abs($0) > 0.1 })
    // And more again.
    bench.perform("set v.polyphony 16")
    for key in [64, 67] { bench.perform("note keys on \(key) 100") }
    bench.render(9600)
    #expect(bench.heard[0].suffix(9600).map(abs).max()! < 1.05 * before)
  }

  /// Kinds with memory in each channel, behind the notes: a channel that is added copies no note, also where a signal of
  /// as many channels would be one for speakers.
  @Test(
    arguments: [
      "filter freq=900Hz q=4", "svf freq=700Hz", "ladder freq=900Hz", "equalizer band1.gain=6dB",
      "delay time=30ms",
      "echo time=20ms feedback=50%", "distortion drive=12dB oversample=2", "bitcrusher bits=6", "phaser",
      "chorus",
      "compressor threshold=-30dB", "expander threshold=-10dB", "gate threshold=-60dB",
      "slew rise=1ms fall=20ms",
      "transient attack=6dB", "freqshift shift=90Hz", "limiter ceiling=-20dB", "pitchshift", "modal",
      "follower",
      "crossover", "exciter", "waveshaper", "meter", "loudness", "ringmod",
    ], [(1, 2), (1, 4), (4, 6), (1, 6)])
  func polyphonyGrowsBehind(kind: String, _ counts: (from: Int, to: Int)) throws {
    func run(_ grows: Bool) throws -> [Float] {
      let bench = Bench(channels: 1)
      let chain = Self.patch(counts.from).replacing(
        "connect amp -> down", with: "connect amp -> it\nconnect it -> down")
      try bench.begin("node it \(kind)\n" + chain)
      for key in 0..<counts.from {
        bench.perform("note keys on \(60 + key) 100")
        bench.render(900)
      }
      if grows { bench.perform("set v.polyphony \(counts.to)") }
      bench.render(9600)
      return bench.heard[0]
    }
    let (still, grown) = (try run(false), try run(true))
    #expect(still.suffix(4800).contains { abs($0) > 1e-3 })
    let far = zip(still, grown).map { abs($0 - $1) }.max()!
    #expect(far < 1e-5, "\(far)")
  }

  /// Sources without a pitch have a channel for each note as well, and it is heard while its key is down: each by itself. More
  /// polyphony leaves those that sound alone.
  @Test(
    arguments: [
      "noise", "noise color=pink", "dust density=9kHz shape=bipolar", "chaos rate=9kHz",
      "chaos system=lorenz",
    ], [64, 37])
  func sourcesWithoutAPitchHaveAChannelForEachNote(source: String, period: Int) throws {
    func run(_ grows: Bool) throws -> Bench {
      let bench = Bench(period: period, channels: 8)
      try bench.begin(
        """
        node keys keyboard
        node v voices polyphony=3
        node hiss \(source) level=-inf
        node out output channels=8
        connect keys -> v
        connect v.gate -> hiss.level
        connect hiss -> out mix=discrete
        """)
      bench.perform("note keys on 60 100")
      bench.render(4810)
      bench.perform("note keys on 64 100")
      bench.render(4810)
      if grows { bench.perform("set v.polyphony 5") }
      bench.render(9620)
      return bench
    }
    let (still, grown) = (try run(false), try run(true))
    func power(_ sound: ArraySlice<Float>) -> Float { sound.reduce(0) { $0 + $1 * $1 } / Float(sound.count) }
    let begins = [0, 4810]
    for (channel, begin) in begins.enumerated() {
      #expect(grown.heard[channel] == still.heard[channel], "channel \(channel)")
      #expect(power(still.heard[channel].suffix(4000)) > 1e-3)
      #expect(still.heard[channel].prefix(begin).allSatisfy { $0 == 0 })
    }
    #expect(still.heard[0].suffix(4000) != still.heard[1].suffix(4000))
    #expect(still.heard[2].allSatisfy { $0 == 0 } && grown.heard[4].allSatisfy { $0 == 0 })
    for key in [67, 69, 71] { grown.perform("note keys on \(key) 100") }
    grown.render(4810)
    for channel in 0..<5 { #expect(power(grown.heard[channel].suffix(2000)) > 1e-3, "channel \(channel)") }
  }

  /// Sources that take a channel for each note by themselves.
  private static let sources = [
    "oscillator shape=saw", "wavetable freq=440Hz position=70%", "fm op2.level=12% feedback=40%",
    "supersaw freq=440Hz detune=0cents channels=1", "supersaw freq=440Hz detune=1cents",
    "additive freq=440Hz slope=-3", "string freq=440Hz decay=20s damp=10%",
  ]

  private static func patch(source: String, polyphony: Int) -> String {
    """
    node keys keyboard
    node v voices polyphony=\(polyphony)
    node tone \(source) level=-12dB
    node env envelope attack=5ms decay=0ms sustain=100% release=50ms
    node amp multiply
    node down mixdown channels=1
    node out output channels=1
    connect keys -> v
    connect v.pitch -> tone.freq by 1oct
    \(source.hasPrefix("string") ? "connect v.gate -> tone.gate" : "")
    connect v -> env
    connect tone -> amp
    connect env -> amp.with
    connect amp -> down
    connect down -> out
    """
  }

  /// Amplitude of a frequency, in a Hann window.
  private static func amplitude(_ sound: ArraySlice<Float>, _ frequency: Double) -> Double {
    var (x, y) = (0.0, 0.0)
    for (index, sample) in sound.enumerated() {
      let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / Double(sound.count))
      x += Double(sample) * window * cos(2 * .pi * frequency * Double(index) / 48_000)
      y += Double(sample) * window * sin(2 * .pi * frequency * Double(index) / 48_000)
    }
    return 4 * (x * x + y * y).squareRoot() / Double(sound.count)
  }

  /// Chords sound through every such source, note by note: an octave's keys that are held are heard, and no others. When
  /// polyphony is raised under them, they go on as if it were not.
  @Test(arguments: sources) func chordsSoundThroughEverySource(source: String) throws {
    var random = SeededGenerator(seed: 91)
    for polyphony in [1, 3, 4, 8] {
      let keys = Array((60...71).shuffled(using: &random).prefix(polyphony))
      let period = [37, 64, 480].randomElement(using: &random)!
      let more = polyphony + Int.random(in: 1...9, using: &random)
      func run(_ edit: String?) throws -> Bench {
        let bench = Bench(period: period, channels: 1)
        try bench.begin(Self.patch(source: source, polyphony: polyphony))
        for key in keys { bench.perform("note keys on \(key) 100") }
        bench.render(26_000)
        if let edit { bench.perform(edit) }
        bench.render(26_000)
        return bench
      }
      let (still, grown) = (try run(nil), try run("set v.polyphony \(more)"))
      // A single channel becomes both of two, as mono does: the second rings out.
      if polyphony > 1 {
        let far = zip(still.heard[0], grown.heard[0]).map { abs($0 - $1) }.max()!
        #expect(far < 1e-5, "\(source), \(keys): \(far)")
      }
      grown.perform("undo")
      grown.render(26_000)
      for heard in [
        still.heard[0][2000..<26_000], still.heard[0].suffix(24_000), grown.heard[0].suffix(24_000),
      ] {
        for key in 60...71 {
          let amplitude = Self.amplitude(heard, 440 * pow(2, Double(key - 69) / 12))
          #expect(
            keys.contains(key) ? amplitude > 0.001 : amplitude < 0.0005,
            "\(source), \(keys): key \(key) has \(amplitude)")
        }
      }
    }
  }

  /// A pitch that stays costs the oscillator no more than a setting, and has the same bits however blocks are cut.
  @Test func heldPitchesHaveTheSameBitsForEveryPeriod() throws {
    func run(_ period: Int) throws -> [Float] {
      let bench = Bench(period: period, channels: 1)
      try bench.begin(
        Self.patch(6, voices: "glide=30ms").replacing(
          "channels=1\nnode out", with: "channels=1 spread=70%\nnode out"
        )
        .replacing("connect amp -> down\n", with: "")
          + """

          node soft filter freq=300Hz q=2
          node lfo lfo rate=5Hz
          connect amp -> soft
          connect v -> soft by 0.5oct
          connect env -> soft.freq by 3oct
          connect v.velocity -> soft.q by 2
          connect lfo -> tone.freq by 20cents
          connect soft -> down
          """)
      for step in 0..<12 {
        bench.perform("note keys on \(50 + step * 5 % 17) \(20 + step * 9)", at: Int64(step) * 1501)
        if step > 2 {
          bench.perform("note keys off \(50 + (step - 3) * 5 % 17)", at: Int64(step) * 1501 + 700)
        }
      }
      bench.render(24_000)
      return bench.heard[0]
    }
    let expected = try run(64)
    #expect(expected.contains { abs($0) > 0.05 })
    for period in [1, 17, 48, 100, 1024] {
      let heard = try run(period)
      #expect(firstDifference(expected, Array(heard.prefix(expected.count))) == nil, "period \(period)")
    }
  }
}

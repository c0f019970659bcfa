import CFakeAlsa
import Foundation
import Patch
import TestSupport
import Testing

@testable import Drivers
@testable import Engine

extension AlsaCardTests {
  /// Sound cards beside the driver, with clocks of their own, in the time of fake cards.
  @Suite(.serialized) struct CardTests {
    private var played: fake_alsa_fate { fake_alsa_look(false) }
    private var captured: fake_alsa_fate { fake_alsa_look(true) }

    private func endpoint(_ isInput: Bool, channels: Int) -> Endpoint {
      Endpoint(
        node: NodeID(raw: 1), name: "cue", device: "fake", isInput: isInput, firstChannel: 0,
        channels: channels, isTap: false)
    }

    private struct Outcome {
      var rig: CardRig
      var state: CardState
      var card: Card
    }

    /// Plays a sine through a fake card, or hears one from it, until `seconds` of its time have passed.
    private func run(
      _ shape: fake_alsa_shape, isInput: Bool = false, rate: Double = 48000, period: Int = 256,
      channels: Int = 1, jitter: Double = 0, seconds: Double, frequency: Double = 997,
      prepare: (CardRig) -> Void = { _ in }
    ) throws -> Outcome {
      withUnsafePointer(to: isInput ? .absent : shape) { playback in
        withUnsafePointer(to: isInput ? shape : .absent) { fake_alsa_insert(playback, $0, 20_000) }
      }
      let card = Card(
        Card.Key(device: "fake", isInput: isInput), channels: max(channels, 2), rate: rate, period: period)
      card.line.update([endpoint(isInput, channels: channels)])
      let rig = CardRig(card.line, rate: rate, period: period, jitter: jitter, frequency: frequency)
      prepare(rig)
      CardRig.present = rig
      fake_alsa_follow { CardRig.present?.go(to: $0) }
      card.start()
      let isOver = wait(upTo: 300) { Double(fake_alsa_look(isInput).played) >= seconds * 1000 }
      let state = card.state
      card.stop()
      fake_alsa_follow(nil)
      CardRig.present = nil
      #expect(isOver, "\(state)")
      return Outcome(rig: rig, state: state, card: card)
    }

    private func heard(_ count: Int = 65536) -> [Float] {
      var samples = [Float](repeating: 0, count: count)
      samples.removeLast(count - Int(fake_alsa_heard(&samples, Int64(count))))
      return samples
    }

    /// Checks stretches of 8,192 frames each.
    private func expectSine(
      _ sound: [Float], near frequency: Double, noise: Double, level: ClosedRange<Double> = 0.495...0.505,
      _ what: String, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Double {
      #expect(sound.count >= 8192, "\(what)", sourceLocation: sourceLocation)
      var least = Double.infinity
      for start in stride(from: 0, through: sound.count - 8192, by: 8192) {
        let sine = FoundSine(sound[start..<start + 8192], near: frequency)
        least = min(least, sine.noise)
        #expect(level.contains(sine.level), "\(what): \(sine)", sourceLocation: sourceLocation)
      }
      #expect(least >= noise, "\(what): \(least) dB", sourceLocation: sourceLocation)
      return least
    }

    /// An hour of a card's time, whose clock is 500 millionths beside the engine's and swings, as both threads wake up to
    /// 0.2 ms late: no xrun, and at its end a sine that is 70 dB above all else.
    @Test(arguments: [500, -500])
    func inAnHourNoXrunComesFromAClockThatIsBesideTheEngines(ppm: Int) throws {
      var shape = fake_alsa_shape.card(ppm: ppm)
      shape.rate = 8000
      shape.swing = 20
      shape.swing_seconds = 600
      shape.jitter = 200
      shape.heard_from = 3590 * 8000
      let outcome = try run(shape, rate: 8000, period: 128, jitter: 0.0002, seconds: 3600)
      #expect(outcome.state.stage == .running)
      #expect(outcome.state.xruns == 0 && played.late == 0)
      #expect(abs(outcome.state.drift - Double(ppm)) < 30, "\(outcome.state)")
      let noise = expectSine(heard(), near: 997 / 8000 / (1 + Double(ppm) * 1e-6), noise: 70, "\(ppm)")
      print("\(ppm) ppm, jitter 0.2 ms: \(noise) dB, \(outcome.state)")
    }

    /// Rates, periods, channels, and directions: 100 dB when the threads wake in time.
    @Test(arguments: [
      (48000, 48000, 256, 1, 500), (48000, 48000, 16, 2, -500), (44100, 48000, 1024, 8, 100),
      (48000, 44100, 64, 2, -3), (96000, 48000, 512, 2, 37), (44100, 96000, 441, 3, -250),
      (96000, 44100, 128, 1, 0),
    ])
    func aSineIsASineAtAllRatesPeriodsAndChannels(
      engine: Int, card: Int, period: Int, channels: Int, ppm: Int
    ) throws {
      for isInput in [false, true] {
        var shape = fake_alsa_shape.card(ppm: ppm)
        shape.rate = UInt32(card)
        shape.channels_max = 8
        shape.tone = 997
        shape.heard_from = 20 * Int64(card)
        let outcome = try run(
          shape, isInput: isInput, rate: Double(engine), period: period, channels: channels, seconds: 23
        ) { $0.heardFrom = 20 * engine }
        #expect(outcome.state.stage == .running && outcome.state.xruns == 0)
        #expect(played.late + captured.late == 0)
        #expect(abs(outcome.state.drift - Double(ppm)) < 1, "\(outcome.state)")
        let pace = 1 + Double(ppm) * 1e-6
        let frequency = isInput ? 997 * pace / Double(engine) : 997 / Double(card) / pace
        let noise = expectSine(
          isInput ? outcome.rig.heard : heard(), near: frequency, noise: 100,
          "\(engine), \(card), \(period), \(channels), \(ppm), input \(isInput)")
        print("\(engine) \(card) \(period) \(channels) \(ppm) \(isInput): \(noise) dB, \(outcome.state)")
      }
    }

    /// The latency that is told is the one that a sine of 20 Hz shows, to a frame of the card.
    @Test(arguments: [(48000, 48000, 256), (48000, 44100, 64), (44100, 96000, 1024)])
    func theLatencyThatIsToldIsTheOneThatThereIs(engine: Int, card: Int, period: Int) throws {
      var shape = fake_alsa_shape.card(ppm: 200)
      shape.rate = UInt32(card)
      shape.heard_from = 60 * Int64(card)
      let outcome = try run(
        shape, rate: Double(engine), period: period, seconds: 62, frequency: 20)
      let pace = Double(card) * 1.0002
      let sine = FoundSine(heard()[...], near: 20 / pace)
      // When the first frame that was kept is heard, and when the engine made what it holds.
      let heardAt = Double(played.first_started - outcome.rig.begin) * 1e-9 + 60 * Double(card) / pace
      let turns = heardAt * 20 - sine.phase
      let error = (turns - outcome.state.latency * 20).remainder(dividingBy: 1) / 20
      // A fake card's thread wakes between two frames.
      #expect(abs(error) < 1 / Double(card), "\(error) and \(outcome.state)")
    }

    @Test func aCardThatIsUnpluggedComesBackByItselfAndFadesIn() throws {
      var shape = fake_alsa_shape.card(ppm: -100)
      shape.vanishes_at = 500
      shape.returns_after = 3000
      shape.tone = 997
      shape.heard_from = 500 * 256
      for isInput in [false, true] {
        let outcome = try run(shape, isInput: isInput, seconds: 12) { $0.heardFrom = 400_000 }
        #expect(outcome.state.stage == .running)
        #expect((isInput ? captured : played).opened == 2)
        if isInput {
          _ = expectSine(outcome.rig.heard, near: 997 / 48000, noise: 80, "after its return")
        } else {
          #expect(largestStep(heard()) < 0.0655)
        }
      }
      // What it captured last fades out.
      let outcome = try run(shape, isInput: true, seconds: 4) { $0.heardFrom = 100_000 }
      #expect(outcome.rig.heard.contains { abs($0) > 0.4 } && outcome.rig.heard.last == 0)
      #expect(largestStep(outcome.rig.heard) < 0.0655)
    }

    /// The sine's own are 2 π 997 / 48000 of its level.
    private func largestStep(_ sound: [Float]) -> Float {
      zip(sound, sound.dropFirst()).map { abs($0 - $1) }.max() ?? 1
    }

    @Test func aCardThatAnotherProgramHasIsToldAndTakenWhenItIsFree() throws {
      let shape = fake_alsa_shape.card()
      withUnsafePointer(to: shape) { fake_alsa_insert($0, $0, 20_000) }
      let other = try AlsaDevice("fake", isCapture: false, rate: 48000, period: 256, channels: 2)
      let card = Card(Card.Key(device: "fake", isInput: false), channels: 2, rate: 48000, period: 256)
      card.start()
      #expect(
        wait { card.state.stage == .absent("ALSA device fake cannot be opened: Device or resource busy") })
      other.close()
      #expect(wait { played.opened == 2 && card.state.stage == .starting })
      card.stop()
    }

    @Test func xrunsOfACardAndPausesOfTheEngineAreSilencesWithFades() throws {
      var shape = fake_alsa_shape.card(ppm: 100)
      shape.xruns = 1
      shape.seed = 5
      var outcome = try run(shape, seconds: 20)
      #expect(outcome.state.xruns > 0)
      // The engine stands still for a second. What follows has no step beyond the sine's own.
      shape.xruns = 0
      shape.heard_from = 48_000 * 2
      outcome = try run(shape, seconds: 6) { $0.pauses = [2.5...3.5] }
      #expect(outcome.state.stage == .running)
      let sound = heard()
      #expect(largestStep(sound) < 0.0655)
      #expect(sound.contains { $0 == 0 })
    }

    /// The engine's thread is late by 1 to 40 ms again and again. What it has missed is missing, or comes in a bunch. However
    /// short the silence is, what ends fades out, and what begins fades in from silence.
    @Test(arguments: searchSeeds(1...120)) func aSilenceOfAnyLengthHasNoStep(seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let isInput = seed.isMultiple(of: 2)
      let period = [16, 32, 64, 100, 256].randomElement(using: &random)!
      var (pauses, lateness): ([ClosedRange<Double>], [ClosedRange<Double>]) = ([], [])
      var place = 1.2
      while place < 9 {
        let length = Double.random(in: 0.001...0.04, using: &random)
        if Bool.random(using: &random) {
          pauses.append(place...place + length)
        } else {
          lateness.append(place...place + length)
        }
        place += length + Double.random(in: 0.01...0.5, using: &random)
      }
      var shape = fake_alsa_shape.card(ppm: 100)
      (shape.rate, shape.tone, shape.heard_from) = (8000, 50, 8000)
      let outcome = try run(
        shape, isInput: isInput, rate: 8000, period: period, seconds: 9, frequency: 50
      ) { ($0.pauses, $0.lateness, $0.heardFrom) = (pauses, lateness, 8000) }
      let sound = isInput ? outcome.rig.heard : heard()
      // The sine's own, and the fade's.
      let bound: Float = 0.5 * (2 * .pi * 50 / 8000 * 1.02 + 1.875 / 80) + 1e-3
      #expect(largestStep(sound) < bound, "seed \(seed), input \(isInput), period \(period)")
      #expect(sound.contains { abs($0) > 0.4 })
    }

    /// The engine's thread wakes up to 2 ms late: nothing is lost for long, since the reserve grows.
    @Test func lateWakeupsMakeTheReserveLongerUntilItSuffices() throws {
      var shape = fake_alsa_shape.card(ppm: 50)
      shape.jitter = 2000
      shape.heard_from = 55 * 48000
      let outcome = try run(shape, period: 128, jitter: 0.004, seconds: 57)
      #expect(outcome.state.stage == .running)
      #expect(outcome.state.xruns < 10)
      _ = expectSine(heard(), near: 997 / 48000 / 1.00005, noise: 45, "late wakeups")
    }

    @Test func aNameThatNoDeviceHasIsToldWithThoseThatThereAre() throws {
      let cards = Cards()
      var wrong = endpoint(false, channels: 2)
      wrong.device = "hw:31"
      cards.update([wrong], rate: 48000, period: 256)
      var notice: (nodes: [NodeID], words: String)?
      #expect(
        wait {
          notice = notice ?? cards.takeNotice([wrong])
          return notice != nil
        })
      let words = try #require(notice).words
      #expect(words.hasPrefix("ALSA device hw:31 cannot be opened: ") && words.includes("; there are "))
      #expect(notice?.nodes == [wrong.node])
      var device = DeviceChannels()
      cards.describe([wrong], &device)
      #expect(device.cards[wrong.node]?.stage == .absent(words))
      #expect(cards.takeNotice([wrong]) == nil)
      cards.stop()
    }
  }

  /// Under a driver in real time: an output with a card of its own, which here is a file.
  @Test @MainActor func anOutputWithADeviceOfItsOwnPlaysThereAndNotThroughTheDriver() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "sostenuto-cue-\(UUID()).raw").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let graph = try LiveGraph(
      "node tone oscillator freq=997Hz level=-6dB\nnode out output\nconnect tone -> out", period: 128)
    var options = DriverOptions()
    options.preference = .clock
    options.period = 128
    let supervisor = Supervisor(engine: graph.engine, options: options)
    supervisor.start()
    defer { supervisor.stop() }
    try graph.perform("node cue output channels=1 device=\"file:FILE=\(path),FORMAT=raw\"")
    try graph.perform("connect tone -> cue")
    let cue = try #require(graph.patch[named: "cue"])
    func state() -> CardState? {
      graph.engine.collect()
      supervisor.poll()
      return graph.engine.device.cards[cue.id]
    }
    #expect(wait { state()?.stage == .running })
    let start = graph.engine.renderer.time
    #expect(wait { graph.engine.renderer.time > start + 96_000 && state() != nil })
    #expect(state()?.latency ?? 0 > 0)
    // Without the device it is an output of the driver; with another one it crossfades there.
    try graph.perform("set cue.device \"\"")
    #expect(wait { state() == nil })
    let data = try Data(contentsOf: URL(filePath: path))
    let sound = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    #expect(sound.contains { abs($0) > 0.4 })
    let steps = zip(sound, sound.dropFirst(2)).map { abs($0 - $1) }.max() ?? 1
    #expect(steps < 0.08)
  }
}

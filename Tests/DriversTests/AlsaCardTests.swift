import CFakeAlsa
import Engine
import Foundation
import Patch
import TestSupport
import Testing

@testable import Drivers

extension fake_alsa_shape {
  /// A typical card; it takes floats.
  static func card(ppm: Int = 0, period: ClosedRange<Int> = 16...4096, formats: UInt32 = 1) -> Self {
    var shape = fake_alsa_shape()
    shape.is_card = true
    shape.rate = 48000
    shape.channels_max = 2
    shape.formats = formats
    shape.period_min = UInt32(period.lowerBound)
    shape.period_max = UInt32(period.upperBound)
    shape.period_multiple = 1
    shape.buffer_max = 1 << 16
    shape.ppm = Int32(ppm)
    return shape
  }

  static var absent: Self {
    var shape = fake_alsa_shape()
    shape.is_absent = true
    return shape
  }
}

/// Fake ALSA cards with controllable clocks.
@Suite(.serialized) struct AlsaCardTests {
  private let seed: UInt64 = 12
  private var played: fake_alsa_fate { fake_alsa_look(false) }
  private var captured: fake_alsa_fate { fake_alsa_look(true) }

  /// Runs a driver on a fake card until `isOver`, then stops it.
  private func play(
    _ graph: LiveGraph, on playback: fake_alsa_shape, capture: fake_alsa_shape = .absent, period: Int = 256,
    device: String = "fake", until isOver: (AlsaDriver) -> Bool
  ) throws -> AlsaDriver {
    withUnsafePointer(to: playback) { playback in
      withUnsafePointer(to: capture) { fake_alsa_insert(playback, $0, 100_000) }
    }
    let driver = try AlsaDriver(renderer: graph.engine.renderer, device: device, rate: 48000, period: period)
    driver.update(graph.engine.endpoints)
    try driver.start()
    #expect(wait(upTo: 120) { driver.status.failure != nil || isOver(driver) })
    driver.stop()
    return driver
  }

  private func tone() throws -> LiveGraph {
    try LiveGraph(
      "node tone oscillator freq=997Hz level=-6dB\nnode out output channels=1\nconnect tone -> out")
  }

  private func through() throws -> LiveGraph {
    try LiveGraph("node line input channels=1\nnode out output channels=1\nconnect line -> out")
  }

  private func heard(_ count: Int = 65536) -> [Float] {
    [Float](unsafeUninitializedCapacity: count) { $1 = Int(fake_alsa_heard($0.baseAddress!, Int64(count))) }
  }

  /// A card that is faster or slower than the system's clock plays without an xrun, for an hour too.
  @Test(arguments: [(500, 3600), (-500, 600), (0, 600), (50_000, 600), (-50_000, 600), (13, 600)])
  func aCardThatIsFasterOrSlowerThanTheSystemsClockPlaysWithoutAnXrun(ppm: Int, seconds: Int) throws {
    let driver = try play(try LiveGraph("node out output"), on: .card(ppm: ppm), period: 1024) { _ in
      played.played >= seconds * 1000
    }
    #expect(driver.status.failure == nil)
    #expect(driver.status.xruns == 0)
    #expect(played.late == 0)
    // Driven by the card's clock, whatever the system's clock says.
    let frames = Double(played.played) * 48 * (1 + Double(ppm) * 1e-6)
    #expect(abs(Double(played.transferred) - frames) <= Double(played.buffer) + 1024)
  }

  /// What is played has a period of its own, what is captured another: nothing is lost, and no memory is.
  @Test func whatIsPlayedHasAPeriodOfItsOwnWhatIsCapturedAnotherNothingIsLost() throws {
    var random = SeededGenerator(seed: seed)
    print("seed \(seed)")
    var pairs = [
      (256, 64), (256, 1024), (64, 441), (100, 37), (1000, 128), (256, 256), (64, 4096), (4096, 16),
    ]
    for _ in 0..<8 {
      pairs.append((.random(in: 16...4096, using: &random), .random(in: 16...4096, using: &random)))
    }
    for (period, other) in pairs {
      let formats: UInt32 = [1, 2, 4, 8, 16].randomElement(using: &random)!
      var capture = fake_alsa_shape.card(period: other...other, formats: formats)
      capture.channels_max = .random(in: 1...9, using: &random)
      let driver = try play(
        try through(), on: .card(), capture: capture, period: period
      ) { _ in played.transferred > 60_000 }
      #expect(driver.status.failure == nil)
      #expect(Int(captured.period) == other)
      #expect(captured.overflows == 0, "\(period) frames read from a device with a period of \(other)")
      #expect(played.late + captured.late == 0)
      expectWhole(heard(60_000), "\(period) played, \(other) captured")
    }
  }

  /// Frames of the fade at the start.
  private let fade = Int(48000 * OutputFades.seconds)

  /// Checks that every captured frame arrives once, in order, from the end of the fade on. Frames that come too late
  /// leave silence, until enough is in reserve.
  private func expectWhole(_ sound: [Float], _ what: String) {
    let first = sound.dropFirst(fade).first { $0 != 0 } ?? 0
    var (next, gaps) = (Int((first * 1024).rounded()) - 1, 0)
    var wasSilent = true
    for (frame, value) in sound.enumerated().dropFirst(fade) {
      if value == 0 {
        if !wasSilent { gaps += 1 }
        wasSilent = true
        continue
      }
      wasSilent = false
      let expected = Float(next % 1000 + 1) / 1024
      guard abs(value - expected) < 1e-4 else {
        Issue.record("\(what): frame \(frame) is captured frame \(value * 1024 - 1), and not \(next % 1000)")
        return
      }
      next += 1
    }
    #expect(next > 30_000, "\(what)")
    #expect(gaps <= 6, "\(what)")
  }

  /// Transfers that take a part, or nothing, or are interrupted lose and repeat no frame, in any sample
  /// format.
  @Test(arguments: [1, 2, 4, 8, 16] as [UInt32])
  func transfersThatTakeAPartOrNothingOrAreInterruptedLoseAndRepeatNoFrame(formats: UInt32) throws {
    var random = SeededGenerator(seed: seed + UInt64(min(formats, 4)))
    print("seed \(seed)")
    for period in [256, .random(in: 33...2000, using: &random), .random(in: 33...2000, using: &random)] {
      var card = fake_alsa_shape.card(formats: formats)
      card.hesitations = 300
      card.seed = .random(in: 0...1000, using: &random)
      let driver = try play(try tone(), on: card, period: period) { _ in played.transferred > 40_000 }
      #expect(driver.status.failure == nil)
      #expect(driver.status.xruns == 0)
      try expectTone(
        heard(40_000), tolerance: formats == 4 ? 1.0 / 32768 : formats < 4 ? 1e-7 : 1.0 / 8_388_608)
    }
  }

  private func expectTone(_ sound: [Float], tolerance: Float) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "sostenuto-card-\(UUID()).wav").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try OfflineRenderer(
      engine: try tone().engine, rate: 48000, tracks: [.outputs(to: path, channels: 1)]
    ).render(frames: Int64(sound.count))
    let expected = try AudioSamples.read(path)
    try #require(expected.count == sound.count)
    let worst = zip(sound, expected).dropFirst(fade).map { abs($0 - $1) }.max() ?? 1
    #expect(worst <= tolerance)
    // The driver fades in.
    #expect(zip(sound, expected).allSatisfy { abs($0) <= abs($1) + tolerance })
  }

  @Test func aCardThatRunsDryNowAndThenOrThatTheMachinesSleepStoppedPlaysOnWhereItWas() throws {
    var random = SeededGenerator(seed: seed)
    print("seed \(seed)")
    for _ in 0..<6 {
      var card = fake_alsa_shape.card()
      card.xruns = .random(in: 1...60, using: &random)
      card.sleeps = .random(in: 1...60, using: &random)
      card.hesitations = .random(in: 0...200, using: &random)
      card.seed = .random(in: 0...1000, using: &random)
      let period = Int.random(in: 64...1024, using: &random)
      let driver = try play(try tone(), on: card, period: period) { _ in
        played.transferred > 60_000 && played.told > 3
      }
      #expect(driver.status.failure == nil)
      #expect(driver.status.xruns > 0)
      #expect(driver.status.xruns <= played.told + played.late)
      try expectTone(heard(60_000), tolerance: 0)
    }
  }

  @Test func aCardThatIsPulledOutIsNamedAsSuchAndGivenBack() throws {
    var card = fake_alsa_shape.card()
    card.vanishes_at = 50
    let driver = try play(try tone(), on: card) { _ in false }
    #expect(driver.status.failure == "ALSA device fake was unplugged")
    #expect(played.opened == 1 && played.closed == 1)
  }

  @Test func whenWhatIsCapturedFromIsPulledOutItsInputsAreSilentAndTheRestPlaysOn() throws {
    var capture = fake_alsa_shape.card()
    capture.vanishes_at = 50
    let driver = try play(try through(), on: .card(), capture: capture) { _ in played.transferred > 60_000 }
    #expect(driver.status.failure == nil)
    let sound = heard(60_000)
    #expect(sound[..<12_000].contains { $0 != 0 })
    #expect(sound[20_000...].allSatisfy { $0 == 0 })
  }

  @Test func aCardThatTakesNothingMoreIsLeftAfterAWhileAndDoesNotKeepAProcessorBusy() throws {
    var card = fake_alsa_shape.card()
    card.stalls_at = 50
    let driver = try play(try tone(), on: card) { _ in false }
    let failure = try #require(driver.status.failure)
    #expect(failure.hasPrefix("ALSA device fake stopped: "))
    #expect(played.played >= 500)
  }

  /// A card that only one may have is free again when its driver has stopped, whoever still holds that.
  @Test func aCardThatOnlyOneMayHaveIsFreeAgainWhenItsDriverHasStopped() throws {
    let graph = try through()
    for _ in 0..<3 {
      let first = try play(graph, on: .card(), capture: .card()) { _ in captured.transferred > 1000 }
      #expect(played.opened == 1 && played.closed == 1)
      #expect(captured.opened == 1 && captured.closed == 1)
      // The device is free for the next driver.
      let second = try AlsaDriver(renderer: graph.engine.renderer, device: "fake")
      second.stop()
      withExtendedLifetime(first) {}
    }
  }

  @Test func aCaptureDeviceThatHoldsLessThanTwoPeriodsOfWhatIsPlayedIsNotUsed() throws {
    var capture = fake_alsa_shape.card()
    capture.period_max = 64
    capture.buffer_max = 256
    let driver = try play(try through(), on: .card(), capture: capture, period: 1024) { _ in
      played.transferred > 10_000
    }
    #expect(driver.status.failure == nil)
    #expect(captured.opened == captured.closed)
    #expect(heard(10_000).allSatisfy { $0 == 0 })
  }
}

/// ALSA's `null` and `file` devices.
@Suite struct AlsaNowhereTests {
  @Test func whatIsCapturedFromNowhereIsSilenceAndNotWhatMemoryHeldBefore() throws {
    // Fills every later allocation with a byte that is not zero.
    fake_memory(0x5a)
    defer { fake_memory(0) }
    for channels in [1, 2, 7] {
      let device = try AlsaDevice("null", isCapture: true, rate: 48000, period: 256, channels: channels)
      defer { device.close() }
      var samples = [Float](repeating: 1, count: 256 * device.channels)
      for _ in 0..<8 {
        let result = device.read(&samples, frames: 256)
        #expect(result == .done)
        #expect(samples.allSatisfy { $0 == 0 })
      }
    }
  }

  @Test func aFileTakesWhatIsPlayedFrameByFrameAtThePaceOfItsRate() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "sostenuto-alsa-\(UUID()).raw").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let text = "node tone oscillator freq=997Hz\nnode out output channels=2\nconnect tone -> out"
    let graph = try LiveGraph(text)
    let driver = try AlsaDriver(
      renderer: graph.engine.renderer, device: "file:FILE=\(path),FORMAT=raw", rate: 48000, period: 256)
    driver.update(graph.engine.endpoints)
    let start = monotonicTime()
    try driver.start()
    #expect(wait { graph.engine.renderer.time >= 24_000 })
    let elapsed = Double(monotonicTime() - start) / 1e9
    driver.stop()
    #expect(driver.status.failure == nil)
    // The driver does not wait for the frames that the device may buffer.
    #expect(elapsed >= 0.5 - driver.status.roundTrip - Double(2 * driver.period) / driver.rate - 0.01)

    let other = FileManager.default.temporaryDirectory.appending(path: "sostenuto-alsa-\(UUID()).wav").path
    defer { try? FileManager.default.removeItem(atPath: other) }
    try OfflineRenderer(engine: try LiveGraph(text).engine, rate: 48000, tracks: [.outputs(to: other)])
      .render(frames: 20_000)
    let expected = try AudioSamples.read(other)
    let data = try Data(contentsOf: URL(filePath: path))
    try #require(data.count >= expected.count * 4)
    let sound = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)[..<expected.count]) }
    let fade = 2 * Int(48000 * OutputFades.seconds)
    #expect(sound[fade...] == expected[fade...])
  }
}

@Suite struct PaceTests {
  /// A device that swallows everything is paced from the first buffer on, and late periods are not made
  /// up for.
  @Test func aDeviceThatSwallowsEverythingIsPacedFromTheFirstBufferOn() throws {
    var pace = Pace(rate: 48000, buffer: 768, now: 0)
    var now: Int64 = 0
    for _ in 0..<1000 { if let due = pace.due(after: 256, now: now) { now = due } }
    #expect(pace.isSwallowed)
    let frames = Double(now) * 48e-6
    #expect(abs(frames - (256_000 - 768 - 256)) < 2)
    // The process did not run for a minute: the pace goes on from now, one period after another.
    now += 60_000_000_000
    _ = pace.due(after: 256, now: now)
    let later = now
    for _ in 0..<1000 { if let due = pace.due(after: 256, now: now) { now = due } }
    #expect(Double(now - later) * 48e-6 > 256_000 - 2048)
  }

  /// A card is never made to wait, be it up to a third too fast; one that turns out to swallow is
  /// noticed.
  @Test func aCardIsNeverMadeToWaitBeItUpToAThirdTooFast() {
    var random = SeededGenerator(seed: 3)
    print("seed 3")
    for _ in 0..<200 {
      let rate = Double.random(in: 8000...192_000, using: &random)
      let period = Int.random(in: 1...8192, using: &random)
      let buffer = period * .random(in: 2...8, using: &random) + .random(in: 0..<period, using: &random)
      let speed = Double.random(in: 0.7...1.3, using: &random)
      var pace = Pace(rate: rate, buffer: buffer, now: 5)
      var (written, started) = (0, Int64(5))
      var now: Int64 = 5
      for count in 0..<5000 {
        // A card takes as many frames as it has room for.
        let played = Double(written + period - buffer) / (rate * speed)
        now = max(now, started + Int64(played * 1e9))
        written += period
        let due = pace.due(after: period, now: now)
        #expect(due == nil)
        // The test pauses for up to three seconds: the card runs dry and restarts.
        if count % 1000 == 999 {
          now += .random(in: 0...3_000_000_000, using: &random)
          pace.restart(now: now)
          (written, started) = (0, now)
        }
      }
      for _ in 0..<2 * Int(rate) / period + 20 {
        if let due = pace.due(after: period, now: now) { now = due }
      }
      #expect(pace.isSwallowed)
    }
  }
}

enum AudioSamples {
  /// Interleaved floats of a WAV file written by the renderer.
  static func read(_ path: String) throws -> [Float] {
    let data = try Data(contentsOf: URL(filePath: path))
    let mark = try #require(data.range(of: Data("data".utf8)))
    let bytes = data[(mark.upperBound + 4)...]
    return Array(bytes).withUnsafeBytes { raw in
      (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: Float.self) }
    }
  }
}

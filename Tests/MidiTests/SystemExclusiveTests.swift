import Midi
import Realtime
import TestSupport
import Testing

/// System exclusive messages.
@Suite struct SystemExclusiveTests {
  private func events(_ bytes: [UInt8]) -> [Event] {
    bytes.withUnsafeBufferPointer { bytes in
      var message = MidiMessage(bytes.baseAddress!, count: bytes.count, offset: 7)
      var found: [Event] = []
      while let event = message.next() { found.append(event) }
      return found
    }
  }

  /// A Roland GS message with its checksum.
  private func roland(_ body: [UInt8]) -> [UInt8] {
    let sum = body.reduce(0) { $0 + Int($1) }
    return [0xF0, 0x41, 0x10, 0x42, 0x12] + body + [UInt8((128 - sum % 128) % 128), 0xF7]
  }

  private func expect(
    _ bytes: [UInt8], _ expected: [Event], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let wanted = expected.map { event -> Event in
      var event = event
      event.offset = 7
      return event
    }
    #expect(events(bytes).map { "\($0)" } == wanted.map { "\($0)" }, sourceLocation: sourceLocation)
  }

  @Test func aChannelMessageIsOneEvent() {
    expect([0x93, 60, 100], [Event(.noteOn, channel: 3, key: 60, value: 100)])
    expect([0x93, 60], [])
    expect([0xF8], [Event(.system, key: 8)])
    expect([0xF2, 5, 3], [Event(.system, key: 2, detail: 389)])
    expect([0xF2, 5], [])
    expect([0xF9], [])
  }

  @Test func generalMIDIGSAndXGBeginAnew() {
    expect([0xF0, 0x7E, 0x7F, 9, 1, 0xF7], [Event(.reset)])
    expect([0xF0, 0x7E, 0x10, 9, 3, 0xF7], [Event(.reset)])
    expect([0xF0, 0x7E, 0x7F, 9, 2, 0xF7], [])
    expect(roland([0x40, 0, 0x7F, 0]), [Event(.reset)])
    expect(roland([0, 0, 0x7F, 1]), [Event(.reset)])
    expect([0xF0, 0x43, 0x10, 0x4C, 0, 0, 0x7E, 0, 0xF7], [Event(.reset)])
    // Wrong checksum.
    expect([0xF0, 0x41, 0x10, 0x42, 0x12, 0x40, 0, 0x7F, 0, 0x40, 0xF7], [])
  }

  @Test func gsCountsPart10FirstXGCountsFrom0() {
    for (block, channel) in [(0, 9), (1, 0), (9, 8), (10, 10), (15, 15)] as [(UInt8, UInt8)] {
      expect(roland([0x40, 0x10 | block, 0x15, 2]), [Event(.rhythm, channel: channel, value: 1)])
      expect(roland([0x40, 0x10 | block, 0x15, 0]), [Event(.rhythm, channel: channel, value: 0)])
    }
    expect([0xF0, 0x43, 0x12, 0x4C, 8, 5, 7, 3, 0xF7], [Event(.rhythm, channel: 5, value: 1)])
  }

  @Test func singleKeysBulkDumpsAndOctavesOfTheMIDITuningStandard() {
    expect(
      [0xF0, 0x7F, 0, 8, 2, 3, 2, 60, 60, 0x20, 0, 61, 127, 127, 127, 0xF7],
      [Event(.keyTuning, channel: 1, key: 60, value: 60.25, detail: 3)])
    expect(
      [0xF0, 0x7E, 0, 8, 7, 0, 9, 1, 10, 11, 0, 0, 0xF7],
      [Event(.keyTuning, channel: 0, key: 10, value: 11, detail: 9)])
    // An unknown bank, and a truncated message.
    expect([0xF0, 0x7F, 0, 8, 7, 1, 9, 1, 10, 11, 0, 0, 0xF7], [])
    expect([0xF0, 0x7F, 0, 8, 2, 3, 2, 60, 60, 0x20, 0, 0xF7], [])
    let name = Array("A scale of sorts".utf8)
    let keys: [UInt8] = (0..<128).flatMap { [UInt8($0), 0x40, 0] as [UInt8] }
    expect(
      [0xF0, 0x7E, 0, 8, 1, 4] + name + keys + [0, 0xF7],
      (0..<128).map { Event(.keyTuning, key: UInt8($0), value: Float($0) + 0.5, detail: 4) })
    let cents = (0..<12).map { Float($0 * 10 - 64) }
    expect(
      [0xF0, 0x7F, 0, 8, 8, 3, 0x7F, 0x41] + (0..<12).map { UInt8($0 * 10) } + [0xF7],
      (0..<12).map {
        Event(.octaveTuning, channel: 1, key: UInt8($0), value: cents[$0], detail: 0xFFC1)
      })
    expect(
      [0xF0, 0x7E, 0, 8, 9, 0, 0, 1] + (0..<12).flatMap { [UInt8(0x20 + $0), 0] as [UInt8] } + [0xF7],
      (0..<12).map {
        Event(.octaveTuning, key: UInt8($0), value: Float(128 * $0 - 4096) * (100 / 8192), detail: 1)
      })
    expect(
      roland([0x40, 0x11, 0x40] + (0..<12).map { UInt8($0 + 64) }),
      (0..<12).map { Event(.octaveTuning, channel: 1, key: UInt8($0), value: Float($0), detail: 1) })
    expect(
      roland([0x40, 0x10, 0x4B, 54]), [Event(.octaveTuning, channel: 1, key: 11, value: -10, detail: 512)])
  }

  @Test func theWholeInstrumentsTuning() {
    expect([0xF0, 0x7F, 0x7F, 4, 3, 0, 0x60, 0xF7], [Event(.masterTuning, key: 0, value: 50)])
    expect([0xF0, 0x7F, 0x7F, 4, 4, 0, 62, 0xF7], [Event(.masterTuning, key: 1, value: -200)])
    expect(roland([0x40, 0, 0, 0, 4, 0, 10]), [Event(.masterTuning, key: 0, value: 10 * 0.1)])
    expect(roland([0x40, 0, 5, 66]), [Event(.masterTuning, key: 1, value: 200)])
  }

  @Test func theWholeInstrumentsVolume() {
    expect([0xF0, 0x7F, 0x7F, 4, 1, 0x7F, 0x7F, 0xF7], [Event(.masterVolume, value: 1)])
    expect([0xF0, 0x7F, 3, 4, 1, 1, 0x40, 0xF7], [Event(.masterVolume, value: 8193 / 16383)])
    expect([0xF0, 0x7F, 0x7F, 4, 1, 0, 0, 0xF7], [Event(.masterVolume, value: 0)])
    // Not in real time: another message.
    expect([0xF0, 0x7E, 0x7F, 4, 1, 0, 0, 0xF7], [])
    expect(roland([0x40, 0, 4, 127]), [Event(.masterVolume, value: 1)])
    expect(roland([0x40, 0, 4, 50]), [Event(.masterVolume, value: 50 / 127)])
    expect([0xF0, 0x43, 0x10, 0x4C, 0, 0, 4, 100, 0xF7], [Event(.masterVolume, value: 100 / 127)])
  }

  /// One of each that is understood.
  private var known: [[UInt8]] {
    let name = Array("sixteen letters.".utf8)
    let keys: [UInt8] = (0..<128).flatMap { [UInt8($0), 0x40, 0] as [UInt8] }
    return [
      [0xF0, 0x7E, 0x7F, 9, 1, 0xF7], [0xF0, 0x7F, 0x7F, 4, 1, 9, 0x40, 0xF7],
      [0xF0, 0x7F, 0x7F, 4, 3, 0, 0x60, 0xF7], [0xF0, 0x7F, 0x7F, 4, 4, 0, 62, 0xF7],
      [0xF0, 0x7F, 0, 8, 2, 3, 2, 60, 60, 0x20, 0, 61, 1, 2, 3, 0xF7],
      [0xF0, 0x7E, 0, 8, 7, 0, 9, 1, 10, 11, 0, 0, 0xF7],
      [0xF0, 0x7F, 0, 8, 8, 3, 0x7F, 0x41] + [UInt8](repeating: 9, count: 12) + [0xF7],
      [0xF0, 0x7E, 0, 8, 9, 0, 0, 1] + [UInt8](repeating: 9, count: 24) + [0xF7],
      [0xF0, 0x7E, 0, 8, 1, 4] + name + keys + [0, 0xF7],
      [0xF0, 0x7E, 0, 8, 4, 0, 4] + name + keys + [0, 0xF7],
      roland([0x40, 0x11, 0x40] + [UInt8](repeating: 70, count: 12)), roland([0x40, 0, 0x7F, 0]),
      roland([0x40, 0x12, 0x15, 2]), roland([0x40, 0, 0, 0, 4, 0, 10]), roland([0x40, 0, 5, 66]),
      roland([0x40, 0, 4, 66]), [0xF0, 0x43, 0x10, 0x4C, 0, 0, 0x7E, 0, 0xF7],
      [0xF0, 0x43, 0x12, 0x4C, 8, 5, 7, 3, 0xF7], [0xF0, 0x43, 0x10, 0x4C, 0, 0, 4, 100, 0xF7],
    ]
  }

  @Test func whatIsCutAnywhereOrDamagedByAStatusByteChangesNothing() {
    for bytes in known {
      #expect(!events(bytes).isEmpty, "\(bytes)")
      for count in 0..<bytes.count {
        #expect(events(Array(bytes[..<count])).isEmpty, "\(count) bytes of \(bytes)")
        // The next message comes on the heels of the first part.
        #expect(events(Array(bytes[..<count]) + [0xF0, 0xF7]).isEmpty)
      }
      for place in 1..<bytes.count - 1 {
        var damaged = bytes
        damaged[place] |= 0x80
        #expect(events(damaged).isEmpty, "\(damaged)")
      }
    }
  }

  @Test(arguments: searchSeeds(91, 92))
  func randomBytesAreNoMoreThanEventsOfWhatIsKnown(seed: UInt64) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40_000 {
      // Half of them begin as one that is understood.
      let head = Bool.random(using: &random) ? known.randomElement(using: &random)!.prefix(6) : [0xF0]
      let count = Int.random(in: 0...(Bool.random(using: &random) ? 12 : 420), using: &random)
      let bytes = head + (0..<count).map { _ in UInt8.random(in: 0...127, using: &random) } + [0xF7]
      let found = events(Array(bytes))
      #expect(found.count <= 128 && found.allSatisfy { $0.value.isFinite && $0.key < 128 && $0.channel < 16 })
    }
  }

  /// Files bring them in their places, in one piece or in several; what means nothing is counted.
  @Test func filesBringThemInTheirPlacesInOnePieceOrInSeveral() throws {
    let track: [UInt8] =
      [0, 0xF0, 5, 0x7E, 0x7F, 9, 1, 0xF7, 0x60, 0x90, 60, 1]
      + [0, 0xF0, 4, 0x7F, 0x7F, 4, 4, 10, 0xF7, 3, 0, 70, 0xF7, 0, 0xF0, 3, 1, 2, 0xF7, 0, 0xF7, 2, 1, 0xF7]
    let file = try MidiFile(bytes: MidiWriter.file(format: 0, division: 96, tracks: [track]))
    #expect(
      file.events.map { "\($0.event)" }
        == [
          Event(.reset), Event(.noteOn, key: 60, value: 1), Event(.masterTuning, key: 1, value: 600),
        ].map { "\($0)" })
    #expect(file.events.map(\.seconds)[..<2] == [0, 0.5])
    #expect(file.skipped == 5)
  }

  @Test(arguments: searchSeeds(51, 52))
  func damagedOnesNeverReadBeyondTheirEnd(seed: UInt64) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let whole: [[UInt8]] = [
      roland([0x40, 0x11, 0x40] + [UInt8](repeating: 70, count: 12)),
      [0xF0, 0x7F, 0, 8, 2, 3, 2, 60, 60, 0x20, 0, 61, 1, 2, 3, 0xF7],
      [0xF0, 0x7F, 0, 8, 8, 3, 0x7F, 0x41] + [UInt8](repeating: 9, count: 12) + [0xF7],
      [0xF0, 0x7E, 0, 8, 1, 4] + [UInt8](repeating: 1, count: 401) + [0xF7],
    ]
    for _ in 0..<20_000 {
      var bytes = whole.randomElement(using: &random)!
      bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      // A heap block of the exact size, so that a sanitizer sees an overrun.
      let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: bytes.count)
      defer { memory.deallocate() }
      memory.initialize(from: bytes, count: bytes.count)
      var message = MidiMessage(memory, count: bytes.count)
      var count = 0
      while let event = message.next() {
        count += 1
        #expect(event.value.isFinite && event.key < 128)
      }
      #expect(count <= 128)
    }
  }
}

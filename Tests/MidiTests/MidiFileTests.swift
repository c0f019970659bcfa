import Midi
import Realtime
import TestSupport
import Testing

/// MIDI files.
@Suite struct MidiFileTests {
  private func events(_ bytes: [UInt8]) throws -> [MidiFile.TimedEvent] {
    try MidiFile(bytes: bytes).events
  }

  /// Devices are set up by system exclusive messages: in a file they stand at their places, before the notes of their moment.
  @Test func systemExclusiveMessagesStandAtTheirPlaces() throws {
    let long: [UInt8] = [0xF0, 0x41] + (0..<300).map { UInt8($0 & 0x7F) } + [0xF7]
    let volume: [UInt8] = [0xF0, 0x7F, 0x7F, 0x04, 0x01, 0x00, 0x40, 0xF7]
    let bytes = MidiFileWriter.bytes(
      [(24_000, Event(.noteOn, key: 60, value: 100)), (48_000, Event(.noteOff, key: 60, value: 64))],
      exclusives: [
        .init(frame: 0, bytes: long), .init(frame: 24_000, bytes: volume),
        .init(frame: 30_000, bytes: [0xF0, 1, 2]), .init(frame: 50_000, bytes: volume),
      ], frames: 60_000, rate: 48000)
    // The length of a message has two bytes here, without the first of the message.
    #expect(bytes.contains([0, 0xF0, 0x82, 0x2E] + long.dropFirst()))
    #expect(bytes.contains([0xF0, 7] + volume.dropFirst() + [0, 0x90, 60, 100]), "before the note")
    #expect(!bytes.contains([0xF0, 1, 2]), "it was cut off")
    let file = try MidiFile(bytes: bytes)
    #expect(file.events.map(\.event.kind) == [.masterVolume, .noteOn, .noteOff, .masterVolume])
    let places = file.events.map { Int(($0.seconds * 48000).rounded()) }
    #expect(places == [24_000, 24_000, 48_000, 50_000])
  }

  /// Notes come at the seconds that tempo and division say, through changes of tempo in another track.
  @Test func notesComeAtTheSecondsThatTempoAndDivisionSay() throws {
    // 120 beats a minute up to beat 2, then 60, and 240 from beat 3.
    let conductor: [UInt8] =
      [0, 0xFF, 0x51, 3] + MidiWriter.tempo(500_000) + [0x87, 0x40, 0xFF, 0x51, 3]
      + MidiWriter.tempo(1_000_000) + [0x83, 0x60, 0xFF, 0x51, 3] + MidiWriter.tempo(250_000)
    let notes: [UInt8] = [0, 0x90, 60, 100, 0x87, 0x40, 60, 0, 0x83, 0x60, 62, 80, 0x83, 0x60, 62, 0]
    let file = try MidiFile(bytes: MidiWriter.file(format: 1, division: 480, tracks: [conductor, notes]))
    #expect(
      file.events.map(\.event).isEqual(to: [
        Event(.noteOn, key: 60, value: 100), Event(.noteOff, key: 60, value: 64),
        Event(.noteOn, key: 62, value: 80), Event(.noteOff, key: 62, value: 64),
      ]))
    #expect(file.events.map(\.seconds) == [0, 1, 2, 2.25])
    #expect(file.duration == 2.25)
  }

  @Test func smpteTimeCountsFramesAndTicksWhateverTempoTheFileStates29IsDropFrame() throws {
    let track: [UInt8] = [0, 0xFF, 0x51, 3, 1, 0, 0, 0x87, 0x68, 0x90, 60, 1]
    for (code, rate) in [(0xE7, 25.0), (0xE8, 24), (0xE2, 30), (0xE3, 30_000.0 / 1001)] {
      let file = try MidiFile(
        bytes: MidiWriter.file(format: 0, division: code << 8 | 40, tracks: [track]))
      #expect(abs(file.duration - 1000 / (rate * 40)) < 1e-12, "\(rate)")
    }
  }

  /// Every channel message arrives with its channel; running status goes on past what is skipped.
  @Test func everyChannelMessageArrivesWithItsChannel() throws {
    let track: [UInt8] = [
      0, 0x92, 60, 100, 0, 64, 90, 0, 0xF0, 3, 1, 2, 0xF7, 0, 67, 80, 0, 0xFF, 0x01, 2, 65, 66, 0, 0xA2, 60,
      33, 0, 0xB2, 7, 90, 0, 0xC2, 19, 0, 0xD2, 44, 0, 0xE2, 0, 32, 0, 0x82, 60, 11, 0, 0xF7, 1, 0x7E,
    ]
    let file = try MidiFile(bytes: MidiWriter.file(format: 0, division: 96, tracks: [track]))
    #expect(
      file.events.map(\.event).isEqual(to: [
        Event(.noteOn, channel: 2, key: 60, value: 100), Event(.noteOn, channel: 2, key: 64, value: 90),
        Event(.noteOn, channel: 2, key: 67, value: 80), Event(.keyPressure, channel: 2, key: 60, value: 33),
        Event(.control, channel: 2, key: 7, value: 90), Event(.program, channel: 2, value: 19),
        Event(.pressure, channel: 2, value: 44), Event(.bend, channel: 2, value: -0.5),
        Event(.noteOff, channel: 2, key: 60, value: 11),
      ]))
    #expect(file.skipped == 4)
  }

  @Test func eventsOfOneTimeAreInTheOrderOfTheirTracksSoThatAProgramPrecedesItsNote() throws {
    let bytes = MidiWriter.file(
      format: 1, division: 96, tracks: [[0, 0xC0, 5], [0, 0xB0, 7, 1], [0, 0x90, 60, 1]])
    #expect(try events(bytes).map(\.event.kind) == [.program, .control, .noteOn])
  }

  @Test func chunksOfOtherProgramsAndARIFFWrapperArePassedOver() throws {
    let track: [UInt8] = [0, 0x90, 60, 1]
    var bytes = MidiWriter.file(format: 0, division: 96, tracks: [track])
    bytes.insert(contentsOf: Array("XFIH".utf8) + [0, 0, 0, 2, 9, 9], at: 14)
    let riff = Array("RIFF".utf8) + [0, 0, 0, 0] + Array("RMIDdata".utf8) + [0, 0, 0, 0]
    #expect(try events(riff + bytes).count == 1)
  }

  @Test(
    arguments: [
      ("no MIDI file", Array("RIFFxxxxWAVE".utf8) + [0, 0, 0, 0], 0),
      ("ends within a chunk's header", [], 0),
      ("format 2", MidiWriter.file(format: 2, division: 96, tracks: [[]]), 8),
      ("unknown format", MidiWriter.file(format: 7, division: 96, tracks: [[]]), 8),
      ("no ticks", MidiWriter.file(format: 0, division: 0, tracks: [[]]), 12),
      ("no time code", MidiWriter.file(format: 0, division: 0xFF28, tracks: [[]]), 12),
      ("ends after 1 of 2 tracks", MidiWriter.file(format: 1, division: 96, tracks: [[]], claims: 2), 26),
      ("status byte", MidiWriter.file(format: 0, division: 96, tracks: [[0, 60, 100]]), 23),
      (
        "status byte 0x90 within", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0x90, 60, 0x90]]), 25
      ),
      (
        "the track ends within", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0x90]], ends: false),
        24
      ),
      (
        "more than four bytes",
        MidiWriter.file(format: 0, division: 96, tracks: [[0x81, 0x81, 0x81, 0x81, 1]]), 22
      ),
      ("a meta event of 90 bytes", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0xFF, 1, 90]]), 26),
      ("exclusive message of", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0xF0, 99, 1]]), 25),
      ("which no file may hold", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0xF8]]), 23),
      (
        "a tempo of 2 bytes", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0xFF, 0x51, 2, 1, 1]]), 25
      ),
      (
        "no time at all", MidiWriter.file(format: 0, division: 96, tracks: [[0, 0xFF, 0x51, 3, 0, 0, 0]]), 26
      ),
    ] as [(String, [UInt8], Int)])
  func whatIsWrongIsToldWithItsByte(_ words: String, _ bytes: [UInt8], _ offset: Int) {
    let error = #expect(throws: MidiFileError.self) { try MidiFile(bytes: bytes) }
    #expect(error?.reason.contains(words) == true, "\(error?.reason ?? "")")
    #expect(error?.offset == offset)
  }

  @Test func aFileCutOffAnywhereIsRefusedAtAByteThatItHasOrJustBehindIt() {
    let whole = Self.example
    for count in 0..<whole.count {
      let error = #expect(throws: MidiFileError.self, "\(count) bytes") {
        try MidiFile(bytes: Array(whole[..<count]))
      }
      if let error { #expect((0...count).contains(error.offset)) }
    }
  }

  @Test(arguments: searchSeeds(31, 32, 33))
  func damagedFilesNeverCrashTheReaderAndWhatItMakesOfThemIsInOrder(seed: UInt64) {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20_000 {
      var bytes = Self.example
      for _ in 0..<Int.random(in: 1...8, using: &random) {
        let place = Int.random(in: 0...(bytes.count - 1), using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes[place] = UInt8(Int.random(in: 0...255, using: &random))
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(Int.random(in: 0...255, using: &random)), at: place)
        default:
          bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...20, using: &random)))
        }
        if bytes.isEmpty { break }
      }
      do throws(MidiFileError) {
        let file = try MidiFile(bytes: bytes)
        let isOrdered = zip(file.events, file.events.dropFirst()).allSatisfy { $0.seconds <= $1.seconds }
        #expect(isOrdered)
        #expect(file.events.allSatisfy { $0.seconds >= 0 && $0.seconds <= file.duration })
        #expect(file.duration.isFinite)
      } catch {
        #expect((0...bytes.count).contains(error.offset))
      }
    }
  }

  @Test func manyChangesOfTempoKeepNotesAtTheirFrames() throws {
    let count = 3000
    let pulses = (0..<count).map { number in
      var pulse = Transport.Pulse()
      pulse.tempo = number % 2 == 0 ? 120 : 60
      return MidiFileWriter.Pulse(frame: Int64(number) * 480, pulse: pulse)
    }
    let frames = (0..<count).map { Int64($0) * 480 + 100 }
    let bytes = MidiFileWriter.bytes(
      frames.map { (frame: $0, event: Event(.noteOn, key: 60, value: 100)) }, frames: Int64(count) * 480,
      rate: 48000, pulses: pulses)
    let file = try MidiFile(bytes: bytes)
    let notes = file.events.filter { $0.event.kind == .noteOn }
    let places = notes.map { Int64(($0.seconds * 48000).rounded()) }
    #expect(places == frames)
  }

  /// Every kind of message, two tempos, two tracks.
  static let example = MidiWriter.file(
    format: 1, division: 480,
    tracks: [
      [0, 0xFF, 0x51, 3] + MidiWriter.tempo(600_000) + [0x60, 0xFF, 0x51, 3] + MidiWriter.tempo(400_000),
      [
        0, 0xC0, 5, 0, 0xB0, 7, 100, 10, 0x90, 60, 100, 0x60, 62, 90, 0x60, 0x80, 60, 64, 0, 62, 64, 0, 0xE0,
        1, 70, 0, 0xF0, 4, 0x7E, 9, 9, 0xF7, 0, 0xD0, 9, 0, 0xA0, 60, 1,
      ],
    ])
}

extension [Event] {
  /// Compared as text: times that are NaN (no time) then count as equal.
  fileprivate func isEqual(to other: [Event]) -> Bool { map { "\($0)" } == other.map { "\($0)" } }
}

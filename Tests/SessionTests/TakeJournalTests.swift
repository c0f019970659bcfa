import Engine
import Realtime
import TestSupport
import Testing

@testable import Session

/// The text of a take's journal, from which a take is played again.
@Suite struct TakeJournalTests {
  @Test func theNotesOfATakeHaveTheSystemExclusiveMessagesThatCameInMeanwhile() {
    var journal = TakeJournal()
    let message: [UInt8] = [0xF0, 0x7E, 0x7F, 0x09, 0x01, 0xF7]
    journal.entries = [10, 50, 90].map { .init(frame: $0, happening: .exclusive(port: 0, message)) }
    #expect(
      journal.exclusives(from: 50) == [.init(frame: 0, bytes: message), .init(frame: 40, bytes: message)])
    #expect(journal.cut(format: "float32", port: "out", from: 50, to: 90).exclusives(from: 50).count == 1)
  }

  @Test(arguments: [4801, 90_000_000_000])
  func aJournalThatKeepsMoreThanWasPlayedIsRefusedByLine(frames: Int) throws {
    let folder = try Folder()
    func journal(_ name: String, _ frames: Int) throws -> String {
      try folder.file(
        name,
        """
        sostenuto-replay 1
        rate 48000.0
        | sostenuto 1
        | node o oscillator
        | node out output
        | connect o -> out
        at 0 hold out
        at 4800 keep float32 \(frames)
        at 4800 end

        """)
    }
    let path = try journal("long.journal", frames)
    let refusal = FileError.keepsTooMuch(path: path, line: 8)
    #expect(throws: refusal) { try Replay(path: path) }
    #expect(refusal.description.hasPrefix("\(path):8: keeps more frames"))
    // All that there was may be kept.
    #expect(try Replay(path: journal("whole.journal", 4800)).doubts == [])
  }

  @Test func journalsAreReadWhateverIsInThem() {
    var journal = TakeJournal()
    journal.patch = "sostenuto 1\nnode a gain\n"
    journal.folder = "/tmp/x y"
    journal.tellsFades = true
    journal.entries = [
      .init(frame: 0, happening: .file(node: "piano")), .init(frame: 3, happening: .edit("set a.gain 3dB")),
      .init(frame: 4, happening: .event(node: "piano", Event(.noteOn, key: 60, value: 100))),
      .init(frame: 4, happening: .midi(port: 2, Event(.bend, channel: 3, value: -0.25))),
      .init(frame: 5, happening: .closed(port: 2)), .init(frame: 6, happening: .load(isHigh: true)),
      .init(frame: 7, happening: .rate(44100)), .init(frame: 8, happening: .amend("set a.gain 4dB")),
      .init(frame: 8, happening: .apply("set a.gain 5dB")),
      .init(frame: 8, happening: .undo), .init(frame: 8, happening: .redo),
      .init(frame: 9, happening: .panic), .init(frame: 9, happening: .moved(17)),
      .init(frame: 9, happening: .known(7)), .init(frame: 9, happening: .settle),
      .init(frame: 0, happening: .hold(node: "out")),
      .init(frame: 9, happening: .exclusive(port: 3, [0xF0, 0x00, 0x0A, 0x7F, 0xF7])),
      .init(frame: 9, happening: .keep(format: "pcm24", frames: 9)),
      .init(frame: 10, happening: .take(format: "float32", port: "out")), .init(frame: 20, happening: .end),
    ]
    let text = journal.headText + journal.entries.map(\.line).joined() + "unsure inputs\n"
    let read = TakeJournal(reading: Array(text.utf8))
    #expect(read?.tellsFades == true)
    #expect(read?.patch == journal.patch && read?.folder == journal.folder && read?.doubts == ["inputs"])
    #expect(read?.entries.map(\.line) == journal.entries.map(\.line) && read?.broken == [])
    var random = SystemRandomNumberGenerator()
    for _ in 0..<3000 {
      var bytes = Array(text.utf8).prefix(Int.random(in: 0...text.utf8.count, using: &random))
      for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = TakeJournal(reading: Array(bytes))
    }
  }

  /// A tape of ten hours takes seconds to read, and the screen goes on; only the end of the session waits.
  @Test(.timeLimit(.minutes(1))) func aJournalThatTakesLongHoldsNobodyUp() {
    let journals = JournalsUnderWay()
    journals.begin("short.wav") { [.news("short")] }
    journals.finish()
    let gate = Semaphore()
    journals.begin("long.wav") {
      gate.wait()
      return [.news("long")]
    }
    journals.begin("next.wav") { [.news("next"), .warning("the disk is full")] }
    #expect(journals.takeWritten().map(\.take) == ["short.wav"])
    gate.signal()
    journals.finish()
    let written = journals.takeWritten()
    #expect(Set(written.map(\.take)) == ["long.wav", "next.wav"])
    #expect(written.flatMap(\.said).words.count == 3 && journals.takeWritten().isEmpty)
  }
}

import Foundation
import Glibc
import Testing

@testable import Recording

/// Files that were cut off anywhere are made whole.
@Suite struct MendingTests {
  /// A take as it lies on disk when its writer is killed after so many frames.
  private func torn(_ ending: String, _ format: SampleFormat, channels: Int, frames: Int) throws -> [UInt8] {
    let folder = try Folder()
    let path = folder.file("take." + ending)
    let source = Source(channels: channels, frames: 1 << 20)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true) { clock.time }
    let take = try recorder.begin(
      Take.Request(path: path, port: "a", format: format, rate: 48000), source.feed)
    for _ in 0..<frames / 1000 {
      source.play(1000)
      clock.time = source.time
      recorder.pump()
    }
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    take.end(at: source.time)
    return bytes
  }

  @Test(arguments: ["wav", "flac", "ogg", "opus"])
  func wholeUpToTheLastFrameWhereverItWasCut(ending: String) throws {
    var random = SeededGenerator(seed: 20_261_123)
    let folder = try Folder()
    for format in ending == "wav" || ending == "flac" ? SampleFormat.allCases : [.float32] {
      let channels = ending == "wav" ? 3 : 2
      let bytes = try torn(
        ending, format, channels: channels, frames: ending == "wav" || ending == "flac" ? 60_000 : 600_000)
      for attempt in 0..<12 {
        let count = attempt == 0 ? bytes.count : Int.random(in: bytes.count / 3...bytes.count, using: &random)
        let path = folder.file("\(format)\(attempt).\(ending)")
        try Data(bytes[..<count]).write(to: URL(fileURLWithPath: path))
        let report = try TakeMender.mend(path)
        let heard = try #require(Heard(path), "\(path) of \(count) bytes")
        #expect(
          heard.samples.count == heard.frames * channels && heard.frames > 0, "\(path) of \(count) bytes")
        if ending != "opus" { #expect(Int64(heard.frames) == report.frames) }
        if ending == "wav" {
          let header = WaveHeader(channels: channels, rate: 48000, format: format)
          #expect(heard.frames == (count - header.size) / header.frameSize)
        }
        if ending == "wav" || ending == "flac" {
          for frame in 0..<heard.frames {
            let wanted = Source.value(Int64(frame), 1)
            if abs(heard.samples[frame * channels + 1] - wanted) > 4e-5 {
              Issue.record("\(path) frame \(frame)")
              break
            }
          }
        }
        // A second time there is nothing to do.
        let once = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(try TakeMender.mend(path).cut == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == once)
      }
    }
  }

  @Test func aFinishedFileStaysAsItIs() throws {
    let folder = try Folder()
    for ending in ["wav", "flac", "ogg", "opus"] {
      let path = folder.file("take." + ending)
      _ = try TakeTests.record(Source(channels: 2, frames: 480_000), frames: 20_011, to: path)
      let before = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(try TakeMender.mend(path).cut == 0)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before, "\(ending)")
    }
  }

  @Test func marksOfATornWaveAreKept() throws {
    let folder = try Folder()
    let path = folder.file("take.wav")
    try Data(try torn("wav", .float32, channels: 2, frames: 10_000)).write(to: URL(fileURLWithPath: path))
    _ = try TakeMender.mend(path, marks: [Mark(frame: 77, text: "a"), Mark(frame: 1234, text: "b")])
    #expect(Heard(path)?.cues == [77, 1234] && Heard(path)?.frames == 9984)
    // Cut within the marks.
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try bytes.dropLast(13).write(to: URL(fileURLWithPath: path))
    _ = try TakeMender.mend(path, marks: [Mark(frame: 77, text: "a")])
    #expect(Heard(path)?.cues == [77] && Heard(path)?.frames == 9984)
  }

  @Test(arguments: [4, 5, 6] as [UInt64])
  func noDamageIsTooMuch(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let folder = try Folder()
    for ending in ["wav", "flac", "ogg", "opus"] {
      let bytes = try torn(ending, .pcm24, channels: 2, frames: 20_000)
      for attempt in 0..<60 {
        var damaged = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
        for _ in 0..<Int.random(in: 0...8, using: &random) where !damaged.isEmpty {
          let place =
            Bool.random(using: &random)
            ? Int.random(in: 0..<min(120, damaged.count), using: &random)
            : Int.random(in: 0..<damaged.count, using: &random)
          damaged[place] = UInt8.random(in: 0...255, using: &random)
        }
        let path = folder.file("\(attempt).\(ending)")
        try Data(damaged).write(to: URL(fileURLWithPath: path))
        _ = try? TakeMender.mend(path)
        _ = Heard(path)
      }
    }
  }

  @Test func notesOfTakesAreReadWhateverIsInThem() {
    let text = "sostenuto-take 1\nfile /home/me/take.wav\nmark 12 lost 3 frames\nmark x y\nmark 40 cut of"
    let read = TakeRegister.read(Array(text.utf8))
    #expect(read?.take == "/home/me/take.wav" && read?.isMade == true)
    let wanted = TakeRegister.read(Array("sostenuto-take 1\nwanted /a.wav\nfile /a-2.wav\nmark 5 x\n".utf8))
    #expect(wanted?.take == "/a-2.wav" && wanted?.isMade == true && wanted?.marks.count == 1)
    #expect(TakeRegister.read(Array("sostenuto-take 1\nwanted /a.wav\nfile /a-".utf8))?.isMade == false)
    #expect(read?.marks == [Mark(frame: 12, text: "lost 3 frames")])
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2000 {
      var bytes = Array(text.utf8).prefix(Int.random(in: 0...text.utf8.count, using: &random))
      for _ in 0..<Int.random(in: 0...5, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = TakeRegister.read(Array(bytes))
    }
  }

  @Test func aTakeWhoseProgramIsGoneIsMendedAndToldAbout() throws {
    let (folder, notes) = (try Folder(), try Folder())
    let path = folder.file("take.wav")
    let bytes = try torn("wav", .float32, channels: 2, frames: 50_000)
    try Data(bytes.dropLast(3)).write(to: URL(fileURLWithPath: path))
    try "sostenuto-take 1\nfile \(path)\nmark 100 lost\n".write(
      toFile: notes.file("1-1"), atomically: false, encoding: .utf8)
    // One that a program still writes is left alone.
    let held = try #require(TakeRegister(folder: notes.path).note(of: folder.file("other.wav")))
    let said = TakeRegister(folder: notes.path).mend()
    #expect(said.count == 1 && said[0].text.contains("was cut off: it is whole now"), "\(said)")
    #expect(!said[0].isWarning)
    #expect(Heard(path)?.frames == 49_983 && Heard(path)?.cues == [100])
    #expect(notes.names.count == 1)
    held.remove()
    #expect(TakeRegister(folder: notes.path).mend().isEmpty)
  }

  /// Whatever lies in the folder of the notes and is none stays there; what is left of a note that was cut off goes.
  @Test(arguments: [
    ("sostenuto-replay 1\nrate 48000.0\n", true), ("MThd", true), ("sostenuto-take 12\nfile x\n", true),
    ("", false), ("sostenuto-", false), ("sostenuto-take 1\nfi", false), ("sostenuto-take 1\nwant", false),
    ("sostenuto-take 1\nfile /no/where", false),
  ])
  func otherFilesAmongTheNotesStay(text: String, stays: Bool) throws {
    let notes = try Folder()
    try text.write(toFile: notes.file("b.journal"), atomically: false, encoding: .utf8)
    #expect(TakeRegister(folder: notes.path).mend().isEmpty)
    #expect(notes.names.isEmpty == !stays)
  }

  /// A process that is killed in a take's first moments leaves a file that nobody can read: it goes, and this is told.
  @Test(arguments: [
    ("wav", 0), ("wav", 4096), ("flac", 0), ("flac", 20), ("ogg", 0), ("ogg", 60), ("ogg", 4333),
    ("opus", 500),
  ])
  func aTakeWithoutAnySoundIsRemoved(ending: String, bytes count: Int) throws {
    let (folder, notes) = (try Folder(), try Folder())
    let path = folder.file("take.\(ending)")
    let bytes = try torn(ending, .float32, channels: 2, frames: ending == "wav" ? 0 : 20_000)
    try Data(bytes.prefix(count)).write(to: URL(fileURLWithPath: path))
    try "sostenuto-take 1\nwanted \(path)\nfile \(path)\n".write(
      toFile: notes.file("1-1"), atomically: false, encoding: .utf8)
    let said = TakeRegister(folder: notes.path).mend().map(\.text)
    #expect(said.count == 1 && said[0].hasSuffix("no file is left"), "\(said)")
    #expect(folder.names.isEmpty && notes.names.isEmpty)
  }

  /// The disk made it when the program had ended. Files that were there before, and those with something in them, stay.
  @Test func anEmptyFileThatWasMadeTooLateIsRemoved() throws {
    let (folder, notes) = (try Folder(), try Folder())
    try Data().write(to: URL(fileURLWithPath: folder.file("take.wav")))
    try Data([1]).write(to: URL(fileURLWithPath: folder.file("take-2.wav")))
    try awaitLaterTime(than: folder.file("take-2.wav"))
    try "sostenuto-take 1\nwanted \(folder.file("take.wav"))\n".write(
      toFile: notes.file("1-1"), atomically: false, encoding: .utf8)
    try awaitLaterTime(than: notes.file("1-1"))
    try Data().write(to: URL(fileURLWithPath: folder.file("take-3.wav")))
    let said = TakeRegister(folder: notes.path).mend().map(\.text)
    #expect(said.count == 1 && said[0].contains("take-3.wav was cut off"), "\(said)")
    #expect(folder.names.sorted() == ["take-2.wav", "take.wav"] && notes.names.isEmpty)
  }

  /// Writes another file until it is later than this one by the disk's own clock, which goes in steps.
  private func awaitLaterTime(than path: String) throws {
    func time(_ path: String) -> timespec {
      var info = stat()
      stat(path, &info)
      return info.st_ctim
    }
    let (folder, old) = (try Folder(), time(path))
    var new = old
    while (new.tv_sec, new.tv_nsec) <= (old.tv_sec, old.tv_nsec) {
      try Data([0]).write(to: URL(fileURLWithPath: folder.file("probe")))
      new = time(folder.file("probe"))
    }
  }
}

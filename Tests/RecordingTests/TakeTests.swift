import CSndfile
import Foundation
import Glibc
import Realtime
import Testing

@testable import Recording

/// Takes as files: exact frames, formats, names.
@Suite struct TakeTests {
  /// Records `source` from its present time on into a file, in turns of `turn` frames.
  static func record(
    _ source: Source, frames: Int, to path: String, format: SampleFormat = .float32, rate: Double = 48000,
    period: Int = 64, turn: Int = 1000, calls: DiskCalls = DiskCalls()
  ) throws -> Take {
    let clock = TestClock()
    let recorder = Recorder(isOffline: true, calls: calls) { clock.time }
    let take = try recorder.begin(
      Take.Request(path: path, port: "main.out", format: format, rate: rate), source.feed)
    let end = source.time + Int64(frames)
    while source.time < end {
      source.play(min(turn, Int(end - source.time)), period: period)
      clock.time = source.time
      recorder.pump()
    }
    take.end(at: end)
    // The cell under way is handed over at its end.
    source.play(64, period: period)
    clock.time = source.time
    recorder.pump()
    return take
  }

  @Test(arguments: [1, 2, 3, 20_261_123] as [UInt64])
  func everyFrameIsThereInEveryFormatAndPeriod(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    let folder = try Folder()
    for number in 0..<24 {
      let ending = ["wav", "wav", "flac"].randomElement(using: &random)!
      let format = SampleFormat.allCases.randomElement(using: &random)!
      let channels = Int.random(in: 1...(ending == "flac" ? 8 : 64), using: &random)
      let rate = [8000, 22050, 44100, 48000, 96000, 192_000].randomElement(using: &random)!
      let frames = Int.random(in: 1...20_000, using: &random)
      let start = Int64.random(in: 0...1_000_000, using: &random)
      let period = [1, 7, 16, 64, 100, 256, 1024].randomElement(using: &random)!
      let source = Source(channels: channels, frames: 48000, from: start)
      let path = folder.file("take\(number).\(ending)")
      let take = try Self.record(
        source, frames: frames, to: path, format: format, rate: Double(rate), period: period,
        turn: Int.random(in: 1...3000, using: &random))
      #expect(take.status.isFinished && take.status.fault == nil && take.status.lost == 0)
      let heard = try #require(Heard(path))
      #expect(heard.channels == channels && heard.rate == rate && heard.frames == frames)
      let code = format.code(for: path, bytes: 0)
      let isExtensible = ending == "wav" && channels > 2
      #expect(heard.format == (isExtensible ? code & 0xFFFF | Int32(SF_FORMAT_WAVEX) : code))
      let step: Float = format == .pcm16 ? 0.501 / 32768 : 0.51 / 8_388_608
      var wrong = 0
      for frame in 0..<frames {
        for channel in 0..<channels {
          let wanted = Source.value(start + Int64(frame), channel)
          let found = heard.samples[frame * channels + channel]
          let isExact = format == .float32 && ending == "wav"
          if isExact ? found.bitPattern != wanted.bitPattern : abs(found - wanted) > step { wrong += 1 }
        }
      }
      #expect(wrong == 0, "\(path): \(channels) channels, \(format), period \(period)")
    }
  }

  @Test(arguments: ["ogg", "opus"])
  func whatLosesDetailKeepsItsLength(ending: String) throws {
    let folder = try Folder()
    let path = folder.file("take." + ending)
    let source = Source(channels: 2, frames: 480_000)
    let take = try Self.record(source, frames: 100_000, to: path)
    #expect(take.status.fault == nil)
    let heard = try #require(Heard(path))
    #expect(heard.frames == 100_000 && heard.samples.count == 200_000)
  }

  @Test func whatAFormatCannotHoldIsRefused() throws {
    let folder = try Folder()
    #expect(throws: RecordingError.self) {
      _ = try Self.record(Source(channels: 9, frames: 4800), frames: 64, to: folder.file("a.flac"))
    }
    #expect(throws: RecordingError.noFormat(path: folder.file("a.mp3"))) {
      _ = try Self.record(Source(channels: 2, frames: 4800), frames: 64, to: folder.file("a.mp3"))
    }
    #expect(folder.names.isEmpty)
  }

  @Test func silenceTakesItsTime() throws {
    let folder = try Folder()
    let path = folder.file("take.wav")
    let source = Source(channels: 2, frames: 48000, from: 130)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true) { clock.time }
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    source.isSilent = true
    source.play(500)
    source.isSilent = false
    source.play(300)
    source.isSilent = true
    source.play(5000)
    take.end(at: source.time)
    source.play(64)
    clock.time = source.time
    recorder.pump()
    let heard = try #require(Heard(path))
    #expect(heard.frames == 5800)
    for frame in 0..<5800 {
      let wanted = (500..<800).contains(frame) ? Source.value(Int64(130 + frame), 1) : 0
      if heard.samples[frame * 2 + 1].bitPattern != wanted.bitPattern {
        Issue.record("frame \(frame)")
        break
      }
    }
  }

  @Test func noFileIsOverwritten() throws {
    let folder = try Folder()
    try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("take.wav")))
    for _ in 0..<2 {
      _ = try Self.record(Source(channels: 1, frames: 4800), frames: 64, to: folder.file("take.wav"))
    }
    #expect(folder.names == ["take-2.wav", "take-3.wav", "take.wav"])
    #expect(try String(contentsOfFile: folder.file("take.wav"), encoding: .utf8) == "mine")
  }

  @Test func beyondFourGigabytesItIsRF64() throws {
    // The file has a hole, so that it takes no room.
    let folder = try Folder()
    let path = folder.file("long.wav")
    let disk = try DiskFile(creating: path, DiskCalls())
    let header = WaveHeader(channels: 2, rate: 48000, format: .float32)
    let data = Int64(5_000_000_000) / 8 * 8
    disk.write([1, 2, 3, 4], at: Int64(header.size) + data - 4)
    let frames = try WaveFile(disk, header, data: data).finish([Mark(frame: 7, text: "here")])
    #expect(frames == data / 8)
    var info = SF_INFO()
    let file = try #require(sf_open(path, Int32(SFM_READ), &info))
    defer { sf_close(file) }
    #expect(info.frames == data / 8 && info.format == Int32(SF_FORMAT_RF64 | SF_FORMAT_FLOAT))
    let head = try #require(FileHandle(forReadingAtPath: path)?.readData(ofLength: 4))
    #expect(String(decoding: head, as: UTF8.self) == "RF64")
  }

  /// A period with a deadline waits for nobody.
  @Test func withADeadlineWhatFindsNoRoomIsLost() {
    let source = Source(channels: 3, frames: Self.ring * 64, waits: true)
    source.play(640_000)
    #expect(source.feed.lost == 640_000 - Int64(Self.ring) * 64)
    #expect(Self.heard(source.feed, most: .max) == (0..<Int64(Self.ring)).map { $0 * 64 })
  }

  /// A server that freewheels is as fast as its clients: it waits for the disk. This reader reads only when the writer has no
  /// room left for the block that it has begun.
  @Test func aTakeLosesNothingWhereThereIsNoDeadline() {
    let blocks = 2000
    let source = Source(channels: 3, frames: Self.ring * 64, waits: true)
    let reader = source.feed
    let begun = TestClock()
    let ended = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var times: [Int64] = []
    Thread.detachNewThread {
      var isOver = false
      while !isOver {
        while begun.time <= times.count + Self.ring, begun.time <= blocks { sched_yield() }
        isOver = begun.time > blocks
        times += Self.heard(reader, most: isOver ? .max : 1)
      }
      ended.signal()
    }
    for block in 1...blocks {
      begun.time = Int64(block)
      source.play(64, waitsForReaders: true)
    }
    begun.time = Int64(blocks) + 1
    ended.wait()
    #expect(source.feed.lost == 0)
    #expect(times == (0..<Int64(blocks)).map { $0 * 64 })
  }

  /// Cells of the ring in these tests.
  private static let ring = 64

  /// Times of the cells that are read now; -1 for one with other samples than the source's.
  private static func heard(_ reader: FeedReader, most: Int) -> [Int64] {
    var times: [Int64] = []
    reader.read(before: .max) { cell, samples in
      guard times.count < most else { return false }
      times.append(samples[0] == Source.value(cell.time, 0) ? cell.time : -1)
      return true
    }
    return times
  }

  @Test func aFileUnderWayCanBeReadUpToAMoment() throws {
    let folder = try Folder()
    let path = folder.file("take.wav")
    let source = Source(channels: 2, frames: 480_000)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true) { clock.time }
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    source.play(64_000)
    clock.time = source.time
    recorder.pump()
    #expect(Heard(path)?.frames == 64_000)
    take.end(at: source.time)
  }

  /// Before its first frame there was nothing.
  @Test func whatIsKeptBeginsAtTheFirstFrameAtTheEarliest() throws {
    let (folder, clock) = (try Folder(), TestClock())
    let recorder = Recorder(isOffline: true) { clock.time }
    let kept = recorder.keep(seconds: 10, rate: 48000)
    let source = Source(channels: 1, frames: 48_000)
    _ = kept.add(source.feed, named: "out")
    source.play(6400)
    clock.time = source.time
    recorder.pump()
    _ = try recorder.writeKept(from: -90_000, to: 6400, to: folder.file("heard.wav"), format: .float32)
    recorder.close()
    let files = recorder.takeKept()
    #expect(files.map(\.start) == [0] && files.map(\.frames) == [6400])
    #expect(Heard(folder.file("heard.wav"))?.frames == 6400)
  }

  /// A change of the rate takes nothing from a file that was asked for before, however much of it the recorder has read.
  @Test(arguments: [1, 2, 3] as [UInt64]) func aChangeOfRateLeavesWhatIsBeingKeptWhole(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<8 {
      let (folder, clock) = (try Folder(), TestClock())
      let recorder = Recorder(isOffline: true) { clock.time }
      let kept = recorder.keep(seconds: 10, rate: 48000)
      let channels = Int.random(in: 1...4, using: &random)
      let source = Source(channels: channels, frames: 96_000)
      _ = kept.add(source.feed, named: "out")
      recorder.pump()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        source.play(64 * Int.random(in: 1...400, using: &random), period: 256)
        clock.time = source.time
        if Bool.random(using: &random) { recorder.pump() }
      }
      let frames = source.time
      _ = try recorder.writeKept(seconds: 5, to: folder.file("heard.wav"))
      _ = kept.restart(rate: 44100)
      source.play(6400)
      clock.time = source.time
      while recorder.pump() {}
      let files = recorder.takeKept()
      #expect(files.map(\.frames) == [frames] && files.map(\.rate) == [48000])
      let heard = try #require(Heard(folder.file("heard.wav")))
      #expect(heard.frames == Int(frames) && heard.channels == channels && heard.rate == 48000)
      let wrong = (0..<Int(frames)).filter { frame in
        (0..<channels).contains {
          heard.samples[frame * channels + $0] != Source.value(Int64(frame), $0)
        }
      }
      #expect(wrong.isEmpty, "\(wrong.count) of \(frames) frames, from \(wrong.first ?? 0) on")
    }
  }
}

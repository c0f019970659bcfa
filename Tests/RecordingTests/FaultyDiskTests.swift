import Foundation
import Glibc
import Synchronization
import Testing

@testable import Recording

/// Disks that hang, that are slow and that fill up. What they do not take in time is silent in the file and marked;
/// time and memory stand still for none of them.
@Suite struct FaultyDiskTests {
  /// A disk on which a write hangs while sound goes on.
  private final class Hanging: @unchecked Sendable {
    let source: Source
    let clock: TestClock
    /// Frames between two stalls, and of one.
    let every: Int64
    let stall: Int
    private var next: Int64
    /// Compares the samples that are written; a file of nothing else would take room.
    let header: WaveHeader
    var wrong = 0
    var bytes: Int64 = 0
    /// Frames of the marks.
    var marks: [Int64] = []

    init(_ source: Source, _ clock: TestClock, every: Int64, stall: Int, header: WaveHeader) {
      (self.source, self.clock, self.every, self.stall, self.header) = (source, clock, every, stall, header)
      next = every
    }

    func write(_ memory: UnsafeRawPointer, _ count: Int, _ place: Int64) -> Int {
      if source.time >= next {
        next += every
        source.play(stall)
        clock.time = source.time
      }
      bytes = max(bytes, place + Int64(count))
      keepMarks(memory, count)
      let offset = place - Int64(header.size)
      guard offset >= 0, count >= header.frameSize, offset % Int64(header.frameSize) == 0,
        memory.loadUnaligned(as: UInt32.self) != 0x2065_7563  // "cue "
      else { return count }
      let first = offset / Int64(header.frameSize)
      let last = first + Int64(count / header.frameSize) - 1
      for frame in [first, (first + last) / 2, last] {
        let samples = memory + Int(frame - first) * header.frameSize
        let isLost = source.lost.contains { $0.from <= frame && frame < $0.from + $0.count }
        for channel in [0, header.channels - 1] {
          let found = samples.loadUnaligned(fromByteOffset: channel * 4, as: Float.self)
          if found != (isLost ? 0 : Source.value(frame, channel)) { wrong += 1 }
        }
      }
      return count
    }

    /// Reads a chunk of cues.
    private func keepMarks(_ memory: UnsafeRawPointer, _ count: Int) {
      guard count >= 12, memory.loadUnaligned(as: UInt32.self) == 0x2065_7563 else { return }
      let number = Int(memory.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
      guard 12 + 24 * number <= count else { return }
      marks = (0..<number).map {
        Int64(memory.loadUnaligned(fromByteOffset: 12 + 24 * $0 + 20, as: UInt32.self))
      }
    }
  }

  private static func residentKilobytes() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0) * 4
  }

  /// `SOSTENUTO_TAKE_MINUTES`: how long; an hour is what the project promises.
  @Test(arguments: [1.0, 5.0])
  func anHourOf32ChannelsWithADiskThatHangs3SecondsEveryMinute(ring: Double) throws {
    let minutes = ProcessInfo.processInfo.environment["SOSTENUTO_TAKE_MINUTES"].flatMap { Int($0) } ?? 6
    let folder = try Folder()
    let (rate, channels) = (48000, 32)
    let source = Source(channels: channels, frames: Int(ring * Double(rate)))
    let clock = TestClock()
    let header = WaveHeader(channels: channels, rate: rate, format: .float32)
    let disk = Hanging(source, clock, every: Int64(60 * rate), stall: 3 * rate, header: header)
    let recorder = Recorder(
      isOffline: true,
      calls: DiskCalls(
        write: { _, memory, count, place in disk.write(memory, count, place) }, room: { _ in nil })
    ) { clock.time }
    let take = try recorder.begin(
      Take.Request(path: folder.file("take.wav"), port: "a", rate: Double(rate)), source.feed)
    let end = Int64(minutes * 60 * rate)
    let began = Date()
    var sizes: [Int] = []
    while source.time < end {
      source.play(min(rate / 50, Int(end - source.time)))
      clock.time = source.time
      recorder.pump()
      if source.time % Int64(30 * rate) < Int64(rate / 50) { sizes.append(Self.residentKilobytes()) }
    }
    let finish = source.time
    take.end(at: finish)
    source.play(64)
    clock.time = source.time
    recorder.pump()
    print(
      "\(minutes) minutes in \(Date().timeIntervalSince(began)) s, memory \(sizes.first ?? 0) to \(sizes.last ?? 0) kB"
    )
    let status = take.status
    #expect(status.isFinished && status.fault == nil && disk.wrong == 0)
    // In time whatever was lost.
    #expect(status.frames == finish)
    let lost = source.lost.reduce(0) { $0 + $1.count }
    #expect(status.lost == lost)
    // The marks are where something was lost, in the file as the take ends.
    #expect(disk.marks == source.lost.map(\.from))
    if ring < 3 {
      #expect(source.lost.count == Int((finish - 1) / Int64(60 * rate)) && lost > 0)
    } else {
      #expect(lost == 0)
    }
    #expect(disk.bytes >= finish * Int64(header.frameSize))
    // The memory of the process: in a short run that of the tests beside it, too.
    let third = sizes.count / 3
    if minutes >= 60 {
      #expect(sizes.suffix(third).sorted()[third / 2] - sizes.prefix(third).max()! < 20_000)
    }
  }

  /// A disk that hangs costs the takes on other disks nothing.
  @Test func aTakeOnAnotherDiskGoesOnWhileADiskHangs() throws {
    let (folder, other) = (try Folder(), try Folder(in: "/dev/shm"))
    var info = stat()
    #expect(stat(folder.path, &info) == 0)
    let hanging = info.st_dev
    let (clock, hangs) = (TestClock(), TestClock())
    let recorder = Recorder(
      calls: DiskCalls(write: { file, memory, count, place in
        var info = stat()
        fstat(file, &info)
        while info.st_dev == hanging, hangs.time > 0 { sched_yield() }
        return DiskCalls.writeBytes(file, memory, count, place)
      })
    ) { clock.time }
    let sources = [folder, other].map { _ in Source(channels: 2, frames: 12_000) }
    let takes = try zip([folder, other], sources).map { folder, source in
      try recorder.begin(Take.Request(path: folder.file("take.wav"), port: "a", rate: 48000), source.feed)
    }
    hangs.time = 1
    func wait(_ isOver: () -> Bool) {
      let end = ContinuousClock.now + .seconds(30)
      while !isOver(), ContinuousClock.now < end { sched_yield() }
      #expect(isOver())
    }
    for turn in 1...20 {
      for source in sources { source.play(6400) }
      clock.time = sources[1].time
      wait { takes[1].status.frames == Int64(turn * 6400) }
    }
    #expect(takes[0].status.frames < 6400 * 20)
    for take in takes { take.end(at: clock.time) }
    hangs.time = 0
    wait { takes.allSatisfy(\.status.isFinished) }
    #expect(takes[0].status.lost > 0 && takes[1].status.lost == 0)
    let heard = try #require(Heard(other.file("take.wav")))
    #expect(heard.frames == 6400 * 20)
    let isSame = (0..<heard.frames).allSatisfy { frame in
      (0..<2).allSatisfy { heard.samples[frame * 2 + $0] == Source.value(Int64(frame), $0) }
    }
    #expect(isSame)
    recorder.close()
  }

  @Test(arguments: ["wav", "flac", "ogg"])
  func marksStandWhereSomethingWasLost(ending: String) throws {
    let folder = try Folder()
    let path = folder.file("take." + ending)
    let source = Source(channels: 2, frames: 4096)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true) { clock.time }
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    for turn in 0..<30 {
      // Every tenth turn the thread comes late.
      source.play(turn % 10 == 9 ? 20_000 : 2000)
      clock.time = source.time
      recorder.pump()
    }
    let end = source.time
    take.end(at: end)
    source.play(64)
    clock.time = source.time
    recorder.pump()
    let notices = recorder.takeNotices().words
    #expect(notices.contains { $0.contains("lost") })
    let heard = try #require(Heard(path))
    #expect(Int64(heard.frames) == end && source.lost.count == 3)
    #expect(take.status.lost == source.lost.reduce(0) { $0 + $1.count })
    if ending == "wav" {
      #expect(heard.cues == source.lost.map(\.from))
      for frame in 0..<heard.frames {
        let isLost = source.lost.contains { $0.from <= frame && Int64(frame) < $0.from + $0.count }
        if heard.samples[2 * frame] != (isLost ? 0 : Source.value(Int64(frame), 0)) {
          Issue.record("frame \(frame)")
          break
        }
      }
      #expect(folder.names == ["take.wav"])
    } else {
      let lines = try String(contentsOfFile: path + ".marks", encoding: .utf8).split(separator: "\n")
      #expect(lines.map { Int64($0.split(separator: " ")[0]) } == source.lost.map(\.from))
    }
  }

  /// A disk with room for files of so many bytes.
  private static func disk(of size: Int) -> DiskCalls {
    DiskCalls(
      write: { file, memory, count, place in
        let room = Int64(size) - place
        if room <= 0 { return -Int(ENOSPC) }
        return DiskCalls.writeBytes(file, memory, min(count, Int(room)), place)
      }, room: { _ in Int64(size) })
  }

  @Test(arguments: ["wav", "flac", "ogg", "opus"], [40_000, 200_001, 333_333])
  func aFullDiskEndsTheTakeWithTheFileWhole(ending: String, size: Int) throws {
    let folder = try Folder()
    let path = folder.file("take." + ending)
    let source = Source(channels: 2, frames: 48000)
    let calls = Self.disk(of: size)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true, calls: calls) { clock.time }
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    while source.time < 3_000_000, !take.status.isFinished {
      source.play(2000)
      clock.time = source.time
      recorder.pump()
    }
    let status = take.status
    #expect(status.isFinished && status.fault?.contains("full") == true, "\(status)")
    #expect(recorder.takeNotices().words.contains { $0.contains("the disk is full") && $0.contains("whole") })
    let heard = try #require(Heard(path))
    #expect(heard.samples.count == heard.frames * 2 && heard.frames > 1000, "\(heard.frames)")
    #expect(Int64(heard.frames) == status.frames)
    guard ending == "wav" || ending == "flac" else { return }
    for frame in 0..<heard.frames where abs(heard.samples[2 * frame] - Source.value(Int64(frame), 0)) > 1e-6 {
      Issue.record("frame \(frame)")
      break
    }
  }

  /// A disk that was full before: a file of no frames would look like a take.
  @Test(arguments: ["wav", "flac", "ogg", "opus"], [0, 30]) func aTakeOnADiskThatIsFullLeavesNoFile(
    ending: String, size: Int
  ) throws {
    let folder = try Folder()
    let path = folder.file("take." + ending)
    let source = Source(channels: 2, frames: 48000)
    let calls = Self.disk(of: size)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true, calls: calls) { clock.time }
    guard let take = try? recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed) else {
      #expect(!FileManager.default.fileExists(atPath: path))
      return
    }
    while source.time < 3_000_000, !take.status.isFinished {
      source.play(2000)
      clock.time = source.time
      recorder.pump()
    }
    #expect(take.status.isFinished && take.status.frames == 0)
    let words = recorder.takeNotices().words
    #expect(words.contains { $0.contains("full") && !$0.contains("whole") }, "\(words)")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  /// Disks of other machines, and full ones that promise room, report what they could not keep only when all is brought to them.
  @Test(arguments: ["wav", "flac", "ogg"], [EIO, ENOSPC])
  func whatADiskTakesAndDoesNotKeepIsTold(ending: String, code: Int32) throws {
    let folder = try Folder()
    let source = Source(channels: 2, frames: 48000)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true, calls: DiskCalls(synchronize: { _ in -code })) { clock.time }
    let kept = recorder.keep(seconds: 10, rate: 48000)
    let output = Source(channels: 2, frames: 48000)
    _ = kept.add(output.feed, named: "out")
    recorder.pump()
    let path = folder.file("take." + ending)
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    for played in [source, output] { played.play(6400) }
    clock.time = source.time
    recorder.pump()
    _ = try recorder.writeKept(seconds: 1, to: folder.file("heard." + ending))
    take.end(at: 6400)
    while recorder.pump() {}
    let said = recorder.takeNotices()
    #expect(said.count == 2 && said.allSatisfy(\.isWarning), "\(said)")
    for name in ["take.", "heard."] {
      #expect(
        said.contains { $0.text.contains(folder.file(name + ending)) && $0.text.contains("may be lost") })
      // The part on disk stays.
      #expect(Heard(folder.file(name + ending))?.frames == 6400)
    }
  }

  @Test func marksFindRoomOnAFullDisk() throws {
    let folder = try Folder()
    let path = folder.file("take.wav")
    let source = Source(channels: 2, frames: 4096)
    let clock = TestClock()
    let calls = DiskCalls(
      write: { file, memory, count, place in
        let room = 500_000 - place
        return room <= 0 ? -Int(ENOSPC) : DiskCalls.writeBytes(file, memory, min(count, Int(room)), place)
      }, room: { _ in nil })
    let recorder = Recorder(isOffline: true, calls: calls) { clock.time }
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    source.play(20_000)
    clock.time = source.time
    recorder.pump()
    while !take.status.isFinished {
      source.play(2000)
      clock.time = source.time
      recorder.pump()
    }
    let heard = try #require(Heard(path))
    #expect(heard.cues == source.lost.map(\.from) && heard.cues.count == 1)
    #expect(heard.samples.count == heard.frames * 2 && heard.frames > 50_000)
  }

  @Test func aDiskThatFillsIsToldAnHourAhead() throws {
    let folder = try Folder()
    let source = Source(channels: 2, frames: 4_800_000)
    let clock = TestClock()
    let room = TestClock()
    let calls = DiskCalls(room: { _ in room.time })
    let writer = TakeWriter(
      try TakeFiles.create(
        folder.file("take.wav"), channels: 2, rate: 48000, format: .float32, calls: calls),
      source.feed, rate: 48000, start: nil, note: nil)
    var said: [String] = []
    // Two hours are left, then half of one, then a minute.
    for second in 0..<60 {
      source.play(48000)
      clock.time = source.time
      let hours = second < 20 ? 2.0 : second < 40 ? 0.5 : 0.1
      room.time = Int64(hours * 3600 * 48000 * 8)
      said +=
        writer.pump(
          now: clock.time, end: nil, isLast: false, wall: Int64(second + 1) * 1_000_000_000
        ).words
    }
    #expect(said.count == 2 && said[0].contains("an hour") && said[1].contains("ten minutes"), "\(said)")
  }

  /// The limit is the whole process's, so this test cannot run beside others.
  @Test(.enabled(if: getenv("SOSTENUTO_FILE_LIMIT") != nil))
  func aRealLimitOfFileSizesEndsATakeAndNotTheProgram() throws {
    let folder = try Folder()
    let path = folder.file("take.wav")
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    var small = rlimit(rlim_cur: 1 << 20, rlim_max: limit.rlim_max)
    let source = Source(channels: 2, frames: 480_000)
    let clock = TestClock()
    let recorder = Recorder(isOffline: true) { clock.time }
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &small)
    defer { setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) }
    for _ in 0..<200 where !take.status.isFinished {
      source.play(4096)
      clock.time = source.time
      recorder.pump()
    }
    #expect(take.status.fault?.contains("largest size") == true)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    let heard = try #require(Heard(path))
    #expect(heard.frames == ((1 << 20) - WaveHeader(channels: 2, rate: 48000, format: .float32).size) / 8)
    recorder.close()
  }

  /// A disk that is unmounted under a take goes on taking the sound, and nobody will find it: this is told while there is time
  /// to record it elsewhere.
  @Test(arguments: ["removed", "renamed"]) func aFileThatLeavesItsPlaceIsTold(how: String) throws {
    let (folder, clock) = (try Folder(), TestClock())
    let recorder = Recorder(isOffline: true) { clock.time }
    let source = Source(channels: 2, frames: 48_000)
    let path = folder.file("take.wav")
    let take = try recorder.begin(Take.Request(path: path, port: "a", rate: 48000), source.feed)
    func play() {
      source.play(6400)
      clock.time = source.time
      recorder.pump()
    }
    play()
    #expect(recorder.takeNotices().isEmpty)
    if how == "removed" { unlink(path) } else { rename(path, folder.file("other.wav")) }
    play()
    play()
    // The place is looked at once a second.
    var said: [Notice] = []
    let deadline = ContinuousClock.now + .seconds(20)
    while said.isEmpty, ContinuousClock.now < deadline {
      recorder.pump()
      said = recorder.takeNotices()
    }
    #expect(said.count == 1 && said[0].isWarning && said[0].text.contains("not in its place"), "\(said)")
    take.end(at: source.time)
    play()
    #expect(recorder.takeNotices().words.contains { $0.contains("is not in its place") })
    if how == "renamed" { #expect(Heard(folder.file("other.wav"))?.frames == 19_200) }
  }
}

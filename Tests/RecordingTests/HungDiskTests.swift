import Foundation
import Realtime
import Synchronization
import Testing

@testable import Recording

/// A disk that does not answer when a file is to be made: nobody waits for it, and what is played meanwhile is recorded.
@Suite struct HungDiskTests {
  /// A disk that answers when it is told to, and may then refuse.
  private final class Disk: Sendable {
    let answers = Atomic(false)
    let isFull = Atomic(false)
    /// Files that it was asked for.
    let asked = Atomic(0)

    var calls: DiskCalls {
      DiskCalls(create: { [self] path in
        asked.wrappingAdd(1, ordering: .relaxed)
        while !answers.load(ordering: .acquiring) { sched_yield() }
        return isFull.load(ordering: .relaxed) ? -ENOSPC : DiskCalls.createFile(path)
      })
    }
  }

  private func wait(_ isOver: () -> Bool) {
    let end = ContinuousClock.now + .seconds(30)
    while !isOver(), ContinuousClock.now < end { sched_yield() }
    #expect(isOver())
  }

  @Test func aTakeBeginsBehindADiskThatHangsAndHasEverythingFromItsBeginningOn() throws {
    let (folder, disk, clock) = (try Folder(), Disk(), TestClock())
    let recorder = Recorder(calls: disk.calls) { clock.time }
    let source = Source(channels: 2, frames: 48_000)
    let began = ContinuousClock.now
    let take = try recorder.begin(
      Take.Request(path: folder.file("take.wav"), port: "a", rate: 48000), source.feed)
    #expect(ContinuousClock.now - began < .seconds(2), "the main thread is needed")
    #expect(!take.hasFile && recorder.takeNotices().words.contains { $0.contains("does not answer") })
    source.play(6400)
    clock.time = source.time
    disk.answers.store(true, ordering: .releasing)
    wait { take.status.frames == 6400 }
    source.play(6400)
    take.end(at: 12_800)
    source.play(64)
    clock.time = source.time
    wait { take.status.isFinished }
    recorder.close()
    #expect(recorder.takeNotices().words.contains { $0.contains("the disk answers") })
    let heard = try #require(Heard(folder.file("take.wav")))
    #expect(heard.frames == 12_800 && take.status.lost == 0)
    #expect((0..<12_800).allSatisfy { heard.samples[2 * $0] == Source.value(Int64($0), 0) })
  }

  @Test func aDiskThatRefusesAfterAllIsTold() throws {
    let (folder, disk, clock) = (try Folder(), Disk(), TestClock())
    let recorder = Recorder(calls: disk.calls) { clock.time }
    let source = Source(channels: 2, frames: 48_000)
    let take = try recorder.begin(
      Take.Request(path: folder.file("take.wav"), port: "a", rate: 48000), source.feed)
    disk.isFull.store(true, ordering: .relaxed)
    disk.answers.store(true, ordering: .releasing)
    wait { take.status.isFinished }
    var words: [String] = []
    wait {
      words += recorder.takeNotices().words
      return words.contains { $0.contains("the disk is full") }
    }
    #expect(take.status.fault?.contains("full") == true && folder.names.isEmpty)
    recorder.close()
  }

  /// The end of the program does not wait either, and no file appears behind it that would look like a take.
  @Test func aTakeWhoseFileWasNeverMadeIsToldAtTheEndAndLeavesNothing() throws {
    let (folder, disk, clock) = (try Folder(), Disk(), TestClock())
    let recorder = Recorder(calls: disk.calls) { clock.time }
    let source = Source(channels: 2, frames: 48_000)
    let take = try recorder.begin(
      Take.Request(path: folder.file("take.flac"), port: "a", rate: 48000), source.feed)
    source.play(6400)
    clock.time = source.time
    recorder.close(within: 0.1)
    #expect(take.status.isFinished && take.status.fault != nil)
    #expect(recorder.takeNotices().words.contains { $0.contains("nothing was recorded") })
    disk.answers.store(true, ordering: .releasing)
    wait { disk.asked.load(ordering: .relaxed) == 1 && folder.names.isEmpty }
  }

  @Test func whatWasHeardIsKeptFromTheMomentOfTheWishOnceTheDiskAnswers() throws {
    let (folder, disk, clock) = (try Folder(), Disk(), TestClock())
    let recorder = Recorder(calls: disk.calls) { clock.time }
    let kept = recorder.keep(seconds: 1, rate: 48000)
    let source = Source(channels: 1, frames: 48_000)
    _ = kept.add(source.feed, named: "out")
    for frames in [64, 47_936] {
      source.play(frames)
      clock.time = source.time
      wait { kept.isUpTo(source.time) }
    }
    let began = ContinuousClock.now
    _ = try recorder.writeKept(seconds: 0.5, to: folder.file("heard.wav"))
    #expect(ContinuousClock.now - began < .seconds(2))
    // Far more than is held goes by meanwhile.
    for _ in 0..<12 {
      source.play(24_000)
      clock.time = source.time
      wait { source.feed.lost == 0 && kept.isUpTo(source.time) }
    }
    disk.answers.store(true, ordering: .releasing)
    var files: [KeptFile] = []
    wait {
      files += recorder.takeKept()
      return !files.isEmpty
    }
    #expect(files.map(\.frames) == [24_000] && files[0].start == 24_000)
    let heard = try #require(Heard(folder.file("heard.wav")))
    #expect(heard.frames == 24_000)
    #expect((0..<24_000).allSatisfy { heard.samples[$0] == Source.value(Int64(24_000 + $0), 0) })
    recorder.close()
  }
}

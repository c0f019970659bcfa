import Foundation
import Synchronization
import Testing

@testable import Session

/// Journals are written by a thread of their own: an edit does not wait for a disk that hangs, and none is lost by it.
@Suite struct FileWriterTests {
  /// A file, and a disk that answers when it is told to.
  private final class Disk: Sendable {
    let answers = Atomic(true)
    /// Writes that are left until the disk is full.
    let room = Atomic(Int.max)

    func write(_ file: Int32, _ bytes: UnsafeRawPointer, _ count: Int, _ offset: off_t) -> Int {
      while !answers.load(ordering: .acquiring) { sched_yield() }
      if room.wrappingSubtract(1, ordering: .relaxed).newValue < 0 {
        errno = ENOSPC
        return -1
      }
      // In parts, as a system may.
      return pwrite(file, bytes, min(count, 7), offset)
    }
  }

  private func open(_ folder: Folder) throws -> (file: Int32, path: String) {
    let path = try folder.file("journal", "")
    return (Glibc.open(path, O_RDWR), path)
  }

  @Test func whatWaitsForADiskThatHangsIsWrittenInOrderWhenItAnswers() throws {
    let folder = try Folder()
    let (file, path) = try open(folder)
    let disk = Disk()
    let writer = FileWriter(file, isFlushed: false) { disk.write($0, $1, $2, $3) }
    #expect(writer.wait(for: writer.write(Array("first line\n".utf8), at: 0), seconds: 10))
    disk.answers.store(false, ordering: .releasing)
    var text = "first line\n"
    for number in 0..<50 {
      let line = "edit \(number)\n"
      let piece = writer.write(Array(line.utf8), at: text.utf8.count)
      text += line
      #expect(!writer.wait(for: piece, seconds: number == 0 ? 0.05 : 0))
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "first line\n")
    disk.answers.store(true, ordering: .releasing)
    writer.finish()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    #expect(writer.takeFault() == nil)
    writer.end()
    close(file)
  }

  /// On a full disk no half line stays, the error is told once, and what comes then is written where there is room again.
  @Test(arguments: 0..<6) func aFullDiskLeavesNoHalfLine(room: Int) throws {
    let folder = try Folder()
    let (file, path) = try open(folder)
    let disk = Disk()
    let writer = FileWriter(file, isFlushed: false) { disk.write($0, $1, $2, $3) }
    disk.room.store(room, ordering: .relaxed)
    let line = "a line of twenty-two!\n"
    #expect(writer.wait(for: writer.write(Array(line.utf8), at: 0), seconds: 10))
    // Four writes of seven bytes at most.
    let isWhole = room >= 4
    #expect(writer.takeFault() == (isWhole ? nil : ENOSPC) && writer.takeFault() == nil)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == (isWhole ? line : ""))
    disk.room.store(.max, ordering: .relaxed)
    #expect(writer.wait(for: writer.write(Array(line.utf8), at: 0), seconds: 10))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == line && writer.takeFault() == nil)
    writer.end()
    close(file)
  }
}

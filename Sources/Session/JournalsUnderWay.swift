import Glibc
import Midi
import Realtime
import Recording
import Synchronization

/// Journals of takes that are being written. A tape of hours takes seconds to read, so this happens on other threads, one
/// journal after the other. Any thread.
final class JournalsUnderWay: Sendable {
  struct Written {
    var take: String
    /// Warnings for the user.
    var said: [Notice]
  }

  private struct State {
    var count = 0
    var written: [Written] = []
  }

  private let state = Mutex(State())
  private let ended = Semaphore()
  /// A tape in memory is large: there is one at a time.
  private let turn = Mutex(())
  /// Seconds that a journal is waited for: most are written by then, and the take is told with them.
  private static let patience = 0.1

  /// Has the journal of a take written by `work`, which returns warnings for the user.
  func begin(_ take: String, _ work: @escaping @Sendable () -> [Notice]) {
    state.withLock { $0.count += 1 }
    _ = Watched.call(within: Self.patience) { [self] in
      let said = turn.withLock { _ in work() }
      state.withLock {
        $0.written.append(Written(take: take, said: said))
        $0.count -= 1
      }
      ended.signal()
    }
  }

  /// Those that have been written since the last call.
  func takeWritten() -> [Written] {
    state.withLock { state in
      defer { state.written = [] }
      return state.written
    }
  }

  /// Waits until all are written.
  func finish() { while state.withLock({ $0.count }) > 0 { ended.wait() } }
}

/// The files beside a take, or beside a file of what was heard: its journal and its notes. Any thread.
struct JournalFiles: Sendable {
  /// Path of the sound file.
  var path: String
  /// Engine frame of its first frame.
  var start: Int64
  var frames: Int64
  var rate: Double
  /// Gives up the room that is kept for them on a disk.
  var makeRoom: @Sendable () -> Void = {}

  /// Writes the journal and, if anything was played, the MIDI file. Nothing is overwritten. Returns what the user should know.
  func write(_ journal: TakeJournal) -> [Notice] {
    var journal = journal
    journal.sound = PatchFile.split(path).name
    let said = write("journal", Array(journal.text.utf8))
    let (played, exclusives) = (journal.played(from: start), journal.exclusives(from: start))
    guard !played.isEmpty || !exclusives.isEmpty else { return said }
    let pulses = journal.pulses(from: start)
    return said
      + write(
        "mid",
        MidiFileWriter.bytes(played, exclusives: exclusives, frames: frames, rate: rate, pulses: pulses))
  }

  /// Beside the take, or, where its disk is full, with the session's own files.
  private func write(_ ending: String, _ bytes: [UInt8]) -> [Notice] {
    do throws(FileError) {
      do throws(FileError) {
        try PatchFile.create(Self.free(path, ending), bytes, mode: 0o644)
      } catch .system(_, let code) where [ENOSPC, EDQUOT].contains(code) {
        makeRoom()
        try PatchFile.create(Self.free(path, ending), bytes, mode: 0o644)
      }
      return []
    } catch {
      let other = Self.free(StateFolder.folder("take-journals") + "/" + PatchFile.split(path).name, ending)
      let what = ending == "mid" ? "the take's notes" : "the take's journal"
      do throws(FileError) {
        try PatchFile.create(other, bytes, mode: 0o644)
        return [.warning("\(what) \(ending == "mid" ? "are" : "is") \(other): \(error.description)")]
      } catch {
        return [.warning("\(what) could not be written: \(error.description)")]
      }
    }
  }

  /// `take.mid` for `take.wav`, or, where that is taken, `take.2.mid`.
  private static func free(_ path: String, _ ending: String) -> String {
    var target = Session.beside(path, ending)
    var number = 2
    while PatchFile.exists(target), number < 1000 {
      target = Session.beside(path, "\(number).\(ending)")
      number += 1
    }
    return target
  }
}

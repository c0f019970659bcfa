import Engine
import Glibc
import Patch
import Realtime

/// Everything that has happened in a live session since its engine began, for the journals of takes. It lies in a file without a
/// name, so that a long session takes no memory.
final class SessionTape {
  /// Something whose frame is not known yet.
  private struct Waiting {
    let stamp: Int
    let happening: TakeJournal.Happening
  }

  private var head = TakeJournal()
  private let file: Int32
  private var size: Int64 = 0
  private var buffer: [UInt8] = []
  private var waiting: [Waiting] = []
  private var nextStamp = 1
  private var doubts: Set<String> = []
  /// Frame of the last entry.
  private var frame: Int64 = 0
  /// Steps that a replay can undo and redo.
  var depth = (undo: 0, redo: 0)

  /// nil: no file can be made.
  init?(folder: String) {
    var template = Array((folder + "/tape-XXXXXX").utf8CString)
    file = mkstemp(&template)
    guard file >= 0 else { return nil }
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
    unlink(template)
  }

  deinit { close(file) }

  /// Begins with a patch, before the first frame.
  func begin(_ head: TakeJournal) {
    if size > 0 || !buffer.isEmpty || !waiting.isEmpty || frame > 0 { doubt("another patch was opened") }
    self.head = head
    depth = (0, 0)
  }

  /// Notes what no replay can repeat.
  func doubt(_ reason: String) { doubts.insert(reason) }

  /// Performs `body`, whose transactions tell at which frame it takes effect.
  func note(_ happening: TakeJournal.Happening, _ engine: Engine, _ body: () -> Void) {
    waiting.append(Waiting(stamp: nextStamp, happening: happening))
    let outer = engine.stamp
    engine.stamp = nextStamp
    nextStamp += 1
    body()
    engine.stamp = outer
  }

  /// Takes the frames of what has taken effect, and what the driver gave. Call it after `Engine.collect`.
  func follow(_ engine: Engine) {
    var happened: [TakeJournal.Entry] = []
    for (stamp, time) in engine.takeStamps() {
      // What needed no transaction, such as a comment, goes with what came after it.
      while let first = waiting.first, first.stamp <= stamp {
        happened.append(TakeJournal.Entry(frame: time, happening: first.happening))
        waiting.removeFirst()
      }
    }
    for (time, input) in engine.takeInputs() {
      let happening: TakeJournal.Happening =
        switch input {
        case .midi(let port, let event): .midi(port: port, event)
        case .closed(let port): .closed(port: port)
        case .load(let isHigh): .load(isHigh: isHigh)
        case .transport(let input): .follow(input)
        case .rate(let rate): .rate(rate)
        }
      happened.append(TakeJournal.Entry(frame: time, happening: happening))
    }
    if engine.lostInputs > 0 { doubt("more MIDI came at once than could be written down") }
    for entry in happened {
      frame = max(frame, entry.frame)
      buffer += entry.line.utf8
    }
    if buffer.count > 1 << 14 { flush() }
  }

  private func flush() {
    var done = 0
    while done < buffer.count {
      let count = buffer.withUnsafeBytes {
        pwrite(file, $0.baseAddress! + done, $0.count - done, off_t(size) + off_t(done))
      }
      if count > 0 {
        done += count
      } else if errno != EINTR {
        doubt("the disk was full")
        break
      }
    }
    size += Int64(done)
    buffer.removeAll(keepingCapacity: true)
  }

  /// The journal of a take, in order of frames.
  func journal(of port: String, format: String, from start: Int64, to end: Int64) -> TakeJournal? {
    flush()
    var bytes = [UInt8](repeating: 0, count: Int(size))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        pread(file, $0.baseAddress! + done, $0.count - done, off_t(done))
      }
      guard count > 0 else { return nil }
      done += count
    }
    guard var journal = TakeJournal(reading: Array((TakeJournal.head + "\n").utf8) + bytes) else {
      return nil
    }
    (journal.rate, journal.quality, journal.folder, journal.patch) = (
      head.rate, head.quality, head.folder, head.patch
    )
    journal.doubts = doubts.sorted()
    var entries = journal.entries.filter { $0.frame < end }
    entries.append(TakeJournal.Entry(frame: start, happening: .take(format: format, port: port)))
    entries.append(TakeJournal.Entry(frame: end, happening: .end))
    journal.entries = entries.enumerated()
      .sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }.map(\.element)
    return journal
  }
}

import Engine
import Glibc
import Patch
import Realtime
import Synchronization

/// Everything that has happened in a live session since its engine began, for the journals of takes. It lies in a file, so that a
/// long session takes no memory, and what was played into a take outlives a program that is killed. The file is locked as long
/// as the session lives, and gone with its end.
final class SessionTape {
  /// Something whose frame is not known yet.
  private struct Waiting {
    let stamp: Int
    let happening: TakeJournal.Happening
  }

  private var head = TakeJournal()
  private let file: Int32
  private let path: String
  private let writer: FileWriter
  private let ballast: Ballast
  private var size = 0
  private var buffer: [UInt8] = []
  private var waiting: [Waiting] = []
  private var nextStamp = 1
  private var doubts: Set<String> = []
  /// Takes that are under way, which a session that is killed leaves to the next one.
  private var takings: Set<String> = []
  /// Frame of the last entry.
  private var frame: Int64 = 0
  private var pulse: Transport.Pulse?
  /// Movements of maps in the patch, as far as they are written down.
  private var moved: Int?
  /// Steps that a replay can undo and redo: edits since maps moved something, which may be other steps there. It has
  /// these in the same order, as `moved` keeps later movements out of its patch. Other steps are written down as the edits that
  /// they are.
  var depth = (undo: 0, redo: 0)
  /// Number of the session's edit that is a replay's newest, too; nil: it has another.
  var newest: Int?

  /// nil: no file can be made.
  init?(folder: String) {
    // `mkstemp` puts letters in place of the six X.
    var template = Array((folder + "/" + Self.beginning + "XXXXXX").utf8CString)
    file = mkstemp(&template)
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let ballast = Ballast(folder: folder)
    writer = FileWriter(file, isFlushed: false) { file, bytes, count, offset in
      let written = pwrite(file, bytes, count, offset)
      if written > 0 { ballast.reserve(for: Int(offset) + written) }
      return written
    }
    self.ballast = ballast
    guard file >= 0 else { return nil }
    flock(file, LOCK_EX | LOCK_NB)
    _ = fcntl(file, F_SETFD, FD_CLOEXEC)
  }

  deinit {
    writer.end()
    unlink(path)
    close(file)
  }

  /// Call it when the last take has ended: the next session finds nothing.
  func hide() { unlink(path) }

  /// Begins with a patch, before the first frame.
  func begin(_ head: TakeJournal) {
    if !self.head.patch.isEmpty || !waiting.isEmpty || frame > 0 { doubt("another patch was opened") }
    self.head = head
    moved = nil
    buffer += head.headText.utf8
    forgetSteps()
  }

  /// Ends the steps that a replay can undo, redo and amend.
  func forgetSteps() {
    depth = (0, 0)
    newest = nil
  }

  /// Notes what no replay can repeat.
  func doubt(_ reason: String) {
    if doubts.insert(reason).inserted { buffer += "unsure \(reason)\n".utf8 }
  }

  /// Notes a take that has begun, and what comes in through a node for its replay.
  func begin(_ taking: TakeJournal.Taking) {
    guard takings.insert(taking.path).inserted else { return }
    buffer += taking.line.utf8
  }

  func begin(_ input: TakeJournal.Input) { buffer += input.line.utf8 }

  /// Notes that the journal of the take at an absolute path has been written, at once: the next session would else write
  /// another.
  func end(_ path: String) {
    guard takings.remove(path) != nil else { return }
    buffer += "taken \(path)\n".utf8
    flush()
  }

  /// Performs `body`, whose transactions tell at which frame it takes effect.
  func note(_ happening: TakeJournal.Happening, _ engine: Engine, _ body: () -> Void) {
    waiting.append(Waiting(stamp: nextStamp, happening: happening))
    let outer = engine.stamp
    engine.stamp = nextStamp
    nextStamp += 1
    body()
    engine.stamp = outer
  }

  /// Notes which movements of maps the patch has: what an edit makes of its values, as a scene does, follows from these,
  /// whenever it takes effect.
  func noteMovements(_ engine: Engine) {
    let count = engine.movementsTaken
    guard count != moved, count > 0 || engine.hasMaps else { return }
    moved = count
    note(.moved(count), engine) {}
  }

  /// Takes the frames of what has taken effect, and what the driver gave; `bytes`: those of a system exclusive message. Call it
  /// after `Engine.collect`.
  func follow(_ engine: Engine, bytes: (Event) -> [UInt8]?) {
    var happened: [TakeJournal.Entry] = []
    for stamp in engine.takeStamps() {
      let number: Int
      switch stamp.meaning {
      case .rate(let rate):
        happened.append(TakeJournal.Entry(frame: stamp.time, happening: .rate(rate)))
        continue
      case .known(let frame):
        happened.append(TakeJournal.Entry(frame: stamp.time, happening: .known(frame)))
        continue
      case .settled:
        happened.append(TakeJournal.Entry(frame: stamp.time, happening: .settle))
        continue
      case .transactions(let transactions): number = transactions
      }
      // An edit without a transaction, such as a comment, goes with the one after it.
      while let first = waiting.first, first.stamp <= number {
        happened.append(TakeJournal.Entry(frame: stamp.time, happening: first.happening))
        waiting.removeFirst()
      }
    }
    for (time, input) in engine.takeInputs() {
      let happening: TakeJournal.Happening
      switch input {
      case .midi(let port, let event) where event.kind == .exclusive:
        guard let bytes = bytes(event) else {
          doubt("a system exclusive message came too fast to be written down")
          continue
        }
        happening = .exclusive(port: port, bytes)
      case .midi(let port, let event): happening = .midi(port: port, event)
      case .closed(let port): happening = .closed(port: port)
      case .load(let isHigh): happening = .load(isHigh: isHigh)
      case .transport(let input): happening = .follow(input)
      }
      happened.append(TakeJournal.Entry(frame: time, happening: happening))
    }
    if let frame = engine.firstGuess {
      let seconds = Double(Int64(Double(frame) / engine.rate * 1000)) / 1000
      doubt("the edit at \(seconds) s came late amid fades, or a controller moved what faded")
    }
    if engine.lostInputs > 0 { doubt("more MIDI came at once than could be written down") }
    for entry in happened {
      frame = max(frame, entry.frame)
      buffer += entry.line.utf8
    }
    // A change comes with an edit, or from the driver.
    let pulse = engine.transport.pulse
    if pulse != self.pulse {
      let isChange = { (entry: TakeJournal.Entry) in
        switch entry.happening {
        case .event, .midi, .exclusive, .closed, .load, .panic, .file, .hold, .moved, .known, .settle: false
        default: true
        }
      }
      let time = self.pulse == nil ? 0 : happened.last(where: isChange)?.frame ?? frame
      buffer += "pulse \(time) \(pulse.tempo) \(pulse.beats) \(pulse.unit)\n".utf8
      self.pulse = pulse
    }
    if buffer.count > (takings.isEmpty ? 1 << 14 : 0) { flush() }
  }

  private func flush() {
    if buffer.isEmpty { return }
    // Entries that could not be written left no trace.
    if writer.takeFault() != nil { doubt(Self.fullDisk) }
    writer.write(buffer, at: size)
    size += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  /// The tape as it is now, for journals: any thread may read it, however long that takes.
  func extract() -> Extract {
    flush()
    return Extract(
      file: OpenFile(copyOf: file), size: size, writer: writer, ballast: ballast, head: head, doubts: doubts)
  }

  struct Extract: Sendable {
    fileprivate let file: OpenFile
    fileprivate let size: Int
    fileprivate let writer: FileWriter
    fileprivate let ballast: Ballast
    fileprivate let head: TakeJournal
    fileprivate let doubts: Set<String>

    /// The journal of a take of `port`, or, without one, of a file of what was heard, in order of frames.
    func journal(of port: String?, format: String, from start: Int64, to end: Int64) -> TakeJournal? {
      writer.finish()
      guard let bytes = SessionTape.read(file.number, most: size), let all = TakeJournal(reading: bytes)
      else { return nil }
      var journal = all.cut(format: format, port: port, from: start, to: end)
      (journal.rate, journal.quality, journal.folder, journal.patch) = (
        head.rate, head.quality, head.folder, head.patch
      )
      journal.tellsFades = head.tellsFades
      journal.doubts = doubts.union(writer.hasFailed ? [SessionTape.fullDisk] : []).sorted()
      return journal
    }

    /// Gives the room that is reserved on the disk back, for journals that find no other.
    func makeRoom() {
      writer.finish()
      ballast.drop()
    }
  }

  private static let fullDisk = "the disk was full"

  fileprivate static func read(_ file: Int32, most: Int = .max) -> [UInt8]? {
    var info = stat()
    guard fstat(file, &info) == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: min(Int(info.st_size), most))
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        pread(file, $0.baseAddress! + done, $0.count - done, off_t(done))
      }
      guard count > 0 else { return nil }
      done += count
    }
    return bytes
  }

  private static let beginning = "tape-"

  /// Journals of sessions that were killed, each with the takes that were under way. Their files are removed.
  static func lost(in folder: String) -> [TakeJournal] {
    var lost: [TakeJournal] = []
    for name in PatchFile.names(in: folder) where name.hasPrefix(beginning) {
      let path = folder + "/" + name
      let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard file >= 0 else { continue }
      defer { close(file) }
      var info = stat()
      guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(),
        flock(file, LOCK_EX | LOCK_NB) == 0
      else { continue }
      if let bytes = read(file), let journal = TakeJournal(reading: bytes), !journal.takings.isEmpty {
        lost.append(journal)
      }
      unlink(path)
    }
    return lost
  }
}

/// Another descriptor of an open file, which is closed with the last reference.
private final class OpenFile: Sendable {
  let number: Int32

  init(copyOf file: Int32) { number = fcntl(file, F_DUPFD_CLOEXEC, 0) }

  deinit { if number >= 0 { close(number) } }
}

/// Room that is kept on the tape's disk, in a file without a name. A take that fills the disk leaves it, so that the journal and
/// the notes find room where takes and state folder share a disk. Any thread.
private final class Ballast: Sendable {
  private struct State {
    var file: Int32?
    var reserved = 0
  }

  private let folder: String
  private let state = Mutex(State())
  /// More than a take's journal and its notes have that is not on the tape.
  private static let least = 1 << 17

  init(folder: String) { self.folder = folder }

  deinit { if let file = state.withLock({ $0.file }), file >= 0 { close(file) } }

  /// Keeps room for a journal and notes of a tape of this size.
  func reserve(for size: Int) {
    let wanted = (2 * size + Self.least) & ~0xFFFF
    state.withLock { state in
      guard wanted > state.reserved else { return }
      if state.file == nil { state.file = make() }
      guard let file = state.file, file >= 0 else { return }
      state.reserved = wanted
      // A full disk is no fault of the tape.
      posix_fallocate(file, 0, off_t(wanted))
    }
  }

  private func make() -> Int32 {
    // `mkstemp` puts letters in place of the six X.
    var template = Array((folder + "/room-XXXXXX").utf8CString)
    let made = mkstemp(&template)
    guard made >= 0 else { return made }
    unlink(template)
    _ = fcntl(made, F_SETFD, FD_CLOEXEC)
    return made
  }

  /// Gives the room back.
  func drop() {
    state.withLock { state in
      guard let file = state.file, file >= 0, state.reserved > 0 else { return }
      state.reserved = 0
      ftruncate(file, 0)
    }
  }
}

extension TakeJournal {
  /// The part that a take's replay needs: what happened before its end, with the take itself. `port`: nil: of a file of what was
  /// heard.
  func cut(format: String, port: String?, from start: Int64, to end: Int64) -> TakeJournal {
    var journal = self
    var entries = entries.filter {
      if $0.frame >= end { return false }
      if case .hold = $0.happening { return port == nil }
      return true
    }
    if let port {
      entries.append(TakeJournal.Entry(frame: start, happening: .take(format: format, port: port)))
    } else {
      entries.append(TakeJournal.Entry(frame: end, happening: .keep(format: format, frames: end - start)))
    }
    entries.append(TakeJournal.Entry(frame: end, happening: .end))
    journal.entries = entries.enumerated()
      .sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }.map(\.element)
    return journal
  }
}

import Glibc

/// Edits that are not in the patch file yet, on disk before they are acknowledged: `write(2)` hands them
/// to the kernel, so a killed program loses none. Beside the patch, `.NAME.journal`, and locked as long
/// as a session has the patch open.
///
/// ```
/// sostenuto-journal 1
/// | sostenuto 1            the text of the patch that the edits start from, each line after "| "
/// edit replace dist equalizer
/// amend set main[0,1] -6dB in the place of the newest edit: another step of its gesture
/// undo
/// apply set main[0,1] 0dB  an undo or redo of what was saved before: not part of the history to recover
/// ```
/// Worker.
final class Journal {
  enum Record: Hashable {
    case edit(String)
    case amend(String)
    case apply(String)
    case undo, redo
  }

  struct Content: Hashable {
    var base = ""
    var records: [Record] = []
    /// Lines that were not understood.
    var broken = 0
  }

  /// Where a patch's journal lies: hidden beside it, or among the user's state for one without a file.
  /// `number`: which one of those.
  static func path(for file: String?, number: Int = 1) -> String {
    guard let file else {
      let folder = stateFolder
      PatchFile.makeFolder(folder)
      return folder + (number == 1 ? "/untitled.journal" : "/untitled-\(number).journal")
    }
    // Through links, so that a patch opened by two names has one journal.
    let (folder, name) = PatchFile.split(PatchFile.resolved(file))
    return "\(folder)/.\(name).journal"
  }

  /// `$XDG_STATE_HOME/sostenuto`, as the XDG base directory specification places it.
  private static var stateFolder: String {
    func variable(_ name: String) -> String? {
      guard let value = getenv(name), value.pointee != 0 else { return nil }
      return String(cString: value)
    }
    if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/sostenuto" }
    return (variable("HOME") ?? "/tmp") + "/.local/state/sostenuto"
  }

  static let head = "sostenuto-journal 1"
  /// What lines of the base begin with.
  private static let mark = Array("| ".utf8)

  let path: String
  private let file: Int32
  private var isEmpty: Bool

  /// nil: another session holds it.
  init?(path: String) throws(FileError) {
    self.path = path
    while true {
      let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw PatchFile.failure(path) }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        close(file)
        return nil
      }
      // Whoever held it before may have removed it between opening and locking.
      var mine = stat()
      var there = stat()
      if fstat(file, &mine) == 0, stat(path, &there) == 0, mine.st_ino == there.st_ino {
        self.file = file
        isEmpty = mine.st_size == 0
        return
      }
      close(file)
    }
  }

  /// Leaves edits for the next session, and no empty file.
  deinit {
    if isEmpty { unlink(path) }
    // A process that is just being started may hold a copy of the descriptor, and closing ours would
    // leave the lock with it.
    flock(file, LOCK_UN)
    close(file)
  }

  /// What an earlier session left; nil where it left nothing.
  func read() throws(FileError) -> Content? {
    guard !isEmpty else { return nil }
    let text = try PatchFile.read(path)
    var content = Content()
    // What follows the last line break was being written when the program ended: never acknowledged.
    var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast()
    guard let head = lines.first, head.elementsEqual(Self.head.utf8) else { return nil }
    lines = lines.dropFirst()
    var base: [UInt8] = []
    for line in lines {
      if line.starts(with: Self.mark) {
        base += line.dropFirst(Self.mark.count)
        base.append(UInt8(ascii: "\n"))
        continue
      }
      let line = String(decoding: line, as: UTF8.self)
      if line.hasPrefix("edit ") {
        content.records.append(.edit(String(line.dropFirst(5))))
      } else if line.hasPrefix("amend ") {
        content.records.append(.amend(String(line.dropFirst(6))))
      } else if line.hasPrefix("apply ") {
        content.records.append(.apply(String(line.dropFirst(6))))
      } else if line == "undo" {
        content.records.append(.undo)
      } else if line == "redo" {
        content.records.append(.redo)
      } else {
        content.broken += 1
      }
    }
    content.base = String(decoding: base, as: UTF8.self)
    return content.records.isEmpty && content.broken == 0 ? nil : content
  }

  /// `base`: the text of the patch before this record, written when it is the first.
  func append(_ record: Record, base: String) throws(FileError) {
    var text = Array((isEmpty ? Self.head + "\n" : "").utf8)
    if isEmpty { Self.append(base, to: &text) }
    text += Self.line(record).utf8
    let end = lseek(file, 0, SEEK_END)
    do throws(FileError) {
      try PatchFile.write(text, to: file, path)
    } catch {
      // Half a line (the disk is full) must not join with the next one.
      if end >= 0 { ftruncate(file, end) }
      throw error
    }
    isEmpty = false
  }

  /// Its lines, marked as those of the base.
  private static func append(_ base: String, to text: inout [UInt8]) {
    var base = base
    text.reserveCapacity(base.utf8.count * 5 / 4)
    base.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)[...]
      while let start = rest.base.baseAddress.map({ $0 + rest.startIndex }), !rest.isEmpty {
        let end = memchr(start, Int32(UInt8(ascii: "\n")), rest.count).map { UnsafeRawPointer($0) - start }
        text += mark
        text += rest.prefix(end ?? rest.count)
        text.append(UInt8(ascii: "\n"))
        rest = rest.dropFirst((end ?? rest.count) + 1)
      }
    }
  }

  private static func line(_ record: Record) -> String {
    switch record {
    case .edit(let line): "edit \(line)\n"
    case .amend(let line): "amend \(line)\n"
    case .apply(let line): "apply \(line)\n"
    case .undo: "undo\n"
    case .redo: "redo\n"
    }
  }

  /// Everything is in the patch file.
  func clear() {
    ftruncate(file, 0)
    lseek(file, 0, SEEK_SET)
    isEmpty = true
  }

  /// Takes it off the disk, with the edits in it.
  func remove() {
    clear()
    unlink(path)
  }
}

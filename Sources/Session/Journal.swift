import Glibc
import Recording

/// Edits that are not in the patch file yet, written before they are acknowledged. `write(2)` hands them to
/// the kernel, so a killed program loses none, and `Flusher` brings them to disk within milliseconds. Where the disk does not
/// answer in a tenth of a second, they are acknowledged all the same, and written when it does. The
/// journal lies beside the patch as `.NAME.journal`, and is locked as long as a session has the patch open.
/// If the patch's folder is not writable, it lies in the state folder. `JournalContent` has the format.
///
/// Only a plain file that is ours and begins with a journal's first line is ever written or truncated.
/// Anything else of that name (a link, another program's file, one that a power cut has filled with zeros) is
/// renamed and stays as it is. Worker.
final class Journal {
  private(set) var path: String
  private var file: Int32
  private var writer: FileWriter
  /// The disk has not answered in time.
  private var isLate = false
  /// Seconds in which it has to answer.
  private static let patience = 0.1
  private(set) var isEmpty: Bool
  /// Bytes of complete records.
  private var size: Int
  /// Records appended since it was opened or rewritten, and its size at that time.
  private var appended = 0
  private var sizeAtStart = 0

  private init(path: String, file: Int32, size: Int) {
    (self.path, self.file, self.size) = (path, file, size)
    writer = FileWriter(file, isFlushed: true)
    isEmpty = size == 0
    sizeAtStart = size
  }

  // MARK: Places

  /// Preferred path of a patch's journal.
  static func besidePath(for file: String) -> String {
    // Follows symbolic links, so that a patch opened by two names has one journal.
    let (folder, name) = PatchFile.split(PatchFile.resolved(file))
    return folder + "/" + FileName.joined(name, before: ".", after: ".journal", reserving: FileName.reserve)
  }

  /// Path of the journal if the patch's folder is not writable.
  static func statePath(for file: String) -> String {
    StateFolder.folder("journals") + "/" + StateFolder.name(for: file, after: ".journal")
  }

  /// Journals of patches without a file, from 1.
  static func untitledPath(_ number: Int) -> String {
    PatchFile.makeFolder(StateFolder.path)
    return StateFolder.path + (number == 1 ? "/untitled.journal" : "/untitled-\(number).journal")
  }

  // MARK: Opening

  /// Opens or creates a journal. nil: another session holds it. `notices`: other files of that name that were
  /// set aside.
  static func open(
    at path: String, creating: Bool = true, notices: inout [String]
  ) throws(FileError) -> Journal? {
    for _ in 0..<100 {
      let file = Glibc.open(
        path, O_RDWR | (creating ? O_CREAT : 0) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
      guard file >= 0 else {
        let error = PatchFile.failure(path)
        // A symbolic link, a folder, a socket.
        guard [ELOOP, EISDIR, ENXIO].contains(error.code) else { throw error }
        try setAside(path, "is no plain file", &notices)
        continue
      }
      var mine = stat()
      guard fstat(file, &mine) == 0 else {
        close(file)
        continue
      }
      guard mine.st_mode & S_IFMT == S_IFREG else {
        close(file)
        try setAside(path, "is no plain file", &notices)
        continue
      }
      guard mine.st_uid == geteuid() else {
        close(file)
        throw FileError.otherOwner(path: path)
      }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        close(file)
        return nil
      }
      // The previous owner may have removed it between opening and locking.
      var there = stat()
      guard lstat(path, &there) == 0, mine.st_ino == there.st_ino, mine.st_dev == there.st_dev else {
        close(file)
        continue
      }
      if mine.st_nlink > 1 {
        close(file)
        try setAside(path, "has another name as well", &notices)
        continue
      }
      guard let size = wholeSize(file, Int(mine.st_size)) else {
        close(file)
        try setAside(path, "is no journal that this program can read", &notices)
        continue
      }
      // An incomplete last line must not join with the next one.
      if size < Int(mine.st_size) { ftruncate(file, off_t(size)) }
      return Journal(path: path, file: file, size: size)
    }
    throw FileError.unstable(path: path)
  }

  private static func setAside(_ path: String, _ reason: String, _ notices: inout [String]) throws(FileError)
  {
    let other = FileName.free(path)
    guard rename(path, other) == 0 else { throw PatchFile.failure(path) }
    notices.append("\(PatchFile.split(path).name) \(reason): it is now called \(PatchFile.split(other).name)")
  }

  /// Bytes up to the end of the last complete line; nil if the file does not begin like a journal.
  private static func wholeSize(_ file: Int32, _ size: Int) -> Int? {
    if size == 0 { return 0 }
    let head = Array((JournalContent.heads[0] + "\n").utf8)
    var start = [UInt8](repeating: 0, count: head.count)
    let count = pread(file, &start, start.count, 0)
    guard count > 0 else { return nil }
    let isTorn = count < head.count && JournalContent.heads.contains { $0.utf8.starts(with: start[..<count]) }
    if isTorn { return 0 }
    guard JournalContent.heads.contains(where: { ($0 + "\n").utf8.elementsEqual(start[..<count]) }) else {
      return nil
    }
    // From the end, since the last line may be long.
    var end = size
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while end > 0 {
      let start = max(0, end - chunk.count)
      let count = pread(file, &chunk, end - start, off_t(start))
      guard count == end - start else { return nil }
      if let last = chunk[..<count].lastIndex(of: UInt8(ascii: "\n")) { return start + last + 1 }
      end = start
    }
    return 0
  }

  /// Keeps unsaved edits for the next session; removes an empty file.
  deinit { release() }

  private func release() {
    writer.end()
    Flusher.shared.forget(file)
    if isEmpty, namesThisFile { unlink(path) }
    // A child process being started may hold a copy of the descriptor; closing ours alone would leave the
    // lock with it.
    flock(file, LOCK_UN)
    close(file)
  }

  /// True when the path still leads here: another program may have removed the file or its folder.
  private var namesThisFile: Bool {
    var (mine, there) = (stat(), stat())
    return fstat(file, &mine) == 0 && lstat(path, &there) == 0 && mine.st_ino == there.st_ino
      && mine.st_dev == there.st_dev
  }

  /// True when the file has no name any more, so anything written to it is lost.
  var isGone: Bool {
    var mine = stat()
    return fstat(file, &mine) != 0 || mine.st_nlink == 0
  }

  // MARK: Content

  /// Records of an earlier session; nil if there are none.
  func read() throws(FileError) -> JournalContent? {
    guard !isEmpty else { return nil }
    writer.finish()
    lseek(file, 0, SEEK_SET)
    let content = JournalContent(reading: try PatchFile.read(file, path))
    let isStart = content.records.isEmpty && content.broken.isEmpty && content.base == content.file
    return isStart ? nil : content
  }

  /// `start`: the content before the very first record.
  func append(_ record: JournalContent.Record, start: @autoclosure () -> JournalContent) throws(FileError) {
    var text = isEmpty ? start().text : []
    text += record.line.utf8
    if isGone { throw FileError.system(path: path, code: ENOENT) }
    let piece = writer.write(text, at: size)
    isLate = !writer.wait(for: piece, seconds: isLate ? 0 : Self.patience)
    if !isLate {
      if let code = writer.takeFault() { throw .system(path: path, code: code) }
      if isEmpty { PatchFile.syncFolder(PatchFile.split(path).folder) }
    }
    isEmpty = false
    size += text.count
    appended += 1
  }

  /// Error of a failed flush of appended records.
  func takeFault() -> FileError? {
    (writer.takeFault() ?? Flusher.shared.takeFault(file)).map { .system(path: path, code: $0) }
  }

  /// Returns when the system has taken everything appended so far.
  func finish() { writer.finish() }

  /// Returns when everything appended so far is on disk.
  func flush() {
    writer.finish()
    Flusher.shared.finish(file)
  }

  /// True when it has grown enough to be worth rewriting.
  var isLong: Bool {
    appended > Self.mostRecords || size > sizeAtStart * 2 + Self.mostBytes
  }
  private static let mostRecords = 4000
  private static let mostBytes = 16 << 20

  /// Postpones rewriting until it has grown by as much again.
  func postponeRewriting() { (appended, sizeAtStart) = (0, size) }

  /// Replaces the content atomically: if the program is killed or the disk is full, the old content stays.
  /// The lock is held throughout.
  func rewrite(_ content: JournalContent) throws(FileError) {
    let (new, temporary) = try PatchFile.makeOwn(mode: 0o600, for: path) { [path] in "\(path).\($0).new" }
    let text = content.text
    do throws(FileError) {
      try PatchFile.write(text, to: new, path)
      guard fsync(new) == 0 else { throw PatchFile.failure(path) }
      // Another session may have created one there, after ours was removed.
      guard namesThisFile else { throw FileError.replaced(path: path) }
      guard rename(temporary, path) == 0 else { throw PatchFile.failure(path) }
    } catch {
      unlink(temporary)
      close(new)
      throw error
    }
    PatchFile.syncFolder(PatchFile.split(path).folder)
    writer.end()
    Flusher.shared.forget(file)
    flock(file, LOCK_UN)
    close(file)
    file = new
    writer = FileWriter(file, isFlushed: true)
    size = text.count
    isEmpty = size == 0
    postponeRewriting()
  }

  /// Copies it as it is, and returns the copy's name.
  func keepCopy() throws(FileError) -> String {
    writer.finish()
    lseek(file, 0, SEEK_SET)
    let bytes = try PatchFile.read(file, path)
    let copy = FileName.free(path)
    try PatchFile.create(copy, bytes, mode: 0o600)
    return PatchFile.split(copy).name
  }

  /// Empties it, since everything is in the patch file. Flushed at once: old records that reappear after a
  /// power cut would be older than the file.
  func clear() {
    guard !isEmpty else { return }
    writer.finish()
    ftruncate(file, 0)
    fdatasync(file)
    size = 0
    isEmpty = true
    postponeRewriting()
  }

  /// Deletes it with its edits.
  func remove() {
    clear()
    if namesThisFile { unlink(path) }
  }
}

import Glibc

/// Notes of the takes that are under way, one file each, locked by the program that writes the take. A note that nobody
/// locks is of a take that was cut off. A note names the wanted file before a disk that hangs may make it, then the file.
public struct TakeRegister: Sendable {
  private let folder: String
  private let spare: @Sendable () -> String?
  private let makeFolder: @Sendable () -> Void
  private static let head = "sostenuto-take 1"

  /// Notes in a folder, which exists, or which `makeFolder` makes before the first one. `spare`: another one, for when that
  /// cannot be written.
  public init(
    folder: String, spare: @escaping @Sendable () -> String? = { nil },
    makeFolder: @escaping @Sendable () -> Void = {}
  ) {
    (self.folder, self.spare, self.makeFolder) = (folder, spare, makeFolder)
  }

  /// A take's note; gone with the take's end. One thread.
  final class Note {
    private let path: String
    private let file: Int32

    fileprivate init?(_ path: String, _ take: String) {
      self.path = path
      file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { return nil }
      flock(file, LOCK_EX | LOCK_NB)
      write("\(TakeRegister.head)\nwanted \(take)\n")
    }

    private func write(_ text: String) {
      let bytes = Array(text.utf8)
      _ = Glibc.write(file, bytes, bytes.count)
    }

    /// The file is made.
    func name(_ take: String) { write("file \(TakeRegister.whole(take))\n") }

    func add(_ mark: Mark) { write("mark \(mark.frame) \(mark.text)\n") }

    func remove() { unlink(path) }

    deinit { if file >= 0 { close(file) } }
  }

  private static func whole(_ path: String) -> String {
    guard !path.hasPrefix("/"), let here = getcwd(nil, 0) else { return path }
    defer { free(here) }
    return String(cString: here) + "/" + path
  }

  /// A note of the take that is to be in this file; nil: it cannot be written.
  func note(of take: String) -> Note? {
    let full = Self.whole(take)
    guard !full.utf8.contains(10) else { return nil }
    makeFolder()
    return Self.note(of: full, in: folder) ?? spare().flatMap { Self.note(of: full, in: $0) }
  }

  private static func note(of take: String, in folder: String) -> Note? {
    for number in 1...999 {
      if let note = Note("\(folder)/\(getpid())-\(number)", take) { return note }
      guard errno == EEXIST else { return nil }
    }
    return nil
  }

  /// Makes the takes whole that were cut off, and says so. `journal`: writes down what was played in the take of that path,
  /// length in frames and rate; false: it cannot; nil: the file is none that has a journal.
  public func mend(
    journal: (_ take: String, _ frames: Int64, _ rate: Double) -> Bool? = { _, _, _ in false }
  ) -> [Notice] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var said: [Notice] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix("."), let text = mend(folder + "/" + name, journal) { said.append(text) }
    }
    return said.sorted { $0.text < $1.text }
  }

  private func mend(_ note: String, _ journal: (String, Int64, Double) -> Bool?) -> Notice? {
    let file = open(note, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid(),
      flock(file, LOCK_EX | LOCK_NB) == 0
    else { return nil }
    var bytes = [UInt8](repeating: 0, count: min(Int(info.st_size), 1 << 22))
    let count = pread(file, &bytes, bytes.count, 0)
    guard count > 0, let (take, isMade, marks) = Self.read(Array(bytes.prefix(count))) else {
      // Of a note that was cut off nothing is left to say; another file is not ours.
      let begun = bytes.prefix(max(count, 0)).prefix(Self.head.utf8.count + 6)
      if ["file ", "wanted "].contains(where: { (Self.head + "\n" + $0).utf8.starts(with: begun) }) {
        unlink(note)
      }
      return nil
    }
    defer { unlink(note) }
    if !isMade { return removeEmpty(take, since: info.st_mtim) }
    var present = stat()
    guard stat(take, &present) == 0 else {
      return .warning("\(take), a take that was cut off, is not there any more")
    }
    do throws(RecordingError) {
      let report = try TakeMender.mend(take, marks: marks)
      if report.frames == 0, report.cut <= Self.mostWithoutSound, unlink(take) == 0 {
        return .news("\(take) was cut off before any of its sound was written: no file is left")
      }
      let length =
        report.rate > 0 ? " of \(Take.length(seconds: Double(report.frames) / Double(report.rate)))" : ""
      let isWritten = report.rate > 0 ? journal(take, report.frames, Double(report.rate)) : false
      let words = isWritten.map { "; its notes and its journal are \($0 ? "beside it" : "lost")" } ?? ""
      return .news("\(take) was cut off: it is whole now, a take\(length)\(words)")
    } catch {
      return .warning("\(error.description): it was cut off, and cannot be mended")
    }
  }

  /// Bytes behind the head of a file that hold no sound: more are damaged sound, which stays.
  private static let mostWithoutSound: Int64 = 1 << 17

  /// Removes the empty file that a disk made after all when nobody waited for it any more. Files with something in them, and
  /// those that are older than the note, are others'.
  private func removeEmpty(_ wanted: String, since begin: timespec) -> Notice {
    var info = stat()
    var number = 1
    while number < 9999, lstat(TakeFiles.numbered(wanted, number), &info) == 0 {
      let path = TakeFiles.numbered(wanted, number)
      let isLater = (info.st_ctim.tv_sec, info.st_ctim.tv_nsec) >= (begin.tv_sec, begin.tv_nsec)
      if info.st_mode & S_IFMT == S_IFREG, info.st_size == 0, isLater, unlink(path) == 0 {
        return .news("\(path) was cut off before any of its sound was written: no file is left")
      }
      number += 1
    }
    return .warning("\(wanted): nothing was recorded, since the disk did not answer until the program ended")
  }

  /// The take, if its file was made, and its marks; nil: no such note.
  package static func read(_ bytes: [UInt8]) -> (take: String, isMade: Bool, marks: [Mark])? {
    var lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count > 2, lines.removeFirst() == head[...] else { return nil }
    let wanted = lines[0].hasPrefix("wanted ") ? String(lines.removeFirst().dropFirst(7)) : nil
    // The last line may be cut off.
    lines.removeLast()
    guard let line = lines.first, line.hasPrefix("file ") else { return wanted.map { ($0, false, []) } }
    let marks = lines.dropFirst().compactMap { line -> Mark? in
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count == 3, words[0] == "mark", let frame = Int64(words[1]), frame >= 0 else { return nil }
      return Mark(frame: frame, text: String(words[2]))
    }
    return (String(line.dropFirst(5)), true, marks)
  }
}

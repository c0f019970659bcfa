import CThread
import Glibc
import Recording

/// Overwriting in place, backup copies, and leftovers of killed programs.
extension PatchFile {
  /// Makes a file of this session alone, and locks it: as long as it is open, the lock shows cleaners of leftovers that it is
  /// in use. `name`: its path, by the number of this process. A file of that name stays, and this one gets another: the number
  /// may also be that of a program in another container, or of one that was killed. `path`: the file that errors name.
  static func makeOwn(
    mode: mode_t, for path: String, _ name: (String) -> String
  ) throws(FileError) -> (file: Int32, path: String) {
    for number in 1...99 {
      let own = name(number == 1 ? "\(getpid())" : "\(getpid())-\(number)")
      let file = open(own, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
      if file >= 0 {
        guard flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
          // A cleaner has it, and removes it.
          close(file)
          continue
        }
        return (file, own)
      }
      guard errno == EEXIST else { break }
    }
    throw failure(path)
  }

  /// Overwrites a file that cannot be replaced by renaming. A copy of the old content lies in the state
  /// folder until the new content is on disk.
  static func overwrite(_ target: String, with bytes: [UInt8], _ path: String) throws(FileError) {
    let file = open(target, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    // One session after the other, each with the whole content of the one before as its old one.
    awaitTurn(file)
    let old = try read(target)
    let folder = StateFolder.folder(saves)
    let (kept, copy) = try makeOwn(mode: 0o600, for: path) { mark in
      folder + "/" + StateFolder.name(for: target, after: "") + ".\(mark).save"
    }
    defer { close(kept) }
    do throws(FileError) {
      try write(old, to: kept, path)
      guard fsync(kept) == 0 else { throw failure(path) }
    } catch {
      unlink(copy)
      throw error
    }
    syncFolder(folder)
    do throws(FileError) {
      // First the part beyond the old end: if the disk is full, nothing has changed.
      do throws(FileError) {
        try write(bytes, old.count..<max(old.count, bytes.count), to: file, path)
      } catch {
        ftruncate(file, off_t(old.count))
        throw error
      }
      try write(bytes, 0..<min(old.count, bytes.count), to: file, path)
      guard ftruncate(file, off_t(bytes.count)) == 0, fsync(file) == 0 else { throw failure(path) }
    } catch {
      // Restores the old blocks; if that fails as well, the copy stays.
      if (try? write(old, old.indices, to: file, path)) != nil, ftruncate(file, off_t(old.count)) == 0,
        fsync(file) == 0
      {
        unlink(copy)
        throw error
      }
      throw FileError.incomplete(error, copy: copy)
    }
    unlink(copy)
  }

  /// True for a file with an access control list (POSIX.1e), which names other users and groups than the mode does.
  static func hasAccessList(_ path: String) -> Bool {
    getxattr(path, "system.posix_acl_access", nil, 0) > 0
  }

  private static let saves = "saves"

  /// Locks a file that is to be overwritten until it is closed. A program that holds it for longer is no session that saves.
  private static func awaitTurn(_ file: Int32) {
    for _ in 0..<100 {
      guard flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK else { return }
      usleep(10_000)
    }
  }

  private static func write(
    _ bytes: [UInt8], _ range: Range<Int>, to file: Int32, _ path: String
  ) throws(FileError) {
    var done = range.lowerBound
    while done < range.upperBound {
      let count = bytes.withUnsafeBufferPointer {
        pwrite(file, $0.baseAddress! + done, range.upperBound - done, off_t(done))
      }
      if count >= 0 {
        done += count
      } else if errno != EINTR {
        throw failure(path)
      }
    }
  }

  /// Keeps a copy of a file's content: as `NAME~` beside it, or `NAME~2` … if that name is taken, or in the
  /// state folder if the file's folder is not writable. Returns its path.
  package static func keepOriginal(of path: String, _ bytes: [UInt8]) throws(FileError) -> String {
    let target = resolved(path)
    let (folder, name) = split(target)
    var info = stat()
    let mode = stat(target, &info) == 0 ? info.st_mode & 0o777 : 0o600
    let first = folder + "/" + FileName.joined(name, after: "~", reserving: FileName.reserve)
    do throws(FileError) {
      return try keep(bytes, as: first, mode)
    } catch {
      let other = StateFolder.folder("originals") + "/" + StateFolder.name(for: target, after: "~")
      return try keep(bytes, as: other, 0o600)
    }
  }

  private static func keep(_ bytes: [UInt8], as first: String, _ mode: mode_t) throws(FileError) -> String {
    var path = first
    while true {
      do throws(FileError) {
        try create(path, bytes, mode: mode)
        return path
      } catch {
        guard error.code == EEXIST else { throw error }
        // Links are not followed, since their targets are not ours.
        var info = stat()
        if lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, (try? read(path)) == bytes {
          return path
        }
        path = FileName.free(first, from: 2, separator: "")
      }
    }
  }

  /// Removes temporary files of killed programs beside the file, and reports copies of files that were being
  /// overwritten.
  package static func clearLeftOvers(of path: String) -> [String] {
    let target = resolved(path)
    let (folder, name) = split(target)
    for entry in names(in: folder) {
      guard let (mark, process) = mark(in: entry, after: ".new"), process != getpid() else { continue }
      let stem = ".\(mark).new"
      guard
        entry == FileName.joined(name, before: ".", after: stem)
          || entry == split(Journal.besidePath(for: target)).name + stem
      else { continue }
      if isDead(process, folder + "/" + entry) { unlink(folder + "/" + entry) }
    }
    var notices: [String] = []
    let saves = StateFolder.path + "/" + saves
    let stem = StateFolder.name(for: target, after: "")
    for entry in names(in: saves) where entry.hasPrefix(stem + ".") {
      guard let (_, process) = mark(in: entry, after: ".save"), isDead(process, saves + "/" + entry),
        let bytes = try? read(saves + "/" + entry)
      else { continue }
      if (try? read(target)) != bytes, let kept = try? keepOriginal(of: target, bytes) {
        notices.append(
          "a save of \(name) was cut off in the middle: what the file was before is kept as \(kept)")
      }
      unlink(saves + "/" + entry)
    }
    return notices
  }

  /// Mark of a session in a name, and its process number: 123 for `.NAME.123.new` and `.NAME.123-2.new`.
  private static func mark(in name: String, after end: String) -> (text: Substring, process: Int32)? {
    guard name.hasSuffix(end) else { return nil }
    let rest = name.dropLast(end.count)
    guard let dot = rest.lastIndex(of: ".") else { return nil }
    let mark = rest[rest.index(after: dot)...]
    guard let process = Int32(mark.prefix { $0 != "-" }), process > 0 else { return nil }
    return (mark, process)
  }

  /// True for a plain file of ours that no living process holds. The number may be ours by now: then the lock alone tells.
  private static func isDead(_ process: Int32, _ path: String) -> Bool {
    guard process == getpid() || kill(process, 0) != 0 && errno == ESRCH else { return false }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return false }
    defer { close(file) }
    var info = stat()
    return fstat(file, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_uid == geteuid()
      && info.st_nlink == 1 && flock(file, LOCK_EX | LOCK_NB) == 0
  }

  /// Names in a folder, sorted.
  package static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
    return names.sorted()
  }
}

import Glibc
import Instruments
import Recording

/// Reading and replacing whole files. Worker.
package enum PatchFile {
  /// Size limit in bytes for patches, scripts, themes, journals and MIDI files.
  private static let largest = 256 << 20

  /// Contents of a plain file; anything else is refused at once.
  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    do throws(LoadError) { return try PlainFile.read(path, most: largest) } catch { throw .unreadable(error) }
  }

  /// Reason why `read` would refuse the file.
  package static func fault(of path: String) -> LoadError? { PlainFile.fault(of: path, most: largest) }

  /// Contents of a file that is named on the command line. The name may also stand for an open descriptor (see
  /// `descriptor`), which is read up to its end, however long that takes. Names in a patch stand for none: nobody may be about
  /// to send what they would read.
  package static func readArgument(_ path: String) throws(FileError) -> [UInt8] {
    guard let descriptor = descriptor(of: path) else { return try read(path) }
    do throws(LoadError) {
      return try PlainFile.readInput(descriptor, path, most: largest)
    } catch {
      throw .unreadable(error)
    }
  }

  /// Reads from the current position to the end.
  static func read(_ file: Int32, _ path: String) throws(FileError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = Glibc.read(file, &chunk, chunk.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes += chunk[..<count]
      } else if errno != EINTR {
        throw failure(path)
      }
    }
  }

  /// The descriptor named by a path: `-` and `/dev/stdin` are standard input, `/dev/fd/63` is what a shell
  /// substitutes for `<(command)`; nil for all other paths.
  package static func descriptor(of path: String) -> Int32? {
    if path == "-" || path == "/dev/stdin" { return STDIN_FILENO }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
    }
    return nil
  }

  /// Replaces the file's content by `text` atomically: a reader sees the old or the new content, also after a
  /// power cut. Keeps mode, owner and group; a symbolic link keeps its target. A file with several hard links or an access
  /// control list, in a folder that is not writable, or whose owner or group this user cannot give, is overwritten in
  /// place, with a copy of the old content in the state folder meanwhile.
  package static func replace(_ path: String, with text: String) throws(FileError) {
    let target = resolved(path)
    var old = stat()
    if lstat(target, &old) == 0, old.st_mode & S_IFMT == S_IFLNK {
      throw FileError.linkNotFollowed(path: path)
    }
    let exists = stat(target, &old) == 0
    if exists, old.st_mode & S_IFMT != S_IFREG {
      throw FileError.notPlain(path: path)
    }
    if exists, access(target, W_OK) != 0 { throw failure(path) }
    let bytes = Array(text.utf8)
    if exists, old.st_nlink > 1 || hasAccessList(target) {
      try overwrite(target, with: bytes, path)
      return
    }
    do throws(FileError) {
      try exchange(target, with: bytes, old: exists ? old : nil, path)
    } catch {
      // Folders that are not writable, files of others, and files that are mount points.
      guard exists, [EACCES, EPERM, EROFS, EBUSY, EXDEV].contains(error.code) else { throw error }
      try overwrite(target, with: bytes, path)
    }
  }

  /// Writes a new file beside the old one and renames it when it is complete.
  private static func exchange(
    _ target: String, with bytes: [UInt8], old: stat?, _ path: String
  ) throws(FileError) {
    let (folder, name) = split(target)
    let (file, temporary) = try makeOwn(mode: 0o666, for: path) { mark in
      folder + "/" + FileName.joined(name, before: ".", after: ".\(mark).new")
    }
    defer { close(file) }
    do throws(FileError) {
      if let old {
        var new = stat()
        let isLike = fstat(file, &new) == 0 && new.st_uid == old.st_uid && new.st_gid == old.st_gid
        // Only root may give a file away, and others only to their groups.
        guard isLike || fchown(file, old.st_uid, old.st_gid) == 0 else {
          throw FileError.system(path: path, code: EPERM)
        }
        guard fchmod(file, old.st_mode & 0o7777) == 0 else { throw failure(path) }
      }
      try write(bytes, to: file, path)
      guard fsync(file) == 0 else { throw failure(path) }
      guard rename(temporary, target) == 0 else { throw failure(path) }
    } catch {
      unlink(temporary)
      throw error
    }
    // The new name must reach the disk too.
    syncFolder(folder)
  }

  /// Flushes a folder's entries to disk, so that they survive a power cut.
  static func syncFolder(_ folder: String) {
    let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory >= 0 {
      fsync(directory)
      close(directory)
    }
  }

  /// Writes all bytes, in as many calls as it takes.
  package static func write(_ bytes: [UInt8], to file: Int32, _ path: String) throws(FileError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBufferPointer {
        Glibc.write(file, $0.baseAddress! + done, bytes.count - done)
      }
      if count >= 0 {
        done += count
      } else if errno != EINTR {
        throw failure(path)
      }
    }
  }

  /// Creates a file with these bytes; it is on disk when this returns.
  static func create(_ path: String, _ bytes: [UInt8], mode: mode_t) throws(FileError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    do throws(FileError) {
      _ = fchmod(file, mode)
      try write(bytes, to: file, path)
      guard fsync(file) == 0 else { throw failure(path) }
    } catch {
      unlink(path)
      throw error
    }
    syncFolder(split(path).folder)
  }

  /// Resolves symbolic links, including one to a missing file. A link stays whose target has a name that is not UTF-8,
  /// and one that leads round to itself.
  package static func resolved(_ path: String) -> String {
    var path = path
    for _ in 0..<40 {
      var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = target.withUnsafeMutableBytes {
        readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
      guard count > 0, let link = String(validating: target[..<count], as: UTF8.self) else { return path }
      path = link.hasPrefix("/") ? link : split(path).folder + "/" + link
    }
    return path
  }

  /// True when two paths lead to the same file, through any links; also for a missing file.
  static func isSame(_ a: String, _ b: String) -> Bool {
    if a == b { return true }
    var (first, second) = (stat(), stat())
    if stat(a, &first) == 0, stat(b, &second) == 0 {
      return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
    return absolute(resolved(a)) == absolute(resolved(b))
  }

  /// True for whatever has this name.
  package static func exists(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0
  }

  /// True for a file that a save can replace. Throws for a folder, a device and the like, so that nobody is asked about one.
  static func isReplaceable(_ path: String) throws(FileError) -> Bool {
    var info = stat()
    guard stat(path, &info) == 0 else { return false }
    guard info.st_mode & S_IFMT == S_IFREG else { throw FileError.notPlain(path: path) }
    return true
  }

  /// The file's first byte, to find out if it can be read; nil: it is empty.
  static func firstByte(of path: String) throws(FileError) -> UInt8? {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw failure(path) }
    defer { Glibc.close(file) }
    var byte: UInt8 = 0
    let count = Glibc.read(file, &byte, 1)
    guard count >= 0 else { throw failure(path) }
    return count == 1 ? byte : nil
  }

  /// The folder ("." if there is none) and the last component.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }

  /// The absolute path, with its folder resolved as far as it exists.
  static func absolute(_ path: String) -> String {
    let (folder, name) = split(path)
    if name == "." || name == ".." || name.isEmpty { return realPath(path) ?? path }
    if let folder = realPath(folder) { return (folder == "/" ? "" : folder) + "/" + name }
    if folder == "." || folder == "/" || !path.contains("/") { return path }
    let above = absolute(folder)
    return above + "/" + name
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Creates the folder with its parents.
  package static func makeFolder(_ path: String) {
    var built = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      built += "/" + part
      mkdir(built, 0o700)
    }
  }

  /// The error of the last system call.
  package static func failure(_ path: String) -> FileError {
    .system(path: path, code: errno)
  }
}

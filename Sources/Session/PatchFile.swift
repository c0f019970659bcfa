import Glibc
import Sampler

/// Reading and replacing whole files. Worker.
package enum PatchFile {
  /// Larger files are no patches, scripts, themes, journals or MIDI files.
  private static let largest = 256 << 20

  /// A whole plain file, or what comes through an open descriptor (see `descriptor`) until its end.
  package static func read(_ path: String) throws(FileError) -> [UInt8] {
    do throws(LoadError) {
      guard let descriptor = descriptor(of: path) else { return try PlainFile.read(path, most: largest) }
      return try PlainFile.readInput(descriptor, path, most: largest)
    } catch {
      throw FileError(error.description, code: error.code)
    }
  }

  /// From where the file stands to its end.
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

  /// The descriptor that a path names: `-` and `/dev/stdin` are standard input, `/dev/fd/63` is what a shell puts in
  /// the place of `<(command)`; nil for all other paths.
  package static func descriptor(of path: String) -> Int32? {
    if path == "-" || path == "/dev/stdin" { return STDIN_FILENO }
    for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
      return Int32(path.dropFirst(folder.count)).flatMap { $0 >= 0 ? $0 : nil }
    }
    return nil
  }

  /// Puts `text` in the place of the file in one step: whoever reads sees the old or the new, also after
  /// a power cut. Keeps the mode and the owner; a symbolic link goes on pointing where it did. A file of
  /// several names, and one whose folder takes no new files, is written where it lies, while a copy of it
  /// is kept in the state folder.
  package static func replace(_ path: String, with text: String) throws(FileError) {
    let target = resolved(path)
    var old = stat()
    let exists = stat(target, &old) == 0
    if exists, old.st_mode & S_IFMT != S_IFREG {
      throw FileError("\(path): not a plain file")
    }
    if exists, access(target, W_OK) != 0 { throw failure(path) }
    let bytes = Array(text.utf8)
    if exists, old.st_nlink > 1 {
      try overwrite(target, with: bytes, path)
      return
    }
    do throws(FileError) {
      try exchange(target, with: bytes, old: exists ? old : nil, path)
    } catch {
      // Folders that take no new files, and files that are mounted one by one.
      guard exists, [EACCES, EPERM, EROFS, EBUSY, EXDEV].contains(error.code) else { throw error }
      try overwrite(target, with: bytes, path)
    }
  }

  /// A new file beside takes the old one's place when it is whole.
  private static func exchange(
    _ target: String, with bytes: [UInt8], old: stat?, _ path: String
  ) throws(FileError) {
    let (folder, name) = split(target)
    let temporary = folder + "/" + temporaryName(name)
    unlink(temporary)
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o666)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    // Whoever clears away what killed programs left sees that this one lives.
    flock(file, LOCK_EX | LOCK_NB)
    do throws(FileError) {
      if let old {
        // Only root may give files away; then the mode is all that can be kept.
        _ = fchown(file, old.st_uid, old.st_gid)
        guard fchmod(file, old.st_mode & 0o7777) == 0 else { throw failure(path) }
      }
      try write(bytes, to: file, path)
      guard fsync(file) == 0 else { throw failure(path) }
      guard rename(temporary, target) == 0 else { throw failure(path) }
    } catch {
      unlink(temporary)
      throw error
    }
    // The new name has to reach the disk as well.
    syncFolder(folder)
  }

  static func temporaryName(_ name: String) -> String {
    FileName.joined(name, before: ".", after: ".\(getpid()).new")
  }

  /// Brings a folder's names to the disk, so that they outlast a power cut.
  static func syncFolder(_ folder: String) {
    let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory >= 0 {
      fsync(directory)
      close(directory)
    }
  }

  /// All of it, however many writes it takes.
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

  /// Makes a new file of these bytes that is on the disk when this returns.
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

  /// Where a path leads, through symbolic links also to what does not exist yet.
  package static func resolved(_ path: String) -> String {
    var path = path
    for _ in 0..<40 {
      var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
      let count = target.withUnsafeMutableBytes {
        readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
      }
      guard count > 0 else { return path }
      let link = String(decoding: target[..<count], as: UTF8.self)
      path = link.hasPrefix("/") ? link : split(path).folder + "/" + link
    }
    return path
  }

  /// Two paths of one file, by whatever names and links; also where it does not exist yet.
  static func isSame(_ a: String, _ b: String) -> Bool {
    if a == b { return true }
    var (first, second) = (stat(), stat())
    if stat(a, &first) == 0, stat(b, &second) == 0 {
      return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }
    return absolute(resolved(a)) == absolute(resolved(b))
  }

  static func exists(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0
  }

  /// The folder ("." where none is named) and the last part.
  package static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }

  /// The path from the root, its folder without links, as far as it exists.
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

  /// The folder and all above it.
  package static func makeFolder(_ path: String) {
    var built = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      built += "/" + part
      mkdir(built, 0o700)
    }
  }

  /// What the last system call complained of.
  package static func failure(_ path: String) -> FileError {
    let code = errno
    return FileError("\(path): \(String(cString: strerror(code)))", code: code)
  }
}

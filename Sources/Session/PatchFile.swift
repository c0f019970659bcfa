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
      throw FileError(error.description)
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
  /// a power cut. Keeps the mode and the owner; a symbolic link goes on pointing where it did.
  package static func replace(_ path: String, with text: String) throws(FileError) {
    let target = resolved(path)
    let (folder, name) = split(target)
    var old = stat()
    let exists = stat(target, &old) == 0
    if exists, old.st_mode & S_IFMT != S_IFREG {
      throw FileError("\(path): not a plain file")
    }
    if exists, access(target, W_OK) != 0 { throw failure(path) }
    let temporary = "\(folder)/.\(name).\(getpid()).new"
    unlink(temporary)
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw failure(path) }
    do throws(FileError) {
      if exists {
        // Only root may give files away; then the mode is all that can be kept.
        _ = fchown(file, old.st_uid, old.st_gid)
        guard fchmod(file, old.st_mode & 0o7777) == 0 else { throw failure(path) }
      }
      try write(Array(text.utf8), to: file, path)
      guard fsync(file) == 0 else { throw failure(path) }
      guard rename(temporary, target) == 0 else { throw failure(path) }
    } catch {
      close(file)
      unlink(temporary)
      throw error
    }
    close(file)
    // The new name has to reach the disk as well.
    let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if directory >= 0 {
      fsync(directory)
      close(directory)
    }
  }

  /// All of it, however many writes it takes.
  static func write(_ bytes: [UInt8], to file: Int32, _ path: String) throws(FileError) {
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

  /// Where a path leads, through symbolic links also to what does not exist yet.
  static func resolved(_ path: String) -> String {
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

  /// The folder ("." where none is named) and the last part.
  static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }

  /// The folder and all above it.
  static func makeFolder(_ path: String) {
    var built = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      built += "/" + part
      mkdir(built, 0o700)
    }
  }

  /// What the last system call complained of.
  static func failure(_ path: String) -> FileError {
    FileError("\(path): \(String(cString: strerror(errno)))")
  }
}

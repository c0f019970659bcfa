import Glibc

/// Files that a person, a patch or an instrument names, whatever they turn out to be: a pipe that nobody writes to
/// is not waited for, a device is not read until the memory is full. Worker.
package enum PlainFile {
  /// Opens a file of at most `most` bytes, and says how many it has. Whoever calls closes it.
  package static func open(_ path: String, most: Int = .max) throws(LoadError) -> (file: Int32, size: Int) {
    // Opening a pipe would otherwise wait for somebody to write to it.
    let file = Glibc.open(TextFile.cName(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw LoadError(path: path, code: errno) }
    do throws(LoadError) {
      var status = stat()
      guard fstat(file, &status) == 0 else { throw LoadError(path: path, code: errno) }
      switch status.st_mode & S_IFMT {
      case S_IFREG: break
      case S_IFDIR: throw LoadError(path: path, "a folder, not a file")
      default: throw LoadError(path: path, "not a plain file")
      }
      guard status.st_size <= most else { throw LoadError(path: path, tooLarge(status.st_size, most)) }
      return (file, Int(status.st_size))
    } catch {
      close(file)
      throw error
    }
  }

  /// All of a file of at most `most` bytes. A file that grows meanwhile is not read beyond that.
  package static func read(_ path: String, most: Int) throws(LoadError) -> [UInt8] {
    let (file, size) = try open(path, most: most)
    defer { close(file) }
    return try read(file, path, size: size, most: most)
  }

  /// All that comes until the end, however long that takes: of standard input.
  package static func readInput(_ file: Int32, _ name: String, most: Int) throws(LoadError) -> [UInt8] {
    try read(file, name, size: 0, most: most)
  }

  private static func read(_ file: Int32, _ path: String, size: Int, most: Int) throws(LoadError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    var piece = [UInt8](repeating: 0, count: longestRead)
    while true {
      let count = Glibc.read(file, &piece, piece.count)
      if count == 0 { return bytes }
      if count > 0 {
        bytes.append(contentsOf: piece[..<count])
      } else if errno != EINTR {
        throw LoadError(path: path, code: errno)
      }
      guard bytes.count <= most else { throw LoadError(path: path, tooLarge(bytes.count, most)) }
    }
  }

  private static func tooLarge(_ size: Int, _ most: Int) -> String {
    "too large: it has \((size + 1_048_575) >> 20) MB, and \(most >> 20) MB are the most that is read"
  }
}

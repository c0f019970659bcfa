import Glibc

/// Safe reading of files named by a person, a patch or an instrument: a pipe without a writer does not block,
/// and a device is not read until memory is full. Worker.
package enum PlainFile {
  /// Opens a file of at most `most` bytes, and returns its size. The caller closes it.
  package static func open(_ path: String, most: Int = .max) throws(LoadError) -> (file: Int32, size: Int) {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    let file = Glibc.open(TextFile.cName(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard file >= 0 else { throw LoadError(path: path, .system(errno)) }
    do throws(LoadError) {
      var status = stat()
      guard fstat(file, &status) == 0 else { throw LoadError(path: path, .system(errno)) }
      switch status.st_mode & S_IFMT {
      case S_IFREG: break
      case S_IFDIR: throw LoadError(path: path, .folder)
      default: throw LoadError(path: path, .notPlain)
      }
      guard status.st_size <= most else { throw LoadError(path: path, .tooLarge(status.st_size, most: most)) }
      return (file, Int(status.st_size))
    } catch {
      close(file)
      throw error
    }
  }

  /// Reason why `open` refuses it, as it does a folder, a pipe or a device; nil: it does not.
  public static func fault(of path: String, most: Int = .max) -> LoadError? {
    do throws(LoadError) {
      close(try open(path, most: most).file)
      return nil
    } catch {
      return error
    }
  }

  /// The contents of a file of at most `most` bytes. If it grows meanwhile, the excess is not read.
  package static func read(_ path: String, most: Int) throws(LoadError) -> [UInt8] {
    let (file, size) = try open(path, most: most)
    defer { close(file) }
    return try read(file, path, size: size, most: most)
  }

  /// Reads standard input to its end, however long that takes.
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
        throw LoadError(path: path, .system(errno))
      }
      guard bytes.count <= most else { throw LoadError(path: path, .tooLarge(bytes.count, most: most)) }
    }
  }
}

import Glibc

/// Stamp of a file's version, found without reading the file.
package enum FileStamp: Hashable, Sendable {
  case missing
  /// Sizes in bytes, times in nanoseconds. The number changes when a file is replaced as a whole.
  case file(device: UInt, number: UInt, size: Int, changed: Int64, touched: Int64)

  /// The version at a path, through links.
  package init(path: String) {
    var info = stat()
    guard stat(path, &info) == 0 else {
      self = .missing
      return
    }
    func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) }
    self = .file(
      device: UInt(info.st_dev), number: UInt(info.st_ino), size: Int(info.st_size),
      changed: nanoseconds(info.st_mtim), touched: nanoseconds(info.st_ctim))
  }

  /// Number of the file in its file system; nil: there is none.
  var number: UInt? {
    guard case .file(_, let number, _, _, _) = self else { return nil }
    return number
  }

  /// There is nothing to read, as in the middle of a write.
  var isBlank: Bool {
    switch self {
    case .missing: true
    case .file(_, _, let size, _, _): size == 0
    }
  }
}

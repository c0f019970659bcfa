import Glibc

/// Reason why sound cannot be recorded.
public enum RecordingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A failed system call on that path, with its `errno`.
  case system(path: String, code: Int32)
  /// A name whose extension is no format.
  case noFormat(path: String)
  /// A format that does not take so many channels, or that rate.
  case unfit(path: String, String)
  /// A file that cannot be mended.
  case beyondMending(path: String, String)

  /// One line, with the file's name.
  public var description: String {
    switch self {
    case .system(let path, let code) where Self.full.contains(code):
      "\(path): \(code == EFBIG ? "the file has its largest size" : "the disk is full")"
    case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
    case .noFormat(let path):
      "\(path): a take is a file \(SampleFormat.endings.map { "." + $0 }.joined(separator: ", "))"
    case .unfit(let path, let why), .beyondMending(let path, let why): "\(path): \(why)"
    }
  }

  private static let full: Set<Int32> = [ENOSPC, EDQUOT, EFBIG]
}

import CJack
import Glibc

/// The socket of the PipeWire server that libjack's clients belong to. PipeWire's libjack tells no client that its server has
/// died; a new server makes a new socket of that name.
struct PipeWireSocket {
  private let path: String
  private let first: [Int]

  /// True when libjack is PipeWire's.
  static let ownsLibrary = String(cString: jack_get_version_string()).includes("PipeWire")

  /// The server's socket as it is now; nil: libjack is another server's, or there is no such file. Worker.
  init?() {
    guard Self.ownsLibrary else { return nil }
    func setting(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    let name = setting("PIPEWIRE_REMOTE") ?? "pipewire-0"
    let folder = setting("PIPEWIRE_RUNTIME_DIR") ?? setting("XDG_RUNTIME_DIR") ?? "/run/pipewire"
    path = name.hasPrefix("/") ? name : "\(folder)/\(name)"
    guard let now = Self.identity(of: path) else { return nil }
    first = now
  }

  /// True when another server has taken its place. Worker; one system call.
  var isReplaced: Bool { Self.identity(of: path).map { $0 != first } ?? false }

  /// A file's number may be given to its successor at once, so the time of its making counts as well.
  private static func identity(of path: String) -> [Int]? {
    var info = stat()
    guard stat(path, &info) == 0 else { return nil }
    return [
      Int(truncatingIfNeeded: info.st_dev), Int(truncatingIfNeeded: info.st_ino), info.st_mtim.tv_sec,
      info.st_mtim.tv_nsec,
    ]
  }
}

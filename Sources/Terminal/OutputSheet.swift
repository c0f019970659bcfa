import CTerminal
import Glibc

/// Memory that ncurses writes into, so that all changes of a screen reach the terminal in one write: ncurses would make one
/// for each place, and the terminal would show the screen in between, and wake up for each.
@MainActor
struct OutputSheet {
  /// The descriptor that ncurses has; the terminal itself, until `begin`.
  let descriptor: Int32
  private let terminal: Int32
  private var memory: Int32 = -1

  /// nil: there are no more descriptors.
  init?(of terminal: Int32) {
    self.terminal = terminal
    descriptor = fcntl(terminal, F_DUPFD_CLOEXEC, 3)
    if descriptor < 0 { return nil }
  }

  /// From here on ncurses writes into the memory. Without memory it goes on with the terminal.
  mutating func begin() {
    memory = cterminal_memory_file()
    if memory >= 0 { lead(to: memory) }
  }

  private func lead(to target: Int32) {
    dup2(target, descriptor)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  }

  /// Gives ncurses the terminal for a moment, for its settings.
  func withTerminal(_ body: () -> Void) {
    guard memory >= 0 else { return body() }
    lead(to: terminal)
    body()
    lead(to: memory)
  }

  /// Bytes written since the last call.
  func take() -> [UInt8] {
    guard memory >= 0 else { return [] }
    // Both descriptors share the place.
    let count = Int(lseek(memory, 0, SEEK_CUR))
    guard count > 0 else { return [] }
    lseek(memory, 0, SEEK_SET)
    return [UInt8](unsafeUninitializedCapacity: count) { bytes, found in
      found = max(0, pread(memory, bytes.baseAddress, count, 0))
    }
  }
}

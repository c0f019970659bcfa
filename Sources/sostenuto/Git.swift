import Glibc
import Session

/// Runs git as a separate program.
enum Git {
  /// Returns its output, without the last line break, and its exit status. Its messages go to standard error.
  /// Throws if there is no git.
  static func run(_ arguments: [String], quiet: Bool = false) throws -> (output: String, status: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw failure(errno) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_addclose(&actions, ends[0])
    posix_spawn_file_actions_addclose(&actions, ends[1])
    if quiet { posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0) }
    var child: pid_t = 0
    let fault = withArguments(["git"] + arguments) {
      posix_spawnp(&child, "git", &actions, nil, $0, environ)
    }
    close(ends[1])
    defer { close(ends[0]) }
    guard fault == 0 else { throw failure(fault) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 12)
    while true {
      let count = read(ends[0], &chunk, chunk.count)
      if count > 0 { bytes += chunk[..<count] }
      if count == 0 || count < 0 && errno != EINTR { break }
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    if bytes.last == 10 { bytes.removeLast() }
    return (String(decoding: bytes, as: UTF8.self), status & 0x7F == 0 ? status >> 8 & 0xFF : 128)
  }

  /// Replaces this program by git; returns only on failure, with the reason in `errno`.
  static func become(_ arguments: [String]) {
    _ = withArguments(arguments) { execvp("git", $0) }
  }

  private static func withArguments<Result>(
    _ arguments: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
  ) -> Result {
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress!) }
  }

  private static func failure(_ code: Int32) -> CommandError {
    CommandError("git: \(String(cString: strerror(code)))")
  }
}

import Glibc
import Session

/// Runs git as a separate program.
enum Git {
  /// Returns its output, without the last line break, and its exit status. Its messages go to standard error.
  /// Throws if there is no git.
  static func run(_ arguments: [String], quiet: Bool = false) throws -> (output: String, status: Int32) {
    let (bytes, status) = try output(arguments, quiet: quiet)
    return (String(decoding: bytes.last == 10 ? bytes.dropLast() : bytes[...], as: UTF8.self), status)
  }

  /// The same with all bytes of its output.
  static func output(_ arguments: [String], quiet: Bool = false) throws -> (bytes: [UInt8], status: Int32) {
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
    return (bytes, status & 0x7F == 0 ? status >> 8 & 0xFF : 128)
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

/// Copies of texts in a folder of their own, for another program.
struct TemporaryFiles {
  let paths: [String]
  private let folder: String

  init(_ contents: [[UInt8]]) throws {
    let place = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    let pattern = (place.isEmpty ? "/tmp" : place) + "/sostenuto-XXXXXX"
    var name = Array(pattern.utf8CString)
    let made = name.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } }
    guard let made else { throw PatchFile.failure(pattern) }
    folder = made
    paths = contents.indices.map { "\(made)/\($0 + 1)" }
    do {
      for (path, bytes) in zip(paths, contents) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw PatchFile.failure(path) }
        defer { close(file) }
        try PatchFile.write(bytes, to: file, path)
      }
    } catch {
      remove()
      throw error
    }
  }

  func remove() {
    for path in paths { unlink(path) }
    rmdir(folder)
  }
}

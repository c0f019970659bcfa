import Glibc
import Session

/// Option for the file of the edit log.
struct EditLogArguments: ParameterGroup {
  static let rows: [CommandRow<Self>] = [
    .option(
      "edits", \.path, "file", completion: .files([]),
      "Write what each edit did to the sound, as JSON: step and residue above 5 kHz.")
  ]

  var path: String?

  var isWanted: Bool { path != nil }

  /// Call this once everything has been rendered.
  @MainActor func write(_ session: Session) throws {
    guard let path else { return }
    let text = Printout.json(session.finishedEditLog(), rate: session.engine.rate).text() + "\n"
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw PatchFile.failure(path) }
    defer { close(file) }
    try PatchFile.write(Array(text.utf8), to: file, path)
    if session.engine.unseenCells > 0 {
      Console.warn(
        "\(session.engine.unseenCells) measured cells were lost: some figures are too low")
    }
  }
}

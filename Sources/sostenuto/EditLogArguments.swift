import ArgumentParser
import Glibc
import Session

/// Where the log of edits goes.
struct EditLogArguments: ParsableArguments {
  @Option(
    name: .customLong("edits"),
    help: ArgumentHelp(
      "Write what each edit did to the sound, as JSON: step and residue above 5 kHz.", valueName: "file"))
  var path: String?

  var isWanted: Bool { path != nil }

  /// Once everything has been rendered.
  @MainActor func write(_ session: Session) throws {
    guard let path else { return }
    let text = Printout.json(session.finishedEditLog(), rate: session.engine.rate).text() + "\n"
    guard let file = fopen(path, "w") else { throw FileError("\(path): \(String(cString: strerror(errno)))") }
    let written = fputs(text, file)
    guard fclose(file) == 0, written >= 0 else {
      throw FileError("\(path): \(String(cString: strerror(errno)))")
    }
    if session.engine.unseenCells > 0 {
      Console.error(
        "warning: \(session.engine.unseenCells) measured cells were lost: some figures are too low")
    }
  }
}

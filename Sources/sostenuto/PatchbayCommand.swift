import Drivers
import Session

/// `sostenuto patchbay [PATCH]`: the programs of a JACK server and their connections, without sound.
struct PatchbayCommand: Command {
  static let table = CommandTable<Self>(
    "patchbay", "Connect the programs of a JACK server with each other.",
    discussion: """
      Shows all programs with their ports and cables. Cables are edits, with undo and redo; patterns are allowed, as in \
      `connect "firefox:*" -> "system:playback_*"`. What is connected elsewhere shows as found, and `K` keeps it. Saved \
      to a patch, the cables are made again whenever the programs of both ends run. Nothing is rendered: the nodes of a \
      patch that make sound stay silent.
      """,
    [
      .argument(
        "patch", \.patch, completion: .patches,
        "The patch with the cables to keep; it is made when it does not exist."),
      .option("jack-server", \.jackServer, "name", "The JACK server of this name."),
      .option(
        "theme", \.theme, "theme", completion: .files(["toml"]),
        "dark, light, nord, …: a theme by name, or a TOML file."),
      .option("keys", \.keys, "file", completion: .files(["toml"]), "A TOML file of keys."),
    ])

  var patch: String?
  var jackServer: String?
  var theme: String?
  var keys: String?

  func validate() throws {
    guard patch.flatMap({ PatchFile.descriptor(of: $0) }) == nil else {
      throw UsageError("The front end takes its keys from there: name a file")
    }
  }

  func run() throws {
    var driver = DriverOptions()
    driver.jack.server = jackServer
    let options = FrontEndOptions(
      patch: patch, driver: driver, isPatchbay: true, heldSeconds: 0, threads: 1, theme: theme, keys: keys)
    try MainActor.assumeIsolated { try FrontEnd.run(options) }
  }
}

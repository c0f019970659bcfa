import Session

/// `sostenuto [PATCH]`: the terminal front end.
struct EditCommand: Command {
  static let table = CommandTable<Self>(
    "edit", "Open the terminal front end (what a patch alone does, too).",
    [
      .argument(
        "patch", \.patch, completion: .patches,
        "The patch to open; it is made when it does not exist. An instrument, a sound or a MIDI file: a patch that plays it. A folder: the browser."
      ),
      .group(\.driver),
      .option(
        "theme", \.theme, "theme", completion: .files(["toml"]),
        "dark, light, nord, …: a theme by name, or a TOML file."),
      .option("keys", \.keys, "file", completion: .files(["toml"]), "A TOML file of keys."),
      .option(
        "layout", \.layout, "layout", completion: .files(["toml"]),
        "Notes on the keys of play mode: qwerty, qwertz, azerty, dvorak, isomorphic, or a TOML file."),
      .flag("linear", \.isLinear, "Everything by lines, for a screen reader: the same keys, and no screen."),
      .flag(
        "reduced-motion", \.isCalm, "Meters and scopes move once a second; what you do is shown at once."),
      .flag("ascii", \.isPlain, "Draw with ASCII alone, as where the locale or the terminal has no UTF-8."),
    ])

  var patch: String?
  var driver = DriverArguments()
  var theme: String?
  var keys: String?
  var layout: String?
  var isPlain = false
  var isLinear = false
  var isCalm = false

  func validate() throws {
    guard patch.flatMap({ PatchFile.descriptor(of: $0) }) == nil else {
      throw UsageError("The front end takes its keys from there: name a file")
    }
  }

  func run() throws {
    let options = FrontEndOptions(
      patch: patch, driver: driver.options, heldSeconds: (driver.keep ?? 10) * 60,
      keepsInputs: !driver.leavesOutInputs,
      threads: driver.rendering.count, theme: theme, keys: keys, layout: layout, isPlain: isPlain,
      isLinear: isLinear, isCalm: isCalm)
    try MainActor.assumeIsolated { try FrontEnd.run(options) }
  }
}

/// `sostenuto tour`: the front end with a patch to try it on, and what to try.
struct TourCommand: Command {
  static let table = CommandTable<Self>(
    "tour", "Learn the program in five minutes, by playing and rewiring.",
    discussion: """
      Opens the front end with a patch of its own. Rows above the graph say what to press, and go on when it has been \
      done. Nothing is written unless you save it.
      """,
    [
      .group(\.driver),
      .option(
        "theme", \.theme, "theme", completion: .files(["toml"]),
        "dark, light, nord, …: a theme by name, or a TOML file."),
      .flag("linear", \.isLinear, "Everything by lines, for a screen reader: the same keys, and no screen."),
      .flag("ascii", \.isPlain, "Draw with ASCII alone, as where the locale or the terminal has no UTF-8."),
    ])

  var driver = DriverArguments()
  var theme: String?
  var isLinear = false
  var isPlain = false

  func run() throws {
    let options = FrontEndOptions(
      driver: driver.options, isTour: true, heldSeconds: (driver.keep ?? 10) * 60,
      keepsInputs: !driver.leavesOutInputs, threads: driver.rendering.count, theme: theme, isPlain: isPlain,
      isLinear: isLinear)
    try MainActor.assumeIsolated { try FrontEnd.run(options) }
  }
}

import ArgumentParser
import Session

/// `sostenuto [PATCH]`: the terminal front end.
struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Open the terminal front end (what a patch alone does, too).")

  @Argument(help: "The patch to open; it is made when it does not exist.", completion: .patch)
  var patch: String?
  @OptionGroup var driver: DriverArguments
  @Option(
    help: ArgumentHelp(
      "dark, light, monochrome, one of your own by name, or a TOML file.", valueName: "theme"),
    completion: .file(extensions: ["toml"]))
  var theme: String?
  @Option(
    help: ArgumentHelp("A TOML file of keys.", valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var keys: String?

  func validate() throws {
    guard patch.flatMap({ PatchFile.descriptor(of: $0) }) == nil else {
      throw ValidationError("The front end takes its keys from there: name a file")
    }
  }

  func run() throws {
    let options = FrontEndOptions(
      patch: patch, driver: driver.options, threads: driver.rendering.count, theme: theme, keys: keys)
    try MainActor.assumeIsolated { try FrontEnd.run(options) }
  }
}

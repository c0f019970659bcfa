import ArgumentParser

/// `sostenuto manual`: the manual pages, for `make install`. Hidden, since readers have `man`.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Print a manual page in the language of man(7).", shouldDisplay: false)

  /// A page by the topic in its name.
  enum Page: String, ExpressibleByArgument, CaseIterable { case program, patch, kinds }

  @Argument(help: "program, patch or kinds.")
  var page: Page
  @Option(help: ArgumentHelp("Where the program is installed.", valueName: "folder"))
  var prefix = "/usr/local"

  func run() {
    let manual =
      switch page {
      case .program: ManualPage.program(prefix: prefix)
      case .patch: ManualPage.patch
      case .kinds: ManualPage.kinds
      }
    Console.result(manual.text)
  }
}

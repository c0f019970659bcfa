/// `sostenuto manual`: the manual pages, for `make install`. Hidden, since readers have `man`.
struct ManualCommand: Command {
  /// A page by the topic in its name.
  enum Page: String, ParameterValue, CaseIterable { case program, patch, kinds }

  static let table = CommandTable<Self>(
    "manual", "Print a manual page in the language of man(7).", isHidden: true,
    [
      .argument("page", \.page, "program, patch or kinds."),
      .option("prefix", \.prefix, "folder", completion: .folders, "Where the program is installed."),
    ])

  var page = Page.program
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

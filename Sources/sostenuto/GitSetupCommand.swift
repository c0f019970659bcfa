import Glibc
import Session

/// `sostenuto git-setup`: makes git merge patches by nodes.
struct GitSetupCommand: Command {
  static let table = CommandTable<Self>(
    "git-setup", "Have git merge patches with `sostenuto merge`.",
    discussion: """
      Adds a line to the repository's .gitattributes (to be committed: it says which files are meant) and the \
      driver to its configuration (which is not shared: everybody who merges runs this once). Done twice it \
      changes nothing. Hunks of `git diff` then name the node that they are in.

      Examples:
        sostenuto git-setup
        sostenuto git-setup --global
      """,
    [
      .flag("global", \.global, "For all repositories of this user."),
      .option(
        "pattern", \.pattern, "pattern",
        limit: Limit("a pattern without blanks, quotes and `#`") { pattern in
          !pattern.isEmpty && !pattern.contains { $0.isWhitespace || $0 == "\"" || $0 == "#" }
        },
        "Which files are patches."),
    ])

  var global = false
  var pattern = "*.patch"

  private var scope: String { global ? "--global" : "--local" }

  func run() throws {
    let attributes = global ? try globalAttributes() : try topFolder() + "/.gitattributes"
    try configure("merge.sostenuto.name", "patches by nodes, settings and cables")
    try configure(
      "merge.sostenuto.driver",
      "\(Self.program) merge -i --marker-size %L --label-ours %X --label-theirs %Y --path %P %O %A %B")
    try configure("diff.sostenuto.xfuncname", "^(node [^ ]+ .*)$")
    try addAttributes(to: attributes)
  }

  /// The plain name if the search path leads to this very program, otherwise its path.
  private static var program: String {
    var own = stat()
    guard stat(Installation.program, &own) == 0 else { return "sostenuto" }
    for folder in (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":") {
      var info = stat()
      if stat("\(folder)/sostenuto", &info) == 0 {
        if info.st_dev == own.st_dev, info.st_ino == own.st_ino { return "sostenuto" }
        break
      }
    }
    // Git runs it as a shell command line.
    let parts = Installation.program.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }

  private func topFolder() throws -> String {
    let (folder, status) = try Git.run(["rev-parse", "--show-toplevel"], quiet: true)
    guard status == 0, !folder.isEmpty else {
      throw CommandError("no git repository here; --global is for all repositories")
    }
    return folder
  }

  /// The attributes file that git reads for all repositories.
  private func globalAttributes() throws -> String {
    let (configured, status) = try Git.run(["config", "--global", "--type=path", "core.attributesFile"])
    if status == 0, !configured.isEmpty { return configured }
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    if let folder = variable("XDG_CONFIG_HOME") { return folder + "/git/attributes" }
    guard let home = variable("HOME") else { throw CommandError("HOME is not set") }
    return home + "/.config/git/attributes"
  }

  private func configure(_ key: String, _ value: String) throws {
    let (present, status) = try Git.run(["config", scope, "--get", key])
    if status == 0, present == value {
      Console.result("\(key) is set already\n")
      return
    }
    guard try Git.run(["config", scope, key, value]).status == 0 else {
      throw CommandError("git config \(key) failed")
    }
    Console.result("\(key) = \(value)\n")
  }

  private func addAttributes(to path: String) throws {
    let line = "\(pattern) merge=sostenuto diff=sostenuto"
    var info = stat()
    var text = stat(path, &info) == 0 ? try readText(path) : ""
    if text.split(whereSeparator: \.isNewline).contains(where: {
      $0.split(separator: " ").joined(separator: " ") == line
    }) {
      Console.result("\(path) has `\(line)` already\n")
      return
    }
    if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
    PatchFile.makeFolder(PatchFile.split(path).folder)
    try PatchFile.replace(path, with: text + line + "\n")
    Console.result("\(path): \(line)\n")
  }
}

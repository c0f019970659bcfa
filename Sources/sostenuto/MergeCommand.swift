import Engine
import Patch
import PatchLanguage
import Session

/// `sostenuto merge`: merges two people's versions of a patch; git's merge driver.
struct MergeCommand: Command {
  static let table = CommandTable<Self>(
    "merge", "Merge what two people made of one patch.",
    discussion: """
      Matches nodes by name (renamed ones by what they have kept), and merges setting by setting and cable by \
      cable; what comes out is checked. Conflicts are named, stand between the markers that git uses, and make the \
      exit status 1. `sostenuto git-setup` has git use it for patches. Files that are no patches are left to \
      `git merge-file`.

      Examples:
        sostenuto merge base.patch mine.patch yours.patch > merged.patch
        sostenuto merge -i base.patch mine.patch yours.patch
      """,
    [
      .argument("base", \.base, completion: .patches, "The patch that both began with."),
      .argument("ours", \.ours, completion: .patches, "The patch on our side."),
      .argument("theirs", \.theirs, completion: .patches, "The patch on their side."),
      .flag("in-place", short: "i", \.inPlace, "Write the result to OURS instead of printing it."),
      .option("marker-size", \.markerSize, "n", limit: Limit(1...1000), "Characters of a conflict marker."),
      .option("label-ours", \.labelOurs, "name", "What our side is called at conflicts."),
      .option("label-theirs", \.labelTheirs, "name", "What their side is called at conflicts."),
      .option("path", \.path, "path", "The file's name in messages."),
    ])

  var base = ""
  var ours = ""
  var theirs = ""
  var inPlace = false
  var markerSize = 7
  var labelOurs: String?
  var labelTheirs: String?
  var path: String?

  func run() throws {
    do {
      try merge()
    } catch let code as ExitCode {
      throw code
    } catch {
      guard path != nil else { throw error }
      // Git takes 1 for a conflict, and our side's file for the place of it: whoever resolves it would lose theirs unseen.
      // A status beyond 128 ends the merge (git 2.42).
      Console.complain("\(error)")
      throw ExitCode(129)
    }
  }

  private func merge() throws {
    if inPlace { try PatchInput.checkIsFile(ours) }
    // Git names copies elsewhere, and the file itself by `path`.
    let catalogue = LibraryNames.catalogue(for: path ?? ours)
    let inputs = try [base, ours, theirs].map { try PatchInput($0, catalogue: catalogue) }
    // Unreadable lines, no patch at all, or markers of an earlier merge.
    if inputs.contains(where: \.hasErrors) { return try mergeLines(inputs) }
    let result = PatchMerge.merge(
      base: inputs[0].patch, ours: inputs[1].patch, theirs: inputs[2].patch,
      catalogue: KindRegistry.builtIn.catalogue)
    let text = MergeText.write(
      result, catalogue: KindRegistry.builtIn.catalogue,
      labels: MergeText.Labels(
        ours: label(labelOurs, "ours", ours), theirs: label(labelTheirs, "theirs", theirs),
        markerSize: markerSize))
    let name = path ?? ours
    for conflict in result.conflicts { Console.warn("\(name): conflict: \(conflict)") }
    if result.conflicts.isEmpty {
      let faults = PatchReader.read(text, file: name, catalogue: KindRegistry.builtIn.catalogue).diagnostics
      for fault in faults where fault.severity == .error { Console.error(fault.description) }
      if faults.contains(where: { $0.severity == .error }) { throw ExitCode(1) }
    }
    if inPlace { try PatchFile.replace(ours, with: text) } else { Console.result(text) }
    if !result.conflicts.isEmpty { throw ExitCode(1) }
  }

  /// An older git leaves the placeholder of a label unexpanded, and its files have no names of their own.
  private func label(_ given: String?, _ side: String, _ file: String) -> String {
    if let given, !given.isEmpty, !given.hasPrefix("%") { return given }
    return path == nil ? file : side
  }

  /// Lets git merge the files by lines.
  private func mergeLines(_ inputs: [PatchInput]) throws {
    let faults = inputs.flatMap(\.diagnostics).filter { $0.severity == .error }
    let reason = faults.first.map { " (line \($0.line): \($0.message))" } ?? ""
    Console.warn("\(path ?? ours): merged line by line, since not all lines are understood\(reason)")
    // A pipe can be read only once, so git gets copies.
    let copies = try TemporaryFiles(inputs.map(\.bytes))
    defer { copies.remove() }
    var arguments = ["merge-file"]
    if !inPlace { arguments.append("-p") }
    arguments += ["--marker-size=\(markerSize)"]
    arguments += [
      "-L", label(labelOurs, "ours", ours), "-L", base, "-L", label(labelTheirs, "theirs", theirs),
    ]
    arguments += ["--", inPlace ? ours : copies.paths[1], copies.paths[0], copies.paths[2]]
    let (merged, status) = try Git.output(arguments)
    if !inPlace { Console.result(bytes: merged) }
    // It is the number of conflicts.
    if status != 0 { throw ExitCode(1) }
  }
}

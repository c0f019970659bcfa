import ArgumentParser
import Engine
import Patch

/// `sostenuto diff`: compares two patches, in the edit language.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Print the edits that lead from one patch to another.",
    discussion: """
      One edit a line, none where both are the same document. `sostenuto apply` makes B of A with them, comments \
      and order included; they can be typed at the prompt, too. Nodes are matched by name; one that was renamed \
      is found by what it has kept.

      Example:
        sostenuto diff old.patch new.patch > changes
        sostenuto apply changes old.patch
      """)

  @Argument(help: ArgumentHelp("The older patch.", valueName: "a"), completion: .patch)
  var old: String
  @Argument(help: ArgumentHelp("The newer patch.", valueName: "b"), completion: .patch)
  var new: String

  func run() throws {
    let (old, new) = (try PatchInput.whole(old), try PatchInput.whole(new))
    let edits = try PatchDifference.edits(
      from: old.patch, to: new.patch, catalogue: KindRegistry.builtIn.catalogue)
    Console.result(edits.map { $0.line + "\n" }.joined())
  }
}

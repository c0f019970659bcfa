import Engine
import Patch
import Session

/// `sostenuto diff`: compares two patches, in the edit language.
struct DiffCommand: Command {
  static let table = CommandTable<Self>(
    "diff", "Print the edits that lead from one patch to another.",
    discussion: """
      One edit a line, none where both are the same document. `sostenuto apply` makes B of A with them, comments \
      and order included; they can be typed at the prompt, too. Nodes are matched by name; one that was renamed \
      is found by what it has kept. Files of sub-patches are those beside A.

      Example:
        sostenuto diff old.patch new.patch > changes
        sostenuto apply changes old.patch
      """,
    [
      .argument("a", \.old, completion: .patches, "The older patch."),
      .argument("b", \.new, completion: .patches, "The newer patch."),
    ])

  var old = ""
  var new = ""

  func run() throws {
    // The lines are performed beside the older patch, so the files of sub-patches are those that it has.
    let catalogue = DefinitionLibrary.catalogue(for: old)
    let (old, new) = (
      try PatchInput.whole(old, catalogue: catalogue), try PatchInput.whole(new, catalogue: catalogue)
    )
    let edits = try PatchDifference.script(from: old.patch, to: new.patch, catalogue: catalogue)
    Console.result(edits.map { $0.line + "\n" }.joined())
  }
}

import Engine
import Patch
import PatchLanguage
import Session

/// `sostenuto apply`: applies edits to a patch file.
struct ApplyCommand: Command {
  static let table = CommandTable<Self>(
    "apply", "Apply a script's edits to a patch.",
    discussion: """
      Prints the patch in its canonical form, or writes it back with -i. Each refused edit is named with file, \
      line and column; then nothing is written, and the exit status is 1. Times put the lines in order; notes and \
      pedals change no patch and are passed over. `-` as the script is standard input. Edits inside a sub-patch \
      that has a file of its own change that file, so they need -i. Nodes and cables that end up out of place, as \
      past the edge of a sub-patch, get a warning, or are refused if the patch could not be read without the files \
      of its sub-patches, as `format` reads it.

      Examples:
        sostenuto apply louder.script song.patch
        sostenuto diff a.patch b.patch | sostenuto apply -i - c.patch
      """,
    [
      .argument("script", \.script, completion: .files([]), "The edits, one a line."),
      .argument("patch", \.patch, completion: .patches, "The patch."),
      .flag("in-place", short: "i", \.inPlace, "Write the patch back instead of printing it."),
      .flag(
        "partial", \.partial,
        "Write what the other edits give when some are refused; the exit status stays 1."),
    ])

  var script = ""
  var patch = ""
  var inPlace = false
  var partial = false

  func run() throws {
    if inPlace { try PatchInput.checkIsFile(self.patch) }
    let library = DefinitionLibrary(for: patch, kinds: KindRegistry.builtIn.catalogue)
    let catalogue = KindRegistry.builtIn.catalogue.with(definitions: library)
    let input = try PatchInput.whole(patch, catalogue: catalogue)
    let name = script == "-" ? "standard input" : script
    let (lines, faults) = Script.read(try readText(script == "-" ? "/dev/stdin" : script), file: name)
    let (patch, refusals) = Script.apply(lines, to: input.patch, file: name, catalogue: catalogue)
    let diagnostics = (faults + refusals).sorted { ($0.line, $0.column) < ($1.line, $1.column) }
    for diagnostic in diagnostics { Console.error(diagnostic.description) }
    let isRefused = diagnostics.contains { $0.severity == .error }
    if isRefused, !partial { throw ExitCode(1) }
    let text = PatchWriter.write(patch, catalogue: catalogue)
    if let (one, other) = library.conflicts(in: patch).first {
      Console.error(
        "\(name): `\(one)` and `\(other)` share a file, and would not be the same inside; `unshare` one of them"
      )
      throw ExitCode(1)
    }
    let others = library.changes(in: patch)
    if !inPlace {
      if let other = others.first {
        Console.error("\(name): the edits change \(other.place), too: use -i")
        throw ExitCode(1)
      }
      Console.result(text)
    } else {
      for other in others { try PatchFile.replace(other.place, with: other.text) }
      if text != input.text { try PatchFile.replace(self.patch, with: text) }
    }
    if isRefused { throw ExitCode(1) }
  }
}

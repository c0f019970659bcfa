import ArgumentParser
import Engine
import Glibc
import Patch
import PatchLanguage
import Session

/// A patch file as the commands that change or compare patches take it.
struct PatchInput {
  let path: String
  let text: String
  let patch: Patch
  let diagnostics: [Diagnostic]

  /// Lines with errors are left out of the patch.
  init(_ path: String) throws {
    self.path = path
    text = try readText(path)
    (patch, diagnostics) = PatchReader.read(text, file: path, catalogue: Engine.catalogue)
  }

  var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

  /// A patch all of whose lines are understood; else says what is wrong, and exits.
  static func whole(_ path: String) throws -> PatchInput {
    let input = try PatchInput(path)
    for diagnostic in input.diagnostics { Console.error(diagnostic.description) }
    if input.hasErrors { throw ExitCode(1) }
    return input
  }

  var canonical: String { PatchWriter.write(patch, catalogue: Engine.catalogue) }
}

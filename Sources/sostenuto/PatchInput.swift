import Engine
import Glibc
import Patch
import PatchLanguage
import Session

/// A patch file as input of commands that change or compare patches.
struct PatchInput {
  let path: String
  let text: String
  let patch: Patch
  let diagnostics: [Diagnostic]

  /// Lines with errors are left out of the patch. Invalid UTF-8 is an error too, since it would be lost when
  /// written back.
  init(_ path: String, catalogue: KindCatalogue = KindRegistry.builtIn.catalogue) throws {
    self.path = path
    let bytes = try PatchFile.read(path)
    text = String(decoding: bytes, as: UTF8.self)
    let (patch, found) = PatchReader.read(text, file: path, catalogue: catalogue)
    var diagnostics = found
    if let line = Self.lineOfBadBytes(bytes) {
      diagnostics.append(
        Diagnostic(
          file: path, line: line, column: 1, message: "bytes that are not UTF-8", hint: "save it as UTF-8"))
    }
    (self.patch, self.diagnostics) = (patch, diagnostics)
  }

  private static func lineOfBadBytes(_ bytes: [UInt8]) -> Int? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
  }

  var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

  /// A patch without errors; otherwise prints the errors and exits.
  static func whole(
    _ path: String, catalogue: KindCatalogue = KindRegistry.builtIn.catalogue
  ) throws -> PatchInput {
    let input = try PatchInput(path, catalogue: catalogue)
    for diagnostic in input.diagnostics { Console.error(diagnostic.description) }
    if input.hasErrors { throw ExitCode(1) }
    return input
  }

  var canonical: String { PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue) }
}

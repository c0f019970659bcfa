import Engine
import Glibc
import Patch
import PatchLanguage
import Session

/// A patch file as input of commands that change or compare patches.
struct PatchInput {
  let path: String
  let bytes: [UInt8]
  let text: String
  let patch: Patch
  let diagnostics: [Diagnostic]

  /// Lines with errors are left out of the patch. Invalid UTF-8 is an error too, since it would be lost when
  /// written back. `catalogue`: nil: the program's kinds, and the names of the libraries beside the patch.
  init(_ path: String, catalogue: KindCatalogue? = nil) throws {
    self.path = path
    bytes = try PatchFile.readArgument(path)
    text = String(decoding: bytes, as: UTF8.self)
    let (patch, found) = PatchReader.read(
      text, file: path, catalogue: catalogue ?? LibraryNames.catalogue(for: path))
    self.patch = patch
    diagnostics = found + Self.badBytes(bytes, path)
  }

  /// The error of a file that is not UTF-8; none for one that is.
  static func badBytes(_ bytes: [UInt8], _ path: String) -> [Diagnostic] {
    lineOfBadBytes(bytes).map {
      [
        Diagnostic(
          file: path, line: $0, column: 1, message: "bytes that are not UTF-8", hint: "save it as UTF-8")
      ]
    } ?? []
  }

  /// Throws for a name that stands for an open stream.
  static func checkIsFile(_ path: String) throws {
    guard PatchFile.descriptor(of: path) != nil else { return }
    throw CommandError("\(path): only a file can be written back")
  }

  private static func lineOfBadBytes(_ bytes: [UInt8]) -> Int? {
    if String(validating: bytes, as: UTF8.self) != nil { return nil }
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false)
    return (lines.firstIndex { String(validating: $0, as: UTF8.self) == nil } ?? 0) + 1
  }

  var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

  /// A patch without errors; otherwise prints the errors and exits.
  static func whole(_ path: String, catalogue: KindCatalogue? = nil) throws -> PatchInput {
    let input = try PatchInput(path, catalogue: catalogue)
    for diagnostic in input.diagnostics { Console.error(diagnostic.description) }
    if input.hasErrors { throw ExitCode(1) }
    return input
  }

  var canonical: String { PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue) }
}

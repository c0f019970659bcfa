import Engine
import Patch
import PatchLanguage
import TestSupport
import Testing

@testable import Session

/// Patches that an edit wrote, read without the files of their sub-patches: `format` must give the same text again.
@MainActor @Suite struct SubPatchReadingTests {
  /// The text of a patch after lines of a script. Files of sub-patches are written.
  private func apply(_ lines: [String], to path: String) throws -> String {
    let library = DefinitionLibrary(for: path, kinds: KindRegistry.builtIn.catalogue)
    let catalogue = KindRegistry.builtIn.catalogue.with(definitions: library)
    let patch = PatchReader.read(try text(path), file: path, catalogue: catalogue).patch
    let (script, _) = Script.read(lines.joined(separator: "\n") + "\n", file: "")
    let (after, faults) = Script.apply(script, to: patch, file: "", catalogue: catalogue)
    #expect(faults.filter { $0.severity == .error } == [], "\(lines)")
    for other in library.changes(in: after) { try PatchFile.replace(other.place, with: other.text) }
    return PatchWriter.write(after, catalogue: catalogue)
  }

  /// The canonical form of a text.
  private func format(_ text: String, _ path: String) -> (text: String, errors: [Diagnostic]) {
    let (patch, found) = PatchReader.read(text, file: path, catalogue: LibraryNames.catalogue(for: path))
    return (
      PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue),
      found.filter { $0.severity == .error }
    )
  }

  private func expectCanonical(
    _ text: String, _ path: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let (again, errors) = format(text, path)
    #expect(again == text, sourceLocation: sourceLocation)
    #expect(errors == [], "\(text)", sourceLocation: sourceLocation)
  }

  /// A scene keeps that a file publishes less in it, when it is read without that file.
  @Test(arguments: [
    "remove patch/s/t bridge ; publish patch/s.time as patch/r",
    "set patch/out.channels 41 ; remove patch/s/t bridge ; publish patch/s/o.channels as patch/r",
    "remove patch/s/t bridge ; publish patch/s/o.channels as patch/s/r",
    "remove patch/s/t ; publish patch/s/o.channels as patch/s/r ; publish patch/s.r as patch/r",
    "publish patch/s2 off ; replace patch/s/t gain", "remove patch/s",
    "publish patch/s2 off ; remove patch/s",
    "rename patch/s/t patch/s/u ; publish patch/s/u.mix as patch/s/r",
    "node patch/s/x gain ; publish patch/s2 off",
  ])
  func aSceneOfAPatchWithAFileIsWrittenInItsCanonicalForm(line: String) throws {
    let folder = try Folder()
    defer { withExtendedLifetime(folder) {} }
    _ = try folder.file(
      "sub.patch",
      """
      publish s/t.time as s2
      node in input
      node s patch
      node s/in inlet
      connect in -> s
      node s/t delay
      connect s/in -> s/t
      node s/o outlet
      connect s/t -> s/o
      node out output
      connect s -> out
      """)
    let path = try folder.file("a.patch", "node patch patch file=sub.patch\n\nscene 2\n")
    let written = try apply([line], to: path)
    expectCanonical(written, path)
    _ = try folder.file("a.patch", written)
    #expect(try apply([], to: path) == written)
  }
}

import Engine
import PatchLanguage
import Session

/// `sostenuto format`: patches in their canonical form.
struct FormatCommand: Command {
  static let table = CommandTable<Self>(
    "format", "Print patches in their canonical form, comments kept.",
    discussion: "A patch with errors is left alone, since its wrong lines would be lost.",
    [
      .arguments("patches", \.patches, completion: .patches, "The patches."),
      .flag("in-place", short: "i", \.inPlace, "Write them back instead of printing them."),
    ])

  var patches: [String] = []
  var inPlace = false

  func run() throws {
    var isWrong = false
    for path in patches {
      do {
        if inPlace { try PatchInput.checkIsFile(path) }
        let bytes = try PatchFile.readArgument(path)
        // Without the files of its sub-patches, which may be elsewhere: what a scene has inside them is kept as it is.
        let (patch, diagnostics) = PatchReader.read(
          bytes: bytes, file: path, catalogue: LibraryNames.catalogue(for: path))
        for diagnostic in diagnostics { Console.error(diagnostic.description) }
        if diagnostics.contains(where: { $0.severity == .error }) {
          isWrong = true
          continue
        }
        let canonical = PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue)
        if !inPlace {
          if !Session.isText(bytes) {
            Console.error("\(path): warning: bytes that are not UTF-8 are replaced")
          }
          Console.result(canonical)
        } else if !canonical.utf8.elementsEqual(bytes) {
          if !Session.isText(bytes) {
            let kept = try PatchFile.keepOriginal(of: path, bytes)
            Console.error(
              "\(path): warning: bytes that are not UTF-8 are replaced; the original is kept as \(kept)")
          }
          try PatchFile.replace(path, with: canonical)
        }
      } catch {
        Console.complain("\(error)")
        isWrong = true
      }
    }
    if isWrong { throw ExitCode(1) }
  }
}

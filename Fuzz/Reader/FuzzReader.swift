import Engine
import FuzzDriver
import Patch
import PatchLanguage

/// Feeds arbitrary bytes from libFuzzer to the patch reader and to the prompt (`make fuzz`). For any input:
/// no crash, a written patch reads back unchanged, and undo reverts every accepted edit exactly.
private func test(_ bytes: UnsafeRawBufferPointer) {
  let input = Array(bytes)
  let patch = PatchReader.read(bytes: input, file: "fuzz.patch", catalogue: KindRegistry.builtIn.catalogue)
    .patch
  let text = PatchWriter.write(patch, catalogue: KindRegistry.builtIn.catalogue)
  let again = PatchReader.read(text, file: "fuzz.patch", catalogue: KindRegistry.builtIn.catalogue)
  precondition(!again.diagnostics.contains { $0.severity == .error }, "refuses what it wrote itself")
  precondition(
    PatchWriter.write(again.patch, catalogue: KindRegistry.builtIn.catalogue) == text,
    "changes at each saving")
  for line in String(decoding: input, as: UTF8.self).split(separator: "\n") {
    perform(String(line), on: patch)
  }
}

private func perform(_ line: String, on patch: Patch) {
  guard
    let statement = try? StatementParser.parse(line, patch: patch, catalogue: KindRegistry.builtIn.catalogue),
    case .edit(let edit) = statement,
    let change = try? patch.applying(edit, catalogue: KindRegistry.builtIn.catalogue)
  else { return }
  guard
    let undone = try? change.patch.applying(
      exactly: change.inverse, catalogue: KindRegistry.builtIn.catalogue)
  else {
    preconditionFailure("cannot be undone: \(line)")
  }
  precondition(undone.patch == patch, "undone to something else: \(line)")
}

@_cdecl("FuzzReader_main")
public func fuzzReaderMain(
  _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
) -> CInt {
  // The words of the grammar, for a dictionary.
  if fuzzedKind == "words" {
    for word in Verb.dictionary { print("\"\(word)\"") }
    return 0
  }
  return fuzz(count, arguments) { bytes, count in
    test(UnsafeRawBufferPointer(start: bytes, count: count))
    return 0
  }
}

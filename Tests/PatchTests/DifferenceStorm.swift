import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// Differences of random patches with scenes and sub-patches, as the lines of a script. The files of the sub-patches are there,
/// missing, or inside another one.
@Suite struct DifferenceStorm {
  /// Texts of files by their names.
  private struct Files: DefinitionSource {
    var texts: [String: String]
    var library: [LibrarySubPatch] { [] }

    func libraryFile(named: String) -> String? { nil }
    func place(of file: String) -> String { file }

    func definition(of file: String) -> Definition {
      texts[file].map { text in
        var others = self
        others.texts[file] = nil
        return .found(
          PatchReader.read(text, file: file, catalogue: PatchTests.catalogue.with(definitions: others)).patch)
      } ?? .missing("not there")
    }
  }

  private static let files = Files(texts: [
    "hall.patch": """
    publish tank.time as size
    node in inlet
    node tank delay time=30ms  # the hall itself
    connect in -> tank
    node soft distortion drive=3dB
    connect tank -> soft
    node out output
    connect soft -> out
    connect in -> out gain=-6dB
    """,
    "box.patch": """
    publish hall.size as size
    node osc oscillator
    node hall patch file=hall.patch size=7ms
    connect osc -> hall
    node main matrix
    connect hall -> main
    set main[0,1] -6dB
    node out outlet
    connect main -> out
    """,
  ])
  private let whole = PatchTests.catalogue.with(definitions: Self.files)

  private func read(_ text: String) -> (patch: Patch, faults: [Diagnostic]) {
    let (patch, found) = PatchReader.read(text, file: "", catalogue: whole)
    return (patch, found.filter { $0.severity == .error })
  }

  private func text(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: whole) }

  /// Texts of patches that random edits lead to, each as a reading finds it: edits inside a file are lost.
  private func texts(_ count: Int, seed: UInt64) -> [String] {
    var random = RandomEdits(seed: seed, files: ["hall.patch", "box.patch", "gone.patch"])
    var patch = read(example).patch
    var texts: [String] = []
    var steps = 0
    while texts.count < count {
      guard let change = try? patch.applying(random.next(for: patch), catalogue: whole) else { continue }
      let (again, faults) = read(text(change.patch))
      if !faults.isEmpty { continue }
      patch = again
      steps += 1
      if steps % 12 > 0 { continue }
      let found = text(patch)
      let isStable = text(read(found).patch) == found
      #expect(isStable, "seed \(seed), saved again:\n\(found)")
      if isStable { texts.append(found) }
    }
    return texts
  }

  /// The patch after lines, each performed as one of a script.
  private func performing(_ lines: [String], on patch: Patch) throws -> Patch {
    try lines.reduce(patch) { patch, line in
      guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: whole) else {
        Issue.record("`\(line)` is no edit")
        return patch
      }
      return try patch.applying(edit, catalogue: whole, acceptsUnknownKinds: true).patch
    }
  }

  @Test(arguments: searchSeeds(71, 72, 73, 74))
  func itsLinesLeadToTheOtherPatchWhateverFilesHave(seed: UInt64) throws {
    print("seed", seed)
    let texts = texts(16, seed: seed)
    var random = SeededGenerator(seed: seed)
    for one in texts + texts {
      let other = texts.randomElement(using: &random)!
      for (from, to) in [(one, other), (other, one), (one, one)] {
        let old = read(from).patch
        var lines: [String] = []
        do {
          lines = try PatchDifference.script(from: old, to: read(to).patch, catalogue: whole).map(\.line)
          let found = text(try performing(lines, on: old))
          let isThere = found == to && lines.isEmpty == (from == to)
          let rest = found.split(separator: "\n").difference(from: to.split(separator: "\n")).map { "\($0)" }
          let script = lines.joined(separator: "\n")
          #expect(isThere, "seed \(seed): \(rest)\nby\n\(script)\nfrom\n\(from)\nto\n\(to)")
        } catch {
          Issue.record("seed \(seed): \(error) by\n\(lines)\nfrom\n\(from)\nto\n\(to)")
        }
      }
    }
  }
}

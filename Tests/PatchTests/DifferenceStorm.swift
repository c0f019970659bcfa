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

  private func read(_ text: String) -> Patch { PatchReader.read(text, file: "", catalogue: whole).patch }

  private func text(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: whole) }

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

  /// A setting with a comment has a line of its own, and so has the file of a sub-patch. What is inside is there all the same,
  /// with the values that this sub-patch has for itself.
  @Test func aCommentAtTheFileOfASubPatchChangesNothingElse() throws {
    let plain = """
      sostenuto 1

      control 1 osc.out -> wide/in.in

      node osc oscillator

      node wide patch file=hall.patch size=7ms
      connect osc -> wide gain=-6dB

      node out output
      connect wide -> out

      """
    let commented = text(try performing(["comment wide.file above"], on: read(plain)))
    #expect(commented.contains("node wide patch size=7ms\n"))
    #expect(commented.contains("# above\nset wide.file hall.patch\n"))
    #expect(text(read(commented)) == commented)
    #expect(read(commented).names == read(plain).names)
    for (from, to, line) in [
      (plain, commented, "comment wide.file \"above\""), (commented, plain, "comment wide.file"),
    ] {
      let lines = try PatchDifference.script(from: read(from), to: read(to), catalogue: whole).map(\.line)
      #expect(lines == [line])
    }
    // The inside can be edited.
    let edited = try performing(["set wide/soft.drive 1dB"], on: read(commented))
    #expect(edited[named: "wide/soft"]?.settings[ParameterPath("drive")] == .number(1, .decibels))
    // A line of its own counts more than the node's.
    for file in ["gone.patch", "\"\"", "default"] {
      #expect(!read(plain + "set wide.file \(file)\n").hasInside("wide"))
    }
    #expect(read(plain + "set wide.file box.patch\n").hasInside("wide/hall"))
  }

  @Test(arguments: searchSeeds(71, 72, 73, 74))
  func itsLinesLeadToTheOtherPatchWhateverFilesHave(seed: UInt64) throws {
    print("seed", seed)
    var edits = RandomEdits(
      seed: seed, files: ["hall.patch", "box.patch", "gone.patch"], catalogue: whole)
    let (texts, unstable) = edits.texts(16, from: example, file: "")
    #expect(unstable == nil, "seed \(seed), saved again:\n\(unstable ?? "")")
    var random = SeededGenerator(seed: seed)
    for one in texts + texts {
      let other = texts.randomElement(using: &random)!
      for (from, to) in [(one, other), (other, one), (one, one)] {
        let old = read(from)
        var lines: [String] = []
        do {
          lines = try PatchDifference.script(from: old, to: read(to), catalogue: whole).map(\.line)
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

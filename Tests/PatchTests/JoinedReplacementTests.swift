import Engine
import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// Replacements of sub-patches in one line with edits of what is inside.
@Suite struct JoinedReplacementTests {
  private let catalogue = KindRegistry.builtIn.catalogue

  /// A sub-patch `w` between an oscillator and an output. `path`: the sub-patch around all of it, with its `/`.
  private static func block(_ path: String = "") -> String {
    """
    \(path.isEmpty ? "" : "node \(path.dropLast()) patch")
    node \(path)osc oscillator
    node \(path)w patch
    node \(path)w/in inlet
    connect \(path)osc -> \(path)w/in
    node \(path)w/g gain
    connect \(path)w/in -> \(path)w/g
    node \(path)w/o outlet
    connect \(path)w/g -> \(path)w/o
    node \(path)out mix
    connect \(path)w -> \(path)out
    """
  }

  private func patch(_ text: String) -> Patch { PatchReader.read(text, file: "", catalogue: catalogue).patch }

  private func text(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: catalogue) }

  /// The change by a line of a script.
  private func change(_ patch: Patch, _ line: String) throws -> Change {
    guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
      throw EditError.noNode(line)
    }
    return try patch.applying(edit, catalogue: catalogue, acceptsUnknownKinds: true)
  }

  /// A sub-patch that another node replaces is gone with its inside, and the sound goes through the node in its place, whatever
  /// else the line does inside. Nodes without a sub-patch around them and a silent path came of it.
  @Test(
    arguments: [
      "remove w/g ; replace w gain", "replace w gain ; node other gain", "rename w/g w/h ; replace w gain",
      "node w/x gain ; replace w gain", "replace w/g distortion ; replace w gain",
      "copy w/g w/h ; connect w/in -> w/h ; replace w gain", "disconnect w/in -> w/g ; replace w gain",
    ], ["", "a/"])
  func itsInsideLeavesAndItsCablesStay(line: String, path: String) throws {
    let before = patch(Self.block(path))
    let line = line.replacing(/\bw\b/) { "\(path)\($0.output)" }.replacing("/\(path)", with: "/")
    let after = try change(before, line)
    let names = Set(after.patch.names).subtracting(["\(path)osc", "\(path)w", "\(path)out", "other", "a"])
    #expect(names == [], "\(text(after.patch))")
    #expect(text(after.patch).contains("node \(path)w gain\nconnect \(path)osc -> \(path)w\n"))
    #expect(text(after.patch).contains("connect \(path)w -> \(path)out\n"))
    let back = try after.patch.applying(exactly: after.inverse, catalogue: catalogue)
    #expect(back.patch == before)
    #expect(text(back.patch) == text(before))
  }

  /// A node does not go into one that is no sub-patch, as on a line of its own: nothing would be heard of it.
  @Test(arguments: [
    "replace w gain ; node w/x gain", "replace w gain ; copy osc w/x", "replace w gain ; rename osc w/x",
    "replace w gain ; replace out patch ; node out/x gain ; node w/x gain", "node osc/x gain ; node y gain",
  ])
  func nothingGoesIntoWhatIsNoSubPatchAnyMore(line: String) throws {
    let error = #expect(throws: EditError.self) { _ = try change(patch(Self.block()), line) }
    #expect(error == .noSubPatch(line.hasPrefix("node osc") ? "osc" : "w"))
  }

  /// A node may go into what becomes a sub-patch in the same line, as differences have it.
  @Test func aSubPatchMayBeMadeBehindWhatGoesIntoIt() throws {
    let after = try change(patch(Self.block()), "rename w/g osc/g ; replace osc patch").patch
    #expect(after.names.contains("osc/g"))
    let removed = try change(patch(Self.block()), "replace w patch ; node w/x gain ; remove w").patch
    #expect(Set(removed.names) == ["osc", "out"])
  }

  /// A joined line does what its edits do on lines of their own, and is undone and done again to the letter.
  @Test(arguments: searchSeeds(1, 2, 3, 4, 5, 6, 7, 8))
  func aJoinedLineIsItsEditsOneAfterTheOther(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<150 {
      let path = ["", "a/", "a/b/"].randomElement(using: &random)!
      let outer = path == "a/b/" ? "node a patch\n" : ""
      let before = patch(outer + Self.block(path))
      let parts = (0..<Int.random(in: 2...4, using: &random)).map { _ in part(path, &random) }
      let line = parts.joined(separator: " ; ")
      let single = Result { try parts.reduce(before) { try change($0, $1).patch } }
      let joined = Result { try change(before, line) }
      guard let wanted = try? single.get() else {
        // A node that the line turns into a sub-patch may get its inside before.
        if let after = try? joined.get() { expectNoOrphans(after.patch, line) }
        continue
      }
      guard let after = try? joined.get() else {
        Issue.record("refused: \(line)\n\(joined)")
        continue
      }
      #expect(text(after.patch) == text(wanted), "\(line)\n\(text(before))")
      expectNoOrphans(after.patch, line)
      let back = try after.patch.applying(exactly: after.inverse, catalogue: catalogue)
      #expect(text(back.patch) == text(before), "\(line)")
      let again = try back.patch.applying(exactly: back.inverse, catalogue: catalogue)
      #expect(text(again.patch) == text(after.patch), "\(line)")
    }
  }

  private func expectNoOrphans(_ patch: Patch, _ line: String) {
    for name in patch.names {
      // A script may remove a sub-patch before what is inside.
      guard let container = NodePath.container(of: name).flatMap({ patch[named: $0] }) else { continue }
      let kind = catalogue[container.kind]
      #expect(kind?.isContainer == true, "\(name): \(line)")
    }
  }

  /// An edit of a block or of what is inside.
  private func part(_ path: String, _ random: inout SeededGenerator) -> String {
    let inner = ["w/in", "w/g", "w/o", "w/x", "w/y"].map { path + $0 }
    let all = inner + ["w", "w", "osc", "out"].map { path + $0 }
    let kinds = ["gain", "distortion", "patch", "mix", "oscillator", "inlet", "outlet", "delay"]
    func one(_ names: [String]) -> String { names.randomElement(using: &random)! }
    return switch Int.random(in: 0..<9, using: &random) {
    case 0: "remove \(one(all))"
    case 1: "node \(one(inner)) \(one(kinds))"
    case 2: "rename \(one(inner)) \(one(inner))"
    case 3: "copy \(one(inner)) \(one(inner))"
    case 4: "connect \(one(inner)) -> \(one(inner))"
    case 5: "disconnect \(one(inner)) -> \(one(inner))"
    case 6: "replace \(one(inner)) \(one(kinds))"
    default: "replace \(path)w \(one(kinds))"
    }
  }
}

import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// Parts in which two patches may differ.
@Suite struct DifferingTests {
  private func many() throws -> Patch {
    let lines = (0..<1000).map {
      "node d\($0) distortion\n" + ($0 > 0 ? "connect d\($0 - 1) -> d\($0)\n" : "")
    }
    return PatchReader.read(lines.joined(separator: "\n"), file: "", catalogue: catalogue).patch
  }

  @Test func ofACopyItIsWhatWasEdited() throws {
    let patch = try many()
    #expect(Differing(patch, patch).isEmpty)
    var copy = patch
    for (edit, nodes) in [
      (Edit.set("d500", ParameterPath("drive"), .number(3, .decibels), over: nil), ["d500"]),
      (.disconnect(CableName("d7", "d8")), []),
    ] {
      let before = copy
      copy = try copy.applying(edit, catalogue: catalogue).patch
      let differing = Differing(before, copy)
      #expect(differing.nodes == Set(nodes))
      #expect(differing.receivers == (nodes.isEmpty ? ["d8"] : ["d500", "d501"]))
      #expect(differing.around.isEmpty)
    }
  }

  @Test func ofOtherPatchesItLeavesOutNothing() throws {
    var edits = RandomEdits(seed: 5, catalogue: catalogue)
    print("seed", 5)
    let patches = edits.texts(12, from: example, file: "").texts
      .map { PatchReader.read($0, file: "", catalogue: catalogue).patch }
    for one in patches {
      for other in patches {
        let differing = Differing(one, other)
        func node(_ name: String, _ patch: Patch) -> Node? { patch[named: name]?.with(id: NodeID(raw: 0)) }
        let names = Set(one.names).union(other.names).filter { node($0, one) != node($0, other) }
        #expect(names.isSubset(of: differing.nodes))
        func cables(_ patch: Patch) -> [CableName: CableSettings] {
          Dictionary(uniqueKeysWithValues: patch.cables.values.map { (patch.name(of: $0.ends), $0.settings) })
        }
        let (ours, theirs) = (cables(one), cables(other))
        let receivers = Set(ours.keys).union(theirs.keys).filter { ours[$0] != theirs[$0] }
          .map(\.destination.node)
        #expect(Set(receivers).isSubset(of: differing.receivers))
      }
    }
  }

  /// Lines about the inside of a file that is missing wait in the scenes; no edit takes one back, so that the way to a scene
  /// without it says the whole scene. Undo and redo take the same time each turn.
  @Test func undoingScenesOfAMissingFileAgainAndAgainGrowsNothing() throws {
    func patch(_ lines: [String]) -> Patch {
      let text =
        "sostenuto 1\n\nnode tone svf\n\nnode room patch file=gone.patch\nconnect tone -> room\n\n"
        + "node out output\nconnect room -> out\n\n"
        + (1...3).flatMap { scene in ["scene \(scene)"] + lines.map { "scene \(scene) \($0)" } }
        .joined(separator: "\n") + "\n"
      return PatchReader.read(text, file: "", catalogue: catalogue).patch
    }
    let waiting = (0..<12).flatMap { ["remove room/n\($0)", "node room/m\($0) delay time=\($0 + 1)ms"] }
    let (one, other) = (patch(waiting), patch(["replace tone oscillator freq=220Hz", "set out.port right"]))
    for (from, to) in [(one, other), (other, one)] {
      var change = try from.applying(
        exactly: .joined(PatchDifference.edits(from: from, to: to, catalogue: catalogue)),
        catalogue: catalogue)
      let text = PatchWriter.write(change.patch, catalogue: catalogue)
      let first = change.inverse.statements.count
      for _ in 0..<3 {
        change = try change.patch.applying(exactly: change.inverse, catalogue: catalogue)
        change = try change.patch.applying(exactly: change.inverse, catalogue: catalogue)
        #expect(PatchWriter.write(change.patch, catalogue: catalogue) == text)
      }
      #expect(change.inverse.statements.count <= 2 * first)
    }
  }
}

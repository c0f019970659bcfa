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
}

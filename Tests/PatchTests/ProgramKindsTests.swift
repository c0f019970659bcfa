import Engine
import Patch
import PatchLanguage
import Testing

/// The kinds that the program ships, in the patch language.
@Suite struct ProgramKindsTests {
  let kinds = KindRegistry.builtIn.catalogue

  @Test func everyDefaultIsInItsRangeAndCanBeWrittenAndRead() throws {
    for kind in kinds.kinds {
      let node = Node(name: "n", kind: kind.name)
      let patch = try Patch().applying(.add(node, before: nil), catalogue: kinds).patch
      for parameter in kind.parameters {
        let path = ParameterPath(parameter.name, parameter.dimensions.map { _ in 0 })
        let value = try #require(patch.value(of: "n", path, catalogue: kinds))
        let line = Edit.set("n", path, value, over: nil).line
        guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: kinds) else {
          Issue.record("`\(line)` is no edit")
          continue
        }
        let change = try patch.applying(edit, catalogue: kinds)
        #expect(change.patch == patch, "setting a default changes nothing: \(line)")
      }
    }
  }

  @Test func everyKindCanBeAddedReplacedByEveryOtherAndUndoneWithItsCables() throws {
    var patch = try Patch().applying(.add(Node(name: "k", kind: "keyboard"), before: nil), catalogue: kinds)
      .patch
    for edit in [
      Edit.add(Node(name: "a", kind: "oscillator"), before: nil),
      .add(Node(name: "n", kind: "gain"), before: nil),
      .add(Node(name: "o", kind: "output"), before: nil), .connect(CableName("a", "n")),
      .connect(CableName("n", "o")),
    ] {
      patch = try patch.applying(edit, catalogue: kinds).patch
    }
    for first in kinds.kinds {
      let one = try patch.applying(.replace("n", with: Node(name: "n", kind: first.name)), catalogue: kinds)
      #expect(try one.patch.applying(exactly: one.inverse, catalogue: kinds).patch == patch)
      // Cables wait for what a sub-patch will have inside.
      let hasAudioIn = first.isContainer || first.inputs.contains { !$0.isEvents }
      let hasAudioOut = first.isContainer || first.outputs.contains { !$0.isEvents }
      #expect(one.patch.cables.count == (hasAudioIn ? 1 : 0) + (hasAudioOut ? 1 : 0), "\(first.name)")
      for second in kinds.kinds {
        let two = try one.patch.applying(
          .replace("n", with: Node(name: "n", kind: second.name)), catalogue: kinds)
        #expect(try two.patch.applying(exactly: two.inverse, catalogue: kinds).patch == one.patch)
      }
    }
  }

  @Test func aNewMatrixPassesInputIToOutputIAtUnityAndNothingElse() throws {
    let patch = PatchReader.read("node m matrix inputs=3 outputs=2", file: "", catalogue: kinds).patch
    let node = try #require(patch[named: "m"])
    let kind = try #require(kinds["matrix"])
    let values = EngineValues(of: node, description: kind).values
    let crosspoints = try #require(kind.parameters.firstIndex { $0.name.isEmpty })
    #expect(values[crosspoints] == [1, 0, 0, 1, 0, 0])
  }
}

import Engine
import Patch
import Testing

@testable import Interface

/// Each kind of the registry in the graph.
@Suite struct EveryKindTests {
  @Test(arguments: KindRegistry.builtIn.catalogue.kinds.map(\.name))
  func everyKindHasAFace(name: String) throws {
    let scene = makeScene("node it \(name)")
    let node = try #require(scene.patch[named: "it"])
    let box = GraphBox(
      node.id, scene, ViewState(), report: 0, inputs: [], outputs: [], .full)
    #expect(box.kind.hasPrefix(name))
    let kind = try #require(scene.catalogue[name])
    let isEmpty = box.lines.allSatisfy { if case .text(let text, _) = $0 { text.isEmpty } else { false } }
    let hasNothing = kind.face == .settings && NodeFacts(node, scene.catalogue).values(1).isEmpty
    #expect(!isEmpty || hasNothing, "\(name) has an empty face")
  }
}

import Patch
import Screen
import Session

/// Contents of a sub-patch's box.
struct SubPatchFacts {
  let name: String
  let last: String
  /// Its file; otherwise that what is inside is its own.
  let kind: String
  /// Published parameters.
  let values: [(name: String, value: String)]

  /// nil: the node is no sub-patch with something inside.
  init?(_ id: NodeID, _ scene: Scene) {
    guard scene.filledSubPatch(id) != nil, let node = scene.patch[id] else { return nil }
    name = node.name
    last = String(NodePath.last(of: node.name))
    let file = scene.catalogue.definitionFile(of: node)
    kind = file.flatMap { $0.split(separator: "/").last.map(String.init) } ?? node.kind
    values = scene.patch.published(by: node.name).compactMap { parameter in
      let inner = scene.patch.published(parameter.node, parameter.path) ?? (parameter.node, parameter.path)
      guard let target = scene.patch[named: inner.node],
        let value = target.value(at: inner.path, description: scene.catalogue[target.kind])
      else { return nil }
      return (parameter.name, value.line)
    }
  }
}

/// Entering and leaving sub-patches.
@MainActor struct SubPatchView {
  let desk: Desk

  /// Shows the inside of the focused sub-patch; false if it is none.
  func enter() -> Bool {
    guard let node = desk.focusedNode, desk.scene.catalogue[node.kind]?.isContainer == true,
      let first = desk.scene.patch.nodes(inside: node.name).first
    else { return false }
    desk.state.graph.inside = node.name
    desk.state.marked = []
    desk.focus(first.id)
    desk.say("inside \(node.name): Esc leaves")
    return true
  }

  /// Shows what is around the sub-patch; false if none is open.
  func leave() -> Bool {
    guard let inside = desk.state.graph.inside else { return false }
    desk.state.graph.inside = NodePath.container(of: inside)
    desk.state.marked = []
    if let id = desk.scene.patch.id(named: inside) { desk.focus(id) }
    return true
  }

  /// The focused node is in sight, and what is shown is there.
  func follow() {
    let patch = desk.scene.patch
    while let inside = desk.state.graph.inside, !patch.hasInside(inside) {
      desk.state.graph.inside = NodePath.container(of: inside)
    }
    // Elements found elsewhere, by name, are shown where they are.
    guard let focus = desk.state.focus, let name = patch[focus]?.name else { return }
    desk.state.graph.inside = NodePath.container(of: name)
  }
}

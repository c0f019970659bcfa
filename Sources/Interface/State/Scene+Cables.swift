import Patch
import Session

/// Questions about the patch that several views and actions ask.
extension Scene {
  func isMatrix(_ node: Node) -> Bool { catalogue[node.kind]?.crosspoints != nil }

  /// nil for a placeholder or another program whose ports nobody knows.
  func isEvents(output port: PortReference) -> Bool? {
    if let program = programs[port.node] { return program.isEvents(port.port, isInput: false) }
    let kind = patch[port.node].flatMap { catalogue[$0.kind] }
    return kind.map { kind in
      kind.outputs.first { $0.name == port.port }?.isEvents ?? (kind.endpoint == .midiOutput)
    }
  }

  func isEvents(input port: PortReference) -> Bool? {
    if let program = programs[port.node] { return program.isEvents(port.port, isInput: true) }
    let kind = patch[port.node].flatMap { catalogue[$0.kind] }
    return kind.map { kind in
      kind.inputs.first { $0.name == port.port }?.isEvents ?? (kind.endpoint == .midi)
    }
  }

  /// The port of an endpoint of ours that leads to other programs; nil for other nodes.
  func outsidePort(of node: Node) -> (port: PortReference, isInput: Bool)? {
    guard !programs.isEmpty, let endpoint = catalogue[node.kind]?.endpoint, endpoint != .client else {
      return nil
    }
    return (PortReference(node.id, PortReference.everyPort), !endpoint.isOutput)
  }

  /// True when a cable can join the ports: both within the patch, or both towards other programs and one of them at a
  /// program.
  func canJoin(_ source: PortReference, _ destination: PortReference) -> Bool {
    let types = (isEvents(output: source), isEvents(input: destination))
    if let one = types.0, let other = types.1, one != other { return false }
    let (from, to) = (side(source, isInput: false), side(destination, isInput: true))
    return from == .inside ? to == .inside : to != .inside && (from == .program || to == .program)
  }

  private enum Side { case inside, border, program }

  private func side(_ port: PortReference, isInput: Bool) -> Side {
    if programs[port.node] != nil { return .program }
    guard let kind = patch[port.node].flatMap({ catalogue[$0.kind] }), kind.endpoint != nil else {
      return .inside
    }
    let names = isInput ? kind.inputs.map(\.name) : kind.outputs.map(\.name)
    return names.contains(port.port) ? .inside : .border
  }

  /// Cables into the node, then cables out of it; a cable to itself once.
  func cables(of id: NodeID) -> [Cable] {
    let incoming = cables(into: id)
    let known = Set(incoming.map(\.ends))
    return incoming + cables(from: id).filter { !known.contains($0.ends) }
  }

  /// Cables into the node. Those of a sub-patch lead to nodes inside it.
  func cables(into id: NodeID) -> [Cable] {
    outerCables(of: id, at: \.destination) ?? patch.cables(into: id, catalogue: catalogue)
  }

  /// Cables out of the node. Those of a sub-patch come from nodes inside it.
  func cables(from id: NodeID) -> [Cable] {
    outerCables(of: id, at: \.source) ?? patch.cables(from: id, catalogue: catalogue)
  }

  /// Cables from outside at the nodes inside a sub-patch; nil: the node is none, or has nothing inside.
  private func outerCables(of id: NodeID, at end: KeyPath<Cable.Ends, PortReference>) -> [Cable]? {
    guard let path = filledSubPatch(id) else { return nil }
    return patch.outerCables(of: path, catalogue).filter { cable in
      patch[cable.ends[keyPath: end].node].map { NodePath.isInside($0.name, path) } ?? false
    }
  }

  /// The path of a sub-patch with something inside; nil for other nodes.
  func filledSubPatch(_ id: NodeID) -> String? {
    guard let node = patch[id], catalogue[node.kind]?.isContainer == true, patch.hasInside(node.name) else {
      return nil
    }
    return node.name
  }

  /// Cables that carry sound.
  func audioCables(of id: NodeID) -> [Cable.Ends] {
    cables(of: id).map(\.ends).filter { outsideCables[$0] == nil && isEvents(output: $0.source) != true }
  }

  /// The cable's name in edits.
  func name(of ends: Cable.Ends) -> CableName { patch.shortName(of: ends, catalogue: catalogue) }

  /// The kind's name, with a number if it is taken. `container`: the sub-patch that the node will be in.
  func freshName(_ kind: String, inside container: String? = nil) -> String {
    let name = container.map { $0 + "/" + kind } ?? kind
    return patch[named: name] == nil ? name : NodeName.free(like: name) { patch[named: $0] != nil }
  }
}

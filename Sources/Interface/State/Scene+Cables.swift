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
    patch.cables(into: id, catalogue: catalogue)
      + patch.cables(from: id, catalogue: catalogue).filter { $0.ends.destination.node != id }
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

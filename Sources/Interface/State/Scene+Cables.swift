import Patch

/// Questions about the patch that several views and actions ask.
extension Scene {
  func isMatrix(_ node: Node) -> Bool { catalogue[node.kind]?.crosspoints != nil }

  /// nil for a placeholder, whose ports nobody knows.
  func isEvents(output port: PortReference) -> Bool? {
    let kind = patch[port.node].flatMap { catalogue[$0.kind] }
    return kind.map { $0.outputs.first { $0.name == port.port }?.isEvents ?? false }
  }

  func isEvents(input port: PortReference) -> Bool? {
    let kind = patch[port.node].flatMap { catalogue[$0.kind] }
    return kind.map { $0.inputs.first { $0.name == port.port }?.isEvents ?? false }
  }

  /// Cables into the node, then cables out of it; a cable to itself once.
  func cables(of id: NodeID) -> [Cable] {
    patch.cables(into: id, catalogue: catalogue)
      + patch.cables(from: id, catalogue: catalogue).filter { $0.ends.destination.node != id }
  }

  /// Those that carry sound.
  func audioCables(of id: NodeID) -> [Cable.Ends] {
    cables(of: id).map(\.ends).filter { isEvents(output: $0.source) != true }
  }

  /// The cable's name in edits.
  func name(of ends: Cable.Ends) -> CableName { patch.shortName(of: ends, catalogue: catalogue) }

  /// The kind's name, with a number if it is taken.
  func freshName(_ kind: String) -> String {
    guard patch[named: kind] != nil else { return kind }
    var number = 2
    while patch[named: "\(kind)\(number)"] != nil { number += 1 }
    return "\(kind)\(number)"
  }
}

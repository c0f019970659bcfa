import Patch
import Session

/// Ports whose sound can be looked at.
extension Scene {
  /// The ports of a node, the outputs first, then the audio inputs, then the parameters that cables move. Those of a sub-patch are
  /// ports of the nodes at its edge.
  func soundPorts(of node: Node) -> [ListenedPort] {
    if let path = filledSubPatch(node.id) {
      let (outlets, inlets) = (patch.outlets(of: path, catalogue), patch.inlets(of: path, catalogue))
      return outlets.filter { !$0.isEvents }.map { ListenedPort($0.port.node, $0.port.port, isInput: false) }
        + inlets.filter { !$0.isEvents }.map { ListenedPort($0.port.node, $0.port.port, isInput: true) }
    }
    guard programs[node.id] == nil, let kind = catalogue[node.kind] else { return [] }
    let inputs = kind.inputs.filter { !$0.isEvents }.map(\.name)
    let events = kind.inputs.filter(\.isEvents).map(\.name)
    var moved: [String] = []
    for cable in patch.cables(into: node.id, catalogue: catalogue) {
      let name = cable.ends.destination.port
      guard outsideCables[cable.ends] == nil, !(inputs + events + moved).contains(name) else { continue }
      moved.append(name)
    }
    return kind.outputs.filter { !$0.isEvents }.map { ListenedPort(node.id, $0.name, isInput: false) }
      + (inputs + moved).map { ListenedPort(node.id, $0, isInput: true) }
  }

  /// `dist.out`; nil: the node is gone.
  func name(of port: ListenedPort) -> String? { patch[port.node].map { "\(PortName($0.name, port.port))" } }

  /// The port of a name, which may be a node's alone.
  func soundPort(named name: String) -> ListenedPort? {
    if let node = patch[named: name] { return soundPorts(of: node).first }
    guard let end = name.firstIndex(where: { $0 == "." || $0 == "[" }),
      let node = patch[named: String(name[..<end])]
    else { return nil }
    return soundPorts(of: node).first { self.name(of: $0) == name }
  }
}

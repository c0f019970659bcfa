import Patch
import Session

/// Connecting and disconnecting by hints on ports and cables.
@MainActor struct Wiring {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var scene: Scene { desk.scene }

  // MARK: Connecting

  /// Shows hints on every port, and after the first choice on the fitting ones.
  func startConnecting() {
    let ports = ports
    guard !ports.outputs.isEmpty, !ports.inputs.isEmpty else {
      return desk.complain("nothing to connect: there must be an output and an input")
    }
    let targets =
      ports.outputs.map { PortHint.Target.output($0) } + ports.inputs.map { .input($0) }
    PortHints.show(targets, purpose: "connect: from or to which port?", desk) {
      Wiring($1).continueConnecting(from: $0)
    }
  }

  private func continueConnecting(from first: PortHint.Target) {
    switch first {
    case .output(let source):
      let fitting = ports.inputs.filter { scene.canJoin(source, $0) }
      let moved = parameters.filter { scene.canJoin(source, $0) && !fitting.contains($0) }
      PortHints.show(
        fitting.map { .input($0) }, purpose: "connect \(text(source)) to which input?", keepsLetters: true,
        others: ("parameters", "\(text(source)) moves which parameter?", moved.map { .input($0) }), desk
      ) { target, desk in
        if case .input(let destination) = target { Wiring(desk).connect(source, destination) }
      }
    case .input(let destination):
      let fitting = ports.outputs.filter { scene.canJoin($0, destination) }
      PortHints.show(
        fitting.map { .output($0) }, purpose: "connect which output to \(text(destination))?",
        keepsLetters: true, desk
      ) { target, desk in
        if case .output(let source) = target { Wiring(desk).connect(source, destination) }
      }
    case .cable: break
    }
  }

  func connect(_ source: PortReference, _ destination: PortReference) {
    let ends = Cable.Ends(source, destination)
    guard scene.patch.cables[ends] == nil else {
      return desk.say("\(scene.name(of: ends)) is connected already")
    }
    if Modulating.open(ends, desk) { return }
    desk.perform(.connect(scene.name(of: ends)))
    desk.focus(destination.node)
  }

  /// Connects the port with another node's first fitting port.
  func connect(_ port: PortReference, with other: NodeID, isSource: Bool) {
    guard let own = scene.patch[port.node]?.name, let name = scene.patch[other]?.name else { return }
    let end = PortName(own, port.port)
    let cable = isSource ? CableName(end, PortName(name)) : CableName(PortName(name), end)
    desk.perform(.connect(cable))
  }

  /// Declared ports and modulated parameters. Optional ports only for the focused node: elsewhere they would
  /// crowd out the others.
  private var ports: (outputs: [PortReference], inputs: [PortReference]) {
    var outputs: [PortReference] = []
    var inputs: [PortReference] = []
    for node in scene.patch.nodes.values {
      if let program = scene.programs[node.id] {
        add(program, node, &outputs, &inputs)
        continue
      }
      if let (port, isInput) = scene.outsidePort(of: node) {
        if isInput { inputs.append(port) } else { outputs.append(port) }
      }
      // The ports of a placeholder are those named by its cables.
      let kind = scene.catalogue[node.kind]
      let used = (
        inputs: scene.patch.cables(into: node.id, catalogue: scene.catalogue).map(\.ends.destination.port),
        outputs: scene.patch.cables(from: node.id, catalogue: scene.catalogue).map(\.ends.source.port)
      )
      let declared = kind?.outputs.filter { !$0.isOptional || node.id == desk.focusedNode?.id }.map(\.name)
      for port in unique((declared ?? []) + used.outputs).map({ PortReference(node.id, $0) })
      where !outputs.contains(port) { outputs.append(port) }
      for port in unique((kind?.inputs.map(\.name) ?? []) + used.inputs).map({ PortReference(node.id, $0) })
      where !inputs.contains(port) { inputs.append(port) }
    }
    return (outputs, inputs)
  }

  /// The parameters that a cable can move.
  private var parameters: [PortReference] {
    scene.patch.nodes.values.flatMap { node in
      NodeFacts(node, scene.catalogue).lines.map(\.line)
        .filter { scene.catalogue[node.kind]?.modulated(at: $0) != nil }
        .map { PortReference(node.id, $0) }
    }
  }

  /// The groups of a program's ports; of the focused one the single ports too.
  private func add(
    _ program: Surroundings.Client, _ node: Node, _ outputs: inout [PortReference],
    _ inputs: inout [PortReference]
  ) {
    for port in program.ports {
      let isUnfolded = node.id == desk.focusedNode?.id && port.members.count > 1
      for name in [port.name] + (isUnfolded ? port.members : []) {
        let reference = PortReference(node.id, name)
        if port.isInput { inputs.append(reference) } else { outputs.append(reference) }
      }
    }
    // A program that does not run has the ports that its cables name.
    for cable in scene.cables(of: node.id) {
      if cable.ends.source.node == node.id, !outputs.contains(cable.ends.source) {
        outputs.append(cable.ends.source)
      }
      if cable.ends.destination.node == node.id, !inputs.contains(cable.ends.destination) {
        inputs.append(cable.ends.destination)
      }
    }
  }

  private func unique(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { seen.insert($0).inserted }
  }

  private func text(_ port: PortReference) -> String { "\(scene.patch[port.node]?.name ?? "?").\(port.port)" }

  // MARK: Other programs

  /// Makes connections that were made elsewhere part of the patch, so that they come back with it.
  func keepFoundCables() {
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    let found = scene.cables(of: node.id).map(\.ends).filter { scene.outsideCables[$0]?.isFound == true }
    guard !found.isEmpty else { return desk.say("\(node.name) has no cables that were made elsewhere") }
    desk.perform(.all(found.map { .connect(scene.name(of: $0)) }))
  }

  // MARK: Disconnecting

  func startDisconnecting() {
    if !desk.state.marked.isEmpty {
      let nodes = desk.chosenNodes.filter { !scene.cables(of: $0.id).isEmpty }
      guard !nodes.isEmpty else { return desk.say("the marked nodes have no cables") }
      // A cable between two of them goes with the first.
      var edits: [Edit] = []
      var seen: Set<Cable.Ends> = []
      for node in nodes {
        let cables = scene.cables(of: node.id).map(\.ends)
        if cables.contains(where: { seen.insert($0).inserted }) { edits.append(.isolate(node.name)) }
        seen.formUnion(cables)
      }
      desk.perform(.joined(edits))
      return
    }
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    let hasCable = PortHints.chooseCable(
      of: node, purpose: "disconnect which cable of \(node.name)?", desk
    ) { ends, desk in desk.perform(.disconnect(desk.scene.name(of: ends))) }
    if !hasCable { desk.say("\(node.name) has no cables") }
  }
}

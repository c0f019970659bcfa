import Patch

// The printout of other programs: as text, for Graphviz, and as JSON.

extension Printout {
  static let programsHeading = "other programs"

  /// The programs in file order, then those that are found, with their ports and cables.
  static func lines(_ around: Surroundings) -> [Line] {
    var lines = [Line("******** \(programsHeading) ********", .heading)]
    let nodes = around.patch.nodes.values.filter { around.programs[$0.id] != nil }
    let names = columns(nodes.map(\.name))
    let ports = columns(nodes.flatMap { around.ports(of: $0.id) }.map { text($0) })
    for node in nodes {
      guard let program = around.programs[node.id] else { continue }
      var facts = [program.isRunning ? "running" : "not running"]
      if program.isFound { facts.append("found") }
      if node.program != node.name { facts.append("named \(node.program)") }
      lines.append(
        Line("\(pad(node.name, names))  {client}  \(facts.joined(separator: ", "))", .node, node: node.id))
      for port in around.ports(of: node.id) {
        let label = String(repeating: " ", count: names + 2) + pad(text(port), ports)
        let cables = around.cables(of: node.id, at: port)
        if cables.isEmpty {
          lines.append(Line(label + "  \(port.isInput ? "<-" : "->") nothing", .port, node: node.id))
        }
        for (index, cable) in cables.enumerated() {
          let start = index == 0 ? label : String(repeating: " ", count: columns(label))
          lines.append(
            Line(
              start + "  \(port.isInput ? "<-" : "->") \(cable.far)  \(cable.state.words)",
              index == 0 ? .port : .cable, node: node.id))
        }
      }
    }
    return lines
  }

  private static func text(_ port: ProgramPort) -> String {
    let count = port.members.isEmpty ? "" : port.isEvents ? "  MIDI" : "  \(port.members.count)ch"
    return port.name + count
  }

  static func programs(forGraphviz around: Surroundings) -> String {
    var text = ""
    for node in around.patch.nodes.values {
      guard let program = around.programs[node.id] else { continue }
      let sides = [true, false].map { isInput in
        around.ports(of: node.id).filter { $0.isInput == isInput }.map {
          "<\(isInput ? "in" : "out")_\(plain($0.name))> \(recordText($0.name))"
        }.joined(separator: "|")
      }
      let fields = [sides[0], "\(recordText(node.name))\\nclient", sides[1]].filter { !$0.isEmpty }
        .map { $0.hasPrefix("<") ? "{\($0)}" : $0 }.joined(separator: "|")
      let style = program.isRunning ? program.isFound ? " color=gray" : "" : " style=dashed"
      text += "  \(quoted(node.name)) [label=\"{\(fields)}\"\(style)]\n"
    }
    for cable in around.sortedCables {
      let style =
        switch cable.state {
        case .made, .partly: ""
        case .found: " [color=gray]"
        case .waiting, .ended, .gone: " [style=dotted]"
        }
      // A node of the patch has no field for its ports towards other programs.
      func end(_ port: PortReference, _ side: String) -> String {
        let name = quoted(around.patch[port.node]?.name ?? "")
        return around.programs[port.node] == nil ? name : "\(name):\(side)_\(plain(port.port))"
      }
      text += "  \(end(cable.ends.source, "out")) -> \(end(cable.ends.destination, "in"))\(style)\n"
    }
    return text
  }

  static func members(of around: Surroundings) -> [(String, JSON)] {
    let clients = around.patch.nodes.values.compactMap { node -> JSON? in
      guard let program = around.programs[node.id] else { return nil }
      return .object([
        ("name", .string(node.name)), ("program", .string(node.program)),
        ("running", .bool(program.isRunning)), ("found", .bool(program.isFound)),
        (
          "ports",
          .array(
            around.ports(of: node.id).map { port in
              .object([
                ("name", .string(port.name)), ("direction", .string(port.isInput ? "input" : "output")),
                ("format", .string(port.isEvents ? "events" : "audio")),
                ("members", .array(port.members.map { .string($0) })),
              ])
            })
        ),
      ])
    }
    let cables = around.sortedCables.map { cable -> JSON in
      .object([
        ("from", .string(around.patch[cable.ends.source.node]?.name ?? "")),
        ("fromPort", .string(cable.ends.source.port)),
        ("to", .string(around.patch[cable.ends.destination.node]?.name ?? "")),
        ("toPort", .string(cable.ends.destination.port)), ("state", .string(cable.state.words)),
      ])
    }
    return [("clients", .array(clients)), ("connections", .array(cables))]
  }
}

extension Surroundings {
  /// The ports of a program: its groups, then what its cables name beside them.
  fileprivate func ports(of id: NodeID) -> [ProgramPort] {
    var ports = programs[id]?.ports ?? []
    for (isInput, ends) in sortedCables.flatMap({ [(true, $0.ends.destination), (false, $0.ends.source)] })
    where ends.node == id && !ports.contains(where: { $0.name == ends.port && $0.isInput == isInput }) {
      ports.append(ProgramPort(name: ends.port, isInput: isInput, isEvents: false, members: []))
    }
    return ports
  }

  fileprivate func cables(of id: NodeID, at port: ProgramPort) -> [(far: String, state: CableState)] {
    sortedCables.compactMap { ends, state in
      let (near, far) = port.isInput ? (ends.destination, ends.source) : (ends.source, ends.destination)
      guard near == PortReference(id, port.name) else { return nil }
      let name = PortName(patch[far.node]?.name ?? "", far.port == PortReference.everyPort ? nil : far.port)
      return (name.description, state)
    }
  }

  fileprivate var sortedCables: [(ends: Cable.Ends, state: CableState)] {
    cables.map { (ends: $0.key, state: $0.value, name: patch.name(of: $0.key).description) }
      .sorted { $0.name < $1.name }.map { ($0.ends, $0.state) }
  }
}

extension Surroundings.CableState {
  /// The state in a word or two.
  public var words: String {
    switch self {
    case .made: "made"
    case .partly(let made, let of): "\(made) of \(of) made"
    case .waiting: "waiting"
    case .ended: "ended elsewhere"
    case .found: "found"
    case .gone: "gone"
    }
  }
}

// Other programs: nodes of a kind whose endpoint is `client`, and the cables at them. The driver makes these
// connections; nothing of them is rendered.

extension PortReference {
  /// All ports on one side of a program, or of an endpoint of ours towards other programs.
  public static let everyPort = "*"
}

extension PortName {
  /// A port by the name that the server has for it, `firefox:output_*`, until the program's node is known.
  public init(program: String, port: String) { self.init(program + ":", port) }

  /// The program, if the port is named as the server does.
  public var program: String? { node.last == ":" ? String(node.dropLast()) : nil }
}

extension Node {
  /// Name of the program that a `client` stands for, or a pattern of names.
  public var program: String {
    guard case .text(let program)? = settings[ParameterPath("client")], !program.isEmpty else { return name }
    return program
  }
}

extension Patch {
  /// True for a node that is another program.
  public func isClient(_ id: NodeID, catalogue: KindCatalogue) -> Bool {
    nodes.kind(of: id).flatMap { catalogue[$0] }?.isClient ?? false
  }

  /// True for a cable that the driver connects, since another program is at one of its ends.
  public func isOutside(_ ends: Cable.Ends, catalogue: KindCatalogue) -> Bool {
    isClient(ends.source.node, catalogue: catalogue) || isClient(ends.destination.node, catalogue: catalogue)
  }

  /// The nodes that are other programs, in file order.
  public func clients(catalogue: KindCatalogue) -> [Node] {
    nodes.values.filter { catalogue[$0.kind]?.isClient ?? false }
  }

  /// True if any node is another program.
  package func hasClients(catalogue: KindCatalogue) -> Bool {
    let kinds = Set(catalogue.kinds.lazy.filter(\.isClient).map(\.name))
    return nodes.contains(ofKind: kinds.contains)
  }

  /// The cable's name with the nodes of programs that were named as the server does, and the ports that it leads to.
  func resolved(_ name: CableName, catalogue: KindCatalogue) -> CableName {
    CableName(resolved(name.source, catalogue), gliding(resolved(name.destination, catalogue), catalogue))
  }

  /// The port of the parameter that glides in another one's place: `delay.shift` for `delay.time`.
  private func gliding(_ name: PortName, _ catalogue: KindCatalogue) -> PortName {
    guard let port = name.port, let id = idsByName[name.node],
      let kind = nodes.kind(of: id).flatMap({ catalogue[$0] }), let glide = kind[parameter: port]?.glide
    else { return name }
    return PortName(name.node, glide)
  }

  private func resolved(_ name: PortName, _ catalogue: KindCatalogue) -> PortName {
    guard let program = name.program,
      let node = clients(catalogue: catalogue).first(where: { $0.program == program })
    else { return name }
    return PortName(node.name, name.port)
  }

  // MARK: For views

  /// Adds a node that is only shown.
  package mutating func show(_ node: Node) { attach(node, at: nil) }

  /// Adds a cable that is only shown.
  package mutating func show(_ cable: Cable) { plug(cable) }
}

extension Patch {
  /// The part of a node that decides which of its ports lead to other programs.
  struct OutsideEnd {
    var id: NodeID
    var name: String
    var kind: KindDescription?
    var isSource: Bool
  }

  /// The ports of a cable to, from or between programs. Those of a program may have any name or pattern; an
  /// endpoint of ours has all of its own together, or one of the numbers from 1.
  func outside(
    _ name: CableName, from source: OutsideEnd, to destination: OutsideEnd
  ) throws(EditError) -> Cable.Ends {
    Cable.Ends(
      PortReference(source.id, try outsidePort(source, name.source.port, name)),
      PortReference(destination.id, try outsidePort(destination, name.destination.port, name)))
  }

  private func outsidePort(
    _ end: OutsideEnd, _ port: String?, _ cable: CableName
  ) throws(EditError) -> String {
    guard let kind = end.kind else { return port ?? (end.isSource ? "out" : PortReference.unknownInput) }
    guard let endpoint = kind.endpoint, endpoint == .client || end.isSource == endpoint.isOutput else {
      throw .leadsOutside(cable, inner: end.name)
    }
    guard let port, port != PortReference.everyPort else { return PortReference.everyPort }
    let isNumber = Int(port).map { (1...64).contains($0) && String($0) == port } ?? false
    guard endpoint == .client || endpoint.hasChannels && isNumber else {
      throw .noPort(
        PortName(end.name, port), end.isSource ? .output : .input,
        known: endpoint.hasChannels ? [PortReference.everyPort, "1", "2"] : [PortReference.everyPort])
    }
    return port
  }
}

import Drivers
import Patch

/// Names of programs in an edit.
struct ProgramNaming {
  let patch: Patch
  let around: Surroundings
  let catalogue: KindCatalogue
  /// Edits that add the programs.
  private(set) var added: [Edit] = []
  /// Found connections that the edit ends, by its names for them.
  private(set) var found: [CableName: Set<ServerGraph.Link>] = [:]
  /// Names of nodes that the edit itself adds.
  private var ownNames: Set<String> = []
  /// The patch with those programs, for names that are free.
  private var grown: Patch

  init(_ patch: Patch, _ around: Surroundings, _ catalogue: KindCatalogue) {
    (self.patch, self.around, self.catalogue) = (patch, around, catalogue)
    grown = around.patch
  }

  mutating func named(_ edit: Edit) throws(EditError) -> Edit {
    switch edit {
    case .connect(let name, let settings):
      return .connect(
        CableName(end(name.source, isNew: true), end(name.destination, isNew: true)), settings)
    case .disconnect(let name): return try disconnect(name)
    case .isolate(let name): return isolate(name) ?? edit
    case .remove(let name, _, _): return remove(name) ?? edit
    case .add(let node, _): ownNames.insert(node.name)
    case .set(let name, _, _, _), .place(let name, _), .rename(let name, _), .copy(let name, _):
      _ = end(PortName(name), isNew: false)
    case .comment(.node(let name), _): _ = end(PortName(name), isNew: false)
    case .comment(.cable(let name), let comments):
      return .comment(
        .cable(CableName(end(name.source, isNew: false), end(name.destination, isNew: false))), comments)
    case .all(let edits):
      var all: [Edit] = []
      for edit in edits { all.append(try named(edit)) }
      return .joined(all)
    default: break
    }
    return edit
  }

  /// The end of a cable with its node, which is added to the patch if it is only found, or new.
  private mutating func end(_ name: PortName, isNew: Bool) -> PortName {
    guard let program = name.program else {
      if patch.id(named: name.node) == nil, !ownNames.contains(name.node),
        let found = around.patch[named: name.node]
      {
        add(found)
      }
      return name
    }
    if let node = client(program) {
      if patch[node.id] == nil { add(node) }
      return PortName(node.name, name.port)
    }
    guard isNew, let kind = catalogue.kinds.first(where: \.isClient)?.name else { return name }
    let node = SurroundingsBuilder.node(for: program, kind, in: grown, id: NodeID(raw: UInt64.max >> 2))
    grown.show(node)
    added.append(.add(node.withoutIdentity, before: nil))
    return PortName(node.name, name.port)
  }

  private func client(_ program: String) -> Node? {
    grown.clients(catalogue: catalogue).first { $0.program == program }
  }

  private mutating func add(_ found: Node) {
    let edit = Edit.add(found.withoutIdentity, before: nil)
    if around.programs[found.id]?.isFound == true, !added.contains(edit) { added.append(edit) }
  }

  // MARK: Ends of cables

  /// The edits that end a cable: by patterns, all that fit.
  private mutating func disconnect(_ name: CableName) throws(EditError) -> Edit {
    let (sources, destinations) = (nodes(name.source), nodes(name.destination))
    var single = name
    if let source = sources.first, sources.count == 1 { single.source.node = source.name }
    if let destination = destinations.first, destinations.count == 1 {
      single.destination.node = destination.name
    }
    var meant: [Cable.Ends] = []
    if let cable = try? around.patch.existing(single, catalogue: catalogue) {
      meant = [cable.ends]
    } else if name.source.isPattern || name.destination.isPattern {
      let ids = Set(destinations.map(\.id))
      meant = sources.flatMap { around.patch.cables(from: $0.id, catalogue: catalogue) }.map(\.ends).filter {
        ids.contains($0.destination.node) && around.patch.isOutside($0, catalogue: catalogue)
          && name.source.fits($0.source.port) && name.destination.fits($0.destination.port)
      }
    }
    guard !meant.isEmpty else {
      // A connection of the server's has to be there; what the edit itself has connected before is not seen here.
      if name.source.program != nil || name.destination.program != nil {
        _ = try patch.existing(name, catalogue: catalogue)
      }
      return .disconnect(name)
    }
    return .joined(disconnecting(meant))
  }

  /// Cables of the patch by their nodes; found ones by the server's names, for each two programs that they join.
  private mutating func disconnecting(_ cables: [Cable.Ends]) -> [Edit] {
    var edits: [Edit] = []
    for ends in cables { edits += disconnecting(ends) }
    return edits
  }

  private mutating func disconnecting(_ ends: Cable.Ends) -> [Edit] {
    let name = around.patch.name(of: ends)
    guard around.cables[ends]?.isFound == true, let links = around.links[ends] else {
      return [.disconnect(name)]
    }
    var found: [CableName: Set<ServerGraph.Link>] = [:]
    for link in links {
      let source = serverName(name.source, ends.source.node, link.source)
      let destination = serverName(name.destination, ends.destination.node, link.destination)
      found[CableName(source, destination), default: []].insert(link)
    }
    self.found.merge(found) { $1 }
    return found.keys.sorted { $0.description < $1.description }.map { .disconnect($0) }
  }

  private func serverName(_ name: PortName, _ node: NodeID, _ full: String) -> PortName {
    guard around.programs[node] != nil, let colon = full.firstIndex(of: ":") else { return name }
    return PortName(program: String(full[..<colon]), port: name.port ?? PortReference.everyPort)
  }

  /// The nodes that a port's name stands for: of a program by its name, or of all whose names fit a pattern.
  private func nodes(_ name: PortName) -> [Node] {
    guard let program = name.program else { return around.patch[named: name.node].map { [$0] } ?? [] }
    let clients = grown.clients(catalogue: catalogue)
    if let node = clients.first(where: { $0.program == program }) { return [node] }
    return clients.filter { NamePattern(program).fits($0.program) }
  }

  /// The edits that remove a program of which there are only connections left.
  private mutating func remove(_ name: String) -> Edit? {
    guard patch.id(named: name) == nil, let node = around.patch[named: name],
      around.programs[node.id]?.isRunning == false
    else { return nil }
    let cables = cables(at: node)
    return cables.isEmpty ? nil : .joined(disconnecting(cables))
  }

  /// The edits that end all cables of a node of which some are only found.
  private mutating func isolate(_ name: String) -> Edit? {
    guard let node = around.patch[named: name] else { return nil }
    let cables = cables(at: node)
    return cables.contains { around.cables[$0]?.isFound == true } ? .joined(disconnecting(cables)) : nil
  }

  private func cables(at node: Node) -> [Cable.Ends] {
    around.patch.cables(at: node.id).sorted {
      around.patch.name(of: $0).description < around.patch.name(of: $1).description
    }
  }
}

extension PortName {
  /// True where it may stand for several ports.
  fileprivate var isPattern: Bool {
    port.map { NamePattern($0).isPattern } ?? false || program.map { NamePattern($0).isPattern } ?? false
  }

  fileprivate func fits(_ name: String) -> Bool { port.map { NamePattern($0).fits(name) } ?? true }
}

extension Edit {
  /// True if it names a program as the server does.
  var namesPrograms: Bool {
    switch self {
    case .connect(let name, _), .disconnect(let name):
      name.source.program != nil || name.destination.program != nil
    case .all(let edits): edits.contains(where: \.namesPrograms)
    default: false
    }
  }
}

extension Node {
  fileprivate var withoutIdentity: Node { Node(name: name, kind: kind, settings: settings) }
}

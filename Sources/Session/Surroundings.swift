import Drivers
import Patch

/// The patch together with the other programs of the server: those that it names, and those that are found beside
/// it. Found programs and their connections become part of the patch with the first edit that names them.
public struct Surroundings: Sendable {
  /// Another program.
  public struct Client: Sendable, Hashable {
    /// It has ports at the moment.
    public var isRunning: Bool
    /// It is no part of the patch.
    public var isFound: Bool
    /// Its ports in groups.
    public var ports: [ProgramPort]

    /// True when the name or pattern stands for MIDI ports alone; nil when there are none, or both types.
    public func isEvents(_ name: String, isInput: Bool) -> Bool? {
      let end = ConnectionWish.End("", [name])
      let types = Set(
        ports.filter { $0.isInput == isInput && ($0.name == name || $0.members.contains(where: end.names)) }
          .map(\.isEvents))
      return types.count == 1 ? types.first : nil
    }
  }

  /// State of a cable that the server makes.
  public enum CableState: Sendable, Hashable {
    /// All of its connections exist.
    case made
    /// So many of its connections exist.
    case partly(Int, of: Int)
    /// Ports are missing, or the server has not answered yet.
    case waiting
    /// Somebody has ended it elsewhere.
    case ended
    /// Made elsewhere; no part of the patch.
    case found
    /// The same, and a program at its end has gone.
    case gone

    /// True for one that is no part of the patch.
    public var isFound: Bool { self == .found || self == .gone }
  }

  /// The patch, with what is found when that is shown.
  public var patch: Patch
  /// The other programs by node.
  public internal(set) var programs: [NodeID: Client] = [:]
  /// The cables at them.
  public internal(set) var cables: [Cable.Ends: CableState] = [:]
  /// The connections that each found cable stands for.
  var links: [Cable.Ends: Set<ServerGraph.Link>] = [:]
  /// Differs after each change.
  public internal(set) var number = 0
  /// For cables with connections that somebody has ended elsewhere, maps that leave them out.
  var kept: [Cable.Ends: ChannelMap] = [:]
  /// The same where no map says so, as several ports stay at one: what is left of the connections.
  var split: [Cable.Ends: Set<ServerGraph.Link>] = [:]
  /// The cables of the patch as the driver is told.
  var wishes: [ConnectionWish] = []

  /// A patch alone, or with the programs and cables that are seen.
  public init(_ patch: Patch, programs: [NodeID: Client] = [:], cables: [Cable.Ends: CableState] = [:]) {
    (self.patch, self.programs, self.cables) = (patch, programs, cables)
  }
}

/// The program's own ports on the server.
struct OwnPorts: Equatable {
  struct Place: Hashable {
    var node: NodeID
    /// Number from 1; nil: the node has but one.
    var number: Int?
    /// It takes a signal from the server.
    var isInput: Bool
    var isEvents: Bool
  }

  /// Name of the client; empty without one.
  var client = ""
  var places: [String: Place] = [:]
  /// Short names by node, in order.
  var names: [NodeID: [String]] = [:]

  mutating func add(_ name: String, _ place: Place) {
    names[place.node, default: []].append(name)
    // Nodes may share a MIDI port: the first one stands for it.
    if places[name] == nil { places[name] = place }
  }

  /// Names of the ports that a cable's end stands for.
  func names(of end: PortReference) -> [String] {
    let all = names[end.node] ?? []
    guard let number = Int(end.port) else { return all }
    return all.indices.contains(number - 1) ? [all[number - 1]] : []
  }
}

/// Finds the surroundings of a patch. Worker.
struct SurroundingsBuilder {
  let document: Patch
  let catalogue: KindCatalogue
  let graph: ServerGraph
  let declined: Set<ServerGraph.Link>
  /// The server with the ports of programs that have gone.
  let remembered: ServerGraph
  /// Connections that have gone with them.
  let gone: Set<ServerGraph.Link>
  let own: OwnPorts
  /// Identities of found programs, for as long as the session lasts.
  var ids: [String: NodeID]

  private var result: Surroundings
  /// The node of each program, running or gone.
  private var owners: [String: NodeID] = [:]

  /// Above the identities of any patch.
  private static let firstID: UInt64 = 1 << 48

  init(
    _ patch: Patch, _ catalogue: KindCatalogue, _ picture: Patchbay.Picture, _ own: OwnPorts,
    ids: [String: NodeID]
  ) {
    document = patch
    self.catalogue = catalogue
    (graph, declined) = (picture.graph, picture.declined)
    (remembered, gone) = (graph.adding(picture.ghosts), picture.gone.subtracting(graph.links))
    self.own = own
    self.ids = ids
    result = Surroundings(patch)
  }

  mutating func build(isShown: Bool) -> Surroundings {
    guard let kind = catalogue.kinds.first(where: \.isClient)?.name else { return result }
    let clients = document.clients(catalogue: catalogue)
    for node in clients.sorted(by: { !Self.isPattern($0) && Self.isPattern($1) }) {
      let running = graph.programs(like: node.program)
      for program in running.isEmpty ? remembered.programs(like: node.program) : running
      where owners[program] == nil && program != own.client {
        owners[program] = node.id
      }
    }
    if isShown { addFound(kind) }
    for id in clients.map(\.id) + result.programs.keys { describe(id) }
    let covered = judge(clients)
    if isShown {
      addFoundCables(graph.links.subtracting(covered), .found)
      addFoundCables(gone.subtracting(covered), .gone)
    }
    return result
  }

  private static func isPattern(_ node: Node) -> Bool { NamePattern(node.program).isPattern }

  // MARK: Programs

  private mutating func addFound(_ kind: String) {
    for program in remembered.programs where owners[program] == nil && program != own.client {
      let id = ids[program] ?? NodeID(raw: Self.firstID + UInt64(ids.count))
      ids[program] = id
      result.patch.show(Self.node(for: program, kind, in: result.patch, id: id))
      result.programs[id] = Surroundings.Client(isRunning: false, isFound: true, ports: [])
      owners[program] = id
    }
  }

  /// A node for a program, with a name that the patch has not yet.
  static func node(for program: String, _ kind: String, in patch: Patch, id: NodeID = NodeID(raw: 0)) -> Node
  {
    var base = String(program.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "-" }.prefix(40))
    while base.first == "-" { base.removeFirst() }
    while base.last == "-" { base.removeLast() }
    if NodeName.fault(in: base) != nil { base = kind }
    var (name, number) = (base, 2)
    while patch.id(named: name) != nil {
      name = "\(base)\(number)"
      number += 1
    }
    var node = Node(id: id, name: name, kind: kind)
    if name != program { node.settings[ParameterPath("client")] = .text(program) }
    return node
  }

  private mutating func describe(_ id: NodeID) {
    var all = owners.filter { $0.value == id }.keys.sorted()
    // Another node, with a pattern that fits as well, stands for its program.
    if all.isEmpty, let node = document[id] {
      all = remembered.programs(like: node.program).filter { $0 != own.client }.sorted()
    }
    let running = all.filter { graph.ports[$0] != nil }
    var seen: Set<ServerGraph.Port> = []
    let ports = all.flatMap { remembered.ports[$0] ?? [] }.filter { port in
      var plain = port
      plain.program = ""
      return seen.insert(plain).inserted
    }
    result.programs[id] = Surroundings.Client(
      isRunning: !running.isEmpty, isFound: document[id] == nil, ports: PortGroups.groups(ports))
  }

  // MARK: Cables

  /// The state of each cable of the patch; returns their connections.
  private mutating func judge(_ clients: [Node]) -> Set<ServerGraph.Link> {
    var covered: Set<ServerGraph.Link> = []
    for node in clients {
      for ends in document.cables(at: node.id) where result.cables[ends] == nil {
        guard let cable = document.cables[ends] else { continue }
        let wish = wish(cable)
        result.wishes.append(wish)
        let links = graph.links(of: wish)
        covered.formUnion(links)
        let made = links.count { graph.links.contains($0) }
        if links.contains(where: declined.contains) { keep(ends, wish, links) }
        result.cables[ends] =
          if cable.map?.sources.allSatisfy({ $0 < 0 }) ?? false {
            .ended
          } else if links.isEmpty {
            .waiting
          } else if made == links.count {
            .made
          } else if made > 0 {
            .partly(made, of: links.count)
          } else {
            links.allSatisfy(declined.contains) ? .ended : .waiting
          }
      }
    }
    return covered
  }

  /// Keeps what is left of a cable's connections: as a map, or as cables of their own.
  private mutating func keep(_ ends: Cable.Ends, _ wish: ConnectionWish, _ links: [ServerGraph.Link]) {
    if let map = graph.map(of: wish, without: declined) {
      result.kept[ends] = ChannelMap(map)
    } else if [wish.source, wish.destination].allSatisfy({ graph.programs(like: $0.program).count == 1 }) {
      result.split[ends] = Set(links).subtracting(declined)
    }
  }

  private func wish(_ cable: Cable) -> ConnectionWish {
    ConnectionWish(
      end(cable.ends.source), end(cable.ends.destination), map: cable.settings.map?.sources,
      isDiscrete: cable.settings.mixing == .discrete)
  }

  private func end(_ port: PortReference) -> ConnectionWish.End {
    if let node = document[port.node], catalogue[node.kind]?.isClient == true {
      return ConnectionWish.End(node.program, [port.port])
    }
    return ConnectionWish.End(own.client, own.names(of: port))
  }

  /// One end of a found connection, and the group that it belongs to.
  private struct FoundEnd: Hashable {
    var port: PortReference
    var group: String
    var members: [String]
    var program: String
  }

  private mutating func addFoundCables(_ links: Set<ServerGraph.Link>, _ state: Surroundings.CableState) {
    struct Pair: Hashable { var source, destination: FoundEnd }
    var bundles: [Pair: Set<ServerGraph.Link>] = [:]
    var singles: [ServerGraph.Link: Cable.Ends] = [:]
    for link in links {
      guard var source = foundEnd(link.source, isInput: false),
        var destination = foundEnd(link.destination, isInput: true)
      else { continue }
      singles[link] = Cable.Ends(source.port, destination.port)
      source.port.port = source.group
      destination.port.port = destination.group
      bundles[Pair(source: source, destination: destination), default: []].insert(link)
    }
    for (pair, links) in bundles {
      let ends = Cable.Ends(pair.source.port, pair.destination.port)
      let whole = ConnectionWish(
        ConnectionWish.End(pair.source.program, pair.source.members),
        ConnectionWish.End(pair.destination.program, pair.destination.members))
      if links.count > 1, document.cables[ends] == nil, Set(remembered.links(of: whole)) == links {
        addFound(ends, links, state)
      } else {
        for link in links { if let ends = singles[link] { addFound(ends, [link], state) } }
      }
    }
  }

  private mutating func addFound(
    _ ends: Cable.Ends, _ links: Set<ServerGraph.Link>, _ state: Surroundings.CableState
  ) {
    guard document.cables[ends] == nil else { return }
    if result.cables[ends] == nil {
      result.patch.show(Cable(ends))
      result.cables[ends] = state
    }
    result.links[ends, default: []].formUnion(links)
  }

  /// The end of a connection; nil for a port that no node stands for.
  private func foundEnd(_ full: String, isInput: Bool) -> FoundEnd? {
    guard let colon = full.firstIndex(of: ":") else { return nil }
    let (program, name) = (String(full[..<colon]), String(full[full.index(after: colon)...]))
    if program == own.client {
      guard let place = own.places[name], place.isInput == isInput else { return nil }
      let port = place.number.map(String.init) ?? PortReference.everyPort
      return FoundEnd(
        port: PortReference(place.node, port), group: PortReference.everyPort,
        members: own.names[place.node] ?? [name], program: program)
    }
    guard let id = owners[program] else { return nil }
    let group = result.programs[id]?.ports.first { $0.isInput == isInput && $0.members.contains(name) }
    return FoundEnd(
      port: PortReference(id, name), group: group?.name ?? name, members: group?.members ?? [name],
      program: program)
  }
}

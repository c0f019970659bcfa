import Drivers
import Engine
import Patch

/// A session's knowledge of the other programs on the server.
struct ProgramsState {
  var isShown = false
  var patchbay: Patchbay?
  /// Sources of the surroundings.
  var key: Key?
  var surroundings = Surroundings(Patch())
  /// Identities of found programs.
  var ids: [String: NodeID] = [:]
  var wishes: [ConnectionWish] = []
  var wishesClient = ""
  /// The program's own client, or the last one: while no server runs, wishes go on to name its ports, so that an edit meanwhile
  /// is known when the server is back.
  var client = ""
  /// Found connections that edits of this session have ended, by the names in those edits: undo makes them again.
  var ended: [CableName: Set<ServerGraph.Link>] = [:]
  /// A test's picture in place of a server's, with the program's own client.
  var given: (picture: Patchbay.Picture, client: String)?

  struct Key {
    var revision: Revision
    var picture: Int
    var own: OwnPorts
    var isShown: Bool
  }
}

extension Session {
  /// Shows the programs that the patch does not name too.
  public var showsPrograms: Bool {
    get { programs.isShown }
    set {
      programs.isShown = newValue
      findPrograms()
    }
  }

  /// The patch together with the other programs of the server.
  public var surroundings: Surroundings {
    updateSurroundings()
    return programs.surroundings
  }

  /// True where the driver may be a JACK client.
  private var canFindPrograms: Bool {
    !options.isOffline && (options.isPatchbay || [.automatic, .jack].contains(options.driver.preference))
  }

  /// Looks for other programs once they are wanted, and tells the server's side what the patch wishes for.
  func findPrograms() {
    guard hasStarted, canFindPrograms else { return }
    if programs.patchbay == nil {
      guard programs.isShown || options.isPatchbay || patch.hasClients(catalogue: catalogue) else { return }
      let patchbay = Patchbay(options.driver.jack)
      patchbay.start()
      programs.patchbay = patchbay
    }
    updateSurroundings()
    let own = ownClient
    guard programs.surroundings.wishes != programs.wishes || own != programs.wishesClient else { return }
    (programs.wishes, programs.wishesClient) = (programs.surroundings.wishes, own)
    programs.patchbay?.wish(programs.wishes, own: own)
  }

  func stopFindingPrograms() {
    programs.patchbay?.stop()
    programs.patchbay = nil
  }

  /// Waits until the server's programs have been seen, for a few seconds at most; false without a server.
  public func awaitPrograms(seconds: Double = 3) -> Bool {
    guard let patchbay = programs.patchbay else { return false }
    return patchbay.awaitServer(seconds: seconds)
  }

  /// The patch together with the programs of a picture, for a session without a driver.
  public func surroundings(_ picture: Patchbay.Picture) -> Surroundings {
    var builder = SurroundingsBuilder(patch, catalogue, picture, OwnPorts(), ids: [:])
    return builder.build(isShown: true)
  }

  /// Takes this for what the server shows, without one. For tests.
  package func see(_ picture: Patchbay.Picture, as client: String = "") {
    programs.given = (picture, client)
  }

  private func updateSurroundings() {
    let picture = programs.given?.picture ?? programs.patchbay?.picture ?? Patchbay.Picture()
    let own = programs.patchbay == nil && programs.given == nil ? OwnPorts() : ownPorts
    if let key = programs.key, key.revision === patch.revision, key.picture == picture.number, key.own == own,
      key.isShown == programs.isShown
    {
      return
    }
    programs.key = ProgramsState.Key(
      revision: patch.revision, picture: picture.number, own: own, isShown: programs.isShown)
    let number = programs.surroundings.number + 1
    if programs.isShown || patch.hasClients(catalogue: catalogue) {
      var builder = SurroundingsBuilder(patch, catalogue, picture, own, ids: programs.ids)
      programs.surroundings = builder.build(isShown: programs.isShown)
      programs.ids = builder.ids
    } else {
      programs.surroundings = Surroundings(patch)
    }
    programs.surroundings.number = number
  }

  /// Name of the program's client, or of the last one; empty if there was none.
  private var ownClient: String {
    let present = supervisor.driver?.clientName ?? programs.given?.client ?? ""
    if !present.isEmpty { programs.client = present }
    return programs.client
  }

  /// The ports that the driver registers for the patch.
  private var ownPorts: OwnPorts {
    var own = OwnPorts()
    own.client = ownClient
    if own.client.isEmpty { return own }
    for endpoint in engine.endpoints
    where !endpoint.isTap && endpoint.device.isEmpty && patch[endpoint.node] != nil {
      for channel in 0..<endpoint.channels {
        own.add(
          JackDriver.portName(of: endpoint, channel),
          OwnPorts.Place(
            node: endpoint.node, number: endpoint.channels > 1 ? channel + 1 : nil, isInput: endpoint.isInput,
            isEvents: false))
      }
    }
    for (node, port) in engine.midiNodes where patch[node] != nil {
      own.add(
        JackDriver.portName(of: port),
        OwnPorts.Place(node: node, isInput: port.outlet == nil, isEvents: true))
    }
    return own
  }

  // MARK: What was ended elsewhere

  /// Makes what somebody has ended elsewhere part of the patch, so that it stays ended when the patch is opened again:
  /// cables get maps that leave connections out, or become a cable for each connection that is left where no map says
  /// that; and what the driver connects of itself gets `connect=none`, or `port=none`.
  func keepEnds() throws(EditError) {
    updateSurroundings()
    let kept = programs.surroundings.kept.map { (name: patch.name(of: $0.key), map: $0.value, ends: $0.key) }
    var edits: [Edit] = kept.sorted { $0.name.description < $1.name.description }.map {
      .connect(
        $0.name, CableSettings(map: $0.map, mixing: patch.cables[$0.ends]?.settings.mixing ?? .speakers))
    }
    for (ends, links) in programs.surroundings.split.sorted(by: {
      $0.value.min().map(\.source) ?? "" < $1.value.min().map(\.source) ?? ""
    }) {
      let name = patch.name(of: ends)
      edits.append(.disconnect(name))
      for link in links.sorted() {
        edits.append(
          .connect(CableName(one(name.source, link.source), one(name.destination, link.destination))))
      }
    }
    for (node, names) in ownPorts.names.sorted(by: { $0.key.raw < $1.key.raw }) {
      edits += keepEnds(node, names)
    }
    guard !edits.isEmpty else { return }
    let line = try perform(.joined(edits), amending: nil, isMoved: false)
    notice(.news("kept in the patch, as it was ended elsewhere: \(line)"))
  }

  /// One port in place of a pattern for several.
  private func one(_ port: PortName, _ full: String) -> PortName {
    guard let colon = full.firstIndex(of: ":"), let id = patch.id(named: port.node) else { return port }
    let name = String(full[full.index(after: colon)...])
    if let node = patch[id], catalogue[node.kind]?.isClient == true { return PortName(port.node, name) }
    return ownPorts.places[name]?.number.map { PortName(port.node, String($0)) } ?? port
  }

  /// The same for an endpoint of ours. What is left of its connections becomes cables.
  private func keepEnds(_ id: NodeID, _ names: [String]) -> [Edit] {
    guard let node = patch[id], let kind = catalogue[node.kind] else { return [] }
    let path = ParameterPath(kind.endpoint == .midi ? "port" : "connect")
    guard kind[parameter: path.name] != nil,
      node.settings[path] != .text("none")
    else { return [] }
    let asked = names.map(options.driver.jack.wishes.asked)
    guard asked.contains(where: { !$0.ended.isEmpty }) else { return [] }
    let isInput = kind.endpoint?.isOutput == false
    var edits: [Edit] = [.set(node.name, path, .text("none"), over: nil)]
    for (index, asked) in asked.enumerated() {
      for other in asked.there.sorted() {
        guard let colon = other.firstIndex(of: ":") else { continue }
        let ours = PortName(node.name, names.count > 1 ? String(index + 1) : PortReference.everyPort)
        let theirs = PortName(
          program: String(other[..<colon]), port: String(other[other.index(after: colon)...]))
        edits.append(.connect(isInput ? CableName(theirs, ours) : CableName(ours, theirs)))
      }
    }
    return edits
  }

  // MARK: Edits

  /// The edit with the found programs that it names added to the patch, and with the nodes of programs that it names as
  /// the server does. Found connections that it ends are named as the server does, and are no matter of the patch's.
  func withFoundPrograms(_ edit: Edit) throws(EditError) -> Edit {
    guard programs.isShown || programs.patchbay != nil || edit.namesPrograms else { return edit }
    updateSurroundings()
    var naming = ProgramNaming(patch, programs.surroundings, catalogue)
    let named = try naming.named(edit)
    programs.ended.merge(naming.found) { $1 }
    return naming.added.isEmpty ? named : .joined(naming.added + [named])
  }

  /// Ends connections that are no part of the patch, or makes those again that an undone edit ended.
  func endFound(_ names: [CableName], isUndone: Bool) {
    let links = Set(names.flatMap { programs.ended[$0] ?? found($0) })
    guard !links.isEmpty else { return }
    if isUndone { programs.patchbay?.recall(links) } else { programs.patchbay?.end(links) }
    guard let graph = programs.given?.picture.graph else { return }
    programs.given?.picture.graph.links =
      isUndone ? graph.links.union(links) : graph.links.subtracting(links)
    programs.given?.picture.gone.subtract(links)
    programs.given?.picture.number += 1
  }

  /// The connections that a name stands for, in a session that has not seen how they ended.
  private func found(_ name: CableName) -> Set<ServerGraph.Link> {
    let own = ownPorts
    func end(_ port: PortName) -> ConnectionWish.End {
      if let program = port.program { return ConnectionWish.End(program, [port.port ?? ""]) }
      guard let id = patch.id(named: port.node) else { return ConnectionWish.End("", []) }
      return ConnectionWish.End(
        own.client, own.names(of: PortReference(id, port.port ?? PortReference.everyPort)))
    }
    let picture = programs.given?.picture ?? programs.patchbay?.picture ?? Patchbay.Picture()
    let graph = picture.graph.adding(picture.ghosts)
    return Set(graph.links(of: ConnectionWish(end(name.source), end(name.destination))))
  }
}

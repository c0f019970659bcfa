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
  /// Shows the programs that the patch does not name.
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
    let own = supervisor.driver?.clientName ?? ""
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

  /// The ports that the driver registers for the patch.
  private var ownPorts: OwnPorts {
    var own = OwnPorts()
    guard let client = supervisor.driver?.clientName ?? programs.given?.client, !client.isEmpty else {
      return own
    }
    own.client = client
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

  // MARK: Edits

  /// The edit with the found programs that it names added to the patch, and programs named as the server does. A found
  /// connection that it ends becomes part of the patch first, so that undo brings it back.
  func withFoundPrograms(_ edit: Edit) throws(EditError) -> Edit {
    guard programs.isShown || programs.patchbay != nil || edit.namesPrograms else { return edit }
    updateSurroundings()
    var around = programs.surroundings
    // While programs are hidden, those of the patch are still meant.
    if !programs.isShown { around.patch = patch }
    var naming = ProgramNaming(patch, around, catalogue)
    let named = naming.named(edit)
    if !naming.foundCables.isEmpty {
      let cables = naming.foundCables.map { Edit.connect($0) }
      try perform(.joined(naming.added + cables), amending: nil, acceptsUnknownKinds: false)
      // The server's side ends only what it has been asked for.
      findPrograms()
      return named
    }
    return naming.added.isEmpty ? named : .joined(naming.added + [named])
  }
}

/// Names of programs in an edit.
private struct ProgramNaming {
  let patch: Patch
  let around: Surroundings
  let catalogue: KindCatalogue
  /// Edits that add the programs.
  private(set) var added: [Edit] = []
  /// Found connections that the edit ends.
  private(set) var foundCables: [CableName] = []
  /// Names of nodes that the edit itself adds.
  private var ownNames: Set<String> = []
  /// The patch with those programs, for names that are free.
  private var grown: Patch

  init(_ patch: Patch, _ around: Surroundings, _ catalogue: KindCatalogue) {
    (self.patch, self.around, self.catalogue) = (patch, around, catalogue)
    grown = around.patch
  }

  mutating func named(_ edit: Edit) -> Edit {
    switch edit {
    case .connect(let name, let gain, let map, let mixing):
      return .connect(
        CableName(end(name.source, isNew: true), end(name.destination, isNew: true)), gain: gain, map: map,
        mixing: mixing)
    case .disconnect(let name): return disconnect(name)
    case .add(let node, _): ownNames.insert(node.name)
    case .set(let name, _, _, _), .place(let name, _), .rename(let name, _), .copy(let name, _):
      _ = end(PortName(name), isNew: false)
    case .comment(.node(let name), _): _ = end(PortName(name), isNew: false)
    case .comment(.cable(let name), let comments):
      return .comment(
        .cable(CableName(end(name.source, isNew: false), end(name.destination, isNew: false))), comments)
    case .all(let edits): return .joined(edits.map { named($0) })
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

  /// The edits that end a cable: by patterns, all that fit.
  private mutating func disconnect(_ name: CableName) -> Edit {
    var name = name
    for side in [\CableName.source, \CableName.destination] {
      guard let program = name[keyPath: side].program, let node = client(program) else { continue }
      name[keyPath: side].node = node.name
    }
    var meant: [Cable.Ends] = []
    if let cable = try? around.patch.existing(name, catalogue: catalogue) {
      meant = [cable.ends]
    } else if Self.isPattern(name.source.port) || Self.isPattern(name.destination.port),
      let source = around.patch.id(named: name.source.node),
      let destination = around.patch.id(named: name.destination.node)
    {
      meant = around.patch.cables(from: source, catalogue: catalogue).map(\.ends).filter {
        $0.destination.node == destination && around.patch.isOutside($0, catalogue: catalogue)
          && Self.fits(name.source.port, $0.source.port)
          && Self.fits(name.destination.port, $0.destination.port)
      }
    }
    guard !meant.isEmpty else { return .disconnect(name) }
    let names = meant.map { around.patch.name(of: $0) }
    for (ends, name) in zip(meant, names) where around.cables[ends] == .found {
      _ = (end(name.source, isNew: false), end(name.destination, isNew: false))
      foundCables.append(name)
    }
    return .joined(names.map { .disconnect($0) })
  }

  private static func isPattern(_ port: String?) -> Bool {
    port?.contains { $0 == "*" || $0 == "?" } ?? false
  }

  private static func fits(_ pattern: String?, _ port: String) -> Bool {
    guard let pattern else { return true }
    guard isPattern(pattern) else { return pattern == port }
    return ConnectionWish.End("", [pattern]).names(port)
  }
}

extension Edit {
  /// True if it names a program as the server does.
  fileprivate var namesPrograms: Bool {
    switch self {
    case .connect(let name, _, _, _), .disconnect(let name):
      name.source.program != nil || name.destination.program != nil
    case .all(let edits): edits.contains(where: \.namesPrograms)
    default: false
    }
  }
}

extension Node {
  fileprivate var withoutIdentity: Node { Node(name: name, kind: kind, settings: settings) }
}

/// `collapse dist echo into fx`: the nodes go into a new sub-patch, as they are. Each of their ports that a cable from
/// outside leads to gets an inlet or an outlet.
struct CollapseNodes: EditMacro {
  var names: [String]
  var name: String

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    let (patch, catalogue) = (draft.patch, draft.catalogue)
    guard let kind = catalogue.kinds.first(where: \.isContainer) else { throw .noKind("patch") }
    try AddNode.checkName(name, in: draft)
    let container = NodePath.container(of: name)
    // With what is inside them.
    var tops: [Node] = []
    for top in names {
      let node = try patch.node(named: top)
      guard NodePath.container(of: top) == container else { throw .notTogether(top, names[0]) }
      guard catalogue[node.kind]?.boundary == nil else { throw .isEdge(top) }
      if !tops.contains(where: { $0.id == node.id }) { tops.append(node) }
    }
    guard !tops.isEmpty else { throw .noNode("") }
    let order = Dictionary(uniqueKeysWithValues: patch.nodes.keys.enumerated().map { ($1, $0) })
    tops.sort { (order[$0.id] ?? 0) < (order[$1.id] ?? 0) }
    let members = tops.flatMap { [$0] + patch.allNodes(inside: $0.name) }
    let ids = Set(members.map(\.id))
    func inner(_ old: String) -> String {
      name + "/" + (container.map { String(old.dropFirst($0.count + 1)) } ?? old)
    }
    let memberNames = Set(members.map(\.name))
    func new(_ old: String) -> String { memberNames.contains(old) ? inner(old) : old }

    var crossing: [Cable] = []
    for node in members {
      crossing += patch.cables(into: node.id, catalogue: catalogue).filter {
        !ids.contains($0.ends.source.node)
      }
      crossing += patch.cables(from: node.id, catalogue: catalogue).filter {
        !ids.contains($0.ends.destination.node)
      }
    }
    var edits: [Edit] = crossing.map { .disconnect(patch.name(of: $0.ends)) }
    edits.append(.add(Node(name: name, kind: kind.name), before: tops[0].name))
    for node in members { edits.append(.rename(node.name, to: inner(node.name))) }
    // Together in the file.
    var next = patch.node(after: tops[0].id)
    while let here = next, ids.contains(here.id) { next = patch.node(after: here.id) }
    for node in members { edits.append(.move(inner(node.name), before: next?.name)) }
    let first = inner(tops[0].name)
    for (key, target) in patch.settings.publications.sorted(by: { $0.key < $1.key })
    where tops.contains(where: { NodePath.isInside(key, $0.name) }) {
      edits += patch.republishing(key, as: inner(key), target.renaming(new))
    }

    var ports = PortMaker(draft: draft, container: name, taken: Set(tops.map { inner($0.name) }))
    // The cables outside have the gains.
    var heirs: [Cable.Ends: [CableName]] = [:]
    for cable in crossing {
      let full = patch.name(of: cable.ends)
      let isEvents = draft.carriesEvents(cable.ends)
      if ids.contains(cable.ends.destination.node) {
        var end = full.destination
        end.node = inner(end.node)
        // A parameter is published: the cable itself moves it, in its unit.
        let declared = patch[cable.ends.destination.node].flatMap { catalogue[$0.kind] }?.inputs
        if let port = end.port, declared?.contains(where: { $0.name == port }) == false,
          let path = ParameterPath(line: port)
        {
          let key = ports.publication(of: end.node, path)
          if let edit = key.edit { edits.append(edit) }
          edits += Connect.making(CableName(full.source, end), cable.settings, cable.comments)
          continue
        }
        let port = ports.port(for: end, .inlet, isEvents, before: first)
        edits += port.edits
        let name = CableName(full.source, PortName(port.name, port.outer))
        heirs[cable.ends] = [name]
        edits += Connect.making(name, cable.settings, cable.comments)
      } else {
        var end = full.source
        end.node = inner(end.node)
        let port = ports.port(for: end, .outlet, isEvents, before: next?.name)
        edits += port.edits
        let name = CableName(PortName(port.name, port.outer), full.destination)
        heirs[cable.ends] = [name]
        edits += Connect.making(name, cable.settings, cable.comments)
      }
    }
    edits += patch.passingOn(heirs, naming: new, catalogue: catalogue)
    return .all(edits)
  }

  func describe() -> String { "collapse \(names.joined(separator: " ")) into \(name)" }
}

/// Makes the inlets, outlets and published parameters of a new sub-patch.
private struct PortMaker {
  let draft: Draft
  let container: String
  /// Names inside.
  var taken: Set<String>
  private var made: [PortName: (name: String, outer: String)] = [:]
  private var published: Set<String> = []

  init(draft: Draft, container: String, taken: Set<String>) {
    (self.draft, self.container, self.taken) = (draft, container, taken)
  }

  /// The port for an inner end, and the edits that make it.
  mutating func port(
    for end: PortName, _ side: KindDescription.Boundary.Side, _ isEvents: Bool, before: String?
  ) -> (name: String, outer: String, edits: [Edit]) {
    if let known = made[end] { return (known.name, known.outer, []) }
    let kind = draft.catalogue.kinds.first {
      $0.boundary?.side == side && $0.inputs.first?.isEvents == isEvents
    }
    let stem = side == .inlet ? "in" : "out"
    var name = container + "/" + stem
    if taken.contains(name) { name = NodeName.free(like: name) { taken.contains($0) } }
    taken.insert(name)
    guard let kind else { return (name, stem, []) }
    let (input, output) = (kind.inputs[0].name, kind.outputs[0].name)
    var edits: [Edit] = [.add(Node(name: name, kind: kind.name), before: before)]
    if side == .inlet {
      edits.append(.connect(CableName(PortName(name, output), end)))
      made[end] = (name, input)
      return (name, input, edits)
    }
    edits.append(.connect(CableName(end, PortName(name, input))))
    made[end] = (name, output)
    return (name, output, edits)
  }

  /// The edit that publishes a parameter; nil: it is published.
  mutating func publication(of node: String, _ path: ParameterPath) -> (name: String, edit: Edit?) {
    let known = node + path.suffix
    guard published.insert(known).inserted else { return (known, nil) }
    // `gain`; of elements `in-0`, and of crosspoints `main-0-1`.
    let stem = path.name.isEmpty ? String(NodePath.last(of: node)) : path.name
    var name = container + "/" + ([stem] + path.indices.map(String.init)).joined(separator: "-")
    if taken.contains(name) { name = NodeName.free(like: name) { taken.contains($0) } }
    taken.insert(name)
    return (name, .setPatch(.publish(name, .setting(node, path))))
  }
}

/// `expand fx`: what is inside a sub-patch takes its place, and its inlets and outlets leave.
struct ExpandNode: EditMacro {
  var name: String

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    let (patch, catalogue) = (draft.patch, draft.catalogue)
    let node = try patch.node(named: name)
    guard catalogue[node.kind]?.isContainer == true, patch.hasInside(name) else { throw .noSubPatch(name) }
    let tops = patch.nodes(inside: name)
    let edges = tops.filter { catalogue[$0.kind]?.boundary != nil }
    let edgeIDs = Set(edges.map(\.id))
    let prefix = NodePath.container(of: name).map { $0 + "/" } ?? ""
    var taken = Set(patch.names)
    taken.remove(name)
    var names: [String: String] = [:]
    for top in tops where !edgeIDs.contains(top.id) {
      var new = prefix + NodePath.last(of: top.name)
      if taken.contains(new) { new = NodeName.free(like: new) { taken.contains($0) } }
      taken.insert(new)
      names[top.name] = new
    }
    func outer(_ old: String) -> String {
      for (top, new) in names where old == top || NodePath.isInside(old, top) {
        return new + old.dropFirst(top.count)
      }
      return old
    }
    func outer(_ port: PortName) -> PortName { PortName(outer(port.node), port.port) }

    var edits: [Edit] = []
    if catalogue.definitionFile(of: node) != nil,
      let file = catalogue[node.kind]?.parameters.first(where: { $0.fileType == .patch })
    {
      edits.append(.set(name, ParameterPath(file.name), nil, over: nil))
    }
    // Paths from a real output to a real input, through any number of inlets and outlets.
    var joined: [Way] = []
    for edge in edges {
      for cable in patch.cables(into: edge.id, catalogue: catalogue)
      where !edgeIDs.contains(cable.ends.source.node) {
        follow(cable, after: Way(), [], patch, catalogue, edgeIDs) { joined.append($0) }
      }
    }
    for edge in edges { edits.append(.remove(edge.name, bridge: false)) }
    for (key, _) in patch.settings.publications.sorted(by: { $0.key < $1.key })
    where NodePath.container(of: key) == name {
      edits.append(.setPatch(.publish(key, nil)))
    }
    for member in patch.allNodes(inside: name) where !edgeIDs.contains(member.id) {
      edits.append(.rename(member.name, to: outer(member.name)))
    }
    for (key, target) in patch.settings.publications.sorted(by: { $0.key < $1.key })
    where NodePath.isInside(key, name) && NodePath.container(of: key) != name {
      edits += patch.republishing(key, as: outer(key), target.renaming(outer))
    }
    edits.append(.remove(name, bridge: false))
    var seen: Set<CableName> = []
    var heirs: [Cable.Ends: [CableName]] = [:]
    for way in joined {
      let ends = patch.name(of: way.ends)
      let cable = CableName(outer(ends.source), outer(ends.destination))
      guard seen.insert(cable).inserted else { continue }
      edits += Connect.making(cable, way.settings, way.comments)
      for part in way.parts { heirs[part, default: []].append(cable) }
    }
    edits += patch.passingOn(heirs, naming: outer, catalogue: catalogue)
    return .all(edits)
  }

  /// A way through edges, and the cable that stands for it.
  private struct Way {
    /// The cables that it consists of.
    var parts: [Cable.Ends] = []
    var settings = CableSettings()
    var comments = Comments()

    /// Both ends of the way.
    var ends: Cable.Ends { Cable.Ends(parts[0].source, parts[parts.count - 1].destination) }
  }

  /// Calls `found` with each way from a cable's source through edges; gains add up, maps are composed.
  private func follow(
    _ cable: Cable, after before: Way, _ passed: Set<NodeID>, _ patch: Patch, _ catalogue: KindCatalogue,
    _ edges: Set<NodeID>, _ found: (Way) -> Void
  ) {
    var way = Way(parts: before.parts + [cable.ends], settings: cable.settings, comments: cable.comments)
    way.settings.gain = min(before.settings.gain + cable.settings.gain, Connect.loudest)
    way.settings.map = cable.settings.map.after(before.settings.map)
    if before.settings.mixing == .discrete { way.settings.mixing = .discrete }
    if way.comments.isEmpty { way.comments = before.comments }
    let destination = cable.ends.destination.node
    guard edges.contains(destination) else { return found(way) }
    guard !passed.contains(destination) else { return }
    for next in patch.cables(from: destination, catalogue: catalogue) {
      follow(next, after: way, passed.union([destination]), patch, catalogue, edges, found)
    }
  }

  func describe() -> String { "expand \(name)" }
}

extension Patch {
  /// The edits by which controls and maps of the gains of cables turn those of others. `heirs`: these, by the
  /// ends of the cables that they replace; a control turns the first one only. `newName`: names of nodes by then.
  fileprivate func passingOn(
    _ heirs: [Cable.Ends: [CableName]], naming newName: (String) -> String, catalogue: KindCatalogue
  ) -> [Edit] {
    func cables(_ target: ControlTarget) -> [CableName] {
      guard case .gain(let name) = target else { return [] }
      return (try? existing(name, catalogue: catalogue)).flatMap { heirs[$0.ends] } ?? []
    }
    var edits: [Edit] = []
    for (number, target) in settings.controls.sorted(by: { $0.key < $1.key }) {
      guard let cable = cables(target).first else { continue }
      edits.append(.setPatch(.control(number, .gain(cable))))
    }
    var made: Set<MapName> = []
    for (name, course) in settings.maps.sorted(by: { $0.key < $1.key }) {
      let cables = cables(name.target)
      if cables.isEmpty { continue }
      let old = name.renaming(newName)
      edits.append(.setPatch(.map(old, nil)))
      for cable in cables {
        let new = MapName(old.source, .gain(cable))
        guard made.insert(new).inserted else { continue }
        edits.append(.setPatch(.map(new, course.renaming(newName))))
        guard let comments = settings.comments[.map(name)] else { continue }
        edits.append(.comment(.patchSetting(.map(new)), comments))
      }
    }
    return edits
  }
}

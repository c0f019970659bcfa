// Edits of sub-patches as a whole, as edits of the nodes that they consist of.

extension Edit {
  /// The same edit with other names of nodes.
  func renaming(_ name: (String) -> String) -> Edit {
    func port(_ port: PortName) -> PortName {
      port.program == nil ? PortName(name(port.node), port.port) : port
    }
    func cable(_ cable: CableName) -> CableName { CableName(port(cable.source), port(cable.destination)) }
    func node(_ node: Node) -> Node {
      var node = node.with(id: NodeID(raw: 0))
      node.name = name(node.name)
      return node
    }
    switch self {
    case .add(let new, let before): return .add(node(new), before: before.map(name))
    case .remove(let old, let bridge, let tail): return .remove(name(old), bridge: bridge, tail: tail)
    case .replace(let old, let new): return .replace(name(old), with: node(new))
    case .insert(let new, let into): return .insert(node(new), into: cable(into))
    case .copy(let old, let new): return .copy(name(old), to: name(new))
    case .rename(let old, let new): return .rename(name(old), to: name(new))
    case .move(let old, let before): return .move(name(old), before: before.map(name))
    case .connect(let ends, let settings): return .connect(cable(ends), settings)
    case .disconnect(let ends): return .disconnect(cable(ends))
    case .isolate(let old): return .isolate(name(old))
    case .set(let old, let path, let value, let over): return .set(name(old), path, value, over: over)
    case .setRange(let old, let range, let value, let over):
      return .setRange(name(old), range, value, over: over)
    case .matrix(let old, let change, let over): return .matrix(name(old), change, over: over)
    case .comment(let subject, let comments):
      switch subject {
      case .node(let old): return .comment(.node(name(old)), comments)
      case .cable(let ends): return .comment(.cable(cable(ends)), comments)
      case .setting(let old, let path): return .comment(.setting(name(old), path), comments)
      case .layout(let old): return .comment(.layout(name(old)), comments)
      case .patchSetting(.publish(let old)): return .comment(.patchSetting(.publish(name(old))), comments)
      default: return self
      }
    case .place(let old, let place): return .place(name(old), place)
    case .setPatch(.publish(let old, let target)):
      return .setPatch(.publish(name(old), target?.renaming(name)))
    case .collapse(let nodes, let new): return .collapse(nodes.map(name), into: name(new))
    case .expand(let old): return .expand(name(old))
    case .all(let edits): return .all(edits.map { $0.renaming(name) })
    case .setPatch, .scene, .recall, .morph, .fade: return self
    }
  }
}

extension Edit {
  /// The names that it takes or gives up, or the cable that it unplugs; empty: none. Two such edits cannot both be made.
  var structure: [String] {
    switch self {
    case .disconnect(let cable): ["disconnect", cable.description]
    case .add(let node, _), .insert(let node, _): ["add", node.name]
    case .copy(_, let name): ["add", name]
    case .remove(let name, _, _): ["remove", name]
    case .rename(let name, let new): ["rename", name, new]
    default: []
    }
  }

  /// True when it adds a node of this name.
  func adds(_ name: String) -> Bool {
    if case .add(let node, _) = self { node.name == name } else { false }
  }

  /// True when it says which nodes and cables are inside a sub-patch.
  fileprivate func builds(inside container: String) -> Bool {
    switch self {
    case .add(let node, _), .insert(let node, _): NodePath.isInside(node.name, container)
    case .remove(let name, _, _), .rename(let name, _), .replace(let name, _), .copy(_, let name):
      NodePath.isInside(name, container)
    case .connect(let cable, _), .disconnect(let cable):
      NodePath.isInside(cable.source.node, container) && NodePath.isInside(cable.destination.node, container)
    default: false
    }
  }
}

extension Edit {
  /// The sub-patches that may have more ports after it.
  var filledContainers: Set<String> {
    func containers(_ name: String) -> Set<String> { NodePath.container(of: name).map { [$0] } ?? [] }
    switch self {
    case .add(let node, _), .insert(let node, _): return containers(node.name)
    case .copy(_, let name), .rename(_, let name), .replace(let name, _), .expand(let name),
      .setPatch(.publish(let name, _)):
      return containers(name)
    case .all(let edits): return edits.reduce(into: []) { $0.formUnion($1.filledContainers) }
    default: return []
    }
  }
}

extension Draft {
  /// Edits of single nodes that an edit stands for.
  struct Expansion {
    /// The edits of the nodes that a sub-patch consists of; nil: it concerns none as a whole.
    var whole: [Edit]?
    /// The same edit in each of the other sub-patches that share the file of the one that it changes.
    var peers: [Edit]
    /// The edits of both.
    var edits: [Edit]
    /// They depend on files, which may be others tomorrow: history and journal have the edits themselves.
    var isWritten: Bool
  }

  /// The edits that an edit stands for, where it concerns sub-patches; nil: none but itself. `others`: edits that are
  /// performed with it.
  func expansion(of edit: Edit, among others: [Edit]) throws(EditError) -> Expansion? {
    if case .scene(let number, .edit(let line)) = edit { return try expansion(of: line, inScene: number) }
    let whole = try whole(edit, among: others)
    let peers = mirrored(edit, among: others)
    if whole == nil, peers.isEmpty { return nil }
    var edits = whole ?? [edit]
    for peer in peers { edits += whole == nil ? [peer] : try self.whole(peer, among: []) ?? [peer] }
    let isWritten: Bool
    switch edit {
    case .add(let node, _), .replace(_, let node), .insert(let node, _): isWritten = fills(node)
    case .set: isWritten = whole != nil
    default: isWritten = false
    }
    return Expansion(whole: whole, peers: peers, edits: edits, isWritten: isWritten)
  }

  /// True when an edit may concern a sub-patch.
  func mayConcernSubPatch(_ edit: Edit) -> Bool {
    if case .all(let edits) = edit { return edits.contains(where: mayConcernSubPatch) }
    guard case .set(let name, _, _, _) = edit else { return true }
    return name.utf8.contains(UInt8(ascii: "/")) || patch.hasInside(name)
      || patch[named: name].map { catalogue[$0.kind]?.isContainer == true } ?? false
  }

  // MARK: Sub-patches as a whole

  /// Nodes of a patch that files of sub-patches may fill. Ten files, each of which has the next inside ten times, would
  /// make more than fit into the memory.
  package static let mostNodes = 250_000

  /// True when the nodes of a file fit into the patch beside those that it has.
  package func hasRoom(for inner: Patch) -> Bool {
    patch.nodes.count + inner.nodes.count <= Self.mostNodes
  }

  func whole(_ edit: Edit, among others: [Edit]) throws(EditError) -> [Edit]? {
    if others.isEmpty {
      try checkPlace(of: edit)
      try checkContainer(of: edit)
    }
    try checkCircle(of: edit)
    switch edit {
    case .add(let node, let before):
      if let container = NodePath.container(of: node.name), !acceptsUnknownKinds, node.id.raw == 0 {
        let isThere = patch[named: container].map { catalogue[$0.kind]?.isContainer == true } ?? false
        if !isThere { throw .noSubPatch(container) }
      }
      guard node.id.raw == 0, fills(node), !patch.hasInside(node.name),
        !others.contains(where: { $0.builds(inside: node.name) })
      else { return nil }
      return try filling(node) { .add($0, before: before) }
    case .remove(let name, let bridge, let tail):
      guard let node = filled(name) else { return nil }
      return (bridge ? bridges(over: node) : []) + emptying(name, tail: tail) + [.remove(name, bridge: false)]
    case .rename(let name, let newName):
      guard filled(name) != nil, name != newName else { return nil }
      let new = { (old: String) in
        NodePath.isInside(old, name) ? newName + old.dropFirst(name.count) : old == name ? newName : old
      }
      var edits = patch.allNodes(inside: name).map { Edit.rename($0.name, to: new($0.name)) }
      edits.append(.rename(name, to: newName))
      for (key, target) in publications(inside: name) {
        edits += patch.republishing(key, as: new(key), target.renaming(new))
      }
      return edits
    case .copy(let name, let newName):
      guard filled(name) != nil else { return nil }
      let new = { (old: String) in
        NodePath.isInside(old, name) ? newName + old.dropFirst(name.count) : old == name ? newName : old
      }
      let nodes = patch.allNodes(inside: name)
      var edits: [Edit] = [edit] + nodes.map { .copy($0.name, to: new($0.name)) }
      // Comments and places too: saving the copy would remove them from the shared file.
      for node in nodes { edits += AddNode.remarks(of: node).map { $0.renaming(new) } }
      for node in nodes {
        for cable in patch.cables(into: node.id, catalogue: catalogue)
        where patch.isWithin(cable.ends, name, catalogue) {
          let ends = patch.name(of: cable.ends)
          edits.append(Edit.connect(ends, cable.settings).renaming(new))
          if !cable.comments.isEmpty {
            edits.append(Edit.comment(.cable(ends), cable.comments).renaming(new))
          }
        }
      }
      for (key, target) in publications(inside: name) {
        edits.append(.setPatch(.publish(new(key), target.renaming(new))))
        if let comments = patch.settings.comments[.publish(key)] {
          edits.append(.comment(.patchSetting(.publish(new(key))), comments))
        }
      }
      return edits
    case .isolate(let name):
      guard filled(name) != nil else { return nil }
      let cables = patch.outerCables(of: name, catalogue)
      if cables.isEmpty { throw .noCables(name) }
      return cables.map { .disconnect(patch.name(of: $0.ends)) }
    case .replace(let name, let node):
      let old = try patch.node(named: name)
      // The old inside leaves in any case. A file's inside comes, unless the other edits build one.
      guard node.id.raw == 0,
        filled(name) != nil || fills(node) && !others.contains(where: { $0.builds(inside: name) })
      else { return nil }
      var new = node
      new.name = name
      return try exchanging(old) { (draft: Draft) throws(EditError) in
        try draft.filling(new) { .replace(name, with: $0) }
      }
    case .set(let name, let path, let value, _):
      guard let node = patch[named: name], let kind = catalogue[node.kind], kind.isContainer,
        kind[parameter: path.name]?.fileType == .patch,
        !others.contains(where: { $0.builds(inside: name) })
      else { return nil }
      var new = node.with(id: NodeID(raw: 0))
      new.settings[path] = value
      // Without a file, or with one that is still to be written, the sub-patch keeps its inside.
      guard catalogue.definitionFile(of: new) != catalogue.definitionFile(of: node), fills(new) else {
        return nil
      }
      return try exchanging(node) { (draft: Draft) throws(EditError) in
        try draft.filling(new) { .set(name, path, $0.settings[path], over: nil) }
      }
    case .insert(let node, let cable):
      guard catalogue[node.kind]?.isContainer == true else { return nil }
      let old = try patch.existing(cable, catalogue: catalogue)
      let name = patch.name(of: old.ends)
      let next = patch.shortName(of: old.ends, catalogue: catalogue).destination.node
      var steps: [Edit] = [.disconnect(name)]
      steps += try filling(node) { .add($0, before: next) }
      steps.append(.connect(CableName(name.source, PortName(node.name))))
      steps.append(.connect(CableName(PortName(node.name), name.destination), old.settings))
      return steps
    default: return nil
    }
  }

  /// A node with something inside; nil: it has nothing inside.
  func filled(_ name: String) -> Node? {
    guard let node = patch[named: name], patch.isFilled(node, catalogue) else { return nil }
    return node
  }

  /// True for a sub-patch that gets something inside with its file.
  private func fills(_ node: Node) -> Bool {
    switch inside(for: node) {
    case nil, .missing, .unread: return false
    case .found, .recursive, .tooLarge: return true
    }
  }

  private func publications(inside name: String) -> [(key: String, value: ControlTarget)] {
    patch.settings.publications.filter { NodePath.isInside($0.key, name) }.sorted { $0.key < $1.key }
  }

  /// The edits that remove all that is inside.
  private func emptying(_ name: String, tail: Bool = false) -> [Edit] {
    publications(inside: name).map { .setPatch(.publish($0.key, nil)) }
      + patch.allNodes(inside: name).map { .remove($0.name, bridge: false, tail: tail) }
  }

  /// The edits that add a sub-patch with what its file has. `make`: the edit of the node itself.
  private func filling(_ node: Node, _ make: (Node) -> Edit) throws(EditError) -> [Edit] {
    switch inside(for: node) {
    case nil, .missing, .unread: return [make(node)]
    case .recursive(let path): throw .isInsideItself(path)
    case .tooLarge: throw .tooManyNodes(node.name)
    case .found(let inner):
      guard hasRoom(for: inner) else { throw .tooManyNodes(node.name) }
      // The file comes last: until then the inside is the sub-patch's own, and nothing that happens to it is meant for others.
      var plain = catalogue.withoutPublished(node)
      let values = catalogue.published(of: node)
      let reference = plain.settings.first {
        catalogue[node.kind]?[parameter: $0.key.name]?.fileType == .patch
      }
      if let reference { plain.settings[reference.key] = nil }
      let first = make(plain)
      let next: String?
      if case .add(_, let before) = first {
        next = before
      } else {
        next = patch[named: node.name].flatMap { patch.node(after: $0.id)?.name }
      }
      var edits = [first] + inner.enclosing(node.name, before: next, catalogue: catalogue)
      for (path, value) in values.sorted(by: { $0.key < $1.key }) {
        edits.append(.set(node.name, path, value, over: nil))
      }
      if let reference { edits.append(.set(node.name, reference.key, reference.value, over: nil)) }
      return edits
    }
  }

  /// The edits that change what a node is, one of both being a sub-patch, and lead its cables to ports of the same names, or
  /// else to the first fitting ones.
  private func exchanging(
    _ node: Node, by change: (Draft) throws(EditError) -> [Edit]
  ) throws(EditError) -> [Edit] {
    let name = node.name
    let isFilled = filled(name) != nil
    let cables =
      isFilled
      ? patch.outerCables(of: name, catalogue)
      : patch.cables(into: node.id, catalogue: catalogue) + patch.cables(from: node.id, catalogue: catalogue)
    let names = cables.map { (patch.shortName(of: $0.ends, catalogue: catalogue), patch.name(of: $0.ends)) }
    var scratch = self
    scratch.acceptsUnknownKinds = true
    var edits = names.map { Edit.disconnect($0.1) }
    if isFilled {
      if catalogue.definitionFile(of: node) != nil,
        let file = catalogue[node.kind]?.parameters.first(where: { $0.fileType == .patch })
      {
        edits.append(.set(name, ParameterPath(file.name), nil, over: nil))
      }
      edits += emptying(name)
    }
    for edit in edits { try scratch.apply(edit) }
    let changes = try change(scratch)
    for edit in changes { try scratch.apply(edit) }
    edits += changes
    for (cable, (short, full)) in zip(cables, names) {
      func end(_ short: PortName, _ full: PortName) -> [PortName] {
        guard full.node == name || NodePath.isInside(full.node, name) else { return [full] }
        let port =
          short.node == name
          ? short.port ?? (isFilled ? String(NodePath.last(of: full.node)) : full.port) : nil
        return [PortName(name, port), PortName(name)]
      }
      let wanted = end(short.source, full.source).flatMap { source in
        end(short.destination, full.destination).map { CableName(source, $0) }
      }
      for candidate in wanted {
        guard let ends = try? scratch.patch.fitting(candidate, catalogue: catalogue),
          scratch.patch.cables[ends] == nil,
          (try? scratch.patch.checkScope(of: ends, catalogue: catalogue)) != nil
        else { continue }
        let edit = Edit.connect(scratch.patch.name(of: ends), cable.settings)
        guard (try? scratch.apply(edit)) != nil else { continue }
        edits.append(edit)
        break
      }
    }
    return edits
  }

  /// The cables that join the neighbours of a sub-patch that leaves, sound to sound and events to events.
  private func bridges(over node: Node) -> [Edit] {
    let cables = patch.outerCables(of: node.name, catalogue)
    func isInner(_ id: NodeID) -> Bool { patch[id].map { NodePath.isInside($0.name, node.name) } ?? false }
    let isPort = { (cable: Cable) in
      patch[cable.ends.destination.node].flatMap { catalogue[$0.kind]?.inlet?.name }
        == cable.ends.destination.port
    }
    let sources = cables.filter { !isInner($0.ends.source.node) && isPort($0) }
    let destinations = cables.filter { !isInner($0.ends.destination.node) }
    var edits: [Edit] = []
    for source in sources {
      for destination in destinations where carriesEvents(source.ends) == carriesEvents(destination.ends) {
        let ends = Cable.Ends(source.ends.source, destination.ends.destination)
        guard patch.cables[ends] == nil else { continue }
        var settings = destination.settings
        settings.gain = min(source.settings.gain + settings.gain, Connect.loudest)
        settings.map = settings.map.after(source.settings.map)
        edits.append(.connect(patch.name(of: ends), settings))
      }
    }
    return edits
  }
}

extension Patch {
  /// The edits that give a published parameter another name, with its comments.
  func republishing(_ key: String, as newKey: String, _ target: ControlTarget) -> [Edit] {
    var edits: [Edit] = [.setPatch(.publish(newKey, target))]
    if let comments = settings.comments[.publish(key)] {
      edits.append(.comment(.patchSetting(.publish(newKey)), comments))
    }
    return edits + [.setPatch(.publish(key, nil))]
  }
}

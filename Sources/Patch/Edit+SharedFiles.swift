// Sub-patches that share a file: an edit inside one is made in all.

extension Draft {
  /// What a sub-patch of a file gets inside: what another one of the same file has, whose edits may not be saved, or else what
  /// is in the file. nil: nobody knows files, or the node names none.
  func inside(for node: Node) -> Definition? {
    guard let file = catalogue.definitionFile(of: node),
      let definition = catalogue.definitions?.definition(of: file)
    else { return nil }
    let base: Patch?
    switch definition {
    case .found(let patch): base = patch
    case .missing: base = nil
    case .unread, .recursive, .tooLarge: return definition
    }
    let place = catalogue.place(of: file)
    let peer = patch.sharing(catalogue).first { $0.place == place && $0.node.name != node.name }?.node
    guard let peer else { return definition }
    return .found(patch.definition(inside: peer.name, base: base, catalogue: catalogue))
  }

  /// The same edit in each of the other sub-patches that share the file of the one it changes.
  func mirrored(_ edit: Edit, among others: [Edit]) -> [Edit] {
    guard let scope = scope(of: edit) else { return [] }
    var own: [String] = []
    if case .set(let name, let path, _, _) = edit { own = patch.publishers(of: name, path) }
    for container in [scope] + NodePath.containers(of: scope) {
      guard let node = patch[named: container], let file = catalogue.definitionFile(of: node) else {
        continue
      }
      // A published value is each one's own.
      if own.contains(container) { continue }
      // One that is added with its inside, such as a copy, is like the others in the end.
      if others.contains(where: { $0.adds(container) }) { continue }
      let place = catalogue.place(of: file)
      return patch.sharing(catalogue).filter { $0.place == place && $0.node.id != node.id }.flatMap { peer in
        let there = { (name: String) in
          NodePath.isInside(name, container) ? peer.node.name + name.dropFirst(container.count) : name
        }
        return [edit.renaming(there)] + equalizing(edit, there)
      }
    }
    return []
  }

  /// The settings that another sub-patch of the same file takes over, where both had values of their own until this edit: a
  /// copy of a node with a published parameter, or the end of its publishing. `there`: a node's name in the other one.
  private func equalizing(_ edit: Edit, _ there: (String) -> String) -> [Edit] {
    func difference(_ node: Node, _ other: Node, at name: String) -> [Edit] {
      Set(node.settings.keys).union(other.settings.keys).sorted().compactMap { path in
        node.settings[path] == other.settings[path] ? nil : .set(name, path, node.settings[path], over: nil)
      }
    }
    switch edit {
    case .copy(let name, let newName):
      guard let node = patch[named: name] else { return [] }
      return ([node] + patch.allNodes(inside: name)).flatMap { inner -> [Edit] in
        guard let other = patch[named: there(inner.name)] else { return [] }
        return difference(inner, other, at: there(newName + inner.name.dropFirst(name.count)))
      }
    case .setPatch(.publish(let key, nil)):
      guard let container = NodePath.container(of: key),
        let (name, path) = patch.published(container, ParameterPath(String(NodePath.last(of: key)))),
        let node = patch[named: name], let other = patch[named: there(name)],
        node.settings[path] != other.settings[path]
      else { return [] }
      return [.set(there(name), path, node.settings[path], over: nil)]
    default: return []
    }
  }

  /// The sub-patch that an edit changes; nil: the patch itself.
  private func scope(of edit: Edit) -> String? {
    func scope(_ cable: CableName) -> String? {
      let ends =
        (try? patch.existing(cable, catalogue: catalogue))?.ends
        ?? (try? patch.fitting(cable, catalogue: catalogue))
      return ends.flatMap { patch.scope(of: $0, catalogue: catalogue) }
    }
    switch edit {
    case .add(let node, _): return NodePath.container(of: node.name)
    case .copy(_, let name): return NodePath.container(of: name)
    case .insert(_, let cable), .connect(let cable, _), .disconnect(let cable): return scope(cable)
    case .comment(.cable(let cable), _): return scope(cable)
    case .remove(let name, _, _), .replace(let name, _), .rename(let name, _),
      .move(let name, _), .isolate(let name), .set(let name, _, _, _), .setRange(let name, _, _, _),
      .matrix(let name, _, _), .comment(.node(let name), _), .comment(.setting(let name, _), _),
      .comment(.layout(let name), _), .place(let name, _), .setPatch(.publish(let name, _)),
      .comment(.patchSetting(.publish(let name)), _), .expand(let name), .collapse(_, let name):
      return NodePath.container(of: name)
    default: return nil
    }
  }
}

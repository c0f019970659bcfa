import OrderedCollections

// Lines of scenes about what is inside sub-patches whose files are not there.

extension PatchScene {
  /// The lines that wait for files of sub-patches, in their order.
  package var waitingLines: [Edit] { Array(waiting.values) }

  /// Keeps a line as it is. It takes the place of an earlier one that sets the same.
  mutating func keep(_ line: Edit) {
    var line = line
    if case .setRange(let name, let range, let value, let over) = line, let path = range.single {
      line = .set(name, path, value, over: over)
    }
    waiting[Self.place(of: line)] = line
  }

  /// The line without its value, which tells lines that replace each other.
  private static func place(of line: Edit) -> Edit {
    switch line {
    case .set(let name, let path, _, _): .set(name, path, nil, over: nil)
    case .setRange(let name, let range, _, _): .setRange(name, range, nil, over: nil)
    case .comment(let subject, _): .comment(subject, Comments())
    default: line
    }
  }

  /// The first name in a line that may stand in the file of a sub-patch, and that the scene lacks; nil: there is none.
  func lacking(_ line: Edit, _ catalogue: KindCatalogue) -> String? {
    func isAbsent(_ name: String) -> Bool {
      name.utf8.contains(UInt8(ascii: "/")) && state.id(named: name) == nil
    }
    /// True for what a sub-patch publishes, as long as its file is not there.
    func isUnread(_ key: String) -> Bool {
      NodePath.container(of: key).flatMap { state[named: $0] }.map { state.isEmptyOfFile($0, catalogue) }
        ?? false
    }
    var new: String?
    switch line {
    case .all(let lines): return lines.lazy.compactMap { lacking($0, catalogue) }.first
    case .setPatch(.publish(let key, let target)):
      guard isUnread(key) else { return nil }
      var found: String?
      _ = target?.renaming { name in
        if isAbsent(name) { found = name }
        return name
      }
      return found
    case .comment(.patchSetting(.publish(let key)), _):
      return state.settings.publications[key] == nil && isUnread(key) ? key : nil
    case .add(let node, _), .insert(let node, _): new = node.name
    case .copy(_, let name), .rename(_, let name): new = name
    default: break
    }
    var found: String?
    _ = line.renaming { name in
      if found == nil, name != new, isAbsent(name) { found = name }
      return name
    }
    return found
  }

  /// The sub-patch in whose file a node may be that the scene lacks; nil: none of its sub-patches has one that is not read,
  /// neither here nor in the patch.
  func placeholder(around name: String, beside patch: Patch, _ catalogue: KindCatalogue) -> String? {
    NodePath.containers(of: name).first { container in
      guard let here = state[named: container] else { return false }
      let hasFile = [here, patch[named: container]].contains { $0.flatMap(catalogue.definitionFile) != nil }
      return hasFile && !(patch.hasInside(container) && state.hasInside(container))
    }
  }

  /// True when nothing is inside a sub-patch of a file that another scene has filled.
  func lacksFile(of other: PatchScene, _ catalogue: KindCatalogue) -> Bool {
    if state.revision === other.state.revision { return false }
    let kinds = Set(catalogue.kinds.lazy.filter(\.isContainer).map(\.name))
    guard state.nodes.contains(ofKind: kinds.contains) else { return false }
    return state.nodes.values.contains {
      kinds.contains($0.kind) && other.state.hasInside($0.name) && state.isEmptyOfFile($0, catalogue)
    }
  }

  /// Lines follow a node's new name, and so do those of what is inside.
  mutating func renameInWaiting(_ name: String, to newName: String) {
    if waiting.isEmpty { return }
    let there = { (old: String) in
      old == name ? newName : NodePath.isInside(old, name) ? newName + old.dropFirst(name.count) : old
    }
    waiting = OrderedDictionary(
      waiting.map { ($0.key.renaming(there), $0.value.renaming(there)) }, uniquingKeysWith: { $1 })
  }

  /// Ends the waiting of lines that have what they name, which count now, and of those about a sub-patch that is gone.
  /// Returns true if there were any.
  fileprivate mutating func endWaiting(beside patch: Patch, _ catalogue: KindCatalogue) -> Bool {
    var hasChanged = false
    for (place, line) in waiting {
      let name = lacking(line, catalogue)
      if let name, placeholder(around: name, beside: patch, catalogue) != nil { continue }
      hasChanged = true
      waiting[place] = nil
      // What is refused is about something else of that name.
      if name == nil { try? apply(line, catalogue: catalogue) }
    }
    return hasChanged
  }

  /// True when the same lines wait in another scene, in any order.
  func waits(as other: PatchScene) -> Bool {
    waiting.count == other.waiting.count && waiting.allSatisfy { other.waiting[$0.key] == $0.value }
  }

  /// The lines after which this scene waits as another; nil: it has one too many.
  func lines(toWaitAs other: PatchScene) -> [Edit]? {
    guard waiting.keys.allSatisfy({ other.waiting[$0] != nil }) else { return nil }
    return other.waiting.compactMap { waiting[$0.key] == $0.value ? nil : $0.value }
  }
}

extension Patch {
  /// The node that a line of a scene names, and the sub-patch in whose file it may be; nil: the scene has all that it names.
  /// Throws for a node that is in no file.
  package func waitingNode(
    of edit: Edit, catalogue: KindCatalogue
  ) throws(EditError) -> (name: String, container: String)? {
    guard case .scene(let number, .edit(let line)) = edit, let scene = scenes[number] else { return nil }
    if case .all = line { return nil }
    guard let name = scene.lacking(line, catalogue) else { return nil }
    if let container = scene.placeholder(around: name, beside: self, catalogue) { return (name, container) }
    _ = try scene.state.node(named: name)
    return nil
  }

  /// Ends what waits in scenes for a sub-patch that has left, or has what was waited for. Returns true if there was any:
  /// undo has to give it back.
  package mutating func endWaiting(catalogue: KindCatalogue) -> Bool {
    var hasChanged = false
    for (number, scene) in scenes where !scene.waiting.isEmpty {
      var scene = scene
      guard scene.endWaiting(beside: self, catalogue) else { continue }
      scenes[number] = scene
      hasChanged = true
    }
    return hasChanged
  }

  /// The edits to a scene with its lines that wait, at the places that they have among others when the sub-patches are filled:
  /// nodes come and go first, then values in the order of the nodes, and cables last.
  func withWaiting(_ edits: [Edit], of scene: PatchScene, catalogue: KindCatalogue) -> [Edit] {
    if scene.waiting.isEmpty { return edits }
    let places = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
    /// The place of the node that a line sets, or of the sub-patch around it; those that are nowhere come first.
    func rank(of name: String) -> Int {
      places[name] ?? NodePath.containers(of: name).lazy.compactMap { places[$0] }.first ?? -1
    }
    var nodes: [Edit] = []
    var values: [(rank: Int, line: Edit)] = []
    var others: [Edit] = []
    for line in scene.waiting.values {
      if let name = line.settingNode {
        values.append((rank(of: name), line))
      } else if line.isOfNodes {
        nodes.append(line)
      } else {
        others.append(line)
      }
    }
    values = values.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
      .map(\.element)
    let cut = (edits.lastIndex(where: \.isOfNodes) ?? -1) + 1
    var result = Array(edits[..<cut]) + nodes
    var rest = values[...]
    for edit in edits[cut...] {
      let here = edit.settingNode.map(rank) ?? .max
      while let next = rest.first, next.rank < here {
        result.append(next.line)
        rest.removeFirst()
      }
      result.append(edit)
    }
    return result + rest.map(\.line) + others
  }
}

extension Edit {
  /// The node of which it sets a value.
  fileprivate var settingNode: String? {
    switch self {
    case .set(let name, _, _, _), .setRange(let name, _, _, _): name
    default: nil
    }
  }

  /// True when it adds, replaces or removes nodes.
  fileprivate var isOfNodes: Bool {
    switch self {
    case .add, .remove, .replace, .insert, .copy, .rename, .move: true
    default: false
    }
  }
}

// Sub-patches in scenes: an edit of a stored state means there what it means in the patch.

extension Draft {
  /// The edits that a scene's line stands for. An edit of a sub-patch is one of the nodes inside as well, and of the other
  /// sub-patches of its file. nil: none but the line itself.
  func expansion(of line: Edit, inScene number: Int) throws(EditError) -> Expansion? {
    guard let scene = patch.scenes[number], line.wordOutsideScenes == nil else { return nil }
    if case .all = line { return nil }
    if case .remove(let name, _, _) = line, isGone(name, in: scene) {
      return Expansion(whole: [], peers: [], edits: [], isWritten: false)
    }
    let waiting = try patch.waitingNode(
      of: .scene(number, .edit(line)), isTyped: !acceptsUnknownKinds, catalogue: catalogue)
    guard waiting == nil, scene.lacking(line, catalogue) == nil else { return nil }
    var stored = Draft(patch: scene.whole, catalogue: catalogue)
    // A file may have them.
    stored.acceptsUnknownKinds = true
    let whole = try stored.wholeInScene(line)
    let mirrored = stored.mirrored(line, among: [])
    if whole == nil, mirrored.isEmpty { return nil }
    var steps: [Edit] = []
    do throws(EditError) {
      for step in whole ?? [line] { try stored.apply(step) }
      steps = whole ?? [line]
    } catch {
      // The line about another sub-patch of this file has done it.
      guard !mirrored.isEmpty, isRepeated(line, in: stored.patch) else { throw error }
      return Expansion(whole: [], peers: [], edits: [], isWritten: false)
    }
    // Lines of a file or a journal say it for each.
    for peer in mirrored where !acceptsUnknownKinds {
      var next = stored
      guard let edits = try? next.wholeInScene(peer) ?? [peer],
        (try? next.apply(.joined(edits))) != nil
      else { continue }
      stored = next
      steps += edits
    }
    let edit = Edit.scene(number, .edit(.joined(steps)))
    return Expansion(
      whole: [edit], peers: [], edits: [edit], isWritten: steps.count > (whole ?? [line]).count)
  }

  /// True for a refused line whose work is done: what it removes is in the patch alone, or what it adds is there.
  private func isRepeated(_ line: Edit, in stored: Patch) -> Bool {
    switch line {
    case .remove(let name, _, _): patch.id(named: name) != nil && stored.id(named: name) == nil
    case .disconnect(let cable): (try? patch.existing(cable, catalogue: catalogue)) != nil
    case .add(let node, _): stored[named: node.name]?.kind == node.kind
    default: false
    }
  }

  /// True for what was inside a sub-patch that has left the scene. A difference removes the sub-patch, and then each node inside.
  private func isGone(_ name: String, in scene: PatchScene) -> Bool {
    guard scene.state.id(named: name) == nil, let container = NodePath.container(of: name),
      scene.state.id(named: container) == nil
    else { return false }
    let around = NodePath.containers(of: name).compactMap { patch[named: $0] }
    // A file that is read later may have it.
    if around.contains(where: { patch.isEmptyOfFile($0, catalogue) }) { return false }
    if patch.id(named: name) != nil { return true }
    return acceptsUnknownKinds
      && scene.placeholder(
        around: name, of: .remove(name, bridge: false), beside: patch, catalogue) == nil
  }

  /// The edits of single nodes that an edit of a filled sub-patch stands for. A file's line that adds one, or names another
  /// file, is followed by lines that say what is inside.
  private func wholeInScene(_ line: Edit) throws(EditError) -> [Edit]? {
    switch line {
    case .remove(let name, _, _), .rename(let name, _), .copy(let name, _), .isolate(let name),
      .replace(let name, _):
      filled(name) == nil ? nil : try whole(line, among: [])
    default: nil
    }
  }
}

/// One patch as the file of sub-patches.
private struct OneDefinition: DefinitionSource {
  /// The file's place.
  var place: String
  var patch: Patch
  /// Knows places.
  var others: (any DefinitionSource)?

  var library: [LibrarySubPatch] { [] }
  func libraryFile(named: String) -> String? { nil }
  func place(of file: String) -> String { others?.place(of: file) ?? file }
  func definition(of file: String) -> Definition { place(of: file) == place ? .found(patch) : .unread }
}

extension PatchScene {
  /// The state to which a recall leads: what files have inside sub-patches that the scene has without, and one inside for those
  /// that share a file, the first one's. Lines of a file may say otherwise.
  func recalled(_ catalogue: KindCatalogue) -> Patch {
    var state = whole
    func exchange(_ node: Node, _ catalogue: KindCatalogue) {
      var node = node.with(id: NodeID(raw: 0))
      for own in state.published(by: node.name) {
        let (name, path) = state.published(own.node, own.path) ?? (own.node, own.path)
        guard let value = state[named: name]?.settings[path] else { continue }
        node.settings[ParameterPath(own.name)] = value
      }
      let change = try? state.applying(
        .replace(node.name, with: node), catalogue: catalogue, acceptsUnknownKinds: true)
      if let change { state = change.patch }
    }
    let kinds = Set(catalogue.kinds.lazy.filter(\.isContainer).map(\.name))
    guard state.nodes.contains(ofKind: kinds.contains) else { return state }
    for node in state.nodes.values where kinds.contains(node.kind) && state.isEmptyOfFile(node, catalogue) {
      exchange(node, catalogue)
    }
    var first: [String: String] = [:]
    for (node, place) in state.sharing(catalogue) {
      guard let model = first[place] else {
        first[place] = node.name
        continue
      }
      if state.hasSameInside(node.name, model, catalogue) { continue }
      let patch = state.definition(inside: model, base: nil, catalogue: catalogue)
      let one = OneDefinition(place: place, patch: patch, others: catalogue.definitions)
      exchange(node, catalogue.with(definitions: one))
    }
    return state
  }
}

extension Patch {
  /// True for sub-patches with the same nodes and cables inside; values that both publish may differ.
  fileprivate func hasSameInside(_ one: String, _ other: String, _ catalogue: KindCatalogue) -> Bool {
    let (ours, theirs) = (allNodes(inside: one), allNodes(inside: other))
    guard ours.count == theirs.count else { return false }
    func there(_ name: String) -> String { other + name.dropFirst(one.count) }
    return ours.allSatisfy { node in
      guard let twin = self[named: there(node.name)], twin.kind == node.kind else { return false }
      let paths = Set(node.settings.keys).union(twin.settings.keys)
      let isSame = paths.allSatisfy { path in
        node.settings[path] == twin.settings[path] || publishers(of: node.name, path).contains(one)
      }
      func inner(_ node: Node, _ container: String) -> [CableName: CableSettings] {
        let cables = cables(into: node.id, catalogue: catalogue).filter {
          isWithin($0.ends, container, catalogue)
        }
        return Dictionary(uniqueKeysWithValues: cables.map { (name(of: $0.ends), $0.settings) })
      }
      return isSame
        && Dictionary(
          uniqueKeysWithValues: inner(node, one).map { cable, settings in
            let ends = CableName(
              PortName(there(cable.source.node), cable.source.port),
              PortName(there(cable.destination.node), cable.destination.port))
            return (ends, settings)
          }) == inner(twin, other)
    }
  }
}

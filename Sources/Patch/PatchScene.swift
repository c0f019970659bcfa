/// A stored state of a patch: its nodes with their settings, and its cables. It is absolute: it stays as it was stored
/// while the patch goes on, except that its nodes follow when theirs are renamed. Other programs and their cables, the
/// connections of endpoints (`port`, `connect`, `device`) and the settings of the patch as a whole are no part of it, but
/// for what its sub-patches publish, which comes back with them.
///
/// Nodes are known by their names, and two scenes are equal when their states are: order, comments and places on the
/// screen do not count. They are kept all the same, for nodes that come back by a recall.
public struct PatchScene: Sendable {
  /// Name, for people; may be empty.
  public internal(set) var name: String
  /// Comments of its first line in the file.
  public internal(set) var comments = Comments()
  /// The nodes and cables; their identities mean nothing.
  public internal(set) var state: Patch
  /// Connections of endpoints, by node. They come back with a node that a recall brings back.
  private(set) var links: [String: [ParameterPath: Value]] = [:]
  /// Lines about what is inside sub-patches whose files are not there, by the lines without their values. They wait until a
  /// patch with those files is read.
  var waiting = WaitingLines()

  /// Numbers of scenes.
  public static let numbers = 1...99

  /// The present state of a patch.
  init(of patch: Patch, name: String, catalogue: KindCatalogue) {
    self.name = name
    state = patch
    state.scenes = [:]
    state.settings = PatchSettings()
    state.settings.publications = patch.settings.publications
    for key in patch.settings.publications.keys {
      state.settings.comments[.publish(key)] = patch.settings.comments[.publish(key)]
    }
    state.header = []
    state.footer = []
    state.touched = nil
    settle(state.nodes.keys, catalogue)
  }

  /// Its line in a file; `number`: its own.
  public func line(_ number: Int) -> String {
    Edit.scene(number, .store(name: name.isEmpty ? nil : name)).line
  }

  /// Takes out what is no part of a state from these nodes; the others are as they have to be.
  private mutating func settle(_ changed: some Sequence<NodeID>, _ catalogue: KindCatalogue) {
    state.revision = Revision()
    for id in changed {
      guard let node = state[id], let kind = catalogue[node.kind] else { continue }
      if kind.isClient {
        state.detach(node.id)
        continue
      }
      let connections = node.settings.filter { kind.isConnection($0.key) }
      let links = connections.filter { !kind.isDefault($0.value, at: $0.key) }
      if !links.isEmpty { self.links[node.name, default: [:]].merge(links) { $1 } }
      // A value equal to the default is stored for the sake of its comment only.
      let plain = node.lineComments.keys.compactMap { line -> ParameterPath? in
        guard case .setting(let path) = line, let value = node.settings[path] else { return nil }
        return kind.isDefault(value, at: path) ? path : nil
      }
      guard !connections.isEmpty || !plain.isEmpty else { continue }
      state.update(node.id) { node in
        for path in Array(connections.keys) + plain {
          node.settings[path] = nil
          node.lineComments[.setting(path)] = nil
        }
      }
    }
    for (name, settings) in links {
      let kind = state[named: name].flatMap { catalogue[$0.kind] }
      let present = settings.filter { kind?.isConnection($0.key) ?? false }
      links[name] = present.isEmpty ? nil : present
    }
  }

  /// The state with the connections of its endpoints.
  var whole: Patch {
    var whole = state
    for (name, settings) in links {
      guard let id = whole.id(named: name) else { continue }
      whole.update(id) { $0.settings.merge(settings) { $1 } }
    }
    return whole
  }

  /// Changes the state by an edit that may be in a scene. A file may have such a line for each of thousands of nodes,
  /// so only nodes that the edit touches, and those with connections, are looked at again.
  mutating func apply(_ edit: Edit, catalogue: KindCatalogue) throws(EditError) {
    if let word = edit.wordOutsideScenes { throw .notInScene(word) }
    if lacking(edit, catalogue) != nil {
      guard case .all(let edits) = edit else { return keep(edit) }
      for edit in edits { try apply(edit, catalogue: catalogue) }
      return
    }
    var draft = Draft(patch: whole, catalogue: catalogue)
    // A file may have them, and undo must get them back.
    draft.acceptsUnknownKinds = true
    draft.patch.touched = Touched(since: draft.patch.revision)
    // Were the file there, they would lead to what is inside, and leave with it.
    if case .replace(let name, _) = edit, let node = draft.patch[named: name],
      draft.patch.isEmptyOfFile(node, catalogue)
    {
      for ends in draft.patch.cables(at: node.id) { draft.patch.unplug(ends) }
    }
    try draft.apply(edit)
    var changed = draft.patch.touched?.nodes ?? []
    draft.patch.endPublications(of: changed.compactMap { state[$0] }, catalogue)
    changed.append(contentsOf: links.keys.compactMap { draft.patch.id(named: $0) })
    state = draft.patch
    state.touched = nil
    links = [:]
    settle(changed, catalogue)
  }

  /// True when scenes rename the node, too. They do not follow it into a sub-patch or out of one: the stored state may lack
  /// that sub-patch, or still have it.
  static func follows(_ name: String, to newName: String) -> Bool {
    NodePath.containers(of: name).count == NodePath.containers(of: newName).count
  }

  /// The same for this scene: a node that goes from one of its sub-patches into another one stays where it is in the stored
  /// state. While a sub-patch is renamed with what is inside, only one of the two is there.
  func follows(_ name: String, to newName: String) -> Bool {
    guard Self.follows(name, to: newName) else { return false }
    guard let old = NodePath.container(of: name), let new = NodePath.container(of: newName), old != new else {
      return true
    }
    return state.id(named: old) == nil || state.id(named: new) == nil
  }

  /// Renames a node, unless the scene has another one of the new name.
  mutating func rename(_ name: String, to newName: String) {
    guard follows(name, to: newName), state.id(named: newName) == nil else { return }
    renameInWaiting(name, to: newName)
    guard let id = state.id(named: name) else { return }
    state.rename(id, to: newName)
    state.revision = Revision()
    state.settings = state.settings.renaming { $0 == name ? newName : $0 }
    for (key, target) in state.settings.publications where NodePath.container(of: key) == name {
      let newKey = newName + "/" + NodePath.last(of: key)
      let comments = state.settings.comments[.publish(key)]
      state.settings.set(.publish(key, nil))
      state.settings.set(.publish(newKey, target))
      state.settings.comments[.publish(newKey)] = comments
    }
    if let settings = links.removeValue(forKey: name) { links[newName] = settings }
  }

  /// Takes over what a node that leaves the patch has beside its state: comments, its place on the screen, connections.
  mutating func keep(_ node: Node, kind: KindDescription?) {
    guard let id = state.id(named: node.name), let known = state[id] else { return }
    var kept = known
    kept.comments = node.comments
    kept.place = node.place
    kept.lineComments = node.lineComments.filter { line, _ in
      switch line {
      case .layout: node.place != nil
      case .setting(let path): known.kind == node.kind && known.settings[path] != nil
      }
    }
    let isSame =
      kept.comments == known.comments && kept.place == known.place && kept.lineComments == known.lineComments
    if !isSame {
      state.revision = Revision()
      state.update(id) { $0 = kept }
    }
    guard known.kind == node.kind else { return }
    let connections = node.settings.filter { setting in
      kind.map { $0.isConnection(setting.key) && !$0.isDefault(setting.value, at: setting.key) } ?? false
    }
    guard links[node.name] ?? [:] != connections else { return }
    state.revision = Revision()
    links[node.name] = connections.isEmpty ? nil : connections
  }

  /// Takes over the comments of a cable that leaves the patch.
  mutating func keep(_ comments: Comments, of cable: CableName) {
    guard let source = state.id(named: cable.source.node), let port = cable.source.port,
      let destination = state.id(named: cable.destination.node), let input = cable.destination.port
    else { return }
    let ends = Cable.Ends(PortReference(source, port), PortReference(destination, input))
    guard let known = state.cables[ends], known.comments != comments else { return }
    state.revision = Revision()
    state.update(ends) { $0.comments = comments }
  }

  /// The same scene with other names of nodes; a name that another node has already is not given.
  func renaming(_ names: [String: String]) -> PatchScene {
    var scene = self
    for (name, newName) in names.sorted(by: { $0.key < $1.key }) where name != newName {
      scene.rename(name, to: newName)
    }
    return scene
  }
}

extension PatchScene: Hashable {
  /// True for equal names, comments and states, with the same lines waiting.
  public static func == (a: PatchScene, b: PatchScene) -> Bool {
    guard a.name == b.name, a.comments == b.comments, a.waits(as: b) else { return false }
    return a.state.revision === b.state.revision || a.hasState(of: b)
  }

  /// Hashes the name and the nodes' names.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(Set(state.names))
  }

  /// True for scenes that are equal with all that they keep beside their states.
  func isTwin(of other: PatchScene) -> Bool {
    if state.revision === other.state.revision { return waits(as: other) }
    guard self == other, links == other.links, state.settings == other.state.settings else { return false }
    func remarks(_ patch: Patch) -> [CableName: Comments] {
      Dictionary(uniqueKeysWithValues: patch.cables.values.map { (patch.name(of: $0.ends), $0.comments) })
    }
    if Differing(state, other.state).isEmpty { return true }
    let none = NodeID(raw: 0)
    return state.nodes.values.allSatisfy { $0.with(id: none) == other.state[named: $0.name]?.with(id: none) }
      && remarks(state) == remarks(other.state)
  }

  /// True for the same nodes, settings and cables.
  func hasState(of other: PatchScene) -> Bool {
    let (ours, theirs) = (state, other.state)
    guard ours.nodes.count == theirs.nodes.count, ours.cables.count == theirs.cables.count else {
      return false
    }
    let differing = Differing(ours, theirs)
    for name in differing.nodes {
      guard let node = ours[named: name], let same = theirs[named: name], same.kind == node.kind,
        same.settings == node.settings
      else { return false }
    }
    let receivers = differing.receivers.lazy.compactMap { ours.id(named: $0) }
    for cable in receivers.flatMap({ ours.incoming[$0] ?? [] }).compactMap({ ours.cables[$0] }) {
      let name = ours.name(of: cable.ends)
      guard let source = theirs.id(named: name.source.node),
        let destination = theirs.id(named: name.destination.node),
        let same = theirs.cables[
          Cable.Ends(
            PortReference(source, cable.ends.source.port),
            PortReference(destination, cable.ends.destination.port))],
        same.settings == cable.settings
      else { return false }
    }
    return true
  }
}

/// A change of one of the scenes.
public indirect enum SceneChange: Hashable, Sendable {
  /// Stores the present state of the patch. nil: the name stays.
  case store(name: String?)
  /// Edits the stored state; the patch stays as it is.
  case edit(Edit)
  /// Removes the scene.
  case drop
}

extension KindDescription {
  /// True for a value that need not be stored but for its comment.
  fileprivate func isDefault(_ value: Value, at path: ParameterPath) -> Bool {
    self[parameter: path.name].map { value == $0.defaultValue(at: path) } ?? false
  }

  /// True for a setting that connects an endpoint with what lies outside of the patch.
  func isConnection(_ path: ParameterPath) -> Bool {
    endpoint != nil && self[parameter: path.name]?.form == .text
  }
}

extension Edit {
  /// The verb of an edit that no scene can have; nil for others.
  var wordOutsideScenes: String? {
    switch self {
    case .setPatch(.publish): nil
    case .setPatch(let setting): setting.name.word
    case .scene: "scene"
    case .recall: "recall"
    case .morph: "morph"
    case .fade: "fade"
    case .collapse: "collapse"
    case .expand: "expand"
    case .comment(.header, _): "header"
    case .comment(.footer, _): "footer"
    case .comment(.patchSetting(.publish), _): nil
    case .comment(.patchSetting, _), .comment(.scene, _): "comment"
    case .all(let edits): edits.lazy.compactMap(\.wordOutsideScenes).first
    default: nil
    }
  }
}

extension Patch {
  /// The scene of that number; throws if there is none.
  public func scene(_ number: Int) throws(EditError) -> PatchScene {
    guard let scene = scenes[number] else { throw .noScene(number, known: scenes.keys.sorted()) }
    return scene
  }

  /// Ends what these nodes have published that are no sub-patches any more. The lines of a scene do not say
  /// it, and what is left would count again as soon as one of that name is back.
  fileprivate mutating func endPublications(of nodes: [Node], _ catalogue: KindCatalogue) {
    if settings.publications.isEmpty { return }
    func isContainer(_ node: Node?) -> Bool { node.flatMap { catalogue[$0.kind]?.isContainer } ?? false }
    for node in nodes where isContainer(node) && !isContainer(self[named: node.name]) {
      for key in settings.publications.keys where NodePath.container(of: key) == node.name {
        settings.set(.publish(key, nil))
      }
    }
  }

  /// The edits that lead to the state of a scene.
  public func edits(to scene: PatchScene, catalogue: KindCatalogue) throws(EditError) -> [Edit] {
    try PatchDifference.stateEdits(from: self, to: scene.whole, catalogue: catalogue)
  }

  /// The same in a file: the lines of a scene are read as edits of a state, which knows no published names.
  public func fileEdits(to scene: PatchScene, catalogue: KindCatalogue) throws(EditError) -> [Edit] {
    let edits = try PatchDifference.stateEdits(
      from: PatchScene(of: self, name: "", catalogue: catalogue).whole, to: scene.whole, catalogue: catalogue,
      asLines: true)
    return withWaiting(edits, of: scene, catalogue: catalogue)
  }

  /// True if the patch has the state of the scene.
  public func isAt(_ scene: PatchScene, catalogue: KindCatalogue) -> Bool {
    PatchScene(of: self, name: "", catalogue: catalogue).hasState(of: scene)
  }

  /// Scenes follow a renamed node.
  mutating func renameInScenes(_ name: String, to newName: String) {
    for number in scenes.keys { scenes[number]?.rename(name, to: newName) }
  }

  /// Scenes keep comments and places of a node that is about to leave the patch.
  mutating func keepInScenes(_ node: Node, catalogue: KindCatalogue) {
    if scenes.isEmpty { return }
    for number in scenes.keys { scenes[number]?.keep(node, kind: catalogue[node.kind]) }
    for ends in cablesTouching(node.id) { keepInScenes(ends) }
  }

  /// Scenes keep the comments of a cable that is about to leave the patch.
  mutating func keepInScenes(_ ends: Cable.Ends) {
    guard !scenes.isEmpty, let comments = cables[ends]?.comments else { return }
    let name = self.name(of: ends)
    for number in scenes.keys { scenes[number]?.keep(comments, of: name) }
  }

  /// True when the inverse of an edit takes no node out of the patch, and no cable except by a node's size.
  private func keepsNodes(_ inverse: Edit) -> Bool {
    switch inverse {
    case .set, .setRange, .matrix, .place, .comment, .move: true
    // The scenes' nodes follow, unless one of them had the new name before.
    case .rename(let name, let oldName):
      scenes.values.allSatisfy { $0.follows(name, to: oldName) && $0.state.id(named: name) == nil }
    case .all(let edits): edits.allSatisfy(keepsNodes)
    default: false
    }
  }

  /// The inverse of an edit of this patch, and behind it the edits that give scenes back what they had. Undo takes nodes and
  /// cables out of the patch, whose comments and places the scenes would take over in place of their own.
  /// `hasChanged`: the edit has changed scenes beside.
  func restoringScenes(_ inverse: Edit, after draft: Draft, hasChanged: Bool) -> Edit {
    let keepsAll = !hasChanged && keepsNodes(inverse) && draft.patch.cables.count == cables.count
    if scenes.isEmpty || keepsAll { return inverse }
    var back = Draft(patch: draft.patch, catalogue: draft.catalogue)
    var edits: [Edit] = []
    do throws(EditError) {
      try back.apply(inverse)
      for (number, old) in scenes.sorted(by: { $0.key < $1.key }) {
        if let same = back.patch.scenes[number], same.isTwin(of: old) { continue }
        edits += try PatchDifference.edits(
          of: number, from: back.patch.scenes[number], to: old, in: self, catalogue: draft.catalogue,
          namesPorts: true)
      }
    } catch {
      return inverse
    }
    return edits.isEmpty ? inverse : .all([inverse] + edits)
  }
}

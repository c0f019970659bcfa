// Lines of scenes about what is inside sub-patches whose files are not there.

extension PatchScene {
  /// The lines that wait for files of sub-patches, in their order.
  package var waitingLines: [Edit] { waiting.values }

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
    /// True for what a sub-patch publishes, as long as its file is not there, or that of one around it.
    func isUnread(_ key: String) -> Bool {
      NodePath.containers(of: key).lazy.compactMap { state[named: $0] }.first
        .map { state.isEmptyOfFile($0, catalogue) } ?? false
    }
    var new: String?
    switch line {
    case .all(let lines): return lines.lazy.compactMap { lacking($0, catalogue) }.first
    case .setPatch(.publish(let key, let target)):
      guard isUnread(key) else { return nil }
      // It ends what the file may publish.
      guard let target else { return state.settings.publications[key] == nil ? key : nil }
      var found: String?
      _ = target.renaming { name in
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

  /// The sub-patch in whose file a node may be that a line names and the scene lacks; nil: none of its sub-patches has a file,
  /// neither here nor in the patch. A file that is read may have the node another time.
  func placeholder(
    around name: String, of line: Edit, beside patch: Patch, _ catalogue: KindCatalogue
  ) -> String? {
    // Where a scene lacks a sub-patch, its lines remove that, and then each node inside.
    let isRemoval = if case .remove = line { true } else { false }
    return NodePath.containers(of: name).first { container in
      let (here, there) = (state[named: container], patch[named: container])
      guard here != nil || isRemoval else { return false }
      return [here, there].contains { $0.flatMap(catalogue.definitionFile) != nil }
    }
  }

  /// True when a line of this place waits already.
  func hasWaiting(_ line: Edit) -> Bool { waiting[Self.place(of: line)] != nil }

  /// Takes out what is left inside a sub-patch that the scene lacks: its file has got more since the scene was written.
  fileprivate mutating func removeInside(of container: String, _ catalogue: KindCatalogue) {
    for node in state.allNodes(inside: container) {
      try? apply(.remove(node.name, bridge: false), catalogue: catalogue)
    }
  }

  /// True when nothing is inside a sub-patch of a file that another scene has filled.
  func lacksFile(of other: PatchScene, _ catalogue: KindCatalogue) -> Bool {
    Differing(state, other.state).around.contains { name in
      other.state.hasInside(name) && state[named: name].map { state.isEmptyOfFile($0, catalogue) } ?? false
    }
  }

  /// Lines follow a node's new name, and so do those of what is inside.
  mutating func renameInWaiting(_ name: String, to newName: String) {
    if waiting.isEmpty { return }
    let there = { (old: String) in
      old == name ? newName : NodePath.isInside(old, name) ? newName + old.dropFirst(name.count) : old
    }
    waiting = waiting.renaming(there)
  }

  /// Ends the waiting of lines that have what they name, which count now, and of those about a sub-patch that is gone.
  /// `places`: those that it may end of. Returns true if there were any.
  fileprivate mutating func endWaiting(
    _ places: [Edit], beside patch: Patch, _ catalogue: KindCatalogue
  ) -> Bool {
    var hasChanged = false
    for place in places {
      guard let line = waiting[place] else { continue }
      let name = lacking(line, catalogue)
      if let name, let container = placeholder(around: name, of: line, beside: patch, catalogue) {
        // A sub-patch that the scene lacks is gone with all that its file has inside.
        let isGone = state.id(named: container) == nil && patch.hasInside(container)
        if !isGone { continue }
      }
      hasChanged = true
      waiting[place] = nil
      // A line that is refused is about another element of that name.
      if name == nil { try? apply(line, catalogue: catalogue) }
    }
    return hasChanged
  }

  /// True when the same lines wait in another scene, in any order.
  func waits(as other: PatchScene) -> Bool {
    waiting.differing(from: other.waiting).allSatisfy { waiting[$0] == other.waiting[$0] }
  }

  /// The lines after which this scene waits as another; nil: it has one too many.
  func lines(toWaitAs other: PatchScene) -> [Edit]? {
    let places = other.waiting.differing(from: waiting).filter { waiting[$0] != other.waiting[$0] }
    let lines = places.compactMap { other.waiting[$0] }
    return lines.count == places.count ? lines : nil
  }
}

extension Patch {
  /// The node that a line of a scene names, and the sub-patch in whose file it may be; nil: the scene has all that it names.
  /// Throws for a node that is in no file. `isTyped`: also for one that a file lacks which has been read, unless such a line
  /// waits already.
  package func waitingNode(
    of edit: Edit, isTyped: Bool = false, catalogue: KindCatalogue
  ) throws(EditError) -> (name: String, container: String)? {
    guard case .scene(let number, .edit(let line)) = edit, let scene = scenes[number] else { return nil }
    if case .all = line { return nil }
    guard let name = scene.lacking(line, catalogue) else { return nil }
    if let container = scene.placeholder(around: name, of: line, beside: self, catalogue) {
      let isRead = scene.state.hasInside(container) || scene.state.id(named: container) == nil
      if !isTyped || !hasInside(container) || !isRead || scene.hasWaiting(line) { return (name, container) }
    }
    _ = try scene.state.node(named: name)
    return nil
  }

  /// True when a line of a scene waits.
  package func isWaiting(_ edit: Edit) -> Bool {
    guard case .scene(let number, .edit(let line)) = edit, let scene = scenes[number] else { return false }
    return scene.hasWaiting(line)
  }

  /// Takes out of scenes what is left inside sub-patches that they lack.
  package mutating func removeInsidesInScenes(catalogue: KindCatalogue) {
    let names = sharing(catalogue).map(\.node.name)
    for (number, scene) in scenes {
      for name in names where scene.state.id(named: name) == nil && scene.state.hasInside(name) {
        scenes[number]?.removeInside(of: name, catalogue)
      }
    }
  }

  /// Ends what waits in scenes for a sub-patch that has left, or has what was waited for. Returns true if there was any:
  /// undo has to give it back. `old`: the patch before the edit, in which none has to end any more.
  package mutating func endWaiting(after old: Patch? = nil, catalogue: KindCatalogue) -> Bool {
    var hasChanged = false
    let waiting = scenes.filter { !$0.value.waiting.isEmpty }
    if waiting.isEmpty { return false }
    let same = old.flatMap { hasOtherSubPatches(than: $0, catalogue) ? nil : $0 }
    for (number, var scene) in waiting {
      // There may be thousands of lines, and most edits concern none of them.
      let before = same?.scenes[number].flatMap {
        scene.state.hasOtherSubPatches(than: $0.state, catalogue) ? nil : $0
      }
      let places = before.map { scene.waiting.differing(from: $0.waiting) } ?? scene.waiting.keys
      guard scene.endWaiting(places, beside: self, catalogue) else { continue }
      scenes[number] = scene
      hasChanged = true
    }
    return hasChanged
  }

  /// True when sub-patches may differ, or what is inside or published.
  private func hasOtherSubPatches(than old: Patch, _ catalogue: KindCatalogue) -> Bool {
    let differing = Differing(self, old)
    if !differing.around.isEmpty || settings.publications != old.settings.publications { return true }
    return differing.nodes.contains { name in
      [old[named: name], self[named: name]].contains {
        $0.map { catalogue[$0.kind]?.isContainer != false } ?? false
      }
    }
  }

  /// The edits to a scene with its lines that wait, at the places that they have among others when the sub-patches are filled:
  /// what has the same verb stands together, in the order of the nodes.
  func withWaiting(_ edits: [Edit], of scene: PatchScene, catalogue: KindCatalogue) -> [Edit] {
    if scene.waiting.isEmpty { return edits }
    let numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0 + 1) })
    /// The place of the node that a line is about, or of the innermost sub-patch around it; those that are nowhere come first.
    func place(of edit: Edit) -> ScenePlace {
      var place = edit.scenePlace
      if let name = place.node {
        let around = NodePath.containers(of: name).first { numbers[$0] != nil }
        place.number = numbers[name] ?? around.flatMap { numbers[$0] } ?? 0
      }
      return place
    }
    let lines = scene.waiting.values.map { (place: place(of: $0), line: $0) }.enumerated()
      .sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }.map(\.element)
    // Each line comes after the last edit that is not to follow it.
    var places = edits.map(place)
    for index in places.indices.dropFirst() where places[index].number == 0 {
      // A node that the scene adds: values and cables of such nodes follow those of the ones before them.
      if places[index].stage == places[index - 1].stage { places[index] = places[index - 1] }
    }
    for index in places.indices.dropLast().reversed() {
      places[index] = min(places[index], places[index + 1])
    }
    var result: [Edit] = []
    var rest = lines[...]
    for (edit, place) in zip(edits, places) {
      while let next = rest.first, next.place < place {
        result.append(next.line)
        rest.removeFirst()
      }
      result.append(edit)
    }
    return result + rest.map(\.line)
  }
}

/// Place of an edit among those of a scene in a file.
private struct ScenePlace: Comparable {
  /// Number of its verb's group.
  var stage: Int
  /// The node that it is about; nil: the order of the nodes does not matter.
  var node: String?
  /// Number of that node in the patch.
  var number = Int.max

  static func < (a: ScenePlace, b: ScenePlace) -> Bool { (a.stage, a.number) < (b.stage, b.number) }

  static func == (a: ScenePlace, b: ScenePlace) -> Bool { (a.stage, a.number) == (b.stage, b.number) }
}

extension Edit {
  /// Nodes leave, are replaced, and come; then values and what is published; then cables leave and come.
  fileprivate var scenePlace: ScenePlace {
    switch self {
    case .remove(let name, _, _): ScenePlace(stage: 0, node: name)
    case .replace(let name, _): ScenePlace(stage: 1, node: name)
    case .add, .insert, .copy, .rename, .move: ScenePlace(stage: 2)
    case .set(let name, _, _, _), .setRange(let name, _, _, _): ScenePlace(stage: 3, node: name)
    case .setPatch: ScenePlace(stage: 4)
    case .disconnect(let cable): ScenePlace(stage: 5, node: cable.destination.node)
    case .connect(let cable, _): ScenePlace(stage: 6, node: cable.destination.node)
    default: ScenePlace(stage: 7)
    }
  }
}

// The difference between two states: what a scene in a file consists of, and a recall.

extension Comparison {
  /// In the draft's order throughout, so that the result depends on the two states and that order alone.
  mutating func runState() throws(EditError) {
    let before = draft.patch
    // A line may concern what is inside other sub-patches, too.
    if case .exact = meaning { differing = Differing(before, target) }
    // In a file the sub-patch's line says it, since what a sub-patch publishes goes with it.
    if unnamed == nil {
      try publish(Set(containers(before).filter { !isContainer(target[named: $0]) }), isGone: true)
    }
    for node in nodes(of: before) where target.id(named: node.name) == nil && !isClient(node) {
      // A line has removed it with its sub-patch.
      guard draft.patch.id(named: node.name) != nil else { continue }
      try make(.remove(node.name, bridge: false))
    }
    let old = draft.patch
    for node in nodes(of: old) {
      guard let new = target[named: node.name], let node = draft.patch[named: node.name],
        new.kind != node.kind, !isClient(node)
      else { continue }
      if unnamed != nil, draft.patch.isEmptyOfFile(node, catalogue) { try unplugAll(at: node) }
      try make(.replace(node.name, with: Self.plain(new)))
    }
    try emptyFiles()
    try exchangeInsides(of: before)
    try unplug(waiting: true)
    if nodes(of: target).contains(where: { draft.patch.id(named: $0.name) == nil }) {
      for (node, before) in Arrivals(from: draft.patch, to: target, catalogue: catalogue).list
      where draft.patch.id(named: node.name) == nil {
        try make(.add(Self.plain(node), before: before))
      }
    }
    for node in nodes(of: draft.patch) {
      guard let new = target[named: node.name], new.kind == node.kind else { continue }
      try compareValues(of: new, isPresent: old[named: node.name]?.kind == node.kind)
    }
    try publishOthers(than: before)
    try compareStateCables()
    for node in nodes(of: draft.patch) where old.id(named: node.name) == nil {
      if let new = target[named: node.name] { try compareRemarks(of: new) }
    }
  }

  /// The nodes of a patch that may differ between draft and target, in its order.
  private func nodes(of patch: Patch) -> [Node] { self.nodes(differing?.nodes, of: patch) }

  /// `names`: nil: all.
  private func nodes(_ names: Set<String>?, of patch: Patch) -> [Node] {
    guard let names else { return Array(patch.nodes.values) }
    return patch.inOrder(Set(names.lazy.compactMap { patch.id(named: $0) }))
  }

  /// The cables of the draft that may differ from the target's, in order.
  private var cables: [Cable] {
    nodes(differing?.receivers, of: draft.patch)
      .flatMap { draft.patch.cables(into: $0.id, catalogue: catalogue) }
  }

  /// Empties a sub-patch that leaves its file for an inside of its own. Here, without files, it looks empty; where the
  /// lines are performed its file may have been read.
  private mutating func emptyFiles() throws(EditError) {
    if unnamed == nil { return }
    for node in nodes(differing?.around, of: draft.patch) where draft.patch.isEmptyOfFile(node, catalogue) {
      guard let new = target[named: node.name], target.hasInside(node.name),
        catalogue.definitionFile(of: new) == nil
      else { continue }
      try unplugAll(at: node)
      try make(.replace(node.name, with: Node(name: node.name, kind: node.kind)))
    }
  }

  /// Publishes what the target does in sub-patches that `before` lacks, or whose inside is another one there. Those of other
  /// sub-patches stay: they are no part of a state.
  fileprivate mutating func publishOthers(than before: Patch) throws(EditError) {
    try publish(Set(containers(target).filter { hasOtherInside($0, since: before) }))
  }

  /// Gives these sub-patches the published parameters that they have in the target.
  private mutating func publish(_ containers: Set<String>, isGone: Bool = false) throws(EditError) {
    if containers.isEmpty { return }
    let have = unnamed ?? draft.patch.settings.publications
    let wanted = isGone ? [:] : target.settings.publications
    for key in Set(have.keys).union(wanted.keys).sorted() where have[key] != wanted[key] {
      guard let container = NodePath.container(of: key), containers.contains(container) else { continue }
      try publish(key, wanted[key], target.settings.comments[.publish(key)])
    }
  }

  /// Ends what a sub-patch publishes that is empty in the target, and drops the values that wait at one which is filled there:
  /// the same names stand for what is inside.
  private mutating func exchangeInsides(of before: Patch) throws(EditError) {
    let names = containers(target)
    try publish(Set(names.filter { before.hasInside($0) && !target.hasInside($0) }), isGone: true)
    for name in names where target.hasInside(name) && !draft.patch.hasInside(name) {
      guard let node = draft.patch[named: name] else { continue }
      for path in catalogue.published(of: node).keys.sorted() {
        try make(.set(node.name, path, nil, over: nil))
      }
    }
  }

  /// The sub-patches that may differ between draft and target, or have something inside that does, in the patch's order.
  private func containers(_ patch: Patch) -> [String] {
    nodes(differing.map { $0.nodes.union($0.around) }, of: patch)
      .filter(isContainer).map(\.name)
  }

  private func isContainer(_ node: Node?) -> Bool {
    node.flatMap { catalogue[$0.kind]?.isContainer } ?? false
  }

  private func hasOtherInside(_ container: String, since before: Patch) -> Bool {
    guard target.id(named: container) != nil else { return false }
    let names =
      differing?.nodes
      ?? Set([container] + [before, target].flatMap { $0.allNodes(inside: container).map(\.name) })
    return names.contains { name in
      (name == container || NodePath.isInside(name, container))
        && before[named: name]?.kind != target[named: name]?.kind
    }
  }

  private func isClient(_ node: Node) -> Bool { catalogue[node.kind]?.isClient ?? false }

  /// Compares values, not whether they are stored: a default is stored for its comment's sake.
  private mutating func compareValues(of new: Node, isPresent: Bool) throws(EditError) {
    let kind = catalogue[new.kind]
    // Sizes first: indices are checked against them, and elements beyond them are dropped.
    for isIndexed in [false, true] {
      guard let old = draft.patch[named: new.name], old.settings != new.settings else { return }
      let paths = Set(old.settings.keys).union(new.settings.keys).filter { $0.indices.isEmpty != isIndexed }
      for path in paths.sorted() where old.settings[path] != new.settings[path] {
        if isPresent, kind?.isConnection(path) ?? false { continue }
        let standard = kind?[parameter: path.name]?.defaultValue(at: path)
        if (old.settings[path] ?? standard) == (new.settings[path] ?? standard) { continue }
        // Gone with another one: with its file a sub-patch loses what waits for that.
        if new.settings[path] == nil, draft.patch[named: new.name]?.settings[path] == nil, standard == nil {
          continue
        }
        try make(.set(new.name, path, new.settings[path] == standard ? nil : new.settings[path], over: nil))
      }
    }
  }

  /// Disconnects cables that the target does not have. `waiting`: only those that wait for a port of a sub-patch.
  private mutating func unplug(waiting: Bool = false) throws(EditError) {
    for cable in cables
    where !draft.patch.isOutside(cable.ends, catalogue: catalogue) && (!waiting || isWaiting(cable.ends)) {
      guard counterpart(of: cable.ends, from: draft.patch, in: target) == nil else { continue }
      try make(.disconnect(cableName(of: cable.ends)))
    }
  }

  /// Disconnects all cables of a sub-patch that is to be another node. A line of a scene does so by itself, and must mean the
  /// same when the sub-patch is filled.
  private mutating func unplugAll(at node: Node) throws(EditError) {
    for ends in draft.patch.orderedCables(catalogue: catalogue).map(\.ends)
    where [ends.source.node, ends.destination.node].contains(node.id)
      && !draft.patch.isOutside(ends, catalogue: catalogue)
    {
      try make(.disconnect(cableName(of: ends)))
    }
  }

  /// True for a cable that waits for a port of a sub-patch which is about to have something inside. As soon as there is such a
  /// port, it has the cable's name.
  private func isWaiting(_ ends: Cable.Ends) -> Bool {
    [ends.source.node, ends.destination.node].contains { id in
      guard let node = draft.patch[id] else { return false }
      return catalogue[node.kind]?.isContainer == true && target.hasInside(node.name)
    }
  }

  private mutating func compareStateCables() throws(EditError) {
    try unplug()
    for name in nodes(differing?.receivers, of: draft.patch).map(\.name) {
      guard let id = target.id(named: name) else { continue }
      for cable in target.cables(into: id, catalogue: catalogue) {
        guard let source = draft.patch[named: target.name(of: cable.ends).source.node], !isClient(source),
          let destination = draft.patch[named: name], !isClient(destination)
        else { continue }
        let ends = try draft.patch.fitting(target.name(of: cable.ends), catalogue: catalogue)
        let present = draft.patch.cables[ends]
        if present?.settings == cable.settings { continue }
        let short = cableName(of: ends)
        try make(.connect(short, cable.settings))
        if present == nil, !cable.comments.isEmpty { try make(.comment(.cable(short), cable.comments)) }
      }
    }
  }

  /// Comments of the cables that both have.
  mutating func compareCableRemarks() throws(EditError) {
    for cable in draft.patch.orderedCables(catalogue: catalogue) {
      guard let new = counterpart(of: cable.ends, from: draft.patch, in: target),
        new.comments != cable.comments
      else { continue }
      let name = cableName(of: cable.ends)
      try make(.comment(.cable(name), new.comments))
    }
  }

  /// The cable between the ports of the same names.
  private func counterpart(of ends: Cable.Ends, from patch: Patch, in other: Patch) -> Cable? {
    let name = patch.name(of: ends)
    guard let source = other.id(named: name.source.node),
      let destination = other.id(named: name.destination.node)
    else { return nil }
    return other.cables[
      Cable.Ends(
        PortReference(source, ends.source.port), PortReference(destination, ends.destination.port))]
  }
}

// MARK: Scenes

extension PatchDifference {
  /// The edits that make one scene another one, in a file beside `patch` to the letter. `old`: nil if there is none yet,
  /// then it is stored first. `namesPorts`: for undo. Equal scenes may have the outlets of a sub-patch in different orders,
  /// and the first one is the one that the sub-patch's name stands for. `areLines`: each means what it means in a script.
  static func edits(
    of number: Int, from old: PatchScene?, to new: PatchScene, in patch: Patch, catalogue: KindCatalogue,
    namesPorts: Bool = false, areLines: Bool = false
  ) throws(EditError) -> [Edit] {
    func edits(isStored: Bool) throws(EditError) -> [Edit] {
      var work = SceneWork(number, of: patch, from: old, areLines: areLines, catalogue)
      try work.lead(to: new, namesPorts: namesPorts, isStored: isStored)
      return work.edits
    }
    do throws(EditError) {
      return try edits(isStored: false)
    } catch {
      // A rename has led a node of the scene into a sub-patch of which lines wait.
      return try edits(isStored: true)
    }
  }
}

/// A scene under change.
private struct SceneWork {
  let number: Int
  /// The patch beside the scene. Where lines are performed, it has the scene.
  var patch: Patch
  var here: PatchScene
  let old: PatchScene?
  let areLines: Bool
  let catalogue: KindCatalogue
  private(set) var edits: [Edit] = []

  init(_ number: Int, of patch: Patch, from old: PatchScene?, areLines: Bool, _ catalogue: KindCatalogue) {
    (self.number, self.patch, self.old, self.areLines) = (number, patch, old, areLines)
    self.catalogue = catalogue
    here = old ?? PatchScene(of: patch, name: "", catalogue: catalogue)
    if areLines { self.patch.scenes[number] = old }
  }

  /// `isStored`: it is stored first in any case.
  mutating func lead(to new: PatchScene, namesPorts: Bool, isStored: Bool) throws(EditError) {
    if isStored || old == nil || here.name != new.name || here.lines(toWaitAs: new) == nil
      || here.lacksFile(of: new, catalogue) || new.lacksFile(of: here, catalogue)
    {
      try make(.store(name: new.name))
    }
    if here.state.revision !== new.state.revision, !here.hasState(of: new) {
      try compare(with: new) { (comparison: inout Comparison) throws(EditError) in
        comparison.namesPorts = namesPorts
        comparison.forgetPublications()
        try comparison.runState()
      }
    }
    for line in here.lines(toWaitAs: new) ?? [] { try make(.edit(line)) }
    try compareRemarks(with: new)
    if namesPorts { try comparePublications(with: new) }
    if (old?.comments ?? Comments()) != new.comments {
      edits.append(.comment(.scene(number), new.comments))
    }
  }

  private mutating func make(_ change: SceneChange) throws(EditError) {
    let edit = Edit.scene(number, change)
    edits.append(edit)
    if areLines {
      patch = try patch.performing(edit, catalogue: catalogue)
      here = try patch.scene(number)
      return
    }
    switch change {
    case .store(let name): here = PatchScene(of: patch, name: name ?? "", catalogue: catalogue)
    case .edit(let edit): try here.apply(edit, catalogue: catalogue)
    case .drop: break
    }
  }

  /// Makes the edits of a comparison with the wanted scene.
  private mutating func compare(
    with new: PatchScene, _ run: (inout Comparison) throws(EditError) -> Void
  ) throws(EditError) {
    var comparison = Comparison(from: here.whole, to: new.whole, catalogue: catalogue)
    if areLines { comparison.meaning = .ofSceneLine(number, patch) }
    try run(&comparison)
    guard case .ofSceneLine(_, let after) = comparison.meaning else {
      for edit in comparison.edits { try make(.edit(edit)) }
      return
    }
    edits += comparison.edits.map { .scene(number, .edit($0)) }
    patch = after
    here = try after.scene(number)
  }

  /// Publications of sub-patches that are the same in the patch. No line says them, but they count as soon as they
  /// are others there.
  private mutating func comparePublications(with new: PatchScene) throws(EditError) {
    let (old, wanted) = (here.state.settings, new.state.settings)
    for edit in old.edits(to: wanted) where here.lacking(edit, catalogue) == nil {
      try make(.edit(edit))
    }
  }

  /// Differences of what two scenes of one state keep for nodes and cables that the patch does not have: comments, places,
  /// connections and published parameters.
  private mutating func compareRemarks(with new: PatchScene) throws(EditError) {
    if here.links == new.links, here.state.settings == new.state.settings,
      Differing(here.state, new.state).isEmpty
    {
      return
    }
    let (lines, wanted) = (
      try patch.edits(to: here, catalogue: catalogue), try patch.edits(to: new, catalogue: catalogue)
    )
    if lines == wanted { return }
    let (links, patch) = (here.links, patch)
    try compare(with: new) { (comparison: inout Comparison) throws(EditError) in
      for node in new.state.nodes.values where patch[named: node.name]?.kind != node.kind {
        let (old, wanted) = (links[node.name] ?? [:], new.links[node.name] ?? [:])
        for path in Set(old.keys).union(wanted.keys).sorted() where old[path] != wanted[path] {
          try comparison.make(.set(node.name, path, wanted[path], over: nil))
        }
      }
      for node in new.whole.nodes.values where patch.id(named: node.name) == nil {
        try comparison.compareRemarks(of: node)
      }
      try comparison.publishOthers(than: patch)
      try comparison.compareCableRemarks()
    }
  }
}

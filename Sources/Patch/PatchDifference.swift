/// The edits that lead from one document to another.
public enum PatchDifference {
  /// The edits that turn `old` into the document `new`, applied one after the other: its nodes, settings,
  /// cables, comments, places and order. Nodes are matched by name, and renamed nodes by similarity. Nodes
  /// that stay keep their identities from `old`. Empty if both are the same document.
  ///
  /// Throws if `new` has a state that no edit could produce; a patch read from a file never does.
  public static func edits(
    from old: Patch, to new: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> [Edit] {
    var comparison = Comparison(from: old, to: new, catalogue: catalogue)
    try comparison.run()
    return comparison.edits
  }

  /// The edits that lead from the state of one patch to that of another, as a recall does. Nodes are matched by name
  /// alone. What is no part of a state stays: other programs and their cables, connections of endpoints, settings of the
  /// patch as a whole. Nodes that stay also keep their comments and places, and the order of the file.
  ///
  /// `asLines`: edits use no published name. Lines of a scene need that, since the file's patch may publish other parameters
  /// when they are read. `namesPorts`: cables name their ports, also those that stand for a node.
  static func stateEdits(
    from old: Patch, to new: Patch, catalogue: KindCatalogue, asLines: Bool = false, namesPorts: Bool = false
  ) throws(EditError) -> [Edit] {
    var comparison = Comparison(from: old, to: new, catalogue: catalogue)
    comparison.namesPorts = namesPorts
    if asLines { comparison.forgetPublications() }
    try comparison.runState()
    return comparison.edits
  }
}

/// Applies the edits to a draft one by one, so that each step sees the effects of the ones before: sizes cut
/// settings and maps, a replacement moves cables.
struct Comparison {
  var draft: Draft
  let target: Patch
  let catalogue: KindCatalogue
  private(set) var edits: [Edit] = []
  /// Edits of cables name the ports.
  var namesPorts = false
  /// Publications of the draft, kept aside so that no edit uses their names; nil: the draft has them.
  private(set) var unnamed: [String: ControlTarget]?

  init(from old: Patch, to new: Patch, catalogue: KindCatalogue) {
    draft = Draft(patch: old, catalogue: catalogue)
    draft.acceptsUnknownKinds = true
    target = new
    self.catalogue = catalogue
  }

  /// The name of a cable of the draft.
  func cableName(of ends: Cable.Ends) -> CableName {
    namesPorts
      ? draft.patch.portName(of: ends, catalogue: catalogue)
      : draft.patch.shortName(of: ends, catalogue: catalogue)
  }

  mutating func forgetPublications() {
    unnamed = draft.patch.settings.publications
    draft.patch.settings.publications = [:]
  }

  /// Publishes a parameter; nil as the target ends it.
  mutating func publish(_ key: String, _ target: ControlTarget?, _ comments: Comments?) throws(EditError) {
    var steps: [Edit] = [.setPatch(.publish(key, target))]
    if let comments, target != nil { steps.append(.comment(.patchSetting(.publish(key)), comments)) }
    if unnamed == nil {
      for step in steps { try make(step) }
    } else {
      unnamed?[key] = target
      edits += steps
    }
  }

  mutating func make(_ edit: Edit) throws(EditError) {
    try draft.apply(edit)
    edits.append(edit)
  }

  mutating func run() throws(EditError) {
    if draft.patch.revision === target.revision { return }
    let later = try compareNames()
    try compareKinds()
    try dropWaiting()
    for (node, name) in later { try make(.rename(node, to: name)) }
    try compareOrder()
    for node in target.nodes.values { try compareSettings(of: node) }
    try comparePublications()
    try compareCables()
    try comparePatchSettings()
    for node in target.nodes.values { try compareRemarks(of: node) }
    for number in Set(draft.patch.scenes.keys).union(target.scenes.keys).sorted() {
      guard let new = target.scenes[number] else {
        try make(.scene(number, .drop))
        continue
      }
      let old = draft.patch.scenes[number]
      let edits = try PatchDifference.edits(
        of: number, from: old, to: new, in: draft.patch, catalogue: catalogue)
      for edit in edits { try make(edit) }
    }
    if draft.patch.header != target.header { try make(.comment(.header, Comments(before: target.header))) }
    if draft.patch.footer != target.footer { try make(.comment(.footer, Comments(before: target.footer))) }
  }

  /// Publishes what a cable from outside may lead to. What is no longer published has cables until they are compared.
  private mutating func comparePublications() throws(EditError) {
    for edit in draft.patch.settings.edits(to: target.settings) {
      if case .setPatch(.publish(_, .some)) = edit { try make(edit) }
    }
  }

  private mutating func comparePatchSettings() throws(EditError) {
    for edit in draft.patch.settings.edits(to: target.settings) { try make(edit) }
  }

  // MARK: Nodes

  /// Returns the nodes, with their new names, that go into a node that is no sub-patch before its kind is another.
  private mutating func compareNames() throws(EditError) -> [(node: String, name: String)] {
    let matching = NodeMatching(from: draft.patch, to: target)
    try emptyFiles(matching)
    // The innermost first: an edit of a sub-patch is one of what is still inside.
    let nodes = draft.patch.nodes.values.enumerated().sorted {
      ($1.element.depth, $0.offset) < ($0.element.depth, $1.offset)
    }.map(\.element)
    var later: [(node: String, name: String)] = []
    for node in nodes {
      guard let name = matching.newer[node.id].flatMap({ target[$0]?.name }), name != node.name else {
        continue
      }
      let edit = Edit.rename(node.name, to: name)
      do throws(EditError) {
        try draft.checkContainer(of: edit)
      } catch {
        later.append((node.name, name))
        continue
      }
      try make(edit)
    }
    let waiting = Set(later.map { $0.node })
    for node in nodes.compactMap({ draft.patch[$0.id] })
    where target.id(named: node.name) == nil && !waiting.contains(node.name) {
      try make(.remove(node.name, bridge: false))
    }
    return later
  }

  private mutating func compareKinds() throws(EditError) {
    for node in draft.patch.nodes.values {
      guard let new = target[named: node.name], new.kind != node.kind else { continue }
      try make(.replace(node.name, with: Self.plain(new)))
    }
  }

  /// Empties sub-patches whose inside is no longer in a file. Here they may be empty already, as files are not read; where they
  /// are read, the lines that follow say all that is inside. Renamed nodes may be the first of it.
  private mutating func emptyFiles(_ matching: NodeMatching) throws(EditError) {
    for node in draft.patch.nodes.values where draft.patch.isEmptyOfFile(node, catalogue) {
      guard let new = matching.newer[node.id].flatMap({ target[$0] }), target.hasInside(new.name) else {
        continue
      }
      try dropWaiting(at: node)
      guard catalogue.definitionFile(of: new) == nil else { continue }
      try make(.replace(node.name, with: Node(name: node.name, kind: node.kind)))
    }
  }

  /// Drops the values and cables that wait at a sub-patch.
  private mutating func dropWaiting(at node: Node) throws(EditError) {
    for path in catalogue.published(of: node).keys.sorted() {
      try make(.set(node.name, path, nil, over: nil))
    }
    for cable in draft.patch.orderedCables(catalogue: catalogue)
    where cable.ends.source.node == node.id || cable.ends.destination.node == node.id {
      try make(.disconnect(draft.patch.name(of: cable.ends)))
    }
  }

  /// Drops what waits at sub-patches for their missing files, values and cables, before something is inside: then the same
  /// names stand for what is inside. And ends what they publish, where they are empty now.
  private mutating func dropWaiting() throws(EditError) {
    for key in draft.patch.settings.publications.keys.sorted()
    where target.settings.publications[key] == nil {
      guard let container = NodePath.container(of: key), !draft.patch.hasInside(container) else { continue }
      try make(.setPatch(.publish(key, nil)))
    }
    for node in draft.patch.nodes.values
    where target.hasInside(node.name) && !draft.patch.hasInside(node.name) { try dropWaiting(at: node) }
  }

  /// The node with the settings of its first line only; the rest follows.
  static func plain(_ node: Node) -> Node {
    Node(name: node.name, kind: node.kind, settings: node.settings.filter { $0.key.indices.isEmpty })
  }

  /// Moves as few nodes as possible, then adds new nodes at their places.
  private mutating func compareOrder() throws(EditError) {
    let old = draft.patch.names
    let staying = target.names.filter { draft.patch.id(named: $0) != nil }
    if old != staying {
      let places = Dictionary(uniqueKeysWithValues: staying.enumerated().map { ($1, $0) })
      let kept = Set(Self.longestIncreasing(old.compactMap { places[$0] }).map { staying[$0] })
      var next: String?
      for name in staying.reversed() {
        if !kept.contains(name) { try make(.move(name, before: next)) }
        next = name
      }
    }
    var new: [Node] = []
    for node in target.nodes.values {
      if draft.patch.id(named: node.name) == nil {
        new.append(node)
        continue
      }
      for added in new { try make(.add(Self.plain(added), before: node.name)) }
      new = []
    }
    for added in new { try make(.add(Self.plain(added), before: nil)) }
  }

  /// A longest increasing subsequence of distinct numbers (patience sorting: Fredman, "On computing the
  /// length of longest increasing subsequences", 1975).
  private static func longestIncreasing(_ numbers: [Int]) -> [Int] {
    // For each length: the end of the subsequence of that length with the lowest end.
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: numbers.count)
    for index in numbers.indices {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < numbers[index] { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var result: [Int] = []
    var index = ends.last
    while let here = index {
      result.append(numbers[here])
      index = previous[here]
    }
    return result.reversed()
  }

  // MARK: Properties of nodes

  private mutating func compareSettings(of new: Node) throws(EditError) {
    // Sizes first: indices are checked against them, and elements beyond them are dropped.
    for isIndexed in [false, true] {
      guard let old = draft.patch[named: new.name], old.settings != new.settings else { return }
      let paths = Set(old.settings.keys).union(new.settings.keys).filter { $0.indices.isEmpty != isIndexed }
      for path in paths.sorted() where old.settings[path] != new.settings[path] {
        // A value equal to the default is stored for its comment, which follows later.
        let standard = catalogue[new.kind]?[parameter: path.name]?.defaultValue(at: path)
        let value = new.settings[path] == standard ? nil : new.settings[path]
        if value == nil, old.settings[path] == nil { continue }
        try make(.set(new.name, path, value, over: nil))
      }
    }
  }

  mutating func compareRemarks(of new: Node) throws(EditError) {
    guard let old = draft.patch[named: new.name] else { return }
    let name = new.name
    if old.comments != new.comments { try make(.comment(.node(name), new.comments)) }
    if old.place != new.place { try make(.place(name, new.place)) }
    let lines = Set(old.lineComments.keys).union(new.lineComments.keys)
    for line in lines.sorted(by: { $0.order < $1.order }) {
      let comments = new.lineComments[line]
      guard let old = draft.patch[named: name], old.lineComments[line] != comments else { continue }
      switch line {
      case .setting(let path): try make(.comment(.setting(name, path), comments ?? Comments()))
      case .layout: try make(.comment(.layout(name), comments ?? Comments()))
      }
    }
  }

  // MARK: Cables

  private mutating func compareCables() throws(EditError) {
    let old = draft.patch.orderedCables(catalogue: catalogue)
    let wanted = Set(target.cables.keys.map { target.name(of: $0) })
    for cable in old where !wanted.contains(draft.patch.name(of: cable.ends)) {
      try make(.disconnect(cableName(of: cable.ends)))
    }
    for cable in target.orderedCables(catalogue: catalogue) {
      let ends = try draft.patch.fitting(target.name(of: cable.ends), catalogue: catalogue)
      let name = cableName(of: ends)
      let present = draft.patch.cables[ends]
      if present?.settings != cable.settings { try make(.connect(name, cable.settings)) }
      guard (present?.comments ?? Comments()) != cable.comments else { continue }
      try make(.comment(.cable(name), cable.comments))
    }
  }
}

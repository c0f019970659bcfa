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

  /// The same as lines of a script, which are performed one after the other on `old`: each edit means what it means there, for
  /// what is inside a sub-patch and for those that share its file. Both patches are read with the files of `catalogue`.
  public static func script(
    from old: Patch, to new: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> [Edit] {
    var comparison = Comparison(from: old, to: new, catalogue: catalogue)
    comparison.meaning = .ofLine
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
  /// Effect of an edit on the draft.
  enum Meaning {
    /// That of the edit alone, as for a step of undo or a line in a file.
    case exact
    /// That of a line: it concerns what is inside a sub-patch, and others with its file.
    case ofLine
    /// The draft is the state of a scene in this patch, and each edit a line of that scene.
    case ofSceneLine(Int, Patch)
  }

  var draft: Draft
  var meaning = Meaning.exact
  let target: Patch
  let catalogue: KindCatalogue
  private(set) var edits: [Edit] = []
  /// Parts of draft and target that may differ; nil: all may.
  var differing: Differing?
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
    if case .exact = meaning, unnamed != nil {
      unnamed?[key] = target
      edits += steps
    } else {
      for step in steps { try make(step) }
    }
  }

  mutating func make(_ edit: Edit) throws(EditError) {
    switch meaning {
    case .exact: try draft.apply(edit)
    case .ofLine: draft.patch = try draft.patch.performing(edit, catalogue: catalogue)
    case .ofSceneLine(let number, let patch):
      let after = try patch.performing(.scene(number, .edit(edit)), catalogue: catalogue)
      meaning = .ofSceneLine(number, after)
      draft.patch = try after.scene(number).whole
      if unnamed != nil { forgetPublications() }
    }
    edits.append(edit)
  }

  mutating func run() throws(EditError) {
    if draft.patch.revision === target.revision { return }
    let later = try compareNames()
    try compareKinds()
    try takeFiles()
    try dropWaiting()
    for (id, name) in later {
      if let node = draft.patch[id] { try make(.rename(node.name, to: name)) }
    }
    try compareOrder()
    for node in target.nodes.values { try compareSettings(of: node) }
    try comparePublications()
    try compareCables()
    try comparePatchSettings()
    for node in target.nodes.values where !isInFile(node.name, of: target) { try compareRemarks(of: node) }
    for number in Set(draft.patch.scenes.keys).union(target.scenes.keys).sorted() {
      guard let new = target.scenes[number] else {
        try make(.scene(number, .drop))
        continue
      }
      let edits = try PatchDifference.edits(
        of: number, from: draft.patch.scenes[number], to: new, in: draft.patch, catalogue: catalogue,
        areLines: isOfLines)
      for edit in edits { try make(edit) }
    }
    if draft.patch.header != target.header { try make(.comment(.header, Comments(before: target.header))) }
    if draft.patch.footer != target.footer { try make(.comment(.footer, Comments(before: target.footer))) }
  }

  /// Publishes what a cable from outside may lead to. What is no longer published has cables until they are compared.
  private mutating func comparePublications() throws(EditError) {
    for edit in settingsEdits {
      if case .setPatch(.publish(_, .some)) = edit { try make(edit) }
    }
  }

  private mutating func comparePatchSettings() throws(EditError) {
    for edit in settingsEdits { try make(edit) }
  }

  private var settingsEdits: [Edit] {
    draft.patch.settings.edits(to: target.settings).filter {
      switch $0 {
      case .setPatch(.publish(let key, _)), .comment(.patchSetting(.publish(let key)), _):
        !isInFile(key, of: target)
      default: true
      }
    }
  }

  // MARK: Files of sub-patches

  /// Lines are compared, not edits of single nodes.
  private var isOfLines: Bool { if case .ofLine = meaning { true } else { false } }

  /// True for what the file of a sub-patch has. It comes, leaves and changes with that file, and no line of the patch says it.
  private func isInFile(_ name: String, of patch: Patch) -> Bool {
    isOfLines && NodePath.containers(of: name).contains { hasFile($0, in: patch) }
  }

  /// The same for a cable.
  private func isInFile(_ cable: Cable, of patch: Patch) -> Bool {
    guard isOfLines, let scope = patch.scope(of: cable.ends, catalogue: catalogue) else { return false }
    return hasFile(scope, in: patch) || isInFile(scope, of: patch)
  }

  /// True for a node whose path a file will fill, while the sub-patch of that file is not there yet.
  private func isInWayOfFile(_ name: String) -> Bool {
    NodePath.containers(of: name).contains { container in
      hasFile(container, in: target)
        && draft.patch[named: container].flatMap { catalogue[$0.kind]?.isContainer } != true
    }
  }

  private func hasFile(_ container: String, in patch: Patch) -> Bool {
    patch[named: container].flatMap(catalogue.definition) != nil
  }

  /// Takes the file away from sub-patches whose inside is another one, and not that of another file: what follows is then an edit
  /// of this sub-patch alone.
  private mutating func leaveFiles(_ matching: NodeMatching) throws(EditError) {
    guard isOfLines else { return }
    for node in draft.patch.nodes.values where catalogue.definition(of: node) != nil {
      guard !isInFile(node.name, of: draft.patch), let new = matching.newer[node.id].flatMap({ target[$0] }),
        new.kind == node.kind, catalogue.definitionFile(of: new) != catalogue.definitionFile(of: node),
        catalogue.definition(of: new) == nil, let path = catalogue.filePath(of: node)
      else { continue }
      try make(.set(node.name, path, nil, over: nil))
    }
  }

  /// Gives sub-patches the files that they have in the target, with what is inside.
  private mutating func takeFiles() throws(EditError) {
    guard isOfLines else { return }
    for node in draft.patch.nodes.values where catalogue[node.kind]?.isContainer == true {
      guard let new = target[named: node.name], new.kind == node.kind, catalogue.definition(of: new) != nil,
        catalogue.definitionFile(of: new) != catalogue.definitionFile(of: node),
        !isInFile(node.name, of: target), let path = catalogue.filePath(of: node)
      else { continue }
      if !draft.patch.hasInside(node.name) { try dropWaiting(at: node) }
      try make(.set(node.name, path, new.settings[path], over: nil))
    }
  }

  /// The values that each sub-patch of a file has for itself, under the names that it publishes.
  private mutating func compareOwnValues(of new: Node) throws(EditError) {
    for own in target.published(by: new.name) {
      func value(_ patch: Patch) -> Value? {
        let (name, path) = patch.published(own.node, own.path) ?? (own.node, own.path)
        return patch[named: name]?.settings[path]
      }
      let wanted = value(target)
      if value(draft.patch) != wanted {
        try make(.set(new.name, ParameterPath(own.name), wanted, over: nil))
      }
    }
  }

  // MARK: Nodes

  /// Returns the nodes, with their new names, that go into a node that is no sub-patch before its kind is another, or that
  /// take the name of one that leaves.
  private mutating func compareNames() throws(EditError) -> [(node: NodeID, name: String)] {
    let matching = NodeMatching(from: draft.patch, to: target)
    try emptyFiles(matching)
    try leaveFiles(matching)
    for id in draft.patch.nodes.keys where isOfLines {
      if let node = draft.patch[id], isInWayOfFile(node.name) { try make(.remove(node.name, bridge: false)) }
    }
    // An edit of a sub-patch is one of what is still inside. A line renames and removes that too; edits of single nodes come for
    // the innermost first.
    let nodes = draft.patch.nodes.values.enumerated().sorted { a, b in
      let (here, there) = isOfLines ? (a.element, b.element) : (b.element, a.element)
      return (here.depth, a.offset) < (there.depth, b.offset)
    }.map(\.element.id)
    var later: [(node: NodeID, name: String)] = []
    for id in nodes {
      guard let node = draft.patch[id], let name = matching.newer[id].flatMap({ target[$0]?.name }),
        name != node.name, !isInFile(node.name, of: draft.patch), !isInFile(name, of: target)
      else { continue }
      let edit = Edit.rename(node.name, to: name)
      do throws(EditError) {
        if draft.patch.id(named: name) != nil { throw .nodeExists(name, isNew: false) }
        try draft.checkContainer(of: edit)
        try make(edit)
      } catch {
        later.append((id, name))
      }
    }
    let waiting = Set(later.map(\.node))
    for id in nodes where !waiting.contains(id) {
      guard let node = draft.patch[id], target.id(named: node.name) == nil,
        !isInFile(node.name, of: draft.patch), !isInFile(node.name, of: target)
      else { continue }
      try make(.remove(node.name, bridge: false))
    }
    return later
  }

  private mutating func compareKinds() throws(EditError) {
    for id in draft.patch.nodes.keys {
      guard let node = draft.patch[id], let new = target[named: node.name], new.kind != node.kind,
        !isInFile(node.name, of: draft.patch), !isInFile(node.name, of: target)
      else { continue }
      try make(.replace(node.name, with: line(of: new)))
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

  /// The same with the values of its own that a sub-patch of a file has.
  private func line(of node: Node) -> Node {
    var line = Self.plain(node)
    guard isOfLines, let base = catalogue.definition(of: node) else { return line }
    for own in target.ownValues(of: node, base: base, catalogue: catalogue) {
      line.settings[ParameterPath(own.name)] = own.value
    }
    return line
  }

  /// Moves as few nodes as possible, then adds new nodes at their places.
  private mutating func compareOrder() throws(EditError) {
    let old = draft.patch.names.filter { !isInFile($0, of: draft.patch) }
    let wanted = target.nodes.values.filter { !isInFile($0.name, of: target) }
    let staying = wanted.map(\.name).filter { draft.patch.id(named: $0) != nil }
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
    for node in wanted {
      if draft.patch.id(named: node.name) == nil {
        new.append(node)
        continue
      }
      for added in new { try make(.add(line(of: added), before: node.name)) }
      new = []
    }
    for added in new { try make(.add(line(of: added), before: nil)) }
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
    if isInFile(new.name, of: target) { return }
    if isOfLines, catalogue.definition(of: new) != nil { try compareOwnValues(of: new) }
    // Sizes first: indices are checked against them, and elements beyond them are dropped.
    for isIndexed in [false, true] {
      guard let old = draft.patch[named: new.name], old.settings != new.settings else { return }
      let paths = Set(old.settings.keys).union(new.settings.keys).filter { $0.indices.isEmpty != isIndexed }
      for path in paths.sorted() where old.settings[path] != new.settings[path] {
        // A value equal to the default is stored for its comment, which follows later.
        let standard = catalogue[new.kind]?[parameter: path.name]?.defaultValue(at: path)
        let value = new.settings[path] == standard ? nil : new.settings[path]
        if value == nil, draft.patch[named: new.name]?.settings[path] == nil { continue }
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
      // A file has it inside, or it went with another one in sub-patches of one file.
      if isInFile(cable, of: draft.patch) || draft.patch.cables[cable.ends] == nil { continue }
      try make(.disconnect(cableName(of: cable.ends)))
    }
    for cable in target.orderedCables(catalogue: catalogue) where !isInFile(cable, of: target) {
      let ends = try draft.patch.fitting(target.name(of: cable.ends), catalogue: catalogue)
      let name = cableName(of: ends)
      let present = draft.patch.cables[ends]
      if present?.settings != cable.settings { try make(.connect(name, cable.settings)) }
      guard (present?.comments ?? Comments()) != cable.comments else { continue }
      try make(.comment(.cable(name), cable.comments))
    }
  }
}

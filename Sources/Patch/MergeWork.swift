/// One pass of a merge that resolves every conflict in favour of one side.
struct MergeWork {
  let versions: MergeVersions
  let catalogue: KindCatalogue
  let prefersOurs: Bool
  /// Nodes taken from one side as a whole, with the reason.
  private let forced: [MergeKey: PatchMerge.Conflict]
  var conflicts: [PatchMerge.Conflict] = []
  /// Nodes whose merged parts do not fit together.
  private(set) var misfits: [MergeKey: PatchMerge.Conflict] = [:]

  init(
    _ versions: MergeVersions, catalogue: KindCatalogue, prefersOurs: Bool,
    forced: [MergeKey: PatchMerge.Conflict]
  ) {
    self.versions = versions
    self.catalogue = catalogue
    self.prefersOurs = prefersOurs
    self.forced = forced
  }

  private var side: MergeVersions.Version { prefersOurs ? versions.ours : versions.theirs }

  /// The merged document; incomplete if there are misfits.
  mutating func patch() -> Patch {
    var nodes: [MergeKey: Node] = [:]
    var owners: [String: MergeKey] = [:]
    for key in versions.order {
      guard let node = node(key) else { continue }
      if let other = owners.updateValue(key, forKey: node.name) {
        for key in [key, other] {
          misfit(key, node.name, "both sides have a node `\(node.name)` of their own")
        }
      }
      nodes[key] = node
    }
    var cables: [(MergeCable, Cable)] = []
    var seen: Set<MergeCable> = []
    for version in [versions.ours, versions.theirs] {
      for name in version.cableOrder where seen.insert(name).inserted {
        guard let cable = cable(name), isBetweenNodes(name, cable, nodes) else { continue }
        cables.append((name, cable))
      }
    }
    // A patch with two nodes of one name cannot be built.
    if owners.count < nodes.count { return Patch() }
    return assembled(nodes, cables)
  }

  // MARK: Three-way merge

  /// The value from the side that changed it; nil (a conflict) if both did.
  func merged<Value: Equatable>(_ base: Value, _ ours: Value, _ theirs: Value) -> Value? {
    ours == theirs || theirs == base ? ours : ours == base ? theirs : nil
  }

  private mutating func merged<Value: Equatable>(
    _ base: Value, _ ours: Value, _ theirs: Value, of node: String, _ words: (Value, Value) -> String
  ) -> Value {
    if let value = merged(base, ours, theirs) { return value }
    conflicts.append(PatchMerge.Conflict(node: node, message: words(ours, theirs)))
    return prefersOurs ? ours : theirs
  }

  private mutating func misfit(_ key: MergeKey, _ node: String?, _ message: String) {
    if forced[key] == nil, misfits[key] == nil {
      misfits[key] = PatchMerge.Conflict(node: node, message: message)
    }
  }

  // MARK: Nodes

  private mutating func node(_ key: MergeKey) -> Node? {
    let (base, ours, theirs) = (
      versions.base.nodes[key], versions.ours.nodes[key], versions.theirs.nodes[key]
    )
    if forced[key] != nil { return side.nodes[key] }
    guard let ours, let theirs else {
      guard let remaining = ours ?? theirs else { return nil }
      // Added by one side.
      guard let base else { return remaining }
      if Self.sayTheSame(base, remaining) { return nil }
      let (gone, kept) = ours == nil ? ("here", "there") : ("there", "here")
      misfit(key, remaining.name, "`\(base.name)` was removed \(gone) and changed \(kept)")
      return side.nodes[key]
    }
    guard ours.kind == theirs.kind else { return replaced(key, base, ours, theirs) }
    return joined(base, ours, theirs)
  }

  /// A different place of the box is not a conflict.
  private static func sayTheSame(_ a: Node, _ b: Node) -> Bool {
    func plain(_ node: Node) -> [Node.Line: Comments] { node.lineComments.filter { $0.key != .layout } }
    return a.name == b.name && a.kind == b.kind && a.settings == b.settings && a.comments == b.comments
      && plain(a) == plain(b)
  }

  /// A node that one side replaced by another kind. Settings come from the new kind; the other side may have
  /// changed the rest.
  private mutating func replaced(_ key: MergeKey, _ base: Node?, _ ours: Node, _ theirs: Node) -> Node? {
    guard let base, let kind = merged(base.kind, ours.kind, theirs.kind) else {
      misfit(
        key, ours.name, "`\(ours.name)` is of kind `\(ours.kind)` here and of kind `\(theirs.kind)` there")
      return side.nodes[key]
    }
    let weReplaced = kind == ours.kind
    let other = weReplaced ? theirs : ours
    if other.settings != base.settings {
      misfit(
        key, ours.name,
        "`\(base.name)` was replaced \(weReplaced ? "here" : "there") and set \(weReplaced ? "there" : "here")"
      )
      return side.nodes[key]
    }
    return joined(base, ours, theirs)
  }

  private mutating func joined(_ base: Node?, _ ours: Node, _ theirs: Node) -> Node {
    var node = ours
    node.name = merged(base?.name ?? ours.name, ours.name, theirs.name, of: ours.name) {
      "`\(base?.name ?? $0)` is called `\($0)` here and `\($1)` there"
    }
    node.kind = merged(base?.kind ?? ours.kind, ours.kind, theirs.kind) ?? ours.kind
    for path in Set(ours.settings.keys).union(theirs.settings.keys).sorted() {
      node.settings[path] = merged(
        base?.settings[path], ours.settings[path], theirs.settings[path], of: ours.name
      ) {
        "`\(ours.name)\(path.suffix)` is \($0?.line ?? "default") here and \($1?.line ?? "default") there"
      }
    }
    node.place = merged(base?.place, ours.place, theirs.place, of: ours.name) {
      func words(_ place: Place?) -> String { place.map { "at \($0.column),\($0.row)" } ?? "without a place" }
      return "the box of `\(ours.name)` is \(words($0)) here and \(words($1)) there"
    }
    node.comments = merged(
      base?.comments, ours.comments, theirs.comments, of: ours.name, about: "`\(ours.name)`")
    for line in Set(ours.lineComments.keys).union(theirs.lineComments.keys).sorted(by: { $0.order < $1.order }
    ) {
      var about = "the place of `\(ours.name)`"
      if case .setting(let path) = line { about = "`\(ours.name)\(path.suffix)`" }
      let comments = merged(
        base?.lineComments[line], ours.lineComments[line] ?? Comments(),
        theirs.lineComments[line] ?? Comments(),
        of: ours.name, about: about)
      node.lineComments[line] = comments.isEmpty ? nil : comments
    }
    tidy(&node)
    return node
  }

  private mutating func merged(
    _ base: Comments?, _ ours: Comments, _ theirs: Comments, of node: String, about: String
  ) -> Comments {
    let message = "the comments at \(about) differ"
    return Comments(
      before: merged(base?.before ?? [], ours.before, theirs.before, of: node) { _, _ in message },
      after: merged(base?.after, ours.after, theirs.after, of: node) { _, _ in message })
  }

  /// Drops settings equal to the default without a comment, and comments without a line.
  private func tidy(_ node: inout Node) {
    let kind = catalogue[node.kind]
    if node.place == nil { node.lineComments[.layout] = nil }
    for line in node.lineComments.keys {
      guard case .setting(let path) = line, node.settings[path] == nil else { continue }
      guard let parameter = kind?[parameter: path.name] else {
        node.lineComments[line] = nil
        continue
      }
      node.settings[path] = parameter.defaultValue(at: path)
    }
    guard let kind else { return }
    for (path, value) in node.settings where node.lineComments[.setting(path)] == nil {
      if value == kind[parameter: path.name]?.defaultValue(at: path) { node.settings[path] = nil }
    }
  }

  // MARK: Cables

  private mutating func cable(_ name: MergeCable) -> Cable? {
    if forced[name.destination] != nil || forced[name.source] != nil && !isInBoth(name.source) {
      return side.cables[name]
    }
    let (base, ours, theirs) = (
      versions.base.cables[name], versions.ours.cables[name], versions.theirs.cables[name]
    )
    guard let ours, let theirs else {
      guard let remaining = ours ?? theirs else { return nil }
      guard let base else { return remaining }
      if Self.sayTheSame(base, remaining) { return nil }
      // A cable removed with its node is reported with the node.
      let lacking = ours == nil ? versions.ours : versions.theirs
      guard lacking.nodes[name.source] != nil, lacking.nodes[name.destination] != nil else {
        return remaining
      }
      let words = self.words(name)
      let (gone, kept) = ours == nil ? ("here", "there") : ("there", "here")
      conflicts.append(
        PatchMerge.Conflict(
          node: side.nodes[name.destination]?.name,
          message: "the cable \(words) was taken away \(gone) and changed \(kept)"))
      return side.cables[name]
    }
    var cable = ours
    let node = versions.ours.nodes[name.destination]?.name ?? ""
    let words = self.words(name)
    let (old, left, right) = (base?.settings, ours.settings, theirs.settings)
    cable.settings.gain =
      merged(old?.gain, left.gain, right.gain, of: node) {
        func decibels(_ gain: Double?) -> String { Value.number(gain ?? 0, .decibels).line }
        return "the gain of \(words) is \(decibels($0)) here and \(decibels($1)) there"
      } ?? left.gain
    cable.settings.modulation = merged(old?.modulation, left.modulation, right.modulation, of: node) {
      "the depth of \(words) is \($0?.line ?? "none") here and \($1?.line ?? "none") there"
    }
    cable.settings.map = merged(old?.map, left.map, right.map, of: node) {
      "the map of \(words) is \($0?.line ?? "none") here and \($1?.line ?? "none") there"
    }
    cable.settings.mixing =
      merged(old?.mixing, left.mixing, right.mixing, of: node) {
        "\(words) has mix=\(($0 ?? .speakers).rawValue) here and mix=\(($1 ?? .speakers).rawValue) there"
      } ?? left.mixing
    cable.comments = merged(base?.comments, ours.comments, theirs.comments, of: node, about: words)
    return cable
  }

  private func isInBoth(_ key: MergeKey) -> Bool {
    versions.ours.nodes[key] != nil && versions.theirs.nodes[key] != nil
  }

  private static func sayTheSame(_ a: Cable, _ b: Cable) -> Bool {
    a.settings == b.settings && a.comments == b.comments
  }

  private func words(_ name: MergeCable) -> String {
    func node(_ key: MergeKey) -> String {
      (versions.ours.nodes[key] ?? versions.theirs.nodes[key] ?? versions.base.nodes[key])?.name ?? ""
    }
    return "`\(node(name.source)).\(name.sourcePort) -> \(node(name.destination)).\(name.destinationPort)`"
  }

  /// A cable is removed with its node. That is a conflict if a side has added or changed the cable.
  private mutating func isBetweenNodes(_ name: MergeCable, _ cable: Cable, _ nodes: [MergeKey: Node]) -> Bool
  {
    var isWhole = true
    for key in [name.source, name.destination] where nodes[key] == nil {
      isWhole = false
      if let base = versions.base.cables[name], Self.sayTheSame(base, cable) { continue }
      let node = versions.ours.nodes[key] ?? versions.theirs.nodes[key]
      let isHere = versions.ours.nodes[key] == nil
      misfit(
        key, node?.name,
        "`\(node?.name ?? "")` was removed \(isHere ? "here" : "there"), and \(words(name)) is new or changed \(isHere ? "there" : "here")"
      )
    }
    return isWhole
  }

  // MARK: The document

  private mutating func assembled(_ nodes: [MergeKey: Node], _ cables: [(MergeCable, Cable)]) -> Patch {
    var patch = Patch()
    patch.nextID = versions.ours.patch.nextID
    var ids: [MergeKey: NodeID] = [:]
    for key in versions.order {
      guard let node = nodes[key] else { continue }
      let id = versions.ours.nodes[key]?.id ?? patch.freshID()
      ids[key] = id
      patch.attach(node.with(id: id), at: nil)
      let plain = catalogue.withoutPublished(node)
      guard let refusal = catalogue[node.kind]?.checked(plain).refusals.first else { continue }
      misfit(key, node.name, "together the changes make what cannot be: \(refusal.message)")
    }
    for (name, cable) in cables {
      guard let source = ids[name.source], let destination = ids[name.destination] else { continue }
      var cable = cable
      cable.ends = Cable.Ends(
        PortReference(source, name.sourcePort), PortReference(destination, name.destinationPort))
      patch.plug(cable)
    }
    let draft = Draft(patch: patch, catalogue: catalogue)
    for (name, _) in cables {
      guard let source = ids[name.source], let destination = ids[name.destination] else { continue }
      let ends = Cable.Ends(
        PortReference(source, name.sourcePort), PortReference(destination, name.destinationPort))
      guard let cable = patch.cables[ends] else { continue }
      do throws(EditError) {
        let full = patch.name(of: ends)
        _ = try patch.fitting(full, catalogue: catalogue)
        try Connect(name: full, settings: cable.settings).check(ends, in: draft)
      } catch {
        for key in [name.source, name.destination] {
          misfit(key, nodes[key]?.name, "together the changes make what cannot be: \(error.message)")
        }
      }
    }
    leadWaiting(in: &patch)
    patch.settings = mergedSettings(nodes)
    _ = patch.nameTargets(catalogue: catalogue)
    patch.scenes = mergedScenes(nodes)
    patch.header = merged(
      versions.base.patch.header, versions.ours.patch.header, versions.theirs.patch.header,
      about: "the head")
    patch.footer = merged(
      versions.base.patch.footer, versions.ours.patch.footer, versions.theirs.patch.footer,
      about: "the end")
    return patch
  }

  /// Leads cables that wait at sub-patches to the ports that one side has put inside, as a reading of the
  /// merged file does.
  private func leadWaiting(in patch: inout Patch) {
    for name in patch.inside.keys.sorted() {
      guard let node = patch[named: name], patch.isFilled(node, catalogue) else { continue }
      for ends in patch.cables(at: node.id) {
        guard let cable = patch.cables[ends],
          let there = try? patch.fitting(patch.name(of: ends), catalogue: catalogue), there != ends
        else { continue }
        patch.unplug(ends)
        if patch.cables[there] != nil { continue }
        patch.plug(Cable(there, cable.settings, comments: cable.comments))
      }
    }
  }

  private mutating func mergedSettings(_ nodes: [MergeKey: Node]) -> PatchSettings {
    func settings(_ version: MergeVersions.Version) -> PatchSettings {
      // Controls follow nodes that the other side has renamed.
      var names: [String: String] = [:]
      for (key, node) in version.nodes { names[node.name] = nodes[key]?.name }
      return version.patch.settings.renaming { names[$0] ?? $0 }
    }
    let (base, ours, theirs) = (
      settings(versions.base), settings(versions.ours), settings(versions.theirs)
    )
    var result = ours
    for name in ours.names(with: theirs) {
      if let setting = merged(base[name], ours[name], theirs[name]) {
        result.set(setting)
      } else {
        conflicts.append(
          PatchMerge.Conflict(
            node: nil, message: "`\(ours[name].line)` stands here and `\(theirs[name].line)` there"))
        result.set(prefersOurs ? ours[name] : theirs[name])
      }
      let comments = merged(base.comments[name], ours.comments[name], theirs.comments[name])
      if comments == nil {
        conflicts.append(
          PatchMerge.Conflict(node: nil, message: "the comments at `\(name.line)` differ"))
      }
      result.comments[name] =
        result[name].isGone ? nil : comments ?? (prefersOurs ? ours : theirs).comments[name]
    }
    return result
  }

  private mutating func merged(
    _ base: [String], _ ours: [String], _ theirs: [String], about: String
  ) -> [String] {
    if let lines = merged(base, ours, theirs) { return lines }
    conflicts.append(
      PatchMerge.Conflict(node: nil, message: "the comments at \(about) of the file differ"))
    return prefersOurs ? ours : theirs
  }
}

extension Patch {
  /// The edit with its values in stored form, as far as possible. Invalid values are refused when the edit is
  /// applied.
  package func typed(_ edit: Edit, catalogue: KindCatalogue) -> Edit {
    func typed(_ node: Node) -> Node {
      guard let kind = catalogue[node.kind] else { return catalogue.fromLibrary(node) ?? node }
      let (settings, refusals) = kind.checked(node)
      guard refusals.isEmpty else { return node }
      var node = node
      // A value equal to the default stays as written: it was requested.
      for path in node.settings.keys {
        node.settings[path] = settings[path] ?? kind[parameter: path.name]?.defaultValue(at: path)
      }
      return node
    }
    switch edit {
    case .set(let name, let path, let value, let over):
      if let inner = published(name, path) {
        return self.typed(.set(inner.node, inner.path, value, over: over), catalogue: catalogue)
      }
      guard let value, let node = self[named: name], let kind = catalogue[node.kind],
        let parameter = try? kind.parameter(at: path, of: node),
        let checked = try? parameter.checked(value, of: name, at: path)
      else { return edit }
      return .set(name, path, checked, over: over)
    case .setRange(let name, let range, let value, let over):
      if let path = range.single {
        return self.typed(.set(name, path, value, over: over), catalogue: catalogue)
      }
      guard let value, let node = self[named: name], let kind = catalogue[node.kind],
        let parameter = kind[parameter: range.name],
        let checked = try? parameter.checked(value, of: name, at: range.first)
      else { return edit }
      return .setRange(name, range, checked, over: over)
    case .add(let node, let before): return .add(typed(node), before: before)
    case .replace(let name, let node): return .replace(name, with: typed(node))
    case .insert(let node, let cable): return .insert(typed(node), into: cable)
    case .all(let edits): return .all(edits.map { self.typed($0, catalogue: catalogue) })
    case .scene(let number, .edit(let edit)):
      guard let scene = scenes[number] else { return .scene(number, .edit(edit)) }
      return .scene(number, .edit(scene.state.typed(edit, catalogue: catalogue)))
    default: return edit
    }
  }

  /// The canonical form of an edit, whatever its origin (a line, the matrix, a cable drawn on screen): values
  /// typed, default ports left out. It has the same effect. An edit that would be refused stays as it is.
  public func canonical(_ edit: Edit, catalogue: KindCatalogue) -> Edit {
    switch typed(edit, catalogue: catalogue) {
    case .connect(let name, var settings):
      guard let ends = try? fitting(name, catalogue: catalogue) else { return edit }
      settings.modulation = modulation(settings.modulation, of: ends, catalogue: catalogue)
      return .connect(shortName(of: ends, catalogue: catalogue), settings)
    case .disconnect(let name): return .disconnect(short(name, catalogue))
    case .insert(let node, let name): return .insert(node, into: short(name, catalogue))
    case .comment(.cable(let name), let comments): return .comment(.cable(short(name, catalogue)), comments)
    case .setPatch(.control(let number, let target?)):
      return .setPatch(.control(number, canonical(target, catalogue: catalogue)))
    case .setPatch(.publish(let name, let target?)):
      return .setPatch(.publish(name, canonical(target, catalogue: catalogue)))
    case .setPatch(.map(var name, let course)):
      name.target = canonical(name.target, catalogue: catalogue)
      return .setPatch(.map(name, course.map { canonical($0, of: name, catalogue: catalogue) }))
    case .comment(.patchSetting(.map(var name)), let comments):
      name.target = canonical(name.target, catalogue: catalogue)
      return .comment(.patchSetting(.map(name)), comments)
    case .scene(let number, .edit(let inner)):
      guard let scene = scenes[number] else { return edit }
      return .scene(number, .edit(scene.state.canonical(inner, catalogue: catalogue)))
    // Settings name no ports.
    case .all(let edits) where Edit.areSettings(edits):
      return Self.range(of: edits) ?? .joined(edits)
    case .all(let edits):
      var draft = Draft(patch: self, catalogue: catalogue)
      return (try? draft.performCanonically(edit).edit) ?? .all(edits)
    case let other: return other
    }
  }

  /// Combines settings of one value into the range that they fill; nil if they fill none.
  private static func range(of edits: [Edit]) -> Edit? {
    guard edits.count > 1, case .set(let name, let first, let value, let over) = edits[0],
      !first.indices.isEmpty
    else { return nil }
    var spans = first.indices.map { $0...$0 }
    var seen: Set<[Int]> = []
    for edit in edits {
      guard case .set(name, let path, value, over) = edit, path.name == first.name,
        path.indices.count == spans.count, seen.insert(path.indices).inserted
      else { return nil }
      for (place, index) in path.indices.enumerated() {
        spans[place] = min(spans[place].lowerBound, index)...max(spans[place].upperBound, index)
      }
    }
    guard spans.reduce(1, { $0 * $1.count }) == edits.count else { return nil }
    let range = ParameterRange(first.name, spans.map { ParameterRange.Span($0.lowerBound, $0.upperBound) })
    return .setRange(name, range, value, over: over)
  }

  private func short(_ name: CableName, _ catalogue: KindCatalogue) -> CableName {
    guard let cable = try? existing(name, catalogue: catalogue) else { return name }
    return shortName(of: cable.ends, catalogue: catalogue)
  }
}

extension Patch {
  /// The patch after `edit`, and the edit's canonical form; throws the reason if it is refused.
  /// `acceptsUnknownKinds`: nodes of unknown kinds may become placeholders, as in a file.
  public func applyingCanonically(
    _ edit: Edit, catalogue: KindCatalogue, acceptsUnknownKinds: Bool = false
  ) throws(EditError) -> (edit: Edit, change: Change) {
    var draft = Draft(patch: self, catalogue: catalogue)
    draft.acceptsUnknownKinds = acceptsUnknownKinds
    draft.patch.touched = Touched(since: revision)
    let (edit, inverse) = try draft.performCanonically(edit)
    return (edit, finishing(&draft, edit, inverse: inverse))
  }

  /// The patch after an edit that is a line of a script.
  func performing(_ edit: Edit, catalogue: KindCatalogue) throws(EditError) -> Patch {
    var draft = Draft(patch: self, catalogue: catalogue)
    draft.acceptsUnknownKinds = true
    draft.isOneWay = true
    draft.patch.touched = Touched(since: revision)
    let form = try draft.performCanonically(edit).edit
    if draft.mayConcernSubPatch(form) { _ = draft.patch.endWaiting(after: self, catalogue: catalogue) }
    _ = draft.patch.nameTargets(catalogue: catalogue)
    draft.patch.touched = nil
    return draft.patch
  }
}

extension Draft {
  /// Applies the edit in its canonical form. Returns that form and its inverse.
  fileprivate mutating func performCanonically(
    _ edit: Edit, among others: [Edit] = []
  ) throws(EditError) -> (edit: Edit, inverse: Edit) {
    guard case .all(let edits) = patch.typed(edit, catalogue: catalogue),
      !Edit.areSettings(edits) || edits.contains(where: mayConcernSubPatch)
    else {
      let edit = patch.canonical(edit, catalogue: catalogue)
      guard let expansion = try expansion(of: edit, among: others) else {
        let inverse = try step(edit)
        try checkScopes(after: edit)
        return (edit, connectWaiting(after: edit, inverse))
      }
      mirrored += expansion.peers
      let accepted = acceptsUnknownKinds
      if expansion.isWritten { acceptsUnknownKinds = true }
      defer { acceptsUnknownKinds = accepted }
      let whole = Edit.joined(expansion.edits)
      let inverse = connectWaiting(after: whole, try step(whole))
      try checkScopes(after: edit)
      return (expansion.isWritten ? .joined(expansion.whole ?? [edit]) : edit, inverse)
    }
    var forms: [Edit] = []
    var inverses: [Edit] = []
    // One after the other, since later edits may refer to results of earlier ones.
    for edit in edits {
      // Done with an earlier edit, in all sub-patches that share a file.
      let structure = mirrored.isEmpty ? [] : patch.canonical(edit, catalogue: catalogue).structure
      if !structure.isEmpty, mirrored.contains(where: { $0.structure == structure }) { continue }
      let step = try performCanonically(edit, among: edits)
      forms.append(step.edit)
      inverses.append(step.inverse)
    }
    // Here and not at each edit, since one of the others may make the sub-patch.
    if others.isEmpty { for edit in edits { try checkArrival(of: edit) } }
    return (.joined(forms), .joined(inverses.reversed()))
  }
}

extension Draft {
  /// Applies the edit and returns its inverse, if that is wanted.
  private mutating func step(_ edit: Edit) throws(EditError) -> Edit {
    if !isOneWay { return try perform(edit) }
    try apply(edit)
    return .all([])
  }

  /// Leads cables that wait at sub-patches to ports that the edit has made; those that do not fit are removed. Returns the
  /// inverse of both.
  fileprivate mutating func connectWaiting(after edit: Edit, _ inverse: Edit) -> Edit {
    // While the port is there, its name does not mean a cable that waits.
    var (before, after): ([Edit], [Edit]) = ([], [])
    for container in edit.filledContainers.sorted() {
      guard let node = patch[named: container], patch.isFilled(node, catalogue) else { continue }
      for ends in patch.cables(at: node.id) {
        let name = patch.name(of: ends)
        let there = try? patch.fitting(name, catalogue: catalogue)
        guard let cable = patch.cables[ends], there != ends else { continue }
        after += Connect.restoring(ends, in: patch)
        patch.unplug(ends)
        isSilent = false
        guard let there, patch.cables[there] == nil else { continue }
        let connect = Edit.connect(patch.name(of: there), cable.settings)
        guard let disconnect = try? perform(connect) else { continue }
        before.append(disconnect)
      }
    }
    return before.isEmpty && after.isEmpty ? inverse : .joined(before + [inverse] + after)
  }

  /// Throws for a cable past the edge of a sub-patch that the edit has made. A file may have such cables.
  fileprivate func checkScopes(after edit: Edit) throws(EditError) {
    switch edit {
    case .connect(let name, _) where !acceptsUnknownKinds:
      try checkCable(try patch.existing(name, catalogue: catalogue).ends)
    case .insert(let node, _): try checkScopes(at: node.name)
    // The lines of a difference rename nodes into a sub-patch before they move the cables.
    case .rename(let old, let new)
    where !acceptsUnknownKinds && NodePath.container(of: old) != NodePath.container(of: new):
      try checkScopes(at: new)
    default: break
    }
  }

  /// Throws for a cable that a file may have, with a warning, and that nobody who types it means.
  func checkCable(_ ends: Cable.Ends) throws(EditError) {
    try patch.checkPorts(of: ends, catalogue: catalogue)
    try patch.checkScope(of: ends, catalogue: catalogue)
    try checkLoop(of: ends)
  }

  private func checkScopes(at name: String) throws(EditError) {
    guard let id = patch.id(named: name) else { return }
    for ends in patch.cables(at: id) { try patch.checkScope(of: ends, catalogue: catalogue) }
  }
}

extension Edit {
  /// True when all of them set single values.
  fileprivate static func areSettings(_ edits: [Edit]) -> Bool {
    edits.allSatisfy { if case .set = $0 { true } else { false } }
  }
}

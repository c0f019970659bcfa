/// `set dist.drive 24dB over 2s`, `set main[0,1] -6dB`, `set dist.drive default`
struct SetParameter: EditVerbs {
  var name: String
  var path: ParameterPath
  var value: Value?
  /// Seconds.
  var over: Double?

  func apply(to draft: inout Draft) throws(EditError) {
    if let inner = draft.patch.published(name, path) {
      return try Self(name: inner.node, path: inner.path, value: value, over: over).apply(to: &draft)
    }
    let work = try work(in: draft)
    draft.isSilent = false
    guard let defaultValue = work.defaultValue else {
      draft.patch.update(work.node) { node in
        node.settings[path] = value?.unread
        if value == nil { node.lineComments[.setting(path)] = nil }
      }
      return
    }
    if let over { draft.ramps.append((work.node, path, over)) }
    if work.isOrderAgain { draft.ramps.append((work.node, path, 0)) }
    draft.patch.store(work.value, at: path, of: work.node, default: defaultValue)
    for path in work.dropped {
      draft.patch.update(work.node) { node in
        node.settings[path] = nil
        node.lineComments[.setting(path)] = nil
      }
    }
    for ends in work.unplugged {
      draft.patch.keepInScenes(ends)
      draft.patch.unplug(ends)
    }
    if work.isSize { for edit in draft.cuttingMaps(at: work.node) { try draft.apply(edit) } }
  }

  /// The work to do. It holds no copy of the node, since the change would then copy the node's settings. A
  /// matrix may have thousands, and one edit may set them all.
  private struct Work {
    var node: NodeID
    var value: Value?
    /// nil: unknown kind.
    var defaultValue: Value?
    var dropped: [ParameterPath] = []
    /// Cables to elements that the node has no more.
    var unplugged: [Cable.Ends] = []
    /// The parameter determines the number of channels of an output.
    var isSize = false
    /// The order that was given last, and is given again.
    var isOrderAgain = false
  }

  private func work(in draft: Draft) throws(EditError) -> Work {
    let node = try draft.patch.node(named: name)
    guard let kind = draft.catalogue[node.kind] else { return Work(node: node.id) }
    // A sub-patch whose file is not there keeps what the file may publish. A text may say such values without a file.
    if kind.isContainer, path.indices.isEmpty, kind[parameter: path.name] == nil,
      !draft.patch.hasInside(name),
      draft.catalogue.definitionFile(of: node) != nil || value == nil && node.settings[path] != nil
    {
      return Work(node: node.id)
    }
    if kind.isContainer, kind[parameter: path.name] == nil {
      let known = kind.parameters.map(\.name) + draft.patch.published(by: name).map(\.name)
      throw .noParameter(SettingName(name, path), kind: kind.name, known: known)
    }
    let parameter = try kind.parameter(at: path, of: node)
    let checked = try value.map { value throws(EditError) in try parameter.checked(value, of: name, at: path)
    }
    try Self.check(over: over)
    if over != nil {
      switch parameter.smoothing {
      case .ramp, .kernel, .crossfade, .gain: break
      case .structural, .none:
        throw .noChangeOverTime(SettingName(name, path))
      }
    }
    let new = checked ?? parameter.defaultValue
    return Work(
      node: node.id, value: checked, defaultValue: parameter.defaultValue(at: path),
      dropped: dropped(by: new, parameter: parameter, of: node, kind: kind),
      unplugged: unplugged(by: new, parameter: parameter, of: node, kind: kind, in: draft),
      isSize: kind.outputs.contains { $0.format == .parameter(parameter.name) },
      isOrderAgain: parameter.isOrder && node.value(at: path, description: kind) == new)
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    if let inner = draft.patch.published(name, path) {
      return try Self(name: inner.node, path: inner.path, value: value, over: over).inverse(in: draft)
    }
    let node = try draft.patch.node(named: name)
    var edits = restoring(path, of: node)
    if let kind = draft.catalogue[node.kind], let parameter = kind[parameter: path.name] {
      let new = value.flatMap { try? parameter.checked($0, of: name, at: path) } ?? parameter.defaultValue
      for path in dropped(by: new, parameter: parameter, of: node, kind: kind) {
        edits += restoring(path, of: node)
      }
      if kind.outputs.contains(where: { $0.format == .parameter(parameter.name) }) {
        edits += restoringMaps(of: node, as: new, in: draft)
      }
      for ends in unplugged(by: new, parameter: parameter, of: node, kind: kind, in: draft) {
        edits += Connect.restoring(ends, in: draft.patch)
      }
    }
    return .joined(edits)
  }

  func describe() -> String { Self.line(name + path.suffix, value, over) }

  static func line(_ target: String, _ value: Value?, _ over: Double?) -> String {
    var line = "set \(target) \(value?.line ?? "default")"
    if let over { line += " over \(Value.number(over, .seconds).line)" }
    return line
  }

  /// Throws for a duration out of range.
  static func check(over: Double?) throws(EditError) {
    guard let over, !(0...3600).contains(over) else { return }
    throw .durationOutOfRange(over)
  }

  private func restoring(_ path: ParameterPath, of node: Node) -> [Edit] {
    let set = Edit.set(name, path, node.settings[path], over: nil)
    guard let comments = node.lineComments[.setting(path)] else { return [set] }
    return [set, .comment(.setting(name, path), comments)]
  }

  /// Edits that restore the maps which lose sources when the size becomes `value`.
  private func restoringMaps(of node: Node, as value: Value, in draft: Draft) -> [Edit] {
    var node = node
    node.settings[path] = value
    return draft.patch.cables(from: node.id, catalogue: draft.catalogue).flatMap { cable in
      cable.map?.cut(to: draft.channels(of: node, cable.ends.source.port)) == nil
        ? [] : Connect.restoring(cable.ends, in: draft.patch)
    }
  }

  /// Settings whose indices are out of bounds after a size shrinks, and those that waited for a sub-patch's file.
  private func dropped(
    by value: Value, parameter: ParameterDescription, of node: Node, kind: KindDescription
  ) -> [ParameterPath] {
    if kind.isContainer, parameter.fileType == .patch, value == .text("") {
      return node.settings.keys.filter { kind[parameter: $0.name] == nil }.sorted()
    }
    guard parameter.form == .integer, case .number(let size, _) = value else { return [] }
    let dimensioned = kind.parameters.filter { $0.dimensions.contains(parameter.name) }
    if dimensioned.isEmpty { return [] }
    return node.settings.keys.sorted().filter { path in
      guard let owner = dimensioned.first(where: { $0.name == path.name }) else { return false }
      return zip(path.indices, owner.dimensions).contains { $1 == parameter.name && Double($0) >= size }
    }
  }
}

extension SetParameter {
  /// Cables to elements whose indices are out of bounds after a size shrinks.
  private func unplugged(
    by value: Value, parameter: ParameterDescription, of node: Node, kind: KindDescription, in draft: Draft
  ) -> [Cable.Ends] {
    guard parameter.form == .integer,
      kind.parameters.contains(where: { $0.isModulatedByKernel && $0.dimensions.contains(parameter.name) })
    else { return [] }
    var node = node
    node.settings[path] = value
    return draft.patch.cables(into: node.id, catalogue: draft.catalogue).map(\.ends).filter {
      kind.lacks($0.destination.port, of: node)
    }
  }
}

extension Patch {
  /// Stores the value if it differs from the default or has a comment.
  mutating func store(_ value: Value?, at path: ParameterPath, of id: NodeID, default defaultValue: Value) {
    update(id) { node in
      if let value {
        let hasComment = node.lineComments[.setting(path)] != nil
        node.settings[path] = value == defaultValue && !hasComment ? nil : value
      } else {
        node.settings[path] = nil
        node.lineComments[.setting(path)] = nil
      }
    }
  }
}

/// A value that a control turns or a map moves: a parameter, a crosspoint, the gain of a cable, or the place between two
/// scenes. It is named, so it may be missing: then the control waits until something of that name is there again.
public enum ControlTarget: Hashable, Sendable, CustomStringConvertible {
  /// A setting of the node of that name.
  case setting(String, ParameterPath)
  /// The gain of a cable.
  case gain(CableName)
  /// The place between two scenes.
  case morph(Morph)

  /// Numbers of the controls.
  public static let numbers = 1...8

  /// The target in the language: `dist.drive`, `main[0,1]`, `piano -> dist`, `morph 1 2`.
  public var description: String {
    switch self {
    case .setting(let name, let path): name + path.suffix
    case .gain(let cable): cable.description
    case .morph(let morph): morph.description
    }
  }

  /// The same target with other names of nodes.
  func renaming(_ newName: (String) -> String) -> Self {
    switch self {
    case .setting(let name, let path): return .setting(newName(name), path)
    case .gain(var cable):
      cable.source.node = newName(cable.source.node)
      cable.destination.node = newName(cable.destination.node)
      return .gain(cable)
    case .morph: return self
    }
  }

  /// True when it names that node.
  func names(_ node: String) -> Bool {
    switch self {
    case .setting(let name, _): name == node
    case .gain(let cable): cable.source.node == node || cable.destination.node == node
    case .morph: false
    }
  }
}

extension Patch {
  /// The value that a control turns, with its description; throws the reason if there is none.
  public func controlled(
    _ target: ControlTarget, catalogue: KindCatalogue
  ) throws(EditError) -> (value: Value, parameter: ParameterDescription) {
    switch target {
    case .setting(let name, let path):
      if let inner = published(name, path) {
        return try controlled(.setting(inner.node, inner.path), catalogue: catalogue)
      }
      let node = try node(named: name)
      guard let kind = catalogue[node.kind] else {
        throw .noKind(node.kind, near: catalogue.nearest(node.kind))
      }
      let parameter = try kind.parameter(at: path, of: node)
      guard parameter.isTurnable, let value = node.value(at: path, description: kind) else {
        throw .notTurned(SettingName(name, path))
      }
      return (value, parameter)
    case .gain(let name):
      let cable = try existing(name, catalogue: catalogue)
      let draft = Draft(patch: self, catalogue: catalogue)
      if isOutside(cable.ends, catalogue: catalogue) || draft.carriesEvents(cable.ends) {
        throw .hasNoGain(name)
      }
      return (.number(cable.gain, .decibels), Connect.gainDescription)
    case .morph(let morph):
      return (.number(try percent(of: morph, catalogue: catalogue), .percent), Morph.description)
    }
  }

  /// Throws for a control or a map whose target is not there behind the edit that set it, and for the length of a note that is
  /// out of range at the present tempo. A file or an undo may do that,
  /// for the day on which the target is back; nobody who types it means it.
  package func checkTargets(of edit: Edit, catalogue: KindCatalogue) throws(EditError) {
    switch edit {
    case .all(let edits): for edit in edits { try checkTargets(of: edit, catalogue: catalogue) }
    case .setPatch(let setting) where settings[setting.name] == setting:
      try check(setting, catalogue: catalogue)
    case .set(let name, let path, let value?, _):
      try checkNotes(value, at: path, of: name, catalogue: catalogue)
    case .add(let node, _):
      for (path, value) in node.settings {
        try checkNotes(value, at: path, of: node.name, catalogue: catalogue)
      }
    default: break
    }
  }

  /// Throws for the length of a note that is out of a parameter's range by the patch's tempo. At another tempo it may be
  /// within.
  private func checkNotes(
    _ value: Value, at path: ParameterPath, of name: String, catalogue: KindCatalogue
  ) throws(EditError) {
    guard let node = self[named: name], let kind = catalogue[node.kind],
      let parameter = kind[parameter: path.name],
      let value = try? parameter.checked(value, of: name, at: path),
      parameter.holds(value, wholeNote: settings.wholeNote)
    else { return }
    let present = parameter.timed(value, wholeNote: settings.wholeNote).line
    throw .invalidValue(
      value, SettingName(name, path), .isOutOfRangeAtTempo(parameter.boundWords, present: present))
  }

  /// Throws the reason why a control or a map moves nothing.
  package func check(_ setting: PatchSetting, catalogue: KindCatalogue) throws(EditError) {
    switch setting {
    case .control(_, let target?): _ = try controlled(target, catalogue: catalogue)
    case .publish(_, let target?): _ = try controlled(target, catalogue: catalogue)
    case .map(let name, let course?): _ = try scale(of: name, course, catalogue: catalogue)
    default: break
    }
  }

  /// The target with the ports of its cable: it must name the same cable when others join the same nodes.
  func canonical(_ target: ControlTarget, catalogue: KindCatalogue) -> ControlTarget {
    if case .setting(let name, let path) = target, let inner = published(name, path) {
      return .setting(inner.node, inner.path)
    }
    guard case .gain(let name) = target, let cable = try? existing(name, catalogue: catalogue) else {
      return target
    }
    return .gain(self.name(of: cable.ends))
  }

  /// Gives controls and maps that waited for what is there now the names and ranges that a file's reading
  /// gives them. Returns the edits that take this back.
  mutating func nameTargets(catalogue: KindCatalogue) -> [Edit] {
    if settings.controls.isEmpty, settings.maps.isEmpty { return [] }
    var named = settings
    for (number, target) in settings.controls {
      named.controls[number] = canonical(target, catalogue: catalogue)
    }
    for (old, course) in settings.maps.sorted(by: { $0.key < $1.key }) {
      var name = old
      name.target = canonical(name.target, catalogue: catalogue)
      if name != old {
        let comments = named.comments[.map(old)]
        named.set(.map(old, nil))
        // Of two maps that come to have one name, the one that has it already stays.
        if named.maps[name] != nil { continue }
        named.comments[.map(name)] = comments
      }
      named.maps[name] = canonical(course, of: name, catalogue: catalogue)
    }
    if named == settings { return [] }
    defer { settings = named }
    return named.edits(to: settings)
  }

  /// The edit that gives the target of a control another value; throws the reason if there is none.
  public func turning(
    _ target: ControlTarget, to value: Value, catalogue: KindCatalogue
  ) throws(EditError) -> Edit {
    switch target {
    case .setting(let name, let path): return .set(name, path, value, over: nil)
    case .gain(let name):
      let cable = try existing(name, catalogue: catalogue)
      guard case .number(let gain, _) = value else { throw .hasNoGain(name) }
      return .connect(name, cable.settings.with(gain: gain))
    case .morph(let morph):
      guard case .number(let percent, _) = value else { return .all([]) }
      return .morph(morph, percent: percent, over: nil)
    }
  }
}

extension ParameterDescription {
  /// True for a value that steps lead through: a number, a switch or a choice, and none that makes the node anew.
  public var isTurnable: Bool {
    switch form {
    case .continuous, .integer, .toggle, .choice: smoothing != .structural
    case .file, .text: false
    }
  }
}

/// `comment dist "what it is for"`, `comment piano -> dist "loud" after "see above"`, `header "title"`
struct SetComment: EditVerbs {
  var subject: Subject
  var comments: Comments

  func apply(to draft: inout Draft) throws(EditError) {
    let comments = comments.tidied
    let kept = comments.isEmpty ? nil : comments
    switch subject {
    case .node(let name):
      let node = try draft.patch.node(named: name)
      draft.patch.update(node.id) { $0.comments = comments }
    case .cable(let name):
      let cable = try draft.patch.existing(name, catalogue: draft.catalogue)
      draft.patch.update(cable.ends) { $0.comments = comments }
    case .setting(let name, let path):
      let node = try draft.patch.node(named: name)
      guard let kind = draft.catalogue[node.kind] else {
        guard node.settings[path] != nil else { throw .notSet(SettingName(name, path)) }
        draft.patch.update(node.id) { $0.lineComments[.setting(path)] = kept }
        return
      }
      let defaultValue = try kind.parameter(at: path, of: node).defaultValue(at: path)
      draft.patch.update(node.id) { $0.lineComments[.setting(path)] = kept }
      draft.patch.store(node.settings[path] ?? defaultValue, at: path, of: node.id, default: defaultValue)
    case .layout(let name):
      let node = try draft.patch.node(named: name)
      // A scene's nodes may have lost the place by another way than the one that an undo takes back.
      guard node.place != nil || kept == nil else { throw .noPlace(name) }
      draft.patch.update(node.id) { $0.lineComments[.layout] = kept }
    case .patchSetting(let name):
      switch name {
      case .control(let number) where !ControlTarget.numbers.contains(number): throw .noControl(number)
      case .map(let map) where draft.patch.settings.maps[map] == nil: throw .noMap(map)
      case .publish(let name) where draft.patch.settings.publications[name] == nil: throw .notPublished(name)
      default: break
      }
      draft.patch.settings.comments[name] = kept
    case .scene(let number):
      _ = try draft.patch.scene(number)
      draft.patch.scenes[number]?.comments = comments
    case .header: draft.patch.header = comments.before
    case .footer: draft.patch.footer = comments.before
    }
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let patch = draft.patch
    let old: Comments =
      switch subject {
      case .node(let name): try patch.node(named: name).comments
      case .cable(let name): try patch.existing(name, catalogue: draft.catalogue).comments
      case .setting(let name, let path):
        try patch.node(named: name).lineComments[.setting(path)] ?? Comments()
      case .layout(let name): try patch.node(named: name).lineComments[.layout] ?? Comments()
      case .patchSetting(let name): patch.settings.comments[name] ?? Comments()
      case .scene(let number): try patch.scene(number).comments
      case .header: Comments(before: patch.header)
      case .footer: Comments(before: patch.footer)
      }
    return .comment(subject, old)
  }

  func describe() -> String {
    var line =
      switch subject {
      // Without quotes it would be the keyword for the comment of such a line.
      case .node(let name)
      where ["layout", "scene"].contains(name) || PatchSetting.Name.words.contains(name):
        "comment \"\(name)\""
      case .node(let name): "comment \(name)"
      case .cable(let name): "comment \(name)"
      case .setting(let name, let path): "comment \(name)\(path.suffix)"
      case .layout(let name): "comment layout \(name)"
      case .patchSetting(let name): "comment \(name.line)"
      case .scene(let number): "comment scene \(number)"
      case .header: "header"
      case .footer: "footer"
      }
    for text in comments.before { line += " " + Quoting.quoted(text) }
    if let after = comments.after { line += " after " + Quoting.quoted(after) }
    return line
  }
}

extension Comments {
  /// The comments in the form that a file can hold: no line breaks, no blanks at the ends of lines.
  package var tidied: Comments {
    if isEmpty { return self }
    var result = Comments()
    for text in before { result.before += Self.lines(of: text) }
    if let after {
      let text = Self.lines(of: after).joined(separator: " ").drop { $0 == " " || $0 == "\t" }
      result.after = text.isEmpty ? nil : String(text)
    }
    return result
  }

  private static func lines(of text: String) -> [String] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
      let end = line.unicodeScalars.lastIndex { !$0.properties.isWhitespace && $0.value >= 32 }
      return end.map { String(line.unicodeScalars[...$0]) } ?? ""
    }
  }
}

import Patch

/// Reads a patch file.
public enum PatchReader {
  /// The patch, and all errors and warnings. Lines with errors are left out of the patch; a node of an
  /// unknown kind stays in it as a placeholder, with its settings and cables.
  public static func read(
    _ text: String, file: String, catalogue: KindCatalogue
  ) -> (patch: Patch, diagnostics: [Diagnostic]) {
    var reading = Reading(Source(text, file: file), catalogue: catalogue)
    return reading.run()
  }

  /// The same from bytes; invalid UTF-8 is read as U+FFFD.
  public static func read(
    bytes: [UInt8], file: String, catalogue: KindCatalogue
  ) -> (patch: Patch, diagnostics: [Diagnostic]) {
    var reading = Reading(Source(bytes: bytes, file: file), catalogue: catalogue)
    return reading.run()
  }
}

extension PatchReader {
  /// The patch in the file of a sub-patch, and whether something is left out of it since files that it names have too
  /// many nodes.
  package static func definition(
    bytes: [UInt8], file: String, catalogue: KindCatalogue
  ) -> (patch: Patch, isTooLarge: Bool) {
    var reading = Reading(Source(bytes: bytes, file: file), catalogue: catalogue)
    let patch = reading.run().patch
    return (patch, reading.isTooLarge)
  }
}

/// State of reading: lines first, then nodes, settings, cables and layout, so that lines may stand in any
/// order.
struct Reading {
  struct Item {
    var edit: Edit
    var line: Int
    var lineStart: Int
    var range: Range<Int>
    var comments: Comments
  }

  let source: Source
  var draft: Draft
  var diagnostics: [Diagnostic] = []
  var nodes: [Item] = []
  var patchSettings: [Item] = []
  var settings: [Item] = []
  var indexedSettings: [Item] = []
  var cables: [Item] = []
  var places: [Item] = []
  var scenes: [Item] = []
  /// Comments of settings and places, which may have several lines. They are collected before they go into
  /// the patch, since each change there copies them.
  private var remarks: [Subject: (comments: Comments, item: Item)] = [:]
  /// Nodes whose line has an error; lines that refer to them are not reported again.
  var broken: Set<String> = []
  /// Sub-patches of which lines of the text say what is inside.
  private var filled: Set<String> = []
  /// Lines of their own that name the files of sub-patches, by these: a comment at the file needs one.
  private var fileLines: [String: Item] = [:]
  /// Lines of scenes about nodes that are not there, and the sub-patches in whose files these may be.
  private var waiting: [(node: (name: String, container: String), item: Item)] = []
  /// There is something inside a sub-patch.
  private var hasInside = false
  /// A node sends events.
  private var hasEvents = false
  /// Sub-patches stay empty, as their files have too many nodes.
  private(set) var isTooLarge = false

  init(_ source: Source, catalogue: KindCatalogue) {
    self.source = source
    draft = Draft(patch: Patch(), catalogue: catalogue)
    draft.acceptsUnknownKinds = true
  }

  mutating func run() -> (patch: Patch, diagnostics: [Diagnostic]) {
    var lines = LineReading()
    lines.read(into: &self)
    draft.patch.reserve(nodes: nodes.count, cables: cables.count)
    for index in nodes.indices {
      guard case .add(let node, let before) = nodes[index].edit else { continue }
      if let container = NodePath.container(of: node.name) {
        filled.insert(container)
        hasInside = true
      }
      if let known = draft.catalogue.fromLibrary(node) { nodes[index].edit = .add(known, before: before) }
    }
    collectFileLines()
    for item in nodes where addNode(item) { fill(item) }
    // Cables lead to what sub-patches publish. The innermost come first, as others publish them further.
    let publications = patchSettings.enumerated().compactMap { index, item -> (depth: Int, index: Int)? in
      guard case .setPatch(.publish(let name, _)) = item.edit else { return nil }
      return (NodePath.containers(of: name).count, index)
    }
    for (_, index) in publications.sorted(by: { ($1.depth, $0.index) < ($0.depth, $1.index) }) {
      set(patchSettings[index])
    }
    for item in settings { apply(item) }
    for item in indexedSettings { apply(item) }
    hasEvents = draft.patch.hasEvents(catalogue: draft.catalogue)
    for item in cables { connect(item) }
    for item in places { apply(item) }
    for item in scenes { apply(item) }
    if !scenes.isEmpty {
      if hasInside { draft.patch.removeInsidesInScenes(catalogue: draft.catalogue) }
      _ = draft.patch.endWaiting(catalogue: draft.catalogue)
      for (waiting, item) in waiting where draft.patch.isWaiting(item.edit) { tell(of: waiting, item) }
    }
    for item in patchSettings {
      if case .setPatch(.publish) = item.edit { continue }
      set(item)
    }
    for (subject, remark) in remarks {
      do throws(EditError) {
        try draft.apply(.comment(subject, remark.comments))
      } catch {
        report(error, remark.item)
      }
    }
    diagnostics.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    return (draft.patch, diagnostics)
  }

  private mutating func collectFileLines() {
    let names = Set(
      draft.catalogue.kinds.lazy.filter(\.isContainer).flatMap(\.parameters)
        .filter { $0.fileType == .patch }.map(\.name))
    for item in settings {
      guard case .set(let name, let path, _, _) = item.edit, names.contains(path.name) else { continue }
      fileLines[name] = item
    }
  }

  /// Returns true for a sub-patch, which is to be filled.
  private mutating func addNode(_ item: Item) -> Bool {
    guard case .add(var node, let before) = item.edit else { return false }
    node.comments = item.comments.tidied
    let kind = draft.catalogue[node.kind]
    let isContainer = kind?.isContainer == true
    let published = isContainer ? draft.catalogue.published(of: node) : [:]
    for path in published.keys { node.settings[path] = nil }
    if let kind {
      let (settings, refusals) = kind.checked(node)
      for refusal in refusals.prefix(Self.mostRefusals) { report(refusal, item) }
      if refusals.count > Self.mostRefusals {
        report(.moreSettings(refusals.count - Self.mostRefusals), item)
      }
      node.settings = settings
      takeFile(&node, kind)
    } else {
      node.settings = node.settings.mapValues(\.unread)
      let near = draft.catalogue.nearest(node.kind)
      report(.placeholder(node.name, kind: node.kind, near: near), item, .warning)
    }
    node.settings.merge(published.mapValues(\.unread)) { $1 }
    if before != nil { report(.orderInFile, item) }
    do throws(EditError) {
      try draft.add(checked: node)
    } catch {
      broken.insert(node.name)
      report(error, item)
    }
    return isContainer
  }

  /// Gives a sub-patch the file of a line of its own. Other lines lead to what that has inside.
  private func takeFile(_ node: inout Node, _ kind: KindDescription) {
    guard let path = draft.catalogue.filePath(of: node),
      case .set(_, path, let value, _)? = fileLines[node.name]?.edit
    else { return }
    guard let value else {
      node.settings[path] = nil
      return
    }
    // A refused line is reported with the other settings.
    guard let parameter = kind[parameter: path.name],
      let checked = try? parameter.checked(value, of: node.name, at: path)
    else { return }
    node.settings[path] = checked == parameter.defaultValue ? nil : checked
  }

  /// Puts into a sub-patch what its file has, and the values that are its own.
  private mutating func fill(_ item: Item) {
    guard case .add(let written, _) = item.edit, let node = draft.patch[named: written.name],
      let file = draft.catalogue.definitionFile(of: node), !filled.contains(node.name),
      let definition = draft.catalogue.definitions?.definition(of: file)
    else { return }
    let naming = fileLines[node.name] ?? item
    let inner: Patch
    switch definition {
    case .found(let patch): inner = patch
    case .missing, .unread: return
    case .recursive(let path): return report(.isInsideItself(path), naming)
    case .tooLarge: return refuse(node, naming)
    }
    guard draft.hasRoom(for: inner) else { return refuse(node, naming) }
    hasInside = true
    for edit in inner.enclosing(node.name, before: nil, catalogue: draft.catalogue) {
      do throws(EditError) { try draft.apply(edit) } catch { report(error, item) }
    }
    for (path, value) in draft.catalogue.published(of: node).sorted(by: { $0.key < $1.key }) {
      do throws(EditError) {
        guard draft.patch.published(node.name, path) != nil else {
          throw .noParameter(
            SettingName(node.name, path), kind: node.kind,
            known: draft.patch.published(by: node.name).map(\.name))
        }
        try draft.apply(.set(node.name, path, written.settings[path] ?? value, over: nil))
      } catch { report(error, item) }
    }
    draft.patch.dropPublished(of: node.name, catalogue: draft.catalogue)
  }

  /// Reports a sub-patch whose file has too many nodes.
  private mutating func refuse(_ node: Node, _ item: Item) {
    isTooLarge = true
    report(.tooManyNodes(node.name), item)
  }

  @discardableResult private mutating func apply(_ item: Item) -> Bool {
    do throws(EditError) {
      try refuseMissing(item)
      let waiting = try draft.patch.waitingNode(of: item.edit, catalogue: draft.catalogue)
      try draft.apply(item.edit)
      if let waiting { self.waiting.append((waiting, item)) }
      guard !item.comments.isEmpty, let subject = Self.subject(of: item.edit) else { return true }
      switch subject {
      case .setting, .layout, .patchSetting, .scene:
        remarks[subject, default: (Comments(), item)].comments.append(item.comments)
        return true
      default: break
      }
      try draft.apply(.comment(subject, item.comments))
      return true
    } catch {
      report(error, item)
      return false
    }
  }

  /// Warns of a line that waits for what a file lacks, or for a file, where that has been looked for.
  private mutating func tell(of waiting: (name: String, container: String), _ item: Item) {
    guard let node = draft.patch[named: waiting.container],
      let file = draft.catalogue.definitionFile(of: node)
    else { return }
    switch draft.catalogue.definitions?.definition(of: file) {
    case .missing: report(.waitsForFile(waiting.name, of: waiting.container), item, .warning)
    case .found: report(.waitsForNode(waiting.name, in: file), item, .warning)
    case .recursive, .tooLarge, .unread, nil: return
    }
  }

  /// Hints compare every name, so after hundreds of errors they are left out.
  private func refuseMissing(_ item: Item) throws(EditError) {
    guard diagnostics.count >= Self.mostHints else { return }
    for name in Self.names(in: item.edit) where draft.patch.id(named: name) == nil {
      throw .noNode(name)
    }
  }

  private static let mostHints = 200
  /// Limit per line.
  private static let mostRefusals = 100

  private static func names(in edit: Edit) -> [String] {
    switch edit {
    case .connect(let name, _): [name.source.node, name.destination.node]
    case .set(let name, _, _, _), .setRange(let name, _, _, _), .place(let name, _): [name]
    default: []
    }
  }

  /// A setting of the patch as a whole. A control or a map may wait for what is gone, with a warning.
  private mutating func set(_ item: Item) {
    var item = item
    item.edit = draft.patch.canonical(item.edit, catalogue: draft.catalogue)
    guard apply(item), case .setPatch(let setting) = item.edit else { return }
    do throws(EditError) {
      try draft.patch.check(setting, catalogue: draft.catalogue)
    } catch {
      report(error, item, .warning)
    }
  }

  private mutating func connect(_ item: Item) {
    guard case .connect(let name, _) = item.edit else { return }
    let count = draft.patch.cables.count
    guard apply(item) else { return }
    let sendsEvents =
      hasEvents
      && draft.patch[named: name.source.node].flatMap { draft.catalogue[$0.kind] }?.outputs.contains(
        where: \.isEvents) == true
    if hasInside || sendsEvents, let cable = try? draft.patch.existing(name, catalogue: draft.catalogue) {
      do throws(EditError) {
        if hasInside {
          try draft.patch.checkPorts(of: cable.ends, catalogue: draft.catalogue)
          try draft.patch.checkScope(of: cable.ends, catalogue: draft.catalogue)
        }
        try draft.checkLoop(of: cable.ends)
      } catch { report(error, item, .warning) }
    }
    if draft.patch.cables.count == count,
      let cable = try? draft.patch.existing(name, catalogue: draft.catalogue)
    {
      let name = draft.patch.shortName(of: cable.ends, catalogue: draft.catalogue)
      report(.connectedAlready(name), item, .warning)
    }
  }

  private mutating func report(_ error: EditError, _ item: Item, _ severity: Diagnostic.Severity = .error) {
    if case .noNode(let name, _) = error, broken.contains(name) { return }
    diagnostics.append(
      source.diagnostic(
        source.offset(of: error.part, in: item.range), line: item.line, start: item.lineStart,
        error.message, hint: error.hint, severity: severity))
  }

  static func subject(of edit: Edit) -> Subject? {
    switch edit {
    case .connect(let name, _): .cable(name)
    case .set(let name, let path, _, _): .setting(name, path)
    case .setRange(let name, let range, _, _): .setting(name, range.first)
    case .place(let name, _): .layout(name)
    case .setPatch(let setting): .patchSetting(setting.name)
    case .scene(let number, _): .scene(number)
    default: nil
    }
  }
}

extension Comments {
  /// Appends the comments of a later line about the same thing; its trailing comment, if any, replaces the
  /// earlier one, which moves before the line.
  mutating func append(_ later: Self) {
    before += later.before
    guard let last = later.after else { return }
    if let after { before.append(after) }
    after = last
  }
}

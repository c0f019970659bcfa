/// Files of sub-patches, as patches.
public protocol DefinitionSource: Sendable {
  /// The one place that all names of a file lead to, through folders and links.
  func place(of file: String) -> String
  /// The patch in a file, with the files that it names relative to the folder of the patch that has it inside.
  func definition(of file: String) -> Definition
  /// Sub-patches that stand among the kinds.
  var library: [LibrarySubPatch] { get }
  /// The path of such a file by its name among the kinds, relative to the patch's folder; nil: there is none.
  func libraryFile(named: String) -> String?
}

/// A file of a library, which stands among the kinds under its name.
public struct LibrarySubPatch: Sendable, Hashable {
  /// Name of the file without its ending.
  public var name: String
  /// Its path, relative to the patch's folder.
  public var file: String
  /// The first line at the head of the file.
  public var summary: String

  /// A file of a library.
  public init(name: String, file: String, summary: String) {
    (self.name, self.file, self.summary) = (name, file, summary)
  }
}

/// A file of a sub-patch.
public enum Definition: Sendable {
  /// The patch in it.
  case found(Patch)
  /// It cannot be read, with the reason.
  case missing(String)
  /// Nobody has looked for it, since the patch is read as it stands in its file.
  case unread
  /// It has itself inside; the files on the way.
  case recursive([String])
  /// With the files that it names it has more nodes than a patch may have.
  case tooLarge
}

extension KindCatalogue {
  /// The same kinds with files of sub-patches.
  public func with(definitions: (any DefinitionSource)?) -> KindCatalogue {
    var catalogue = self
    catalogue.definitions = definitions
    return catalogue
  }

  /// The file of a sub-patch; nil: it is no sub-patch, or its inside is its own.
  package func definitionFile(of node: Node) -> String? {
    guard let path = filePath(of: node), case .text(let file)? = node.settings[path], !file.isEmpty
    else { return nil }
    return file
  }

  /// The one place of a file that patches may call by several names.
  func place(of file: String) -> String { definitions?.place(of: file) ?? file }

  /// The setting of a sub-patch that names its file; nil: it is no sub-patch.
  package func filePath(of node: Node) -> ParameterPath? {
    guard let kind = self[node.kind], kind.isContainer else { return nil }
    return kind.parameters.first { $0.fileType == .patch }.map { ParameterPath($0.name) }
  }

  /// The patch in the file of a sub-patch; nil: there is none, or it cannot be read.
  package func definition(of node: Node) -> Patch? {
    guard let file = definitionFile(of: node), case .found(let patch)? = definitions?.definition(of: file)
    else {
      return nil
    }
    return patch
  }

  /// A sub-patch, for a node whose kind is the name of one in a library.
  package func fromLibrary(_ node: Node) -> Node? {
    guard !has(node.kind), let file = definitions?.libraryFile(named: node.kind),
      let container = kinds.first(where: \.isContainer),
      let parameter = container.parameters.first(where: { $0.fileType == .patch })
    else { return nil }
    var result = Node(
      id: node.id, name: node.name, kind: container.name, settings: node.settings, place: node.place,
      comments: node.comments)
    result.lineComments = node.lineComments
    result.settings[ParameterPath(parameter.name)] = .text(file)
    return result
  }

  /// The kind that stands for another one inside a sub-patch: an inlet for an input.
  private func inner(for kind: String) -> KindDescription? { kinds.first { $0.boundary?.alone == kind } }

  /// True for a parameter that names a file. `kind`: that of its node; nil: the node is in a file that is not there, and any
  /// kind may be meant.
  package func takesFile(_ parameter: String, of kind: String?) -> Bool {
    func takes(_ kind: KindDescription?) -> Bool { kind?[parameter: parameter]?.fileType != nil }
    return kind.map { takes(self[$0]) } ?? kinds.contains { takes($0) }
  }

  /// The settings that name no parameter of a container: values that its sub-patch publishes.
  package func published(of node: Node) -> [ParameterPath: Value] {
    guard let kind = self[node.kind], kind.isContainer else { return [:] }
    return node.settings.filter { kind[parameter: $0.key.name] == nil }
  }

  /// A node without them.
  func withoutPublished(_ node: Node) -> Node {
    var node = node
    for path in published(of: node).keys { node.settings[path] = nil }
    return node
  }

  /// A node of a file as it is inside a sub-patch.
  func enclosed(_ node: Node, in container: String) -> Node {
    let isAtEdge = NodePath.container(of: node.name) == nil
    let kind = isAtEdge ? inner(for: node.kind) : nil
    var result = Node(
      id: NodeID(raw: 0), name: container + "/" + node.name, kind: kind?.name ?? node.kind,
      settings: node.settings, place: node.place,
      comments: node.comments)
    result.lineComments = node.lineComments
    guard let kind else { return result }
    result.settings = carried(node, to: kind)
    result.lineComments = node.lineComments.filter { line, _ in
      if case .setting(let path) = line { result.settings[path] != nil } else { true }
    }
    return result
  }

  /// The settings of a node that another kind has too, where they differ from its defaults.
  private func carried(_ node: Node, to kind: KindDescription) -> [ParameterPath: Value] {
    var settings: [ParameterPath: Value] = [:]
    for parameter in self[node.kind]?.parameters ?? [] where parameter.dimensions.isEmpty {
      let path = ParameterPath(parameter.name)
      guard let there = kind[parameter: parameter.name],
        let value = try? there.checked(
          node.settings[path] ?? parameter.defaultValue, of: node.name, at: path),
        value != there.defaultValue || node.lineComments[.setting(path)] != nil
      else { continue }
      settings[path] = value
    }
    return settings
  }

  /// A node inside a sub-patch as it is in a file of its own. `base`: the node in that file now.
  fileprivate func alone(_ node: Node, named name: String, base: Node?) -> Node {
    var result = Node(
      id: NodeID(raw: 0), name: name, kind: node.kind, settings: node.settings, place: node.place,
      comments: node.comments)
    result.lineComments = node.lineComments
    guard NodePath.container(of: name) == nil, let kind = self[node.kind], let alone = kind.boundary?.alone
    else {
      return result
    }
    // A file may have an inlet itself.
    if base?.kind == node.kind { return result }
    result = Node(
      id: NodeID(raw: 0), name: name, kind: alone, settings: node.settings, place: node.place,
      comments: node.comments)
    result.lineComments = node.lineComments
    if let kind = self[alone] { result.settings = carried(node, to: kind) }
    guard let base, base.kind == alone else { return result }
    // Ports of the driver mean nothing inside, and stay as they are.
    for (path, value) in base.settings where kind[parameter: path.name] == nil {
      result.settings[path] = value
      result.lineComments[.setting(path)] = base.lineComments[.setting(path)]
    }
    return result
  }
}

extension Patch {
  /// Drops values of published parameters at a sub-patch: they are those of the nodes inside.
  package mutating func dropPublished(of name: String, catalogue: KindCatalogue) {
    guard let node = self[named: name] else { return }
    let paths = catalogue.published(of: node).keys
    if !paths.isEmpty { update(node.id) { node in for path in paths { node.settings[path] = nil } } }
  }

  /// The edits that put a file's patch inside a sub-patch. `next`: the node that follows.
  package func enclosing(
    _ container: String, before next: String?, catalogue: KindCatalogue
  ) -> [Edit] {
    func inner(_ name: String) -> String { container + "/" + name }
    func inner(_ port: PortName) -> PortName { PortName(inner(port.node), port.port) }
    var edits = nodes.values.map { Edit.add(catalogue.enclosed($0, in: container), before: next) }
    for cable in orderedCables(catalogue: catalogue) {
      let name = CableName(
        inner(self.name(of: cable.ends).source), inner(self.name(of: cable.ends).destination))
      edits.append(.connect(name, cable.settings))
      if !cable.comments.isEmpty { edits.append(.comment(.cable(name), cable.comments)) }
    }
    for (name, target) in settings.publications.sorted(by: { $0.key < $1.key }) {
      edits.append(.setPatch(.publish(inner(name), target.renaming(inner))))
      if let comments = settings.comments[.publish(name)] {
        edits.append(.comment(.patchSetting(.publish(inner(name))), comments))
      }
    }
    return edits
  }

  /// The inside of a sub-patch as a patch of its own, which its file is to have. `base`: what the file has now; from there
  /// come the values of published parameters, which each sub-patch has for itself, and all that is not inside: tempo,
  /// scenes, controls.
  package func definition(inside container: String, base: Patch?, catalogue: KindCatalogue) -> Patch {
    var result = Patch()
    if let base {
      (result.settings, result.scenes) = (base.settings, base.scenes)
      (result.header, result.footer) = (base.header, base.footer)
    }
    let start = container.utf8.count + 1
    let plain = { (name: String) in
      NodePath.isInside(name, container) ? String(name.utf8.dropFirst(start))! : name
    }
    var ids: [NodeID: NodeID] = [:]
    let own = published(by: container).map { parameter in
      let target = published(parameter.node, parameter.path) ?? (parameter.node, parameter.path)
      return (name: parameter.name, node: target.node, path: target.path)
    }
    for node in allNodes(inside: container) {
      let name = plain(node.name)
      var alone = catalogue.alone(node, named: name, base: base?[named: name])
      for parameter in own where parameter.node == node.name {
        let (name, path) = (parameter.name, parameter.path)
        let old = base?.publishing(name, path, of: alone.name, kind: alone.kind)
        if let old, old.kind == alone.kind { alone.settings[path] = old.settings[path] }
      }
      alone = alone.with(id: result.freshID())
      ids[node.id] = alone.id
      result.attach(alone, at: nil)
    }
    for id in ids.keys {
      for ends in incoming[id] ?? [] {
        guard let cable = cables[ends], let source = ids[ends.source.node], let destination = ids[id],
          isWithin(ends, container, catalogue)
        else { continue }
        result.plug(
          Cable(
            Cable.Ends(
              PortReference(source, ends.source.port), PortReference(destination, ends.destination.port)),
            cable.settings, comments: cable.comments))
      }
    }
    let publications = settings.publications.filter { NodePath.isInside($0.key, container) }
    for name in result.settings.publications.keys where publications[container + "/" + name] == nil {
      result.settings.set(.publish(name, nil))
    }
    for (name, target) in publications {
      result.settings.publications[plain(name)] = target.renaming(plain)
      result.settings.comments[.publish(plain(name))] = settings.comments[.publish(name)]
    }
    return result
  }

  /// The node of a sub-patch's file that has a published parameter: that of the present name, or, where the node has been renamed
  /// or gone into a sub-patch since, the one that the file publishes under the parameter's name. This patch is the file's.
  private func publishing(
    _ parameter: String, _ path: ParameterPath, of name: String, kind: String
  ) -> Node? {
    if let node = self[named: name] { return node }
    guard case .setting(let node, let inner)? = settings.publications[parameter] else { return nil }
    let target = published(node, inner) ?? (node, inner)
    guard target.path == path, let old = self[named: target.node], old.kind == kind else { return nil }
    return old
  }

  /// True for a cable inside a sub-patch, at any depth.
  package func isWithin(_ ends: Cable.Ends, _ container: String, _ catalogue: KindCatalogue) -> Bool {
    guard let scope = scope(of: ends, catalogue: catalogue) else { return false }
    return scope == container || NodePath.isInside(scope, container)
  }

  /// Cables between a sub-patch and what is outside.
  package func outerCables(of container: String, _ catalogue: KindCatalogue) -> [Cable] {
    var seen: Set<Cable.Ends> = []
    return allNodes(inside: container).flatMap { node in
      (cables(into: node.id, catalogue: catalogue) + cables(from: node.id, catalogue: catalogue))
        .filter { !isWithin($0.ends, container, catalogue) && seen.insert($0.ends).inserted }
    }
  }

  /// Sub-patches whose inside is in files, with the places of these; an outer one comes before those inside it.
  package func sharing(_ catalogue: KindCatalogue) -> [(node: Node, place: String)] {
    var places: [String: String] = [:]
    return inOrder(Set(inside.keys.compactMap { id(named: $0) })).compactMap { node in
      guard let file = catalogue.definitionFile(of: node) else { return nil }
      let place = places[file] ?? catalogue.place(of: file)
      places[file] = place
      return (node, place)
    }
    .sorted { $0.node.name.utf8.count < $1.node.name.utf8.count }
  }

  /// The values of published parameters that differ from those in a sub-patch's file.
  package func ownValues(of node: Node, base: Patch, catalogue: KindCatalogue) -> [(
    name: String, value: Value
  )] {
    published(by: node.name).compactMap { parameter in
      let (name, path) = published(parameter.node, parameter.path) ?? (parameter.node, parameter.path)
      guard let inner = self[named: name], NodePath.isInside(name, node.name) else { return nil }
      let plain = String(name.utf8.dropFirst(node.name.utf8.count + 1))!
      let there = base.publishing(parameter.name, path, of: plain, kind: inner.kind)
      let kind = catalogue[inner.kind]
      let standard = kind?[parameter: path.name]?.defaultValue(at: path)
      guard let value = inner.settings[path] ?? standard,
        let there, value != there.settings[path] ?? standard
      else { return nil }
      return (parameter.name, value)
    }
  }
}

/// `node dist distortion drive=18dB before main`
struct AddNode: EditVerbs {
  var node: Node
  var before: String?

  func apply(to draft: inout Draft) throws(EditError) {
    try Self.checkName(node.name, in: draft)
    var index: Int?
    if let before {
      let next = try draft.patch.node(named: before)
      index = draft.patch.nodes.index(forKey: next.id)
    }
    draft.attach(try Self.identified(try Self.checked(node, in: draft), in: &draft), at: index)
  }

  static func checkName(_ name: String, in draft: Draft) throws(EditError) {
    if let fault = NodeName.fault(in: name) { throw .invalidName(name, fault) }
    if draft.patch.idsByName[name] != nil { throw .nodeExists(name, isNew: true) }
  }

  /// The node, with a new identity if it has none.
  static func identified(_ node: Node, in draft: inout Draft) throws(EditError) -> Node {
    if node.id.raw == 0 { return node.with(id: draft.patch.freshID()) }
    if draft.patch[node.id] != nil { throw .identityTaken(node.name) }
    return node
  }

  func inverse(in draft: Draft) -> Edit { .remove(node.name, bridge: false) }

  func describe() -> String {
    var line = "node \(node.name) \(node.kind)" + Self.settings(of: node)
    if let before { line += " before \(before)" }
    return Self.joined(line, withRemarksOf: node)
  }

  /// The line, joined with the edits for the node's comments and place.
  static func joined(_ line: String, withRemarksOf node: Node) -> String {
    ([line] + remarks(of: node).map(\.line)).joined(separator: " ; ")
  }

  /// The edits for the node's comments and place.
  static func remarks(of node: Node) -> [Edit] {
    var edits: [Edit] = []
    if !node.comments.isEmpty { edits.append(.comment(.node(node.name), node.comments)) }
    if let place = node.place { edits.append(.place(node.name, place)) }
    for (key, comments) in node.lineComments.sorted(by: { $0.key.order < $1.key.order }) {
      let subject: Subject =
        switch key {
        case .setting(let path): .setting(node.name, path)
        case .layout: .layout(node.name)
        }
      edits.append(.comment(subject, comments))
    }
    return edits
  }

  /// ` drive=18dB [0,1]=-6dB`
  static func settings(of node: Node) -> String {
    node.settings.sorted { $0.key < $1.key }.map { " \($0.key.line)=\($0.value.line)" }.joined()
  }

  /// The node with its settings checked and in stored form.
  static func checked(_ node: Node, in draft: Draft) throws(EditError) -> Node {
    var checked = node
    if !node.comments.isEmpty { checked.comments = node.comments.tidied }
    guard let kind = draft.catalogue[node.kind] else {
      // A node with an identity comes back by undo, so it may be of an unknown kind again.
      guard draft.acceptsUnknownKinds || node.id.raw != 0 else {
        throw .noKind(node.kind, near: draft.catalogue.nearest(node.kind))
      }
      checked.settings = node.settings.mapValues(\.unread)
      return checked
    }
    // Of a sub-patch whose file is missing, nobody knows what it publishes.
    let published = draft.catalogue.published(of: node)
    let (settings, refusals) = kind.checked(draft.catalogue.withoutPublished(node))
    if let refusal = refusals.first { throw refusal }
    checked.settings = settings.merging(published.mapValues(\.unread)) { $1 }
    return checked
  }
}

extension Edit {
  /// The edits of its line, each a statement of its own.
  var statements: [Edit] {
    func parts(_ node: Node, called name: String, _ edit: (Node) -> Edit) -> [Edit] {
      var named = node
      named.name = name
      let plain = Node(id: node.id, name: node.name, kind: node.kind, settings: node.settings)
      return [edit(plain)] + AddNode.remarks(of: named)
    }
    switch self {
    case .all(let edits): return edits.flatMap(\.statements)
    case .add(let node, let before): return parts(node, called: node.name) { .add($0, before: before) }
    case .replace(let name, let node): return parts(node, called: name) { .replace(name, with: $0) }
    case .insert(let node, let cable): return parts(node, called: node.name) { .insert($0, into: cable) }
    default: return [self]
    }
  }
}

extension Draft {
  fileprivate mutating func attach(_ node: Node, at index: Int?) {
    patch.attach(node, at: index)
    isSilent = false
  }

  /// Adds a node whose settings are checked and in stored form.
  package mutating func add(checked node: Node) throws(EditError) {
    try AddNode.checkName(node.name, in: self)
    attach(try AddNode.identified(node, in: &self), at: nil)
  }
}

extension KindCatalogue {
  /// The kind that is probably meant.
  package func nearest(_ kind: String) -> String? {
    Nearest.match(for: kind, among: kinds.lazy.map(\.name))
  }
}

extension Node.Line {
  /// Sort key: settings by their path, then the layout.
  var order: ParameterPath {
    switch self {
    case .setting(let path): path
    case .layout: ParameterPath("\u{10FFFF}")
    }
  }
}

import Patch

/// Writes a patch in its canonical form: `sostenuto 1`, the settings of the patch as a whole, then a paragraph for each node, with its input
/// cables, its indexed settings and its place, one per line, and one for each scene: the edits that lead to its state.
public enum PatchWriter {
  /// The canonical text of a patch. `whole`: with what is inside sub-patches that have a file of their own, as a journal needs
  /// it, since that may be unsaved.
  public static func write(_ patch: Patch, catalogue: KindCatalogue, whole: Bool = false) -> String {
    // Where files are not read, nothing else would have the inside.
    let sharing = whole || catalogue.definitions == nil ? [] : patch.sharing(catalogue)
    let shared = Set(sharing.map(\.node.name))
    /// In a file of its own, so not in this one.
    func isElsewhere(_ name: String) -> Bool {
      !shared.isEmpty && NodePath.containers(of: name).contains(where: shared.contains)
    }
    var text = "sostenuto 1\n"
    comments(patch.header, to: &text)
    let settings = patch.settings.lines.filter {
      if case .publish(let name, _) = $0 { !isElsewhere(name) } else { true }
    }
    if !settings.isEmpty { text += "\n" }
    for setting in settings {
      write(setting.line, patch.settings.comments[setting.name] ?? Comments(), to: &text)
    }
    for node in patch.nodes.values where shared.isEmpty || !isElsewhere(node.name) {
      text += "\n"
      write(node, of: patch, catalogue: catalogue, isShared: shared.contains(node.name), to: &text)
    }
    // Lines of scenes have the order of the nodes, which has to be that of the file.
    let read = patch.scenes.isEmpty || shared.isEmpty ? patch : patch.inFileOrder(shared)
    for (number, scene) in patch.scenes.sorted(by: { $0.key < $1.key }) {
      text += "\n"
      write(scene.line(number), scene.comments, to: &text)
      for edit in (try? read.fileEdits(to: scene, catalogue: catalogue)) ?? [] {
        text += Edit.scene(number, .edit(edit)).line + "\n"
      }
    }
    if !patch.footer.isEmpty {
      text += "\n"
      comments(patch.footer, to: &text)
    }
    return text
  }

  /// Lines of some nodes, in the order of the file, with the cables between them and without their places: what a
  /// clipboard takes. A sub-patch has its inside with it, in lines or in its file. `naming`: names of files for
  /// those outside the patch's folder.
  public static func lines(
    of nodes: Set<NodeID>, in patch: Patch, catalogue: KindCatalogue, naming: ((String) -> String)? = nil
  ) -> String {
    let chosen = patch.nodes.values.filter { nodes.contains($0.id) }
    let inside = chosen.flatMap { patch.allNodes(inside: $0.name) }
    let all = nodes.union(inside.map(\.id))
    let shared = Set(catalogue.definitions == nil ? [] : patch.sharing(catalogue).map(\.node.name))
    func isElsewhere(_ name: String) -> Bool {
      NodePath.containers(of: name).contains(where: shared.contains)
    }
    var text = ""
    for case .publish(let name, let target) in patch.settings.lines where !isElsewhere(name) {
      guard let container = NodePath.container(of: name).flatMap(patch.id), all.contains(container) else {
        continue
      }
      text += Edit.setPatch(.publish(name, target)).line + "\n"
    }
    for var node in patch.nodes.values where all.contains(node.id) && !isElsewhere(node.name) {
      node.place = nil
      if !text.isEmpty { text += "\n" }
      write(
        node, of: patch, among: all, catalogue: catalogue, isShared: shared.contains(node.name),
        naming: naming,
        to: &text)
    }
    return text
  }

  /// `nodes`: those of which cables are written; nil: all.
  private static func write(
    _ node: Node, of patch: Patch, among nodes: Set<NodeID>? = nil, catalogue: KindCatalogue,
    isShared: Bool = false, naming: ((String) -> String)? = nil, to text: inout String
  ) {
    let kind = catalogue[node.kind]
    let settings = ordered(node.settings, kind).map { path, value in
      guard let naming, kind?[parameter: path.name]?.fileType != nil, case .text(let file) = value,
        !file.isEmpty
      else { return (path, value) }
      return (path, .text(naming(file)))
    }

    var line = "node \(node.name) \(node.kind)"
    for (path, value) in settings where standsInNodeLine(path, node) { line += " \(path.line)=\(value.line)" }
    let base = isShared ? catalogue.definition(of: node) : nil
    if let base {
      for own in patch.ownValues(of: node, base: base, catalogue: catalogue) {
        line += " \(own.name)=\(own.value.line)"
      }
    }
    write(line, node.comments, to: &text)

    // Cables to what is inside have no paragraph of their own.
    for inner in isShared ? patch.allNodes(inside: node.name) : [] {
      for cable in patch.cables(into: inner.id, catalogue: catalogue)
      where !patch.isWithin(cable.ends, node.name, catalogue)
        && nodes?.contains(cable.ends.source.node) ?? true
      {
        let edit = Edit.connect(patch.shortName(of: cable.ends, catalogue: catalogue), cable.settings)
        write(edit.line, cable.comments, to: &text)
      }
    }
    for cable in patch.cables(into: node.id, catalogue: catalogue)
    where nodes?.contains(cable.ends.source.node) ?? true {
      let name = patch.shortName(of: cable.ends, catalogue: catalogue)
      let edit = Edit.connect(name, cable.settings)
      write(edit.line, cable.comments, to: &text)
    }
    for (path, value) in settings where !standsInNodeLine(path, node) {
      let comments = node.lineComments[.setting(path)] ?? Comments()
      write("set \(node.name)\(path.suffix) \(value.line)", comments, to: &text)
    }
    if let place = node.place {
      write(Edit.place(node.name, place).line, node.lineComments[.layout] ?? Comments(), to: &text)
    }
  }

  private static func standsInNodeLine(_ path: ParameterPath, _ node: Node) -> Bool {
    path.indices.isEmpty && (node.lineComments.isEmpty || node.lineComments[.setting(path)] == nil)
  }

  /// Settings in the order of the kind's parameters, then by index; unknown names come last.
  static func ordered(_ settings: [ParameterPath: Value], _ kind: KindDescription?) -> [(
    ParameterPath, Value
  )] {
    if settings.isEmpty { return [] }
    var ranks: [String: Int] = [:]
    for (rank, parameter) in (kind?.parameters ?? []).enumerated() { ranks[parameter.name] = rank }
    return settings.sorted { a, b in
      let (rankA, rankB) = (ranks[a.key.name] ?? .max, ranks[b.key.name] ?? .max)
      return rankA != rankB ? rankA < rankB : a.key < b.key
    }
    .map { ($0.key, $0.value) }
  }

  private static func write(_ line: String, _ comments: Comments, to text: inout String) {
    self.comments(comments.before, to: &text)
    text += line
    if let after = comments.after { text += "  # \(after)" }
    text += "\n"
  }

  private static func comments(_ lines: [String], to text: inout String) {
    for line in lines { text += line.isEmpty ? "#\n" : "# \(line)\n" }
  }
}

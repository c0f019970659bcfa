import Patch

/// Adding, inserting, replacing and removing of nodes.
@MainActor struct Rewiring {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var scene: Scene { desk.scene }

  // MARK: Removing

  /// Removes the marked nodes, or the focused one.
  func removeChosen(bridge: Bool) {
    let nodes = desk.chosenNodes
    guard !nodes.isEmpty else { return desk.complain(Desk.nothingThere) }
    let edit = Edit.joined(nodes.map { .remove($0.name, bridge: bridge) })
    let names = nodes.map(\.name).joined(separator: ", ")
    let all = nodes.flatMap { [$0] + scene.patch.allNodes(inside: $0.name) }
    let ids = Set(all.map(\.id))
    if bridge {
      var reason: String?
      if !desk.state.isLocked, isLastWay(edit) {
        reason = "\(names) \(nodes.count > 1 ? "are" : "is") the last way to an output"
      } else if let held = all.first(where: { desk.state.play.heldBy[$0.id]?.isEmpty == false }) {
        reason = "\(held.name) holds notes, which would end"
      } else if let sounding = scene.report.nodes.first(where: { ids.contains($0.id) && $0.voices > 0 }) {
        reason = "notes of \(sounding.name) sound, and would end"
      }
      if let reason, !desk.isConfirmed(edit.line, "\(reason): again to remove it") { return }
    }
    // The focus moves along the signal path, to where the gap closes.
    let next =
      nodes.flatMap { scene.cables(from: $0.id) }.map(\.ends.destination.node).first { !ids.contains($0) }
      ?? nodes.flatMap { scene.cables(into: $0.id) }.map(\.ends.source.node).first { !ids.contains($0) }
    if desk.perform(edit) { desk.focus(besideRemoved: next) }
  }

  /// True if sources are heard now, and none would be after the edit.
  private func isLastWay(_ edit: Edit) -> Bool {
    let heard = scene.heard(in: scene.patch)
    guard !heard.isEmpty, let after = try? scene.patch.applying(edit, catalogue: scene.catalogue).patch else {
      return false
    }
    return scene.heard(in: after).isEmpty
  }

  // MARK: Kinds

  func startReplacing() {
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    choose("replace \(node.name) by", kinds(near: node.kind)) { kind, desk in
      Rewiring(desk).replaceFocused(with: Node(name: node.name, kind: kind))
    }
  }

  private func replaceFocused(with replacement: Node) {
    guard let node = desk.focusedNode else { return }
    if desk.perform(.replace(node.name, with: replacement)) {
      // Kind and settings without the identity.
      desk.rewiring.otherKinds[node.name] = Node(name: node.name, kind: node.kind, settings: node.settings)
    }
  }

  func startInserting() {
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    let hasCable = PortHints.chooseCable(
      of: node, purpose: "insert into which cable of \(node.name)?", desk
    ) { Rewiring($1).chooseInsertion($0) }
    if !hasCable { desk.complain("\(node.name) has no cable to insert into") }
  }

  private func chooseInsertion(_ ends: Cable.Ends) {
    choose("insert into \(scene.name(of: ends))", kinds(near: nil, passing: true)) { kind, desk in
      Rewiring(desk).insert(kind, into: ends)
    }
  }

  private func insert(_ kind: String, into ends: Cable.Ends) {
    let name = scene.freshName(kind, inside: desk.state.graph.inside)
    if desk.perform(.insert(Node(name: name, kind: kind), into: scene.name(of: ends))) {
      desk.rewiring.insertedKind = kind
      if let id = scene.patch.id(named: name) { desk.focus(id) }
    }
  }

  func startAdding() {
    choose("add a node of kind", kinds(near: nil)) { kind, desk in
      let name = desk.scene.freshName(kind, inside: desk.state.graph.inside)
      if desk.perform(.add(Node(name: name, kind: kind), before: nil)),
        let id = desk.scene.patch.id(named: name)
      {
        desk.focus(id)
      }
    }
  }

  private func choose(
    _ title: String, _ items: [(name: String, detail: String)],
    then: @escaping @MainActor (String, Desk) -> Void
  ) {
    desk.state.overlay = Chooser(title: title, items: items, then: then)
  }

  /// All kinds, those in the category of `kind` first. `passing`: only kinds with inputs and outputs.
  private func kinds(near kind: String?, passing: Bool = false) -> [(name: String, detail: String)] {
    let category = kind.flatMap { scene.catalogue[$0]?.category } ?? .effect
    let kinds = scene.catalogue.kinds.filter {
      $0.name != kind && (!passing || (!$0.inputs.isEmpty && !$0.outputs.isEmpty))
    }
    let near = kinds.filter { $0.category == category }
    let library = passing ? [] : scene.catalogue.definitions?.library ?? []
    return (near + kinds.filter { $0.category != category }).map { ($0.name, $0.summary) }
      + library.map { ($0.name, $0.summary.isEmpty ? "a sub-patch" : $0.summary) }
  }

  // MARK: While playing

  /// Target of the function keys: the focused node if it is an effect, otherwise the first effect of the
  /// patch.
  private var effect: Node? {
    func isEffect(_ node: Node) -> Bool { scene.catalogue[node.kind]?.category == .effect }
    if let node = desk.focusedNode, isEffect(node) { return node }
    return scene.patch.nodes.values.first(where: isEffect)
  }

  /// Replaces the effect by the one that it replaced before, with its settings. The first time, by an
  /// equalizer, or for an equalizer by a distortion.
  func swapEffect() {
    guard let node = effect else { return desk.complain("no effect to swap: F8 inserts one") }
    desk.focus(node.id)
    let fallback = node.kind == "equalizer" ? "distortion" : "equalizer"
    var other = desk.rewiring.otherKinds[node.name] ?? Node(name: node.name, kind: fallback)
    if other.kind == node.kind { other = Node(name: node.name, kind: fallback) }
    replaceFocused(with: other)
  }

  /// Inserts the last inserted kind into the focused node's first output cable, or otherwise input cable.
  func insertEffect() {
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    let audio = (scene.cables(from: node.id) + scene.cables(into: node.id)).first {
      scene.isEvents(output: $0.ends.source) != true
    }
    guard let audio else { return desk.complain("\(node.name) has no cable to insert into") }
    insert(desk.rewiring.insertedKind, into: audio.ends)
  }
}

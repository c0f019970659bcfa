import Patch
import PatchLanguage
import Session

/// Several nodes at once: marks, copies, and the clipboard, whose contents are lines of the language.
@MainActor struct Selecting {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var scene: Scene { desk.scene }

  nonisolated static let actions: [Action] = [
    Action("mark", "Mark the focused node for what follows, or unmark it", [.patch: "s"]) { desk in
      if let id = desk.state.focus { Selecting(desk).toggle(id) } else { desk.complain(Desk.nothingThere) }
    },
    Action("mark-all", "Mark every node, or none", [.patch: "S"]) { Selecting($0).toggleAll() },
    Action(
      "duplicate", "Copies of the marked nodes and of the cables between them, or of the focused one",
      [.patch: "D"]
    ) { Selecting($0).duplicate() },
    Action("copy", "Copy the marked nodes, or the focused one, as lines of the language", [.patch: "y"]) {
      Selecting($0).copy()
    },
    Action("cut", "Copy them, and remove them", [.patch: "Y"]) { desk in
      Selecting(desk).copy()
      Rewiring(desk).removeChosen(bridge: false)
    },
    Action("paste", "Paste what was copied here; lines pasted by the terminal are edits too", [.patch: "P"]) {
      Selecting($0).paste()
    },
  ]

  // MARK: Marks

  func toggle(_ id: NodeID) {
    guard scene.patch[id] != nil else { return }
    if desk.state.marked.remove(id) == nil { desk.state.marked.insert(id) }
  }

  private func toggleAll() {
    if scene.patch.nodes.isEmpty { return desk.complain(Desk.nothingThere) }
    desk.state.marked = desk.state.marked.isEmpty ? Set(scene.patch.nodes.keys) : []
  }

  /// Forgets marks of nodes that are gone.
  func settle() {
    let patch = scene.patch
    guard !desk.state.marked.isEmpty, desk.state.graph.markedIn !== patch.revision else { return }
    desk.state.graph.markedIn = patch.revision
    let gone = desk.state.marked.filter { patch[$0] == nil }
    if !gone.isEmpty { desk.state.marked.subtract(gone) }
  }

  // MARK: Copies

  private func duplicate() {
    let nodes = desk.chosenNodes
    var names: [NodeID: String] = [:]
    var taken = Set(scene.patch.names)
    for node in nodes {
      let name = NodeName.free(like: node.name) { taken.contains($0) }
      taken.insert(name)
      names[node.id] = name
    }
    guard let first = nodes.first else { return desk.complain(Desk.nothingThere) }
    var edits = nodes.map { Edit.copy($0.name, to: names[$0.id] ?? "") }
    // Cables of a sub-patch are those of nodes inside, by its own name.
    let copies = Dictionary(uniqueKeysWithValues: nodes.map { ($0.name, names[$0.id] ?? "") })
    for node in nodes.flatMap({ [$0] + scene.patch.allNodes(inside: $0.name) }) {
      for cable in scene.patch.cables(into: node.id, catalogue: scene.catalogue) {
        var name = scene.patch.shortName(of: cable.ends, catalogue: scene.catalogue)
        guard let source = copies[name.source.node], let destination = copies[name.destination.node] else {
          continue
        }
        (name.source.node, name.destination.node) = (source, destination)
        edits.append(.connect(name, cable.settings))
      }
    }
    guard desk.perform(.joined(edits)) else { return }
    desk.show(nodes.compactMap { names[$0.id].flatMap(scene.patch.id(named:)) })
    if nodes.count == 1 { return }
    desk.say("copied \(nodes.count) nodes: \(names[first.id] ?? "") and the others are marked")
  }

  private func copy() {
    let nodes = desk.chosenNodes
    guard let first = nodes.first else { return desk.complain(Desk.nothingThere) }
    let ids = Set(nodes.map(\.id))
    let file = desk.workbench.file ?? ""
    desk.copy(
      PatchWriter.lines(of: ids, in: scene.patch, catalogue: scene.catalogue),
      elsewhere: PatchWriter.lines(of: ids, in: scene.patch, catalogue: scene.catalogue) {
        FilePath.absolute($0, from: file)
      })
    desk.say("copied \(nodes.count == 1 ? first.name : "\(nodes.count) nodes")")
  }

  private func paste() {
    guard let text = desk.clipboard else {
      return desk.complain("nothing was copied here: y copies; or paste by the terminal's own key")
    }
    desk.attempt { try desk.paste(text) }
  }
}

import Patch

/// Choice of the matrix screen's contents: a matrix, or a cable that is shown as one.
@MainActor struct GridChoice {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  private var matrices: [NodeID] {
    desk.scene.patch.nodes.values.filter { desk.scene.isMatrix($0) }.map(\.id)
  }

  /// Audio cables, in file order of their sources.
  private var audioCables: [Cable.Ends] {
    let scene = desk.scene
    return scene.patch.nodes.keys.flatMap { scene.patch.cables(from: $0, catalogue: scene.catalogue) }
      .map(\.ends).filter { scene.isEvents(output: $0.source) != true }
  }

  /// Chooses the focused matrix, the one before, or the first; without any matrix, a cable of the focused
  /// node.
  func settle() {
    let all = matrices
    if let focus = desk.state.focus, all.contains(focus) {
      desk.state.matrix.node = focus
      desk.state.matrix.cable = nil
    } else if desk.state.matrix.cable == nil, desk.state.matrix.node.map({ !all.contains($0) }) ?? true {
      desk.state.matrix.node = all.first
      if all.isEmpty, let focus = desk.state.focus {
        desk.state.matrix.cable = desk.scene.audioCables(of: focus).first ?? audioCables.first
      }
    }
    desk.state.matrix.dropRange()
    GridCursor(desk).clamp()
  }

  /// Shows the matrix screen.
  func show() {
    desk.state.view = .matrix
    desk.state.matrix.typed = nil
    desk.state.matrix.formerCable = nil
    settle()
  }

  func show(_ ends: Cable.Ends) {
    show()
    desk.state.matrix.cable = ends
    desk.state.matrix.dropRange()
    GridCursor(desk).clamp()
  }

  /// Opens a cable of the focused node.
  func startWithCable() {
    guard let node = desk.focusedNode else { return desk.complain(Desk.nothingThere) }
    let cables = desk.scene.audioCables(of: node.id)
    switch cables.count {
    case 0: desk.complain("\(node.name) has no cable that carries sound")
    case 1: show(cables[0])
    default:
      PortHints.show(
        cables.map { .cable($0) }, purpose: "open which cable of \(node.name) as a matrix?", desk
      ) { target, desk in
        if case .cable(let ends) = target { GridChoice(desk).show(ends) }
      }
    }
  }

  /// Lets the user choose any matrix or cable of the patch from a list.
  func start() {
    let scene = desk.scene
    let matrices = matrices.compactMap { scene.patch[$0] }.map { node in
      (name: node.name, detail: NodeFacts(node, scene.catalogue).kindText)
    }
    let cables = audioCables.map { ends in
      (
        name: scene.name(of: ends).description,
        detail: scene.patch.cables[ends]?.map.map { "map \($0.line)" } ?? "cable"
      )
    }
    desk.state.overlay = Chooser(title: "open as a matrix", items: matrices + cables) { name, desk in
      let choice = GridChoice(desk)
      if let id = desk.scene.patch.id(named: name) {
        desk.state.matrix.cable = nil
        desk.focus(id)
        choice.show()
      } else if let ends = choice.audioCables.first(where: { desk.scene.name(of: $0).description == name }) {
        choice.show(ends)
      }
    }
  }

  func showNext() {
    if let cable = desk.state.matrix.cable {
      let all = audioCables
      guard all.count > 1, let index = all.firstIndex(of: cable) else { return }
      show(all[(index + 1) % all.count])
      return
    }
    let all = matrices
    guard all.count > 1, let node = desk.state.matrix.node, let index = all.firstIndex(of: node) else {
      return
    }
    desk.state.matrix.node = all[(index + 1) % all.count]
    desk.focus(all[(index + 1) % all.count])
    desk.state.matrix.dropRange()
    GridCursor(desk).clamp()
  }

  /// Replaces a cable's channel map by a matrix, which can sum and has gains.
  func makeMatrix(_ grid: Grid) {
    let name = desk.scene.freshName("matrix")
    guard let edit = grid.becomingMatrix(named: name) else {
      return desk.say("\(grid.name) is a matrix already")
    }
    guard desk.perform(edit), let id = desk.scene.patch.id(named: name) else { return }
    desk.state.matrix.formerCable = desk.state.matrix.cable
    desk.state.matrix.cable = nil
    desk.focus(id)
    GridCursor(desk).clamp()
  }
}

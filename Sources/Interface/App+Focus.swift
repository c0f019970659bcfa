import Patch
import Screen
import Session

/// Navigation: the focus in the graph, the cursor in the matrix, the lines of the other views.
extension App {
  public var focusedNode: Node? { state.focus.flatMap { scene.patch[$0] } }

  func focus(_ id: NodeID) {
    guard let node = scene.patch[id] else { return }
    state.focus = id
    focusName = node.name
    focusIndex = scene.patch.nodes.index(forKey: id) ?? 0
    if Grid.isMatrix(node, scene.catalogue) { state.matrix.node = id }
  }

  /// After a change, keeps the focus on its node, on the node that took its name, or nearby.
  func keepFocus() {
    let patch = scene.patch
    if let id = state.focus, let node = patch[id] {
      focusName = node.name
      focusIndex = patch.nodes.index(forKey: id) ?? focusIndex
    } else if let name = focusName, let id = patch.id(named: name) {
      focus(id)
    } else if !patch.nodes.isEmpty {
      focus(patch.nodes.keys[min(focusIndex, patch.nodes.count - 1)])
    } else {
      state.focus = nil
    }
    if let id = state.matrix.node, patch[id] == nil { chooseMatrix() }
    if let id = state.trace.node, patch[id] == nil { state.trace.node = nil }
    if case .parameters(let panel) = state.overlay, patch[panel.node] == nil { state.overlay = .none }
    clampMatrix()
  }

  func cycleFocus(_ step: Int) {
    let ids = Views.order(scene).filter { scene.patch[$0] != nil }
    guard !ids.isEmpty else { return }
    let index = state.focus.flatMap { ids.firstIndex(of: $0) } ?? 0
    focus(ids[(index + step + ids.count) % ids.count])
  }

  func move(_ action: Action) {
    switch state.view {
    case .matrix where state.mode == .patch: moveInMatrix(action)
    case .graph: moveInGraph(action)
    case .printout: moveInPrintout(action)
    default:
      // In play mode, the arrows still choose the node for the function keys.
      if state.mode == .play, [.moveLeft, .moveRight].contains(action) {
        moveInGraph(action)
      } else {
        scroll(action)
      }
    }
  }

  private func moveInGraph(_ action: Action) {
    let ids = Views.order(scene, state).filter { scene.patch[$0] != nil }
    guard let node = focusedNode else { return }
    switch action {
    case .moveHome: if let first = ids.first { focus(first) }
    case .moveEnd: if let last = ids.last { focus(last) }
    case .pageUp, .pageDown: for _ in 0..<4 { moveInGraph(action == .pageUp ? .moveUp : .moveDown) }
    default:
      let direction: Diagram.Direction =
        switch action {
        case .moveLeft: .left
        case .moveRight: .right
        case .moveUp: .up
        default: .down
        }
      // Skips boxes of leaving nodes, which cannot be edited.
      var here = node.id
      for _ in 0..<8 {
        let found = Views.neighbour(
          of: here, direction, scene, state, columns: size.columns, rows: size.rows)
        guard let next = found else { return }
        if scene.patch[next] != nil {
          focus(next)
          return
        }
        here = next
      }
    }
  }

  /// Moves the focus from node to node in the printout's order.
  private func moveInPrintout(_ action: Action) {
    let ids = scene.report.nodes.map(\.id).filter { scene.patch[$0] != nil }
    guard !ids.isEmpty else { return }
    let index = state.focus.flatMap { ids.firstIndex(of: $0) } ?? 0
    var column = state.scroll[.printout]?.column ?? 0
    var next = index
    switch action {
    case .moveUp: next -= 1
    case .moveDown: next += 1
    case .pageUp: next -= 5
    case .pageDown: next += 5
    case .moveHome: (next, column) = (0, 0)
    case .moveEnd: next = ids.count - 1
    case .moveLeft: column = max(0, column - 8)
    case .moveRight: column = min(column + 8, 200)
    default: break
    }
    state.scroll[.printout] = (0, column)
    focus(ids[min(max(0, next), ids.count - 1)])
  }

  private func scroll(_ action: Action) {
    let page = max(1, size.rows - 6)
    var place = state.scroll[state.view] ?? (0, 0)
    switch action {
    case .moveUp: place.row -= 1
    case .moveDown: place.row += 1
    case .pageUp: place.row -= page
    case .pageDown: place.row += page
    case .moveHome: place = (0, 0)
    case .moveEnd: place.row = .max / 4
    case .moveLeft: place.column -= 8
    case .moveRight: place.column += 8
    default: break
    }
    if state.view == .trace {
      // Moving up stops following the end; reaching the end resumes it.
      if state.trace.isFollowing, [.moveUp, .pageUp, .moveHome].contains(action) {
        state.trace.isFollowing = false
        if action != .moveHome { place.row = lastRow - (action == .pageUp ? page : 1) }
      } else if place.row >= lastRow {
        state.trace.isFollowing = true
      }
    }
    place.row = min(max(0, place.row), lastRow)
    place.column = min(max(0, place.column), 200)
    state.scroll[state.view] = place
  }

  /// Last useful scroll position.
  private var lastRow: Int {
    let rows: Int
    switch state.view {
    case .help: rows = state.help.reduce(0) { $0 + $1.entries.count + 2 }
    case .trace: rows = scene.trace.count { state.trace.node == nil || $0.node == state.trace.node }
    default: rows = 0
    }
    return max(0, rows - max(1, size.rows - 7))
  }
}

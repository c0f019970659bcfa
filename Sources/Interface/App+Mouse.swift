import Patch
import Screen

/// The mouse: pointing instead of keys.
extension App {
  /// State between press and release of a button.
  enum Drag {
    case port(ViewState.Hint.Target)
    /// Gains follow the movement from their start values.
    case gains([(cell: GridCell, gain: Double)], range: GridRange, start: Point)
    /// The right button spans a range of the grid; without movement it toggles.
    case range(from: GridCell, hasMoved: Bool)
  }

  func handle(_ mouse: MouseEvent) {
    if mouse.action == .wheel { return turnWheel(mouse) }
    let hit = hit(mouse.point)
    switch (mouse.action, mouse.button) {
    case (.press, .left):
      guard case .none = state.overlay else {
        // A click outside a list or a question closes it.
        if case .prompt = state.overlay { return }
        state.overlay = .none
        return
      }
      press(hit, at: mouse.point)
    case (.drag, _):
      switch drag {
      case .gains(let gains, let range, let start):
        let way = mouse.point - start
        dragGains(gains, range, by: way.column - way.row)
      case .range(let from, let hasMoved):
        guard case .crosspoint(let row, let column) = hit else { break }
        if hasMoved || GridCell(row, column) != from { spanRange(from, to: GridCell(row, column)) }
      default: break
      }
    case (.release, _):
      defer { drag = nil }
      switch drag {
      case .port(let from): drop(from, on: hit)
      case .range(_, hasMoved: false): performMatrix(.toggleCrosspoint, key: nil)
      default: break
      }
    case (.press, .right):
      switch hit {
      case .node(let id):
        focus(id)
        openPanel()
      case .cable(let ends) where isEvents(output: ends.source) != true:
        focus(ends.destination.node)
        open(ends)
      case .crosspoint(let row, let column): pressCellForRange(GridCell(row, column))
      default: break
      }
    default: break
    }
  }

  private func press(_ hit: Hit, at point: Point) {
    switch hit {
    case .tab(let view):
      perform(App.action(for: view))
    case .node(let id): focus(id)
    case .output(let port):
      focus(port.node)
      drag = .port(.output(port))
    case .input(let port):
      focus(port.node)
      drag = .port(.input(port))
    case .crosspoint(let row, let column): pressCell(GridCell(row, column), at: point)
    case .cable(let ends): focus(ends.destination.node)
    case .key(let key): click(key)
    case .nothing: break
    }
  }

  private func hit(_ point: Point) -> Hit {
    Views.hit(scene, state, columns: size.columns, rows: size.rows, at: point)
  }

  private func drop(_ from: ViewState.Hint.Target, on hit: Hit) {
    switch (from, hit) {
    case (.output(let source), .input(let destination)), (.input(let destination), .output(let source)):
      connect(source, destination)
    case (.output(let source), .node(let id)) where id != source.node:
      // Dropped on a box: connects to its first fitting port.
      connectBoxes(source, id, isSource: true)
    case (.input(let destination), .node(let id)) where id != destination.node:
      connectBoxes(destination, id, isSource: false)
    default: break
    }
  }

  private func connectBoxes(_ port: PortReference, _ other: NodeID, isSource: Bool) {
    guard let own = scene.patch[port.node]?.name, let name = scene.patch[other]?.name else { return }
    let end = PortName(own, port.port)
    let cable = isSource ? CableName(end, PortName(name)) : CableName(PortName(name), end)
    perform(.connect(cable))
  }

  private func turnWheel(_ mouse: MouseEvent) {
    if case .chooser = state.overlay {
      handleChooser(mouse.wheelRows < 0 ? "up" : "down")
      return
    }
    if state.view == .matrix, state.mode == .patch {
      turnWheelOnGrid(mouse, over: hit(mouse.point))
      return
    }
    if state.view == .graph {
      if mouse.wheelRows != 0 { cycleFocus(mouse.wheelRows) }
      return
    }
    for _ in 0..<3 { move(mouse.wheelRows < 0 ? .moveUp : .moveDown) }
  }

  static func action(for view: ViewState.View) -> Action {
    switch view {
    case .graph: .showGraph
    case .printout: .showPrintout
    case .matrix: .showMatrix
    case .trace: .showTrace
    case .help: .showHelp
    }
  }
}

import Patch
import Screen

/// The mouse: what the keys do, by pointing.
extension App {
  /// What was pressed, until the button comes up.
  enum Drag: Equatable {
    case port(ViewState.Hint.Target)
    /// A gain follows the movement up and down: where it began, and the gain then.
    case gain(path: ParameterPath, start: Point, gain: Double)
  }

  func handle(_ mouse: MouseEvent) {
    if mouse.action == .wheel { return turnWheel(mouse) }
    let hit = hit(mouse.point)
    switch (mouse.action, mouse.button) {
    case (.press, .left):
      guard case .none = state.overlay else {
        // A click beside a list or a question leaves it.
        if case .prompt = state.overlay { return }
        state.overlay = .none
        return
      }
      press(hit, at: mouse.point)
    case (.drag, _):
      if case .gain(let path, let start, let gain) = drag {
        dragGain(path, gain, by: start.row - mouse.point.row)
      }
    case (.release, _):
      defer { drag = nil }
      if case .port(let from) = drag { drop(from, on: hit) }
    case (.press, .right):
      if case .node(let id) = hit {
        focus(id)
        openPanel()
      }
      if case .crosspoint(let row, let column) = hit {
        select(row: row, column: column)
        performMatrix(.toggleCrosspoint, key: nil)
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
    case .crosspoint(let row, let column):
      select(row: row, column: column)
      if let node = state.matrix.node.flatMap({ scene.patch[$0] }) {
        let path = Views.matrixPath(row: state.matrix.row, column: state.matrix.column)
        drag = .gain(path: path, start: point, gain: gain(of: node, path))
      }
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
      // Dropped on a box: its first port that fits.
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

  private func dragGain(_ path: ParameterPath, _ start: Double, by rows: Int) {
    guard let node = state.matrix.node.flatMap({ scene.patch[$0] }) else { return }
    let high = scene.catalogue[node.kind]?[parameter: path.name]?.range.upperBound ?? 24
    var new = start
    for _ in 0..<min(200, abs(rows)) { new = App.decibels(new, by: rows > 0 ? 1 : -1) }
    new = min(new, high)
    if new != gain(of: node, path) { perform(.set(node.name, path, .number(new, .decibels), over: nil)) }
  }

  private func turnWheel(_ mouse: MouseEvent) {
    if case .chooser = state.overlay {
      handleChooser(mouse.wheelRows < 0 ? "up" : "down")
      return
    }
    if state.view == .matrix, state.mode == .patch {
      if case .crosspoint(let row, let column) = hit(mouse.point) {
        select(row: row, column: column)
        performMatrix(mouse.wheelRows < 0 ? .gainUp : .gainDown, key: nil)
      }
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

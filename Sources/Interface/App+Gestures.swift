import Patch
import Screen

/// Gestures: one movement of the hand is one edit in the history, however many steps it has.
extension App {
  struct Gesture {
    /// Kind and target; a change of either starts a new gesture.
    enum Kind: Hashable {
      case step(String)
      case stepCells(String, GridRange)
      case dragCells(String, GridRange)
    }
    var kind: Kind
    /// Number of its edit in the history.
    var edit: Int?
    /// Time of its last step.
    var time: Double
    /// Gains of its cells before it.
    var base: [Double]
  }

  /// Seconds without a step after which a new gesture starts.
  static let gestureTime = 0.4

  /// The current gesture, if it is of this kind and made the newest edit.
  private func ongoing(_ kind: Gesture.Kind) -> Gesture? {
    guard let gesture, gesture.kind == kind, gesture.edit == workbench.newestEdit else { return nil }
    if case .dragCells = kind { return gesture }
    return now() - gesture.time < App.gestureTime ? gesture : nil
  }

  /// Performs the next step of a gesture, replacing the ones before.
  func perform(_ edit: Edit, as kind: Gesture.Kind, from base: [Double] = []) {
    guard perform(edit, amending: ongoing(kind)?.edit) else { return }
    gesture = Gesture(kind: kind, edit: workbench.newestEdit, time: now(), base: base)
  }

  /// The next step of a gesture that moves gains; unchanged gains are left out of its edit.
  func move(_ grid: Grid, _ gains: [(cell: GridCell, gain: Double)], as kind: Gesture.Kind) {
    guard gains.contains(where: { grid.gain($0.cell) != $0.gain }) else { return }
    let base = ongoing(kind)?.base ?? gains.map { grid.gain($0.cell) }
    let moved = zip(gains, base).filter { $0.gain != $1 }.map(\.0)
    // A map is set as a whole; so are all gains of a gesture that returned to its start.
    let isWhole = grid.cable != nil || moved.isEmpty
    attempt { perform(try grid.setting(isWhole ? gains : moved), as: kind, from: base) }
  }

  // MARK: The mouse on the grid

  /// Left button on a cell: a range that contains it stays, so that dragging moves the whole range.
  func pressCell(_ cell: GridCell, at point: Point) {
    let isInRange = state.matrix.rangeStart != nil && state.matrix.range.contains(cell)
    if !isInRange { state.matrix.dropRange() }
    select(cell)
    gesture = nil
    guard let grid, grid.contains(state.matrix.cell) else { return }
    let gains = state.matrix.range.cells.map { ($0, grid.gain($0)) }
    drag = .gains(gains, range: state.matrix.range, start: point)
  }

  /// Right button on a cell: spans a range or toggles.
  func pressCellForRange(_ cell: GridCell) {
    if state.matrix.rangeStart == nil || !state.matrix.range.contains(cell) { state.matrix.dropRange() }
    select(cell)
    drag = .range(from: state.matrix.cell, hasMoved: false)
  }

  func spanRange(_ first: GridCell, to other: GridCell) {
    drag = .range(from: first, hasMoved: true)
    select(other)
    state.matrix.rangeStart = first
    state.matrix.rangeEnd = state.matrix.cell
  }

  /// Up and to the right is louder, by 1 dB per cell of the screen.
  func dragGains(_ gains: [(cell: GridCell, gain: Double)], _ range: GridRange, by steps: Int) {
    guard let grid else { return }
    let new = gains.map { cell, gain in
      (cell, min(grid.stepped(cell, from: gain, by: steps), grid.loudest(cell, scene.catalogue)))
    }
    move(grid, new, as: .dragCells(grid.name, range))
  }

  func turnWheelOnGrid(_ mouse: MouseEvent, over hit: Hit) {
    if mouse.modifiers.contains(.ctrl) {
      zoom(mouse.wheelRows < 0 ? 1 : -1)
      return
    }
    guard case .crosspoint(let row, let column) = hit, mouse.wheelRows != 0 else { return }
    let cell = GridCell(row, column)
    let isInRange = state.matrix.rangeStart != nil && state.matrix.range.contains(cell)
    if !isInRange {
      state.matrix.dropRange()
      select(cell)
    }
    performMatrix(mouse.wheelRows < 0 ? .gainUp : .gainDown, key: nil)
  }
}

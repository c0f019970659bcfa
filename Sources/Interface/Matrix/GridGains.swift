import Patch
import Screen

/// Edits of the cells under the cursor, or of the range.
@MainActor struct GridGains {
  private let desk: Desk
  private let grid: Grid
  private let range: GridRange
  /// The `-` key right before.
  private let minus: (range: GridRange, time: Double)?

  /// nil, with a message: there is no grid.
  init?(_ desk: Desk) {
    guard let grid = Grid(desk.scene, desk.state) else {
      desk.complain("no matrix: a adds one, o opens a cable as one")
      return nil
    }
    self.desk = desk
    self.grid = grid
    range = desk.state.matrix.range
    minus = desk.typing.minus
    desk.typing.minus = nil
  }

  /// The cell under the cursor determines the new state of all of them.
  private var lead: GridCell {
    range.contains(desk.state.matrix.cell) ? desk.state.matrix.cell : range.first
  }

  // MARK: Gains

  func toggle() { desk.attempt { desk.perform(try grid.setting(range, to: grid.toggled(lead))) } }

  func reset() { desk.perform(grid.resetting(range)) }

  func turn(_ which: Grid.Switch) {
    desk.attempt { desk.perform(try grid.turning(which, of: range, as: lead, desk.scene.catalogue)) }
  }

  /// `key`: the key pressed, since a `-` may turn out to be the sign of a number.
  func step(by steps: Int, key: Key? = nil) {
    if key == "minus" { desk.typing.minus = (range, desk.now()) }
    let gains = range.cells.map { cell in
      (
        cell,
        min(grid.stepped(cell, from: grid.gain(cell), by: steps), grid.loudest(cell, desk.scene.catalogue))
      )
    }
    move(gains, as: .stepCells(grid.name, range))
  }

  /// Up and to the right is louder, by 1 dB per cell of the screen.
  func drag(_ gains: [(cell: GridCell, gain: Double)], _ range: GridRange, by steps: Int) {
    let new = gains.map { cell, gain in
      (cell, min(grid.stepped(cell, from: gain, by: steps), grid.loudest(cell, desk.scene.catalogue)))
    }
    move(new, as: .dragCells(grid.name, range))
  }

  /// The next step of a gesture that moves gains; unchanged gains are left out of its edit.
  private func move(_ gains: [(cell: GridCell, gain: Double)], as kind: Gesture.Kind) {
    guard gains.contains(where: { grid.gain($0.cell) != $0.gain }) else { return }
    let base = desk.ongoing(kind)?.base ?? gains.map { grid.gain($0.cell) }
    let moved = zip(gains, base).filter { $0.gain != $1 }.map(\.0)
    // A map is set as a whole; so are all gains of a gesture that returned to its start.
    let isWhole = grid.cable != nil || moved.isEmpty
    desk.attempt { desk.perform(try grid.setting(isWhole ? gains : moved), as: kind, from: base) }
  }

  // MARK: Presets

  /// Applies a preset of the language; for a cable, the map with the channels that `isOn` selects.
  func preset(_ change: MatrixChange, _ isOn: (Int, Int) -> Bool) {
    if let node = grid.node {
      desk.perform(.matrix(node.name, change, over: nil))
      return
    }
    let gains = (0..<grid.rows).flatMap { row in
      (0..<grid.columns).map { (GridCell(row, $0), isOn(row, $0) ? 0 : -Double.infinity) }
    }
    desk.attempt { desk.perform(try grid.setting(gains)) }
  }

  /// Swaps the first and the last channel of the range; without a range, the cursor's and the next.
  func swap() {
    let isInputs = range.columns.upperBound < 0
    let span = isInputs ? range.rows : range.columns
    let count = isInputs ? grid.rows : grid.columns
    let first = max(0, span.lowerBound)
    let last = span.count > 1 ? span.upperBound : first + 1 < count ? first + 1 : first - 1
    guard last >= 0, last < count else { return desk.complain("there is nothing to swap with") }
    if let node = grid.node {
      desk.perform(
        .matrix(node.name, .swap(isInputs ? .in : .out, min(first, last), max(first, last)), over: nil))
      return
    }
    func other(_ column: Int) -> Int { column == first ? last : column == last ? first : column }
    let gains = (0..<grid.rows).flatMap { row in
      (0..<grid.columns).map { (GridCell(row, $0), grid.gain(GridCell(row, other($0)))) }
    }
    desk.attempt { desk.perform(try grid.setting(gains)) }
  }

  /// Lists all presets by name; those with arguments continue at the prompt.
  func startPreset() {
    guard let name = grid.node?.name else {
      return desk.say("a channel map has no presets but i and z; M makes it a matrix")
    }
    let column = max(0, desk.state.matrix.column)
    let presets: [(name: String, detail: String)] = [
      ("identity", "input i to output i at unity"), ("clear", "every crosspoint silent"),
      ("fold", "the mean of all inputs to every output"),
      ("spread", "an input to each output, from the first again when there are no more"),
      ("diagonal", "input i to output i + n"), ("map", "which input each output gets"),
      ("swap", "two inputs or outputs change places"), ("copy", "one input or output to others"),
    ]
    desk.state.overlay = Chooser(title: "set the crosspoints of \(name)", items: presets) { preset, desk in
      switch preset {
      case "identity", "clear", "fold", "spread":
        desk.attempt { desk.say(try desk.workbench.perform(line: "matrix \(name) \(preset)")) }
      case "swap", "copy": Prompt.open("matrix \(name) \(preset) out \(column) ", desk)
      case "map": Prompt.open("matrix \(name) map [", desk)
      default: Prompt.open("matrix \(name) \(preset) ", desk)
      }
    }
  }

  // MARK: Labels and typing

  /// Opens the prompt for the name of the channel under the cursor.
  func startLabel() {
    let cell = desk.state.matrix.cell
    guard let node = grid.node, cell != .master else {
      return desk.say("\(grid.name) has no names for this: a matrix has, of its inputs and outputs")
    }
    let path =
      cell.row < 0 ? ParameterPath("label.out", [cell.column]) : ParameterPath("label.in", [cell.row])
    let label = cell.row < 0 ? grid.columnLabel(cell.column) : grid.rowLabel(cell.row)
    Prompt.open("set \(node.name + path.suffix) " + (label.isEmpty ? "" : Quoting.word(label)), desk)
  }

  /// `digit`: the key that began it.
  func startTyping(_ digit: Key?) { GridTyping(desk).start(digit, grid, after: minus) }

  // MARK: The range

  func startRange() {
    desk.state.matrix.rangeStart = desk.state.matrix.cell
    desk.state.matrix.rangeEnd = nil
  }

  func endRange() {
    if desk.state.matrix.rangeStart == nil { desk.state.matrix.rangeStart = desk.state.matrix.cell }
    desk.state.matrix.rangeEnd = desk.state.matrix.cell
  }

  func makeMatrix() { GridChoice(desk).makeMatrix(grid) }
}

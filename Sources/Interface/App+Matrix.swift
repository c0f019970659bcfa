import Patch
import Screen

/// The matrix screen: its cursor, its range, and the effect of its keys.
extension App {
  /// Contents of the screen.
  var grid: Grid? { Grid(scene, state) }

  private var matrices: [NodeID] {
    scene.patch.nodes.values.filter { Grid.isMatrix($0, scene.catalogue) }.map(\.id)
  }

  /// Audio cables, in file order of their sources.
  private var bundles: [Cable.Ends] {
    scene.patch.nodes.keys.flatMap { scene.patch.cables(from: $0, catalogue: scene.catalogue) }
      .map(\.ends).filter { isEvents(output: $0.source) != true }
  }

  // MARK: Contents

  /// Chooses the focused matrix, the one before, or the first; without any matrix, a cable of the focused
  /// node.
  func chooseMatrix() {
    let all = matrices
    if let focus = state.focus, all.contains(focus) {
      state.matrix.node = focus
      state.matrix.cable = nil
    } else if state.matrix.cable == nil, state.matrix.node.map({ !all.contains($0) }) ?? true {
      state.matrix.node = all.first
      if all.isEmpty, let focus = state.focus {
        state.matrix.cable =
          cables(of: focus).map(\.ends).first { isEvents(output: $0.source) != true } ?? bundles.first
      }
    }
    state.matrix.dropRange()
    clampMatrix()
  }

  /// Opens the matrix screen with a cable of the focused node.
  func startOpeningCable() {
    guard let node = focusedNode else { return }
    let cables = cables(of: node.id).filter { isEvents(output: $0.ends.source) != true }
    switch cables.count {
    case 0: state.message = .init("\(node.name) has no cable that carries sound", isError: true)
    case 1: open(cables[0].ends)
    default:
      showHints(cables.map { .cable($0.ends) }, purpose: "open which cable of \(node.name) as a matrix?") {
        [weak self] in
        if case .cable(let ends) = $0 { self?.open(ends) }
      }
    }
  }

  /// Lets the user choose any matrix or cable of the patch from a list.
  func startOpeningGrid() {
    let matrices = matrices.compactMap { scene.patch[$0] }.map { node in
      (name: node.name, detail: NodeFacts(node, scene.catalogue).kindText)
    }
    let cables = bundles.map { ends in
      (
        name: scene.patch.shortName(of: ends, catalogue: scene.catalogue).description,
        detail: scene.patch.cables[ends]?.map.map { "map \($0.line)" } ?? "cable"
      )
    }
    choose("open as a matrix", matrices + cables) { [weak self] name in
      guard let self else { return }
      if let id = scene.patch.id(named: name) {
        state.matrix.cable = nil
        focus(id)
        show(.matrix)
      } else if let ends = bundles.first(where: {
        scene.patch.shortName(of: $0, catalogue: scene.catalogue).description == name
      }) {
        open(ends)
      }
    }
  }

  func open(_ ends: Cable.Ends) {
    show(.matrix)
    state.matrix.cable = ends
    state.matrix.dropRange()
    clampMatrix()
  }

  private func showNext() {
    if let cable = state.matrix.cable {
      let all = bundles
      guard all.count > 1, let index = all.firstIndex(of: cable) else { return }
      open(all[(index + 1) % all.count])
      return
    }
    let all = matrices
    guard all.count > 1, let node = state.matrix.node, let index = all.firstIndex(of: node) else { return }
    state.matrix.node = all[(index + 1) % all.count]
    focus(all[(index + 1) % all.count])
    state.matrix.dropRange()
    clampMatrix()
  }

  // MARK: Moving

  /// Keeps the cursor and the range within the grid, while it is shown.
  func clampMatrix() {
    guard state.view == .matrix else { return }
    if let former = state.matrix.formerCable, scene.patch.cables[former] != nil {
      state.matrix.cable = former
      state.matrix.formerCable = nil
    }
    if let cable = state.matrix.cable, scene.patch.cables[cable] == nil {
      state.matrix.cable = nil
      state.matrix.dropRange()
    }
    guard let grid else { return }
    func clamped(_ cell: GridCell) -> GridCell {
      var cell = GridCell(
        min(max(-1, cell.row), grid.rows - 1), min(max(-1, cell.column), grid.columns - 1))
      if !grid.contains(cell) { cell = GridCell(max(0, cell.row), max(0, cell.column)) }
      return cell
    }
    state.matrix.cell = clamped(state.matrix.cell)
    state.matrix.rangeStart = state.matrix.rangeStart.map(clamped)
    state.matrix.rangeEnd = state.matrix.rangeEnd.map(clamped)
    // The visible part stays until the cursor would leave it.
    state.scroll[.matrix] = Views.gridScroll(scene, state, columns: size.columns, rows: size.rows)
  }

  func moveInMatrix(_ action: Action) {
    applyTyped()
    let old = state.matrix.cell
    let page = max(1, size.rows - 12)
    switch action {
    case .moveLeft: state.matrix.column -= 1
    case .moveRight: state.matrix.column += 1
    case .moveUp: state.matrix.row -= 1
    case .moveDown: state.matrix.row += 1
    case .pageUp: state.matrix.row = max(min(0, old.row), old.row - page)
    case .pageDown: state.matrix.row += page
    case .moveHome: state.matrix.column = state.matrix.column > 0 ? 0 : -1
    case .moveEnd: state.matrix.column = 1 << 20
    default: break
    }
    // A cable has no side gains: beyond the edge lies the cable's own gain.
    if let grid, grid.cable != nil, old != .master, min(state.matrix.row, state.matrix.column) < 0 {
      state.matrix.cell = .master
    }
    clampMatrix()
  }

  /// Moves the cursor to a cell, as for a click.
  func select(_ cell: GridCell) {
    applyTyped()
    state.matrix.cell = cell
    clampMatrix()
  }

  /// Makes the cells one size larger or smaller.
  func zoom(_ step: Int) {
    let shown = Views.gridCellWidth(scene, state, columns: size.columns, rows: size.rows)
    let widths = MatrixView.cellWidths
    guard let index = widths.firstIndex(of: shown) else { return }
    state.matrix.cellWidth = widths[min(max(0, index + step), widths.count - 1)]
  }

  // MARK: Typing

  /// Handles keys while a gain is being typed; false for other keys.
  func typeGain(_ key: Key) -> Bool {
    guard let typed = state.matrix.typed else { return false }
    switch key {
    case "esc", "ctrl-c": state.matrix.typed = nil
    case "enter": applyTyped()
    case "backspace": state.matrix.typed = typed.isEmpty ? nil : String(typed.dropLast())
    case "minus": state.matrix.typed = typed.hasPrefix("-") ? String(typed.dropFirst()) : "-" + typed
    default:
      guard let letter = key.text else {
        applyTyped()
        return false
      }
      guard letter.isNumber || ".infdB".contains(letter) else { return true }
      state.matrix.typed = typed + String(letter)
    }
    return true
  }

  private func applyTyped() {
    guard let typed = state.matrix.typed else { return }
    state.matrix.typed = nil
    guard let grid, !typed.isEmpty else { return }
    let text = typed.hasSuffix("dB") ? String(typed.dropLast(2)) : typed
    let number = text == "-inf" || text == "inf" ? -Double.infinity : Double(text)
    guard let number else {
      state.message = .init("`\(typed)` is no gain", isError: true)
      return
    }
    attempt { perform(try grid.setting(state.matrix.range, to: number), amending: typedOver) }
  }

  /// A minus followed by a digit is a negative number, not a step followed by a positive number: 12 dB more
  /// than intended would be loud.
  private func startTyping(_ digit: Key?, _ grid: Grid, after minus: (range: GridRange, time: Double)?) {
    let digits = digit?.text.map(String.init) ?? ""
    let range = state.matrix.range
    let isNegative = minus.map { $0.range == range && now() - $0.time < App.signTime } ?? false
    state.matrix.typed = isNegative ? "-" + digits : digits
    let isStep = isNegative && gesture?.kind == .stepCells(grid.name, range)
    typedOver = isStep ? gesture?.edit : nil
  }

  /// Seconds within which a digit must follow its sign.
  private static let signTime = 1.0

  // MARK: Setting

  func performMatrix(_ action: Action, key: Key?) {
    switch action {
    case .openGrid: return startOpeningGrid()
    case .openCable: return startOpeningCable()
    default: break
    }
    guard let grid else {
      state.message = .init("no matrix: a adds one, o opens a cable as one", isError: true)
      return
    }
    let range = state.matrix.range
    // The cell under the cursor determines the new state of all of them.
    let lead = range.contains(state.matrix.cell) ? state.matrix.cell : range.first
    let sign = minus
    minus = nil
    switch action {
    case .gainUp: stepGains(grid, 1)
    case .gainDown:
      stepGains(grid, -1)
      if key == "minus" { minus = (range, now()) }
    case .toggleCrosspoint: attempt { perform(try grid.setting(range, to: grid.toggled(lead))) }
    case .toggleMute: turn(.mute, grid, lead)
    case .toggleSolo: turn(.solo, grid, lead)
    case .turnPolarity: turn(.polarity, grid, lead)
    case .resetGain: perform(grid.resetting(range))
    case .labelChannel: startLabelling(grid)
    case .typeGain: startTyping(key, grid, after: sign)
    case .rangeStart:
      state.matrix.rangeStart = state.matrix.cell
      state.matrix.rangeEnd = nil
    case .rangeEnd:
      if state.matrix.rangeStart == nil { state.matrix.rangeStart = state.matrix.cell }
      state.matrix.rangeEnd = state.matrix.cell
    case .zoomIn: zoom(1)
    case .zoomOut: zoom(-1)
    case .nextMatrix: showNext()
    case .makeMatrix: makeMatrix(grid)
    case .matrixPresets: startChoosingPreset(grid)
    case .matrixIdentity: preset(.identity, grid) { $0 == $1 }
    case .matrixFold: preset(.fold, grid) { _, _ in true }
    case .matrixClear: preset(.clear, grid) { _, _ in false }
    case .matrixSwap: swap(grid)
    default: break
    }
  }

  /// Shows the reason of a refusal in the message row.
  func attempt(_ body: () throws -> Void) {
    do { try body() } catch { state.message = .init(App.words(error), isError: true) }
  }

  private func turn(_ which: Grid.Switch, _ grid: Grid, _ lead: GridCell) {
    attempt { perform(try grid.turning(which, of: state.matrix.range, as: lead, scene.catalogue)) }
  }

  private func stepGains(_ grid: Grid, _ steps: Int) {
    let range = state.matrix.range
    let gains = range.cells.map { cell in
      (
        cell,
        min(grid.stepped(cell, from: grid.gain(cell), by: steps), grid.loudest(cell, scene.catalogue))
      )
    }
    move(grid, gains, as: .stepCells(grid.name, range))
  }

  // MARK: Presets and labels

  /// Applies a preset of the language; for a cable, the map with the channels that `isOn` selects.
  private func preset(_ change: MatrixChange, _ grid: Grid, _ isOn: (Int, Int) -> Bool) {
    if let node = grid.node {
      perform(.matrix(node.name, change, over: nil))
      return
    }
    let gains = (0..<grid.rows).flatMap { row in
      (0..<grid.columns).map { (GridCell(row, $0), isOn(row, $0) ? 0 : -Double.infinity) }
    }
    attempt { perform(try grid.setting(gains)) }
  }

  /// Swaps the first and the last channel of the range; without a range, the cursor's and the next.
  private func swap(_ grid: Grid) {
    let range = state.matrix.range
    let isInputs = range.columns.upperBound < 0
    let span = isInputs ? range.rows : range.columns
    let count = isInputs ? grid.rows : grid.columns
    let first = max(0, span.lowerBound)
    let last = span.count > 1 ? span.upperBound : first + 1 < count ? first + 1 : first - 1
    guard last >= 0, last < count else {
      state.message = .init("there is nothing to swap with", isError: true)
      return
    }
    if let node = grid.node {
      perform(.matrix(node.name, .swap(isInputs ? .in : .out, min(first, last), max(first, last)), over: nil))
      return
    }
    func other(_ column: Int) -> Int { column == first ? last : column == last ? first : column }
    let gains = (0..<grid.rows).flatMap { row in
      (0..<grid.columns).map { (GridCell(row, $0), grid.gain(GridCell(row, other($0)))) }
    }
    attempt { perform(try grid.setting(gains)) }
  }

  /// Lists all presets by name; those with arguments continue at the prompt.
  private func startChoosingPreset(_ grid: Grid) {
    guard let node = grid.node else {
      state.message = .init("a channel map has no presets but i and z; M makes it a matrix")
      return
    }
    let column = max(0, state.matrix.column)
    let presets: [(name: String, detail: String)] = [
      ("identity", "input i to output i at unity"), ("clear", "every crosspoint silent"),
      ("fold", "the mean of all inputs to every output"),
      ("spread", "an input to each output, from the first again when there are no more"),
      ("diagonal", "input i to output i + n"), ("map", "which input each output gets"),
      ("swap", "two inputs or outputs change places"), ("copy", "one input or output to others"),
    ]
    choose("set the crosspoints of \(node.name)", presets) { [weak self] name in
      guard let self else { return }
      switch name {
      case "identity", "clear", "fold", "spread":
        attempt {
          self.state.message = .init(try self.workbench.perform(line: "matrix \(node.name) \(name)"))
        }
      case "swap", "copy": openPrompt("matrix \(node.name) \(name) out \(column) ")
      case "map": openPrompt("matrix \(node.name) map [")
      default: openPrompt("matrix \(node.name) \(name) ")
      }
    }
  }

  /// Opens the prompt for the name of the channel under the cursor.
  private func startLabelling(_ grid: Grid) {
    guard let node = grid.node, state.matrix.cell != .master else {
      state.message = .init("\(grid.name) has no names for this: a matrix has, of its inputs and outputs")
      return
    }
    let cell = state.matrix.cell
    let path =
      cell.row < 0 ? ParameterPath("label.out", [cell.column]) : ParameterPath("label.in", [cell.row])
    let label = cell.row < 0 ? grid.columnLabel(cell.column) : grid.rowLabel(cell.row)
    openPrompt("set \(node.name + path.suffix) " + (label.isEmpty ? "" : Quoting.word(label)))
  }

  /// Replaces a cable's channel map by a matrix, which can sum and has gains.
  private func makeMatrix(_ grid: Grid) {
    let name = freshName("matrix")
    guard let edit = grid.becomingMatrix(named: name) else {
      state.message = .init("\(grid.name) is a matrix already")
      return
    }
    guard perform(edit), let id = scene.patch.id(named: name) else { return }
    state.matrix.formerCable = state.matrix.cable
    state.matrix.cable = nil
    focus(id)
    clampMatrix()
  }
}

import Patch
import Screen

/// The matrix grid: its cursor and what its keys set.
extension App {
  static func isMatrix(_ kind: KindDescription) -> Bool {
    kind.parameters.contains { $0.dimensions.count == 2 }
  }

  private var matrices: [NodeID] {
    scene.patch.nodes.values.filter { scene.catalogue[$0.kind].map(App.isMatrix) ?? false }.map(\.id)
  }

  /// The node that the grid shows, and its size.
  private var grid: (node: Node, inputs: Int, outputs: Int)? {
    guard let node = state.matrix.node.flatMap({ scene.patch[$0] }), let kind = scene.catalogue[node.kind],
      let dimensions = kind.parameters.first(where: { $0.dimensions.count == 2 })?.dimensions
    else { return nil }
    return (node, kind.count(dimensions[0], of: node), kind.count(dimensions[1], of: node))
  }

  /// The focused matrix, the one before, or the first.
  func chooseMatrix() {
    let all = matrices
    if let focus = state.focus, all.contains(focus) {
      state.matrix.node = focus
    } else if state.matrix.node.map({ !all.contains($0) }) ?? true {
      state.matrix.node = all.first
    }
    clampMatrix()
  }

  func clampMatrix() {
    guard let grid else { return }
    state.matrix.row = min(max(-1, state.matrix.row), grid.inputs - 1)
    state.matrix.column = min(max(-1, state.matrix.column), grid.outputs - 1)
  }

  func moveInMatrix(_ action: Action) {
    applyTyped()
    switch action {
    case .moveLeft: state.matrix.column -= 1
    case .moveRight: state.matrix.column += 1
    case .moveUp: state.matrix.row -= 1
    case .moveDown: state.matrix.row += 1
    case .pageUp: state.matrix.row -= max(1, size.rows - 8)
    case .pageDown: state.matrix.row += max(1, size.rows - 8)
    case .moveHome: state.matrix.column = state.matrix.column > 0 ? 0 : -1
    case .moveEnd: state.matrix.column = 1 << 20
    default: break
    }
    clampMatrix()
  }

  /// Keys while a gain is being typed; false when they mean something else.
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
    perform(.set(grid.node.name, path, .number(number, .decibels), over: nil))
  }

  /// What the cursor stands on.
  private var path: ParameterPath { Views.matrixPath(row: state.matrix.row, column: state.matrix.column) }

  func performMatrix(_ action: Action, key: Key?) {
    guard let grid else {
      state.message = .init("no matrix: a adds one", isError: true)
      return
    }
    switch action {
    case .gainUp: stepGain(grid.node, 1)
    case .gainDown: stepGain(grid.node, -1)
    case .toggleCrosspoint: toggle(grid.node, path)
    case .typeGain: state.matrix.typed = key?.text.map(String.init) ?? ""
    case .nextMatrix:
      let all = matrices
      guard all.count > 1, let index = all.firstIndex(of: grid.node.id) else { return }
      state.matrix.node = all[(index + 1) % all.count]
      focus(all[(index + 1) % all.count])
      clampMatrix()
    case .matrixIdentity: fill(grid) { $0 == $1 }
    case .matrixFold: fill(grid) { grid.outputs > 0 && $0 % grid.outputs == $1 }
    case .matrixClear: fill(grid) { _, _ in false }
    case .matrixSwap: swapOutputs(grid)
    default: break
    }
  }

  func gain(of node: Node, _ path: ParameterPath) -> Double {
    guard case .number(let number, _) = scene.patch.value(of: node.name, path, catalogue: scene.catalogue)
    else { return -.infinity }
    return number
  }

  private func stepGain(_ node: Node, _ steps: Double) {
    let old = gain(of: node, path)
    let high = scene.catalogue[node.kind]?[parameter: path.name]?.range.upperBound ?? 24
    let new = min(App.decibels(old, by: steps), high)
    if new != old { perform(.set(node.name, path, .number(new, .decibels), over: nil)) }
  }

  func toggle(_ node: Node, _ path: ParameterPath) {
    let isSilent = gain(of: node, path) == -.infinity
    perform(.set(node.name, path, .number(isSilent ? 0 : -.infinity, .decibels), over: nil))
  }

  /// Sets every crosspoint in one edit: unity where `isOn`, else silence.
  private func fill(_ grid: (node: Node, inputs: Int, outputs: Int), _ isOn: (Int, Int) -> Bool) {
    var edits: [Edit] = []
    for row in 0..<grid.inputs {
      for column in 0..<grid.outputs {
        let path = ParameterPath("", [row, column])
        let wanted = isOn(row, column) ? 0 : -Double.infinity
        if gain(of: grid.node, path) != wanted {
          edits.append(.set(grid.node.name, path, .number(wanted, .decibels), over: nil))
        }
      }
    }
    perform(edits)
  }

  private func swapOutputs(_ grid: (node: Node, inputs: Int, outputs: Int)) {
    var edits: [Edit] = []
    for row in 0..<grid.inputs {
      for column in 0..<grid.outputs {
        let path = ParameterPath("", [row, column])
        let wanted = gain(of: grid.node, ParameterPath("", [row, grid.outputs - 1 - column]))
        if gain(of: grid.node, path) != wanted {
          edits.append(.set(grid.node.name, path, .number(wanted, .decibels), over: nil))
        }
      }
    }
    perform(edits)
  }

  private func perform(_ edits: [Edit]) {
    guard !edits.isEmpty else {
      state.message = .init("it is so already")
      return
    }
    perform(edits.count == 1 ? edits[0] : .all(edits))
  }

  /// The cursor to a cell, as a click does.
  func select(row: Int, column: Int) {
    applyTyped()
    state.matrix.row = row
    state.matrix.column = column
    clampMatrix()
  }
}

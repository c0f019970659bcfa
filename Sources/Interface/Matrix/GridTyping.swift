import Screen

/// Typing of a gain into the cells of the matrix.
@MainActor struct GridTyping {
  private let desk: Desk
  /// Seconds within which a digit must follow its sign.
  private static let signTime = 1.0

  init(_ desk: Desk) { self.desk = desk }

  /// Handles keys while a gain is being typed; false for other keys.
  func handle(_ key: Key) -> Bool {
    guard let typed = desk.state.matrix.typed else { return false }
    switch key {
    case "esc", "ctrl-c": desk.state.matrix.typed = nil
    case "enter": apply()
    case "backspace": desk.state.matrix.typed = typed.isEmpty ? nil : String(typed.dropLast())
    case "minus":
      desk.state.matrix.typed = typed.hasPrefix("-") ? String(typed.dropFirst()) : "-" + typed
    default:
      guard let letter = key.text else {
        apply()
        return false
      }
      guard letter.isNumber || ".infdB".contains(letter) else { return true }
      desk.state.matrix.typed = typed + String(letter)
    }
    return true
  }

  /// Sets the typed gain, if there is one.
  func apply() {
    guard let typed = desk.state.matrix.typed else { return }
    desk.state.matrix.typed = nil
    guard let grid = Grid(desk.scene, desk.state), !typed.isEmpty else { return }
    let text = typed.hasSuffix("dB") ? String(typed.dropLast(2)) : typed
    let number = text == "-inf" || text == "inf" ? -Double.infinity : Double(text)
    guard let number else { return desk.complain("`\(typed)` is no gain") }
    desk.attempt {
      desk.perform(try grid.setting(desk.state.matrix.range, to: number), amending: desk.typing.replacedEdit)
    }
  }

  /// A minus followed by a digit is a negative number, not a step followed by a positive number: 12 dB more
  /// than intended would be loud.
  func start(_ digit: Key?, _ grid: Grid, after minus: (range: GridRange, time: Double)?) {
    let digits = digit?.text.map(String.init) ?? ""
    let range = desk.state.matrix.range
    let isNegative = minus.map { $0.range == range && desk.now() - $0.time < Self.signTime } ?? false
    desk.state.matrix.typed = isNegative ? "-" + digits : digits
    let isStep = isNegative && desk.gesture?.kind == .stepCells(grid.name, range)
    desk.typing.replacedEdit = isStep ? desk.gesture?.edit : nil
  }
}

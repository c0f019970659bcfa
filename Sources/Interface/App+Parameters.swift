import Glibc
import Patch
import PatchLanguage
import Screen

/// The parameter panel, and stepping of values.
extension App {
  func openPanel() {
    if state.view == .matrix {
      state.matrix.typed = state.matrix.typed ?? ""
      return
    }
    guard let node = focusedNode else { return }
    guard scene.catalogue[node.kind] != nil else {
      state.message = .init("\(node.name) is a placeholder: nobody knows a kind \(node.kind)", isError: true)
      return
    }
    guard !parameters(of: node).isEmpty else {
      state.message = .init("\(node.name) has no parameters")
      return
    }
    state.overlay = .parameters(ViewState.ParameterPanel(node: node.id))
  }

  /// Parameters listed in the panel, as the view shows them.
  private func parameters(of node: Node) -> [ParameterPath] { Views.parameterLines(of: node.id, scene) }

  func handlePanel(_ key: Key) {
    guard case .parameters(var panel) = state.overlay, let node = scene.patch[panel.node] else { return }
    let list = parameters(of: node)
    guard list.indices.contains(panel.selected) else {
      state.overlay = .none
      return
    }
    let path = list[panel.selected]
    guard let parameter = scene.catalogue[node.kind]?[parameter: path.name] else { return }
    if let typed = panel.typed {
      switch key {
      case "esc", "ctrl-c": panel.typed = nil
      case "enter":
        panel.typed = nil
        state.overlay = .parameters(panel)
        set(typed, parameter, path, of: node)
        return
      case "backspace": panel.typed = typed.isEmpty ? nil : String(typed.dropLast())
      case "ctrl-u": panel.typed = ""
      case "up", "down", "tab": return
      default:
        guard let letter = key.text else { return }
        panel.typed = typed + String(letter)
      }
      state.overlay = .parameters(panel)
      return
    }
    switch key {
    case "esc", "ctrl-c":
      state.overlay = .none
      return
    case "up", "shift-tab", "k": panel.selected = max(0, panel.selected - 1)
    case "down", "tab", "j": panel.selected = min(list.count - 1, panel.selected + 1)
    case "pageup", "home": panel.selected = 0
    case "pagedown", "end": panel.selected = list.count - 1
    case "left", "h": return step(parameter, path, of: node, by: -1)
    case "right", "l", "space": return step(parameter, path, of: node, by: 1)
    case "shift-left": return step(parameter, path, of: node, by: -10)
    case "shift-right": return step(parameter, path, of: node, by: 10)
    case "delete", "backspace":
      perform(.set(node.name, path, nil, over: nil))
      return
    case "enter":
      switch parameter.form {
      case .toggle, .choice: return step(parameter, path, of: node, by: 1)
      default: panel.typed = ""
      }
    case "ctrl-z", "u": return undo()
    case "ctrl-r": return redo()
    default:
      guard let letter = key.text else { return }
      panel.typed = String(letter)
    }
    state.overlay = .parameters(panel)
  }

  /// Sets the typed value through the language, with the same errors as at the prompt.
  private func set(_ text: String, _ parameter: ParameterDescription, _ path: ParameterPath, of node: Node) {
    let trimmed = text.drop { $0 == " " }
    guard !trimmed.isEmpty else { return }
    let isWord = parameter.fileType != nil || parameter.form == .text
    let value = isWord ? Quoting.word(String(trimmed)) : String(trimmed)
    do {
      let said = try workbench.perform(line: "set \(node.name)\(path.suffix) \(value)")
      state.message = .init(said)
    } catch {
      state.message = .init(App.words(error), isError: true)
    }
  }

  private func step(_ parameter: ParameterDescription, _ path: ParameterPath, of node: Node, by steps: Int) {
    guard
      let old = scene.patch.value(of: node.name, path, catalogue: scene.catalogue),
      let new = App.stepped(old, parameter, by: steps), new != old
    else { return }
    perform(.set(node.name, path, new, over: nil), as: .step(node.name + path.suffix))
  }

  /// The value this many steps away, within the range; a list steps as a whole. nil if there is none.
  static func stepped(_ value: Value, _ parameter: ParameterDescription, by steps: Int) -> Value? {
    switch (parameter.form, value) {
    case (.choice(let words), .text(let word)):
      guard let index = words.firstIndex(of: word), !words.isEmpty else { return nil }
      return .text(words[((index + steps.signum()) % words.count + words.count) % words.count])
    case (.toggle, .text(let word)): return .text(word == "on" ? "off" : "on")
    case (_, .list(let values)): return .list(values.map { stepped($0, parameter, by: steps) ?? $0 })
    case (.integer, .number(let number, let unit)):
      return .number(clamped(number + Double(steps), parameter.range), unit)
    case (.continuous, .number(let number, let unit)):
      return .number(clamped(next(number, parameter, steps), parameter.range), unit)
    default: return nil
    }
  }

  private static func next(_ number: Double, _ parameter: ParameterDescription, _ steps: Int) -> Double {
    let count = Double(steps)
    switch parameter.unit {
    case .decibels: return decibels(number, by: count, low: parameter.range.lowerBound)
    case .hertz:
      // A quarter of an octave, on a grid through 440 Hz; near zero in hertz.
      let low = max(parameter.range.lowerBound, 0.01)
      return rounded(max(number, low) * pow(2, count / 12), digits: 4)
    case .seconds: return rounded(max(number, 0.001) * pow(10, count / 20), digits: 3)
    case .percent: return number + count * 5
    case .cents: return number + count * 5
    case .semitones, .key: return number + count
    case .none:
      let width = parameter.range.upperBound - parameter.range.lowerBound
      return width.isFinite && width <= 4
        ? rounded(number + count * width / 40, digits: 3) : number * pow(10, count / 20)
    }
  }

  /// Whole steps of 1 dB; below -60 dB comes silence, if the range has it.
  nonisolated static func decibels(_ number: Double, by steps: Double, low: Double = -.infinity) -> Double {
    if number == -.infinity { return steps > 0 ? max(-60, low) : number }
    let next = (number + steps).rounded(.toNearestOrEven)
    return next < -60 && low < -60 ? -.infinity : next
  }

  private static func rounded(_ number: Double, digits: Int) -> Double {
    guard number != 0, number.isFinite else { return number }
    let scale = pow(10, Double(digits) - 1 - log10(abs(number)).rounded(.down))
    return (number * scale).rounded() / scale
  }

  private static func clamped(_ number: Double, _ range: ClosedRange<Double>) -> Double {
    number == -.infinity ? number : min(max(number, range.lowerBound), range.upperBound)
  }
}

import Screen

/// Key codes of terminals.
enum KeyCodes {
  /// Modifiers as terminals send them: 1 + bits; lock keys are ignored.
  static func modifiers(_ value: Int) -> Key.Modifiers {
    Key.Modifiers(rawValue: UInt8(truncatingIfNeeded: max(0, value - 1) & 15))
  }

  static func scalar(_ value: Int) -> Character? {
    guard value >= 32, value != 127, !(0x80...0x9F).contains(value), let small = UInt32(exactly: value)
    else { return nil }
    return Unicode.Scalar(small).map { Character($0) }
  }

  /// A code of the kitty protocol or of modifyOtherKeys; nil for unused keys (modifiers, media).
  static func character(_ code: Int) -> Key.Code? {
    switch code {
    case 9: return .tab
    case 13, 57414: return .enter
    case 27: return .escape
    case 8, 127: return .backspace
    case 57376...57398: return .function(code - 57376 + 13)
    case 57399...57408: return .character(Character(Unicode.Scalar(UInt8(code - 57399 + 48))))
    case 57409: return .character(".")
    case 57410: return .character("/")
    case 57411: return .character("*")
    case 57412: return .character("-")
    case 57413: return .character("+")
    case 57415: return .character("=")
    case 57416: return .character(",")
    case 57417: return .left
    case 57418: return .right
    case 57419: return .up
    case 57420: return .down
    case 57421: return .pageUp
    case 57422: return .pageDown
    case 57423: return .home
    case 57424: return .end
    case 57425: return .insert
    case 57426: return .delete
    case 0xE000...0xF8FF: return nil
    default: return scalar(code).map { .character($0) }
    }
  }

  /// `CSI number ~`
  static func tilde(_ number: Int) -> Key.Code? {
    switch number {
    case 1, 7: .home
    case 2: .insert
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    case 11...15: .function(number - 10)
    case 17...21: .function(number - 11)
    case 23...26: .function(number - 12)
    case 28, 29: .function(number - 13)
    case 31...34: .function(number - 14)
    default: nil
    }
  }

  /// `CSI letter`
  static func letter(_ byte: UInt8) -> Key.Code? {
    switch Character(Unicode.Scalar(byte)) {
    case "A": .up
    case "B": .down
    case "C": .right
    case "D": .left
    case "F": .end
    case "H": .home
    case "P": .function(1)
    case "Q": .function(2)
    case "R": .function(3)
    case "S": .function(4)
    default: nil
    }
  }

  /// `SS3 letter`
  static func keypad(_ byte: UInt8, modifiers: Key.Modifiers) -> Key? {
    if let code = letter(byte) { return Key(code, modifiers) }
    switch Character(Unicode.Scalar(byte)) {
    case "M": return Key(.enter, modifiers)
    case "a": return Key(.up, .ctrl)
    case "b": return Key(.down, .ctrl)
    case "c": return Key(.right, .ctrl)
    case "d": return Key(.left, .ctrl)
    // The keypad's digits and signs are those of ASCII, 64 higher.
    case "j"..."y", "X":
      return Key(.character(Character(Unicode.Scalar(byte == 0x58 ? 0x3D : byte - 64))), modifiers)
    default: return nil
    }
  }
}

/// Mouse reports: the button bits are the same in all encodings.
enum MouseCodes {
  /// `column` and `row` count from 1. `release` is nil for encodings that report it as button 3.
  static func event(_ bits: Int, _ column: Int, _ row: Int, release: Bool?) -> [SequenceParser.Found] {
    guard column >= 1, row >= 1, bits >= 0 else { return [] }
    var modifiers: Key.Modifiers = []
    if bits & 4 != 0 { modifiers.insert(.shift) }
    if bits & 8 != 0 { modifiers.insert(.alt) }
    if bits & 16 != 0 { modifiers.insert(.ctrl) }
    let number = (bits & 3) | (bits & 0xC0) >> 4
    let point = Point(column - 1, row - 1)
    func found(_ event: MouseEvent) -> [SequenceParser.Found] { [.item(.event(.mouse(event)))] }
    if (4...7).contains(number) {
      // Wheels have no release; some terminals send one anyway.
      guard release != true else { return [] }
      let step = number & 1 == 0 ? -1 : 1
      return found(
        MouseEvent(
          .wheel, at: point, wheelRows: number < 6 ? step : 0, wheelColumns: number < 6 ? 0 : step,
          modifiers: modifiers))
    }
    let button: MouseEvent.Button
    switch number {
    case 0: button = .left
    case 1: button = .middle
    case 2: button = .right
    case 3: button = .none
    default: button = .other(number)
    }
    let action: MouseEvent.Action
    if bits & 32 != 0 {
      action = button == .none ? .move : .drag
    } else {
      action = release ?? (button == .none) ? .release : .press
    }
    return found(MouseEvent(action, button, at: point, modifiers: modifiers))
  }
}

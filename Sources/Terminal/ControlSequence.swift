import Screen

/// A parsed control sequence: `CSI`, a private mark, numbers, intermediate bytes and a final byte.
struct ControlSequence {
  var mark: UInt8?
  /// Parameters, each with its sub-parameters; -1 for a missing number.
  var parameters: [[Int]]
  var intermediate: UInt8?
  var final: UInt8

  /// nil if the sequence is malformed.
  init?(_ bytes: ArraySlice<UInt8>, final: UInt8) {
    self.final = final
    var rest = bytes
    if let first = rest.first, (0x3C...0x3F).contains(first) {
      mark = first
      rest = rest.dropFirst()
    }
    if let last = rest.last, (0x20...0x2F).contains(last) {
      intermediate = last
      rest = rest.dropLast()
    }
    parameters = [[-1]]
    for byte in rest {
      let last = parameters.count - 1
      let part = parameters[last].count - 1
      switch byte {
      case 0x30...0x39:
        // No real value is this large; the limit prevents an overflow.
        parameters[last][part] = min(max(0, parameters[last][part]) * 10 + Int(byte - 0x30), 0xFFFFFF)
      case UInt8(ascii: ":"): parameters[last].append(-1)
      case UInt8(ascii: ";"): parameters.append([-1])
      default: return nil
      }
    }
  }

  func number(_ index: Int, _ part: Int = 0, default standard: Int = 1) -> Int {
    guard index < parameters.count, part < parameters[index].count, parameters[index][part] >= 0 else {
      return standard
    }
    return parameters[index][part]
  }

  var found: [SequenceParser.Found] {
    let letter = Character(Unicode.Scalar(final))
    switch (mark, intermediate, letter) {
    case (nil, nil, _): return plain(letter)
    case (UInt8(ascii: "<"), nil, "M"), (UInt8(ascii: "<"), nil, "m"):
      guard parameters.count >= 3 else { return [] }
      return MouseCodes.event(
        number(0, default: 0), number(1), number(2), release: letter == "m")
    case (UInt8(ascii: "?"), nil, "u"): return [.item(.keyboardFlags(number(0, default: 0)))]
    case (UInt8(ascii: "?"), nil, "c"): return [.item(.deviceAttributes)]
    case (UInt8(ascii: "?"), UInt8(ascii: "$"), "y"):
      return [.item(.mode(number(0, default: 0), status: number(1, default: 0)))]
    default: return []
    }
  }

  private func plain(_ letter: Character) -> [SequenceParser.Found] {
    switch letter {
    case "u": return kitty()
    case "~":
      if number(0) == 200 { return [.pasteStart] }
      // xterm's modifyOtherKeys: `CSI 27 ; modifiers ; code ~`
      if number(0) == 27, parameters.count >= 3 {
        return stroke(KeyCodes.character(number(2, default: 0)))
      }
      return stroke(KeyCodes.tilde(number(0)))
    // rxvt: ctrl, and ctrl with shift.
    case "^": return stroke(KeyCodes.tilde(number(0)), adding: .ctrl)
    case "@": return stroke(KeyCodes.tilde(number(0)), adding: [.ctrl, .shift])
    case "I" where parameters == [[-1]]: return [.item(.event(.focus(true)))]
    case "O" where parameters == [[-1]]: return [.item(.event(.focus(false)))]
    case "Z": return stroke(.tab, adding: .shift)
    case "a", "b", "c", "d":
      let arrows: [Character: Key.Code] = ["a": .up, "b": .down, "c": .right, "d": .left]
      return stroke(arrows[letter], adding: .shift)
    case "M" where parameters.count >= 3:
      return MouseCodes.event(number(0) - 32, number(1), number(2), release: nil)
    // `CSI row;column R` is a cursor position report, not F3.
    default: return number(0) == 1 ? stroke(KeyCodes.letter(final)) : []
    }
  }

  /// A key with the modifiers and the action of the second parameter, if it has one.
  private func stroke(
    _ code: Key.Code?, adding modifiers: Key.Modifiers = [], place: Character? = nil
  ) -> [SequenceParser.Found] {
    guard let code else { return [] }
    let key = Key(code, KeyCodes.modifiers(number(1)).union(modifiers))
    return [.item(.event(.key(KeyStroke(key, action, place: place))))]
  }

  private var action: KeyStroke.Action {
    switch number(1, 1) {
    case 2: .repeat
    case 3: .release
    default: .press
    }
  }

  /// `CSI code:shifted:base ; modifiers:action ; text u`, the kitty keyboard protocol.
  private func kitty() -> [SequenceParser.Found] {
    let code = number(0, default: 0)
    guard let plain = KeyCodes.character(code) else { return [] }
    guard case .character(let unshifted) = plain else { return stroke(plain) }
    let place = KeyCodes.scalar(number(0, 2, default: code)) ?? unshifted
    let modifiers = KeyCodes.modifiers(number(1))
    var typed = unshifted
    if parameters.count > 2, number(2, default: 0) >= 32, let text = KeyCodes.scalar(number(2)) {
      typed = text
    } else if modifiers.contains(.shift), let shifted = KeyCodes.scalar(number(0, 1, default: 0)) {
      typed = shifted
    } else if modifiers.contains(.shift) {
      return stroke(.character(unshifted), place: place)
    }
    // Shift is already part of the typed character; with ctrl it stays a modifier.
    let key =
      modifiers.contains(.ctrl)
      ? Key(.character(unshifted), modifiers) : Key(.character(typed), modifiers.subtracting(.shift))
    return [.item(.event(.key(KeyStroke(key, action, place: place))))]
  }
}

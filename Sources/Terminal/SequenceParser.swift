import Screen

/// Parses one key, report or character at the front of some bytes.
enum SequenceParser {
  enum Found {
    case item(InputParser.Item)
    case pasteStart
  }

  /// The length of the first item and its meaning, perhaps none; nil if it is incomplete. `isComplete`: no
  /// more bytes will come.
  static func parse(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> (length: Int, found: [Found])? {
    guard let first = bytes.first else { return nil }
    if first == 0x1B { return escape(bytes, isComplete: isComplete) }
    if first < 0x20 || first == 0x7F { return (1, key(control(first))) }
    return character(bytes, isComplete: isComplete)
  }

  private static func key(_ key: Key) -> [Found] { [.item(.event(.key(KeyStroke(key))))] }

  /// The key of a control byte, as terminals without newer protocols send it.
  private static func control(_ byte: UInt8, alt: Bool = false) -> Key {
    let modifiers: Key.Modifiers = alt ? .alt : []
    switch byte {
    case 0: return Key(.character(" "), modifiers.union(.ctrl))
    case 8, 127: return Key(.backspace, modifiers)
    case 9: return Key(.tab, modifiers)
    case 10, 13: return Key(.enter, modifiers)
    case 27: return Key(.escape, modifiers)
    default:
      // 1…26 are ctrl-a…ctrl-z, 28…31 ctrl-\ ] ^ _
      let letter = byte < 27 ? byte + 96 : byte + 64
      return Key(.character(Character(Unicode.Scalar(letter))), modifiers.union(.ctrl))
    }
  }

  private static func escape(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> (Int, [Found])? {
    guard bytes.count > 1 else { return isComplete ? (1, key(Key(.escape))) : nil }
    let second = bytes[bytes.startIndex + 1]
    switch second {
    case UInt8(ascii: "["):
      if bytes.count == 2 { return isComplete ? (2, key(Key(.character("["), .alt))) : nil }
      return controlSequence(bytes, isComplete: isComplete)
    case UInt8(ascii: "O"):
      guard bytes.count > 2 else { return isComplete ? (2, key(Key(.character("O"), .alt))) : nil }
      return shifted3(bytes, isComplete: isComplete)
    case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"), UInt8(ascii: "^"):
      return string(bytes, isComplete: isComplete)
    case 0x1B:
      // Either two escape keys, or alt with a key that is a sequence.
      guard bytes.count > 2 else { return isComplete ? (1, key(Key(.escape))) : nil }
      let third = bytes[bytes.startIndex + 2]
      guard third == UInt8(ascii: "[") || third == UInt8(ascii: "O") else { return (1, key(Key(.escape))) }
      guard let (length, found) = escape(bytes.dropFirst(), isComplete: isComplete) else { return nil }
      return (length + 1, found.map(withAlt))
    case ..<0x20, 0x7F:
      return (2, key(control(second, alt: true)))
    default:
      guard let (length, found) = character(bytes.dropFirst(), isComplete: isComplete) else { return nil }
      return (length + 1, found.map(withAlt))
    }
  }

  private static func withAlt(_ found: Found) -> Found {
    guard case .item(.event(.key(let stroke))) = found else { return found }
    let key = Key(stroke.key.code, stroke.key.modifiers.union(.alt))
    return .item(.event(.key(KeyStroke(key, stroke.action, place: stroke.place))))
  }

  /// A character in UTF-8; invalid bytes are skipped.
  private static func character(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> (Int, [Found])? {
    guard let first = bytes.first else { return nil }
    let length: Int
    switch first {
    case ..<0x80: length = 1
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: return (1, [])
    }
    for (index, byte) in bytes.dropFirst().prefix(length - 1).enumerated() where byte & 0xC0 != 0x80 {
      return (index + 1, [])
    }
    if bytes.count < length { return isComplete ? (bytes.count, []) : nil }
    guard let text = String(validating: bytes.prefix(length), as: UTF8.self), let character = text.first,
      !isC1(text)
    else { return (length, []) }
    return (length, key(Key(.character(character))))
  }

  private static func isC1(_ text: String) -> Bool {
    text.unicodeScalars.contains { (0x80...0x9F).contains($0.value) }
  }

  /// `ESC O x`: keypad in application mode and F1…F4; some terminals put a modifier before the letter.
  private static func shifted3(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> (Int, [Found])? {
    var length = 2
    var modifier = 0
    while length < bytes.count, length < 6, (0x30...0x39).contains(bytes[bytes.startIndex + length]) {
      modifier = modifier * 10 + Int(bytes[bytes.startIndex + length] - 0x30)
      length += 1
    }
    guard length < bytes.count else { return isComplete ? (length, []) : nil }
    let final = bytes[bytes.startIndex + length]
    guard final >= 0x40, final < 0x7F else {
      // Alt-O and then another key.
      return length == 2 ? (2, key(Key(.character("O"), .alt))) : (length, [])
    }
    return (length + 1, KeyCodes.keypad(final, modifiers: KeyCodes.modifiers(modifier)).map(key) ?? [])
  }

  /// An operating-system, device-control or application string: an unrequested answer.
  private static func string(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> (Int, [Found])? {
    let second = Character(Unicode.Scalar(bytes[bytes.startIndex + 1]))
    for (offset, byte) in bytes.enumerated().dropFirst(2) {
      if byte == 0x07 { return (offset + 1, []) }
      if byte == 0x1B {
        if offset + 1 == bytes.count { break }
        // The string terminator `ESC \`; any other escape cuts the string short.
        return bytes[bytes.startIndex + offset + 1] == UInt8(ascii: "\\") ? (offset + 2, []) : (offset, [])
      }
      if byte < 0x20 || offset > InputParser.longestSequence { return (offset, []) }
    }
    if bytes.count > InputParser.longestSequence { return (bytes.count, []) }
    guard isComplete else { return nil }
    return bytes.count == 2 ? (2, key(Key(.character(second), .alt))) : (bytes.count, [])
  }

  // MARK: Control sequences

  private static func controlSequence(_ bytes: ArraySlice<UInt8>, isComplete: Bool) -> (Int, [Found])? {
    let start = bytes.startIndex + 2
    // The Linux console's F1…F5.
    if bytes[start] == UInt8(ascii: "[") {
      guard bytes.count > 3 else { return isComplete ? (3, []) : nil }
      let final = bytes[start + 1]
      guard (0x41...0x45).contains(final) else { return (3, []) }
      return (4, key(Key(.function(Int(final) - 0x40))))
    }
    if bytes[start] == UInt8(ascii: "M") {
      guard bytes.count >= 6 else { return isComplete ? (bytes.count, []) : nil }
      let values = bytes[(start + 1)...].prefix(3).map(Int.init)
      guard values.allSatisfy({ $0 >= 32 }) else { return (6, []) }
      return (6, MouseCodes.event(values[0] - 32, values[1] - 32, values[2] - 32, release: nil))
    }
    var index = start
    while index < bytes.endIndex, (0x20...0x3F).contains(bytes[index]) { index += 1 }
    let length = index - bytes.startIndex
    guard index < bytes.endIndex else {
      if bytes.count > InputParser.longestSequence || isComplete { return (bytes.count, []) }
      return nil
    }
    let final = bytes[index]
    // A byte that cannot end a sequence cuts it short and is parsed again.
    guard (0x40...0x7E).contains(final) else { return (length, []) }
    guard let sequence = ControlSequence(bytes[start..<index], final: final) else { return (length + 1, []) }
    return (length + 1, sequence.found)
  }
}

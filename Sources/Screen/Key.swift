/// A key with its modifiers, named as in keymaps: `a`, `A`, `ctrl-r`, `alt-x`, `shift-tab`, `F2`, `space`.
///
/// A character is the typed one, so shift is part of it (`A`, not `shift-a`). With ctrl, letters are lower
/// case and shift is named: `ctrl-shift-r`.
public struct Key: Hashable, Sendable {
  /// A key without modifiers.
  public enum Code: Hashable, Sendable {
    /// A key that types a character.
    case character(Character)
    /// A key of the main block that types none.
    case enter, tab, escape, backspace
    /// A key of the cursor block.
    case up, down, left, right, home, end, pageUp, pageDown, insert, delete
    /// F1, F2 and so on.
    case function(Int)
  }

  /// Modifier keys.
  public struct Modifiers: OptionSet, Hashable, Sendable {
    /// Bit mask.
    public var rawValue: UInt8
    /// Modifiers of a bit mask.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Shift.
    public static let shift = Modifiers(rawValue: 1)
    /// Alt or Meta.
    public static let alt = Modifiers(rawValue: 2)
    /// Ctrl.
    public static let ctrl = Modifiers(rawValue: 4)
    /// Super.
    public static let `super` = Modifiers(rawValue: 8)
  }

  /// The key.
  public let code: Code
  /// Modifiers held with the key.
  public let modifiers: Modifiers

  /// Normalised as described above, whatever mix of shift and capitals is given.
  public init(_ code: Code, _ modifiers: Modifiers = []) {
    guard case .character(let character) = code else {
      self.code = code
      self.modifiers = modifiers
      return
    }
    if modifiers.contains(.ctrl) {
      let small = character.lowercased()
      self.code = .character(small.count == 1 ? small.first ?? character : character)
      // Symbols with ctrl keep shift if the terminal reports it.
      self.modifiers = modifiers
    } else {
      let large = modifiers.contains(.shift) ? character.uppercased() : String(character)
      self.code = .character(large.count == 1 ? large.first ?? character : character)
      self.modifiers = modifiers.subtracting(.shift)
    }
  }

  /// The text that the key types: nil for control keys.
  public var text: Character? {
    guard case .character(let character) = code, modifiers.isEmpty else { return nil }
    return character
  }
}

extension Key: CustomStringConvertible, ExpressibleByStringLiteral {
  /// The name in keymaps.
  public var description: String {
    var prefix = ""
    if modifiers.contains(.super) { prefix += "super-" }
    if modifiers.contains(.ctrl) { prefix += "ctrl-" }
    if modifiers.contains(.alt) { prefix += "alt-" }
    if modifiers.contains(.shift) { prefix += "shift-" }
    switch code {
    case .character(let character):
      return prefix + (Key.characterNames.first { $0.character == character }?.name ?? String(character))
    case .function(let number): return "\(prefix)F\(number)"
    default: return prefix + (Key.names.first { $0.code == code }?.name ?? "")
    }
  }

  /// Parses a name; nil if there is no such key. Case matters for single characters only.
  public init?(name: some StringProtocol) {
    var rest = Substring(name)
    var modifiers: Modifiers = []
    // A lone "-" is the key itself; "ctrl--" is ctrl with that key.
    while rest.count > 1, let dash = rest.dropFirst().firstIndex(of: "-") {
      switch rest[..<dash].lowercased() {
      case "ctrl", "control": modifiers.insert(.ctrl)
      case "alt", "meta": modifiers.insert(.alt)
      case "shift": modifiers.insert(.shift)
      case "super": modifiers.insert(.super)
      default: return nil
      }
      rest = rest[rest.index(after: dash)...]
    }
    guard let code = Key.code(named: rest) else { return nil }
    self.init(code, modifiers)
  }

  /// A literal name in the program; an unknown one becomes a key that nothing sends.
  public init(stringLiteral name: String) {
    self = Key(name: name) ?? Key(.function(0))
  }

  private static func code(named name: Substring) -> Code? {
    if name.count == 1, let character = name.first { return .character(character) }
    let small = name.lowercased()
    if let entry = names.first(where: { $0.name == small || $0.other == small }) { return entry.code }
    if let entry = characterNames.first(where: { $0.name == small }) { return .character(entry.character) }
    if small.first == "f", let number = Int(small.dropFirst()), (1...35).contains(number),
      small == "f\(number)"
    {
      return .function(number)
    }
    return nil
  }

  private static let characterNames: [(name: String, character: Character)] = [
    ("space", " "), ("minus", "-"),
  ]

  private static let names: [(name: String, other: String, code: Code)] = [
    ("enter", "return", .enter), ("tab", "tab", .tab), ("esc", "escape", .escape),
    ("backspace", "bs", .backspace), ("up", "up", .up), ("down", "down", .down), ("left", "left", .left),
    ("right", "right", .right), ("home", "home", .home), ("end", "end", .end),
    ("pageup", "pgup", .pageUp), ("pagedown", "pgdn", .pageDown), ("insert", "ins", .insert),
    ("delete", "del", .delete),
  ]
}

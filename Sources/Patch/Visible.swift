/// Makes characters visible that a terminal would obey instead of showing them, that nobody sees, or that change
/// the order of those around them: names and comments come from files, and files from strangers.
public enum Visible {
  /// Control characters (escape, bell, the eight-bit ones), line and paragraph separators, format characters
  /// (the bidirectional controls among them), what Unicode allows to be left out when it is shown (joiners,
  /// variation selectors, fillers, tags), and the blank of Braille.
  public static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 32..<127: return false
    case 0..<32, 127..<160, 0x2800: return true
    default: break
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  /// All of it can be seen.
  public static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (32..<127).contains($0) } || !text.unicodeScalars.contains(where: isHidden)
  }

  /// `text` with hidden characters as the language writes them: `\u{1b}`. `keepingLines`: line breaks and tabs
  /// stay, for a text of several lines.
  public static func text(_ text: String, keepingLines: Bool = false) -> String {
    if isPlain(text) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar), !keepingLines || scalar != "\n" && scalar != "\t" {
        result += escaped(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// `\u{1b}`
  static func escaped(_ scalar: Unicode.Scalar) -> String { "\\u{" + String(scalar.value, radix: 16) + "}" }
}

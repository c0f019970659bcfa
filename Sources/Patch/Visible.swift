/// Escapes characters that a terminal would execute instead of showing, that are invisible, or that change
/// the order of their neighbours. Names and comments come from files, and files from strangers.
public enum Visible {
  /// Control characters (C0 with escape and bell, C1), line and paragraph separators, format characters
  /// (bidirectional controls among them), characters that Unicode allows to be ignored in display (joiners,
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

  /// True when the text has no hidden characters.
  public static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { (32..<127).contains($0) } || !text.unicodeScalars.contains(where: isHidden)
  }

  /// `text` with hidden characters escaped as in the language: `\u{1b}`. `keepingLines`: keeps line breaks
  /// and tabs, for a text of several lines.
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

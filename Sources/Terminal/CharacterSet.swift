@preconcurrency import CNcurses
import Glibc

/// Characters that the terminal shows.
enum CharacterSet {
  /// Sets the locale, and says if the terminal of this name (`$TERM`) shows lines, blocks and letters of all languages; otherwise
  /// ASCII takes their places.
  static func chooseUnicode(terminal name: String) -> Bool { chooseLocale() && !isOld(name) }

  /// Terminals and consoles from before Unicode.
  private static func isOld(_ name: String) -> Bool {
    ["vt1", "vt2", "vt3", "vt4", "vt5", "ansi", "cons25", "wy", "sun"].contains { name.hasPrefix($0) }
  }

  /// Sets the user's locale, and says if it has Unicode. Where none is set, or the one set is missing here, one with
  /// Unicode is looked for. Only the character type is set, so decimal points stay points.
  private static func chooseLocale() -> Bool {
    // Of a locale's name, as in `de_DE.utf8@euro`, or alone.
    func isUnicode(_ name: String) -> Bool {
      let codeset = name.split(separator: ".").last?.split(separator: "@").first
      return ["utf-8", "utf8"].contains(codeset?.lowercased())
    }
    let wanted = ["LC_ALL", "LC_CTYPE", "LANG"].lazy
      .compactMap { (name: String) in getenv(name).map { String(cString: $0) } }.first { !$0.isEmpty }
    setlocale(LC_CTYPE, "")
    if isUnicode(String(cString: sostenuto_codeset())) { return true }
    if let wanted, !isUnicode(wanted) { return false }
    for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8"] where setlocale(LC_CTYPE, name) != nil { break }
    return true
  }
}

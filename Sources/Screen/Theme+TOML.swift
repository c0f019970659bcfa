/// An error in a theme file; `line` counts from 1.
public struct ThemeProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// Name of the file.
  public var file: String
  /// Line, from 1.
  public var line: Int
  /// Description of the error.
  public var message: String

  /// `FILE:LINE: error: message`.
  public var description: String { "\(file):\(line): error: \(message)" }
}

extension Theme {
  /// Reads a theme file:
  /// ```toml
  /// inherits = "dark"            # another theme, for the keys that are not here
  /// [palette]
  /// gold = "#e5c07b"             # names for colours
  /// [styles]
  /// value = "gold"               # a foreground alone
  /// frame-focused = { fg = "gold", bg = "#101010", bold = true }    # also underline, reverse, dim
  /// ```
  /// `inherited` finds the theme that this one inherits from; the built-in ones are always found. All errors
  /// are reported, not just the first: unknown keys, missing keys, unknown colours. Valid entries of a file
  /// with errors are used; nil if the file is not TOML at all.
  public static func read(
    _ text: String, file: String, name: String, inherited: (String) -> Theme? = { _ in nil }
  ) -> (theme: Theme?, problems: [ThemeProblem]) {
    let table: TomlTable
    do throws(TomlFault) {
      table = try TomlReader.table(text)
    } catch {
      return (nil, [ThemeProblem(file: file, line: error.line, message: error.description)])
    }
    var reader = ThemeReader(file: file, root: table)
    return (
      reader.theme(table, name: name, inherited: inherited), reader.problems.sorted { $0.line < $1.line }
    )
  }

  /// The theme as a file that `read` reads back unchanged.
  public var toml: String {
    func quoted(_ paint: Paint) -> String {
      let flags = ThemeReader.flags.filter { paint.attributes.contains($0.flag) }
      if flags.isEmpty, paint.background == nil, let color = paint.foreground {
        return "\"\(color.description)\""
      }
      let parts =
        [
          paint.foreground.map { "fg = \"\($0.description)\"" },
          paint.background.map { "bg = \"\($0.description)\"" },
        ].compactMap { $0 } + flags.map { "\($0.name) = true" }
      return parts.isEmpty ? "{}" : "{ " + parts.joined(separator: ", ") + " }"
    }
    return "[styles]\n"
      + ThemeKey.allCases.map { "\($0.rawValue) = \(quoted(self[$0]))\n" }.joined()
  }
}

private struct ThemeReader {
  static let flags: [(name: String, flag: Style.Attributes)] = [
    ("bold", .bold), ("underline", .underline), ("reverse", .reverse), ("dim", .dim),
  ]

  let file: String
  let root: TomlTable
  var palette: [String: Color] = [:]
  var problems: [ThemeProblem] = []

  mutating func theme(_ table: TomlTable, name: String, inherited: (String) -> Theme?) -> Theme {
    var base: Theme?
    var styles: TomlTable?
    for key in table.keys {
      let value = table[key]
      switch key {
      case "inherits":
        guard let parent = value?.string else {
          report([key], "`inherits` is the name of a theme, in quotes")
          continue
        }
        base = Theme.builtIn(named: parent) ?? inherited(parent)
        if base == nil { report([key], "no theme `\(parent)` to inherit") }
      case "palette":
        if let colors = value?.table { readPalette(colors) } else { report([key], "[palette] is a table") }
      case "styles":
        styles = value?.table
        if styles == nil { report([key], "[styles] is a table") }
      default: report([key], "unknown key `\(key)`; a theme has inherits, [palette] and [styles]")
      }
    }
    var paints = base?.paints ?? [:]
    for key in styles?.keys ?? [] {
      guard let themeKey = ThemeKey(rawValue: key) else {
        report(["styles", key], "unknown theme key `\(key)`" + Self.suggestion(for: key))
        continue
      }
      if let paint = paint(styles?[key], at: ["styles", key]) { paints[themeKey] = paint }
    }
    if base == nil {
      for key in ThemeKey.allCases where styles?[key.rawValue] == nil {
        report(["styles"], "missing theme key `\(key.rawValue)`")
      }
    }
    return Theme(name: name, paints: paints)
  }

  private mutating func readPalette(_ colors: TomlTable) {
    for key in colors.keys {
      if let text = colors[key]?.string, let color = Color(text) {
        palette[key] = color
      } else {
        report(["palette", key], "palette colour `\(key)` is not of the form \"#rrggbb\"")
      }
    }
  }

  private mutating func paint(_ value: TomlValue?, at path: [String]) -> Paint? {
    if let name = value?.string { return color(name, at: path).map { Paint($0) } }
    guard let table = value?.table else {
      report(path, "a style is a colour, or { fg, bg, bold, underline, reverse, dim }")
      return nil
    }
    var paint = Paint()
    for key in table.keys {
      if key == "fg" || key == "bg" {
        guard let name = table[key]?.string, let color = color(name, at: path) else {
          if table[key]?.string == nil { report(path, "`\(key)` is a colour in quotes") }
          continue
        }
        if key == "fg" { paint.foreground = color } else { paint.background = color }
      } else if let flag = Self.flags.first(where: { $0.name == key }) {
        guard let isOn = table[key]?.bool else {
          report(path, "`\(key)` is true or false")
          continue
        }
        if isOn { paint.attributes.insert(flag.flag) }
      } else {
        report(path, "unknown key `\(key)` in a style; it has fg, bg, bold, underline, reverse, dim")
      }
    }
    return paint
  }

  private mutating func color(_ name: String, at path: [String]) -> Color? {
    if let color = palette[name] ?? Color(name) { return color }
    report(path, "no colour `\(name)` in [palette]; a colour without a name is \"#rrggbb\"")
    return nil
  }

  private mutating func report(_ path: [String], _ message: String) {
    problems.append(ThemeProblem(file: file, line: root.line(of: path), message: message))
  }

  private static func suggestion(for name: String) -> String {
    guard name.utf8.count <= 128 else { return "" }
    let near = ThemeKey.allCases.map { ($0.rawValue, distance(name, $0.rawValue)) }.min { $0.1 < $1.1 }
    guard let near, near.1 <= max(2, name.count / 3) else { return "" }
    return "; did you mean `\(near.0)`?"
  }

  /// Edit distance (Levenshtein).
  private static func distance(_ a: String, _ b: String) -> Int {
    let b = Array(b)
    var row = Array(0...b.count)
    for (i, character) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (character == b[j] ? 0 : 1))
        diagonal = row[j + 1]
        row[j + 1] = next
      }
    }
    return row[b.count]
  }
}

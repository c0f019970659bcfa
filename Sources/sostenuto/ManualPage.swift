/// A manual page, written with the macros of man(7), which groff and mandoc read.
///
/// Texts are plain; what stands between backticks is set bold. Everything outside ASCII is written as a named
/// character, so that the page does not depend on the encoding that a formatter expects.
struct ManualPage {
  /// The page so far.
  private(set) var text: String

  /// A page with its title line and its name section; `name` is also the page's file name without the section.
  init(_ name: String, section: Int, of manual: String, summary: String) {
    text = """
      .\\" Made by `sostenuto manual` from the program's own tables.
      .TH \(name.uppercased()) \(section) \(Version.date) "sostenuto \(Version.number)" "\(manual)"
      .nh
      .ad l
      .SH NAME
      \(Self.escaped(name)) \\- \(Self.escaped(summary))

      """
  }

  /// A section, whose heading is in capitals by custom.
  mutating func section(_ title: String) { text += ".SH \(Self.quoted(title.uppercased()))\n" }

  /// A subsection.
  mutating func subsection(_ title: String) { text += ".SS \(Self.quoted(title))\n" }

  /// A paragraph. The first one of a section needs no mark, and a formatter complains of one.
  mutating func paragraph(_ words: String) {
    if !isAtHeading { text += ".PP\n" }
    fill(words)
  }

  /// A term, set bold, and its meaning.
  mutating func entry(_ term: String, _ meaning: String) {
    entry(marked: "\\fB\(Self.escaped(term))\\fR", meaning)
  }

  /// A term as it is set, and its meaning.
  mutating func entry(marked term: String, _ meaning: String) {
    text += ".TP\n\(term)\n"
    fill(meaning)
  }

  /// Lines set as they are, indented.
  mutating func example(_ lines: String) {
    text += isAtHeading ? ".RS 4\n" : ".PP\n.RS 4\n"
    text += ".EX\n"
    for line in lines.split(separator: "\n", omittingEmptySubsequences: false) {
      text += Self.guarded(Self.escaped(String(line))) + "\n"
    }
    text += ".EE\n.RE\n"
  }

  /// References to other pages, as `name(section)`.
  mutating func references(_ pages: [(name: String, section: Int)]) {
    section("See also")
    for (index, page) in pages.enumerated() {
      text += ".BR \(Self.escaped(page.name)) (\(page.section))\(index + 1 < pages.count ? "," : "")\n"
    }
  }

  private var isAtHeading: Bool {
    guard let start = text.dropLast().lastIndex(of: "\n") else { return false }
    let line = text[text.index(after: start)...]
    return line.hasPrefix(".SH") || line.hasPrefix(".SS")
  }

  /// Words in lines of at most 78 characters, as the sources of manual pages have them.
  private mutating func fill(_ words: String) {
    var line = ""
    for word in Self.marked(words).split(whereSeparator: \.isWhitespace) {
      if !line.isEmpty, line.count + 1 + word.count > 78 {
        text += Self.guarded(line) + "\n"
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    if !line.isEmpty { text += Self.guarded(line) + "\n" }
  }

  /// A line of text that begins like a request is none.
  private static func guarded(_ line: String) -> String {
    line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
  }

  /// Text between backticks in bold.
  static func marked(_ text: String) -> String {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
      index % 2 == 0 ? escaped(String(part)) : "\\fB\(escaped(String(part)))\\fR"
    }
    .joined()
  }

  /// An argument of a macro.
  private static func quoted(_ text: String) -> String { "\"" + escaped(text) + "\"" }

  /// Text without meaning to the formatter: quotes, hyphens and the like are printed as they are.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\e"
      case "-": result += "\\-"
      case "\"": result += "\\(dq"
      case "'": result += "\\(aq"
      case "`": result += "\\(ga"
      case "^": result += "\\(ha"
      case "~": result += "\\(ti"
      default:
        if scalar.isASCII {
          result.unicodeScalars.append(scalar)
        } else {
          let code = String(scalar.value, radix: 16, uppercase: true)
          result += "\\[u\(String(repeating: "0", count: max(0, 4 - code.count)))\(code)]"
        }
      }
    }
    return result
  }
}

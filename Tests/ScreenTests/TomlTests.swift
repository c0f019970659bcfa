import Testing

@testable import Screen

@Suite("TOML that the library stumbles over is refused with its line") struct TomlTests {
  @Test(
    "a table without a name",
    arguments: [
      "[./", "[", "[[", "[ ", "[[ ", "[\n", "[.a]", "[=]", "[[.]]", "[\u{A0}a]", "[é]", "[{}]", "[ [ # ]",
      "\u{FEFF}[.]",
      "\u{2003}[.", "[#", "[\\", "[]]", "[,",
    ])
  func nameless(head: String) {
    for before in ["", "# a theme\n\n", "inherits = \"dark\"\r\n", "[styles] # [\n\n\t"] {
      let text = before + head
      let (theme, problems) = Theme.read(text, file: "t.toml", name: "t")
      #expect(theme == nil, "\(text.debugDescription)")
      #expect(problems.count == 1)
      #expect(
        problems.first?.line == before.count { $0.isNewline } + 1, "\(text.debugDescription): \(problems)")
    }
  }

  @Test(
    "a list, or a text of several lines",
    arguments: [
      "a = [}", "a = [1,2]", "\"x\" = { b = [ } }", "a = \"\"\"x", "b = \"\\\"[\"; c = [", "d = '\\' [}",
    ])
  func list(text: String) {
    for before in ["", "inherits = \"dark\"\n[styles] # [}\n"] {
      let (theme, problems) = Theme.read(before + text, file: "t.toml", name: "t")
      #expect(theme == nil)
      #expect(problems.first?.line == before.count { $0.isNewline } + 1, "\(problems)")
    }
  }

  @Test("what stands behind a null character is not passed over")
  func null() {
    let (theme, problems) = Theme.read("inherits = \"dark\"\n\n\u{0}nonsense", file: "t.toml", name: "t")
    #expect(theme == nil)
    #expect(problems.map(\.description) == ["t.toml:3: error: a null character, which no text has"])
  }

  @Test("tables with names are read", arguments: ["[styles]", "[ styles ]", "[\"styles\"]", "['styles']"])
  func named(head: String) {
    let (theme, problems) = Theme.read(
      "inherits = \"dark\"\n\(head)\ntext = \"#010203\"", file: "t", name: "t")
    #expect(problems.isEmpty, "\(problems)")
    #expect(theme?[.text].foreground == Color(0x010203))
  }
}

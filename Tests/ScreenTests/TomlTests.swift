import Testing

@testable import Screen

/// TOML.
@Suite struct TomlTests {
  @Test(arguments: [
    "[./", "[", "[[", "[ ", "[[ ", "[\n", "[.a]", "[=]", "[[.]]", "[\u{A0}a]", "[é]", "[{}]", "[ [ # ]",
    "\u{FEFF}[.]",
    "\u{2003}[.", "[#", "[\\", "[]]", "[,",
  ])
  func aTableWithoutAName(head: String) {
    for before in ["", "# a theme\n\n", "inherits = \"dark\"\r\n", "[styles] # [\n\n\t"] {
      let text = before + head
      let (theme, problems) = Theme.read(text, file: "t.toml", name: "t")
      #expect(theme == nil, "\(text.debugDescription)")
      #expect(problems.count == 1)
      #expect(
        problems.first?.line == before.count { $0.isNewline } + 1, "\(text.debugDescription): \(problems)")
    }
  }

  @Test(arguments: [
    "a = [}", "a = [1,2]", "\"x\" = { b = [ } }", "a = \"\"\"x", "b = \"\\\"[\"; c = [", "d = '\\' [}",
  ])
  func aListOrATextOfSeveralLines(text: String) {
    for before in ["", "inherits = \"dark\"\n[styles] # [}\n"] {
      let (theme, problems) = Theme.read(before + text, file: "t.toml", name: "t")
      #expect(theme == nil)
      #expect(problems.first?.line == before.count { $0.isNewline } + 1, "\(problems)")
    }
  }

  @Test func whatStandsBehindANullCharacterIsNotPassedOver() {
    let (theme, problems) = Theme.read("inherits = \"dark\"\n\n\u{0}nonsense", file: "t.toml", name: "t")
    #expect(theme == nil)
    #expect(problems.map(\.description) == ["t.toml:3: error: a null character, which no text has"])
  }

  @Test(arguments: ["[styles]", "[ styles ]", "[\"styles\"]", "['styles']"])
  func tablesWithNamesAreRead(head: String) {
    let (theme, problems) = Theme.read(
      "inherits = \"dark\"\n\(head)\ntext = \"#010203\"", file: "t", name: "t")
    #expect(problems.isEmpty, "\(problems)")
    #expect(theme?[.text].foreground == Color(0x010203))
  }

  @Test func keysWithDotsTablesOnALineAndEscapesAreReadEachEntryKnowsItsLine() throws {
    let table = try TomlReader.table(
      """
      \u{FEFF}a = 1  # a number
      [ x . "y z" ]
      c.d = true
      c.e = { f = "g\\u00E9\\t", 'h' = 'i\\', j = {} }
      [x]
      q = 1979-05-27T07:32:00Z
      """)
    #expect(table.keys == ["a", "x"])
    let inner = table["x"]?.table?["y z"]?.table?["c"]?.table
    #expect(inner?["d"]?.bool == true)
    #expect(inner?["e"]?.table?["f"]?.string == "gé\t")
    #expect(inner?["e"]?.table?["h"]?.string == "i\\")
    #expect(inner?["e"]?.table?["j"]?.table?.keys == [])
    #expect(table.line(of: ["x"]) == 2)
    #expect(table.line(of: ["x", "y z", "c", "e", "f"]) == 4)
    #expect(table.line(of: ["x", "q"]) == 6)
    #expect(table.line(of: ["y"]) == 1)
  }

  @Test(arguments: [
    "a", "a =", "a = b", "= 1", "a = \"\\q\"", "a = \"\\uD800\"", "a = \"x", "a = 1 b", "a = { b = 1",
    "a = { b = 1, }", "[a", "[a]]", "é = 1", "a = 'x\u{1}'", "[b]", "x = 1\nx = 2", "x = 1\nx.y = 1",
    "[b.c]\n[b.c]",
    "\r", String(repeating: "a = {", count: 1000), String(repeating: "a.", count: 1000),
  ])
  func aLineThatIsNotTOMLIsRefused(line: String) {
    #expect(throws: TomlFault.self) { try TomlReader.table("[b]\nc = 1\n[d]\n[b.e]\n" + line) }
  }
}

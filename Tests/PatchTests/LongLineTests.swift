import Patch
import PatchLanguage
import Testing

/// A megabyte on one line, with a mistake everywhere: quadratic work would take hours.
@Suite(.timeLimit(.minutes(2))) struct LongLineTests {
  @Test func eachOf40000MistakesOnOneLineIsAtItsOwnColumn() {
    let clause = "connect näh -> out"
    let text =
      "sostenuto 1\nnode out output\n" + Array(repeating: clause, count: 40_000).joined(separator: " ; ")
    let (_, diagnostics) = PatchReader.read(text, file: "long", catalogue: catalogue)
    #expect(diagnostics.count == 40_000)
    for (number, diagnostic) in diagnostics.enumerated() {
      guard diagnostic.line == 3, diagnostic.column == number * (clause.count + 3) + 9 else {
        Issue.record("\(diagnostic) is mistake \(number)")
        return
      }
    }
  }

  @Test func mistakesThatAreFoundByTurnsNodesSettingsAndCablesOfOneLine() {
    let text = (0..<10_000).map {
      "set gone.a\($0) 1 ; connect x\($0) -> out ; node n\($0) distortion wrong=1"
    }
    .joined(separator: " ; ")
    let (_, diagnostics) = PatchReader.read(text, file: "long", catalogue: catalogue)
    #expect(diagnostics.count == 30_000)
    #expect(diagnostics.map(\.column) == diagnostics.map(\.column).sorted())
    #expect(Set(diagnostics.map(\.column)).count == 30_000)
  }

  /// A node with 60,000 settings that do not exist says so a hundred times, and how many more there are.
  @Test func aNodeWith60000SettingsThatDoNotExistSaysSoAHundredTimes() {
    let text = "node g distortion " + (0..<60_000).map { "x\($0)=1" }.joined(separator: " ")
    let (patch, diagnostics) = PatchReader.read(text, file: "long", catalogue: catalogue)
    #expect(patch.names == ["g"])
    #expect(diagnostics.count == 101)
    #expect(diagnostics.contains { $0.message == "59900 more of its settings are wrong" })
  }

  @Test func aHeaderOf200000Paragraphs() {
    let text = "sostenuto 1\n" + String(repeating: "# a\n\n", count: 200_000) + "node g distortion\n"
    let (patch, diagnostics) = PatchReader.read(text, file: "long", catalogue: catalogue)
    #expect(diagnostics.isEmpty)
    #expect(patch.header.count == 399_999)
  }

  @Test func theSameSetting50000TimesEachWithAComment() {
    let text =
      "sostenuto 1\nnode g distortion\n" + String(repeating: "set g.drive 3dB # a\n", count: 50_000)
    let (patch, diagnostics) = PatchReader.read(text, file: "long", catalogue: catalogue)
    #expect(diagnostics.isEmpty && patch.nodes.count == 1)
  }

  @Test func wordsQuotesBracketsListsAndUnitsOf300000Bytes() {
    let long = 300_000
    for line in [
      String(repeating: "a", count: long), "node " + String(repeating: "a", count: long) + " gain",
      "node g " + String(repeating: "k", count: long), "set " + String(repeating: "a.", count: long / 2),
      "set g.drive " + String(repeating: "9", count: long),
      "set g.drive " + String(repeating: "[", count: long),
      "set g.drive [" + String(repeating: "1,", count: long / 2) + "1]",
      "set g.drive \"" + String(repeating: "\\u{41}", count: long / 6) + "\"",
      "set g.drive \"" + String(repeating: "\\", count: long),
      "set g.drive " + String(repeating: "\"", count: long),
      "connect " + String(repeating: "->", count: long / 2), String(repeating: ";", count: long),
      "set g[" + String(repeating: "0,", count: long / 2) + "0] 1",
      "comment g " + String(repeating: "\"a\" ", count: long / 4),
      String(repeating: "\u{301}", count: long / 2),
    ] {
      for text in [line, "node g1 distortion\n" + line] {
        let (patch, _) = PatchReader.read(text, file: "long", catalogue: catalogue)
        _ = Script.read("at 1s " + line, file: "long")
        _ = try? StatementParser.parse(line, patch: patch, catalogue: catalogue)
        _ = Completion.candidates(line, patch: patch, catalogue: catalogue)
      }
    }
  }
}

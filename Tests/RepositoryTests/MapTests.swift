import Foundation
import Testing

/// The picture of the modules in ARCHITECTURE.md is drawn from the sources (`make map`).
@Suite struct MapTests {
  private static let file = "ARCHITECTURE.md"
  private static let marks = (begin: "<!-- made by `make map` -->\n", end: "<!-- end of the map -->")

  /// The text before the picture, the picture, and the text after it.
  private func parts() throws -> (before: Substring, picture: Substring, after: Substring) {
    let text = try Repository.text(Self.file)
    let begin = try #require(text.range(of: Self.marks.begin))
    let end = try #require(text.range(of: Self.marks.end))
    return (text[..<begin.upperBound], text[begin.upperBound..<end.lowerBound], text[end.lowerBound...])
  }

  @Test func thePictureOfModulesAndFoldersIsThatOfTheSources() throws {
    var (before, picture, after) = try parts()
    let wanted = ModuleMap().picture
    if Repository.isRecording, picture != wanted {
      picture = Substring(wanted)
      try (before + picture + after).write(
        toFile: "\(Repository.root)/\(Self.file)", atomically: true, encoding: .utf8)
    }
    #expect(picture == wanted, "the map is stale: `make map` draws it anew")
  }

  /// A module never imports itself by a way around, and a folder does not use one that uses it.
  @Test func thereIsNoCircleOfModulesOrFolders() {
    let circles = ModuleMap().circles
    #expect(circles.isEmpty, "circles: \(circles.joined(separator: "; "))")
  }

  @Test func everyModuleHasARowInTheTable() throws {
    let text = try Repository.text(Self.file)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }
    let named = Set(rows.flatMap { $0.split(separator: "|")[0].split(separator: "`") }.map(String.init))
    for module in ModuleMap().modules.keys.sorted() {
      #expect(named.contains(module), "\(module) is missing in the table of modules")
    }
  }

  @Test func circlesAndWhatFollowsFromOtherArrowsAreFound() {
    #expect(ModuleMap.circles(in: ["a": ["b"], "b": ["c"], "c": []]) == [])
    #expect(ModuleMap.circles(in: ["a": ["b"], "b": ["c"], "c": ["b"], "d": ["d"]]) == [["b", "c"], ["d"]])
    let files = [
      SourceFile(path: "Sources/Top/A.swift", text: "import Low\nimport Middle // import Other\nstruct A {}"),
      SourceFile(path: "Sources/Middle/Shown/B.swift", text: "public import Low\nlet b = C.self, s = \"D\""),
      SourceFile(path: "Sources/Middle/Kept/C.swift", text: "enum C { case b }"),
      SourceFile(path: "Sources/Middle/Middle.swift", text: "struct M { let c: C }"),
      SourceFile(path: "Sources/Low/D.swift", text: "import Glibc\nstruct D {}"),
    ]
    let map = ModuleMap(files)
    #expect(map.modules == ["Top": ["Low", "Middle"], "Middle": ["Low"], "Low": []])
    #expect(map.folders == ["Middle": ["Middle": ["Kept"], "Shown": ["Kept"], "Kept": []]])
    #expect(map.circles.isEmpty)
    let turned = SourceFile(path: "Sources/Middle/Kept/M.swift", text: "let m: M? = nil")
    #expect(ModuleMap(files + [turned]).circles == ["Middle: Kept, Middle"])
    #expect(
      map.picture == """
        ```
        Top     → Middle
        Middle  → Low
        Low

        Middle/
          Middle  → Kept
          Shown   → Kept
          Kept
        ```

        """)
  }
}

import Testing

@Suite struct VersionTests {
  /// `## [0.1.0] - 2026-11-22`, the newest first; what is not released stands above as `## [Unreleased]`.
  private static var entries: [(number: String, date: String)] {
    get throws {
      try Repository.text("CHANGELOG.md").matches(of: #/(?m)^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$/#)
        .map {
          (String($0.1), String($0.2))
        }
    }
  }

  @Test func theProgramHasTheNumberAndDateOfTheNewestEntry() throws {
    let source = try Repository.text("Sources/sostenuto/Version.swift")
    let newest = try #require(try Self.entries.first)
    #expect(source.contains("static let number = \"\(newest.number)\""))
    #expect(source.contains("static let date = \"\(newest.date)\""))
  }

  /// The headings are those of keepachangelog.com.
  @Test func changesAreGroupedAndALineEach() throws {
    let groups = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for line in try Repository.text("CHANGELOG.md").split(separator: "\n").dropFirst() {
      if line.hasPrefix("### ") {
        #expect(groups.contains(String(line.dropFirst(4))), "\(line)")
      } else if !line.hasPrefix("## ") {
        #expect(line.hasPrefix("- ") || line.first?.isUppercase == true || line.hasPrefix("["), "\(line)")
        #expect(line.count <= 120, "longer than a line: \(line)")
      }
    }
  }
}

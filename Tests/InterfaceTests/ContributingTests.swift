import Glibc
import Testing

/// Where CONTRIBUTING.md sends people there is what it names.
@Suite struct ContributingTests {
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/")

  /// A text file of the repository; nil if there is none.
  private static func text(_ path: String) -> String? {
    guard let file = fopen(root + "/" + path, "r") else { return nil }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The Swift files of a folder, one after the other.
  private static func sources(in folder: String) -> String {
    guard let entries = opendir(root + "/" + folder) else { return "" }
    defer { closedir(entries) }
    var text = ""
    while let entry = readdir(entries) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name.hasPrefix(".") { continue }
      text +=
        name.hasSuffix(".swift") ? Self.text(folder + "/" + name) ?? "" : sources(in: folder + "/" + name)
    }
    return text
  }

  @Test func everyFileAndEveryNameInTheSectionsOnScreensActionsAndOverlaysExists() throws {
    let guide = try #require(Self.text("CONTRIBUTING.md"))
    let sections = guide.split(separator: "\n## ").filter {
      $0.hasPrefix("Add a screen") || $0.hasPrefix("Add an action")
    }
    #expect(sections.count == 2)
    let sources = Self.sources(in: "Sources/Interface") + Self.sources(in: "Tests/InterfaceTests")
    var checked = 0
    for section in sections {
      // Between backquotes: the odd pieces.
      for (index, quoted) in section.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      where index % 2 == 1 && !quoted.isEmpty && !quoted.contains("\n") {
        checked += 1
        if quoted.contains("/") {
          #expect(access(Self.root + "/" + quoted, F_OK) == 0, "no file \(quoted)")
        } else {
          // `Views.all`: the last part is declared somewhere.
          let name = quoted.split(separator: ".").last.map(String.init) ?? ""
          let isDeclared = ["func", "var", "let", "struct", "class", "protocol", "enum", "case"].contains {
            sources.contains("\($0) \(name)")
          }
          #expect(isDeclared || quoted.hasPrefix("show-"), "nothing is called \(quoted)")
        }
      }
    }
    #expect(checked > 25)
  }

  @Test func theEntryThatItShowsIsTheOneInTheTable() throws {
    let guide = try #require(Self.text("CONTRIBUTING.md"))
    let example = try #require(guide.split(separator: "\n").first { $0.hasPrefix("Action(") })
    #expect(try #require(Self.text("Sources/Interface/Actions/Program.swift")).contains(example))
  }
}

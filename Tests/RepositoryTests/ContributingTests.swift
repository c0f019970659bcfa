import Foundation
import Testing

/// What CONTRIBUTING.md names exists: files, targets of make, types and members. Names in bold are those that the
/// reader is to make, so they must not exist.
@Suite struct ContributingTests {
  private static let file = "CONTRIBUTING.md"

  /// Code between backticks outside of fenced blocks, and whether it is in bold.
  private static var code: [(text: String, isNew: Bool)] {
    get throws {
      let prose = try Repository.text(file).replacing(#/(?s)```.*?```/#, with: "")
      return prose.matches(of: #/(\*\*)?`([^`]+)`/#).map {
        ($0.2.split(whereSeparator: \.isWhitespace).joined(separator: " "), $0.1 != nil)
      }
    }
  }

  @Test func everyTargetOfMakeExists() throws {
    let targets = Set(try Repository.text("Makefile").matches(of: #/(?m)^([a-z-]+):/#).map { String($0.1) })
    let text = try Repository.text(Self.file)
    for match in text.matches(of: #/\bmake ([a-z-]+)/#) where match.range.lowerBound > text.startIndex {
      let before = text[text.index(before: match.range.lowerBound)]
      guard before == "`" || before == "\n" || before == " " && text[match.range].contains("-") else {
        continue
      }
      #expect(targets.contains(String(match.1)), "no target: make \(match.1)")
    }
    for match in text.matches(of: #/FILTER=(\w+)/#) {
      let name = String(match.1)
      #expect(
        Repository.exists("Tests/\(name)")
          || Repository.sources.contains { $0.members.contains { $0.contains(name) } },
        "no test: \(name)")
    }
  }

  @Test func everyFileExistsAndNewOnesDoNot() throws {
    let all = Set(
      ["Sources", "Tests", "Tools", "Patches", "keys", "docs", "Fuzz", "Benchmarks", ".ci"].flatMap {
        Repository.files(below: $0)
      })
    let names = Set(all.map { $0.split(separator: "/").last.map(String.init) ?? "" })
    var count = 0
    for (text, isNew) in try Self.code {
      let isPath =
        text.wholeMatch(of: #/[\w.+-]+(?:/[\w.+-]+)+|[\w+-]*\.(?:swift|md|toml|py|dict|patch)/#) != nil
      guard isPath || text.hasPrefix(".") && !text.contains(" ") && Repository.exists(text) else { continue }
      let exists = Repository.exists(text) || all.contains(text) || names.contains(text)
      #expect(exists != isNew, isNew ? "\(text) exists already" : "no file \(text)")
      count += 1
    }
    #expect(count > 20)
    for match in try Repository.text(Self.file).matches(of: #/\]\(([^)]+)\)/#) {
      #expect(Repository.exists(String(match.1)), "no file \(match.1)")
    }
  }

  @Test func everyTypeAndMemberIsDeclared() throws {
    let members = Set(Repository.sources.flatMap(\.members))
    let declared = members.union(
      Repository.sources.flatMap { $0.tokens.filter { keywords.contains($0) } }.map(String.init))
    var new: Set<String> = []
    for (text, isNew) in try Self.code where isNew { new.formUnion(Self.identifiers(text)) }
    var count = 0
    for (text, isNew) in try Self.code where !isNew && Self.isSwift(text) {
      for name in Self.identifiers(text) where !new.contains(name) {
        #expect(
          declared.contains(name) || keywords.contains(Substring(name)),
          "nothing declares \(name), of `\(text)`")
        count += 1
      }
    }
    #expect(count > 40)
  }

  /// Words of the language, and attributes and types of libraries.
  private let keywords: Set<Substring> = [
    "struct", "enum", "class", "static", "func", "let", "var", "case", "init", "inout", "on", "_", "_noLocks",
    "Suite", "Test",
  ]

  /// A name, or a signature; not a path, a command or a line of the patch language.
  private static func isSwift(_ text: String) -> Bool {
    if text.hasPrefix("."), Repository.exists(text) { return false }
    if text.contains("/") || text.wholeMatch(of: #/[\w+-]*\.(?:swift|md|toml|py|dict|patch)/#) != nil {
      return false
    }
    if text.hasPrefix("static ") || text.hasPrefix("struct ") { return true }
    return text.wholeMatch(of: #/[@.]?[\w.]+(?:\([\w:…]*\))?/#) != nil
  }

  /// Names in it; of a function's labels none, since a call has them in another order than a declaration.
  private static func identifiers(_ text: String) -> [String] {
    let types = text.hasPrefix("static ") || text.hasPrefix("struct ")
    let plain = types ? text : String(text.prefix { $0 != "(" })
    return plain.matches(of: #/[A-Za-z_]\w*(?!\w*:)/#).map { String($0.0) }
  }
}

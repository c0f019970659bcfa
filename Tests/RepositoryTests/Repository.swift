import Foundation

/// The files of the repository, read as texts: these tests look at sources and documents, and link none of them.
enum Repository {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// True under `make map`, which writes what the tests else compare.
  static var isRecording: Bool { ProcessInfo.processInfo.environment["SOSTENUTO_RECORD"] == "1" }

  static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }

  static func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: "\(root)/\(path)") }

  /// Every file below a folder, in order, by its path in the repository.
  static func files(below folder: String, ending: String = "") -> [String] {
    let found =
      FileManager.default.enumerator(atPath: "\(root)/\(folder)")?.compactMap { $0 as? String } ?? []
    return found.filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
  }

  /// Swift files of sources and tests with their code.
  static let sources: [SourceFile] =
    (files(below: "Sources", ending: ".swift") + files(below: "Tests", ending: ".swift"))
    .compactMap { path in (try? text(path)).map { SourceFile(path: path, text: $0) } }
}

/// A Swift file: its code as identifiers, without comments and string literals.
struct SourceFile {
  let path: String
  /// Words and marks of the code, in order.
  let tokens: [Substring]
  /// Modules that it imports.
  let imports: [String]
  /// Types declared at the top level of the file. Functions and constants are left out, since members of other types
  /// may have their names.
  let declared: [String]
  /// Names of everything declared, members and cases too.
  let members: Set<String>

  var folder: [String] { path.split(separator: "/").dropLast().map(String.init) }

  init(path: String, text: String) {
    self.path = path
    let tokens = Self.tokens(of: text)
    self.tokens = tokens
    var imports: [String] = []
    var declared: [String] = []
    var members: Set<String> = []
    var depth = 0
    let introducers: Set<Substring> = [
      "struct", "class", "enum", "protocol", "actor", "typealias", "func", "let", "var", "macro",
    ]
    for (index, token) in tokens.enumerated() {
      switch token {
      case "{": depth += 1
      case "}": depth -= 1
      case "import" where depth == 0 && index + 1 < tokens.count:
        let isPart = introducers.contains(tokens[index + 1]) && index + 2 < tokens.count
        imports.append(String(tokens[index + (isPart ? 2 : 1)]))
      case "case":
        // `case a, b(Int), c`: names that follow `case` or a comma outside of parentheses.
        var next = index + 1
        var parentheses = 0
        var isName = true
        while next < tokens.count, parentheses > 0 || ![":", "=", "{", "}", "case"].contains(tokens[next]) {
          if tokens[next] == "(" { parentheses += 1 }
          if tokens[next] == ")" { parentheses -= 1 }
          if parentheses == 0, isName, tokens[next].first?.isLetter == true {
            members.insert(String(tokens[next]))
          }
          isName = parentheses == 0 && tokens[next] == ","
          next += 1
        }
      case let word where introducers.contains(word) && index + 1 < tokens.count:
        let name = tokens[index + 1]
        guard name.first.map({ $0.isLetter || $0 == "_" }) == true else { break }
        members.insert(String(name))
        let isImported = index > 0 && tokens[index - 1] == "import"
        if depth == 0, !isImported, name.first?.isUppercase == true { declared.append(String(name)) }
      default: break
      }
    }
    self.imports = imports
    self.declared = declared
    self.members = members
  }

  /// Identifiers as one token each, other characters one by one; comments and the contents of literals left out.
  private static func tokens(of text: String) -> [Substring] {
    var tokens: [Substring] = []
    var rest = Substring(text)
    func skip(after end: String) { rest = rest.range(of: end).map { rest[$0.upperBound...] } ?? "" }
    while let first = rest.first {
      if rest.hasPrefix("//") {
        rest = rest.firstIndex(of: "\n").map { rest[$0...] } ?? ""
      } else if rest.hasPrefix("/*") {
        skip(after: "*/")
      } else if rest.hasPrefix("\"\"\"") {
        rest = rest.dropFirst(3)
        skip(after: "\"\"\"")
      } else if first == "\"" {
        rest = rest.dropFirst()
        while let next = rest.first, next != "\"", next != "\n" {
          rest = rest.dropFirst(next == "\\" ? 2 : 1)
        }
        rest = rest.dropFirst()
      } else if first.isLetter || first == "_" || first.isNumber {
        let word = rest.prefix { $0.isLetter || $0 == "_" || $0.isNumber }
        tokens.append(word)
        rest = rest[word.endIndex...]
      } else {
        if !first.isWhitespace { tokens.append(rest.prefix(1)) }
        rest = rest.dropFirst()
      }
    }
    return tokens
  }
}

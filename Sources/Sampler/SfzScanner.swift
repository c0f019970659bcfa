/// Turns the text of an SFZ instrument, with all that it includes and defines, into headers and opcodes.
struct SfzScanner {
  enum Token: Hashable {
    case header(String)
    /// The name in small letters, the value as written.
    case opcode(String, String)
  }

  /// Includes within includes, and includes altogether: generous for real instruments.
  static let deepest = 16
  static let mostIncludes = 4096
  static let mostBytes = 256 << 20

  private(set) var tokens: [(token: Token, place: SourceLine)] = []
  private(set) var findings: [Finding] = []
  /// The files that were read, the instrument itself first.
  private(set) var files: [String] = []
  private var defines: [(name: String, value: String)] = []
  private let root: String
  private var includes = 0
  private var bytes = 0
  private var isInComment = false

  /// Reads the file and what it includes; includes that fail are findings. Worker.
  init(path: String) throws(LoadError) {
    root = TextFile.folder(path)
    scan(try TextFile.read(path), file: path, within: [])
  }

  /// For instruments that are no files, such as those of tests. Worker.
  init(text: String, file: String) {
    root = TextFile.folder(file)
    scan(text, file: file, within: [])
  }

  private mutating func find(_ message: String, _ place: SourceLine) {
    findings.append(Finding(.corrected, file: place.file, line: place.line, message))
  }

  private mutating func scan(_ text: String, file: String, within others: [String]) {
    if !files.contains(file) { files.append(file) }
    bytes += text.utf8.count
    guard bytes <= Self.mostBytes else {
      find("the instrument's text is too long; the rest is left out", SourceLine(file: file, line: 0))
      return
    }
    isInComment = false
    var number = 0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      let place = SourceLine(file: file, line: number)
      var rest = Substring(withoutComments(line))
      while let directive = nextDirective(in: rest) {
        tokenize(rest[..<directive], place)
        rest = rest[directive...]
        rest = rest.hasPrefix("#define") ? define(rest, place) : include(rest, place, within: others + [file])
      }
      tokenize(rest, place)
    }
  }

  // MARK: Comments and directives

  private mutating func withoutComments(_ line: Substring) -> String {
    guard isInComment || line.utf8.contains(UInt8(ascii: "/")) else { return String(line) }
    var result = ""
    var rest = line
    while !rest.isEmpty {
      if isInComment {
        guard let end = Self.range(of: "*/", in: rest) else { return result }
        rest = rest[end.upperBound...]
        isInComment = false
        continue
      }
      let line = Self.range(of: "//", in: rest)
      let block = Self.range(of: "/*", in: rest)
      if let block, line.map({ block.lowerBound < $0.lowerBound }) ?? true {
        result += rest[..<block.lowerBound] + " "
        rest = rest[block.upperBound...]
        isInComment = true
      } else if let line {
        return result + rest[..<line.lowerBound]
      } else {
        return result + rest
      }
    }
    return result
  }

  private static func range(of mark: String, in text: Substring) -> Range<Substring.Index>? {
    let mark = Array(mark.utf8)
    let bytes = text.utf8
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index...].starts(with: mark) {
        return index..<bytes.index(index, offsetBy: mark.count)
      }
      index = bytes.index(after: index)
    }
    return nil
  }

  /// Where `#define` or `#include` begins, at the start or behind a space (`C#4` is a note).
  private func nextDirective(in text: Substring) -> Substring.Index? {
    guard text.utf8.contains(UInt8(ascii: "#")) else { return nil }
    var previous: Character = " "
    for index in text.indices {
      if text[index] == "#", previous.isWhitespace,
        text[index...].hasPrefix("#define") || text[index...].hasPrefix("#include")
      {
        return index
      }
      previous = text[index]
    }
    return nil
  }

  /// `#define $NAME value`; the value ends at the next space.
  private mutating func define(_ text: Substring, _ place: SourceLine) -> Substring {
    var rest = text.dropFirst("#define".count).drop(while: \.isWhitespace)
    let name = rest.prefix { !$0.isWhitespace }
    rest = rest.dropFirst(name.count)
    guard name.hasPrefix("$"), name.count > 1 else {
      find("#define wants a name that begins with `$`, then its value", place)
      return rest
    }
    rest = rest.drop(while: \.isWhitespace)
    let value = rest.prefix { !$0.isWhitespace }
    let expanded = expanded(value, place)
    defines.removeAll { $0.name == name }
    // Longest first, so that `$KEYS` is not taken for `$KEY` and an S.
    let position = defines.firstIndex { $0.name.count < name.count } ?? defines.count
    defines.insert((String(name), expanded), at: position)
    return rest.dropFirst(value.count)
  }

  private mutating func include(
    _ text: Substring, _ place: SourceLine, within others: [String]
  ) -> Substring {
    let rest = text.dropFirst("#include".count).drop(while: \.isWhitespace)
    guard rest.hasPrefix("\""), let end = rest.dropFirst().firstIndex(of: "\"") else {
      find("#include wants a file name in quotes", place)
      return ""
    }
    let written = rest[rest.index(after: rest.startIndex)..<end]
    let name = expanded(written, place).replacing("\\", with: "/")
    let after = rest[rest.index(after: end)...]
    includes += 1
    guard others.count <= Self.deepest, includes <= Self.mostIncludes else {
      let isFirst = !findings.contains { $0.message.hasPrefix("#include goes") }
      if isFirst { find("#include goes too deep (does `\(name)` include itself?); it is left out", place) }
      return after
    }
    guard let path = TextFile.find(name, in: root) ?? TextFile.find(name, in: TextFile.folder(place.file))
    else {
      find("cannot include `\(name)`: no such file", place)
      return after
    }
    // There are no conditions: it would never end.
    guard !others.contains(path) else {
      find("`\(name)` includes itself; it is left out", place)
      return after
    }
    do {
      scan(try TextFile.read(path), file: path, within: others)
    } catch {
      find("cannot include `\(name)`: \(error.message)", place)
    }
    isInComment = false
    return after
  }

  private mutating func expanded(_ text: Substring, _ place: SourceLine) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return String(text) }
    var result = ""
    var rest = text
    while let dollar = rest.firstIndex(of: "$") {
      result += rest[..<dollar]
      rest = rest[dollar...]
      if let known = defines.first(where: { rest.hasPrefix($0.name) }) {
        result += known.value
        rest = rest.dropFirst(known.name.count)
      } else {
        result += "$"
        rest = rest.dropFirst()
      }
      guard result.utf8.count < 1 << 16 else {
        find("the line becomes too long; its rest is left out", place)
        return result
      }
    }
    return result + rest
  }

  // MARK: Headers and opcodes

  private mutating func tokenize(_ text: Substring, _ place: SourceLine) {
    let bytes = Array(expanded(text, place).utf8)
    var index = 0
    while true {
      while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
      guard index < bytes.count else { return }
      if bytes[index] == UInt8(ascii: "<") {
        guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else {
          find("a header lacks its `>`", place)
          return
        }
        let name = String(decoding: bytes[(index + 1)..<end], as: UTF8.self).lowercased()
        tokens.append((.header(name), place))
        index = end + 1
        continue
      }
      let start = index
      while index < bytes.count, Self.isName(bytes[index]) { index += 1 }
      guard index > start, index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
        while index < bytes.count, !Self.isSpace(bytes[index]), bytes[index] != UInt8(ascii: "<") {
          index += 1
        }
        let stray = String(decoding: bytes[start..<index].prefix(40), as: UTF8.self)
        if bytes[index...].first(where: { !Self.isSpace($0) }) == UInt8(ascii: "=") {
          find("`\(stray) =`: there must be no space before the `=`; the rest of the line is left out", place)
          return
        }
        find("`\(stray)` is neither a header nor an opcode", place)
        continue
      }
      let name = String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
      let end = Self.endOfValue(bytes, index + 1)
      var last = end
      while last > index + 1, Self.isSpace(bytes[last - 1]) { last -= 1 }
      var first = index + 1
      while first < last, Self.isSpace(bytes[first]) { first += 1 }
      tokens.append((.opcode(name, String(decoding: bytes[first..<last], as: UTF8.self)), place))
      index = end
    }
  }

  /// A value reaches to the next header or to the space before the next `name=`, so that names of
  /// samples may hold spaces.
  private static func endOfValue(_ bytes: [UInt8], _ start: Int) -> Int {
    var index = start
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "<") { return index }
      if bytes[index] == UInt8(ascii: "=") {
        var name = index
        while name > start, isName(bytes[name - 1]) { name -= 1 }
        if name < index, name > start, isSpace(bytes[name - 1]) { return name }
      }
      index += 1
    }
    return index
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
      true
    default: false
    }
  }
}

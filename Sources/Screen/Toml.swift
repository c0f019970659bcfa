/// A table of a TOML file, with the line of each entry.
package struct TomlTable: Sendable {
  fileprivate var entries: [String: Entry] = [:]
  /// Closed to later headers and keys: it is written on one line, or has a header already.
  fileprivate var isClosed = false

  fileprivate struct Entry: Sendable {
    var value: TomlValue
    /// Line of the key or header, from 1.
    var line: Int
  }

  /// Names of the entries, sorted.
  package var keys: [String] { entries.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

  /// The value of an entry.
  package subscript(key: String) -> TomlValue? { entries[key]?.value }

  /// Line of an entry of a table within this one: its own, or else that of the nearest table around it; 1 if there is none.
  package func line(of path: [String]) -> Int {
    guard let first = path.first, let entry = entries[first] else { return 1 }
    guard path.count > 1, let inner = entry.value.table, inner.entries[path[1]] != nil else {
      return entry.line
    }
    return inner.line(of: Array(path.dropFirst()))
  }
}

extension TomlTable {
  /// Makes the table of a header, and those around it.
  fileprivate mutating func open(_ path: [String], _ line: Int) throws(TomlFault) {
    try change(path, line) { (table: inout TomlTable) throws(TomlFault) in
      if table.isClosed { throw Self.repeated(path, line) }
      table.isClosed = true
    }
  }

  /// Sets an entry. The first `count` names are those of a header, whose table is open to what follows it.
  fileprivate mutating func set(
    _ path: [String], to value: TomlValue, _ line: Int, below count: Int
  ) throws(TomlFault) {
    try change(Array(path.dropLast()), line) { (table: inout TomlTable) throws(TomlFault) in
      guard let name = path.last, table.entries[name] == nil, !table.isClosed || path.count == count + 1
      else {
        throw Self.repeated(path, line)
      }
      table.entries[name] = Entry(value: value, line: line)
    }
  }

  private mutating func change(
    _ path: [String], _ line: Int, _ body: (inout TomlTable) throws(TomlFault) -> Void
  ) throws(TomlFault) {
    guard let first = path.first else { return try body(&self) }
    let old = entries[first]
    guard case .table(var table) = old?.value ?? .table(TomlTable()) else {
      throw TomlFault(line: line, description: "`\(first)` is no table")
    }
    // Out of here meanwhile, so that it is not copied.
    entries[first] = nil
    try table.change(Array(path.dropFirst()), line, body)
    entries[first] = Entry(value: .table(table), line: old?.line ?? line)
  }

  private static func repeated(_ path: [String], _ line: Int) -> TomlFault {
    TomlFault(line: line, description: "`\(path.joined(separator: "."))` stands twice")
  }
}

/// A value of a TOML file.
package enum TomlValue: Sendable {
  case string(String)
  case bool(Bool)
  case table(TomlTable)
  case integer(Int)
  /// Another number or a date, which none of our files have.
  case other

  /// The text; nil for other types.
  package var string: String? { if case .string(let text) = self { text } else { nil } }
  /// The whole number; nil for other types.
  package var integer: Int? { if case .integer(let number) = self { number } else { nil } }
  /// The truth value; nil for other types.
  package var bool: Bool? { if case .bool(let isTrue) = self { isTrue } else { nil } }
  /// The table; nil for other types.
  package var table: TomlTable? { if case .table(let table) = self { table } else { nil } }
}

/// A syntax error in TOML; `line` counts from 1.
package struct TomlFault: Error, CustomStringConvertible {
  package var line: Int
  package var description: String
}

/// Reads TOML 1.0 as themes and keymaps use it: tables, texts, truth values. Lists and texts of several lines are
/// refused.
package struct TomlReader {
  private static let deepest = 32

  private let bytes: [UInt8]
  private var index = 0
  private var line = 1
  private var root = TomlTable()
  /// Names of the table whose header was read last.
  private var header: [String] = []

  /// The table of a whole file.
  package static func table(_ text: String) throws(TomlFault) -> TomlTable {
    var reader = TomlReader(text)
    try reader.read()
    return reader.root
  }

  private init(_ text: String) {
    bytes = Array(text.utf8)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
  }

  private mutating func read() throws(TomlFault) {
    while true {
      skipBlanks()
      guard let byte else { return }
      switch byte {
      case UInt8(ascii: "#"), 10, 13: break
      case UInt8(ascii: "["): try readHeader()
      default: try readEntry(into: header)
      }
      try endLine()
    }
  }

  // MARK: Lines

  private mutating func readHeader() throws(TomlFault) {
    index += 1
    skipBlanks()
    if byte == UInt8(ascii: "[") { throw list }
    guard let byte, Self.isBare(byte) || Self.isQuote(byte) else {
      throw fault("a table's name is missing after `[`")
    }
    header = try keys()
    guard accept("]") else { throw fault("`]` is missing after a table's name") }
    try root.open(header, line)
  }

  /// `key = value`
  private mutating func readEntry(into path: [String]) throws(TomlFault) {
    let keys = try keys()
    guard accept("=") else { throw fault("`=` is missing after `\(keys.joined(separator: "."))`") }
    skipBlanks()
    let value = try value(0)
    try root.set(path + keys, to: value, line, below: path.count)
  }

  private mutating func endLine() throws(TomlFault) {
    skipBlanks()
    if byte == UInt8(ascii: "#") {
      while let byte, byte != 10 {
        if byte == 0 { throw null }
        index += 1
      }
    }
    if byte == 13, index + 1 < bytes.count, bytes[index + 1] == 10 { index += 1 }
    guard let byte else { return }
    guard byte == 10 else { throw byte == 0 ? null : fault("the line goes on where it should end") }
    index += 1
    line += 1
  }

  // MARK: Keys

  /// `a.b."c d"`
  private mutating func keys() throws(TomlFault) -> [String] {
    var keys = [try key()]
    while accept(".") {
      keys.append(try key())
      if keys.count > Self.deepest { throw tooDeep }
    }
    return keys
  }

  private mutating func key() throws(TomlFault) -> String {
    skipBlanks()
    guard let byte else { throw fault("a name is missing") }
    if Self.isQuote(byte) { return try quoted(byte) }
    let start = index
    while let byte = self.byte, Self.isBare(byte) { index += 1 }
    guard index > start else {
      throw byte == 0 ? null : fault("a name is missing; letters, digits, `_` and `-` need no quotes")
    }
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  // MARK: Values

  private mutating func value(_ depth: Int) throws(TomlFault) -> TomlValue {
    guard let byte, byte != 10, byte != 13 else { throw fault("a value is missing") }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try quoted(byte))
    case UInt8(ascii: "{"): return .table(try inlineTable(depth + 1))
    case UInt8(ascii: "["): throw list
    case 0: throw null
    default: break
    }
    let start = index
    while let byte = self.byte, Self.isBare(byte) || "+.:".utf8.contains(byte) { index += 1 }
    switch String(decoding: bytes[start..<index], as: UTF8.self) {
    case "true": return .bool(true)
    case "false": return .bool(false)
    case "inf", "nan": return .other
    case let word:
      guard let first = word.utf8.first, first &- 48 < 10 || "+-".utf8.contains(first) else {
        throw fault("a value is a text in quotes, `true`, `false` or `{ … }`")
      }
      return Int(word).map { .integer($0) } ?? .other
    }
  }

  /// `{ fg = "gold", bold = true }`
  private mutating func inlineTable(_ depth: Int) throws(TomlFault) -> TomlTable {
    if depth > Self.deepest { throw tooDeep }
    index += 1
    var table = TomlTable()
    if !accept("}") {
      repeat {
        let keys = try keys()
        guard accept("=") else { throw fault("`=` is missing after `\(keys.joined(separator: "."))`") }
        skipBlanks()
        let value = try value(depth)
        try table.set(keys, to: value, line, below: 0)
      } while accept(",")
      guard accept("}") else { throw fault("`}` is missing") }
    }
    table.isClosed = true
    return table
  }

  private mutating func quoted(_ quote: UInt8) throws(TomlFault) -> String {
    if bytes[index...].prefix(3).count(where: { $0 == quote }) == 3 { throw list }
    index += 1
    var text: [UInt8] = []
    while let byte, byte != 10 {
      index += 1
      switch byte {
      case quote: return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\") where quote == UInt8(ascii: "\""): text += try escaped()
      case 0: throw null
      case 9, 32...126, 128...: text.append(byte)
      default: throw fault("a control character in a text")
      }
    }
    throw fault("the quotes are not closed")
  }

  /// The character after a backslash.
  private mutating func escaped() throws(TomlFault) -> [UInt8] {
    guard let byte else { throw fault("the quotes are not closed") }
    index += 1
    switch byte {
    case UInt8(ascii: "b"): return [8]
    case UInt8(ascii: "t"): return [9]
    case UInt8(ascii: "n"): return [10]
    case UInt8(ascii: "f"): return [12]
    case UInt8(ascii: "r"): return [13]
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): return [byte]
    case UInt8(ascii: "u"), UInt8(ascii: "U"):
      let digits = bytes[index...].prefix(byte == UInt8(ascii: "u") ? 4 : 8)
      guard digits.count == (byte == UInt8(ascii: "u") ? 4 : 8), digits.allSatisfy(Self.isBare),
        let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
        let scalar = Unicode.Scalar(code)
      else { throw fault("a code is written `\\u00E9` or `\\U0001F3B9`") }
      index += digits.count
      return Array(String(Character(scalar)).utf8)
    default: throw fault("a backslash stands before `b`, `t`, `n`, `f`, `r`, `u`, `\"` and `\\` only")
    }
  }

  // MARK: Bytes

  private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

  private mutating func skipBlanks() {
    while byte == 32 || byte == 9 { index += 1 }
  }

  private mutating func accept(_ wanted: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard byte == UInt8(ascii: wanted) else { return false }
    index += 1
    return true
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 97 < 26 || byte &- 48 < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  private func fault(_ words: String) -> TomlFault { TomlFault(line: line, description: words) }
  private var list: TomlFault { fault("a list or a text of several lines, which no theme or keymap has") }
  private var null: TomlFault { fault("a null character, which no text has") }
  private var tooDeep: TomlFault { fault("tables within tables, which no theme or keymap has") }
}

import Patch

/// Turns the text of an SFZ instrument, with all its includes and defines, into headers and opcodes. It works
/// on bytes, since texts contain file names in several encodings, and looks at each byte a fixed number of
/// times.
struct SfzScanner {
  enum Token: Hashable {
    case header(String)
    /// The name in lower case, the value as written.
    case opcode(String, String)
    /// A `<sample>` header: a whole sound file, decoded.
    case data(String, [UInt8])
  }

  /// Limits of include depth and number of includes, generous for real instruments.
  static let deepest = 64
  static let mostIncludes = 4096
  static let mostBytes = 256 << 20
  /// More findings than this come from a single mistake.
  static let mostFindings = 1000

  private(set) var tokens: [(token: Token, place: SourceLine)] = []
  private(set) var findings: [Finding] = []
  /// Files that were read, the instrument itself first.
  private(set) var files: [String] = []
  private var defines = SfzDefines()
  private let root: String
  private var includes = 0
  /// True when an include was left out since it goes too deep.
  private var isTooDeep = false
  private var bytes = 0
  private var header = ""
  /// True when `encoding=base64` stands below the header.
  private var isBase64 = false

  /// Reads the file and its includes; failed includes are findings. Worker.
  init(path: String) throws(LoadError) {
    root = TextFile.folder(path)
    scan(try TextFile.bytes(path), file: path, within: [])
  }

  /// A scanner for instruments without a file, as in tests. Worker.
  init(text: String, file: String) {
    root = TextFile.folder(file)
    scan(Array(text.utf8), file: file, within: [])
  }

  mutating func find(_ message: String, _ place: SourceLine, as kind: Finding.Kind = .corrected) {
    guard findings.count < Self.mostFindings else { return }
    findings.append(Finding(kind, file: place.file, line: place.line, message))
  }

  /// Counts the bytes read and expanded; false when the limit is exceeded.
  private mutating func takes(_ count: Int, _ place: SourceLine) -> Bool {
    let wasRoom = bytes <= Self.mostBytes
    bytes += count
    if bytes <= Self.mostBytes { return true }
    if wasRoom { find("the instrument's text is too long; the rest is left out", place) }
    return false
  }

  /// Line by line, without comments.
  private mutating func scan(_ text: [UInt8], file: String, within others: [String]) {
    if !files.contains(file) { files.append(file) }
    guard takes(text.count, SourceLine(file: file, line: 0)) else { return }
    var place = SourceLine(file: file, line: 1)
    var comment: SourceLine?
    var code: [UInt8] = []
    var index = 0
    while index < text.count {
      let byte = text[index]
      let next = index + 1 < text.count ? text[index + 1] : 0
      if byte == 10 || byte == 13 {
        if comment == nil || !code.isEmpty { read(code, place, within: others) }
        code.removeAll(keepingCapacity: true)
        place.line += 1
        index += byte == 13 && next == 10 ? 2 : 1
      } else if comment != nil {
        let isEnd = byte == UInt8(ascii: "*") && next == UInt8(ascii: "/")
        if isEnd { comment = nil }
        index += isEnd ? 2 : 1
      } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "*") {
        comment = place
        code.append(32)
        index += 2
      } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "/") {
        while index < text.count, text[index] != 10, text[index] != 13 { index += 1 }
      } else if byte == UInt8(ascii: "="), let name = Self.dataName(code) {
        read(code.dropLast(name.utf8.count), place, within: others)
        code.removeAll(keepingCapacity: true)
        if header == "sample" {
          index = embed(name, text, from: index + 1, &place)
        } else {
          code = Array((name + "=").utf8)
          index += 1
        }
      } else {
        code.append(byte)
        index += 1
      }
    }
    read(code, place, within: others)
    if let comment { find("the comment that begins here is never closed; what follows is left out", comment) }
  }

  // MARK: Directives

  /// Reads a line, or the part of one before an embedded sound file.
  private mutating func read(_ code: some Sequence<UInt8>, _ place: SourceLine, within others: [String]) {
    let code = Array(code)
    var from = 0
    var index = 0
    while index < code.count {
      defer { index += 1 }
      // At the start, after a space or a header; `C#4` is a note.
      guard code[index] == UInt8(ascii: "#"),
        index == 0 || Self.isSpace(code[index - 1]) || code[index - 1] == UInt8(ascii: ">")
      else { continue }
      let isDefine = Self.has("#define", code, at: index)
      guard isDefine || Self.has("#include", code, at: index) else { continue }
      tokenize(code[from..<index], place)
      from = isDefine ? define(code, index + 7, place) : include(code, index + 8, place, within: others)
      index = from - 1
    }
    if from < code.count { tokenize(code[from...], place) }
  }

  private static func has(_ word: StaticString, _ code: [UInt8], at index: Int) -> Bool {
    guard code.count - index >= word.utf8CodeUnitCount else { return false }
    return (0..<word.utf8CodeUnitCount).allSatisfy { code[index + $0] == word.utf8Start[$0] }
  }

  private static func skip(_ code: [UInt8], _ start: Int, while isMeant: (UInt8) -> Bool) -> Int {
    var index = start
    while index < code.count, isMeant(code[index]) { index += 1 }
    return index
  }

  /// `#define $NAME value`; the value ends at the next space. Returns the start of the rest.
  private mutating func define(_ code: [UInt8], _ start: Int, _ place: SourceLine) -> Int {
    let name = Self.skip(code, start, while: Self.isSpace)
    let nameEnd = Self.skip(code, name) { !Self.isSpace($0) && $0 != UInt8(ascii: "<") }
    let value = Self.skip(code, nameEnd, while: Self.isSpace)
    let end = Self.skip(code, value) { !Self.isSpace($0) && $0 != UInt8(ascii: "<") }
    guard name < nameEnd, code[name] == UInt8(ascii: "$"), nameEnd - name > 1 else {
      find("#define wants a name that begins with `$`, then its value", place)
      return nameEnd
    }
    guard nameEnd - name <= SfzDefines.longestName else {
      find("the name behind #define is too long; it is left out", place)
      return end
    }
    if let other = defines.set(code[name..<nameEnd], to: code[value..<end]) {
      find(
        "`\(TextFile.text(other.longer))` is never read: where it stands, `\(TextFile.text(other.shorter))` is meant",
        place)
    }
    return end
  }

  /// Returns the start of the rest.
  private mutating func include(
    _ code: [UInt8], _ start: Int, _ place: SourceLine, within others: [String]
  ) -> Int {
    let quote = UInt8(ascii: "\"")
    let open = Self.skip(code, start, while: Self.isSpace)
    guard open < code.count, code[open] == quote, let end = code[(open + 1)...].firstIndex(of: quote) else {
      find("#include wants a file name in quotes", place)
      return code.count
    }
    let name = TextFile.text(expanded(code[(open + 1)..<end], place)).substituting("\\", with: "/")
    includes += 1
    guard others.count < Self.deepest, includes <= Self.mostIncludes else {
      if !isTooDeep { find("#include goes too deep (does `\(name)` include itself?); it is left out", place) }
      isTooDeep = true
      return end + 1
    }
    let folder = TextFile.folder(place.file)
    guard let path = TextFile.find(name, in: root) ?? TextFile.find(name, in: folder) else {
      find("cannot include `\(name)`: no such file", place, as: .missingInclude(name))
      return end + 1
    }
    // There are no conditionals, so a recursive include would never end.
    guard !others.contains(path), path != place.file else {
      find("`\(name)` includes itself; it is left out", place)
      return end + 1
    }
    do {
      scan(try TextFile.bytes(path), file: path, within: others + [place.file])
    } catch {
      find("cannot include `\(name)`: \(error.message)", place, as: .missingInclude(name))
    }
    return end + 1
  }

  private mutating func expanded(_ code: ArraySlice<UInt8>, _ place: SourceLine) -> [UInt8] {
    guard code.contains(UInt8(ascii: "$")) else { return Array(code) }
    let result = defines.expanded(code)
    if let fault = result.fault { find(fault, place) }
    return takes(result.bytes.count + result.uses, place) ? result.bytes : []
  }

  // MARK: Headers and opcodes

  private mutating func tokenize(_ code: ArraySlice<UInt8>, _ place: SourceLine) {
    let bytes = expanded(code, place)
    var index = 0
    while true {
      index = Self.skip(bytes, index, while: Self.isSpace)
      guard index < bytes.count else { return }
      if bytes[index] == UInt8(ascii: "<") {
        guard let end = bytes[index...].firstIndex(of: UInt8(ascii: ">")) else {
          find("a header lacks its `>`", place)
          return
        }
        header = TextFile.text(bytes[(index + 1)..<end]).lowercased()
        tokens.append((.header(header), place))
        isBase64 = false
        index = end + 1
        continue
      }
      let start = index
      index = Self.skip(bytes, index, while: Self.isName)
      guard index > start, index < bytes.count, bytes[index] == UInt8(ascii: "=") else {
        index = Self.skip(bytes, index) { !Self.isSpace($0) && $0 != UInt8(ascii: "<") }
        let stray = TextFile.text(bytes[start..<index].prefix(40))
        let next = Self.skip(bytes, index, while: Self.isSpace)
        if next < bytes.count, bytes[next] == UInt8(ascii: "=") {
          find("`\(stray) =`: there must be no space before the `=`; the rest of the line is left out", place)
          return
        }
        find("`\(stray)` is neither a header nor an opcode", place)
        continue
      }
      let name = TextFile.text(bytes[start..<index]).lowercased()
      let end = Self.endOfValue(bytes, index + 1)
      var last = end
      while last > index + 1, Self.isSpace(bytes[last - 1]) { last -= 1 }
      let first = Self.skip(bytes, index + 1, while: Self.isSpace)
      let value = first < last ? TextFile.text(bytes[first..<last]) : ""
      tokens.append((.opcode(name, value), place))
      if name == "encoding", value == "base64" { isBase64 = true }
      index = end
    }
  }

  /// A value ends at the next header or at the space before the next `name=`, so names of samples may contain
  /// spaces.
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

  static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
      true
    default: false
    }
  }

  // MARK: Sound files in the text

  /// `data` or `base64data`, if the code ends with it.
  private static func dataName(_ code: [UInt8]) -> String? {
    for name in ["base64data", "data"] where code.count >= name.utf8.count {
      let start = code.count - name.utf8.count
      guard code[start...].elementsEqual(name.utf8) else { continue }
      if start == 0 || isSpace(code[start - 1]) || code[start - 1] == UInt8(ascii: ">") { return name }
    }
    return nil
  }

  /// Decodes the sound file that begins at an index; returns the start of the rest.
  private mutating func embed(
    _ name: String, _ text: [UInt8], from start: Int, _ place: inout SourceLine
  ) -> Int {
    let decoded =
      name != "data" || isBase64
      ? EmbeddedSample.base64(text, from: start)
      : EmbeddedSample.rapture(text, from: start)
    tokens.append((.data(name, decoded.bytes), place))
    for index in start..<decoded.end {
      // A line end may have two bytes.
      let isLine =
        text[index] == 10 || text[index] == 13 && (index + 1 == text.count || text[index + 1] != 10)
      if isLine { place.line += 1 }
    }
    return decoded.end
  }
}

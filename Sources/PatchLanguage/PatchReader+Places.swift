import Patch

/// A place in a text.
public struct TextPlace: Hashable, Sendable {
  /// Line number, from 1.
  public var line: Int
  /// Column in characters, from 1.
  public var column: Int

  /// A place, counted from 1.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }
}

extension PatchReader {
  /// Places of the values in a patch file, by setting; where several lines set one, that of the line that counts.
  /// For messages about values that the patch itself accepts, such as files that are missing.
  public static func places(in text: String) -> [SettingName: TextPlace] {
    let source = Source(text, file: "")
    var (places, later): ([SettingName: TextPlace], [SettingName: TextPlace]) = ([:], [:])
    var tokens: [Token] = []
    let lineEnd = Lexer.lineEnd(of: source.bytes)
    var (start, number) = (Lexer.start(of: source.bytes), 0)
    while start < source.bytes.count {
      let end = source.bytes[start...].firstIndex(of: lineEnd) ?? source.bytes.count
      tokens.removeAll(keepingCapacity: true)
      _ = try? Lexer.split(source.bytes, start..<end, into: &tokens)
      for clause in StatementParser.clauses(tokens) {
        var parser = Parser(source, tokens, clause, isMarking: true)
        guard let (verb, statement) = try? parser.statement(), verb.belongsInFiles else { continue }
        // `set` lines count after all `node` lines, wherever they stand.
        let isLater = if case .edit(.add) = statement { false } else { true }
        if case .edit(.scene) = statement { continue }
        for case (.valueOf(let setting), let offset) in parser.marks ?? [] {
          let place = source.place(offset, line: number, start: start)
          if isLater { later[setting] = place } else { places[setting] = place }
        }
      }
      start = end + 1
      number += 1
    }
    return places.merging(later) { $1 }
  }
}

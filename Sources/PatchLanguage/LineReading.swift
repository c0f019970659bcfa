import Patch

/// Reads the lines of a patch file, sorts their statements by type, and attaches each comment to its line.
struct LineReading {
  /// Whole-line comments whose line has not been read yet.
  private var waiting: [String] = []
  /// True after a statement other than `sostenuto 1`.
  private var isInBody = false
  /// True when the pending comments follow the `sostenuto 1` line directly.
  private var followsVersion = false
  private var hasVersion = false
  private var tokens: [Token] = []
  private var header: [String] = []

  mutating func read(into reading: inout Reading) {
    let bytes = reading.source.bytes
    // Reserves the maximum; unused pages are never touched. Growing would move the tables of large patches.
    let lineEnd = Lexer.lineEnd(of: bytes)
    let lines = bytes.count(where: { $0 == lineEnd }) + 1
    reading.nodes.reserveCapacity(lines)
    reading.cables.reserveCapacity(lines)
    var start = Lexer.start(of: bytes)
    var number = 0
    while start < bytes.count {
      let end = bytes.withUnsafeBufferPointer { buffer in
        var index = start
        while index < buffer.count, buffer[index] != lineEnd { index += 1 }
        return index
      }
      line(start..<end, number, &reading)
      start = end + 1
      number += 1
    }
    if followsVersion {
      addToHeader(waiting)
    } else if !waiting.isEmpty {
      reading.setFooter(waiting)
    }
    if !header.isEmpty { reading.setHeader(header) }
  }

  private mutating func line(_ range: Range<Int>, _ number: Int, _ reading: inout Reading) {
    tokens.removeAll(keepingCapacity: true)
    let comment: Range<Int>?
    do throws(Fault) {
      comment = try Lexer.split(reading.source.bytes, range, into: &tokens)
    } catch {
      reading.report(error, number, range.lowerBound)
      noteBrokenNode(&reading)
      isInBody = true
      followsVersion = false
      return
    }
    let text = comment.map { Self.commentText(reading.source, $0) }
    if tokens.isEmpty {
      if let text {
        waiting.append(text)
      } else {
        blankLine()
      }
      return
    }
    if isVersion(reading.source) {
      version(text, number, range.lowerBound, &reading)
    } else {
      statements(text, number, range.lowerBound, &reading)
    }
  }

  /// Comments at the head, followed by a blank line, belong to the whole file.
  private mutating func blankLine() {
    if !isInBody, !waiting.isEmpty { addToHeader(waiting) }
    if !isInBody { waiting = [] }
    followsVersion = false
  }

  private mutating func addToHeader(_ lines: [String]) {
    if lines.isEmpty { return }
    if !header.isEmpty { header.append("") }
    header += lines
  }

  private func isVersion(_ source: Source) -> Bool {
    source.bytes[tokens[0].range].elementsEqual("sostenuto".utf8)
  }

  private mutating func version(_ comment: String?, _ number: Int, _ start: Int, _ reading: inout Reading) {
    if isInBody || hasVersion {
      reading.report(Fault(tokens[0].start, .lateVersion), number, start)
      return
    }
    let words = tokens.dropFirst().map { reading.source.string($0.range) }
    if words != ["1"] {
      let place = tokens.count > 1 ? tokens[1].start : tokens[0].end
      reading.report(Fault(place, .wrongVersion(words)), number, start)
    }
    addToHeader(waiting + (comment.map { $0.isEmpty ? [] : [$0] } ?? []))
    waiting = []
    hasVersion = true
    followsVersion = true
  }

  private mutating func statements(_ comment: String?, _ number: Int, _ start: Int, _ reading: inout Reading)
  {
    isInBody = true
    followsVersion = false
    var before = waiting
    waiting = []
    let clauses =
      tokens.contains { $0.kind == .separator } ? StatementParser.clauses(tokens) : [0..<tokens.count]
    for (index, clause) in clauses.enumerated() {
      let isLast = index == clauses.count - 1
      let after = isLast && comment != "" ? comment : nil
      let comments = Comments(before: before, after: after)
      before = []
      var parser = Parser(reading.source, tokens, clause)
      do throws(Fault) {
        let (verb, statement) = try parser.statement()
        let item = Reading.Item(
          edit: .all([]), line: number, lineStart: start,
          range: tokens[clause.lowerBound].start..<tokens[clause.upperBound - 1].end, comments: comments)
        try reading.take(verb, statement, item)
      } catch {
        reading.report(error, number, start)
        noteBrokenNode(&reading, from: clause.lowerBound)
      }
    }
  }

  /// Records the name from a `node` line with errors.
  private func noteBrokenNode(_ reading: inout Reading, from index: Int = 0) {
    guard tokens.count > index + 1, reading.source.string(tokens[index].range) == "node" else { return }
    reading.broken.insert(reading.source.string(tokens[index + 1].range))
  }

  /// The text of a comment without the blank before it and those behind it.
  static func commentText(_ source: Source, _ range: Range<Int>) -> String {
    var (start, end) = (range.lowerBound, range.upperBound)
    if start < end, source.bytes[start] == 32 { start += 1 }
    while end > start, source.bytes[end - 1] <= 32 { end -= 1 }
    return source.string(start..<end)
  }
}

extension Reading {
  mutating func setHeader(_ lines: [String]) { try? draft.apply(.comment(.header, Comments(before: lines))) }
  mutating func setFooter(_ lines: [String]) { try? draft.apply(.comment(.footer, Comments(before: lines))) }

  mutating func report(_ fault: Fault, _ line: Int, _ start: Int) {
    diagnostics.append(source.diagnostic(fault, line: line, start: start))
  }

  /// Sorts a statement by type.
  mutating func take(_ verb: Verb, _ statement: Statement, _ item: Item) throws(Fault) {
    guard verb.belongsInFiles, case .edit(let edit) = statement else {
      throw Fault(item.range.lowerBound, .notInFile(verb))
    }
    var item = item
    item.edit = edit
    switch edit {
    case .add: nodes.append(item)
    case .connect: cables.append(item)
    case .place: places.append(item)
    case .setPatch: patchSettings.append(item)
    case .scene: scenes.append(item)
    default:
      let (isIndexed, over): (Bool, Double?)
      switch edit {
      case .set(_, let path, _, let time): (isIndexed, over) = (!path.indices.isEmpty, time)
      case .setRange(_, _, _, let time): (isIndexed, over) = (true, time)
      default: return
      }
      if over != nil {
        throw Fault(source.offset(of: .word("over"), in: item.range), .durationInFile)
      }
      if isIndexed { indexedSettings.append(item) } else { settings.append(item) }
    }
  }
}

import Patch

/// Lines from a clipboard, a file or an editor, as one statement.
///
/// Lines that a file may have are taken as a file's are: in any order, and with their comments. A new node whose name is
/// taken gets another, which the other lines follow. Where any other line is among them, all are taken as typed.
public struct PastedLines {
  /// The statement of all lines: one edit, unless some play a node.
  public private(set) var statement = Statement.nothing
  /// Names of the new nodes whose own names were taken, by those.
  public private(set) var names: [String: String] = [:]
  private var clauses: [Clause] = []

  private struct Clause {
    var verb: Verb
    var statement: Statement
    var text: String
    /// Place of its text, counted from 0.
    var line: Int
    var column: Int
    var comments: Comments
    /// Offsets of nodes' names, in bytes.
    var references: [(name: String, offset: Int)]
  }

  /// Reads the lines. Throws the place of what is no line of the language.
  public init(_ text: String, patch: Patch, catalogue: KindCatalogue) throws(Diagnostic) {
    try read(text)
    let isFragment = clauses.allSatisfy(\.verb.belongsInFiles)
    if isFragment {
      try rename(in: patch)
      clauses = clauses.enumerated().sorted {
        ($0.element.statement.rankInFile, $0.offset) < ($1.element.statement.rankInFile, $1.offset)
      }.map(\.element)
      bringContainersFirst()
    }
    let statements = clauses.flatMap { clause -> [Statement] in
      guard isFragment, !clause.comments.isEmpty, case .edit(let edit) = clause.statement else {
        return [clause.statement]
      }
      if case .add(var node, let before) = edit {
        node.comments = clause.comments
        return [.edit(.add(node, before: before))]
      }
      return [.edit(edit)] + (Reading.subject(of: edit).map { [.edit(.comment($0, clause.comments))] } ?? [])
    }
    let edits = statements.compactMap { if case .edit(let edit) = $0 { edit } else { nil } }
    if edits.count < statements.count {
      statement = .sequence(statements)
    } else if !edits.isEmpty {
      statement = .edit(patch.typed(.joined(edits), catalogue: catalogue))
    }
  }

  /// The place of a refused edit: that of the first line that is refused after those before it.
  public func diagnostic(for error: EditError, on patch: Patch, catalogue: KindCatalogue) -> Diagnostic {
    var draft = Draft(patch: patch, catalogue: catalogue)
    for clause in clauses {
      guard case .edit(let edit) = clause.statement else { continue }
      do throws(EditError) {
        try draft.apply(edit)
      } catch {
        return StatementParser.diagnostic(
          for: error, in: clause.text, line: clause.line + 1, column: clause.column + 1)
      }
    }
    return StatementParser.diagnostic(for: error, in: clauses.first?.text ?? "")
  }

  // MARK: Reading

  private mutating func read(_ text: String) throws(Diagnostic) {
    let source = Source(text, file: "")
    var (start, number) = (0, 0)
    var waiting: [String] = []
    while start < source.bytes.count {
      let end = source.bytes[start...].firstIndex { $0 == 10 || $0 == 13 } ?? source.bytes.count
      do throws(Fault) {
        try read(source, start..<end, number, &waiting)
      } catch {
        throw source.diagnostic(error, line: number, start: start)
      }
      // A line may end with both.
      start = source.bytes[min(end, source.bytes.count)...].starts(with: [13, 10]) ? end + 2 : end + 1
      number += 1
    }
  }

  private mutating func read(
    _ source: Source, _ range: Range<Int>, _ number: Int, _ waiting: inout [String]
  ) throws(Fault) {
    var tokens: [Token] = []
    let comment = try Lexer.split(source.bytes, range, into: &tokens)
      .map { LineReading.commentText(source, $0) }
    guard let first = tokens.first else {
      // A comment with a blank line below it is about no line.
      waiting = comment.map { waiting + [$0] } ?? []
      return
    }
    if source.bytes[first.range].elementsEqual("sostenuto".utf8) {
      waiting = []
      return
    }
    let ranges = StatementParser.clauses(tokens)
    for (index, clause) in ranges.enumerated() {
      var parser = Parser(source, tokens, clause, isMarking: true)
      let (verb, statement) = try parser.statement()
      let bytes = tokens[clause.lowerBound].start..<tokens[clause.upperBound - 1].end
      let isLast = index == ranges.count - 1
      clauses.append(
        Clause(
          verb: verb, statement: statement, text: source.string(bytes), line: number,
          column: source.string(range.lowerBound..<bytes.lowerBound).count,
          comments: Comments(
            before: index == 0 ? waiting : [], after: isLast && comment != "" ? comment : nil
          ).tidied,
          references: (parser.marks ?? []).compactMap { mark in
            guard case .node(let name) = mark.part else { return nil }
            return (name, mark.offset - bytes.lowerBound)
          }))
    }
    waiting = []
  }

  /// Brings the lines of sub-patches before those of the nodes inside. A file has them in any order, and the nodes come in
  /// that order all the same.
  private mutating func bringContainersFirst() {
    let lines = clauses.prefix { $0.statement.rankInFile == 0 }
    let names = lines.compactMap { line -> String? in
      if case .edit(.add(let node, _)) = line.statement { node.name } else { nil }
    }
    let places = Dictionary(names.enumerated().map { ($1, $0) }, uniquingKeysWith: { one, _ in one })
    let isInOrder = names.enumerated().allSatisfy { place, name in
      NodePath.container(of: name).flatMap { places[$0] }.map { $0 < place } ?? true
    }
    guard !isInOrder, names.count == lines.count else { return }
    let depths = names.map { NodePath.containers(of: $0).count }
    // The next line that is added earlier, since it is less deep.
    var next: [Int?] = Array(repeating: nil, count: names.count)
    var waiting: [Int] = []
    for place in names.indices.reversed() {
      while let last = waiting.last, depths[last] >= depths[place] { waiting.removeLast() }
      next[place] = waiting.last
      waiting.append(place)
    }
    let sorted = names.indices.sorted { (depths[$0], $0) < (depths[$1], $1) }.map { place in
      var line = lines[place]
      if case .edit(.add(let node, nil)) = line.statement {
        line.statement = .edit(.add(node, before: next[place].map { names[$0] }))
      }
      return line
    }
    clauses.replaceSubrange(lines.indices, with: sorted)
  }

  // MARK: Names

  private mutating func rename(in patch: Patch) throws(Diagnostic) {
    let added = clauses.compactMap { clause -> String? in
      if case .edit(.add(let node, _)) = clause.statement { node.name } else { nil }
    }
    var taken = Set(patch.names).union(added)
    // The outermost first: what is inside a sub-patch goes into the one that it becomes.
    let byDepth = added.sorted { NodePath.containers(of: $0).count < NodePath.containers(of: $1).count }
    for name in byDepth where names[name] == nil {
      let container = NodePath.containers(of: name).first { names[$0] != nil }
      guard container != nil || patch.id(named: name) != nil else { continue }
      var new = name
      if let container, let renamed = names[container] { new = renamed + name.dropFirst(container.count) }
      if taken.contains(new) { new = NodeName.free(like: new) { taken.contains($0) } }
      names[name] = new
      taken.insert(new)
    }
    if names.isEmpty { return }
    for index in clauses.indices {
      let clause = clauses[index]
      var bytes = Array(clause.text.utf8)
      let references = clause.references.filter { names[$0.name] != nil }
      // From the right, so that offsets hold; a place may be marked twice.
      var last = Int.max
      for (name, offset) in references.sorted(by: { $0.offset > $1.offset }) where offset < last {
        last = offset
        let old = Array(name.utf8)
        guard let new = names[name], bytes[offset...].starts(with: old) else { continue }
        bytes.replaceSubrange(offset..<offset + old.count, with: Array(new.utf8))
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard text != clause.text else { continue }
      var source = Source(text, file: "")
      (source.firstLine, source.firstColumn) = (clause.line + 1, clause.column + 1)
      do throws(Fault) {
        var tokens: [Token] = []
        _ = try Lexer.split(source.bytes, 0..<source.bytes.count, into: &tokens)
        var parser = Parser(source, tokens, 0..<tokens.count)
        clauses[index].statement = try parser.statement().statement
        clauses[index].text = text
      } catch {
        throw source.diagnostic(error, line: 0, start: 0)
      }
    }
  }
}

extension Statement {
  /// Place among the lines of a file, where later ones may need earlier ones.
  fileprivate var rankInFile: Int {
    guard case .edit(let edit) = self else { return 8 }
    return switch edit {
    case .add: 0
    case .set(_, let path, _, _) where path.indices.isEmpty: 1
    case .set, .setRange: 2
    // Cables lead to what is published.
    case .setPatch(.publish): 3
    case .connect: 4
    case .place: 5
    case .scene: 6
    default: 7
    }
  }
}

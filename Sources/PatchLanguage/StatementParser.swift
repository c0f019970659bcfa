import Patch

/// Parses one line: from the prompt, a script, the journal or remote control.
public enum StatementParser {
  /// The statement on the line. For edits, names and values are checked later, when they are applied.
  /// Performances are checked here, since nothing else does. `line` and `column`: place of the text in
  /// `file`.
  public static func parse(
    _ text: String, patch: Patch, catalogue: KindCatalogue, file: String = "", line: Int = 1, column: Int = 1
  ) throws(Diagnostic) -> Statement {
    var source = Source(text, file: file)
    source.firstLine = line
    source.firstColumn = column
    do throws(Fault) {
      return try statement(source, patch: patch, catalogue: catalogue)
    } catch {
      throw source.diagnostic(error, line: 0, start: 0)
    }
  }

  /// The place of a refused edit in the line that requested it.
  public static func diagnostic(
    for error: EditError, in text: String, file: String = "", line: Int = 1, column: Int = 1
  ) -> Diagnostic {
    var source = Source(text, file: file)
    source.firstLine = line
    source.firstColumn = column
    var start = 0
    while start < source.bytes.count, Lexer.isBlank(source.bytes[start]) { start += 1 }
    let offset = source.offset(of: error.part, in: start..<source.bytes.count)
    return source.diagnostic(offset, line: 0, start: 0, error.message, hint: error.hint)
  }

  private static func statement(
    _ source: Source, patch: Patch, catalogue: KindCatalogue
  ) throws(Fault) -> Statement {
    var tokens: [Token] = []
    _ = try Lexer.split(source.bytes, 0..<source.bytes.count, into: &tokens)
    var statements: [Statement] = []
    // Edits since the last performance. A later performance may refer to nodes that they add or rename; if
    // they are refused, their error is the one to report.
    var waiting: [Edit] = []
    var present: Patch? = patch
    for range in clauses(tokens) {
      var parser = Parser(source, tokens, range)
      let statement = try parser.statement().statement
      if case .edit(let edit) = statement { waiting.append(edit) }
      if case .perform(let performance) = statement {
        if !waiting.isEmpty { present = try? present?.applying(.all(waiting), catalogue: catalogue).patch }
        waiting = []
        do throws(EditError) {
          if let present { try performance.check(present, catalogue) }
        } catch {
          let place = tokens[range.lowerBound].start..<tokens[range.upperBound - 1].end
          throw Fault(source.offset(of: error.part, in: place), .refused(error))
        }
      }
      statements.append(statement)
    }
    let edits = statements.compactMap { if case .edit(let edit) = $0 { edit } else { nil } }
    if statements.isEmpty { return .nothing }
    if edits.count == statements.count {
      let edit = edits.count == 1 ? edits[0] : .all(edits)
      return .edit(patch.typed(edit, catalogue: catalogue))
    }
    return statements.count == 1 ? statements[0] : .sequence(statements)
  }

  /// The words between `;`, without empty ones.
  static func clauses(_ tokens: [Token]) -> [Range<Int>] {
    var clauses: [Range<Int>] = []
    var start = 0
    for index in 0...tokens.count where index == tokens.count || tokens[index].kind == .separator {
      if index > start { clauses.append(start..<index) }
      start = index + 1
    }
    return clauses
  }
}

extension Performance {
  /// Throws for an action that the node cannot perform.
  func check(_ patch: Patch, _ catalogue: KindCatalogue) throws(EditError) {
    let found = try patch.node(named: node)
    guard let kind = catalogue[found.kind] else { return }
    switch event {
    case .play, .stop, .cue:
      if kind[parameter: "file"] == nil {
        throw .noPlayer(node, kind: kind.name)
      }
    default:
      if !kind.inputs.contains(where: \.isEvents) && !kind.outputs.contains(where: \.isEvents) {
        throw .noInstrument(node, kind: kind.name)
      }
    }
  }
}

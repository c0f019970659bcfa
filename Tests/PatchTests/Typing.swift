import Patch
import Testing

@testable import PatchLanguage

/// The edits of a line, in their canonical form and with a session's checks. Throws `EditError` and `Diagnostic`.
func perform(_ line: String, on patch: inout Patch, history: inout History) throws {
  guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
    Issue.record("`\(line)` is no edit")
    return
  }
  let step = try patch.applyingCanonically(edit, catalogue: catalogue)
  try step.change.patch.checkTargets(of: step.edit, catalogue: catalogue)
  history.record(step.change, describing: step.edit.line, catalogue: catalogue)
  patch = step.change.patch
}

/// A line that is refused at a place, in these words if they matter.
func expectRefusal(
  of line: String, in patch: Patch, at place: String, words: String?,
  sourceLocation: SourceLocation = #_sourceLocation
) throws {
  var (patch, history) = (patch, History())
  do {
    do {
      try perform(line, on: &patch, history: &history)
    } catch let error as EditError {
      throw StatementParser.diagnostic(for: error, in: line)
    }
    Issue.record("`\(line)` is accepted", sourceLocation: sourceLocation)
  } catch let error as Diagnostic {
    #expect("\(error.line):\(error.column)" == place, "\(error.words)", sourceLocation: sourceLocation)
    if let words { #expect(error.words == words, sourceLocation: sourceLocation) }
  }
}

/// Edits on a patch as they are read back from their lines. Kinds need not be known.
func typing(_ edits: [Edit], on start: Patch) throws -> Draft {
  var draft = Draft(patch: start, catalogue: catalogue)
  draft.acceptsUnknownKinds = true
  for edit in edits {
    guard
      case .edit(let read) = try StatementParser.parse(edit.line, patch: draft.patch, catalogue: catalogue)
    else {
      Issue.record("`\(edit.line)` is no edit")
      continue
    }
    try draft.apply(read)
  }
  return draft
}

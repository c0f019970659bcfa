/// `a ; b`: several edits as one.
struct AllOf: EditVerbs {
  var edits: [Edit]

  func apply(to draft: inout Draft) throws(EditError) {
    for edit in edits { try draft.apply(edit) }
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    var scratch = draft
    return try perform(on: &scratch)
  }

  func perform(on draft: inout Draft) throws(EditError) -> Edit {
    var inverses: [Edit] = []
    inverses.reserveCapacity(edits.count)
    for edit in edits { inverses.append(try draft.perform(edit)) }
    return .joined(inverses.reversed())
  }

  func describe() -> String { edits.map(\.line).filter { !$0.isEmpty }.joined(separator: " ; ") }
}

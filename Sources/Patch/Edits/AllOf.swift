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
    var index = 0
    while index < edits.count {
      if let (number, changes) = ChangeScene.row(in: edits[index...]) {
        inverses.append(try ChangeScene.perform(changes, of: number, on: &draft))
        index += changes.count
      } else {
        inverses.append(try draft.perform(edits[index]))
        index += 1
      }
    }
    return .joined(inverses.reversed())
  }

  func describe() -> String { edits.map(\.line).filter { !$0.isEmpty }.joined(separator: " ; ") }
}

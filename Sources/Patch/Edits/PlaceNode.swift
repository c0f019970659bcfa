/// `layout dist 3,1`, `layout dist auto`
struct PlaceNode: EditVerbs {
  var name: String
  var place: Place?

  func apply(to draft: inout Draft) throws(EditError) {
    let node = try draft.patch.node(named: name)
    if let place, !(-9999...9999).contains(place.column) || !(-9999...9999).contains(place.row) {
      throw .placeOutOfRange(place)
    }
    draft.patch.update(node.id) { node in
      node.place = place
      if place == nil { node.lineComments[.layout] = nil }
    }
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    let node = try draft.patch.node(named: name)
    let place = Edit.place(name, node.place)
    guard let comments = node.lineComments[.layout] else { return place }
    return .all([place, .comment(.layout(name), comments)])
  }

  func describe() -> String { "layout \(name) \(place.map { "\($0.column),\($0.row)" } ?? "auto")" }
}

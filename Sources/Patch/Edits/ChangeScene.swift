/// `scene 3 "break"`, `scene 3 set dist.drive 24dB`, `scene 3 off`
struct ChangeScene: EditVerbs {
  var number: Int
  var change: SceneChange

  func apply(to draft: inout Draft) throws(EditError) {
    guard PatchScene.numbers.contains(number) else { throw .sceneOutOfRange(number) }
    switch change {
    case .store(let name):
      let old = draft.patch.scenes[number]
      let name = name.map(Self.tidied) ?? old?.name ?? ""
      var scene = PatchScene(of: draft.patch, name: name, catalogue: draft.catalogue)
      scene.comments = old?.comments ?? Comments()
      draft.patch.scenes[number] = scene
    case .edit(let edit):
      var scene = try draft.patch.scene(number)
      try scene.apply(edit, catalogue: draft.catalogue)
      draft.patch.scenes[number] = scene
    case .drop:
      _ = try draft.patch.scene(number)
      draft.patch.scenes[number] = nil
    }
  }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    var after = draft
    return try perform(on: &after)
  }

  func perform(on draft: inout Draft) throws(EditError) -> Edit {
    try Self.perform([change], of: number, on: &draft)
  }

  /// Performs changes of one scene, and returns one inverse of them all. A change that no line takes back has the whole scene
  /// as its inverse; a list of such inverses would grow with each undo and redo.
  static func perform(
    _ changes: [SceneChange], of number: Int, on draft: inout Draft
  ) throws(EditError) -> Edit {
    let before = draft.patch
    for change in changes { try ChangeScene(number: number, change: change).apply(to: &draft) }
    guard let old = before.scenes[number] else { return .scene(number, .drop) }
    return .joined(
      try PatchDifference.edits(
        of: number, from: draft.patch.scenes[number], to: old, in: before, catalogue: draft.catalogue,
        namesPorts: true))
  }

  /// The changes of one scene that edits begin with; nil: none.
  static func row(in edits: ArraySlice<Edit>) -> (number: Int, changes: [SceneChange])? {
    guard case .scene(let number, _) = edits.first else { return nil }
    var changes: [SceneChange] = []
    for edit in edits {
      guard case .scene(number, let change) = edit else { break }
      changes.append(change)
    }
    return (number, changes)
  }

  func describe() -> String {
    switch change {
    case .store(let name): "scene \(number)" + (name.map { " " + Quoting.quoted($0) } ?? "")
    case .edit(let edit): edit.statements.map { "scene \(number) \($0.line)" }.joined(separator: " ; ")
    case .drop: "scene \(number) off"
    }
  }

  /// A name on one line.
  private static func tidied(_ name: String) -> String {
    let line = Comments(after: name).tidied.after ?? ""
    return String(line.reversed().drop { $0 == " " }.reversed())
  }
}

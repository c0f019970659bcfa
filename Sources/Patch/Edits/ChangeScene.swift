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
    guard let old = draft.patch.scenes[number] else { return .scene(number, .drop) }
    var after = draft
    try apply(to: &after)
    return .joined(
      try PatchDifference.edits(
        of: number, from: after.patch.scenes[number], to: old, in: draft.patch, catalogue: draft.catalogue,
        namesPorts: true))
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

/// `recall 3`, `recall 3 over 2s`: the edits that lead to the state of a scene, as one. Nodes that the patch and the scene
/// have in common stay the same nodes.
struct RecallScene: EditVerbs {
  var number: Int
  /// Seconds.
  var over: Double?

  /// Shorter changes take the time of every crossfade.
  static let shortest = 0.01

  func apply(to draft: inout Draft) throws(EditError) { _ = try perform(on: &draft) }

  func inverse(in draft: Draft) throws(EditError) -> Edit {
    var scratch = draft
    return try perform(on: &scratch)
  }

  func perform(on draft: inout Draft) throws(EditError) -> Edit {
    let edits = try steps(in: draft)
    let accepts = draft.acceptsUnknownKinds
    // A node of an unknown kind stays in the patch, as in a file.
    draft.acceptsUnknownKinds = true
    let inverse = try AllOf(edits: edits).perform(on: &draft)
    draft.acceptsUnknownKinds = accepts
    return inverse
  }

  func describe() -> String {
    "recall \(number)" + (over.map { " over \(Value.number($0, .seconds).line)" } ?? "")
  }

  /// The edits as one would make them by hand.
  func steps(in draft: Draft) throws(EditError) -> [Edit] {
    let scene = try draft.patch.scene(number)
    try SetParameter.check(over: over)
    let edits = try PatchDifference.stateEdits(
      from: draft.patch, to: scene.recalled(draft.catalogue), catalogue: draft.catalogue
    ).filter { !$0.isOrder(in: draft) }
    guard let over, over > Self.shortest else { return edits }
    return [.fade(over)] + edits.map { $0.moving(over: over, in: draft) }
  }
}

extension Edit {
  /// True for an order to a node that plays on: it was for the moment in which it was given.
  fileprivate func isOrder(in draft: Draft) -> Bool {
    guard case .set(let name, let path, _, _) = self, let node = draft.patch[named: name] else {
      return false
    }
    return draft.catalogue[node.kind]?[parameter: path.name]?.isOrder == true
  }

  /// The same with a time, if it moves a value of a node that is there already.
  fileprivate func moving(over seconds: Double, in draft: Draft) -> Edit {
    guard case .set(let name, let path, let value, _) = self, let node = draft.patch[named: name],
      let parameter = draft.catalogue[node.kind]?[parameter: path.name]
    else { return self }
    switch parameter.smoothing {
    case .ramp, .kernel, .crossfade, .gain: return .set(name, path, value, over: seconds)
    case .structural, .none: return self
    }
  }
}

extension Patch {
  /// The edits that a recall consists of, each a line of the language.
  public func steps(ofRecalling number: Int, over: Double? = nil, catalogue: KindCatalogue) throws(EditError)
    -> [Edit]
  {
    try RecallScene(number: number, over: over).steps(in: Draft(patch: self, catalogue: catalogue))
  }
}

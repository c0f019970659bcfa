import Patch
import PatchLanguage

/// Ways of sounds to outputs, which the stage lock keeps.
extension Scene {
  /// Sources of sound from which a way leads to an output.
  func heard(in patch: Patch) -> Set<NodeID> {
    var found: Set<NodeID> = []
    var sources: Set<NodeID> = []
    var waiting = patch.nodes.values.filter { catalogue[$0.kind]?.endpoint?.isOutput == true }.map(\.id)
    while let id = waiting.popLast() {
      guard found.insert(id).inserted, let node = patch[id] else { continue }
      let kind = catalogue[node.kind]
      if kind.map({ !$0.outputs.allSatisfy(\.isEvents) && $0.inputs.allSatisfy(\.isEvents) }) == true {
        sources.insert(id)
      }
      for cable in patch.cables(into: id, catalogue: catalogue) { waiting.append(cable.ends.source.node) }
    }
    return sources
  }

  /// Names of the sources that an edit takes from the outputs; empty for an edit that is refused.
  func silenced(by edit: Edit) -> [String] {
    guard let after = try? patch.applying(edit, catalogue: catalogue).patch else { return [] }
    let lost = heard(in: patch).subtracting(heard(in: after))
    return patch.nodes.values.filter { lost.contains($0.id) }.map(\.name)
  }
}

extension Edit {
  /// A scene that is there, and that it removes or replaces; nil: none.
  fileprivate func lostScene(of patch: Patch) -> Int? {
    switch self {
    case .scene(let number, .drop): number
    case .scene(let number, .store): patch.scenes[number] == nil ? nil : number
    case .all(let edits): edits.lazy.compactMap { $0.lostScene(of: patch) }.first
    default: nil
    }
  }
}

@MainActor extension Desk {
  /// Seconds within which a key that asks is pressed again.
  private static let answerTime = 3.0

  /// True for the second press of what was asked; the first one shows the question.
  func isConfirmed(_ what: String, _ question: String) -> Bool {
    if let asked, asked.what == what, now() - asked.time < Desk.answerTime {
      self.asked = nil
      return true
    }
    asked = (what, now())
    complain(question)
    return false
  }

  /// Shows the reason why the stage lock forbids an edit; false: it does not.
  func isLocked(_ edit: Edit) -> Bool {
    guard state.isLocked else { return false }
    if let number = edit.lostScene(of: scene.patch) {
      complain("locked: scene \(number) stays; Alt-L unlocks")
      return true
    }
    // What a scene silences was stored so.
    if case .recall = edit { return false }
    if let name = heldName(endedBy: edit) {
      complain("locked: that would end the notes of \(name); Alt-L unlocks")
      return true
    }
    let lost = scene.silenced(by: edit)
    guard let first = lost.first else { return false }
    let others = lost.count > 1 ? " and \(lost.count - 1) more" : ""
    complain("locked: that would silence \(first)\(others); Alt-L unlocks")
    return true
  }

  /// A node that holds notes of the piano, and that an edit takes away, or one of the nodes that play them.
  private func heldName(endedBy edit: Edit) -> String? {
    let held = state.play.heldBy.filter { !$0.value.isEmpty }
    guard !held.isEmpty, let after = try? scene.patch.applying(edit, catalogue: scene.catalogue).patch else {
      return nil
    }
    return held.keys.first { id in
      after[id] == nil
        || !scene.listeners(of: id, in: scene.patch).isSubset(of: scene.listeners(of: id, in: after))
    }.flatMap { scene.patch[$0]?.name }
  }

  /// The same for a line of the language.
  func isLocked(line: String) -> Bool {
    guard state.isLocked,
      case .edit(let edit)? = try? StatementParser.parse(line, patch: scene.patch, catalogue: scene.catalogue)
    else { return false }
    return isLocked(edit)
  }

  /// True when the stage lock forbids to leave the program; it says so.
  var isKeptRunning: Bool {
    if state.isLocked { complain("locked: the program stays; Alt-L unlocks") }
    return state.isLocked
  }
}

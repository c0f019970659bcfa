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

  /// Names of the sources that a change of the patch takes from the outputs.
  fileprivate func silenced(by after: Patch) -> [String] {
    let lost = heard(in: patch).subtracting(heard(in: after))
    return patch.nodes.values.filter { lost.contains($0.id) }.map(\.name)
  }
}

extension Edit {
  /// A scene that is there, and that it replaces; nil: none.
  fileprivate func replacedScene(of patch: Patch) -> Int? {
    switch self {
    case .scene(let number, .store): patch.scenes[number] == nil ? nil : number
    case .all(let edits): edits.lazy.compactMap { $0.replacedScene(of: patch) }.first
    default: nil
    }
  }
}

@MainActor extension Desk {
  /// Seconds within which a key that asks is pressed again.
  private static let answerTime = 3.0

  /// True for the second press of what was asked; the first one shows the question. A key that is held down does not answer
  /// what it asked: a press that may be its repeat answers when none follows.
  func isConfirmed(_ what: String, _ question: String) -> Bool {
    let isAsked = asked.map { $0.what == what && now() - $0.time < Desk.answerTime } ?? false
    if isAsked, press == .new {
      asked = nil
      return true
    }
    asked = (what, now(), isAsked && press == .doubtful)
    complain(question)
    return false
  }

  /// Shows the reason why the stage lock forbids an edit; false: it does not.
  func isLocked(_ edit: Edit) -> Bool {
    guard state.isLocked else { return false }
    if let number = edit.replacedScene(of: scene.patch) { return refuse("scene \(number) stays") }
    // One that is refused changes nothing.
    guard let after = try? scene.patch.applying(edit, catalogue: scene.catalogue).patch else { return false }
    if case .recall = edit { return isLocked(against: after, isRecall: true) }
    return isLocked(against: after)
  }

  /// The same for a way through the history: its edits by number, back where it is negative.
  func isLocked(steps: Int) -> Bool {
    guard state.isLocked, let after = workbench.patch(after: steps) else { return false }
    // Where nodes have other names, scenes follow them.
    if Set(scene.patch.names) == Set(after.names),
      let number = scene.patch.scenes.first(where: { after.scenes[$0.key] != $0.value })?.key
    {
      return refuse("scene \(number) stays")
    }
    return isLocked(against: after)
  }

  private func isLocked(against after: Patch, isRecall: Bool = false) -> Bool {
    if let number = scene.patch.scenes.keys.sorted().first(where: { after.scenes[$0] == nil }) {
      return refuse("scene \(number) stays")
    }
    if let name = heldName(endedBy: after) { return refuse("that would end the notes of \(name)") }
    // Elements that a scene silences were stored so.
    let lost = isRecall ? [] : scene.silenced(by: after)
    guard let first = lost.first else { return false }
    let others = lost.count > 1 ? " and \(lost.count - 1) more" : ""
    return refuse("that would silence \(first)\(others)")
  }

  private func refuse(_ reason: String) -> Bool {
    complain("locked: \(reason); Alt-L unlocks")
    return true
  }

  /// A node that holds notes of the piano, and that a change takes away, or one of the nodes that play them.
  private func heldName(endedBy after: Patch) -> String? {
    let held = state.play.heldBy.filter { !$0.value.isEmpty }
    return held.keys.first { id in
      after[id] == nil
        || !scene.listeners(of: id, in: scene.patch).isSubset(of: scene.listeners(of: id, in: after))
    }.flatMap { scene.patch[$0]?.name }
  }

  /// The same for a line of the language.
  func isLocked(line: String) -> Bool {
    guard state.isLocked,
      let statement = try? StatementParser.parse(line, patch: scene.patch, catalogue: scene.catalogue)
    else { return false }
    return isLocked(statement)
  }

  func isLocked(_ statement: Statement) -> Bool {
    switch statement {
    case .edit(let edit): isLocked(edit)
    case .undo: isLocked(steps: -1)
    case .redo: isLocked(steps: 1)
    case .sequence(let statements): statements.contains { isLocked($0) }
    case .perform, .record, .transport, .panic, .nothing: false
    }
  }

  /// True when the stage lock forbids to leave the program; it says so.
  var isKeptRunning: Bool {
    if state.isLocked { complain("locked: the program stays; Alt-L unlocks") }
    return state.isLocked
  }
}

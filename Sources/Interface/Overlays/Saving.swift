import Screen
import Session

/// Saving, and the questions about what it would lose.
@MainActor struct Saving {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  /// Saves, and asks if that would lose something. nil: to the file that it came from. `then`: called after
  /// saving.
  func save(
    as path: String?, despite accepted: Set<SaveObstacle.Reason> = [],
    then: @escaping @MainActor (Desk) -> Void = { _ in }
  ) {
    write(
      despite: accepted,
      { desk, accepted in
        let said = try desk.workbench.save(as: path, despite: accepted)
        return desk.scene.status.song.map { "\(said), without \($0.name): no patch names a song" } ?? said
      }, then: then)
  }

  /// Writes the history into a script, and asks if there is a file of that name.
  func export(to path: String) {
    write(despite: [], { try $0.workbench.exportHistory(to: path, despite: $1) })
  }

  private func write(
    despite accepted: Set<SaveObstacle.Reason>,
    _ body: @escaping @MainActor (Desk, Set<SaveObstacle.Reason>) throws -> String,
    then: @escaping @MainActor (Desk) -> Void = { _ in }
  ) {
    do {
      desk.say(try body(desk, accepted))
      then(desk)
    } catch {
      if let obstacle = (error as? FileError)?.obstacle {
        ask(about: obstacle) {
          Saving($0).write(despite: accepted.union([obstacle.reason]), body, then: then)
        }
      } else {
        desk.complain(Desk.words(error))
      }
    }
  }

  /// Tells once of a version of the file that contradicts edits made here, when no key means a note or anything else that is
  /// open. It comes by itself, so it takes no key: the answers are commands of the prompt. True if it tells.
  func tellOfVersion() -> Bool {
    guard let conflict = desk.scene.versionConflict, conflict.number != desk.askedVersion,
      desk.state.mode == .patch, desk.state.overlay == nil
    else { return false }
    desk.askedVersion = conflict.number
    desk.complain(
      "others changed \(Wrapping.shortened(desk.scene.fileName)), and not as you did: \(conflict.words). "
        + ":merge takes both, yours where both changed; :reload takes all of theirs; saving asks again")
    return true
  }

  /// Takes the file's version in place of the patch, or merges it with the patch.
  func take(merging: Bool) {
    if desk.state.isLocked { return desk.complain("locked: the file waits; Alt-L unlocks") }
    desk.attempt { desk.say(try merging ? desk.workbench.merge() : desk.workbench.reload()) }
  }

  private static func answer(_ key: String, _ desk: Desk) {
    switch key {
    case "r": Saving(desk).take(merging: false)
    case "m": Saving(desk).take(merging: true)
    default: desk.say("not saved")
    }
  }

  /// A key for each answer, none of which is the save key.
  private func ask(about obstacle: SaveObstacle, overwrite: @escaping @MainActor (Desk) -> Void) {
    let name = Wrapping.shortened(obstacle.path.split(separator: "/").last.map(String.init) ?? obstacle.path)
    let question: String
    var keys: [(key: String, meaning: String)] = []
    switch obstacle.reason {
    case .changed:
      question = "Others changed the file since it was read: \(name)"
      keys = [("m", "merge theirs and yours"), ("r", "reload theirs"), ("o", "overwrite theirs")]
    case .exists:
      question = "There is another file of that name: \(name)"
      keys = [("o", "overwrite it")]
    case .openElsewhere:
      question = "Another session has the file open: \(name)"
      keys = [("o", "overwrite it all the same")]
    case .unread(let lines):
      let what =
        lines == 0
        ? "Bytes that are not UTF-8"
        : lines == 1 ? "A line that was not understood" : "\(lines) lines that were not understood"
      question = "\(what) would be lost: \(name)"
      keys = [("o", "overwrite, keep a copy of the original")]
    }
    desk.state.overlay = Question(text: question, keys: keys + [("esc", "do not save")]) { answer, desk in
      if answer == "o" { overwrite(desk) } else { Saving.answer(answer, desk) }
    }
  }
}

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
    do {
      desk.say(try desk.workbench.save(as: path, despite: accepted))
      then(desk)
    } catch {
      if let obstacle = (error as? FileError)?.obstacle {
        ask(about: obstacle) {
          Saving($0).save(as: path, despite: accepted.union([obstacle.reason]), then: then)
        }
      } else {
        desk.complain(Desk.words(error))
      }
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
      switch answer {
      case "o": overwrite(desk)
      case "r": desk.attempt { desk.say(try desk.workbench.reload()) }
      case "m": desk.attempt { desk.say(try desk.workbench.merge()) }
      default: desk.say("not saved")
      }
    }
  }
}

import Screen
import Session

/// Saving and quitting, with their questions.
extension App {
  func save() {
    guard workbench.file != nil else {
      openPrompt("save ")
      return
    }
    saveFile(nil)
  }

  /// Saves, and asks if that would lose something. `done`: called after saving.
  func saveFile(
    _ path: String?, despite accepted: Set<SaveObstacle.Reason> = [], _ done: @escaping () -> Void = {}
  ) {
    do {
      state.message = .init(try workbench.save(as: path, despite: accepted))
      done()
    } catch {
      if let obstacle = (error as? FileError)?.obstacle {
        ask(about: obstacle) { [weak self] in
          self?.saveFile(path, despite: accepted.union([obstacle.reason]), done)
        }
      } else {
        state.message = .init(App.words(error), isError: true)
      }
    }
  }

  /// A key for each answer, none of which is the save key.
  private func ask(about obstacle: SaveObstacle, _ goOn: @escaping () -> Void) {
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
    ask(question, keys + [("esc", "do not save")]) { [weak self] answer in
      guard let self else { return }
      switch answer {
      case "o": goOn()
      case "r": take(workbench.reload)
      case "m": take(workbench.merge)
      default: state.message = .init("not saved")
      }
    }
  }

  private func take(_ version: () throws -> String) {
    do {
      state.message = .init(try version())
    } catch {
      state.message = .init(App.words(error), isError: true)
    }
  }

  func quit() {
    guard scene.isModified else {
      wish = .quit
      return
    }
    ask(
      "Not saved: \(Wrapping.shortened(scene.fileName))",
      [("y", "save and quit"), ("n", "quit without saving"), ("esc", "stay")]
    ) { [weak self] answer in
      guard let self else { return }
      switch answer {
      case "y":
        if workbench.file == nil {
          openPrompt("save ")
        } else {
          saveFile(nil) { [weak self] in self?.wish = .quit }
        }
      case "n": wish = .quit
      default: break
      }
    }
  }

  func ask(_ question: String, _ keys: [(key: String, meaning: String)], _ answer: @escaping (String) -> Void)
  {
    onAnswer = answer
    state.overlay = .question(question, keys: keys)
  }

  func handleQuestion(_ key: Key) {
    guard case .question(_, let keys) = state.overlay else { return }
    let name = key == "ctrl-c" ? "esc" : key.description.lowercased()
    guard keys.contains(where: { $0.key == name }) else { return }
    state.overlay = .none
    let answer = onAnswer
    onAnswer = nil
    answer?(name)
  }
}

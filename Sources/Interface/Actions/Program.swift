import Recording

/// Editing by the language, the history, the file, and the program as a whole.
enum Program {
  static let actions: [Action] = [
    Action("prompt", "The prompt: any line of the edit language; tab completes", [.patch: ":"]) {
      Prompt.open("", $0)
    },
    Action("find", "Find a node by its name or kind; in a list, a line", [.patch: "/"]) { Finder.open($0) },
    Action("find-next", "The next one found", [.patch: "n alt-n"], repeats: true) { Finder.findNext(1, $0) },
    Action("find-previous", "The one found before", [.patch: "N"], repeats: true) { Finder.findNext(-1, $0) },
    Action(
      "edit", "Edit the parameters of the focused node; show the inside of a sub-patch", [.patch: "enter"]
    ) {
      if !Views[$0.state.view].edit($0) { Inspector.open($0) }
    },
    Action("undo", "Undo", [.anywhere: "F10", .patch: "u"], repeats: true) { $0.undo() },
    Action("redo", "Redo", [.anywhere: "F11 ctrl-r"], repeats: true) { $0.redo() },
    Action("save", "Save", [.anywhere: "ctrl-s"], save),
    Action(
      "quit", "Quit; asks when something is not saved, or recorded",
      [.anywhere: "ctrl-q ctrl-c", .patch: "q"], quit),
    Action("roll", "Start the transport, or stop it", [.patch: "space"], roll),
    Action(
      "browse", "Open a file: a browser in which files are heard; in the inspector, for its file",
      [.anywhere: "ctrl-o"]
    ) { desk in
      if let inspector = desk.state.overlay as? Inspector, Browser.openForParameter(inspector, desk) {
        return
      }
      Browser.open(nil, desk)
    },
    Action(
      "tell", "The state in words: driver, load, voices, and the focused node's level", [.anywhere: "alt-s"]
    ) {
      $0.say($0.scene.state(of: $0.state.focus))
    },
    Action("redraw", "Draw the screen anew", [.anywhere: "ctrl-g"]) { $0.wish = .redraw },
    Action("suspend", "Back to the shell until `fg`; the sound stops meanwhile", [.anywhere: "ctrl-z"]) {
      if !$0.isKeptRunning { $0.wish = .suspend }
    },
    Action(
      "lock",
      "Stage lock: no quitting, nothing that silences a source, panic by two presses; again to unlock",
      [.anywhere: "alt-l"]
    ) { desk in
      desk.state.isLocked.toggle()
      desk.say(desk.state.isLocked ? "locked: Alt-L unlocks" : "unlocked")
    },
  ]

  @MainActor private static func roll(_ desk: Desk) {
    let line = desk.scene.status.transport.isRolling ? "halt" : "roll"
    desk.attempt { desk.say(try desk.workbench.perform(line: line)) }
  }

  @MainActor private static func save(_ desk: Desk) {
    if desk.workbench.file == nil { Prompt.open("save ", desk) } else { Saving(desk).save(as: nil) }
  }

  @MainActor private static func quit(_ desk: Desk) {
    if desk.isKeptRunning { return }
    let takes = recording(desk.scene.status.takes)
    guard desk.scene.isModified else {
      guard let takes else {
        desk.wish = .quit
        return
      }
      desk.state.overlay = Question(
        text: takes, keys: [("y", "end the recording and quit"), ("esc", "stay")]
      ) { answer, desk in
        if answer == "y" { desk.wish = .quit }
      }
      return
    }
    let unsaved = "Not saved: \(Wrapping.shortened(desk.scene.fileName))"
    desk.state.overlay = Question(
      text: [unsaved, takes].compactMap(\.self).joined(separator: "; "),
      keys: [("y", "save and quit"), ("n", "quit without saving"), ("esc", "stay")]
    ) { answer, desk in
      switch answer {
      case "y":
        if desk.workbench.file == nil {
          Prompt.open("wq ", desk)
        } else {
          Saving(desk).save(as: nil) { $0.wish = .quit }
        }
      case "n": desk.wish = .quit
      default: break
      }
    }
  }
  /// Says what is being recorded; nil: nothing.
  private static func recording(_ takes: [Take.Status]) -> String? {
    guard let first = takes.first else { return nil }
    let name = Wrapping.shortened(String(first.path.split(separator: "/").last ?? ""))
    return "Recording: \(name)" + (takes.count > 1 ? " and \(takes.count - 1) more" : "")
  }
}

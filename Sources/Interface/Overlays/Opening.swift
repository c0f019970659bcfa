import Screen
import Session

/// Opening another file in place of the patch, and the question about what it would lose.
@MainActor struct Opening {
  private let desk: Desk

  init(_ desk: Desk) { self.desk = desk }

  /// Opens a patch, an instrument, a sound or MIDI file; of a folder the browser.
  func open(_ path: String) {
    if desk.isKeptRunning { return }
    if FolderListing.isFolder(path) { return Browser.open(path, desk) }
    guard desk.scene.isModified else { return replace(by: path) }
    desk.state.overlay = Question(
      text: "Not saved: \(Wrapping.shortened(desk.scene.fileName))",
      keys: [("y", "save, and open the other"), ("n", "open it without saving"), ("esc", "stay")]
    ) { answer, desk in
      switch answer {
      case "y":
        if desk.workbench.file == nil {
          Prompt.open("save ", desk)
        } else {
          Saving(desk).save(as: nil) { Opening($0).replace(by: path) }
        }
      case "n": Opening(desk).replace(by: path)
      default: break
      }
    }
  }

  private func replace(by path: String) {
    desk.attempt {
      let said = try desk.workbench.open(path)
      desk.state.marked = []
      desk.keepFocus()
      desk.state.message = said
    }
  }
}

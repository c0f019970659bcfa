import Patch
import Screen
import Testing

@testable import Interface

/// Anything goes.
@Suite @MainActor struct MashingTests {
  @Test(arguments: [1, 2])
  func randomKeysAndClicksAtRandomSizesNeverCrashAndUndoLeadsBackToTheStart(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let stage = Stage.demo()
    let first = stage.session.patch
    let start = stage.session.undoList.count
    let names =
      "left right up down pageup pagedown home end tab shift-tab enter esc backspace delete space F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 ctrl-r ctrl-l ctrl-u"
      .split(separator: " ").map(String.init)
    // Without `!` and `:w`: no file may be written.
    let letters = Array("abcdefghijklmnoprstuwxyzRXMPL<>?/n0123456789+-=[].,")
    for step in 0..<3000 {
      switch Int.random(in: 0..<11, using: &random) {
      case 0:
        let places: [MouseEvent.Action] = [.press, .drag, .release, .wheel]
        let action = places.randomElement(using: &random) ?? .press
        let point = Point(Int.random(in: -1...120, using: &random), Int.random(in: -1...40, using: &random))
        let button: MouseEvent.Button = Bool.random(using: &random) ? .left : .right
        stage.app.handle(
          .mouse(MouseEvent(action, button, at: point, wheelRows: action == .wheel ? 1 : 0)))
      case 10: stage.press("esc")
      case 1...3:
        stage.app.handle(.key(KeyStroke(Key(name: names.randomElement(using: &random) ?? "esc") ?? "esc")))
      default:
        stage.app.handle(.key(KeyStroke(Key(.character(letters.randomElement(using: &random) ?? "x")))))
      }
      if step % 7 == 0 {
        stage.columns = Int.random(in: 1...130, using: &random)
        stage.rows = Int.random(in: 1...45, using: &random)
      }
      if step % 3 == 0 {
        let canvas = stage.canvas
        #expect(canvas.columns == stage.columns && canvas.rows == stage.rows)
      }
      if step % 20 == 0 { stage.play(seconds: 0.02) }
      stage.app.wish = .none
    }
    #expect(stage.session.editCount > 40, "seed \(seed) edited little")
    while stage.session.undoList.count > start { _ = try stage.session.undo() }
    #expect(stage.session.patch == first, "seed \(seed)")
  }

  @Test func everyViewAndOverlayDrawsAtEverySizeFrom1x1Up() {
    for keys in [
      "F1", "F2", "F3", "F4", "F4 < < <", "m =sa", "F5", "p", "c", "r", "enter", ": = =set", "q", "/", "i",
      "s", "S",
    ] {
      let stage = Stage.demo()
      stage.press(keys)
      for (columns, rows) in [
        (1, 1), (2, 1), (1, 3), (5, 2), (6, 5), (7, 5), (3, 9), (20, 5), (23, 7), (40, 10),
        (80, 24), (300, 90),
      ] {
        stage.columns = columns
        stage.rows = rows
        let canvas = stage.canvas
        #expect(canvas.columns == columns && canvas.rows == rows)
        #expect(canvas.cursor.map { $0.column < columns && $0.row < rows } ?? true)
      }
    }
  }
}

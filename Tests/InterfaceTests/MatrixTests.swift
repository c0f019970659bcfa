import Patch
import Testing

@testable import Interface

@Suite("The matrix by key") @MainActor struct MatrixTests {
  @Test("space, steps and digits set the gain under the cursor")
  func gains() {
    let stage = Stage.demo()
    stage.press("F4")
    #expect(stage.app.state.matrix.row == 0 && stage.app.state.matrix.column == 0)
    stage.press("minus minus")
    #expect(stage.lastEdit == "set main[0,0] -2dB")
    stage.press("right space")
    #expect(stage.lastEdit == "set main[0,1] 0dB")
    stage.press("space")
    #expect(stage.lastEdit == "set main[0,1] -inf")
    stage.press("down 6 minus enter")
    #expect(stage.lastEdit == "set main[1,1] -6dB")
    stage.press("left left 3 . 5 down")
    #expect(stage.lastEdit == "set main.in[1] 3.5dB")
    stage.press("up up up up minus")
    #expect(stage.lastEdit == "set main.master -1dB")
    stage.press("right +")
    #expect(stage.lastEdit == "set main.out[0] 1dB")
  }

  @Test("presets are one edit each, so that one undo takes them back")
  func presets() {
    let stage = Stage.demo()
    let before = stage.session.patch
    stage.press("F4 z")
    #expect(stage.session.patch != before)
    stage.press("u")
    #expect(stage.session.patch == before)
    stage.press("f")
    #expect(stage.session.undoList.first?.contains("set main[2,0] 0dB") == true)
    stage.press("i")
    #expect(stage.session.patch == before)
  }

  @Test("a digit starts a value instead of changing the view")
  func digits() {
    let stage = Stage.demo()
    stage.press("F4 1")
    #expect(stage.app.state.view == .matrix)
    #expect(stage.app.state.matrix.typed == "1")
    stage.press("esc esc")
    #expect(stage.app.state.view == .graph)
  }
}

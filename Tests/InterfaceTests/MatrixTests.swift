import Patch
import Screen
import Testing

@testable import Interface

/// The matrix by key.
@Suite @MainActor struct MatrixTests {
  @Test func spaceStepsAndDigitsSetTheGainUnderTheCursor() {
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
    stage.press("delete")
    #expect(stage.lastEdit == "set main.out[0] default")
  }

  @Test func presetsAreOneEditEachSoThatOneUndoTakesThemBack() {
    let stage = Stage.demo()
    let before = stage.session.patch
    stage.press("F4 z")
    #expect(stage.session.patch != before)
    stage.press("u")
    #expect(stage.session.patch == before)
    stage.press("f")
    #expect(stage.lastEdit == "matrix main fold")
    stage.press("right w")
    #expect(stage.lastEdit == "matrix main swap out 0 1")
    stage.press("left left [ down down w")
    #expect(stage.lastEdit == "matrix main swap in 0 2")
    stage.press("esc i")
    #expect(stage.session.patch == before)
    // All presets by name; those that take a number are completed at the prompt.
    stage.press("P =spre enter")
    #expect(stage.lastEdit == "matrix main spread")
    stage.press("P =diag enter")
    stage.type("1")
    stage.press("enter")
    #expect(stage.lastEdit == "matrix main diagonal 1")
    stage.press("right P =copy enter")
    stage.type("1")
    stage.press("enter")
    #expect(stage.lastEdit == "matrix main copy out 0 1")
  }

  @Test func mSAndMuteSoloAndInvertCrosspointsInputsOutputsAndRangesOfThem() {
    let stage = Stage.demo()
    stage.press("F4 m")
    #expect(stage.lastEdit == "set main.mute[0,0] on")
    #expect(stage.grid?.element(GridCell(0, 0))?.isHeard == false)
    stage.press("m")
    #expect(stage.lastEdit == "set main.mute[0,0] off")
    stage.press("down s")
    #expect(stage.lastEdit == "set main.solo[1,0] on")
    stage.press("left !")
    #expect(stage.lastEdit == "set main.invert.in[1] on")
    stage.press("[ down down m")
    #expect(stage.lastEdit == "set main.mute.in[1..3] on")
    stage.press("m")
    #expect(stage.lastEdit == "set main.mute.in[1..3] off")
    stage.press("esc up up up up right [ right s")
    #expect(stage.lastEdit == "set main.solo.out[0..1] on")
    stage.press("esc left left m")
    #expect(stage.message == "the master has no mute")
    stage.press("right down [ down right !")
    #expect(stage.lastEdit == "set main.invert[0..1,0..1] on")
    stage.press("u u u u u u u u u")
    #expect(stage.session.patch[named: "main"]?.settings.isEmpty == true)
  }

  @Test func lNamesTheInputOrOutputUnderTheCursorAndTheHeadsShowIt() {
    let stage = Stage.demo()
    stage.press("F4 L")
    stage.type("Kick")
    stage.press("enter")
    #expect(stage.lastEdit == "set main.label.in[0] Kick")
    stage.press("up L")
    stage.type("\"Left ear\"")
    stage.press("enter")
    #expect(stage.lastEdit == "set main.label.out[0] \"Left ear\"")
    #expect(stage.screen.contains("in 0  Kick"))
    #expect(stage.screen.contains("Left ear"))
    stage.press("down L")
    guard let prompt = stage.app.state.overlay as? Prompt else {
      Issue.record("no prompt")
      return
    }
    #expect(prompt.line.text == "set main.label.in[0] Kick")
  }

  @Test func theNamesOfACablesRowsStandApartFromTheirMeters() {
    let stage = Stage(
      "node a oscillator channels=12 freq=110Hz", "node b gain", "connect a -> b",
      "node out output channels=12", "connect b -> out")
    stage.session.engine.isMetering = true
    stage.columns = 150
    stage.press("F4")
    stage.play(seconds: 0.2)
    let heads = stage.canvas.lines.filter { $0.hasPrefix(" out ") }.map { $0.prefix(9) }
    #expect(heads.count == 12, "\(stage.screen)")
    #expect(heads.first == " out 0  ▇" && heads.last == " out 11 ▇", "\(heads)")
  }

  @Test func aDigitStartsAValueInsteadOfChangingTheView() {
    let stage = Stage.demo()
    stage.press("F4 1")
    #expect(stage.app.state.view == .matrix)
    #expect(stage.app.state.matrix.typed == "1")
    stage.press("esc esc")
    #expect(stage.app.state.view == .graph)
  }

  @Test func aMinusInFrontOfADigitIsTheNumbersSignAndNoStepOfItsOwn() {
    let stage = Stage.demo()
    let before = stage.session.undoList.count
    stage.press("F4 minus 1 2 enter")
    #expect(stage.lastEdit == "set main[0,0] -12dB")
    #expect(stage.session.undoList.count == before + 1)
    // On a silent crosspoint `-` has nothing to turn down: it begins a negative number.
    stage.press("space minus 6 enter")
    #expect(stage.lastEdit == "set main[0,0] -6dB")
    // Elsewhere, or after a pause, it is a step, and the digits are a number of their own.
    stage.press("minus right 3 enter")
    #expect(stage.lastEdit == "set main[0,1] 3dB")
    stage.press("minus")
    stage.clock.seconds += 2
    stage.press("4 enter")
    #expect(stage.lastEdit == "set main[0,1] 4dB")
  }

  @Test func aRangeIsSetSteppedAndToggledAsOneEditAndEscapeDropsIt() {
    let stage = Stage.demo()
    stage.press("F4 [ down right 6 minus enter")
    #expect(stage.lastEdit == "set main[0..1,0..1] -6dB")
    // The range is fixed: the cursor moves on, the range stays.
    stage.press("] down down minus")
    #expect(stage.lastEdit == "set main[0..1,0..1] -7dB")
    stage.press("space")
    #expect(stage.lastEdit == "set main[0..1,0..1] -inf")
    stage.press("u u u esc space")
    #expect(stage.lastEdit == "set main[3,1] 0dB")
    #expect(stage.app.state.view == .matrix)
    // Input or output gains form a range of their own.
    stage.press("u home home up up up up [ right right 3 minus enter")
    #expect(stage.lastEdit == "set main.master -3dB")
    stage.press("esc left [ right 3 minus enter")
    #expect(stage.lastEdit == "set main.out[0..1] -3dB")
  }

  @Test func keysThatFollowEachOtherAtOnceAreOneEditLaterOnesAreAnother() {
    let stage = Stage.demo()
    let start = stage.session.undoList.count
    stage.press("F4 minus")
    for _ in 0..<5 {
      stage.clock.seconds += 0.03
      stage.type("-")
    }
    #expect(stage.lastEdit == "set main[0,0] -6dB")
    #expect(stage.session.undoList.count == start + 1)
    stage.press("minus")
    #expect(stage.session.undoList.count == start + 2)
    stage.press("u")
    #expect(stage.grid?.gain(GridCell(0, 0)) == -6)
    stage.press("u")
    #expect(stage.grid?.gain(GridCell(0, 0)) == 0)
    stage.press("ctrl-r")
    #expect(stage.grid?.gain(GridCell(0, 0)) == -6)
  }

  @Test func cellsThatAGestureLeavesAsTheyAreAreNoPartOfItsEditAlsoWhereTheyCameBack() {
    let stage = Stage.demo()
    // Unity on the diagonal, silence beside it, one crosspoint at its limit.
    stage.press("F4 right 2 3 enter left [ right down minus")
    #expect(stage.lastEdit == "set main[0,0] -1dB ; set main[0,1] 22dB ; set main[1,1] -1dB")
    stage.press("u")
    for _ in 0..<3 { stage.type("+") }
    #expect(
      stage.lastEdit == "set main[0,0] 3dB ; set main[0,1] 24dB ; set main[1,0] -58dB ; set main[1,1] 3dB")
    stage.press("u u")
    #expect(stage.session.patch[named: "main"]?.settings.isEmpty == true)
    // Up and down again: the gain is restored.
    stage.press("esc")
    let before = stage.session.patch
    for key in "++--" { stage.type(String(key)) }
    #expect(stage.grid?.gain(GridCell(1, 1)) == 0)
    stage.press("u")
    #expect(stage.session.patch == before)
  }

  @Test func aChordOfEditsInBetweenEndsAGestureWhatOthersDidIsNotTakenBackWithIt() {
    let stage = Stage.demo()
    stage.press("F4")
    stage.type("-")
    _ = try? stage.session.perform("set dist.drive 3dB")
    stage.type("-")
    #expect(
      stage.session.undoList.prefix(3) == ["set main[0,0] -2dB", "set dist.drive 3dB", "set main[0,0] -1dB"])
  }

  @Test func metersRiseAtOnceFallBy20DBIn17SAndHoldTheHighestPeakFor15S() throws {
    let stage = Stage(
      "node tone oscillator level=-6dB", "node main matrix inputs=2 outputs=2", "node out output",
      "connect tone -> main map=[-1,0]", "connect main -> out")
    stage.session.engine.isMetering = true
    stage.press("F4")
    stage.play(seconds: 0.2)
    func levels() -> (row: MeterLevel, column: MeterLevel) {
      (stage.app.state.matrix.meters.rows[1], stage.app.state.matrix.meters.columns[1])
    }
    func decibels(_ level: Float) -> Double { Meter.decibels(level) }
    #expect(abs(decibels(levels().row.peak) + 6) < 0.1)
    #expect(abs(decibels(levels().column.held) + 6) < 0.1)
    #expect(stage.app.state.matrix.meters.rows[0].peak == 0)
    // RMS of a sine, nearly settled after this time.
    let mean = decibels(levels().row.mean ?? 0)
    #expect(mean < -8.5 && mean > -9.8)
    #expect(abs(decibels(levels().column.mean ?? 0) - mean) < 0.01)
    try stage.session.perform("set tone.level -inf")
    stage.play(seconds: 0.03)
    let start = decibels(levels().row.peak)
    stage.play(seconds: 0.85)
    #expect(abs(decibels(levels().row.peak) - start + 10) < 0.2)
    #expect(abs(decibels(levels().row.held) + 6) < 0.1)
    stage.play(seconds: 1.5)
    #expect(decibels(levels().row.held) < -10)
    // A silent screen needs no further renders.
    stage.play(seconds: 6)
    _ = stage.screen
    stage.play(seconds: 0.1)
    #expect(!stage.app.needsRender)
    #expect(levels().row.peak == 0 && levels().row.held == 0 && levels().row.mean == 0)
  }

  // MARK: Cables

  /// A stereo source into a mono node and into four channels.
  private func bundles() -> Stage {
    let stage = Stage(
      "node tone oscillator channels=2", "node mono matrix inputs=1 outputs=1", "node quad output channels=4",
      "connect tone -> mono", "connect tone -> quad gain=-3dB")
    stage.app.desk.focus(stage.session.patch.id(named: "quad") ?? NodeID(raw: 0))
    return stage
  }

  @Test func aCableOpensAsAGridWhatIsToggledIsItsChannelMap() {
    let stage = bundles()
    stage.press("m")
    #expect(stage.grid?.name == "tone -> quad")
    #expect(stage.grid.map { [$0.rows, $0.columns] } == [2, 4])
    stage.press("right right space")
    #expect(stage.lastEdit == "connect tone -> quad gain=-3dB map=[0,1,0,-1]")
    // A map gives each channel one source: a new one replaces the old one.
    stage.press("down space")
    #expect(stage.lastEdit == "connect tone -> quad gain=-3dB map=[0,1,1,-1]")
    stage.press("space")
    #expect(stage.lastEdit == "connect tone -> quad gain=-3dB map=[0,1,-1,-1]")
    // A map entry is on or off; it has no gain.
    stage.press("+")
    #expect(stage.lastEdit == "connect tone -> quad gain=-3dB map=[0,1,1,-1]")
    stage.press("minus")
    #expect(stage.lastEdit == "connect tone -> quad gain=-3dB map=[0,1,-1,-1]")
    stage.press("3 enter")
    #expect(stage.message.contains("a channel map has no gains"))
    stage.press("m")
    #expect(stage.message.contains("a channel map has no mute"))
    stage.press("delete")
    #expect(stage.lastEdit == "connect tone -> quad gain=-3dB")
    // Beyond its edge is the cable's own gain.
    stage.press("up up minus")
    #expect(stage.lastEdit == "connect tone -> quad gain=-4dB")
    stage.press("tab")
    #expect(stage.grid?.name == "tone -> mono")
  }

  /// A cable that sums becomes a matrix by one key, which one undo takes back; nothing sounds different.
  @Test func aCableThatSumsBecomesAMatrixByOneKeyWhichOneUndoTakesBack() {
    let stage = bundles()
    stage.press("m tab")
    #expect(stage.grid?.conversion == "stereo to mono")
    let before = stage.session.patch
    stage.session.engine.isMetering = true
    func level() -> Float {
      stage.play(seconds: 0.4)
      return stage.session.report.nodes.first { $0.name == "mono" }?.outputs.first?.means.first ?? -1
    }
    let loudness = level()
    #expect(loudness > 0.1)
    stage.press("M")
    #expect(abs(level() / loudness - 1) < 0.01)
    #expect(
      stage.lastEdit
        == "insert matrix matrix [0,0]=-6.0206dB [1,0]=-6.0206dB inputs=2 outputs=1 into tone -> mono")
    #expect(stage.grid?.name == "matrix")
    stage.play(seconds: 0.02)
    stage.press("down 0 enter")
    #expect(stage.lastEdit == "set matrix[1,0] 0dB")
    stage.press("u u")
    #expect(stage.session.patch == before)
    #expect(stage.grid?.name == "tone -> mono")
    // An existing map becomes the matrix; it is not applied behind it again.
    stage.app.desk.focus(stage.session.patch.id(named: "quad") ?? NodeID(raw: 0))
    stage.press("F2 m up right right space M")
    #expect(
      stage.lastEdit == """
        insert matrix matrix [0,2]=0dB inputs=2 outputs=4 into tone -> quad ; connect matrix -> quad gain=-3dB
        """)
  }

  // MARK: The same edit

  @Test func theSameWishOnTheMatrixScreenInTheGraphAndAtThePromptIsTheSameEdit() {
    func edit(_ keys: String, prompt: Bool = false) -> (history: String, patch: Patch) {
      let stage = Stage.demo()
      stage.press(prompt ? ":" : keys)
      if prompt {
        stage.type(keys)
        stage.press("enter")
      }
      return (stage.lastEdit, stage.session.patch)
    }
    // On the matrix screen, in the graph (where possible), and at the prompt in other words.
    let wishes: [(screen: String, graph: String?, prompt: String)] = [
      ("F4 right 6 minus enter", nil, "set main[0,1] -6"),
      ("F4 down space", nil, "set main[1,0] 0"),
      ("F4 left 3 minus enter", "right enter down down =-3 enter", "set main.in[0]=-3dB"),
      (
        "F4 left up minus", "right enter down down down down down down down down left",
        "set main.master -1.0dB"
      ),
      ("F4 down left m", nil, "set main.mute.in[1..1] yes"),
      ("F4 [ right s", nil, "set main.solo[0,0..1]=on"),
      ("F4 z", nil, "matrix main clear"),
      ("F4 w", nil, "matrix main swap 0 1"),
      ("F4 P =ident enter", nil, "matrix main diagonal 0"),
      ("F4 L =Kick enter", "right enter end up up up up up =Kick enter", "set main.label.in[0] \"Kick\""),
      ("F4 [ right down 6 minus enter", nil, "set main[0..1,0..1] -6dB"),
      ("F4 left [ end down down down delete", nil, "set main.in[0..3] default"),
    ]
    for wish in wishes {
      let screen = edit(wish.screen)
      let prompt = edit(wish.prompt, prompt: true)
      #expect(screen.history == prompt.history)
      #expect(screen.patch == prompt.patch)
      if let graph = wish.graph.map({ edit($0) }) {
        #expect(graph.history == prompt.history)
        #expect(graph.patch == prompt.patch)
      }
    }
    // A map, set from the cable.
    let stage = Stage.demo()
    stage.press("m =sa right right space")
    let prompt = edit("connect dist.out -> main.in gain=0 map=[0,1,0,-1]", prompt: true)
    #expect(stage.lastEdit == prompt.history)
    #expect(stage.session.patch == prompt.patch)
    // A cable removed in the graph, and by its ports' full names.
    #expect(edit("right d =aa").history == edit("disconnect dist.out -> main.in", prompt: true).history)
  }
}

import Patch
import Screen
import Testing

@testable import Interface

/// Editing by key through a real session: each key makes the same edit as the prompt.
@Suite @MainActor struct AppTests {
  @Test func arrowsAndLettersMoveThroughTheGraphAsItIsDrawn() {
    let stage = Stage.demo()
    stage.press("right")
    #expect(stage.focus == "main")
    stage.press("l")
    #expect(stage.focus == "out")
    stage.press("l")
    #expect(stage.focus == "out")
    stage.press("h h left h")
    #expect(stage.focus == "keys")
    stage.press("tab")
    #expect(stage.focus == "piano")
    stage.press("shift-tab")
    #expect(stage.focus == "keys")
    stage.press("end")
    #expect(stage.focus == "out")
  }

  @Test func theHardwareCursorStandsOnTheFocusedNodesName() {
    let stage = Stage.demo()
    let canvas = stage.canvas
    guard let cursor = canvas.cursor else {
      Issue.record("no cursor")
      return
    }
    let line = Array(canvas.lines[cursor.row])
    #expect(String(line[cursor.column..<cursor.column + 4]).contains("dist"))
  }

  @Test func xRemovesTheNodeXJoinsItsNeighboursUBringsBackTheVerySameNode() {
    let stage = Stage.demo()
    let before = stage.session.patch
    stage.press("x")
    #expect(stage.lastEdit == "remove dist")
    #expect(stage.focus == "main")
    stage.press("u")
    #expect(stage.session.patch == before)
    #expect(stage.message == "undone: remove dist")
    stage.press("ctrl-r")
    #expect(stage.names == ["keys", "piano", "main", "out"])
    stage.press("u")
    #expect(stage.focus == "dist")
    stage.press("X")
    #expect(stage.lastEdit == "remove dist bridge")
    #expect(stage.session.patch.cables.count == 3)
  }

  @Test func rReplacesByTheKindThatIsChosenFromTheListFoundByItsLetters() {
    let stage = Stage.demo()
    stage.press("r =equal enter")
    #expect(stage.lastEdit == "replace dist equalizer")
    #expect(stage.focus == "dist")
    #expect(stage.session.patch[named: "dist"]?.kind == "equalizer")
    #expect(stage.session.patch.cables.count == 4)
  }

  @Test func iInsertsIntoTheCableThatTheLettersChoose() {
    let stage = Stage.demo()
    stage.press("i")
    guard let hints = (stage.app.state.overlay as? PortHints)?.targets else {
      Issue.record("no hints")
      return
    }
    #expect(hints.count == 2)
    // The second hint is the outgoing cable.
    stage.type(hints[1].letters)
    stage.press("=delay enter")
    #expect(stage.lastEdit == "insert delay delay into dist -> main")
    #expect(stage.focus == "delay")
  }

  @Test func cConnectsAfterTheFirstPortOnlyThoseThatFitCanBeChosen() {
    let stage = Stage("node tone oscillator", "node keys keyboard", "node dry gain", "node out output")
    stage.press("c")
    guard let first = (stage.app.state.overlay as? PortHints)?.targets else {
      Issue.record("no hints")
      return
    }
    let tone = stage.session.patch.id(named: "tone")
    guard
      let source = first.first(where: { $0.target == .output(PortReference(tone ?? NodeID(raw: 0), "out")) })
    else {
      Issue.record("no hint on the oscillator")
      return
    }
    stage.type(source.letters)
    guard let second = (stage.app.state.overlay as? PortHints)?.targets else {
      Issue.record("no second hints")
      return
    }
    // The keyboard's input takes events, so it is not offered.
    #expect(second.count == 2)
    stage.type(second[1].letters)
    #expect(stage.lastEdit == "connect tone -> out")
    stage.press("d")
    #expect(stage.lastEdit == "disconnect tone -> out")
    #expect(stage.session.patch.cables.isEmpty)
  }

  /// Outputs that most leave alone are drawn where a cable leaves them, and offered on the node in focus.
  @Test func outputsThatMostLeaveAloneAreDrawnWhereACableLeavesThem() {
    let stage = Stage("node piano sampler", "node room delay", "node out output", "connect piano -> out")
    let (piano, room) = (stage.session.patch.id(named: "piano"), stage.session.patch.id(named: "room"))
    stage.app.desk.focus(room ?? NodeID(raw: 0))
    stage.press("c")
    #expect(!stage.screen.contains("reverb"))
    stage.press("esc")
    stage.app.desk.focus(piano ?? NodeID(raw: 0))
    stage.press("c")
    #expect(stage.screen.contains("reverb") && stage.screen.contains("out4"))
    guard let hints = (stage.app.state.overlay as? PortHints)?.targets,
      let hint = hints.first(where: {
        $0.target == .output(PortReference(piano ?? NodeID(raw: 0), "reverb"))
      })
    else {
      Issue.record("no hint on the send")
      return
    }
    stage.type(hint.letters)
    guard let inputs = (stage.app.state.overlay as? PortHints)?.targets else { return }
    stage.type(inputs[0].letters)
    #expect(stage.lastEdit == "connect piano.reverb -> room")
    stage.play(seconds: 0.1)
    #expect(stage.screen.contains("reverb") && !stage.screen.contains("chorus"))
    stage.press("u")
    stage.play(seconds: 0.2)
    stage.app.state.message = nil
    #expect(!stage.screen.contains("reverb"))
  }

  @Test func aAddsANodeWithANameThatIsFreeAndFocusesIt() {
    let stage = Stage.demo()
    stage.press("a =delay enter a =delay enter")
    #expect(stage.names.suffix(2) == ["delay", "delay2"])
    #expect(stage.focus == "delay2")
  }

  @Test func parametersStepTakeTypedValuesWithUnitsAndGoBackToTheDefault() {
    let stage = Stage.demo()
    stage.press("enter right")
    #expect(stage.lastEdit == "set dist.drive 19dB")
    stage.press("=24dB enter")
    #expect(stage.lastEdit == "set dist.drive 24dB")
    stage.press("=99dB enter")
    #expect(stage.app.state.message?.isError == true)
    #expect(stage.lastEdit == "set dist.drive 24dB")
    stage.press("down right")
    #expect(stage.lastEdit == "set dist.shape fold")
    stage.press("delete")
    #expect(stage.session.patch[named: "dist"]?.settings[ParameterPath("shape")] == nil)
    stage.press("esc x")
    #expect(stage.lastEdit == "remove dist")
  }

  @Test func aParameterThatIsSteppedByAHeldKeyIsOneEdit() {
    let stage = Stage.demo()
    let start = stage.session.undoList.count
    stage.press("enter")
    for _ in 0..<6 {
      stage.clock.seconds += 0.03
      stage.app.handle(.key(KeyStroke("right")))
    }
    #expect(stage.lastEdit == "set dist.drive 24dB")
    #expect(stage.session.undoList.count == start + 1)
  }

  @Test func aRefusedEditChangesNothingAndSaysWhyAtItsPlace() {
    let stage = Stage.demo()
    let before = stage.session.patch
    stage.press(":")
    stage.type("connect pian -> dist")
    stage.press("enter")
    guard let prompt = stage.app.state.overlay as? Prompt, let error = prompt.error else {
      Issue.record("the prompt closed")
      return
    }
    #expect(error.text == "no node `pian`; did you mean `piano`?")
    #expect(error.column == 8)
    #expect(stage.session.patch == before)
    #expect(stage.screen.contains("did you mean `piano`?"))
    stage.press("esc : up")
    #expect(stage.screen.contains("PATCH"))
  }

  @Test func thePromptCompletesAndRemembers() {
    let stage = Stage.demo()
    stage.press(": =rem tab")
    stage.type("di")
    stage.press("tab enter")
    #expect(stage.lastEdit == "remove dist")
    stage.press("u : up enter")
    #expect(stage.lastEdit == "remove dist")
  }

  @Test func findsByPartOfTheNameNGoesOnEscapeGoesBack() {
    let stage = Stage.demo()
    stage.press("/ =ma enter")
    #expect(stage.focus == "main")
    stage.press("/ =pia esc")
    #expect(stage.focus == "main")
    stage.press("/ =o enter n")
    #expect(stage.focus != "out")
  }

  @Test func qLeavesAtOnceWhenAllIsSavedAndAsksOtherwise() {
    let stage = Stage.demo()
    stage.press("q")
    #expect(stage.app.wish == .none)
    #expect(stage.screen.contains("Not saved"))
    stage.press("esc")
    #expect(stage.app.wish == .none)
    stage.press("q n")
    #expect(stage.app.wish == .quit)
    stage.app.wish = .none
    stage.press("esc : =q! enter")
    #expect(stage.app.wish == .quitKeepingEdits)
  }

  @Test func newsComeBehindAnErrorAndDoNotReplaceIt() {
    let workbench = FaultyWorkbench(Stage.demo().workbench)
    let app = App(workbench: workbench, now: { 0 })
    app.state.message = .init("no node `x`", isError: true)
    for news in ["one file is missing", "sound is back"] {
      workbench.news = [news]
      app.tick()
      #expect(app.state.message?.text == "no node `x`; \(news)")
      #expect(app.state.message?.isError == true)
    }
    app.state.message = nil
    workbench.news = ["sound is back"]
    app.tick()
    #expect(app.state.message?.text == "sound is back" && app.state.message?.isError == false)
  }

  /// Edits were recovered, and the file has a warning or an error, or the user's settings have: all of it is told.
  @Test func whatIsSaidAtTheStartLeavesTheNewsInSight() {
    func message(_ problems: [String], _ message: ViewState.Message?) -> ViewState.Message? {
      let workbench = FaultyWorkbench(Stage.demo().workbench)
      workbench.news = ["recovered 3 unsaved edits"]
      let app = App(workbench: workbench, now: { 0 })
      app.begin(problems: problems, message)
      return app.state.message
    }
    let news = "recovered 3 unsaved edits"
    for isError in [false, true] {
      let told = message([], .init("line 3: gain is out of range", isError: isError))
      #expect(told?.text == "line 3: gain is out of range; \(news)" && told?.isError == isError)
    }
    let settings = message(["keys.toml: no action `fly`"], .init("plays x.mid"))
    #expect(settings?.text == "keys.toml: no action `fly`; plays x.mid; \(news)" && settings?.isError == true)
    #expect(message([], nil)?.text == news)
  }

  @Test func theMessageAtTheStartGoesWhenTheDriverSaysSomethingElse() {
    let workbench = FaultyWorkbench(Stage.demo().workbench)
    let app = App(workbench: workbench, now: { 0 })
    app.greet("playing as JACK client sostenuto")
    app.tick()
    #expect(app.state.message?.text == "playing as JACK client sostenuto")
    workbench.trouble = "JACK server gone"
    app.tick()
    #expect(app.state.message == nil)
  }

  @Test func aClickFocusesADragFromPortToPortConnects() {
    let stage = Stage("node tone oscillator", "node out output")
    _ = stage.screen
    let ports = GraphPlaces.ports(stage.app.scene, stage.app.state, columns: 110, rows: 30)
    guard
      let source = ports.first(where: { if case .output = $0.target { true } else { false } }),
      let destination = ports.first(where: { if case .input = $0.target { true } else { false } })
    else {
      Issue.record("no ports")
      return
    }
    stage.app.handle(.mouse(MouseEvent(.press, .left, at: source.place)))
    #expect(stage.focus == "tone")
    stage.app.handle(.mouse(MouseEvent(.drag, .left, at: destination.place)))
    stage.app.handle(.mouse(MouseEvent(.release, .left, at: destination.place)))
    #expect(stage.lastEdit == "connect tone -> out")
  }
}

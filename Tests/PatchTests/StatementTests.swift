import Patch
import PatchLanguage
import Testing

/// Statements, scripts and completion.
@Suite struct StatementTests {
  let patch = read(example + "\nnode tape player file=x.wav")

  private func parse(_ line: String) throws -> Statement {
    try StatementParser.parse(line, patch: patch, catalogue: catalogue)
  }

  private func fault(_ line: String) -> String? {
    do {
      _ = try parse(line)
      return nil
    } catch {
      return (error as? Diagnostic)?.description
    }
  }

  @Test func everyLineReadsAsWhatItSays() throws {
    #expect(try parse("") == .nothing)
    #expect(try parse("   # remark") == .nothing)
    #expect(try parse("undo") == .undo)
    #expect(try parse("redo # again") == .redo)
    #expect(try parse("panic") == .panic)
    #expect(
      try parse("note piano on C4 100") == .perform(Performance("piano", .noteOn(key: 60, velocity: 100))))
    #expect(try parse("note piano on C#4") == .perform(Performance("piano", .noteOn(key: 61, velocity: 100))))
    #expect(try parse("note keys off 60") == .perform(Performance("keys", .noteOff(key: 60))))
    #expect(try parse("pedal piano sustain on") == .perform(Performance("piano", .pedal(.sustain, true))))
    #expect(try parse("control piano 1 64") == .perform(Performance("piano", .control(1, 64))))
    #expect(try parse("bend piano -0.5") == .perform(Performance("piano", .bend(-0.5))))
    #expect(try parse("play tape at 1.5s") == .perform(Performance("tape", .play(at: 1.5))))
    #expect(try parse("play tape") == .perform(Performance("tape", .play(at: nil))))
    #expect(try parse("stop tape") == .perform(Performance("tape", .stop)))
    #expect(try parse("cue tape 250ms") == .perform(Performance("tape", .cue(0.25))))
    #expect(
      try parse("set dist.drive 24dB over 2s")
        == .edit(.set("dist", ParameterPath("drive"), .number(24, .decibels), over: 2)))
    #expect(
      try parse("set dist.drive default") == .edit(.set("dist", ParameterPath("drive"), nil, over: nil)))
    #expect(
      try parse("set main[0,1] -6")
        == .edit(.set("main", ParameterPath("", [0, 1]), .number(-6, .decibels), over: nil)))
    #expect(try parse("connect piano->main") == .edit(.connect(CableName("piano", "main"))))
    #expect(try parse("remove dist bridge") == .edit(.remove("dist", bridge: true)))
    #expect(try parse("copy dist twin") == .edit(.copy("dist", to: "twin")))
    #expect(try parse("disconnect dist") == .edit(.isolate("dist")))
    #expect(try parse("disconnect piano -> dist") == .edit(.disconnect(CableName("piano", "dist"))))
    #expect(fault("disconnect piano dist")?.contains("`->`") == true)
    #expect(fault("disconnect")?.contains("missing") == true)
    #expect(try parse("undo ; redo") == .sequence([.undo, .redo]))
    #expect(
      try parse("note piano on C4 ; remove dist")
        == .sequence([
          .perform(Performance("piano", .noteOn(key: 60, velocity: 100))),
          .edit(.remove("dist", bridge: false)),
        ]))
  }

  @Test func aPerformanceIsWrittenAsItIsRead() throws {
    for line in [
      "note piano on C#4 64", "note piano off C-1", "pedal piano sostenuto off", "control piano 64 127",
      "bend piano 0.25",
      "play tape at 2s", "play tape", "stop tape", "cue tape 30ms", "undo", "redo", "panic",
    ] {
      #expect(try parse(line).line == line)
    }
  }

  @Test func mistakesArePlacedAndExplained() {
    #expect(fault("remvoe dist") == "1: error: no verb `remvoe`; did you mean `remove`?")
    #expect(fault("note pian on C4") == "6: error: no node `pian`; did you mean `piano`?")
    #expect(fault("note dist on C4") == "6: error: `dist` plays no notes (it is of kind `distortion`)")
    #expect(fault("note piano on H4") == "15: error: `H4` is not a key; keys are C-1 to G9, or 0 to 127")
    #expect(fault("note piano on C4 200") == "18: error: `200` is not a velocity from 1 to 127")
    #expect(fault("play piano") == "6: error: `piano` is no player (it is of kind `sampler`)")
    #expect(
      fault("connect a b")
        == "11: error: `->` is missing; write `connect A -> B [by 2oct [offset=1oct] [curve=log]] [gain=-3dB] [map=[0,1]] [mix=discrete]`"
    )
    #expect(fault("remove dist now") == "13: error: `now` is too much; write `remove NODE [bridge] [tail]`")
    #expect(
      fault("set main.label.in[0] Overhead left")
        == "31: error: `left` is too much; write `set NODE.PARAMETER VALUE [over 2s]`; a value with spaces is quoted"
    )
    #expect(fault("set dist 3dB") == "5: error: `dist` names no parameter; write `node.parameter`")
    #expect(fault("connect a -> b gian=3dB") == "16: error: a cable has no `gian`; did you mean `gain`?")
    #expect(fault("set a.b \"x") == "9: error: the quotes are not closed")
    #expect(fault("set a.b [1,2") == "9: error: `[` without `]`")
    #expect(fault("pedal piano sustian on") == "13: error: no pedal `sustian`; did you mean `sustain`?")
  }

  @Test func aRefusalIsPlacedInItsLineCountedInCharacters() {
    let error = EditError.noNode("pian")
    let place = StatementParser.diagnostic(
      for: error, in: "connect é -> pian", file: "s.script", line: 7, column: 10)
    #expect(place.description == "s.script:7:23: error: no node `pian`")
  }

  @Test func textsWithBlanksQuotesAndSurvive() throws {
    for text in [
      "a b", "a;b", "say \"hi\"", "back\\slash", "C#4", "# no remark", "", "tab\tnew\nline", "[x]", "a,b",
      "ümlaut", "a -> b", "default",
    ] {
      let edit = Edit.set("piano", ParameterPath("instrument"), .text(text), over: nil)
      #expect(try parse(edit.line) == .edit(edit), "\(edit.line)")
    }
    #expect(
      try parse("set piano.instrument C#4")
        == .edit(.set("piano", ParameterPath("instrument"), .text("C#4"), over: nil)))
  }

  @Test func scriptLinesCarryTheirTimesOneWithoutFollowsTheLineBefore() {
    let (lines, diagnostics) = Script.read(
      """
      # the demo
      at 1.5s replace dist equalizer  # swap
      note piano off C4
      at 500ms note piano on C4 100 ; note piano on E4
      at soon undo

        at 2s
        undo
      """, file: "demo.script")
    #expect(
      diagnostics.map(\.description) == [
        "demo.script:5:4: error: `soon` is not a time; write `at 1.5s …` or `at bar 5 …`"
      ])
    #expect(
      lines.map { "\($0.time) \($0.line):\($0.column) \($0.text)" } == [
        "0.5 4:10 note piano on C4 100 ; note piano on E4", "1.5 2:9 replace dist equalizer",
        "1.5 3:1 note piano off C4",
        "2.0 8:3 undo",
      ])
  }

  @Test(arguments: [
    ("rep", "replace"), ("set di", "dist."), ("set ma", "main[ main."),
    ("set dist.", "dist.drive dist.mix"),
    ("set main[", "main[0, main[1, main[2, main[3, main[..,"),
    ("set main[1,", "main[1,0] main[1,1] main[1,..]"),
    ("set main.in[", "main.in[0] main.in[1] main.in[2] main.in[3] main.in[..]"),
    ("set tape.loop ", "on off default"), ("node x dis", "distortion"),
    ("node o oscillator shape=s", "shape=sine shape=saw shape=square"),
    ("replace dist delay t", "time="), ("connect keys -> ", "piano"),
    ("connect piano -> dist.", "dist.in dist.drive dist.mix"),
    ("connect piano ", "->"), ("disconnect ", "out keys piano dist main"), ("disconnect piano -> ", "dist"),
    ("remove dist b", "bridge"), ("remove dist ", "bridge tail"), ("remove dist bridge ", "tail"),
    ("note ", "keys piano"), ("play ", "tape"),
    ("pedal piano s", "sustain sostenuto soft"),
    ("undo ; rem", "remove"), ("insert e delay into d", "dist"), ("connect piano -> main g", "gain="),
    ("copy di", "dist"), ("copy dist ", ""), ("cop", "copy"), ("nonsense ", ""),
    ("set dist.drive 3dB ", "over"),
  ])
  func thePromptOffersWhatMayComeNext(line: String, expected: String) {
    let completion = Completion.candidates(line, patch: patch, catalogue: catalogue)
    #expect(completion.candidates.map(\.text).joined(separator: " ") == expected)
  }

  @Test func whatIsCompletedIsTheWordAtTheCursorNotTheRestOfTheLine() {
    let completion = Completion.candidates("remove di", patch: patch, catalogue: catalogue)
    #expect(completion.length == 2)
    #expect(completion.candidates == [Completion.Candidate("dist", "distortion")])
  }
}

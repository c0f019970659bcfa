import Patch
import Testing

@testable import PatchLanguage

/// The eight controls in files, edits, differences and merges.
@Suite struct ControlTests {
  private let text = """
    sostenuto 1

    tempo 90
    # The left hand's.
    control 1 dist.time  # up to taste
    control 3 main[0,1]
    control 8 src.out -> dist.in

    node src sampler

    node dist delay
    connect src -> dist

    node main matrix
    connect dist -> main

    """

  @Test func theirLinesAreKeptWithItsComments() {
    let patch = read(text)
    #expect(patch.settings.controls[1] == .setting("dist", ParameterPath("time")))
    #expect(patch.settings.controls[3] == .setting("main", ParameterPath("", [0, 1])))
    #expect(PatchWriter.write(patch, catalogue: catalogue) == text)
    // A cable is kept with its ports, wherever it was named without.
    let short = text.replacing("src.out -> dist.in", with: "src -> dist")
    #expect(PatchWriter.write(read(short), catalogue: catalogue) == text)
  }

  @Test func aControlFollowsItsNodesNameAndWaitsForWhatIsGone() throws {
    var patch = read(text)
    let start = patch
    var history = History()
    try perform("rename dist echo", on: &patch, history: &history)
    #expect(patch.settings.controls[1]?.description == "echo.time")
    #expect(patch.settings.controls[8]?.description == "src.out -> echo.in")
    try perform("remove echo", on: &patch, history: &history)
    #expect(patch.settings.controls[1]?.description == "echo.time", "it waits")
    #expect(throws: EditError.self) {
      try patch.controlled(.setting("echo", ParameterPath("time")), catalogue: catalogue)
    }
    // It goes elsewhere meanwhile, and undo brings back what cannot be chosen now.
    try perform("control 1 main[1,1] ; control 8 off", on: &patch, history: &history)
    #expect(throws: (any Error).self) {
      var (patch, history) = (patch, history)
      try perform("control 1 echo.time", on: &patch, history: &history)
    }
    while let step = try history.undo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(patch == start)
    while let step = try history.redo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(patch.settings.controls[1]?.description == "main[1,1]" && patch.settings.controls[8] == nil)
  }

  @Test func renamingToAWaitingNameIsUndoneExactly() throws {
    var patch = PatchReader.read(
      text.replacing("dist.time", with: "ghost.time"), file: "", catalogue: catalogue
    ).patch
    let start = patch
    var history = History()
    try perform("rename dist ghost", on: &patch, history: &history)
    #expect(patch.settings.controls[1]?.description == "ghost.time")
    let back = try #require(try history.undo(patch, catalogue: catalogue)).change.patch
    #expect(back == start)
  }

  @Test(
    arguments: [
      ("control 9 dist.time", "1:9", "there is no control 9; controls go from 1 to 8"),
      ("control 1", "1:10", nil),
      ("control 1 dits.time", "1:11", "no node `dits`; did you mean `dist`?"),
      ("control 1 dist.thyme", "1:16", nil),
      (
        "control 1 src.instrument", "1:11",
        "no control can turn `src.instrument`; a control turns numbers, switches and choices"
      ),
      ("control 1 main[0..1,0]", "1:11", "a control turns one value"),
      ("control 1 main[5,0]", "1:11", nil),
      ("control 1 src -> main", "1:18", nil),
    ] as [(String, String, String?)])
  func refusalsNameThePlaceAndTheWayOut(line: String, place: String, words: String?) throws {
    try expectRefusal(of: line, in: read(text), at: place, words: words)
  }

  @Test func aFileMayNameWhatIsGoneWithAWarningAtItsPlace() {
    let (patch, diagnostics) = PatchReader.read(
      "node g delay\ncontrol 2 dist.time\ncontrol 3 g.time", file: "f", catalogue: catalogue)
    #expect(patch.settings.controls.count == 2)
    #expect(diagnostics.map { "\($0.line):\($0.column) \($0.severity)" } == ["2:11 warning"])
  }

  @Test func aControllerOfANodeIsStillAPerformanceWhateverItsName() throws {
    var patch = read(text)
    var history = History()
    try perform("rename src 1", on: &patch, history: &history)
    func statement(_ line: String) throws -> Statement {
      try StatementParser.parse(line, patch: patch, catalogue: catalogue)
    }
    #expect(try statement("control 1 64 127") == .perform(Performance("1", .control(64, 127))))
    #expect(try statement("control 1 1 0") == .perform(Performance("1", .control(1, 0))))
    #expect(try statement("control 1 off") == .edit(.setPatch(.control(1, nil))))
    let cable = try statement("control 2 1 -> dist")
    #expect(cable == .edit(.setPatch(.control(2, .gain(CableName("1", "dist"))))))
    #expect(cable.line == "control 2 1 -> dist")
  }

  /// A control or a map that waited is saved as it will be read.
  @Test func whatWasWaitedForIsNamedAsAFileNamesIt() throws {
    func read(_ text: String) -> Patch {
      PatchReader.read(text, file: "", catalogue: catalogue).patch
    }
    let start = read(
      """
      control 1 n -> s/f
      control 2 n -> late
      map keys.cc1 -> late.time 1000ms..500ms
      map keys.cc2 -> n -> late
      node keys keyboard
      node n oscillator
      node s patch
      node s/i inlet
      connect n -> s
      node s/f delay
      connect s/i -> s/f
      node s/o outlet
      connect s/f -> s/o
      node out output
      connect s -> out
      """)
    func written(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: catalogue) }
    var (patch, history) = (start, History())
    var texts = [written(patch)]
    for line in ["expand s", "node late delay", "connect n -> late", "rename late later"] {
      try perform(line, on: &patch, history: &history)
      #expect(written(read(written(patch))) == written(patch), "`\(line)`")
      texts.append(written(patch))
    }
    #expect(patch.settings.controls[1]?.description == "n.out -> f.in")
    #expect(patch.settings.controls[2]?.description == "n.out -> later.in")
    #expect(texts[4].contains("\nmap keys.cc1 -> later.time 1s..500ms\n"))
    for wanted in texts.dropLast().reversed() {
      patch = try #require(try history.undo(patch, catalogue: catalogue)).change.patch
      #expect(written(patch) == wanted)
    }
    #expect(patch == start)
    for wanted in texts.dropFirst() {
      patch = try #require(try history.redo(patch, catalogue: catalogue)).change.patch
      #expect(written(patch) == wanted)
    }
    // One side has the control, and the other makes its cable.
    let base = read("node n oscillator\nnode f delay\n")
    let merged = PatchMerge.merge(
      base: base, ours: read("control 1 n -> f\nnode n oscillator\nnode f delay\n"),
      theirs: read("node n oscillator\nnode f delay\nconnect n -> f\n"), catalogue: catalogue)
    #expect(merged.conflicts == [] && merged.patch.settings.controls[1]?.description == "n.out -> f.in")
  }

  @Test func mergesFollowTheOtherSidesNames() throws {
    let base = read(text)
    var (ours, theirs) = (base, base)
    var history = History()
    try perform("rename dist echo", on: &ours, history: &history)
    try perform("control 1 src.level", on: &theirs, history: &history)
    let merged = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
    #expect(merged.conflicts.isEmpty)
    #expect(merged.patch.settings.controls[1]?.description == "src.level")
    #expect(merged.patch.settings.controls[8]?.description == "src.out -> echo.in")
    let edits = try PatchDifference.edits(from: base, to: merged.patch, catalogue: catalogue)
    #expect(edits.map(\.line) == ["rename dist echo", "control 1 src.level"])
    try perform("control 1 off", on: &ours, history: &history)
    let torn = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
    #expect(torn.conflicts.map(\.message) == ["`control 1 off` stands here and `control 1 src.level` there"])
  }

  @Test func completionOffersNumbersAndTargets() {
    let patch = read(text)
    func offers(_ line: String) -> [String] {
      Completion.candidates(line, patch: patch, catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(Set(offers("control ")).isSuperset(of: ["1", "8", "src"]))
    #expect(Set(offers("control 2 ")).isSuperset(of: ["dist.", "main[", "src", "off"]))
    #expect(offers("control 2 dist.ti") == ["dist.time"])
    #expect(offers("control 2 src ") == ["->"])
    #expect(offers("control 2 src -> ") == ["dist"])
  }
}

import PatchLanguage
import TestSupport
import Testing

@testable import Patch

/// Scenes in files, edits, recalls, differences and merges.
@Suite struct SceneTests {
  private static let text = """
    sostenuto 1

    tempo 90
    control 1 morph 1 3

    node src sampler

    node dist distortion drive=18dB
    connect src -> dist

    node main matrix
    connect dist -> main gain=-3dB

    node out output port=left
    connect main -> out

    # The quiet one.
    scene 1 "verse"  # bars 1 to 8
    scene 1 set dist.drive 2dB
    scene 1 set main[0,0] -12dB

    scene 3 "break"
    scene 3 remove dist
    scene 3 node echo delay time=180ms before main
    scene 3 connect src -> echo
    scene 3 connect echo -> main gain=-6dB
    scene 3 comment echo "dotted"
    scene 3 layout echo 3,1

    """

  private func edited(_ patch: Patch, _ lines: String...) throws -> Patch {
    try lines.reduce(patch) { patch, line in
      guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
        Issue.record("`\(line)` is no edit")
        return patch
      }
      let change = try patch.applyingCanonically(edit, catalogue: catalogue).change
      let back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch
      #expect(back == patch, "undoing `\(line)` by `\(change.inverse)`")
      #expect(text(back) == text(patch), "undoing `\(line)` by `\(change.inverse)`")
      return change.patch
    }
  }

  private func text(_ patch: Patch) -> String { PatchWriter.write(patch, catalogue: catalogue) }

  @Test func aFileHoldsWhatDiffersFromThePatch() {
    let patch = read(Self.text)
    #expect(text(patch) == Self.text)
    #expect(patch.scenes[3]?.state.names == ["src", "echo", "main", "out"])
    #expect(patch.scenes[1]?.name == "verse" && patch.scenes[1]?.comments.after == "bars 1 to 8")
    // Lines of a scene may stand anywhere, and hold their comments.
    let moved = """
      scene 1 verse
      scene 1 set g.time 1s  # slow
      node g delay
      """
    let other = read(moved)
    #expect(text(other).hasSuffix("scene 1 \"verse\"  # slow\nscene 1 set g.time 1s\n"))
  }

  /// Only what a line touches is looked at again, as a file may have thousands of lines.
  @Test func afterEachLineASceneIsAsItWouldBeStored() throws {
    var scene = PatchScene(of: read(Self.text), name: "", catalogue: catalogue)
    for line in [
      "set out.port right", "set dist.drive 6dB", "rename out exit", "copy exit extra",
      "set exit.port default", "set dist.drive default", "replace dist delay time=1s", "remove exit",
      "node exit output port=here",
      "connect main -> exit", "comment exit \"of the hall\"", "rename extra out", "remove src",
    ] {
      guard case .edit(let edit) = try StatementParser.parse(line, patch: scene.whole, catalogue: catalogue)
      else {
        Issue.record("`\(line)` is no edit")
        continue
      }
      try scene.apply(edit, catalogue: catalogue)
      let anew = PatchScene(of: scene.whole, name: "", catalogue: catalogue)
      #expect(scene.state == anew.state && scene.links == anew.links, "\(line)")
      #expect(scene.state.touched == nil)
    }
    #expect(scene.links.mapValues { $0.values.map(\.line) } == ["exit": ["here"], "out": ["right"]])
    #expect(scene.state.names == ["dist", "main", "out", "exit"])
  }

  @Test func aRecallLeadsToTheStateWhateverWasRecalledBefore() throws {
    let patch = read(Self.text)
    let third = try edited(patch, "recall 3")
    #expect(third.names == ["src", "echo", "main", "out"])
    #expect(third[named: "echo"]?.place == Place(column: 3, row: 1))
    #expect(third[named: "main"]?.id == patch[named: "main"]?.id, "what both have stays the same node")
    // What was the patch's own is gone, unless it is a scene: the way back is undo.
    let first = try edited(third, "recall 1")
    #expect(text(first) == text(try edited(patch, "recall 1")))
    #expect(first[named: "dist"]?.settings[ParameterPath("drive")] == .number(2, .decibels))
    #expect(text(try edited(first, "recall 3")) == text(third))
    #expect(first.isAt(first.scenes[1]!, catalogue: catalogue))
    #expect(!first.isAt(first.scenes[3]!, catalogue: catalogue))
  }

  @Test func aSceneStaysAsItWasStoredWhileThePatchGoesOn() throws {
    var patch = try edited(read(Self.text), "scene 2 now", "set dist.drive 30dB", "remove main")
    #expect(text(patch).contains("scene 2 \"now\"\nscene 2 node main matrix before out\n"))
    patch = try edited(patch, "recall 2")
    #expect(patch[named: "dist"]?.settings[ParameterPath("drive")] == .number(18, .decibels))
    #expect(patch.isAt(patch.scenes[2]!, catalogue: catalogue))
    #expect(text(read(text(patch))) == text(patch))
  }

  @Test func namesFollowRenamesUnlessTheSceneHasTheName() throws {
    var patch = try edited(read(Self.text), "rename main desk")
    #expect(patch.scenes[3]?.state.names == ["src", "echo", "desk", "out"])
    #expect(text(patch).contains("scene 1 set desk[0,0] -12dB"))
    let recalled = try edited(patch, "recall 3")
    #expect(recalled[named: "desk"]?.id == patch[named: "main"]?.id ?? patch[named: "desk"]?.id)
    patch = try edited(patch, "rename src echo")
    #expect(patch.scenes[3]?.state.names == ["src", "echo", "desk", "out"])
    #expect(patch.scenes[1]?.state.names.contains("echo") == true)
  }

  @Test func placesAndCommentsOfWhatComesAndGoesAreKept() throws {
    var patch = try edited(
      read(Self.text), "layout dist 5,5", "comment dist \"warm\"", "comment src -> dist \"dry\"", "recall 3")
    // The scenes keep what the node had when it went.
    patch = try edited(patch, "layout echo 7,7", "recall 1")
    #expect(patch[named: "dist"]?.place == Place(column: 5, row: 5))
    #expect(patch[named: "dist"]?.comments.before == ["warm"])
    #expect(patch.cables.values.contains { $0.comments.before == ["dry"] })
    #expect(try edited(patch, "recall 3")[named: "echo"]?.place == Place(column: 7, row: 7))
    // A node that stays keeps its own.
    patch = try edited(patch, "layout main 1,1", "recall 3")
    #expect(patch[named: "main"]?.place == Place(column: 1, row: 1))
  }

  @Test func timeControlsAndConnectionsAreNoPartOfIt() throws {
    var patch = try edited(
      read(Self.text), "scene 2", "tempo 140", "control 1 dist.drive", "set out.port right", "header \"x\"",
      "move out before src", "recall 2")
    #expect(patch.settings.tempo == 140 && patch.settings.controls[1]?.description == "dist.drive")
    #expect(patch[named: "out"]?.settings[ParameterPath("port")] == .text("right"))
    #expect(patch.header == ["x"] && patch.names.first == "out")
    #expect(text(patch).contains("\nscene 2\n\n"), "nothing differs")
    // An endpoint that comes back has the connection that it had.
    patch = try edited(patch, "remove out", "recall 2")
    #expect(patch[named: "out"]?.settings[ParameterPath("port")] != nil)
  }

  /// Names and kinds of a sub-patch and of all in it; empty where there is none.
  private func inside(_ container: String, _ patch: Patch) -> Set<[String]> {
    guard let node = patch[named: container] else { return [] }
    return Set(([node] + patch.allNodes(inside: container)).map { [$0.name, $0.kind] })
  }

  @Test(arguments: searchSeeds(61, 62, 63, 64))
  func recallsAreAbsoluteAndTheSameAsTheirEditsByHand(seed: UInt64) throws {
    print("seed", seed)
    var random = RandomEdits(seed: seed, catalogue: catalogue)
    var patch = read(example)
    var recalls = 0
    for step in 0..<900 {
      if let change = try? patch.applying(random.next(for: patch), catalogue: catalogue) {
        patch = change.patch
      }
      if step % 40 == 0 {
        patch = try patch.applying(.scene(step / 40 % 3 + 1, .store(name: nil)), catalogue: catalogue).patch
      }
      guard step % 9 == 0, patch.scenes[1] != nil, patch.scenes[2] != nil else { continue }
      recalls += 1
      func recall(_ number: Int, _ patch: Patch) throws -> Patch {
        let change = try patch.applying(.recall(number, over: 0.5), catalogue: catalogue)
        #expect(try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch == patch)
        #expect(change.patch.isAt(try change.patch.scene(number), catalogue: catalogue))
        // A sub-patch publishes what the scene's does, if other nodes are in it.
        var settings = change.patch.settings
        let keys = Set(settings.publications.keys).union(patch.settings.publications.keys)
        for key in keys where settings.publications[key] != patch.settings.publications[key] {
          let container = try #require(NodePath.container(of: key))
          #expect(inside(container, change.patch) != inside(container, patch))
          settings.set(.publish(key, patch.settings.publications[key]))
          settings.comments[.publish(key)] = patch.settings.comments[.publish(key)]
        }
        #expect(settings == patch.settings)
        // Nodes that both have stay the nodes that they are.
        for node in change.patch.nodes.values {
          guard let old = patch[named: node.name], old.kind == node.kind else { continue }
          #expect(old.id == node.id && old.comments == node.comments && old.place == node.place)
        }
        return change.patch
      }
      let once = try recall(1, patch)
      let again = try recall(1, try recall(2, once))
      #expect(
        PatchScene(of: once, name: "", catalogue: catalogue)
          == PatchScene(of: again, name: "", catalogue: catalogue))
      #expect(again.scenes == patch.scenes, "a recall changes no scene")
      // By hand.
      let draft = try typing(patch.steps(ofRecalling: 2, over: 0.5, catalogue: catalogue), on: patch)
      let recalled = try patch.applying(.recall(2, over: 0.5), catalogue: catalogue)
      #expect(draft.patch.withPlainIdentities == recalled.patch.withPlainIdentities)
      #expect(
        draft.ramps.map(\.seconds) == recalled.ramps.map(\.seconds) && draft.fade == recalled.fade)
      // Saved after a recall, it reads as what it is.
      let file = text(recalled.patch)
      let (reread, diagnostics) = PatchReader.read(file, file: "", catalogue: catalogue)
      #expect(diagnostics.filter { !isOfControl($0, in: file) } == [], "\(file)")
      #expect(text(reread) == file, "\(file)")
      #expect(reread.withPlainIdentities == recalled.patch.withPlainIdentities)
    }
    #expect(recalls > 60)
  }

  @Test func aRecallMovesValuesInTheirTimeAndCrossfadesTheRest() throws {
    let patch = try edited(read(Self.text), "scene 2", "set dist.drive 3dB", "set main.inputs 3")
    let steps = try patch.steps(ofRecalling: 2, over: 2, catalogue: catalogue)
    #expect(steps.map(\.line) == ["fade 2s", "set dist.drive 18dB over 2s", "set main.inputs default"])
    #expect(try patch.steps(ofRecalling: 2, catalogue: catalogue).map(\.line).first == "set dist.drive 18dB")
    let change = try patch.applying(.recall(2, over: 2), catalogue: catalogue)
    #expect(change.fade == 2 && change.ramps.map(\.seconds) == [2] && !change.isSilent)
    #expect(try patch.applying(.scene(2, .store(name: nil)), catalogue: catalogue).isSilent)
  }

  @Test func aSubPatchThatARecallFillsTakesNoCableForAnother() throws {
    // The cable waits at the sub-patch that takes the player's place, and has the name of the one that comes.
    let patch = read(
      """
      node fx patch
      node fx/out outlet
      node main matrix
      connect fx -> main gain=-3dB
      """)
    let stored = try edited(patch, "scene 1", "replace fx player")
    #expect(stored.cables.values.map(\.gain) == [-3])
    let back = try edited(stored, "recall 1")
    #expect(back.isAt(back.scenes[1]!, catalogue: catalogue))
    #expect(text(read(text(stored))) == text(stored))
  }

  @Test func linesOfASceneNeedNoPublishedNames() throws {
    let patch = read(
      """
      publish fx/echo.time as fx/time
      node fx patch
      node fx/echo delay
      node osc oscillator
      connect osc -> fx.time
      scene 1
      """)
    let gone = try edited(patch, "scene 2", "disconnect osc -> fx.time")
    #expect(text(gone).contains("scene 1 connect osc -> fx/echo.time"))
    let again = read(text(gone))
    #expect(again.scenes == gone.scenes && text(again) == text(gone))
  }

  @Test func aMorphLiesBetweenTwoScenesInTheUnitsOfTheValues() throws {
    var patch = read(
      """
      node osc oscillator freq=100Hz level=-20dB
      node g distortion mix=20%
      connect osc -> g
      scene 1 low
      scene 2 high
      scene 2 set osc.freq 400Hz
      scene 2 set osc.level -10dB
      scene 2 set osc.shape saw
      scene 2 set g.mix 60%
      scene 2 connect osc -> g gain=-inf
      scene 2 node more delay
      """)
    patch = try edited(patch, "morph 1 2 50%")
    func value(_ node: String, _ name: String) -> Value? { patch[named: node]?.settings[ParameterPath(name)] }
    #expect(value("osc", "freq") == .number(200, .hertz))
    #expect(value("osc", "level") == .number(-15, .decibels))
    #expect(value("g", "mix") == .number(40, .percent))
    #expect(patch.cables.values.map(\.gain) == [-40])
    #expect(value("osc", "shape") == nil && patch[named: "more"] == nil, "these wait for a recall")
    #expect(try patch.percent(of: Morph(1, 2), catalogue: catalogue) == 50)
    #expect(try patch.percent(of: Morph(2, 1), catalogue: catalogue) == 50)
    patch = try edited(patch, "morph 1 2 100%")
    #expect(patch.cables.values.map(\.gain) == [-.infinity] && value("osc", "freq") == .number(400, .hertz))
    let control = try patch.controlled(.morph(Morph(1, 2)), catalogue: catalogue)
    #expect(control.value == .number(100, .percent))
    patch = try edited(patch, "morph 1 2 0%")
    #expect(patch.isAt(try patch.scene(1), catalogue: catalogue))
  }

  @Test(
    arguments: [
      ("recall 2", "1:8", "there is no scene 2; there are 1, 3; `scene 2` stores one"),
      ("recall", "1:7", nil), ("recall two", "1:8", "`two` is not the number of a scene"),
      ("recall 1 over 2h", "1:15", nil), ("recall 1 over 4000s", "1:15", nil),
      ("scene 100 x", "1:7", "no scene has the number 100; scenes go from 1 to 99"),
      ("scene 1 set dits.drive 3dB", "1:13", "no node `dits`; did you mean `dist`?"),
      ("scene 1 tempo 90", "1:9", "a scene has no `tempo`; it has nodes, their settings, and cables"),
      (
        "scene 1 undo", "1:9",
        "`undo` does not belong in a scene; a scene has nodes, their settings, and cables; its name stands in quotes"
      ),
      ("scene 1 scene 3", "1:9", nil), ("scene 4 off", "1:7", nil),
      ("morph 1 3 140%", "1:11", "a place between two scenes is 0% to 100%, not 140%"),
      ("morph 1 5 10%", "1:9", nil), ("control 2 morph 1 4", "1:19", nil), ("fade", "1:5", nil),
    ] as [(String, String, String?)])
  func refusalsNameThePlaceAndTheWayOut(line: String, place: String, words: String?) throws {
    try expectRefusal(of: line, in: read(Self.text), at: place, words: words)
  }

  @Test func aSceneInAFileThatNamesWhatIsGoneSaysSoAndDoesTheRest() {
    let (patch, diagnostics) = PatchReader.read(
      "node g delay\nscene 2 x\nscene 2 set dist.time 1s\nscene 2 set g.time 2s\nscene 3 remove g", file: "f",
      catalogue: catalogue)
    #expect(diagnostics.map { "\($0.line):\($0.column) \($0.severity)" } == ["3:13 error", "5:7 error"])
    #expect(patch.scenes[2]?.state[named: "g"]?.settings.values.first == .number(2, .seconds))
    #expect(patch.scenes[3] == nil)
  }

  @Test func mergesJoinBothSidesChangesOfOneScene() throws {
    let base = read(Self.text)
    let ours = try edited(base, "rename dist fuzz", "scene 1 set fuzz.drive 4dB", "scene 2 new")
    let theirs = try edited(base, "scene 1 set main[1,1] -6dB", "scene 3 off", "set dist.mix 50%")
    let merged = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
    #expect(merged.conflicts.isEmpty, "\(merged.conflicts)")
    let state = try #require(merged.patch.scenes[1]?.state)
    #expect(state[named: "fuzz"]?.settings[ParameterPath("drive")] == .number(4, .decibels))
    #expect(state[named: "main"]?.settings[ParameterPath("", [1, 1])] == .number(-6, .decibels))
    #expect(merged.patch.scenes.keys.sorted() == [1, 2])
    // Edits lead there too, as one would have typed them.
    let edits = try PatchDifference.edits(from: base, to: merged.patch, catalogue: catalogue).map(\.line)
    #expect(edits.contains("scene 1 set fuzz.drive 4dB") && edits.contains("scene 3 off"))
    let torn = PatchMerge.merge(
      base: base, ours: try edited(base, "scene 1 set dist.drive 5dB"),
      theirs: try edited(base, "scene 1 set dist.drive 6dB"), catalogue: catalogue)
    #expect(torn.conflicts.map(\.message) == ["in scene 1: `dist.drive` is 5dB here and 6dB there"])
    #expect(torn.patch != torn.theirs)
  }

  /// Redo stores the scene anew, without what was left in the first one.
  @Test func aRenamedSubPatchOfASceneKeepsWhatItPublishesThroughUndoAndRedo() throws {
    var patch = read(
      """
      publish s/e.time as s/len
      node n oscillator
      node s patch
      node s/i inlet
      connect n -> s
      node s/e delay
      connect s/i -> s/e
      node s/o outlet
      connect s/e -> s/o
      node out output
      connect s -> out
      """)
    var history = History()
    for line in ["scene 3", "scene 3 rename s z", "scene 3 replace z delay", "scene 3 remove z"] {
      try perform(line, on: &patch, history: &history)
    }
    var texts = [text(patch)]
    while let step = try history.undo(patch, catalogue: catalogue) {
      patch = step.change.patch
      texts.append(text(patch))
    }
    #expect(texts[2].contains("scene 3 publish z/e.time as z/len\n"))
    for _ in 1...2 {
      for wanted in texts.dropLast().reversed() {
        patch = try #require(try history.redo(patch, catalogue: catalogue)).change.patch
        #expect(text(patch) == wanted)
      }
      for wanted in texts.dropFirst() {
        patch = try #require(try history.undo(patch, catalogue: catalogue)).change.patch
        #expect(text(patch) == wanted)
      }
    }
  }

  /// It stands in the file as soon as the patch no longer has that sub-patch.
  @Test func whatASceneLetsASubPatchPublishIsUndoneAndRedone() throws {
    var patch = read("node s patch\nnode s/e delay\nnode out output\n")
    var history = History()
    let lines = ["scene 3", "scene 3 publish s/e.time as s/len", "expand s"]
    for line in lines { try perform(line, on: &patch, history: &history) }
    let wanted = text(patch)
    #expect(wanted.contains("scene 3 publish s/e.time as s/len\n"))
    for _ in 1...2 {
      while let step = try history.undo(patch, catalogue: catalogue) { patch = step.change.patch }
      while let step = try history.redo(patch, catalogue: catalogue) { patch = step.change.patch }
      #expect(text(patch) == wanted)
    }
    // Undone, it is no part of the scene.
    for _ in 1...2 { patch = try #require(try history.undo(patch, catalogue: catalogue)).change.patch }
    try perform("expand s", on: &patch, history: &history)
    #expect(!text(patch).contains("publish"))
  }

  @Test func aRecallEndsWhatASubPatchPublishesThatIsAnotherNodeThere() throws {
    let start = read(
      """
      publish s/e.time as s/len
      node s patch
      node s/e delay
      node out output
      """)
    var patch = start
    for line in ["scene 1", "replace s delay", "scene 2", "recall 1"] { patch = try edited(patch, line) }
    #expect(patch.settings.publications.keys.sorted() == ["s/len"])
    patch = try edited(patch, "recall 2")
    #expect(patch.settings.publications.isEmpty && patch.names == ["s", "out"])
    #expect(text(read(text(patch))) == text(patch))
    #expect(try edited(patch, "recall 1").settings.publications.keys.sorted() == ["s/len"])
  }

  @Test func completionKnowsScenesAndTheirEdits() {
    let patch = read(Self.text)
    func offers(_ line: String) -> [String] {
      Completion.candidates(line, patch: patch, catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(offers("recall ") == ["1", "3"])
    #expect(offers("scene ") == ["1", "3", "2"])
    #expect(offers("recall 1 ") == ["over"])
    #expect(offers("scene 3 ").contains("off") && offers("scene 3 ").contains("set"))
    #expect(!offers("scene 3 ").contains("tempo"))
    #expect(offers("scene 3 set e") == ["echo."])
    #expect(offers("control 1 m").contains("morph"))
    #expect(offers("control 1 morph ") == ["1", "3"])
    #expect(offers("morph 1 3 ") == ["50%"])
  }
}

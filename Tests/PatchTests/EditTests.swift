import Patch
import PatchLanguage
import TestSupport
import Testing

/// `patch` after a line of the language. The edit is also undone, which must restore the patch exactly, and
/// redone.
@discardableResult
func edited(_ patch: Patch, _ line: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> Patch
{
  guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
    Issue.record("`\(line)` is no edit", sourceLocation: sourceLocation)
    return patch
  }
  let change = try patch.applying(edit, catalogue: catalogue)
  let back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue)
  #expect(back.patch == patch, sourceLocation: sourceLocation)
  let again = try back.patch.applying(exactly: back.inverse, catalogue: catalogue)
  #expect(again.patch == change.patch, sourceLocation: sourceLocation)
  return change.patch
}

func refusal(_ patch: Patch, _ line: String) -> String? {
  do {
    _ = try edited(patch, line)
    return nil
  } catch let error as EditError {
    return error.description
  } catch {
    return (error as? Diagnostic)?.words
  }
}

/// Cables as text: `piano.out -> dist.in -3dB [0,1]`.
func cables(_ patch: Patch) -> [String] {
  patch.orderedCables(catalogue: catalogue).map { cable in
    let gain = cable.gain == 0 ? "" : " " + Value.number(cable.gain, .decibels).line
    return patch.name(of: cable.ends).description + gain + (cable.map.map { " " + $0.line } ?? "")
  }
}

/// Edits.
@Suite struct EditTests {
  let patch = read(example)

  /// A copy has kind and settings of its original, without its cables, its place and its comments.
  @Test func aCopyHasKindAndSettingsOfItsOriginalWithoutItsCables() throws {
    let placed = try edited(
      patch,
      "layout main 3,1 ; comment main \"the mixer\" ; comment main[0,1] after loud ; set main[2,1] -6dB")
    let after = try edited(placed, "copy main second")
    let (original, copy) = (try #require(after[named: "main"]), try #require(after[named: "second"]))
    #expect(copy.kind == "matrix" && copy.id != original.id)
    let kind = try #require(catalogue["matrix"])
    #expect(
      EngineValues(of: copy, description: kind).values == EngineValues(of: original, description: kind).values
    )
    #expect(copy.place == nil && copy.comments.isEmpty && copy.lineComments.isEmpty)
    #expect(cables(after) == cables(placed) && after.names.last == "second")
    #expect(after[named: "main"] == placed[named: "main"])
    #expect(
      refusal(after, "copy main second")
        == "there is a node `second` already; choose another name, or `replace` it")
    #expect(refusal(after, "copy man third") == "no node `man`; did you mean `main`?")
    #expect(refusal(after, "copy main a.b")?.contains("cannot be a name") == true)
    #expect(
      refusal(after, "copy main") == "a name for the copy is missing; write `copy NODE NAME`")
  }

  @Test func removingWithABridgeJoinsTheNeighboursAtTheLevelAndWithTheMapThatTheyHad() throws {
    let after = try edited(patch, "remove dist bridge")
    #expect(
      cables(after) == [
        "keys.out -> piano.in", "piano.out -> main.in -3dB [0,1,-1,-1]", "main.out -> out.in",
      ])
    let without = try edited(patch, "remove dist")
    #expect(cables(without) == ["keys.out -> piano.in", "main.out -> out.in"])
  }

  /// A bridge joins every source to every destination, but neither side chain nor modulation.
  @Test func aBridgeJoinsEverySourceToEveryDestination() throws {
    // a -> \           / -> m
    //       c (c.sidechain <- b, c.threshold <- b)
    // b -> /           \ -> o
    let wide = read(
      """
      node a oscillator
      node b oscillator
      node c compressor
      node m matrix
      node o output
      connect a -> c gain=-1dB
      connect b -> c gain=-2dB
      connect b -> c.sidechain
      connect b -> c.threshold
      connect c -> m gain=-10dB
      connect c.reduction -> o
      """)
    let after = try edited(wide, "remove c bridge")
    #expect(
      cables(after) == [
        "a.out -> m.in -11dB", "b.out -> m.in -12dB", "a.out -> o.in -1dB", "b.out -> o.in -2dB",
      ])
    let events = read("node k keyboard\nnode a arpeggiator\nnode s sampler\nconnect k -> a\nconnect a -> s")
    #expect(cables(try edited(events, "remove a bridge")) == ["k.out -> s.in"])
  }

  @Test func aBridgeOverAnUnknownKindLeavesOutAllInputsButTheUnnamedOne() throws {
    let (unknown, _) = PatchReader.read(
      """
      node a oscillator
      node b oscillator
      node lfo oscillator
      node c squeezer
      node o output
      connect a -> c gain=-1dB
      connect b -> c.sidechain
      connect lfo -> c.threshold
      connect c -> o gain=-10dB
      """, file: "test.patch", catalogue: catalogue)
    #expect(cables(try edited(unknown, "remove c bridge")) == ["a.out -> o.in -11dB"])
  }

  @Test func aReplacedNodeKeepsCablesWhoseTypeNobodyKnows() throws {
    let patch = read("node a patch\nnode b eventout\nnode c patch\nconnect a -> b\nconnect b -> c")
    let replaced = try patch.applying(
      .replace("b", with: Node(name: "b", kind: "patch")), catalogue: catalogue)
    #expect(try replaced.patch.applying(exactly: replaced.inverse, catalogue: catalogue).patch == patch)
    // A gain is for sound only.
    let loud = try replaced.patch.applying(
      .connect(CableName("a", "b"), CableSettings(gain: -3)), catalogue: catalogue
    ).patch
    let events = try loud.applying(
      .replace("b", with: Node(name: "b", kind: "eventout")), catalogue: catalogue)
    #expect(events.patch.cables.values.allSatisfy { $0.settings == CableSettings() })
    #expect(try events.patch.applying(exactly: events.inverse, catalogue: catalogue).patch == loud)
  }

  @Test func twoMapsInARowBecomeOne() throws {
    let chain = read(
      """
      node a oscillator channels=2
      node d distortion
      node o output
      connect a -> d map=[1,0]
      connect d -> o map=[0,-1,1,7]
      """)
    #expect(cables(try edited(chain, "remove d bridge")) == ["a.out -> o.in [1,-1,0,-1]"])
    // The removed distortion had a second channel; `a` has none.
    let widened = read(
      """
      node a oscillator
      node d distortion
      node o output
      connect a -> d
      connect d -> o map=[1,0]
      """)
    #expect(cables(try edited(widened, "remove d bridge")) == ["a.out -> o.in [-1,0]"])
  }

  /// Replacing keeps name, place, remarks and cables; what lacks its port goes to the first that fits.
  @Test func replacingKeepsNamePlaceRemarksAndCables() throws {
    var start = try edited(
      patch, "comment dist \"the amp\"; layout dist 3,1; connect piano -> dist.drive gain=-9dB")
    start = try edited(
      start,
      "replace dist compressor ; connect piano -> dist.sidechain ; connect dist.reduction -> main gain=-1dB")
    #expect(start[named: "dist"]?.comments.before == ["the amp"])
    #expect(start[named: "dist"]?.place == Place(column: 3, row: 1))
    // The cable at `drive` would have doubled `piano -> dist`, so it was dropped.
    #expect(
      cables(start).filter { $0.contains("dist") } == [
        "piano.out -> dist.in -3dB", "piano.out -> dist.sidechain", "dist.out -> main.in [0,1,-1,-1]",
        "dist.reduction -> main.in -1dB",
      ])
    let after = try edited(start, "replace dist delay time=80ms")
    #expect(
      cables(after).filter { $0.contains("dist") } == [
        "piano.out -> dist.in -3dB", "dist.out -> main.in [0,1,-1,-1]",
      ])
    #expect(after.names == patch.names)
    #expect(after[named: "dist"]?.id != start[named: "dist"]?.id)
    // A source as the replacement has no inputs.
    #expect(cables(try edited(after, "replace dist oscillator")).filter { $0.contains("-> dist") } == [])
  }

  /// What moved a parameter does not become sound at an input of the new kind.
  @Test(arguments: ["dist.drive", "main[0,1]", "main.in[0]", "main.master"])
  func replacingTakesAwayWhatMovedAParameterThatTheNewKindLacks(port: String) throws {
    let name = String(port.prefix(4))
    let moved = try edited(try edited(patch, "node lfo oscillator"), "connect lfo -> \(port) by 2dB")
    #expect(cables(moved).contains { $0.hasPrefix("lfo.out -> \(port)") })
    let after = try edited(moved, "replace \(name) delay")
    #expect(!cables(after).contains { $0.hasPrefix("lfo") })
    #expect(cables(after).contains { $0.contains("-> \(name).in") })
  }

  @Test func insertingStandsInTheCableAndCarriesItsGainAndMapOn() throws {
    let after = try edited(patch, "insert eq delay time=1ms into dist -> main")
    #expect(after.names == ["keys", "piano", "dist", "eq", "main", "out"])
    #expect(cables(after).contains("dist.out -> eq.in"))
    #expect(cables(after).contains("eq.out -> main.in [0,1,-1,-1]"))
    #expect(
      cables(try edited(patch, "insert arp arpeggiator into keys -> piano")).contains("arp.out -> piano.in"))
    #expect(
      refusal(patch, "insert eq delay into keys -> piano")
        == "`delay` cannot stand in `keys.out -> piano.in`: it does not take events and send events")
    #expect(refusal(patch, "insert eq delay into keys -> main") == "no cable from `keys` to `main`")
  }

  @Test func cablesFindTheFirstPortsThatFitParametersArePortsByName() throws {
    #expect(
      cables(try edited(patch, "connect piano -> dist.mix gain=-20dB")).contains(
        "piano.out -> dist.mix -20dB"))
    #expect(
      cables(try edited(patch, "connect piano -> dist gain=-1dB")).contains("piano.out -> dist.in -1dB"))
    #expect(cables(try edited(patch, "connect dist -> dist gain=-1dB")).contains("dist.out -> dist.in -1dB"))
    #expect(
      refusal(patch, "connect keys -> dist")
        == "`keys.out` sends events, `dist.in` takes audio; events go to nodes that play notes")
    #expect(refusal(patch, "connect dist -> piano") == "`dist.out` sends audio, `piano.in` takes events")
    #expect(refusal(patch, "connect out -> dist") == "`out` has no outputs (a node of kind `output`)")
    #expect(refusal(patch, "connect piano -> main.in[0..1]")?.contains("a cable leads to one port") == true)
    #expect(
      refusal(patch, "connect keys -> piano gain=-3dB")
        == "`keys.out -> piano.in` carries events: it has no gain, map or mix")
    #expect(
      refusal(patch, "connect piano -> dist map=[0,64]")?.hasPrefix("a channel map has 1 to 64 entries")
        == true)
    #expect(refusal(patch, "connect piano -> dist gain=90dB") == "a cable's gain is -inf to 60dB, not 90dB")
  }

  @Test func whatAnEditGetsWrongIsSaidInWordsWithTheWordThatWasMeant() {
    #expect(refusal(patch, "remove pian") == "no node `pian`; did you mean `piano`?")
    #expect(refusal(patch, "node x distorton") == "no kind `distorton`; did you mean `distortion`?")
    #expect(refusal(patch, "set dist.drvie 3dB") == "`dist` has no parameter `drvie`; did you mean `drive`?")
    #expect(refusal(patch, "set dist.drive 41dB") == "`dist.drive` takes 0dB to 40dB, not 41dB")
    #expect(refusal(patch, "set dist.drive loud") == "`dist.drive` takes a number in dB, not loud")
    #expect(refusal(patch, "set dist.drive -inf") == "`dist.drive` takes 0dB to 40dB, not -inf")
    #expect(refusal(patch, "set piano.polyphony 2.5") == "`piano.polyphony` takes a whole number, not 2.5")
    #expect(refusal(patch, "set main[4,0] 0dB") == "no `main[4,0]`: `inputs` is 4; indices go from 0 to 3")
    #expect(refusal(patch, "set main.in 0dB") == "`main.in` wants an index; write `main.in[0]`")
    #expect(refusal(patch, "set dist.drive[0] 0dB") == "`dist.drive[0]` takes no index; write `dist.drive`")
    #expect(
      refusal(patch, "set main.inputs 4 over 1s") == "`main.inputs` cannot change over time; leave `over` out"
    )
    #expect(refusal(patch, "rename dist piano") == "there is a node `piano` already; choose another name")
    #expect(refusal(patch, "node a.b delay") == "`a.b` cannot be a name: letters, digits, `_` and `-` can")
    #expect(refusal(patch, "disconnect piano -> main") == "no cable from `piano` to `main`")
    let oscillator = read("node osc oscillator")
    #expect(
      refusal(oscillator, "set osc.shape sqare") == "`osc.shape` cannot be sqare; did you mean `square`?")
    #expect(
      refusal(oscillator, "set osc.shape 7")
        == "`osc.shape` cannot be 7; it is one of sine, saw, square, triangle")
  }

  @Test func isAllOrNothing() throws {
    #expect(refusal(patch, "remove dist ; remove nobody") != nil)
    let after = try edited(patch, "remove dist ; node d delay ; connect piano -> d ; connect d -> main")
    #expect(after.names == ["keys", "piano", "main", "out", "d"])
  }

  @Test func aSmallerMatrixLosesTheCrosspointsThatItNoLongerHasAndUndoBringsThemBack() throws {
    let wide = try edited(
      patch, "set main[3,1] -6dB ; set main.in[3] -2dB ; comment main[3,1] \"far corner\"")
    let narrow = try edited(wide, "set main.inputs 2")
    #expect(narrow[named: "main"]?.settings.keys.contains(ParameterPath("", [3, 1])) == false)
    #expect(narrow[named: "main"]?.settings.keys.contains(ParameterPath("", [0, 1])) == true)
  }

  @Test func aRangeOfIndicesSetsEachOfThemInOneEdit() throws {
    let after = try edited(patch, "set main[0..3,0..1] -12dB")
    let crosspoints = after[named: "main"]?.settings.filter { $0.key.name.isEmpty }
    #expect(crosspoints?.count == 8)
    #expect(crosspoints?.values.allSatisfy { $0 == .number(-12, .decibels) } == true)
  }

  @Test func aValueOverTimeIsHandedOnAsARampPlacesAndRemarksAreSilent() throws {
    func change(_ line: String) throws -> Change {
      guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
        throw EditError.noNode(line)
      }
      return try patch.applying(edit, catalogue: catalogue)
    }
    let ramp = try change("set dist.drive 24dB over 2s").ramps
    #expect(ramp.map(\.path) == [ParameterPath("drive")] && ramp.map(\.seconds) == [2])
    #expect(ramp.map(\.node) == [patch.id(named: "dist")])
    #expect(try change("layout dist 1,1 ; comment dist \"x\"").isSilent)
    #expect(try !change("layout dist 1,1 ; set dist.drive 1dB").isSilent)
  }

  @Test func aNodeRemovedWithItsTailIsGoneFromThePatchAndHandedOnToRingOut() throws {
    let plain = try patch.applying(.remove("dist", bridge: true), catalogue: catalogue)
    let edit = Edit.remove("dist", bridge: true, tail: true)
    #expect(edit.line == "remove dist bridge tail")
    let ringing = try patch.applying(edit, catalogue: catalogue)
    #expect(ringing.tails == [try #require(patch.id(named: "dist"))] && plain.tails.isEmpty)
    #expect(ringing.patch == plain.patch)
    #expect(try ringing.patch.applying(exactly: ringing.inverse, catalogue: catalogue).patch == patch)
  }

  @Test func anIdentityThatWasUndoneIsNotGivenToAnotherNodeWhichWouldInheritItsSound() throws {
    let added = try patch.applying(.add(Node(name: "a", kind: "delay"), before: nil), catalogue: catalogue)
    let undone = try added.patch.applying(exactly: added.inverse, catalogue: catalogue)
    #expect(undone.patch == patch)
    let other = try undone.patch.applying(
      .add(Node(name: "b", kind: "delay"), before: nil), catalogue: catalogue)
    #expect(other.patch[named: "b"]?.id != added.patch[named: "a"]?.id)
    let redone = try undone.patch.applying(exactly: undone.inverse, catalogue: catalogue)
    #expect(redone.patch == added.patch)
  }

  @Test func cablesAreListedByPortThenBySourceWhateverTheOrderInWhichTheyCame() {
    let lines = [
      "connect b -> c", "connect a -> c", "connect b -> c.sidechain", "connect a -> c.threshold",
      "connect a -> c.sidechain",
    ]
    let head = "node a oscillator\nnode b oscillator\nnode c compressor\n"
    let expected = [
      "a.out -> c.in", "b.out -> c.in", "a.out -> c.sidechain", "b.out -> c.sidechain",
      "a.out -> c.threshold",
    ]
    var random = SeededGenerator(seed: 5)
    for _ in 0..<10 {
      #expect(cables(read(head + lines.shuffled(using: &random).joined(separator: "\n"))) == expected)
    }
  }

  @Test func theSameWishIsTheSameEditTypedInShortInFullOrMadeByAView() throws {
    func canonical(_ line: String) throws -> String {
      guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
        return ""
      }
      return patch.canonical(edit, catalogue: catalogue).line
    }
    #expect(try canonical("connect piano.out -> main.in gain=-3.0dB") == "connect piano -> main gain=-3dB")
    #expect(try canonical("connect piano.out -> dist.mix") == "connect piano -> dist.mix")
    #expect(try canonical("disconnect piano.out -> dist.in") == "disconnect piano -> dist")
    #expect(
      try canonical("insert e delay time=0.25s into dist.out -> main.in")
        == "insert e delay time=250ms into dist -> main")
    #expect(try canonical("node e delay ; connect piano.out -> e.in") == "node e delay ; connect piano -> e")
    #expect(
      patch.canonical(
        .set("main", ParameterPath("", [0, 1]), .number(-6, .none), over: nil), catalogue: catalogue
      ).line
        == "set main[0,1] -6dB")
  }
}

import Patch
import Testing

@testable import PatchLanguage

/// Tempo, meter and transport in files, edits, differences and merges.
@Suite struct TimeTests {
  private let text = """
    sostenuto 1
    # A song.

    # Felt, not counted.
    tempo 97.5  # the demo has 98
    meter 6/8
    transport lead

    node g delay

    """

  @Test func linesAreKeptWithTheirCommentsAndDefaultsAreLeftOut() {
    let patch = read(text)
    #expect(
      patch.settings.tempo == 97.5 && patch.settings.meter == Meter(beats: 6, unit: 8)
        && patch.settings.mode == .lead)
    #expect(PatchWriter.write(patch, catalogue: catalogue) == text)
    let plain = PatchWriter.write(
      read("tempo 120\nmeter 4/4\ntransport follow\nnode g delay"), catalogue: catalogue)
    #expect(plain == "sostenuto 1\n\nnode g delay\n")
    // A comment keeps its line.
    #expect(
      PatchWriter.write(read("meter 4/4  # waltz?"), catalogue: catalogue)
        == "sostenuto 1\n\nmeter 4/4  # waltz?\n")
  }

  @Test func editsAreUndoneAndDescribeThemselves() throws {
    var patch = read(text)
    var history = History()
    for line in [
      "tempo 140.25", "meter 3/4", "transport midi", "transport off", "comment tempo \"a\" after \"b\"",
      "comment meter",
    ] {
      guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
        Issue.record("`\(line)` is no edit")
        continue
      }
      #expect(edit.line == line)
      let change = try patch.applying(edit, catalogue: catalogue)
      history.record(change, describing: edit.line, catalogue: catalogue)
      patch = change.patch
    }
    #expect(
      patch.settings.tempo == 140.25 && patch.settings.mode == .off && patch.settings.comments.count == 1)
    while let step = try history.undo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(PatchWriter.write(patch, catalogue: catalogue) == text)
  }

  @Test(arguments: [
    ("tempo 4.9", "1:7", "a tempo is 5 to 999 beats a minute, not 4.9"),
    ("tempo fast", "1:7", "`fast` is not a tempo in beats a minute"),
    (
      "meter 3/5", "1:7",
      "`3/5` is not a meter; a bar has 1 to 64 beats of a whole (1) to a 32nd (32), such as `6/8`"
    ),
    ("meter three", "1:7", "`three` is not a meter; write `3/4`"),
    ("transport folow", "1:11", "a transport cannot `folow`; did you mean `follow`?"),
    ("locate bar 0", "1:12", "`0` is not a bar; bars count from 1: `bar 5`, or `bar 5.3` for its third beat"),
    ("locate soon", "1:8", "`soon` is neither a bar nor a time; write `bar 5`, `30s` or `2m30s`"),
    ("locate -3s", "1:8", "a position is not negative"),
    ("roll on", "1:6", "`on` is too much; write `roll`"),
  ])
  func refusalsNameThePlaceAndTheWayOut(line: String, place: String, words: String) throws {
    let patch = read(text)
    do {
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      guard case .edit(let edit) = statement else {
        Issue.record("`\(line)` is understood")
        return
      }
      do {
        _ = try patch.applying(edit, catalogue: catalogue)
      } catch {
        throw StatementParser.diagnostic(for: error, in: line)
      }
      Issue.record("`\(line)` is accepted")
    } catch let error as Diagnostic {
      #expect("\(error.line):\(error.column)" == place)
      #expect(error.words == words)
    }
  }

  @Test func ordersToTheTransportAreUnderstood() throws {
    let patch = Patch()
    func order(_ line: String) throws -> TransportOrder? {
      guard case .transport(let order) = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      else {
        return nil
      }
      #expect(try StatementParser.parse(order.line, patch: patch, catalogue: catalogue) == .transport(order))
      return order
    }
    #expect(try order("roll") == .roll)
    #expect(try order("halt") == .halt)
    #expect(try order("locate bar 5") == .locate(BarPlace(bar: 5)))
    #expect(try order("locate bar 5.3") == .locate(BarPlace(bar: 5, beat: 3)))
    #expect(try order("locate 30s") == .seek(30))
    #expect(try order("locate 2m30s") == .seek(150))
    #expect(try order("locate 250ms") == .seek(0.25))
  }

  @Test func scriptsHaveTimesAndBars() {
    let (lines, faults) = Script.read(
      """
      at bar 9 undo
      at 2s redo
      panic
      at bar 5.3 roll
      halt
      at 1m1.5s undo
      at bar x roll
      at bar
      """, file: "s")
    #expect(lines.map(\.text) == ["redo", "panic", "undo", "roll", "halt", "undo"])
    #expect(lines.map(\.place?.description) == [nil, nil, nil, "5.3", "5.3", "9"])
    #expect(lines.map(\.time).prefix(3) == [2, 2, 61.5])
    #expect(lines.map(\.column) == [7, 1, 11, 12, 1, 10])
    #expect(faults.map { "\($0.line):\($0.column)" } == ["7:8", "8:7"])
  }

  @Test func aScriptIsReadWhateverItsLineEndsAndByteOrderMark() {
    for end in ["\n", "\r\n", "\r"] {
      let (lines, faults) = Script.read("\u{FEFF}at 1s undo\(end)redo # again\(end)", file: "s")
      #expect(faults.isEmpty && lines.map(\.text) == ["undo", "redo"], "\(faults)")
      #expect(lines.map(\.line) == [1, 2] && lines.map(\.column) == [7, 1])
    }
  }

  @Test func differencesAndMergesKnowThem() throws {
    let (base, faster) = (read(text), read(text.replacing("97.5", with: "99")))
    let edits = try PatchDifference.edits(from: base, to: faster, catalogue: catalogue)
    #expect(edits.map(\.line) == ["tempo 99"])
    let waltz = read(text.replacing("6/8", with: "3/4"))
    let merged = PatchMerge.merge(base: base, ours: faster, theirs: waltz, catalogue: catalogue)
    #expect(merged.conflicts.isEmpty && merged.patch.settings.tempo == 99)
    #expect(merged.patch.settings.meter == Meter(beats: 3, unit: 4))
    let slower = read(text.replacing("97.5", with: "60"))
    let torn = PatchMerge.merge(base: base, ours: faster, theirs: slower, catalogue: catalogue)
    #expect(torn.conflicts.map(\.message) == ["`tempo 99` stands here and `tempo 60` there"])
    #expect(torn.patch.settings.tempo == 99 && torn.theirs.settings.tempo == 60)
  }

  @Test func completionOffersModesBarsAndWhatIsSet() {
    func offers(_ line: String) -> [String] {
      Completion.candidates(line, patch: read(text), catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(offers("transport ") == ["follow", "lead", "midi", "off"])
    #expect(offers("locate ") == ["bar"])
    #expect(offers("tempo ") == ["97.5"] && offers("meter ") == ["6/8"])
  }
}

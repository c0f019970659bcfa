import Patch
import Testing

@testable import PatchLanguage

/// Maps of controllers in files, edits, differences and merges, and the values at a controller's positions.
@Suite struct MapTests {
  private let text = """
    sostenuto 1

    control 1 dist.time
    # The wheel.
    map in.cc1+33 -> dist.time 2s..10ms curve=log takeover=jump  # backwards
    map in.cc7@2 -> src.out -> dist.in -inf..0dB echo=motors
    map in.cc74 -> src.level
    map in.nrpn1234 -> main[0,1] mode=relative
    map in.noteC#4 -> main.mute[1,1]

    node in keyboard

    node src sampler
    connect in -> src

    node dist delay
    connect src -> dist

    node main matrix
    connect dist -> main

    node motors midiout

    """

  private func lines(_ patch: Patch) -> [String] {
    patch.settings.lines.map(\.line).filter { $0.hasPrefix("map") }
  }

  @Test func theirLinesAreKeptWithTheirCommentsInOneOrder() throws {
    let patch = read(text)
    #expect(patch.settings.maps.count == 5)
    #expect(PatchWriter.write(patch, catalogue: catalogue) == text)
    // Units, and the ports of cables, are those of the targets, whatever was written.
    var (other, history) = (patch, History())
    try perform("map in.cc9 -> src -> dist -60..0", on: &other, history: &history)
    try perform("map in.note61 -> dist.time 0.5..1s", on: &other, history: &history)
    #expect(lines(other).contains("map in.cc9 -> src.out -> dist.in -60dB..0dB"))
    #expect(lines(other).contains("map in.noteC#4 -> dist.time 500ms..1s"))
  }

  @Test func aMapFollowsNamesWaitsForWhatIsGoneAndIsUndoneExactly() throws {
    var patch = read(text)
    let start = patch
    var history = History()
    try perform("rename dist echo ; rename in wheel ; rename motors faders", on: &patch, history: &history)
    #expect(lines(patch)[0] == "map wheel.cc1+33 -> echo.time 2s..10ms curve=log takeover=jump")
    #expect(lines(patch)[1].hasSuffix("echo=faders"))
    #expect(patch.settings.comments[.map(patch.settings.maps.keys.sorted()[0])]?.after == "backwards")
    try perform("remove echo", on: &patch, history: &history)
    #expect(lines(patch).count == 5, "they wait")
    try perform("map wheel.cc74 -> src.level off", on: &patch, history: &history)
    try perform("map wheel.cc1+33 -> echo.time off", on: &patch, history: &history)
    #expect(lines(patch).count == 3)
    while let step = try history.undo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(patch == start)
    while let step = try history.redo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(lines(patch).count == 3)
  }

  @Test func twoMapsThatComeToHaveOneNameAreTwoAgainAfterUndo() throws {
    var patch = PatchReader.read(
      text + "# ghost\nmap in.cc1+33 -> ghost.time 1s..2s\nmap in.bend -> ghost.time\n", file: "",
      catalogue: catalogue
    ).patch
    let start = patch
    var history = History()
    try perform("rename dist ghost", on: &patch, history: &history)
    #expect(patch.settings.maps.count == 6)
    #expect(try #require(try history.undo(patch, catalogue: catalogue)).change.patch == start)
  }

  @Test(
    arguments: [
      ("map", "1:4", nil),
      ("map in.c74 -> src.level", "1:5", nil),
      ("map in.cc128 -> src.level", "1:5", nil),
      ("map in.cc7@17 -> src.level", "1:5", nil),
      ("map in -> src.level", "1:5", nil),
      ("map in.cc7 src.level", "1:12", nil),
      ("map on.cc7 -> src.level", "1:5", nil),
      (
        "map dist.cc7 -> src.level", "1:5",
        "`dist` hands out no events (it is of kind `delay`); nodes of the kinds `midi` and `keyboard` do"
      ),
      ("map in.cc7 -> src.instrument", "1:15", nil),
      ("map in.cc7 -> src.level 1Hz..2Hz", "1:25", nil),
      ("map in.cc7 -> src.level -6dB..99dB", "1:31", nil),
      ("map in.cc7 -> src.level -6dB", "1:25", "`-6dB` is no range; write `200Hz..8kHz`"),
      (
        "map in.cc7 -> src.level curve=log", "1:25",
        "equal ratios need a range above zero; write `curve=linear`, or another range"
      ),
      ("map in.cc7 -> src.level curve=lag", "1:31", "`curve` cannot be `lag`; did you mean `log`?"),
      ("map in.cc7 -> src.level echo=dist", "1:30", nil),
      ("map in.cc7 -> src.level kurve=log", "1:25", nil),
      ("map in.cc7 -> main[0..1,0]", "1:15", "a control turns one value"),
      ("comment map in.cc9 -> src.level x", "1:1", "there is no map `in.cc9 -> src.level`"),
    ] as [(String, String, String?)])
  func refusalsNameThePlaceAndTheWayOut(line: String, place: String, words: String?) throws {
    try expectRefusal(of: line, in: read(text), at: place, words: words)
  }

  @Test func aFileMayNameWhatIsGoneWithAWarning() {
    let (patch, diagnostics) = PatchReader.read(
      "node in keyboard\nnode g delay\nmap in.cc7 -> dist.time 1s..2s\nmap in.cc8 -> g.time\nmap on.bend -> g.time",
      file: "f", catalogue: catalogue)
    #expect(patch.settings.maps.count == 3)
    #expect(diagnostics.map { "\($0.line):\($0.column) \($0.severity)" } == ["3:15 warning", "5:5 warning"])
  }

  @Test func mergesFollowTheOtherSidesNames() throws {
    let base = read(text)
    var (ours, theirs) = (base, base)
    var history = History()
    try perform("rename dist echo ; map in.bend -> main.master", on: &ours, history: &history)
    try perform(
      "map in.cc1+33 -> dist.time 1s..2s ; map in.cc74 -> src.level off", on: &theirs, history: &history)
    let merged = PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue)
    #expect(merged.conflicts.isEmpty)
    #expect(
      lines(merged.patch) == [
        "map in.cc1+33 -> echo.time 1s..2s", "map in.cc7@2 -> src.out -> echo.in -inf..0dB echo=motors",
        "map in.nrpn1234 -> main[0,1] mode=relative", "map in.noteC#4 -> main.mute[1,1]",
        "map in.bend -> main.master",
      ])
    let edits = try PatchDifference.edits(from: base, to: merged.patch, catalogue: catalogue)
    var again = base
    for edit in edits { again = try again.applying(edit, catalogue: catalogue).patch }
    #expect(again.settings == merged.patch.settings)
    try perform("map in.cc1+33 -> echo.time off", on: &ours, history: &history)
    #expect(!PatchMerge.merge(base: base, ours: ours, theirs: theirs, catalogue: catalogue).conflicts.isEmpty)
  }

  @Test func completionLeadsThroughTheLine() {
    let patch = read(text)
    func offers(_ line: String) -> [String] {
      Completion.candidates(line, patch: patch, catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(offers("map ") == ["in."])
    #expect(Set(offers("map in.")).isSuperset(of: ["in.cc74", "in.bend", "in.nrpn1234"]))
    #expect(offers("map in.cc74 ") == ["->"])
    #expect(Set(offers("map in.cc74 -> ")).isSuperset(of: ["dist.", "main[", "src"]))
    #expect(offers("map in.cc74 -> dist.ti") == ["dist.time"])
    #expect(Set(offers("map in.cc74 -> dist.time ")).isSuperset(of: ["0s..10s", "off", "curve="]))
    #expect(Set(offers("map in.cc74 -> dist.time curve=")).isSuperset(of: ["curve=log", "curve=s"]))
    #expect(offers("map in.cc74 -> dist.time echo=") == ["echo=motors"])
    #expect(Set(offers("map in.cc74 -> src -> dist ")).isSuperset(of: ["curve=", "mode="]))
  }

  private func scale(_ line: String) throws -> MapScale {
    guard
      case .edit(.setPatch(.map(let name, let course?))) = try StatementParser.parse(
        line, patch: read(text), catalogue: catalogue)
    else { throw EditError.noControl(0) }
    return try read(text).scale(of: name, course, catalogue: catalogue)
  }

  @Test func positionsAreTheValuesThatMusiciansExpect() throws {
    func values(_ line: String, _ positions: [Int]) throws -> [String] {
      let scale = try scale(line)
      return positions.map { scale.value(at: $0).line }
    }
    // Both ends exactly, the middle at 64, and a level from silence.
    #expect(try values("map in.cc7 -> src.level", [0, 64, 127]) == ["-inf", "-27dB", "6dB"])
    #expect(try values("map in.cc7 -> src.level 0dB..-24dB", [0, 64, 127]) == ["0dB", "-12dB", "-24dB"])
    #expect(
      try values("map in.bend -> src.tune", [0, 8192, 16383]) == ["-1200cents", "0cents", "1200cents"])
    #expect(
      try values("map in.cc7 -> dist.time 10ms..1s curve=log", [0, 64, 127]) == ["10ms", "100ms", "1s"])
    #expect(try values("map in.cc7 -> dist.time 10ms..1s", [64]) == ["100ms"], "usual for times")
    #expect(try values("map in.cc7 -> dist.time 0s..1s curve=square", [64]) == ["250ms"])
    #expect(try values("map in.cc7 -> dist.time 1s..0s curve=s", [0, 64, 127]) == ["1s", "500ms", "0s"])
    #expect(
      try values("map in.cc7 -> main.mute[0,0] on..off", [0, 63, 64, 127]) == ["on", "on", "off", "off"])
    let words = try values("map in.cc7 -> src.level", Array(0...127))
    #expect(Set(words).count == 128)
  }

  @Test(arguments: ["cc7", "cc7+39", "bend"])
  func positionsAndValuesAreInversesAndGoOneWay(_ source: String) throws {
    for course in [
      "", "0dB..-60dB", "-60dB..0dB curve=s", "-inf..24dB curve=root", "-6dB..-inf curve=square",
    ] {
      let scale = try scale("map in.\(source) -> src.level \(course)")
      var last: Double?
      var direction = 0.0
      for position in 0...scale.most {
        guard case .number(let number, _) = scale.value(at: position) else { continue }
        if let last, number != last {
          #expect(direction == 0 || (number - last).sign == direction.sign, "\(course) turns at \(position)")
          direction = number - last
        }
        last = number
        let back = try #require(scale.position(of: .number(number, .decibels)))
        #expect(scale.value(at: back) == scale.value(at: position), "\(course) at \(position)")
      }
    }
  }
}

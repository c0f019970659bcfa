import Patch
import PatchLanguage
import Testing

/// Where a mistake is.
@Suite struct PlaceTests {
  /// Positions of all diagnostics, as line:column.
  private func places(_ text: String) -> [String] {
    PatchReader.read(text, file: "", catalogue: catalogue).diagnostics.map { "\($0.line):\($0.column)" }
  }

  @Test func itIsTheSameWhateverEndsTheLines() {
    let text = "sostenuto 1\nnode a delay  # é\nset a.tim 3s\nnode b dist 3\nconnect a -> c\nset a.time [1s"
    let plain = places(text)
    #expect(plain == ["3:7", "4:13", "5:14", "6:12"])
    #expect(places(text.replacing("\n", with: "\r\n")) == plain)
  }

  @Test(arguments: [
    ("node m matrix ; connect m -> m map=[0,1,x]", 41),
    ("node m matrix ; connect m -> m map=[ 0 , 1.5 ]", 42),
    ("node m matrix ; layout m 3,x", 28), ("node m matrix ; set m[0,x] 0dB", 25),
    ("node m matrix ; set m[ 0, 1x ] 0dB", 27), ("node o oscillator ; set o.freq [1kHz,2kHz,3dB]", 43),
    ("node m matrix ; connect m -> m map=[0,9]", 39),
  ])
  func ofAListItIsTheElementThatIsWrong(line: String, column: Int) {
    #expect(places(line) == ["1:\(column)"])
  }

  @Test func whatALinePlaysMayBeMadeByAnEditBeforeIt() throws {
    let patch = read(example)
    func parse(_ line: String) throws -> Statement {
      try StatementParser.parse(line, patch: patch, catalogue: catalogue)
    }
    #expect(
      try parse("node q player ; play q")
        == .sequence([
          .edit(.add(Node(name: "q", kind: "player"), before: nil)),
          .perform(Performance("q", .play(at: nil))),
        ]))
    _ = try parse("rename piano p ; note p on C4 ; remove p")
    for line in [
      "play q ; node q player", "remove piano ; note piano on C4", "rename piano p ; note piano on C4",
    ] {
      #expect(throws: Diagnostic.self) { try parse(line) }
    }
    // Only the edit is wrong here, and applying it will say so.
    _ = try parse("node piano player ; play piano")
  }

  @Test(arguments: [
    "a\u{202E}b", "a\u{200B}", "\u{2066}a", "a\u{FE0F}", "a\u{200D}b", "a\u{AD}b", "a\u{9B}b", "a\u{7F}",
    "a\u{2800}",
    "a\u{E0061}", "\u{3164}", "a\u{34F}", "a\u{61C}", "a\u{FEFF}",
  ])
  func aNameThatCannotBeSeenAsItIsIsRefused(name: String) throws {
    #expect(NodeName.fault(in: name) != nil)
    let reading = PatchReader.read("node \(name) gain\n", file: "", catalogue: catalogue)
    #expect(reading.patch.nodes.isEmpty)
    for diagnostic in reading.diagnostics {
      #expect(!diagnostic.description.unicodeScalars.contains(where: Visible.isHidden))
    }
    // A text value may contain the character, and shows it escaped.
    let patch = try edited(read("node p player"), "set p.file \"\(name).wav\"")
    let text = PatchWriter.write(patch, catalogue: catalogue)
    #expect(Visible.isPlain(text.filter { $0 != "\n" }))
    #expect(read(text).withPlainIdentities == patch.withPlainIdentities)
  }

  @Test(arguments: ["é", "ピアノ", "клавиши", "דיסט", "e\u{301}", "🎹", "नोट"])
  func namesOfAllLanguagesAreNames(name: String) {
    #expect(NodeName.fault(in: name) == nil)
  }
}

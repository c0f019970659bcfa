import Patch
import PatchLanguage
import Testing

/// The example of the design, unordered as a person types it.
let example = """
  sostenuto 1
  node keys  keyboard
  node piano sampler instrument=samples/upright.sfz polyphony=32
  node dist  distortion drive=18dB
  node main  matrix inputs=4 outputs=2
  node out   output channels=2
  connect keys -> piano                  # a node's first fitting ports, or node.port
  connect piano -> dist gain=-3dB
  connect dist -> main map=[0,1,-1,-1]
  connect main -> out
  set main[0,1] -6dB                     # crosspoint: input 0, output 1
  set main.in[0] -1dB ; set main.out[1] -3dB ; set main.master -6dB
  """

func read(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> Patch {
  let (patch, diagnostics) = PatchReader.read(text, file: "test.patch", catalogue: catalogue)
  #expect(diagnostics == [], sourceLocation: sourceLocation)
  return patch
}

/// Reading and writing patch files.
@Suite struct ReaderTests {
  @Test func theDesignsExampleIsSavedAsOneParagraphANodeWithoutDefaults() {
    let text = PatchWriter.write(read(example), catalogue: catalogue)
    #expect(
      text == """
        sostenuto 1

        node keys keyboard

        node piano sampler instrument=samples/upright.sfz polyphony=32
        connect keys -> piano  # a node's first fitting ports, or node.port

        node dist distortion drive=18dB
        connect piano -> dist gain=-3dB

        node main matrix inputs=4 master=-6dB
        connect dist -> main map=[0,1,-1,-1]
        set main.in[0] -1dB
        set main.out[1] -3dB
        set main[0,1] -6dB  # crosspoint: input 0, output 1

        node out output
        connect main -> out

        """)
    #expect(PatchWriter.write(read(text), catalogue: catalogue) == text)
    #expect(read(text).withPlainIdentities == read(example).withPlainIdentities)
  }

  @Test func tenErrorsOnTenLinesAreAllReportedEachWithItsPlaceAndAHint() {
    let text = """
      sostenuto 1
      nod keys keyboard
      node piano sampler polyphony=900
      node piano sampler
      node dist distortion driv=3dB
      connect pian -> dist
      connect piano.outt -> dist
      set dist.drive 3Hz
      set dist.drive "18dB
      node main matrix inputs=2 [5,0]=0dB
      remove dist
      """
    let (patch, diagnostics) = PatchReader.read(text, file: "bad.patch", catalogue: catalogue)
    #expect(
      diagnostics.map(\.description) == [
        "bad.patch:2:1: error: no verb `nod`; did you mean `node`?",
        "bad.patch:3:30: error: `piano.polyphony` takes 1 to 256, not 900",
        "bad.patch:4:6: error: there is a node `piano` already; choose another name, or `replace` it",
        "bad.patch:5:22: error: `dist` has no parameter `driv`; did you mean `drive`?",
        "bad.patch:6:9: error: no node `pian`; did you mean `piano`?",
        "bad.patch:7:9: error: `piano` has no output `outt`; did you mean `out`?",
        "bad.patch:8:16: error: `dist.drive` is counted in dB, not Hz; it takes 0dB to 40dB",
        "bad.patch:9:16: error: the quotes are not closed",
        "bad.patch:10:27: error: no `main[5,0]`: `inputs` is 2; indices go from 0 to 1",
        "bad.patch:11:1: error: `remove` does not belong in a patch file; a file holds node, connect, set, layout, tempo, meter, transport, control, map, publish and scene lines; scripts hold the rest",
      ])
    #expect(patch.names == ["piano", "dist", "main"])
  }
}

extension ReaderTests {
  @Test func commentsStayWithWhatTheyAreAbout() throws {
    let text = """
      # My patch
      # in two lines
      sostenuto 1  # by hand
      #
      # still the head

      # the amp,
      #   with feeling
      node dist distortion  # loud
      # into itself
      connect dist -> dist.mix gain=-6dB  # quietly
      # on a line of its own
      set dist.drive 3dB  # not much
      # where it stands
      layout dist 3,1  # left

      # the end
      """
    let patch = read(text)
    #expect(patch.header == ["My patch", "in two lines", "by hand", "", "", "still the head"])
    let dist = try #require(patch[named: "dist"])
    #expect(dist.comments == Comments(before: ["the amp,", "  with feeling"], after: "loud"))
    #expect(dist.lineComments[.setting(ParameterPath("drive"))]?.after == "not much")
    #expect(dist.lineComments[.layout] == Comments(before: ["where it stands"], after: "left"))
    #expect(patch.footer == ["the end"])
    let written = PatchWriter.write(patch, catalogue: catalogue)
    #expect(written.contains("# into itself\nconnect dist -> dist.mix gain=-6dB  # quietly\n"))
    #expect(written.contains("# on a line of its own\nset dist.drive 3dB  # not much\n"))
    #expect(read(written).withPlainIdentities == patch.withPlainIdentities)
  }

  @Test func aNodeOfAnUnknownKindIsKeptWithItsSettingsAndCablesAndSavingKeepsIt() throws {
    let text = """
      sostenuto 1

      node keys keyboard

      node magic wonderbox amount=0440 file="my file.x" list=[1,two] shape="18dB"
      connect keys -> magic
      connect main -> magic.side gain=-3dB
      set magic.in[3] -2

      node main matrix
      connect magic -> main
      connect magic.out2 -> main.master map=[1]

      """
    let (patch, diagnostics) = PatchReader.read(text, file: "p", catalogue: catalogue)
    #expect(diagnostics.map(\.severity) == [.warning])
    #expect(
      diagnostics.first?.description.hasPrefix(
        "p:5:12: warning: no kind `wonderbox`: `magic` is a placeholder") == true)
    let written = PatchWriter.write(patch, catalogue: catalogue)
    #expect(
      PatchReader.read(written, file: "p", catalogue: catalogue).patch.withPlainIdentities
        == patch.withPlainIdentities)
    #expect(written.contains("amount=0440") && written.contains("connect magic.out2 -> main.master map=[1]"))
    #expect(patch.cables.count == 4)
    // An unknown node can be rewired, removed and restored like any other.
    try edited(patch, "remove magic bridge")
    try edited(patch, "replace magic sampler")
    try edited(patch, "set magic.amount 3 ; disconnect keys -> magic")
    try edited(patch, "rename magic wand")
  }

  @Test func aFileIsReadWhateverItsLineEndsOrderAndByteOrderMark() {
    let patch = read(
      "\u{FEFF}sostenuto 1\r\nconnect a -> b\r\nset b.drive 3dB\r\nnode a oscillator\r\nnode b distortion\r\n"
    )
    #expect(patch.cables.count == 1 && patch[named: "b"]?.settings.count == 1)
    // Old editors end lines with CR alone: the comment is one line, and the rest is no part of it.
    let lines = "# of old\rsostenuto 1\r\rnode a oscillator  # first\rnode b distortion\rconnect a -> b"
    let old = read(lines)
    #expect(old.header == ["of old"] && old.names == ["a", "b"] && old.cables.count == 1)
    #expect(old[named: "a"]?.comments.after == "first")
    let (_, diagnostics) = PatchReader.read(
      "sostenuto 1\rfrobnicate\r", file: "f", catalogue: catalogue)
    #expect(diagnostics.map(\.line) == [2])
  }

  @Test func whatAFileCannotHoldOrSaysTwiceIsReported() {
    func words(_ text: String) -> [String] {
      PatchReader.read(text, file: "f", catalogue: catalogue).diagnostics.map(\.description)
    }
    #expect(
      words("sostenuto 2\n") == [
        "f:1:11: error: this program reads version 1, not `2`; the first line is `sostenuto 1`"
      ])
    #expect(
      words("node a delay\nnode b delay\nconnect a -> b\nconnect a.out -> b.in gain=-3dB") == [
        "f:4:1: warning: `a -> b` is connected already; the last line counts"
      ])
    #expect(
      words("node a delay\nset a.time 1s over 2s") == [
        "f:2:15: error: `over` has no meaning in a file; leave it out"
      ])
    #expect(
      words("node a delay\nnote a on C4")[0].hasPrefix("f:2:1: error: `note` does not belong in a patch file")
    )
    // One mistake is one message: lines that name the broken node are not reported as well.
    #expect(
      words("node a delay time=\"x\nset a.time 1s\nconnect a -> a") == [
        "f:1:19: error: the quotes are not closed"
      ])
    // Two mistakes on a line are two messages.
    #expect(words("node a delay time=99s tme=1").count == 2)
  }

  @Test func aThousandErrorsAreAThousandMessagesInOrder() {
    let text = "node a delay\n" + (0..<1000).map { "connect a -> missing\($0)\n" }.joined()
    let (_, diagnostics) = PatchReader.read(text, file: "f", catalogue: catalogue)
    #expect(diagnostics.count == 1000)
    #expect(diagnostics.map(\.line) == Array(2...1001))
    #expect(diagnostics.allSatisfy { $0.message == "no node `missing\($0.line - 2)`" && $0.column == 14 })
  }

  @Test func aMixOfAThousandCablesIsRemovedBridgedAndBroughtBack() throws {
    let nodes = (0..<1000).map { "node o\($0) oscillator\nconnect o\($0) -> sum\n" }.joined()
    let patch = read("node sum distortion\nnode out output\nconnect sum -> out gain=-6dB\n" + nodes)
    #expect(patch.cables.count == 1001)
    #expect(try edited(patch, "remove sum").cables.isEmpty)
    let bridged = try edited(patch, "remove sum bridge")
    #expect(bridged.cables.count == 1000 && bridged.cables.values.allSatisfy { $0.gain == -6 })
  }
}

import Patch
import TestSupport
import Testing

@testable import PatchLanguage

/// Ports of elements: `connect lfo -> main[0,1] by 6dB`.
@Suite struct ElementPortTests {
  private let text = """
    sostenuto 1

    node lfo oscillator

    node main matrix inputs=3 outputs=12
    connect lfo -> main
    connect lfo -> main.in[0] by 12dB
    connect lfo -> main.out[11]
    connect lfo -> main[0,1] by 6dB offset=1dB curve=log gain=-3dB
    connect lfo -> main[0,2]
    connect lfo -> main[0,11]
    connect lfo -> main[2,0]
    connect lfo -> main.master

    """

  @Test func itsLinesStayAsTheyWereInTheOrderOfTheElements() {
    #expect(PatchWriter.write(read(text), catalogue: catalogue) == text)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let turned = lines[..<5] + lines[5..<13].reversed() + lines[13...]
    #expect(PatchWriter.write(read(turned.joined(separator: "\n")), catalogue: catalogue) == text)
  }

  @Test func theAudioInputKeepsItsName() throws {
    var (patch, history) = (read(text), History())
    try perform("disconnect lfo -> main.in", on: &patch, history: &history)
    #expect(!PatchWriter.write(patch, catalogue: catalogue).contains("-> main\n"))
    try perform("disconnect lfo -> main.in[0]", on: &patch, history: &history)
    #expect(!PatchWriter.write(patch, catalogue: catalogue).contains("in[0]"))
    while let step = try history.undo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(PatchWriter.write(patch, catalogue: catalogue) == text)
  }

  @Test(
    arguments: [
      ("connect lfo -> main[3,0]", "1:16", "no `main[3,0]`: `inputs` is 3; indices go from 0 to 2"),
      ("connect lfo -> main.out[12]", "1:16", "no `main.out[12]`: `outputs` is 12; indices go from 0 to 11"),
      ("connect lfo -> main[0]", "1:16", "`main[0]` wants two indices; write `main[0,0]`"),
      ("connect lfo -> main.out", "1:16", "`main.out` wants an index; write `main.out[0]`"),
      ("connect lfo -> main.master[0]", "1:16", "`main.master[0]` takes no index; write `main.master`"),
      ("connect lfo -> main[0..1,0]", "1:16", nil), ("connect lfo -> main[]", "1:20", nil),
      ("connect lfo -> main[0,x]", "1:23", nil), ("connect lfo -> main.mute[0,0]", "1:16", nil),
      (
        "connect lfo -> lfo[0,0]", "1:16",
        "`lfo` has no crosspoints; kind `oscillator` has shape, freq, level, channels"
      ),
      ("connect lfo -> main[0,0] by 6oct", "1:29", nil), ("connect lfo.out[0] -> main", "1:9", nil),
      ("disconnect lfo -> main[1,1]", "1:19", nil),
    ] as [(String, String, String?)])
  func refusalsNameThePlace(line: String, place: String, words: String?) throws {
    try expectRefusal(of: line, in: read(text), at: place, words: words)
  }

  /// Fewer inputs or outputs take the cables along, in one step of the history.
  @Test func resizingDropsTheCablesOfWhatGoes() throws {
    for line in [
      "set main.outputs 2", "set main.inputs 1", "replace main matrix inputs=2 outputs=2",
      "replace main delay",
    ] {
      var (patch, history) = (read(text), History())
      try perform(line, on: &patch, history: &history)
      let written = PatchWriter.write(patch, catalogue: catalogue)
      let (again, diagnostics) = PatchReader.read(written, file: "", catalogue: catalogue)
      #expect(diagnostics.isEmpty, "\(line): \(diagnostics.map(\.words))")
      #expect(PatchWriter.write(again, catalogue: catalogue) == written)
      #expect(!written.contains("main[0,11]") || line.contains("inputs 1"))
      #expect(!written.contains("main[2,0]") || line.contains("outputs 2"))
      let edits = try PatchDifference.edits(from: read(text), to: patch, catalogue: catalogue)
      #expect(!edits.isEmpty)
      let step = try #require(try history.undo(patch, catalogue: catalogue))
      #expect(PatchWriter.write(step.change.patch, catalogue: catalogue) == text, "\(line)")
    }
  }

  /// Cables to elements, sizes, kinds and names at random: what is written reads back, and undo leads back step by step.
  @Test(arguments: manyLawSeeds)
  func anyEditsReadBackAndAreUndone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var (patch, history) = (read(text), History())
    var states = [PatchWriter.write(patch, catalogue: catalogue)]
    for _ in 0..<60 {
      let name = patch.names.last ?? "main"
      let (i, j) = (Int.random(in: 0...3, using: &random), Int.random(in: 0...3, using: &random))
      let port = ["[\(i),\(j)]", ".in[\(i)]", ".out[\(j)]", ".master"].randomElement(using: &random)!
      let line: String
      switch Int.random(in: 0..<8, using: &random) {
      case 0: line = "set \(name).inputs \(i + 1)"
      case 1: line = "set \(name).outputs \(j + 1)"
      case 2:
        line =
          "replace \(name) \(["delay", "matrix", "matrix inputs=4 outputs=4", "matrix inputs=1"].randomElement(using: &random)!)"
      case 3: line = "rename \(name) m\(i)"
      case 4: line = "disconnect lfo -> \(name)\(port)"
      default:
        line =
          "connect lfo -> \(name)\(port)\(["", " by 6dB", " by -3dB offset=1dB"].randomElement(using: &random)!)"
      }
      guard (try? perform(line, on: &patch, history: &history)) != nil else { continue }
      let written = PatchWriter.write(patch, catalogue: catalogue)
      let (again, diagnostics) = PatchReader.read(written, file: "", catalogue: catalogue)
      #expect(diagnostics.isEmpty, "\(line): \(diagnostics.map(\.words))")
      #expect(PatchWriter.write(again, catalogue: catalogue) == written, "\(line)")
      var there = read(states[states.count - 1])
      for edit in try PatchDifference.edits(from: there, to: patch, catalogue: catalogue) {
        there = try there.applying(edit, catalogue: catalogue).patch
      }
      #expect(PatchWriter.write(there, catalogue: catalogue) == written, "\(line)")
      states.append(written)
    }
    while let step = try history.undo(patch, catalogue: catalogue) {
      patch = step.change.patch
      states.removeLast()
      #expect(PatchWriter.write(patch, catalogue: catalogue) == states.last)
    }
    #expect(states.count == 1)
  }

  @Test func tabLeadsToTheElement() {
    let patch = read(text)
    func offered(_ line: String) -> [String] {
      Completion.candidates(line, patch: patch, catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(offered("connect lfo -> main").contains("main["))
    #expect(offered("connect lfo -> main[") == ["main[0,", "main[1,", "main[2,"])
    #expect(offered("connect lfo -> main[1,").contains("main[1,11]"))
    #expect(offered("connect lfo -> main.").contains("main.in["))
    #expect(offered("connect lfo -> main.in[") == ["main.in[0]", "main.in[1]", "main.in[2]"])
    #expect(offered("connect lfo -> main[0,1] ").contains("by"))
    #expect(offered("connect lfo -> main[0,1] by ") == ["6dB"])
    #expect(offered("disconnect lfo -> main[").contains("main[0,1]"))
  }
}

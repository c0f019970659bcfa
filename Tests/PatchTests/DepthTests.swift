import Patch
import Testing

@testable import PatchLanguage

/// Depth of a modulation: `by 2oct` behind a cable into a parameter.
@Suite struct DepthTests {
  private let text = """
    sostenuto 1

    node lfo oscillator

    node tone oscillator
    connect lfo -> tone.freq by 2oct

    node loud sampler
    connect lfo -> loud.tune by 7st gain=-3dB

    node dist delay
    connect tone -> dist
    connect lfo -> dist.time by -10ms map=[0]

    """

  @Test func itsLineStaysAsItWas() {
    #expect(PatchWriter.write(read(text), catalogue: catalogue) == text)
  }

  @Test func aNumberWithoutAUnitHasTheParametersAndEveryUnitIsKept() throws {
    var (patch, history) = (read(text), History())
    for (typed, kept) in [
      ("by 200", " by 200Hz"), ("by -1.5kHz", " by -1.5kHz"), ("by 50ct", " by 50cents"),
      ("by 0.5OCT", " by 0.5oct"),
      ("", ""), ("by 0oct gain=2dB", " by 0oct gain=2dB"),
      ("by 200 offset=-50 curve=linear", " by 200Hz offset=-50Hz"),
      ("by 1oct curve=s gain=-3dB offset=2", " by 1oct offset=2oct curve=s gain=-3dB"),
      ("by 7st offset=0st curve=log", " by 7st curve=log"),
      ("by 1oct offset=-50ct", " by 1oct offset=-50cents"),
    ] {
      try perform("connect lfo -> tone.freq \(typed)", on: &patch, history: &history)
      #expect(
        PatchWriter.write(patch, catalogue: catalogue)
          == text.replacing("connect lfo -> tone.freq by 2oct", with: "connect lfo -> tone.freq\(kept)"))
    }
    while let step = try history.undo(patch, catalogue: catalogue) { patch = step.change.patch }
    #expect(PatchWriter.write(patch, catalogue: catalogue) == text)
  }

  /// What a signal of 1 does: octaves that multiply, or a number in the engine's unit.
  @Test(
    arguments: [
      ("lfo -> tone.freq by 2oct", 2, true), ("lfo -> tone.freq by 6st", 0.5, true),
      ("lfo -> tone.freq by -300cents", -0.25, true), ("lfo -> tone.freq by 2kHz", 2000, false),
      ("lfo -> tone.level by -6dB", -0.996578, true), ("lfo -> dist.time by 10ms", 0.01, false),
      ("lfo -> loud.tune by 1oct", 1200, false),
      ("lfo -> loud.tune by 2st", 200, false),
    ] as [(String, Double, Bool)])
  func theEngineGetsOctavesOrItsOwnUnit(line: String, amount: Double, isRatio: Bool) throws {
    var (patch, history) = (read(text), History())
    try perform("connect \(line)", on: &patch, history: &history)
    let cable = try #require(
      patch.cables.values.first { line.hasPrefix("lfo -> \(patch.name(of: $0.ends).destination) ") })
    let depth = try #require(patch.depth(of: cable, catalogue: catalogue))
    #expect(abs(Double(depth.amount) - amount) < 1e-6 * max(abs(amount), 1) && depth.isRatio == isRatio)
  }

  @Test(
    arguments: [
      (
        "connect lfo -> tone.freq by 6dB", "1:29",
        "a cable does not move `tone.freq` by `6dB`; write `100Hz`, `2oct`, `7st` or `50cents`"
      ),
      ("connect lfo -> tone.freq by -inf", "1:29", nil), ("connect lfo -> tone.freq by 21oct", "1:29", nil),
      ("connect lfo -> tone.freq by", "1:28", nil), ("connect lfo -> tone.freq by far", "1:29", nil),
      ("connect lfo -> tone.freq by 2oct by 3oct", "1:34", nil),
      (
        "connect lfo -> tone.freq by 2oct offset=200Hz", "1:41",
        "an offset of `200Hz` does not go with `by 2oct`; write `2oct`, `7st` or `50cents`"
      ),
      (
        "connect lfo -> tone.freq by 200Hz offset=1oct", "1:42",
        "an offset of `1oct` does not go with `by 200Hz`; write `100Hz`"
      ),
      ("connect lfo -> tone.freq by 2oct offset=30oct", "1:41", "an offset of `30oct` is too far"),
      (
        "connect lfo -> tone.freq offset=1oct", "1:26",
        "`offset` wants a depth before it; write `by 2oct` and then the rest"
      ),
      (
        "connect lfo -> tone.freq by 2oct curve=lag", "1:40",
        "`curve` cannot be `lag`; did you mean `log`?"
      ),
      ("connect tone -> dist by 2 curve=log", "1:22", nil),
      (
        "connect tone -> dist by 2oct", "1:22",
        "`by` is the depth of a modulation, and `dist.in` is no parameter"
      ),
    ] as [(String, String, String?)])
  func refusalsNameThePlaceAndTheWayOut(line: String, place: String, words: String?) throws {
    try expectRefusal(of: line, in: read(text), at: place, words: words)
  }

  @Test func mergesJoinADepthWithAGainAndTellOfTwoDepths() {
    let base = read(text)
    func changed(_ line: String) -> Patch {
      read(text.replacing("connect lfo -> tone.freq by 2oct", with: line))
    }
    let merged = PatchMerge.merge(
      base: base, ours: changed("connect lfo -> tone.freq by 3oct"),
      theirs: changed("connect lfo -> tone.freq by 2oct gain=-6dB"), catalogue: catalogue)
    #expect(merged.conflicts.isEmpty)
    #expect(
      PatchWriter.write(merged.patch, catalogue: catalogue).contains(
        "connect lfo -> tone.freq by 3oct gain=-6dB\n"))
    let torn = PatchMerge.merge(
      base: base, ours: changed("connect lfo -> tone.freq by 3oct"),
      theirs: changed("connect lfo -> tone.freq by 1oct"), catalogue: catalogue)
    #expect(
      torn.conflicts.map(\.message) == ["the depth of `lfo.out -> tone.freq` is 3oct here and 1oct there"])
  }

  /// A kind with another unit at the port, or no parameter there, takes the depth away until undo.
  @Test func replacingTheNodeDropsADepthThatDoesNotFitAndUndoBringsItBack() throws {
    for kind in ["sampler", "delay", "keyboard", "oscillator", "matrix"] {
      for name in ["tone", "loud", "dist"] {
        var (patch, history) = (read(text), History())
        try perform("replace \(name) \(kind)", on: &patch, history: &history)
        let (_, diagnostics) = PatchReader.read(
          PatchWriter.write(patch, catalogue: catalogue), file: "", catalogue: catalogue)
        #expect(diagnostics.isEmpty, "\(name) \(kind): \(diagnostics.map(\.words))")
        patch = try #require(try history.undo(patch, catalogue: catalogue)).change.patch
        #expect(PatchWriter.write(patch, catalogue: catalogue) == text, "\(name) \(kind)")
      }
    }
  }

  @Test func tabOffersByAndTheUnits() {
    let patch = read(text)
    func offered(_ line: String) -> [String] {
      Completion.candidates(line, patch: patch, catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(offered("connect lfo -> tone.freq ").first == "by")
    #expect(offered("connect lfo -> tone.freq by ") == ["100Hz", "2oct", "7st", "50cents"])
    #expect(offered("connect lfo -> tone.level by ") == ["6dB"])
    #expect(!offered("connect tone -> dist ").contains("by"))
    #expect(offered("connect lfo -> tone.freq by 2oct ga") == ["gain="])
    #expect(offered("connect lfo -> tone.freq by 2oct ").prefix(2) == ["offset=", "curve="])
    #expect(offered("connect lfo -> tone.freq by 2oct offset=1oct c") == ["curve="])
    #expect(offered("connect lfo -> tone.freq by 2oct curve=s") == ["curve=square", "curve=s"])
    #expect(!offered("connect lfo -> tone.freq ").contains("offset="))
  }
}

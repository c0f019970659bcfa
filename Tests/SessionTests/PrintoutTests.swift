import Engine
import Foundation
import Patch
import TestSupport
import Testing

@testable import Session

/// The expected printouts show the layout as users see it. The graph is `osc -> filt -> mixer -> out`, with
/// `mixer -> d -> mixer` as feedback, and `lone` unconnected.
@Suite @MainActor struct PrintoutTests {
  private func session() throws -> Session {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    let session = Session(options: options)
    try session.perform(
      "node osc oscillator ; node filt filter ; node mixer mix ; node d delay ; node out output ; node lone gain"
    )
    try session.perform(
      "connect osc -> filt gain=-6dB ; connect filt -> mixer ; connect mixer -> d ; connect d -> mixer ; connect mixer -> out map=[1,0]"
    )
    for _ in 0..<20 { try session.renderOneBlock() }
    return session
  }

  @Test(arguments: [1, 2, 3, 9])
  func numbersAreRoundedAsPrintfRoundsThemTiesAndAll(digits: Int) {
    var random = SeededGenerator(seed: UInt64(digits))
    var values = [
      0, -0.0, 0.05, 0.25, 0.35, 1.005, 2.5, 0.0005, 0.99951, 0.9995, 999.9995, .leastNonzeroMagnitude,
      9.2e18, 1e-20,
    ]
    for power in 0..<1100 { values.append(Double(sign: .plus, exponent: power % 63 - 60, significand: 1.5)) }
    for _ in 0..<20_000 {
      let quarters = Double(Int.random(in: 0..<1 << 40, using: &random))
      values += [quarters / 4, quarters / 48000, quarters / 1_048_576, quarters / 1000, quarters / 2000]
      values.append(
        Double(
          sign: .minus, exponent: Int.random(in: -70..<63, using: &random), significand: 1 + quarters / 0x1p40
        ))
    }
    for value in values {
      #expect(Printout.exact(value, digits) == String(format: "%.\(digits)f", value))
    }
  }

  @Test func aChannelMapIsDrawnWhatASourceHasWhatADestinationGetsAndLinesBetweenThem() {
    let drawings: [([Int], Int, String)] = [
      (
        [-1, -1, 0, 1], 2,
        """
        [ 0,  1]          out of pair
          │   ╰───────╮
          ╰───────╮   │
        [-1, -1,  0,  1]  into out
        """
      ),
      (
        [1, 0], 2,
        """
        [ 0,  1]  out of pair
          │   ╰─╮
          ╰───╮ │
          ╭───│─╯
        [ 1,  0]  into out
        """
      ),
      (
        [0, 0], 1,
        """
        [ 0]      out of pair
          ├───╮
        [ 0,  0]  into out
        """
      ),
    ]
    for (map, count, drawing) in drawings {
      let lines = MapDiagram(ChannelMap(map), from: count).lines(from: "out of pair", to: "into out")
      #expect(lines.joined(separator: "\n") == drawing)
    }
  }

  @Test func itBeginsAtTheOutputsAndGoesUpwardsAndWhatNobodyHearsStandsApart() throws {
    let lines = Printout.lines(try session().report)
    let heads = lines.filter { $0.role == .node || $0.role == .heading }.map {
      $0.role == .heading ? $0.text : String($0.text.prefix { $0 != " " })
    }
    #expect(
      heads == [
        "******** output chain ********", "out", "mixer", "d", "filt", "osc",
        "******** not heard at any output ********", "lone",
      ]
        || heads == [
          "******** output chain ********", "out", "mixer", "filt", "d", "osc",
          "******** not heard at any output ********", "lone",
        ])
  }

  /// What is inside is heard; the box itself carries no sound.
  @Test func aSubPatchStandsBesideWhatIsHeardAndWhatIsNot() throws {
    let session = try session()
    try session.perform("collapse filt into box")
    try session.renderOneBlock()
    let heads = Printout.lines(session.report).filter { $0.role == .node || $0.role == .heading }.map {
      $0.role == .heading ? $0.text : String($0.text.prefix { $0 != " " })
    }
    #expect(heads.contains("box/filt"))
    #expect(
      heads.suffix(4) == [
        "******** not heard at any output ********", "lone", "******** sub-patches ********", "box",
      ])
  }

  @Test func whatFollowsNamesOfWideCharactersStandsInOneColumn() throws {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    let session = Session(options: options)
    try session.perform("node 音楽 oscillator ; node plain gain ; node out output")
    try session.perform("connect 音楽 -> plain ; connect plain -> out")
    try session.renderOneBlock()
    let heads = Printout.lines(session.report).filter { $0.role == .node }.map(\.text)
    let places = heads.compactMap { head in
      head.firstIndex(of: "{").map { Printout.columns(String(head[..<$0])) }
    }
    #expect(places.count == 3 && Set(places).count == 1, "\(heads)")
  }

  @Test func itNamesGainsMapsSumsSplittersAndTheFeedbackThatTheEnginePutIn() throws {
    let session = try session()
    let text = Printout.text(session.report)
    #expect(text.contains("<- osc.out 1ch") && text.contains("gain -6.0 dB"))
    #expect(text.contains("map [1 0]"))
    #expect(text.contains("sum 1/2") && text.contains("splitter 1/2"))
    #expect(text.contains("feedback, d makes up for 64 frames"))
    #expect(Printout.json(session.report).contains("\"madeUp\": true"))
    #expect(text.contains("running yes") && text.contains("nodes 6"))
    try session.perform("set d.time 1ms")
    try session.renderOneBlock()
    #expect(Printout.text(session.report).contains("feedback, 64 frames later"))
  }

  @Test func anOutputThatMostLeaveAloneIsPrintedWhereSomethingIsConnectedToIt() throws {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    let session = Session(options: options)
    try session.perform("node piano sampler ; node out output ; connect piano -> out")
    try session.renderOneBlock()
    #expect(Printout.text(session.report).contains("inputs 1  outputs 1 "))
    let forms = [Printout.text, Printout.dot, Printout.json]
    for form in forms { #expect(!form(session.report).contains("reverb")) }
    try session.perform("connect piano.reverb -> out")
    try session.renderOneBlock()
    #expect(Printout.text(session.report).contains("inputs 1  outputs 2 "))
    for form in forms {
      #expect(form(session.report).contains("reverb") && !form(session.report).contains("chorus"))
    }
  }

  @Test func whatCannotBeReadBackIsAComment() throws {
    let report = try session().report
    let text = Printout.executable(report, patch: "sostenuto 1\nnode out output\n")
    let language = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(language == ["sostenuto 1", "node out output"])
  }

  @Test func jsonAndDotHoldEveryNodeAndCableWhateverTheirNames() throws {
    let report = try session().report
    let dot = Printout.dot(report)
    for node in report.nodes { #expect(dot.contains("\"\(node.name)\" [label=")) }
    #expect(dot.contains("\"d\":out_out -> \"mixer\":in_in"))
    let json = Printout.json(report)
    #expect(json.contains("\"feedback\": true") && json.contains("\"map\": [1, 0]"))
    #expect(JSON.string("a\"b\\\u{1}\n").text() == "\"a\\\"b\\\\\\u0001\\n\"")
    #expect(JSON.number(-.infinity).text() == "\"-inf\"")
  }

  @Test(arguments: [
    (-0.04, 1, "0.0"), (-0.06, 1, "-0.1"), (12.345, 2, "12.35"), (3, 0, "3"), (.infinity, 1, "inf"),
  ])
  func figuresForPeople(value: Double, digits: Int, text: String) {
    #expect(Printout.fixed(value, digits) == text)
  }

  @Test func itNamesTheLatencyOfNodesAndCablesAndWhatTheEngineDelaysForIt() throws {
    var options = SessionOptions()
    options.isOffline = true
    options.keepsJournal = false
    let session = Session(options: options)
    try session.perform(
      "node osc oscillator ; node dist distortion oversample=2 ; node dry gain ; node out output ; connect osc -> dist ; connect osc -> dry ; connect dist -> out ; connect dry -> out"
    )
    try session.renderOneBlock()
    let text = Printout.text(session.report)
    #expect(text.contains("latency 32 frames\n") && text.contains("delayed 32 frames   latency 32 frames"))
    let dist = text.split(separator: "\n").first { $0.hasPrefix("dist ") }
    #expect(dist?.contains("latency 32 frames") == true)
    let json = Printout.json(session.report)
    #expect(json.contains("\"compensation\": 32") && json.contains("\"latency\": 32"))
  }
}

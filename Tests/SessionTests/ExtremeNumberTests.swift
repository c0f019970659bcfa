import Drivers
import Engine
import Patch
import PatchLanguage
import Testing

@testable import Session

/// Every form of the language with extreme numbers: refused, or performed, undone and rendered.
@Suite @MainActor struct ExtremeNumberTests {
  nonisolated static let numbers = [
    "0", "-0", "1", "-1", "3", "63", "64", "65", "127", "128", "255", "256", "4096", "32768", "65536",
    "2147483647", "2147483648", "-2147483648", "-2147483649", "4294967296", "9007199254740993",
    "9223372036854775807", "9223372036854775808", "-9223372036854775807", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551616", "0.5", "1e9", "1e18", "1e19", "1e300", "-1e300", "1e308",
    "1e309", "1e-320", "5e-324", "1e99999999999", "nan", "inf", "-inf", "604800", "604801", "3600", "3601",
    String(repeating: "9", count: 400), "0x10", "1e", "--1", "+1",
  ]

  /// `#` stands for the number, `$` for any unit.
  nonisolated static let forms =
    [
      "matrix main swap # 0", "matrix main swap 0 #", "matrix main swap in # #", "matrix main diagonal #",
      "matrix main copy # 0", "matrix main copy 0 #", "matrix main copy in 0 #..#", "matrix main copy 0 #..",
      "matrix main map [#,0]", "matrix main map [#]", "matrix main identity over #$",
      "set main[#,0] -6dB", "set main[0,#] #dB", "set main[#..#,0] 0dB", "set main[..#,0] 0dB",
      "set main.in[#] #dB", "set main.master #dB over #$", "set main.inputs #", "set main.outputs #",
      "set osc.freq #$", "set osc.freq [#Hz,#Hz]", "set osc.channels #", "set osc.level #dB over #s",
      "set dist.drive #$", "set dist.oversample #", "set del.time #$", "set del.feedback #$",
      "set eq.bands #", "set eq.band#.gain #dB", "set piano.polyphony #", "set piano.program #",
      "set keys.octave #", "set in.channel #", "connect osc -> main gain=#dB",
      "connect osc -> main map=[#,#]",
      "node n# gain gain=#dB", "node n matrix inputs=# outputs=#", "node n delay time=#$",
      "replace dist equalizer bands=# band1.freq=#$", "insert n filter freq=#$ q=# into osc -> dist",
      "layout dist #,#", "note piano on #", "note piano on 60 #", "note piano off #", "control piano # #",
      "bend piano #", "play tape at #$", "cue tape #$", "pedal piano # on", "rename dist #",
      "comment dist \"#\"",
    ]

  @Test(arguments: forms)
  func everyFormOfStatementRefusedOrDoneUndoneAndRendered(form: String) throws {
    let session = try self.session()
    let first = session.patch
    for number in Self.numbers {
      for unit in form.contains("$") ? ["", "s", "Hz", "kHz", "dB", "%", "cents", "note", "us"] : [""] {
        let line = form.replacing("#", with: number).replacing("$", with: unit)
        guard (try? session.perform(line)) != nil else {
          #expect(session.patch == first, "\(line) was refused, and changed something")
          continue
        }
        try session.renderOneBlock()
        let text = canonical(session)
        let again = PatchReader.read(text, file: "again", catalogue: KindRegistry.builtIn.catalogue)
        #expect(again.diagnostics.isEmpty, "\(line): \(again.diagnostics)")
        #expect(PatchWriter.write(again.patch, catalogue: KindRegistry.builtIn.catalogue) == text, "\(line)")
        while try session.undo() != nil {}
        #expect(session.patch == first, "\(line) is not undone")
      }
    }
  }

  @Test(arguments: numbers)
  func timesOfAScriptTooLateOrInTime(number: String) throws {
    for unit in ["", "s", "ms", "us", "Hz"] {
      let (lines, faults) = Script.read("at \(number)\(unit) undo\nat 1ms undo\n", file: "s")
      #expect(lines.allSatisfy { $0.time >= 0 && $0.time <= Script.longest })
      for fault in faults { #expect(fault.line == 1 && fault.column == 4, "\(fault)") }
      #expect(lines.count + faults.count == 2)
      let session = try self.session()
      var request = RenderRequest(seconds: 0.002)
      request.script = lines
      #expect(try session.render(request) == 96)
    }
  }

  @Test func theErrorOfANumberThatIsTooLargeNamesItsPlace() throws {
    let (_, faults) = Script.read("undo\n  at 1e300s undo\n", file: "late.script")
    #expect(
      faults.map(\.description) == [
        "late.script:2:6: error: `1e300s` is too late; a script lasts a week at most, 604800s"
      ])
    let session = try self.session()
    #expect {
      try session.perform("matrix main swap 0 -9223372036854775808", file: "f", line: 3)
    } throws: {
      "\($0)" == "f:3:20: error: `-9223372036854775808` is not another; they count from 0"
    }
  }

  private func session() throws -> Session {
    var options = SessionOptions()
    options.isOffline = true
    let session = Session(options: options)
    for line in [
      "node keys keyboard", "node in midi", "node piano sampler", "node osc oscillator channels=2",
      "node dist distortion", "node del delay", "node eq equalizer", "node tape player",
      "node main matrix inputs=4 outputs=2", "node out output", "connect keys -> piano",
      "connect in -> piano", "connect piano -> main", "connect osc -> dist", "connect dist -> del",
      "connect del -> eq", "connect eq -> main", "connect main -> out", "connect tape -> main",
    ] {
      try session.perform(line)
    }
    // Earlier edits are not undone.
    session.history = History()
    return session
  }
}

import Engine
import Patch
import PatchLanguage
import Processors
import TestSupport
import Testing

/// The matrix by lines of the language: the effect of a line, the resulting file, and its undo.
@Suite struct MatrixEditTests {
  private let catalogue = KindRegistry.builtIn.catalogue

  private func read(_ text: String) -> Patch {
    let (patch, diagnostics) = PatchReader.read("sostenuto 1\n" + text, file: "", catalogue: catalogue)
    #expect(diagnostics == [])
    return patch
  }

  /// The patch after a line, whose undo must restore the patch before.
  private func after(_ line: String, _ patch: Patch) throws -> Patch {
    guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
      Issue.record("`\(line)` is no edit")
      return patch
    }
    let change = try patch.applying(edit, catalogue: catalogue)
    let back = try change.patch.applying(exactly: change.inverse, catalogue: catalogue).patch
    #expect(back == patch, "undoing `\(line)`")
    return change.patch
  }

  private func refusal(_ line: String, _ patch: Patch) -> String? {
    do throws(Diagnostic) {
      guard case .edit(let edit) = try StatementParser.parse(line, patch: patch, catalogue: catalogue) else {
        return nil
      }
      do throws(EditError) {
        _ = try patch.applying(edit, catalogue: catalogue)
        return nil
      } catch {
        return StatementParser.diagnostic(for: error, in: line).description
      }
    } catch {
      return error.description
    }
  }

  /// Crosspoints in decibels, `.` for silence, one row per line.
  private func grid(_ patch: Patch) -> [String] {
    guard let node = patch[named: "main"], let kind = catalogue["matrix"],
      let gains = SwitchedGains("", of: node, description: kind)
    else { return [] }
    return (0..<kind.count("inputs", of: node)).map { row in
      (0..<kind.count("outputs", of: node)).map { column in
        let decibels = gains[row, column].decibels
        return decibels.isFinite ? Value.number(decibels, .none).display : "."
      }
      .joined(separator: " ")
    }
  }

  private func settings(_ patch: Patch) -> [String] {
    PatchWriter.write(patch, catalogue: catalogue).split(separator: "\n").dropFirst(2).map(String.init)
  }

  @Test func everySwitchIsALineOfItsOwnAndReadsBack() throws {
    var patch = read("node main matrix inputs=3 outputs=2\n")
    for line in [
      "set main.label.in[0] \"Kick drum\"", "set main.label.out[1] Right", "set main.mute.in[2] on",
      "set main.solo[0,1] on", "set main.invert.out[1] on", "set main.mute[1,1] on", "set main.in[0] -6dB",
      "set main.solo.in[0] on",
    ] {
      patch = try after(line, patch)
    }
    #expect(
      settings(patch) == [
        "set main.in[0] -6dB", "set main.mute.in[2] on", "set main.solo.in[0] on",
        "set main.invert.out[1] on", "set main.mute[1,1] on", "set main.solo[0,1] on",
        "set main.label.in[0] \"Kick drum\"", "set main.label.out[1] Right",
      ])
    let again = read(String(PatchWriter.write(patch, catalogue: catalogue).dropFirst("sostenuto 1\n".count)))
    #expect(again == patch)
    patch = try after("set main.mute.in[2] off ; set main.label.out[1] default", patch)
    #expect(!settings(patch).contains { $0.contains("mute.in") || $0.contains("Right") })
  }

  @Test func presetsSetTheGridByName() throws {
    let patch = read("node main matrix inputs=2 outputs=4\nset main[0,0] -3dB\nset main.mute[1,1] on\n")
    let grids: [(String, [String])] = [
      ("identity", ["0 . . .", ". 0 . ."]), ("clear", [". . . .", ". . . ."]),
      ("diagonal 2", [". . 0 .", ". . . 0"]), ("diagonal -1", [". . . .", "0 . . ."]),
      ("map [-1,-1,0,1]", [". . 0 .", ". . . 0"]), ("map [1,0]", [". 0 . .", "0 . . ."]),
      ("spread", ["0 . 0 .", ". 0 . 0"]),
      ("fold", ["-6.021 -6.021 -6.021 -6.021", "-6.021 -6.021 -6.021 -6.021"]),
      ("swap 0 1", [". -3 . .", "0 . . ."]), ("swap out 0 3", [". . . -3", ". 0 . ."]),
      ("swap in 0 1", [". 0 . .", "-3 . . ."]), ("copy in 0 1", ["-3 . . .", "-3 . . ."]),
      ("copy out 0 ..", ["-3 -3 -3 -3", ". . . ."]), ("copy 1 2..3", ["-3 . . .", ". 0 0 0"]),
    ]
    for (preset, wanted) in grids {
      let changed = try after("matrix main \(preset)", patch)
      #expect(grid(changed) == wanted, "\(preset)")
    }
    // A preset clears mutes; a copy copies them.
    #expect(!settings(try after("matrix main identity", patch)).contains { $0.contains("mute") })
    #expect(settings(try after("matrix main copy out 1 3", patch)).contains("set main.mute[1,3] on"))
    #expect(settings(try after("matrix main identity", patch)) == [])
  }

  @Test func aRangeIsOneEditOfManySettings() throws {
    let patch = read("node main matrix inputs=3 outputs=2\n")
    #expect(grid(try after("set main[0..1,0] -6dB", patch)) == ["-6 .", "-6 0", ". ."])
    #expect(grid(try after("set main[..,1] -6dB", patch)) == ["0 -6", ". -6", ". -6"])
    #expect(grid(try after("set main[1..,..] -12dB", patch)) == ["0 .", "-12 -12", "-12 -12"])
    let lines = settings(try after("set main.in[..] -1dB ; set main.mute.out[..0] on", patch))
    #expect(
      lines == [
        "set main.in[0] -1dB", "set main.in[1] -1dB", "set main.in[2] -1dB", "set main.mute.out[0] on",
      ])
    // Ranges also work in a file, and for a node created on the same line.
    let made = read("node main matrix inputs=3 outputs=2\nset main[..,1] -6dB\n")
    #expect(grid(made) == ["0 -6", ". -6", ". -6"])
    let both = try after("node big matrix inputs=2 outputs=1 ; set big.in[..] -3dB", patch)
    #expect(settings(both).suffix(2) == ["set big.in[0] -3dB", "set big.in[1] -3dB"])
  }

  @Test func theLineThatDescribesAnEditIsTheLineThatMadeIt() throws {
    let patch = read("node main matrix inputs=4 outputs=4\n")
    for line in [
      "matrix main identity", "matrix main diagonal -2", "matrix main map [-1,0] over 2s",
      "matrix main swap in 0 1", "matrix main copy out 0 1..3", "set main[..,2..] -6dB over 1s",
      "set main.mute.in[0..2] on", "set main.solo[1,1] on over 500ms",
    ] {
      let statement = try StatementParser.parse(line, patch: patch, catalogue: catalogue)
      #expect(statement.line == line)
    }
    let plain = try StatementParser.parse("matrix main swap 0 1", patch: patch, catalogue: catalogue)
    #expect(plain.line == "matrix main swap out 0 1")
    let zero = try StatementParser.parse("matrix main diagonal 0", patch: patch, catalogue: catalogue)
    #expect(zero.line == "matrix main identity")
  }

  @Test func whatIsNotThereIsRefusedWithItsPlace() {
    let patch = read("node main matrix inputs=2 outputs=4\nnode dry gain\n")
    let refusals = [
      ("matrix main map [0,2]", "20: error: `main` has no input 2; inputs go from 0 to 1, -1 is none"),
      ("matrix main map [0,0,0,0,0]", "17: error: a map of 5 outputs for a matrix of 4"),
      ("matrix main swap in 0 2", "23: error: `main` has no input 2"),
      ("matrix main copy out 4 0", "22: error: `main` has no output 4"),
      ("matrix main diagonal 4", "22: error: diagonal 4 leaves a matrix of 2 x 4"),
      ("matrix main diagnal 1", "13: error: a matrix has no preset `diagnal`; did you mean `diagonal`?"),
      ("matrix dry identity", "8: error: `dry` is no matrix"),
      ("set main[0..2,0] -6dB", "5: error: no `main[2,0]`: `inputs` is 2"),
      ("set main.in[2..] -6dB", "5: error: no `main.in[2]`"),
      ("set main.mute.in[0] maybe", "21: error: `main.mute.in[0]` is `on` or `off`, not maybe"),
      ("set main.label[0] x", "10: error: `main` has no parameter `label`"),
      ("node b matrix in[..]=0dB", "15: error: `..` has no end here"),
    ]
    for (line, wanted) in refusals {
      let words = refusal(line, patch) ?? "accepted"
      #expect(words.hasPrefix(wanted), "\(line): \(words)")
    }
  }

  @Test func aSmallerMatrixForgetsWhatLeavesAndUndoBringsItBack() throws {
    let patch = read(
      """
      node main matrix inputs=4 outputs=4
      set main.in[3] -6dB
      set main[3,3] -3dB
      set main.mute.in[3] on
      set main.solo.out[3] on
      set main.label.in[3] Bass
      set main.label.in[0] Kick
      """)
    let small = try after("set main.inputs 2", patch)
    #expect(settings(small) == ["set main.solo.out[3] on", "set main.label.in[0] Kick"])
    let large = try after("set main.inputs 6", patch)
    #expect(settings(large) == settings(patch))
    #expect(grid(large) == ["0 . . .", ". 0 . .", ". . 0 .", ". . . -3", ". . . .", ". . . ."])
  }

  @Test func completionKnowsTheSwitchesAndThePresets() {
    let patch = read("node main matrix inputs=2 outputs=2\nnode dry gain\n")
    func candidates(_ line: String) -> [String] {
      Completion.candidates(line, patch: patch, catalogue: catalogue).candidates.map(
        \.text)
    }
    #expect(candidates("matrix ") == ["main"])
    #expect(candidates("matrix main s") == ["spread", "swap"])
    #expect(candidates("matrix main swap ") == ["in", "out", "0", "1"])
    #expect(candidates("set main.mu") == ["main.mute.in[", "main.mute.out[", "main.mute["])
    #expect(candidates("set main.mute.in[") == ["main.mute.in[0]", "main.mute.in[1]", "main.mute.in[..]"])
    #expect(candidates("set main.mute.in[0] ") == ["on", "off", "default"])
    #expect(candidates("set main.label.") == ["main.label.in[", "main.label.out["])
  }

  @Test func whatAViewShowsIsWhatTheEngineGets() throws {
    print("seed 11")
    var random = SeededGenerator(seed: 11)
    var patch = read("node main matrix inputs=3 outputs=4\n")
    for _ in 0..<300 {
      let sort = ["in", "out", ""][Int.random(in: 0..<3, using: &random)]
      let word = ["mute", "solo", "invert", ""][Int.random(in: 0..<4, using: &random)]
      let (row, column) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<4, using: &random))
      let index = sort == "in" ? "[\(row)]" : sort == "out" ? "[\(column)]" : "[\(row),\(column)]"
      let name = [word, sort].filter { !$0.isEmpty }.joined(separator: ".")
      let value =
        word.isEmpty
        ? "\(Int.random(in: -40...12, using: &random))dB"
        : ["on", "off", "off"].randomElement(using: &random)!
      patch = try after("set main\(name.isEmpty ? "" : ".")\(name)\(index) \(value)", patch)
      let node = try #require(patch[named: "main"])
      let kind = try #require(catalogue["matrix"])
      let values = EngineValues(of: node, description: kind).values
      let ins = try #require(SwitchedGains("in", of: node, description: kind))
      let outs = try #require(SwitchedGains("out", of: node, description: kind))
      let gains = try #require(SwitchedGains("", of: node, description: kind))
      #expect(values[Matrix.in] == (0..<3).map { ins[$0].factor })
      #expect(values[Matrix.out] == (0..<4).map { outs[$0].factor })
      #expect(values[Matrix.crosspoint] == (0..<12).map { gains[$0 / 4, $0 % 4].factor })
    }
  }
}

import Patch
import Screen
import Testing

@testable import Interface

/// Boxes that stay as they are while others come and go.
@MainActor extension GraphSizeTests {
  private func sizes(_ stage: Stage) -> [String: Size] { frames(stage).mapValues(\.size) }

  private var demo: [String] {
    [
      "node keys keyboard", "node piano sampler", "node dist distortion drive=18dB",
      "node main matrix inputs=4 outputs=2", "node out output", "connect keys -> piano",
      "connect piano -> dist", "connect dist -> main map=[0,1,-1,-1]", "connect main -> out",
    ]
  }

  @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 110, rows: 30), Size(columns: 200, rows: 50)])
  func noBoxChangesItsSizeWhenAWiderOneJoinsItsColumn(_ size: Size) {
    let stage = stage(size.columns, size.rows, demo)
    let before = sizes(stage)
    for line in ["node a_wider_name_here gain", "node lfo lfo", "node more convolution", "copy dist dist2"] {
      _ = try? stage.workbench.perform(line: line)
      stage.play(seconds: 0.02)
      for (name, size) in before { #expect(sizes(stage)[name] == size, "\(name) while \(line) fades in") }
      stage.play(seconds: 0.2)
      for (name, size) in before { #expect(sizes(stage)[name] == size, "\(name) after \(line)") }
    }
    stage.press("u u u u")
    stage.play(seconds: 0.2)
    #expect(sizes(stage) == before)
  }

  @Test func theFirstControlAndTheFirstSceneLeaveTheBoxesAsTheyAre() {
    let stage = stage(80, 24, demo)
    stage.press("p")
    stage.play(seconds: 0.1)
    _ = stage.screen
    let before = sizes(stage)
    for line in ["control 1 piano.level", "scene 1 verse"] {
      _ = try? stage.workbench.perform(line: line)
      stage.play(seconds: 0.1)
      _ = stage.screen
      for name in ["keys", "dist", "main", "out"] { #expect(sizes(stage)[name] == before[name], "\(name)") }
    }
    // And back from play mode they are as before it.
    stage.press("esc p esc p")
    _ = stage.screen
    #expect(sizes(stage)["dist"] == before["dist"])
  }

  @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 120, rows: 40), Size(columns: 200, rows: 60)])
  func theInspectorOnlyScrollsTheGraph(_ size: Size) {
    let stage = stage(size.columns, size.rows, demo)
    stage.app.desk.focus(stage.session.patch.id(named: "out") ?? NodeID(raw: 0))
    let before = frames(stage)
    stage.press("enter")
    #expect(stage.screen.contains("out ▸ output") || stage.screen.contains("out ─"), "\(stage.screen)")
    stage.play(seconds: 0.1)
    #expect(frames(stage) == before)
    #expect(stage.screen.contains("┏ out"), "the focused box is in sight")
    stage.press("esc")
    #expect(frames(stage) == before)
  }

  @Test func aRecallLeavesTheBoxesThatStayWhereTheyAre() {
    let stage = stage(80, 24, demo + ["scene 1 thin"])
    for line in [
      "insert echo delay into dist -> main", "insert room reverb into echo -> main",
      "insert eq equalizer into piano -> dist", "node lfo lfo", "connect lfo -> dist.drive by 6dB",
    ] where (try? stage.workbench.perform(line: line)) == nil {
      Issue.record("refused: \(line)")
    }
    stage.play(seconds: 0.2)
    _ = stage.screen
    _ = try? stage.workbench.perform(line: "recall 1 over 2s")
    stage.play(seconds: 0.2)
    let first = frames(stage)
    #expect(first["echo"] != nil, "what leaves is seen")
    stage.play(seconds: 1)
    let during = frames(stage)
    stage.play(seconds: 3)
    let after = frames(stage)
    #expect(after["echo"] == nil)
    for name in ["keys", "piano", "dist", "main", "out"] {
      #expect(
        first[name]?.column == after[name]?.column && during[name]?.column == after[name]?.column, "\(name)")
      #expect(first[name]?.columns == after[name]?.columns, "\(name)")
    }
  }

  /// Letters on ports move nothing to the side; parameters that are offered lengthen boxes.
  @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 110, rows: 30), Size(columns: 200, rows: 50)])
  func connectingLeavesTheBoxesInTheirColumns(_ size: Size) {
    let stage = stage(size.columns, size.rows, demo)
    let before = frames(stage)
    stage.press("c")
    stage.play(seconds: 0.05)
    for (name, frame) in before {
      let now = frames(stage)[name]
      #expect(now?.column == frame.column && now?.columns == frame.columns, "\(name) in \(stage.screen)")
    }
    stage.press("esc")
    #expect(frames(stage) == before)
  }

  @Test(arguments: [Size(columns: 100, rows: 30), Size(columns: 110, rows: 30), Size(columns: 200, rows: 50)])
  func replacingMovesNoBoxWhileItFades(_ size: Size) {
    let stage = stage(size.columns, size.rows, demo)
    for line in [
      "replace dist equalizer band1.gain=6dB", "undo", "redo", "replace dist distortion drive=6dB", "undo",
    ] {
      stage.play(seconds: 0.2)
      _ = stage.screen
      let before = frames(stage)
      _ = try? stage.workbench.perform(line: line)
      // The patch is another one, and the engine has not told of it yet.
      for moment in 0..<12 {
        for (name, frame) in before {
          let now = frames(stage)[name]
          #expect(now?.column == frame.column, "\(name) by \(line), \(moment): \(stage.screen)")
        }
        if moment == 0 { stage.app.tick() } else { stage.play(seconds: 0.01) }
      }
    }
  }

  /// A narrower kind takes the room of the wider one, and undo finds everything in its place.
  @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 110, rows: 30), Size(columns: 200, rows: 50)])
  func aReplacementMovesNothingForGood(_ size: Size) {
    let stage = stage(size.columns, size.rows, demo)
    _ = try? stage.workbench.perform(line: "replace dist equalizer band1.gain=6dB")
    stage.play(seconds: 0.3)
    _ = stage.screen
    let before = frames(stage)
    for line in ["replace dist gain", "replace dist mix", "undo", "replace dist equalizer", "undo", "undo"] {
      _ = try? stage.workbench.perform(line: line)
      stage.app.tick()
      _ = stage.screen
      for moment in 0..<30 {
        stage.play(seconds: 0.01)
        for (name, frame) in before where name != "dist" {
          #expect(
            frames(stage)[name]?.column == frame.column, "\(name) by \(line), \(moment): \(stage.screen)")
        }
        #expect(frames(stage)["dist"]?.columns == before["dist"]?.columns, "by \(line): \(stage.screen)")
      }
    }
  }

  /// The engine makes a node with other channels anew; for the user it is the same.
  @Test func aNodeWithOtherChannelsNeverLooksAsIfItLeft() {
    let stage = stage(110, 30, demo)
    for line in ["set main.inputs 2", "set main.outputs 4", "set main.inputs 4", "undo", "undo"] {
      _ = try? stage.workbench.perform(line: line)
      for _ in 0..<20 {
        #expect(!stage.screen.contains("fading") && !stage.screen.contains("leaving"), "\(stage.screen)")
        #expect(stage.screen.contains("╭ main ─"), "\(stage.screen)")
        stage.play(seconds: 0.01)
      }
    }
  }

  /// A blank stands beside the letters on ports, however close boxes are.
  @Test(arguments: [Size(columns: 80, rows: 24), Size(columns: 100, rows: 30), Size(columns: 110, rows: 30)])
  func lettersOfHintsTouchNoText(_ size: Size) throws {
    let stage = stage(size.columns, size.rows, demo)
    stage.press("c")
    stage.play(seconds: 0.05)
    let hints = try #require(stage.app.state.overlay as? PortHints)
    let canvas = stage.canvas
    let ports = GraphPlaces.ports(
      stage.app.scene, stage.app.state, columns: stage.columns, rows: stage.rows)
    for hint in hints.targets {
      guard let place = ports.first(where: { $0.target == hint.target })?.place else { continue }
      let row = canvas.lines[place.row]
      let letters = try #require(
        row.ranges(of: hint.letters.uppercased()).first ?? row.ranges(of: hint.letters).first)
      for beside in [row[..<letters.lowerBound].last, row[letters.upperBound...].first] {
        #expect(beside.map { !$0.isLetter && !$0.isNumber } ?? true, "\(hint.letters) in \(row)")
      }
    }
  }
}

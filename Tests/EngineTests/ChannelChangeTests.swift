import Engine
import Patch
import TestSupport
import Testing

/// Channel counts and maps that change during sound. The engine's edit log measures the click: for steady
/// constants, at most -90 dBFS above 5 kHz.
@Suite struct ChannelChangeTests {
  private static let budget: Float = 3.162e-5

  private static let levels: [Float] = [1, -0.5, 0.25, 0.75, -1, 0.5, 0.125, -0.25]

  private func expectInBudget(_ bench: Bench, edits: Int, _ what: String) {
    bench.settle()
    bench.render(9600)
    let log = bench.engine.editLog()
    #expect(log.count == edits, "\(what): \(log.count) entries")
    let level = max(1, bench.heard.joined().reduce(0) { max($0, abs($1)) })
    for entry in log where entry.residue > Self.budget * level {
      Issue.record("\(what): \(entry.line): residue \(entry.residueLevel) dBFS, step \(entry.stepLevel) dB")
    }
  }

  private func start(_ text: String) throws -> Bench {
    let bench = Bench()
    bench.engine.isWatching = true
    for channel in 0..<8 {
      bench.feed(Self.levels[channel], channel: channel)
    }
    try bench.begin(text)
    // Delays echo the constants' first step for a while.
    bench.render(96000)
    return bench
  }

  /// Performs an edit line, recorded in the edit log.
  private func edit(_ bench: Bench, _ line: String) throws {
    guard case .edited(let change) = bench.changing(line) else {
      Issue.record("`\(line)` was refused")
      return
    }
    bench.engine.adopt(change.patch, ramps: change.ramps, at: bench.engine.renderer.time, describing: line)
  }

  private static let counts = [1, 2, 3, 4, 6, 7]

  @Test(arguments: counts, counts)
  func aNodeWidensToWhatComesLaterAndNobodyHearsAStep(from: Int, to: Int) throws {
    for (kind, end) in [
      ("gain", 1), ("gain", 2), ("gain", 4), ("gain", 6), ("delay time=20ms feedback=0%", 2), ("filter", 2),
    ] {
      let bench = try start(
        """
        node first input channels=\(from)
        node second input channels=\(to)
        node way \(kind)
        node next mix
        node out output channels=\(end)
        connect first -> way
        connect way -> next
        connect next -> out
        """)
      try edit(bench, "connect second -> way")
      bench.render(4800)
      try edit(bench, "disconnect first -> way")
      bench.render(4800)
      try edit(bench, "connect first -> way gain=-6dB")
      bench.render(4800)
      expectInBudget(bench, edits: 3, "\(from) and \(to) through \(kind) to \(end)")
    }
  }

  @Test(arguments: counts)
  func sourcesOutputsAndMatricesOfOtherChannelCountsTakeOverByCrossfade(count: Int) throws {
    for other in Self.counts where other != count {
      let bench = try start(
        """
        node mic input channels=\(count)
        node main matrix inputs=\(count) outputs=\(count)
        node way gain
        node out output channels=\(count)
        connect mic -> main
        connect main -> way
        connect way -> out
        """)
      for line in [
        "set main.outputs \(other)", "set main.inputs \(other)", "set out.channels \(other)",
        "set mic.channels \(other)", "set main.outputs \(count) ; set main.inputs \(count)",
      ] {
        try edit(bench, line)
        bench.render(4800)
      }
      expectInBudget(bench, edits: 5, "\(count) and \(other)")
    }
  }

  /// Inputs beside the first repeat their channels where the node has more, and a reverb has one channel for all its outputs.
  @Test(
    arguments: [
      ("multiply", "with"), ("ringmod", "carrier"), ("crossfade mix=60%", "b"), ("expr formula=\"a+b\"", "b"),
      ("reverb decay=100ms mix=0%", "in"), ("reverb decay=100ms", "in"),
      ("reverb channels=1 decay=100ms", "in"),
      ("reverb channels=5 decay=100ms mix=40%", "in"),
    ], [2, 3, 4, 5, 6, 7, 16])
  func aWiderCableBesideAnotherIsHeardWithoutAStep(node: (kind: String, port: String), count: Int) throws {
    let isFirst = node.port == "in"
    let bench = try start(
      """
      node first input channels=\(isFirst ? 1 : 4)
      node second input channels=1
      node silence constant level=0 channels=\(count)
      node way \(node.kind)
      node out output channels=5
      connect first -> way
      \(isFirst ? "" : "connect second -> way.\(node.port)")
      connect way -> out
      """)
    for line in ["connect silence -> way.\(node.port)", "disconnect silence -> way.\(node.port)"] {
      try edit(bench, line)
      bench.render(9600)
    }
    expectInBudget(bench, edits: 2, "\(count) into \(node.port) of \(node.kind)")
  }

  /// New channels of a source sound at once, and do not begin in silence as those of an effect do.
  @Test(
    arguments: [
      "constant level=[0.5,-0.3,0.2,0.7]", "oscillator freq=[3Hz,2Hz,5Hz,4Hz] level=-3dB",
      "lfo rate=2Hz range=unipolar",
      "wavetable freq=4Hz", "expr formula=\"0.4\"", "additive freq=2Hz",
    ], counts)
  func aSourceGetsOtherChannelCountsWithoutAStep(kind: String, count: Int) throws {
    for (other, end) in [(1, 1), (2, 4), (4, 1), (4, 4), (6, 1), (6, 2), (7, 3)] where other != count {
      let isByCable = kind.hasPrefix("expr")
      let bench = try start(
        """
        node x \(kind)\(isByCable ? "" : " channels=\(count)")
        node silence constant level=0 channels=\(isByCable ? other : 1)
        node way mix
        node main matrix inputs=4 outputs=\(end)
        node out output channels=\(end)
        connect x -> way
        connect way -> main
        connect main -> out
        """)
      let wide = isByCable ? "connect silence -> x" : "set x.channels \(other)"
      let narrow = isByCable ? "disconnect silence -> x" : "set x.channels \(count)"
      for line in [wide, narrow, wide] {
        try edit(bench, line)
        bench.render(4800)
      }
      expectInBudget(bench, edits: 3, "\(kind): \(count) and \(other) to \(end)")
    }
  }

  @Test(arguments: counts)
  func mapsAndMixingChangeByCrossfade(count: Int) throws {
    let bench = try start(
      """
      node mic input channels=\(count)
      node way gain
      node out output channels=4
      connect mic -> way
      connect way -> out
      """)
    let last = count - 1
    let lines = [
      "connect way -> out map=[\(last),-1,0]", "connect way -> out mix=discrete", "connect way -> out",
      "connect mic -> way map=[0]", "connect mic -> way map=[-1,-1,\(last),0,\(last)]",
      "connect mic -> way mix=discrete", "connect way -> out map=[0,0,0,0] ; connect mic -> way",
    ]
    for line in lines {
      try edit(bench, line)
      bench.render(4800)
    }
    // All lines again, without waiting for the fades.
    for line in lines {
      try edit(bench, line)
      bench.render(100)
    }
    expectInBudget(bench, edits: 2 * lines.count, "\(count)")
  }

  @Test(
    arguments: counts, counts
  )
  func aNodeIsBackInTheMidstOfChangesToItsCablesAndNobodyHearsAStep(from: Int, to: Int) throws {
    let scripts = [
      ["connect first -> way map=[0,0]", "connect second -> way gain=-5dB", "remove way", "undo"],
      ["connect second -> way map=[0,0,-1]", "connect second -> way", "remove way", "undo", "undo", "undo"],
      ["connect first -> way map=[0]", "remove way bridge", "undo", "connect second -> way", "undo"],
      // What it hears changes its channels while it is away.
      ["remove way", "connect second -> mid", "undo", "undo"],
      ["connect second -> mid gain=-3dB", "remove way", "disconnect first -> mid", "undo", "undo"],
      ["connect second -> mid map=[0]", "remove way", "undo", "undo", "redo", "undo"],
      ["remove way", "connect second -> mid ; disconnect first -> mid", "undo", "undo"],
    ]
    for (index, lines) in scripts.enumerated() {
      for (kind, pause) in zip(
        ["gain", "mix", "pan", "filter", "gain", "pan", "mix"], [10, 22, 64, 125, 246, 417, 600])
      {
        let bench = try start(
          """
          node first input channels=\(from)
          node second input channels=\(to)
          node mid mix
          node way \(kind)
          node out output channels=4
          connect first -> mid
          connect mid -> way
          connect way -> out
          """)
        for (place, line) in lines.enumerated() {
          try edit(bench, line)
          bench.render(pause + 40 * (place % 3))
        }
        expectInBudget(
          bench, edits: lines.count, "script \(index), \(from) and \(to) through \(kind), \(pause) frames")
        // It sounds as a freshly opened engine does.
        let fresh = Bench()
        for channel in 0..<8 { fresh.feed(Self.levels[channel], channel: channel) }
        fresh.begin(bench.draft.patch)
        fresh.render(24000)
        for channel in 0..<4 {
          let (one, other) = (bench.heard[channel].last ?? 0, fresh.heard[channel].last ?? 0)
          #expect(
            abs(one - other) < 1e-4,
            "script \(index), \(from) and \(to) through \(kind): \(one), not \(other)")
        }
      }
    }
  }

  @Test func aLargerMatrixTakesOverEveryGainAndEverySound() throws {
    let text = """
      node mic input channels=2
      node main matrix inputs=2 outputs=2
      connect mic -> main
      set main.in[1] -3dB
      set main.mute.in[0] on
      set main[1,0] -12dB
      set main.invert[1,1] on
      node echo delay time=100ms feedback=20% mix=50%
      connect main -> echo
      node out output
      connect echo -> out

      """
    let (changed, still) = (try start(text), try start(text))
    for line in ["set main.inputs 6", "set main.outputs 2 ; set main.inputs 3", "set main.inputs 2"] {
      try edit(changed, line)
      changed.render(4800)
      still.render(4800)
    }
    // The echo behind it continued: its output is unchanged.
    for channel in 0..<2 { #expect(distance(changed.heard[channel], still.heard[channel]) < 1e-6) }
    let started = changed.engine.report().nodes.first { $0.name == "echo" }?.startedAt
    #expect(started == 0)
    expectInBudget(changed, edits: 3, "a larger matrix")
  }
}

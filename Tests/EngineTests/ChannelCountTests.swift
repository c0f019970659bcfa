import Engine
import Patch
import TestSupport
import Testing

/// Channel counts that follow the document, up and down: no step, no loss of state, and no trace of the
/// history in the final sound.
@Suite struct ChannelCountTests {
  private static let budget: Float = 3.162e-5

  private func start(_ text: String) throws -> Bench {
    let bench = Bench()
    bench.engine.isWatching = true
    for channel in 0..<8 {
      bench.feed([1, -0.5, 0.25, 0.75, -1, 0.5, 0.125, -0.25][channel], channel: channel)
    }
    try bench.begin(text)
    bench.render(48000)
    return bench
  }

  private func edit(_ bench: Bench, _ line: String, then frames: Int = 4800) {
    guard case .edited(let change) = bench.changing(line) else {
      Issue.record("`\(line)` was refused")
      return
    }
    bench.engine.adopt(
      change.patch, ramps: change.ramps, tails: change.tails, at: bench.engine.renderer.time, describing: line
    )
    bench.render(frames)
  }

  /// No click, and the final sound equals a fresh load of the same document.
  private func expectUnheard(_ bench: Bench, _ what: String, tolerance: Float = 0) {
    bench.settle()
    bench.render(48000)
    let level = max(1, bench.heard.joined().reduce(0) { max($0, abs($1)) })
    for entry in bench.engine.editLog() where entry.residue > Self.budget * level {
      Issue.record("\(what): \(entry.line): residue \(entry.residueLevel) dBFS, step \(entry.stepLevel) dB")
    }
    let loaded = Bench()
    for channel in 0..<8 {
      loaded.feed([1, -0.5, 0.25, 0.75, -1, 0.5, 0.125, -0.25][channel], channel: channel)
    }
    loaded.begin(bench.draft.patch)
    loaded.render(48000)
    for channel in 0..<8 {
      let (a, b) = (bench.heard[channel].suffix(640), loaded.heard[channel].suffix(640))
      let far = distance(Array(a), Array(b))
      #expect(far <= tolerance, "\(what): channel \(channel) is \(a.last ?? 0), by a new load \(b.last ?? 0)")
    }
    let (edited, fresh) = (bench.engine.report(), loaded.engine.report())
    for node in edited.nodes {
      let other = fresh.nodes.first { $0.name == node.name }
      #expect(node.inputs.map(\.channels) == other?.inputs.map(\.channels), "\(what): \(node.name)")
      #expect(
        node.inputs.flatMap(\.cables).map(\.conversion) == other?.inputs.flatMap(\.cables).map(\.conversion),
        "\(what): \(node.name)")
    }
  }

  @Test(arguments: ["map=[0]", "mix=discrete", "map=[0,0]", ""], [2, 4, 6, 3])
  func aSilentWideCableIntoANodeThatAMapOrADiscreteCableFeedsIsNoStep(attributes: String, to: Int) throws {
    for kind in ["gain", "mix", "pan", "filter", "equalizer", "delay time=20ms feedback=0%", "distortion"] {
      for end in [1, 2, 4, 6] {
        let bench = try start(
          """
          node mic input channels=1
          node quiet oscillator channels=\(to) level=-inf
          node way \(kind)
          node out output channels=\(end)
          connect mic -> way \(attributes)
          connect way -> out
          """)
        edit(bench, "connect quiet -> way")
        edit(bench, "undo", then: 200)
        edit(bench, "redo", then: 4800)
        edit(bench, "undo")
        expectUnheard(
          bench, "\(kind), \(attributes) to \(to), end \(end)", tolerance: kind.count > 4 ? 2e-5 : 0)
      }
    }
  }

  @Test func aPanThatGetsAStereoSourceChangesItsLawByCrossfadeAndBack() throws {
    let bench = try start(
      """
      node mic input channels=1
      node pair input channels=2
      node place pan
      node out output
      connect mic -> place
      connect place -> out
      """)
    #expect(abs(bench.heard[0].last! - 0.70711) < 1e-4)
    edit(bench, "connect pair -> place gain=-inf")
    #expect(abs(bench.heard[0].last! - 1) < 1e-4, "a stereo input is balanced")
    edit(bench, "undo")
    #expect(abs(bench.heard[0].last! - 0.70711) < 1e-4, "an undo is heard as one")
    expectUnheard(bench, "pan")
  }

  @Test(arguments: [2, 4, 6])
  func anEchoGoesOnWhereItWasWhenItsNodeWidens(to: Int) throws {
    for end in [2, 4, 6] {
      let text = """
        node tone oscillator freq=300Hz
        node quiet oscillator channels=\(to) level=-inf
        node echo delay time=100ms feedback=0% mix=100%
        node out output channels=\(end)
        connect tone -> echo
        connect echo -> out
        """
      let (edited, still) = (Bench(), Bench())
      try edited.begin(text)
      try still.begin(text)
      for bench in [edited, still] { bench.render(12_000) }
      edited.perform("disconnect tone -> echo")
      still.perform("disconnect tone -> echo")
      for bench in [edited, still] { bench.render(960) }
      edited.perform("connect quiet -> echo")
      for bench in [edited, still] { bench.render(9600) }
      // For other counts the rules map a mono echo to other channels than a wide one: it moves there within
      // the fade.
      guard to == 2, end == 2 || end == 4 else { continue }
      for channel in 0..<end {
        #expect(
          distance(edited.heard[channel], still.heard[channel]) < 1e-6, "\(to) to \(end), channel \(channel)")
      }
    }
  }

  @Test func aStereoEchoRingsOnInStereoAfterItsOnlySourceIsUnplugged() throws {
    let bench = try start(
      """
      node pair input channels=2
      node echo delay time=100ms feedback=0% mix=100%
      node way gain
      node out output
      connect pair -> echo
      connect echo -> way
      connect way -> out
      """)
    edit(bench, "disconnect pair -> echo", then: 2400)
    #expect(abs(bench.heard[0].last! - 1) < 1e-5 && abs(bench.heard[1].last! + 0.5) < 1e-5)
  }

  /// An endless kind does not ring out: fewer channels are fewer at once, as a new load of the patch has them.
  @Test(arguments: ["lfo rate=3Hz", "oscillator", "constant", "noise"])
  func aSourceThatLosesAChannelIsNotHeardThereAnyMore(kind: String) throws {
    let bench = try start(
      """
      node x \(kind)
      node out output channels=2
      connect x -> out map=[0,1]
      """)
    edit(bench, "set x.channels 2", then: 9600)
    #expect(bench.heard[1].suffix(9600).contains { abs($0) > 0.05 })
    edit(bench, "set x.channels 1", then: 9600)
    #expect(bench.heard[1].suffix(4800).allSatisfy { $0 == 0 })
    #expect(bench.heard[0].suffix(4800).contains { $0 != 0 })
  }

  @Test func aListThatBecomesOneValueAShorterListItsDefaultOrUndoneIsSoOnAllChannels() throws {
    let bench = try start(
      """
      node pair input channels=4
      node g gain gain=-12dB
      node out output channels=4
      connect pair -> g
      connect g -> out
      """)
    let inputs: [Float] = [1, -0.5, 0.25, 0.75]
    func expectGains(_ decibels: [Double], _ line: String) {
      for channel in 0..<4 {
        let wanted = inputs[channel] * EngineValues.gain(decibels: decibels[channel])
        #expect(abs(bench.heard[channel].last! - wanted) < 1e-6, "\(line): channel \(channel)")
      }
    }
    edit(bench, "set g.gain [-3dB,-30dB,-9dB,-20dB]")
    expectGains([-3, -30, -9, -20], "a list")
    edit(bench, "set g.gain [-6dB,-10dB]")
    expectGains([-6, -10, -10, -10], "a shorter list")
    edit(bench, "set g.gain -6dB")
    expectGains([-6, -6, -6, -6], "one value")
    edit(bench, "undo")
    expectGains([-6, -10, -10, -10], "undo")
    edit(bench, "undo")
    expectGains([-3, -30, -9, -20], "undo of a list")
    edit(bench, "set g.gain default")
    expectGains([0, 0, 0, 0], "default")
    expectUnheard(bench, "lists")
  }

  @Test func aListKeepsToItsChannelsWhileCountsChange() throws {
    for line in ["set g.gain [-3dB,-30dB]", "set g.gain [-30dB,-3dB,-12dB]"] {
      let bench = try start(
        """
        node mic input channels=1
        node pair input channels=2
        node quad input channels=4
        node g gain
        node out output channels=2
        connect mic -> g
        connect g -> out
        """)
      edit(bench, line)
      edit(bench, "connect pair -> g gain=-20dB")
      edit(bench, "connect quad -> g gain=-20dB", then: 100)
      edit(bench, "disconnect quad -> g")
      edit(bench, "disconnect pair -> g")
      expectUnheard(bench, line)
    }
  }

  @Test func aModulationComesThroughTheConversionThatIsPrinted() throws {
    for (from, to) in [1, 2, 4, 6].flatMap({ from in [1, 2, 4, 6].map { (from, $0) } }) {
      for attributes in ["", "mix=discrete", "map=[\(from - 1)]", "map=[-1,0,0,\(from - 1)]"] {
        for kind in ["gain", "pan"] {
          let bench = try start(
            """
            node mod input channels=\(from)
            node sound matrix inputs=1 outputs=\(to)
            node feed oscillator freq=0Hz
            node g \(kind)
            node out output channels=\(to)
            connect feed -> sound
            connect sound -> g
            connect mod -> g.\(kind) gain=-6dB \(attributes)
            connect g -> out
            """)
          let port = bench.engine.report().nodes.first { $0.name == "g" }?.inputs.first { $0.name == kind }
          let cable = try #require(port?.cables.first)
          let count = kind == "pan" ? 1 : to
          if attributes.isEmpty, from == 2, count == 1 { #expect(cable.conversion == "stereo to mono") }
          let isOne = from == 1 && attributes.isEmpty
          #expect(cable.toChannels == (isOne ? 1 : count))
          #expect(port?.channels == cable.toChannels)
        }
      }
    }
  }

  /// A stereo modulation of a mono node is mixed down, that of a stereo node goes channel by channel.
  @Test func aStereoModulationOfAMonoNodeIsMixedDown() throws {
    func heard(_ from: Int, _ to: Int, _ attributes: String) throws -> [Float] {
      let bench = try start(
        """
        node mod input channels=\(from)
        node one input channels=\(to)
        node g gain gain=-inf
        node out output channels=\(to)
        connect one -> g
        connect mod -> g.gain \(attributes)
        connect g -> out
        """)
      return (0..<to).map { bench.heard[$0].last! }
    }
    let x: [Float] = [1, -0.5, 0.25, 0.75, -1, 0.5, 0.125, -0.25]
    /// Input from channel `first` on (behind the modulation's channels), times `factors`.
    func product(_ first: Int, _ factors: [Float]) -> [Float] {
      zip(x.dropFirst(first), factors).map { $0 * $1 }
    }
    #expect(try heard(2, 1, "") == product(2, [0.25]))
    #expect(try heard(4, 1, "") == product(4, [0.375]))
    #expect(try heard(2, 1, "mix=discrete") == product(2, [1]))
    #expect(try heard(2, 1, "map=[1]") == product(2, [-0.5]))
    #expect(try heard(1, 1, "") == product(1, [1]))
    #expect(try heard(1, 4, "") == product(1, [1, 1, 1, 1]))
    #expect(try heard(1, 4, "mix=discrete") == product(1, [1, 0, 0, 0]))
    #expect(try heard(2, 2, "") == product(2, [1, -0.5]))
    #expect(try heard(2, 2, "map=[1,0]") == product(2, [-0.5, 1]))
    #expect(try heard(2, 2, "map=[-1,0]") == product(2, [0, 1]))
    #expect(try heard(2, 4, "") == product(2, [1, -0.5, 0, 0]))
    #expect(try heard(4, 2, "") == product(4, [0.625, 0.125]))
    #expect(try heard(4, 2, "mix=discrete") == product(4, [1, -0.5]))
  }

  @Test func modulationsChangeByCrossfadeWhenCountsDo() throws {
    for kind in ["gain", "filter freq=2kHz"] {
      let port = kind == "gain" ? "gain" : "q"
      let bench = try start(
        """
        node mod input channels=2
        node mic input channels=1
        node pair input channels=2
        node quad input channels=4
        node g \(kind)
        node out output channels=2
        connect mic -> g
        connect mod -> g.\(port) gain=-12dB
        connect g -> out
        """)
      edit(bench, "connect pair -> g gain=-20dB")
      edit(bench, "connect mod -> g.\(port) gain=-12dB mix=discrete", then: 100)
      edit(bench, "connect mod -> g.\(port) gain=-12dB map=[1,0]", then: 100)
      edit(bench, "connect quad -> g gain=-20dB", then: 100)
      edit(bench, "disconnect pair -> g", then: 300)
      edit(bench, "disconnect quad -> g", then: 100)
      edit(bench, "undo", then: 100)
      edit(bench, "undo")
      edit(bench, "undo")
      expectUnheard(bench, kind, tolerance: 1e-5)
    }
  }

  @Test func countsGoDownAroundACycleAsANewLoadFindsThem() throws {
    let bench = try start(
      """
      node mic input channels=1
      node pair input channels=2
      node a gain
      node b gain
      node place pan
      node out output
      connect mic -> a gain=-12dB
      connect a -> b
      connect b -> a gain=-12dB
      connect b -> place
      connect place -> out
      """)
    edit(bench, "connect pair -> b gain=-20dB")
    expectUnheard(bench, "up", tolerance: 1e-6)
    edit(bench, "disconnect pair -> b")
    #expect(bench.engine.report().nodes.first { $0.name == "a" }?.inputs.first?.channels == 1)
    expectUnheard(bench, "down", tolerance: 1e-6)
  }
}

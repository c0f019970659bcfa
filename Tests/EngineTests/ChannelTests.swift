import Engine
import Foundation
import Patch
import PatchLanguage
import TestSupport
import Testing

/// Channel mapping between counts: the Web Audio API's speaker rules, 1:1, and maps.
@Suite struct ChannelTests {
  private static let counts = [1, 2, 4, 6]
  private static let pairs = counts.flatMap { from in counts.map { (from, $0) } }
  /// Constant of each driver channel. All subsets have different sums.
  private static let sounds: [Float] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625]

  /// Steady value at each output channel.
  private func heard(_ from: Int, _ to: Int, _ attributes: String) throws -> [Float] {
    let bench = Bench()
    for (channel, sound) in Self.sounds.enumerated() { bench.feed(sound, channel: channel) }
    try bench.begin(
      """
      node mic input channels=\(from)
      node out output channels=\(to)
      connect mic -> out \(attributes)
      """)
    bench.render(128)
    return (0..<to).map { bench.heard[$0][100] }
  }

  /// W3C, Web Audio API (Recommendation of 17 June 2021), 4.7 "Speaker Channel Layouts": up- and down-mixing,
  /// written out as in the text. 5.1 is L, R, C, LFE, SL, SR.
  private func specified(_ x: [Double], _ to: Int) -> [Double] {
    let h = 0.5.squareRoot()
    switch (x.count, to) {
    case (1, 2): return [x[0], x[0]]
    case (1, 4): return [x[0], x[0], 0, 0]
    case (1, 6): return [0, 0, x[0], 0, 0, 0]
    case (2, 4): return [x[0], x[1], 0, 0]
    case (2, 6): return [x[0], x[1], 0, 0, 0, 0]
    case (4, 6): return [x[0], x[1], 0, 0, x[2], x[3]]
    case (2, 1): return [0.5 * (x[0] + x[1])]
    case (4, 1): return [0.25 * (x[0] + x[1] + x[2] + x[3])]
    case (6, 1): return [h * (x[0] + x[1]) + x[2] + 0.5 * (x[4] + x[5])]
    case (4, 2): return [0.5 * (x[0] + x[2]), 0.5 * (x[1] + x[3])]
    case (6, 2): return [x[0] + h * (x[2] + x[4]), x[1] + h * (x[2] + x[5])]
    case (6, 4): return [x[0] + h * x[2], x[1] + h * x[2], x[4], x[5]]
    default: return x
    }
  }

  @Test(arguments: pairs)
  func allSixteenPairsOf124And6ChannelsAreAsTheWebAudioAPISpecifies(from: Int, to: Int) throws {
    let sound = try heard(from, to, "")
    let wanted = specified(Self.sounds.prefix(from).map(Double.init), to)
    #expect(wanted.count == to)
    for channel in 0..<to {
      #expect(abs(Double(sound[channel]) - wanted[channel]) < 1e-6, "channel \(channel): \(sound[channel])")
    }
  }

  @Test(arguments: pairs)
  func mixDiscreteBringsEachChannelToTheOneOfItsNumber(from: Int, to: Int) throws {
    let sound = try heard(from, to, "mix=discrete")
    #expect(sound == (0..<to).map { $0 < from ? Self.sounds[$0] : 0 })
  }

  @Test func aChannelOfAMapIsAnyOfTheSourcesOrNone() throws {
    for code in 0..<64 {
      let map = (0..<3).map { code >> (2 * $0) & 3 - 1 }
      let sound = try heard(3, 3, "map=[\(map.map(String.init).joined(separator: ","))]")
      #expect(sound == map.map { $0 < 0 ? 0 : Self.sounds[$0] }, "\(map)")
    }
    #expect(try heard(2, 4, "map=[1]") == [0.25, 0, 0, 0])
    #expect(try heard(2, 1, "map=[1,0]") == [0.25])
  }

  @Test func aMapsSourceThatIsNotThereIsAnErrorWithItsPlaceOneThatGoesBecomesNone() throws {
    let text = """
      sostenuto 1
      node pair random channels=2
      node out output channels=4
      connect pair -> out map=[0,1,2,-1]
      """
    let read = PatchReader.read(text, file: "a.patch", catalogue: KindRegistry.builtIn.catalogue)
    #expect(
      read.diagnostics.map(\.description) == [
        "a.patch:4:30: error: `pair.out` has no channel 2; channels go from 0 to 1, -1 is none"
      ])
    var draft = try Draft(
      "node pair random channels=2\nnode out output\nconnect pair -> out gain=-3dB map=[1,0]\n")
    let before = draft.patch
    func lines() -> String { PatchWriter.write(draft.patch, catalogue: KindRegistry.builtIn.catalogue) }
    for line in ["set pair.channels 1", "replace pair random"] {
      _ = draft.perform(line)
      #expect(lines().contains("map=[-1,0]"), "\(line): \(lines())")
      _ = draft.perform("undo")
      #expect(draft.patch == before, "\(line): \(lines())")
    }
    guard case .refused = draft.perform("connect pair -> out map=[2]") else {
      Issue.record("a channel that is not there was taken")
      return
    }
    _ = draft.perform("set pair.channels 3")
    guard case .edited = draft.perform("connect pair -> out map=[2]") else {
      Issue.record("a channel that is there was refused")
      return
    }
  }

  // MARK: Examples

  private func example(_ name: String) throws -> Bench {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOfFile: folder.path + "/Patches/basics/\(name).patch", encoding: .utf8)
    let bench = Bench()
    bench.feed(0.25)
    try bench.begin(text.replacingOccurrences(of: "sostenuto 1\n", with: ""))
    bench.render(4800)
    return bench
  }

  /// The same source alone, 1:1.
  private func alone(_ lines: String, channels: Int = 2) throws -> [[Float]] {
    let bench = Bench()
    try bench.begin(lines + "\nnode out output channels=\(channels)\nconnect pair -> out mix=discrete\n")
    bench.render(4800)
    return bench.heard
  }

  @Test func aMonoMicrophoneIsHeardOnBothSides() throws {
    let bench = try example("02-mono-to-both-sides")
    #expect(bench.heard[0] == [Float](repeating: 0.25, count: 4800))
    #expect(bench.heard[1] == bench.heard[0])
    #expect(bench.engine.endpoints.map(\.name) == ["microphone", "out"])
  }

  @Test func aStereoSourceIsHeardOnOutputsThreeAndFour() throws {
    let bench = try example("03-stereo-to-outputs-3-and-4")
    let pair = try alone("node pair oscillator freq=[220Hz,277.18Hz] level=-18dB channels=2")
    #expect(bench.heard[0].allSatisfy { $0 == 0 } && bench.heard[1].allSatisfy { $0 == 0 })
    #expect(bench.heard[2] == pair[0] && bench.heard[3] == pair[1])
    #expect(pair[0].contains { $0 > 0.1 } && pair[0] != pair[1])
  }

  @Test func invertedChannelsAreSwapped() throws {
    let bench = try example("04-swapped-sides")
    let pair = try alone("node pair oscillator freq=[220Hz,330Hz] level=-18dB channels=2")
    #expect(bench.heard[0] == pair[1] && bench.heard[1] == pair[0])
  }

  @Test func stereoBecomesMonoByHalfOfEachSide() throws {
    let bench = try example("05-stereo-to-mono")
    let pair = try alone("node pair oscillator freq=[220Hz,330Hz] level=-18dB channels=2")
    #expect(distance(bench.heard[0], zip(pair[0], pair[1]).map { 0.5 * ($0 + $1) }) < 1e-7)
    #expect(bench.heard[1].allSatisfy { $0 == 0 })
  }

  @Test func fourOutputsCarryTwoStereoSources() throws {
    let bench = try example("06-four-outputs-from-two")
    let low = try alone("node pair oscillator freq=[110Hz,138.59Hz] level=-18dB channels=2")
    let high = try alone("node pair oscillator freq=[440Hz,554.37Hz] level=-24dB channels=2")
    #expect(bench.heard[0] == low[0] && bench.heard[1] == low[1])
    #expect(bench.heard[2] == high[0] && bench.heard[3] == high[1])
  }

  // MARK: Several ports

  @Test func everyInputAndOutputHasPortsOfItsOwnName() throws {
    let bench = Bench()
    bench.feed(0.5)
    bench.feed(0.25, channel: 1)
    bench.feed(0.125, channel: 2)
    try bench.begin(
      """
      node left input channels=1
      node wide input channels=2 port=room
      node main output port=monitors
      node cue output channels=1 port=headphones
      connect left -> main map=[0]
      connect wide -> cue map=[1]
      """)
    bench.render(640)
    func ends() -> [String] { bench.engine.endpoints.map { "\($0.name) \($0.firstChannel) \($0.channels)" } }
    #expect(ends() == ["left 0 1", "room 1 2", "monitors 0 2", "headphones 2 1"])
    #expect(bench.heard.prefix(3).map { $0[600] } == [0.5, 0, 0.125])
    bench.perform("set cue.port \"\" ; set left.port vocals")
    bench.render(640)
    #expect(ends() == ["vocals 0 1", "room 1 2", "monitors 0 2", "cue 2 1"])
    #expect(bench.heard.prefix(3).map { $0[1200] } == [0.5, 0, 0.125])
  }

  @Test func aDriverWithFewerChannelsIsMarkedUntilItHasThem() throws {
    let bench = Bench()
    try bench.begin(
      """
      node tone oscillator
      node mic input channels=1
      node out output channels=4
      connect tone -> out map=[0,0,0,0]
      connect mic -> out
      """)
    bench.render(64)
    func lacking() -> [String: Int] {
      Dictionary(uniqueKeysWithValues: bench.engine.report().nodes.map { ($0.name, $0.lackingChannels) })
    }
    #expect(lacking() == ["tone": 0, "mic": 0, "out": 0])
    bench.engine.device = DeviceChannels(inputs: 0, outputs: 2)
    #expect(lacking() == ["tone": 0, "mic": 1, "out": 2])
    bench.engine.device = DeviceChannels()
    #expect(lacking() == ["tone": 0, "mic": 0, "out": 0])
  }
}

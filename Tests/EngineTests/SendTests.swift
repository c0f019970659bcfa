import Engine
import Foundation
import Instruments
import Patch
import Realtime
import Testing
import TestSupport

/// A sampler's effect sends, in a graph that is rewired during playback.
@Suite struct SendTests {
  private static let start = """
    node keys keyboard
    node piano sampler
    node main mix
    node out output
    connect keys -> piano
    connect piano -> main
    connect main -> out
    """

  /// Two sines, one with an envelope; half of each goes to the reverb send and a quarter to the chorus send.
  private static func instrument() throws -> Resource {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appendingPathComponent("a.sfz")
    try Data(
      """
      <region> sample=*sine effect1=50 effect2=25 amp_veltrack=0 lfo1_freq=5 lfo1_pitch=30 cutoff=3000
      <region> sample=*sine effect1=50 effect2=25 amp_veltrack=0 transpose=7 output=1
      """.utf8
    ).write(to: path)
    return try InstrumentLoader.load(path: path.path).resource
  }

  private static func begin(_ port: String? = nil) throws -> Bench {
    let bench = Bench()
    bench.engine.isMetering = true
    try bench.begin(start)
    _ = try #require(bench.engine.addTap(node: "piano", port: port))
    bench.engine.use(try instrument(), for: try bench.id("piano"))
    bench.engine.perform(Event(.noteOn, key: 60, value: 100), on: try bench.id("keys"))
    bench.render(2400)
    return bench
  }

  private static func loudest(_ sound: ArraySlice<Float>) -> Float { sound.map { abs($0) }.max() ?? 0 }

  @Test func aHeldNoteIsTheSameBitForBitWhateverIsDoneWithItsSends() throws {
    let (still, edited) = (try Self.begin(), try Self.begin())
    let tap = try edited.tapChannel()
    for line in [
      "node room delay time=20ms", "connect piano.reverb -> room", "connect room -> main",
      "connect piano.chorus -> main gain=-6dB", "disconnect piano.reverb -> room",
      "connect piano.out2 -> room", "disconnect piano.chorus -> main", "remove room",
      "connect piano.reverb -> main", "disconnect piano.reverb -> main",
    ] {
      #expect(edited.perform(line), "\(line)")
      edited.render(700)
      still.render(700)
    }
    #expect(Self.loudest(still.heard[tap].suffix(700)) > 0.01)
    for channel in [tap, tap + 1] {
      #expect(firstDifference(still.heard[channel], edited.heard[channel]) == nil)
    }
  }

  @Test func aSendIsHeardWhereItIsConnected() throws {
    let bench = try Self.begin("reverb")
    let tap = try bench.tapChannel()
    #expect(bench.perform("disconnect piano -> main"))
    bench.settle()
    bench.render(4800)
    #expect(Self.loudest(bench.heard[0].suffix(4800)) == 0)
    #expect(bench.perform("connect piano.reverb -> main"))
    bench.settle()
    bench.render(4800)
    #expect(Self.loudest(bench.heard[tap].suffix(4800)) > 0.01)
    #expect(bench.heard[0].suffix(4800) == bench.heard[tap].suffix(4800))
  }

  @Test func aSendThatClosesACycleIsHeard() throws {
    let bench = try Self.begin("chorus")
    let tap = try bench.tapChannel()
    // The sampler's level is modulated by its own send.
    for line in ["node g gain gain=-60dB", "connect g -> piano.level", "connect piano.reverb -> g"] {
      #expect(bench.perform(line), "\(line)")
    }
    #expect(bench.perform("disconnect piano -> main"))
    #expect(bench.perform("connect g -> main"))
    bench.settle()
    bench.render(4800)
    #expect(Self.loudest(bench.heard[0].suffix(4800)) > 1e-5)
    #expect(Self.loudest(bench.heard[tap].suffix(4800)) > 0.01)
  }

  @Test func whatReplacesASamplerDoesNotPlayWholeIntoItsSends() throws {
    var draft = try Draft(Self.start + "\nnode room delay\nconnect piano.reverb -> room")
    let before = draft.patch
    func outlets() -> [String] {
      draft.patch.cables.keys.map { draft.patch.name(of: $0).description }.filter { $0.hasPrefix("piano") }
    }
    _ = draft.perform("replace piano oscillator")
    #expect(outlets() == ["piano.out -> main.in"])
    _ = draft.perform("undo")
    #expect(draft.patch == before)
    _ = draft.perform("replace piano sampler polyphony=8")
    #expect(outlets().sorted() == ["piano.out -> main.in", "piano.reverb -> room.in"])
  }

  @Test func metersOfAnOutputThatNobodyReadsAreAtRest() throws {
    let bench = try Self.begin()
    func peak(_ port: String) -> Float {
      let piano = bench.engine.report().nodes.first { $0.name == "piano" }
      return piano?.outputs.first { $0.name == port }?.means.max() ?? -1
    }
    #expect(peak("out") > 0.01 && peak("reverb") == 0)
    #expect(bench.perform("connect piano.reverb -> main"))
    bench.settle()
    bench.render(9600)
    #expect(peak("reverb") > 0.01)
    #expect(bench.perform("disconnect piano.reverb -> main"))
    bench.settle()
    bench.render(640)
    #expect(peak("out") > 0.01 && peak("reverb") == 0)
  }
}

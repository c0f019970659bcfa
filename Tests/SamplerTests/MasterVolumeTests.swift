import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// The volume that a system exclusive message gives the whole instrument.
@Suite struct MasterVolumes {
  let folder = Folder()

  func rig() throws -> Rig<Sampler> {
    folder.wav("one.wav", [[Float](repeating: 0.5, count: 4000)])
    let text = "<region> sample=one.wav loop_mode=loop_continuous amp_veltrack=0 effect1=50"
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: folder.write("a.sfz", text)).resource)
    rig.read = ["reverb"]
    return rig
  }

  @Test func itCountsAsASquareForAllChannelsAndAllOutputs() throws {
    let rig = try rig()
    let plain = rig.run(4800, [(0, .on(60)), (0, Event(.noteOn, channel: 9, key: 70, value: 100))])
    let send = rig.heard["reverb"]![0]
    let quiet = rig.run(4800, [(4800, Event(.masterVolume, value: 0.5))])
    #expect(near(quiet[0][4700] / plain[0][4700], 0.25, 1e-5))
    #expect(near(quiet[1][4700] / plain[1][4700], 0.25, 1e-5))
    #expect(near(rig.heard["reverb"]![0][4700] / send[4700], 0.25, 1e-5))
    // Notes to come have it as well; and it may be nothing.
    let chord = rig.run(4800, [(Int(rig.time), .on(72))])
    #expect(near(chord[0][4700] / plain[0][4700], 0.375, 1e-5))
    let silence = rig.run(4800, [(Int(rig.time), Event(.masterVolume, value: 0))])
    #expect(silence[0][4700] == 0)
    // A controller that resets others leaves it, a reset of the module does not.
    let still = rig.run(4800, [(Int(rig.time), .control(121, 0))])
    #expect(still[0].allSatisfy { $0 == 0 })
    let start = Int(rig.time)
    let back = rig.run(4800, [(start, Event(.reset)), (start, .control(7, 127)), (start, .on(60))])
    #expect(near(back[0][4700] / plain[0][4700], 0.5, 1e-5))
  }

  /// It moves without a step, from wherever it is, and the same in blocks of any length.
  @Test(arguments: [81, 82] as [UInt64]) func itNeverJumps(seed: UInt64) throws {
    print("seed", seed)
    var random = SeededGenerator(seed: seed)
    var events: [(Int, Event)] = [(0, .on(60))]
    for _ in 0..<60 {
      let value = [0, 0.3, 1, Float.random(in: 0...1, using: &random)].randomElement(using: &random)!
      events.append((Int.random(in: 100..<20_000, using: &random), Event(.masterVolume, value: value)))
    }
    events.sort { $0.0 < $1.0 }
    let whole = try rig().run(24_000, events)
    let split = try rig().run(24_000, events) { Int.random(in: 1...64, using: &random) }
    #expect(whole == split)
    // 5 ms for all of it.
    for frame in 200..<24_000 { #expect(abs(whole[0][frame] - whole[0][frame - 1]) < 0.5 * 1.01 / 240) }
    #expect(whole[0][200..<20_000].contains { $0 < 0.01 } && whole[0][200..<20_000].contains { $0 > 0.49 })
  }
}

import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

@Suite struct PlayingSamples {
  let folder = Folder()

  func sampler(_ path: String, values: [Int: Float] = [:]) throws -> (Rig<Sampler>, Resource) {
    let (resource, _) = try InstrumentLoader.load(path: path)
    let rig = Rig<Sampler>(Sampler.description, values: values)
    rig.use(resource)
    return (rig, resource)
  }

  @Test func aFileAtItsOwnPitchIsPlayedUnaltered() throws {
    let samples = noise(1000)
    let (rig, _) = try sampler(folder.wav("a.wav", [samples]))
    let output = rig.run(1200, [(37, .on(60))])
    let expected = [Float](repeating: 0, count: 37) + samples + [Float](repeating: 0, count: 163)
    #expect(output[0] == expected)
    #expect(output[1] == expected)
    #expect(rig.kernel.voices == 0)
  }

  @Test func stereoKeepsItsSides() throws {
    let left = noise(300, seed: 2)
    let right = noise(300, seed: 3)
    let (rig, _) = try sampler(folder.wav("a.wav", [left, right]))
    let output = rig.run(300, [(0, .on(60))])
    #expect(output == [left, right])
  }

  @Test func aLoopRepeatsItsFramesExactly() throws {
    let samples = noise(500)
    let path = folder.wav("a.wav", [samples], loop: 100...249, key: 60)
    let (rig, _) = try sampler(path)
    let output = rig.run(3000, [(0, .on(60))])
    let expected = (0..<3000).map { (frame: Int) -> Float in
      frame < 250 ? samples[frame] : samples[100 + (frame - 250) % 150]
    }
    #expect(output[0] == expected)
    #expect(rig.kernel.voices == 1)
  }

  /// The phase after one second measures the pitch far below the audible difference.
  @Test(arguments: [60, 61, 67, 72, 48, 91]) func keysSoundInTune(key: UInt8) throws {
    let period = 480.0
    let path = folder.wav("a.wav", [sine(4800, period: period)], loop: 0...4799, key: 60)
    let (rig, _) = try sampler(path)
    let frames = 24000
    let output = rig.run(frames, [(0, .on(key))])[0]
    var crossings: [Double] = []
    for index in 1..<frames where output[index - 1] < 0 && output[index] >= 0 {
      crossings.append(Double(index) - Double(output[index]) / Double(output[index] - output[index - 1]))
    }
    let measured = (crossings.last! - crossings.first!) / Double(crossings.count - 1)
    let expected = period / pow(2, (Double(key) - 60) / 12)
    let cents = 1200 * log2(expected / measured)
    #expect(abs(cents) < 0.05, "off by \(cents) cents")
  }

  @Test func filesAtOtherRatesKeepTheirPitch() throws {
    let path = folder.wav("a.wav", [sine(4410, period: 441)], rate: 44100, loop: 0...4409, key: 60)
    let (rig, _) = try sampler(path)
    let output = rig.run(48000, [(0, .on(60))])[0]
    let crossings = (1..<48000).count { (index: Int) -> Bool in output[index - 1] < 0 && output[index] >= 0 }
    #expect((99...100).contains(crossings))
  }

  /// A looped voice between the sample's frames must be as smooth at the loop point as elsewhere.
  @Test func theSeamOfALoopIsInaudible() throws {
    let path = folder.wav("a.wav", [sine(960, period: 96)], loop: 0...959, key: 60)
    let (rig, _) = try sampler(path)
    let output = rig.run(9600, [(0, .on(61))])[0]
    let step = 2 * Double.pi / 96 * pow(2, 1.0 / 12)
    for index in 2..<9600 {
      // The second difference of a sine is -(2 sin(step/2))^2 times its middle value.
      let curve = Double(output[index] - 2 * output[index - 1] + output[index - 2])
      let expected = -pow(2 * sin(step / 2), 2) * Double(output[index - 1])
      #expect(abs(curve - expected) < 2e-4, "frame \(index)")
      if abs(curve - expected) >= 2e-4 { return }
    }
  }

  @Test func theSplitIntoBlocksChangesNoBit() throws {
    let seed: UInt64 = 20_260_101
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let path = folder.wav("a.wav", [noise(3000), noise(3000, seed: 5)], loop: 700...900, key: 60)
    folder.write(
      "a.sfz",
      """
      <region> sample=a.wav key=60 lokey=0 hikey=127 ampeg_attack=0.01 ampeg_hold=0.003 ampeg_decay=0.05
      ampeg_sustain=40 ampeg_release=0.04 loop_mode=loop_sustain ampeg_delay=0.001 pan=-20
      """)
    _ = path
    var events: [(Int, Event)] = []
    for index in 0..<60 {
      let key = UInt8.random(in: 40...90, using: &random)
      let at = Int.random(in: 0..<3000, using: &random)
      events.append((at, .on(key, Float.random(in: 1...127, using: &random))))
      events.append((at + Int.random(in: 1..<2000, using: &random), .off(key)))
      if index % 10 == 0 { events.append((at, .control(64, index % 20 == 0 ? 127 : 0))) }
      if index % 15 == 0 {
        events.append((at, Event(.bend, value: Float.random(in: -1...1, using: &random))))
      }
    }
    events = events.enumerated().sorted { ($0.1.0, $0.0) < ($1.1.0, $1.0) }.map(\.1)
    var reference: [[Float]] = []
    for mode in 0..<4 {
      let (rig, _) = try sampler(folder.path + "a.sfz", values: [3: 12])
      rig.streams[5] = { $0 < 1000 ? 0 : ($0 < 3000 ? Float($0 - 1000) * 0.1 : 200) }
      let output = rig.run(5000, events) {
        switch mode {
        case 0: 64
        case 1: 3
        case 2: 17
        default: Int.random(in: 1...64, using: &random)
        }
      }
      if mode == 0 {
        reference = output
        #expect(output[0].contains { $0 != 0 })
      }
      #expect(output == reference, "split \(mode)")
    }
  }

  @Test func aTuneThatMovesAndThenRestsIsTheSameAsOneThatIsSet() throws {
    let path = folder.wav("a.wav", [noise(2000)], loop: 100...1800, key: 60)
    let (moving, _) = try sampler(path)
    moving.streams[5] = { _ in 123 }
    let (steady, _) = try sampler(path)
    steady.setParameter(5, 123)
    let events: [(Int, Event)] = [(5, .on(64))]
    #expect(moving.run(5000, events) == steady.run(5000, events))
  }

  @Test func anotherVoiceLeavesTheFirstAlone() throws {
    let path = folder.wav("a.wav", [noise(2000)], loop: 100...1800, key: 60)
    let (alone, _) = try sampler(path)
    let (both, _) = try sampler(path)
    let (other, _) = try sampler(path)
    let a = alone.run(4000, [(0, .on(64))])[0]
    let b = other.run(4000, [(1000, .on(71))])[0]
    let sum = both.run(4000, [(0, .on(64)), (1000, .on(71))])[0]
    #expect(sum == zip(a, b).map { $0 + $1 })
  }
}

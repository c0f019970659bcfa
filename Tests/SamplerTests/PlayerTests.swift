import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

@Suite struct PlayingFiles {
  let folder = Folder()

  func player(
    _ planes: [[Float]], rate: UInt32 = 48000, channels: Int = 2, values: [Int: Float] = [:]
  ) throws -> (Rig<Player>, Resource) {
    let path = folder.wav("p.wav", planes, rate: rate)
    let (resource, report) = try AudioFileLoader.load(path: path, rate: 48000)
    #expect(report.channels == planes.count)
    let rig = Rig<Player>(Player.description, channels: channels, values: values)
    rig.use(resource)
    return (rig, resource)
  }

  @Test func playBeginsAtItsFrameWithTheFilesFirst() throws {
    let left = noise(1000)
    let right = noise(1000, seed: 4)
    let (rig, resource) = try player([left, right])
    let output = rig.run(1300, [(101, Event(.play))])
    let silence = [Float](repeating: 0, count: 101)
    let rest = [Float](repeating: 0, count: 199)
    #expect(output[0] == silence + left + rest)
    #expect(output[1] == silence + right + rest)
    #expect(rig.kernel.voices == 0)
    #expect(resource.header.pointee.uses == 1)
  }

  @Test func aMonoFileGoesToAllChannels() throws {
    let samples = noise(200)
    let (rig, _) = try player([samples], channels: 3)
    #expect(rig.run(200, [(0, Event(.play))]) == [samples, samples, samples])
  }

  @Test func aStereoFileFoldsIntoOneChannel() throws {
    let (rig, _) = try player([[0.5, 0.25], [0.25, 0.5]], channels: 1)
    #expect(rig.run(2, [(0, Event(.play))]) == [[0.375, 0.375]])
  }

  @Test func autoplayBeginsWhenTheFileComes() throws {
    let samples = noise(200)
    let (rig, _) = try player([samples], values: [2: 1])
    #expect(rig.run(200)[0] == samples)
    var waiting = Rig<Player>(Player.description, values: [2: 1]).kernel
    let isFinished = waiting.isFinished()
    #expect(!isFinished)
  }

  @Test func aLoopGoesRound() throws {
    let samples = noise(300)
    let (rig, _) = try player([samples], values: [1: 1])
    let output = rig.run(1000, [(0, Event(.play))])[0]
    #expect(output == (0..<1000).map { samples[$0 % 300] })
  }

  /// Backwards, `play` from the beginning begins at the end, with its own rate's frames, and plays each once.
  @Test(arguments: [1, 101]) func backwardsItBeginsAtTheEnd(start: Int) throws {
    let samples = noise(1000)
    let (rig, resource) = try player([samples], channels: 1, values: [3: -1])
    let output = rig.run(4000, [(start, Event(.play)), (2500, Event(.noteOn, key: 60, value: 100))])[0]
    #expect(Array(output[start..<start + 1000]) == samples.reversed())
    #expect(Array(output[2500..<3500]) == samples.reversed())
    #expect(output[(start + 1000)..<2500].allSatisfy { $0 == 0 } && output[3500...].allSatisfy { $0 == 0 })
    #expect(resource.header.pointee.uses == 1)
  }

  @Test func stoppingAndStartingInTheMiddleIsWithoutAStep() throws {
    let (rig, resource) = try player([sine(48000, period: 480, amplitude: 1)], values: [1: 1])
    let output = rig.run(
      24000,
      [
        (0, Event(.play)), (5000, Event(.stop)), (9000, Event(.play)), (14000, Event(.play, time: 0.123)),
        (19000, Event(.cue, time: 0.5)),
      ])[0]
    let steady = 2 * Float.pi / 480
    for index in 1..<24000 {
      // Upper bound of a crossfade of two sines and a 10 ms fade.
      #expect(abs(output[index] - output[index - 1]) < steady * 2)
    }
    #expect(output[5480..<9000].allSatisfy { $0 == 0 })
    #expect(output[4000] != 0)
    #expect(resource.header.pointee.uses == 2)
  }

  @Test func aStopIsAPauseAndPlayGoesOn() throws {
    let samples = (0..<48000).map { Float($0) / 48000 }
    let (rig, _) = try player([samples])
    let output = rig.run(12000, [(0, Event(.play)), (1000, Event(.stop)), (5000, Event(.play))])[0]
    #expect(output[999] == samples[999])
    #expect(output[5000 + 480] == samples[1000 + 480])
  }

  @Test func halfTheRateIsAnOctaveBelow() throws {
    let (rig, _) = try player([sine(48000, period: 100)], values: [1: 1, 3: 0.5])
    let output = rig.run(20000, [(0, Event(.play))])[0]
    for index in 200..<20000 {
      let expected = 0.5 * sin(2 * Double.pi * Double(index) / 200)
      #expect(abs(Double(output[index]) - expected) < 1e-4)
    }
  }

  /// At a rate of zero, wherever it stops and for however long, the player stays at its position, silent, and
  /// continues from there.
  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64]) func aRateOfZeroHoldsThePlace(seed: UInt64) throws {
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let samples = (0..<48_000).map { 0.1 + 0.8 * Float($0) / 48_000 }
    let isLooping = Bool.random(using: &random)
    let before = [1, -1, 0.5, -2].randomElement(using: &random)! as Float
    let (rig, resource) = try player([samples], values: [1: isLooping ? 1 : 0])
    let stop = Int.random(in: 100...9_000, using: &random)
    let ramp = Int.random(in: 0...480, using: &random)
    let go = stop + ramp + Int.random(in: 1...400_000, using: &random)
    func speed(_ time: Int64) -> Float {
      let frame = Int(time)
      func part(_ since: Int) -> Float { ramp == 0 ? 1 : min(1, Float(since) / Float(ramp)) }
      if frame < stop { return before }
      return frame < go ? before * (1 - part(frame - stop)) : part(frame - go)
    }
    rig.streams[3] = speed
    let output = rig.run(go + 4_000, [(0, Event(.play, time: 0.5))])[0]
    #expect(output[stop - 1] > 0.1)
    #expect(output[min(stop + ramp + 481, go)..<go].allSatisfy { $0 == 0 })
    #expect(resource.header.pointee.uses == 2, "it has not ended")
    var place = 24_000.0
    for frame in 0..<go + 2_000 { place += Double(speed(Int64(frame))) }
    #expect(abs(output[go + 2_000] - (0.1 + 0.8 * Float(place) / 48_000)) < 1e-3)
    // A fade of 10 ms is no steeper.
    let steepest = zip(output.dropFirst(), output).dropFirst(500).reduce(0) { max($0, abs($1.0 - $1.1)) }
    #expect(steepest < 1.9 / 480, "a step of \(steepest)")
  }

  @Test func filesAtOtherRatesAreConverted() throws {
    let (rig, _) = try player([sine(44100, period: 44.1)], rate: 44100)
    let output = rig.run(40000, [(0, Event(.play))])[0]
    var worst = 0.0
    for index in 1000..<39000 {
      worst = max(worst, abs(Double(output[index]) - 0.5 * sin(2 * .pi * Double(index) / 48)))
    }
    #expect(worst < 1e-4)
  }

  @Test func theSplitIntoBlocksChangesNoBit() throws {
    let seed: UInt64 = 77
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    var reference: [[Float]] = []
    let events: [(Int, Event)] = [
      (3, Event(.play)), (2000, Event(.stop)), (2300, Event(.play)), (4000, Event(.cue, time: 0.001)),
      (4100, Event(.play, time: 0.02)), (4150, Event(.play, time: 0.03)),
    ]
    for mode in 0..<3 {
      let (rig, _) = try player([noise(3000), noise(3000, seed: 9)], values: [1: 1])
      rig.streams[3] = { $0 < 1000 ? 1 : 1 + Float($0 - 1000) * 0.0003 }
      rig.streams[4] = { 1 / (1 + Float($0) * 0.0001) }
      let output = rig.run(6000, events) { [64, 13, Int.random(in: 1...64, using: &random)][mode] }
      if mode == 0 { reference = output }
      #expect(output == reference)
    }
  }

  /// A file may begin with any number: where an edit puts it in another's place, it comes by a fade.
  @Test func anotherFilesFirstFrameIsNoStep() throws {
    let (rig, _) = try player([sine(4800, period: 480, amplitude: 0.5)], channels: 1, values: [1: 1, 2: 1])
    _ = rig.run(1000)
    let path = folder.wav("loud.wav", [[Float](repeating: 0.5, count: 4800)])
    let before = rig.run(1)[0][0]
    rig.use(try AudioFileLoader.load(path: path, rate: 48000).resource)
    let after = [before] + rig.run(2000)[0]
    let steps = zip(after, after.dropFirst()).map { abs($1 - $0) }
    #expect(steps.max()! < 0.01)
    #expect(abs(after.last! - 0.5) < 1e-6)
  }

  @Test func anotherFileTakesOverWhilePlaying() throws {
    let (rig, old) = try player([sine(48000, period: 480)])
    _ = rig.run(1000, [(0, Event(.play))])
    let second = folder.wav("q.wav", [[Float](repeating: 0.25, count: 48000)])
    let (new, _) = try AudioFileLoader.load(path: second, rate: 48000)
    rig.use(new)
    let output = rig.run(1000)[0]
    #expect(output[999] == 0.25)
    #expect(old.header.pointee.uses == 0)
    #expect(new.header.pointee.uses == 2)
  }

  /// A new driver rate means a new conversion of the file. Playback continues from its position; a stopped
  /// player resumes from there.
  @Test(arguments: [false, true]) func theSameFileAtAnotherRateGoesOn(isStopped: Bool) throws {
    let path = folder.wav("p.wav", [sine(48000, period: 480, amplitude: 0.5)])
    let rig = Rig<Player>(Player.description, rate: 96000)
    rig.use(try AudioFileLoader.load(path: path, rate: 48000).resource)
    // At twice the file's rate: 12,000 frames of it.
    _ = rig.run(24_000, [(0, Event(.play))] + (isStopped ? [(24_000 - 1, Event(.stop))] : []))
    rig.use(try AudioFileLoader.load(path: path, rate: 96000).resource)
    let output = rig.run(8000, [(24_000, Event(.play))])[0]
    for index in 960..<8000 {
      let expected = 0.5 * sin(2 * Double.pi * Double(24_000 + index - (isStopped ? 1 : 0)) / 960)
      #expect(abs(Double(output[index]) - expected) < 1e-3)
    }
  }

  @Test func damagedFilesAreErrorsOrAreSaid() throws {
    #expect(throws: LoadError.self) { try AudioFileLoader.load(path: folder.path + "no.wav", rate: 48000) }
    let garbage = folder.write("g.wav", (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) })
    #expect {
      try AudioFileLoader.load(path: garbage, rate: 48000)
    } throws: {
      "\($0)".hasPrefix(garbage + ": not a readable audio file: ")
    }
    let whole = folder.wav("w.wav", [noise(1000)])
    truncate(whole, 44 + 2000)
    let (_, cut) = try AudioFileLoader.load(path: whole, rate: 48000)
    #expect(cut.frames == 500)
    #expect(
      cut.findings.map(\.message) == ["the file is cut short: 2000 bytes are missing; 500 frames were read"])
    var samples = noise(1000)
    samples[5] = .nan
    samples[7] = .infinity
    let (_, report) = try AudioFileLoader.load(path: folder.wav("n.wav", [samples]), rate: 48000)
    #expect(
      report.findings.map(\.message) == [
        "2 samples are not numbers or louder than 120 dB; they play as silence"
      ])
    #expect(throws: LoadError.self) {
      try AudioFileLoader.load(path: folder.wav("z.wav", [samples], rate: 0), rate: 48000)
    }
    #expect(throws: LoadError.self) { try AudioFileLoader.load(path: folder.wav("e.wav", [[]]), rate: 48000) }
  }

  /// Truncated and mutated files load, or fail with a message; they never crash.
  @Test func mutatedFilesNeverCrash() {
    let seed: UInt64 = 99
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    let path = folder.wav("m.wav", [noise(300), noise(300)], loop: 10...200, key: 61)
    let file = fopen(path, "r")!
    var original = [UInt8](repeating: 0, count: 4000)
    original.removeLast(4000 - fread(&original, 1, 4000, file))
    fclose(file)
    for round in 0..<150 {
      var bytes = original
      if round % 3 == 0 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let at = Int.random(in: 0..<min(bytes.count, 120), using: &random)
        bytes[at] = [0, 0xFF, 0x7F, 0x80, UInt8.random(in: 0...255, using: &random)].randomElement(
          using: &random)!
      }
      folder.write("m.wav", bytes)
      guard let (resource, _) = try? InstrumentLoader.load(path: path) else { continue }
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource)
      let output = rig.run(200, [(0, .on(60)), (100, .off(60))])
      #expect(output[0].allSatisfy { $0.isFinite })
    }
  }
}

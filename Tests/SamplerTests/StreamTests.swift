import Glibc
import Realtime
import Synchronization
import Testing

@testable import Instruments
@testable import Sampler

@Suite struct Streams {
  let folder = Folder()
  /// A little more than six chunks.
  static let frames = 100_000

  /// Streams every file, and offline readers wait.
  static var small: LoadOptions {
    var options = LoadOptions()
    (options.largestSample, options.smallestStream, options.waits) = (0, 0, true)
    return options
  }

  /// Plays the same events on a file in memory and on a streamed one.
  func players(
    _ planes: [[Float]], rate: UInt32 = 48000, values: [Int: Float] = [:], _ events: [(Int, Event)],
    frames: Int = 48000
  ) throws -> (whole: [[Float]], streamed: [[Float]]) {
    let path = folder.wav("p.wav", planes, rate: rate)
    let results = try [LoadOptions(), Self.small].map { options in
      let rig = Rig<Player>(Player.description, values: values)
      rig.use(try AudioFileLoader.load(path: path, rate: 48000, options: options).resource)
      return rig.run(frames, events)
    }
    return (results[0], results[1])
  }

  /// Streamed playback equals the file: forwards, backwards, fast, through its loop, after jumps.
  @Test(
    arguments: [[3: 1], [3: -1], [3: 3.7], [3: -0.31], [1: 1, 3: 4], [1: 1, 3: -2.3]] as [[Int: Float]])
  func aStreamedFileIsTheFile(_ values: [Int: Float]) throws {
    let planes = [noise(Self.frames), noise(Self.frames, seed: 2)]
    let (whole, streamed) = try players(
      planes, values: values,
      [
        (0, Event(.cue, time: 0.5)), (3, Event(.play)), (9000, Event(.play, time: 1.9)),
        (20_000, Event(.stop)),
        (21_000, Event(.play)), (30_000, Event(.play, time: 0)), (44_000, Event(.play, time: 1.2)),
      ])
    #expect(whole == streamed)
    #expect(whole[0].contains { $0 != 0 })
  }

  /// A file at another rate is converted in pieces. A piece does not depend on the order of requests, and
  /// differs from the whole conversion by less than 24-bit resolution.
  @Test(arguments: [44100, 96000, 8000, 44101] as [UInt32]) func piecesOfAConversionFit(_ rate: UInt32) throws
  {
    let count = Int(rate) * 2
    let plane = sine(count, period: Double(rate) / 997)
    let (whole, streamed) = try players([plane], rate: rate, [(0, Event(.play))], frames: 90_000)
    let difference = zip(whole[0], streamed[0]).map { abs($0 - $1) }.max() ?? 1
    #expect(difference < 2e-6, "\(rate) Hz: \(difference)")
    let (_, later) = try players([plane], rate: rate, [(0, Event(.play, time: 1))], frames: 20_000)
    #expect(Array(later[0][1000...]) == Array(streamed[0][49_000..<68_000]))
  }

  /// Voices on a streamed sample equal those on one in memory, bit for bit: other pitches, loops, offsets, a
  /// bend, all three interpolations.
  @Test(arguments: [0, 1, 2] as [Float]) func streamedVoicesAreTheVoices(_ quality: Float) throws {
    let samples = noise(Self.frames)
    folder.wav("a.wav", [samples, noise(Self.frames, seed: 3)])
    let path = folder.write(
      "a.sfz",
      """
      <group> ampeg_release=0.3
      <region> sample=a.wav key=60 offset=40000
      <region> sample=a.wav lokey=61 hikey=72 pitch_keycenter=60 loop_mode=loop_continuous loop_start=1000 loop_end=70000
      <region> sample=a.wav lokey=73 hikey=90 pitch_keycenter=60 loop_mode=loop_sustain loop_start=16380 loop_end=16390
      <region> sample=a.wav lokey=20 hikey=59 pitch_keycenter=60 cutoff=3000 lfo1_freq=5 lfo1_pitch=100
      """)
    let events: [(Int, Event)] = [
      (0, .on(60)), (10, .on(72)), (100, .on(84)), (200, .on(50)), (5000, Event(.bend, value: 0.7)),
      (40_000, .off(84)), (45_000, .on(67)),
    ]
    let results = try [LoadOptions(), Self.small].map { options in
      let rig = Rig<Sampler>(Sampler.description, values: [6: quality])
      let (resource, _) = try InstrumentLoader.load(path: path, options: options)
      rig.use(resource)
      return (rig.run(60_000, events), resource.bytes)
    }
    #expect(results[0].0 == results[1].0)
  }

  /// A long sample of a bank, in 16 and in 24 bits.
  @Test(arguments: [false, true]) func banksStream(isLong: Bool) throws {
    var preset = BankWriter.Preset(
      bank: 0, program: 0, samples: noise(60_000).map { $0 * 0.9 }, loop: 20_000..<59_000,
      instrument: [(54, 1)])
    if isLong { preset.low = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 * 31) } }
    let path = folder.write("a.sf2", BankWriter.bytes([preset]))
    let results = try [LoadOptions(), Self.small].map { options in
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(try InstrumentLoader.load(path: path, options: options).resource)
      return rig.run(90_000, [(0, .on(60)), (5, .on(71))])
    }
    #expect(results[0] == results[1])
  }

  /// The stream as seen by an offline reader.
  private func waiting(_ table: StreamTable) -> StreamTable {
    StreamTable(
      frames: table.frames, chunks: table.chunks, presence: table.presence, wishes: table.wishes,
      bell: table.bell, waits: true)
  }

  /// Live, missing chunks are silence and counted as underruns; the sound resumes by itself.
  @Test func anUnderrunIsSilenceAndACount() throws {
    let samples = noise(Self.frames)
    let path = folder.wav("p.wav", [samples])
    var options = Self.small
    options.waits = false
    let (resource, _) = try AudioFileLoader.load(path: path, rate: 48000, options: options)
    let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: AudioImage.self)
    let patient = waiting(try #require(image.pointee.stream).pointee)
    let rig = Rig<Player>(Player.description, values: [1: 1])
    rig.use(resource)
    // Far beyond the preloaded head.
    var position = 90_000
    var silent = 0
    var wasSilent = true
    _ = rig.run(64, [(0, Event(.play, time: Double(position) / 48000))])
    position += 64
    for _ in 0..<3000 {
      // After the fade-in, each block is the file or silence.
      let block = rig.run(64)[0]
      let file = (0..<64).map { samples[(position + $0) % Self.frames] }
      position = (position + 64) % Self.frames
      if rig.time < 1000 { continue }
      wasSilent = block.allSatisfy { $0 == 0 }
      if wasSilent { silent += 1 } else if block != file { Issue.record("neither the file nor silence") }
      if wasSilent { _ = patient.has(position - 64, position + 128, resource.header) }
    }
    #expect(!wasSilent)
    #expect(resource.underruns > 0 || silent == 0)
    #expect(resource.underruns <= 3000)
  }

  /// Live, a note that starts in a part not yet read begins late, with its attack, and is counted.
  @Test func aNoteThatBeginsBeyondTheHeadComesLateAndWhole() throws {
    let samples = noise(Self.frames)
    folder.wav("a.wav", [samples])
    let path = folder.write(
      "a.sfz", "<region> sample=a.wav amp_veltrack=0 offset_oncc1=90000")
    var options = Self.small
    options.waits = false
    let (resource, _) = try InstrumentLoader.load(path: path, options: options)
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(resource)
    var block = rig.run(64, [(0, .control(1, 127)), (0, .on(60))])[0]
    let isLate = block.allSatisfy { $0 == 0 }
    let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: InstrumentImage.self)
    let patient = waiting(try #require(image.pointee.regions[0].stream).pointee)
    for _ in 0..<3000 where block.allSatisfy({ $0 == 0 }) {
      _ = patient.has(90_000, 90_200, resource.header)
      block = rig.run(64)[0]
    }
    #expect(block == Array(samples[90_000..<90_064]))
    #expect(resource.underruns > 0 || !isLate)
    // A note that ends before it could begin is silent.
    let (again, _) = try InstrumentLoader.load(path: path, options: options)
    rig.use(again)
    let start = Int(rig.time) + 640
    _ = rig.run(640, [(start - 640, Event(.allSoundOff))])
    let late = rig.run(64, [(start, .on(60)), (start + 32, .off(60))])[0]
    #expect(late.allSatisfy { $0 == 0 } == (rig.kernel.voices == 0))
  }

  /// At its first pass, a loop needs its last frames for the interpolation at its start: they are loaded.
  @Test(arguments: [1, 0.5] as [Float]) func aLoopBeginsWithoutAnUnderrun(rate: Float) throws {
    let path = folder.wav("p.wav", [noise(Self.frames)])
    var options = Self.small
    options.waits = false
    let (resource, _) = try AudioFileLoader.load(path: path, rate: 48000, options: options)
    let rig = Rig<Player>(Player.description, values: [1: 1, 3: rate])
    rig.use(resource)
    let output = rig.run(1000, [(0, Event(.play))])[0]
    #expect(output.allSatisfy { $0 != 0 })
    #expect(resource.underruns == 0)
  }

  /// Unused chunks leave memory, except for the heads; chunks in use stay.
  @Test func unusedChunksLeave() throws {
    final class Counter: FrameSource {
      var reads = 0
      func read(_ first: Int, _ count: Int, into memory: UnsafeMutableRawPointer, stride: Int) {
        reads += 1
        for frame in 0..<count { memory.assumingMemoryBound(to: Float.self)[frame] = Float(first + frame) }
      }
      func rest() {}
    }
    let source = Counter()
    let size = StreamTable.chunkFrames
    let stream = try SampleStream(
      source, channels: 1, frames: 10 * size, isShort: false, waits: false, path: "a")
    var header = ResourceHeader(type: 2)
    stream.pin(0)
    #expect(source.reads == 3)
    let plane = SamplePlane(base: UnsafeRawPointer(stream.first), isShort: false)
    func has(_ frame: Int) -> Bool { stream.table.pointee.has(frame, frame, &header) }
    #expect(has(0) && !has(5 * size))
    #expect(header.underruns == 1)
    #expect(stream.urgency == StreamTable.Wish.now)
    stream.fulfil(stream.urgency)
    #expect(has(5 * size) && plane[5 * size + 7] == Float(5 * size + 7))
    #expect(stream.urgency == StreamTable.Wish.none)
    // Chunks ahead, in the direction of playback.
    stream.table.pointee.expect(7 * size, pace: -1)
    #expect(stream.urgency == StreamTable.Wish.next)
    while stream.urgency > 0 { stream.fulfil(stream.urgency) }
    #expect(has(6 * size) && has(7 * size) && has(4 * size) && !has(8 * size))
    let full = stream.bytes
    for _ in 0..<20 {
      stream.age()
      _ = has(5 * size)
    }
    #expect(has(5 * size) && has(2 * size))
    #expect(!has(7 * size))
    #expect(stream.bytes < full)
    #expect(plane[5 * size] == Float(5 * size))
    // A chunk in use stays until its reader has left.
    stream.table.pointee.keep(8 * size, true)
    while stream.urgency > 0 { stream.fulfil(stream.urgency) }
    for _ in 0..<20 { stream.age() }
    let isKept = stream.table.pointee.presence[8].load(ordering: .relaxed)
    #expect(isKept)
    stream.table.pointee.keep(8 * size, false)
    for _ in 0..<20 { stream.age() }
    #expect(!has(8 * size) && !has(5 * size) && has(0))
  }

  /// A file truncated during playback is silent from there on, without a crash.
  @Test func aFileThatIsCutWhileItPlaysGoesSilent() throws {
    let path = folder.wav("p.wav", [noise(Self.frames)])
    let (resource, _) = try AudioFileLoader.load(path: path, rate: 48000, options: Self.small)
    let rig = Rig<Player>(Player.description)
    rig.use(resource)
    let first = rig.run(1000, [(0, Event(.play))])[0]
    #expect(first.contains { $0 != 0 })
    truncate(path, 1000)
    let rest = rig.run(Self.frames)[0]
    // Up to the last chunk, which is kept for loops.
    let lastChunk = (Self.frames - 1) / StreamTable.chunkFrames * StreamTable.chunkFrames - 1000
    #expect(rest[lastChunk - 8000..<lastChunk - 16].allSatisfy { $0 == 0 })
  }

  /// A cancelled load ends with a message.
  @Test func aCancelledLoadEnds() throws {
    let path = folder.write(
      "a.sf2",
      BankWriter.bytes([BankWriter.Preset(bank: 0, program: 0, samples: noise(500), loop: 0..<400)]))
    var options = LoadOptions()
    options.progress = LoadProgress()
    _ = try InstrumentLoader.load(path: path, options: options)
    #expect(options.progress?.fraction ?? 0 > 0.5)
    options.progress?.cancel()
    #expect(throws: LoadError.self) { try InstrumentLoader.load(path: path, options: options) }
    let wave = folder.wav("a.wav", [noise(500)])
    #expect(throws: LoadError.self) { try InstrumentLoader.load(path: wave, options: options) }
  }
}

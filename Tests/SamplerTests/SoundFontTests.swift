import Glibc
import Realtime
import Synchronization
import Testing

@testable import Instruments
@testable import Sampler

@Suite struct SoundFonts {
  let folder = Folder()

  /// Samples that 16 bits represent exactly.
  func coarse(_ count: Int, seed: UInt64) -> [Float] {
    noise(count, seed: seed).map { ($0 * 16384).rounded() / 32768 }
  }

  func rig(_ presets: [BankWriter.Preset], values: [Int: Float] = [:]) throws -> (
    Rig<Sampler>, InstrumentReport
  ) {
    let path = folder.write("b.sf2", BankWriter.bytes(presets))
    let (resource, report) = try InstrumentLoader.load(path: path)
    let rig = Rig<Sampler>(Sampler.description, values: values)
    rig.use(resource)
    // The volume controller is 100 initially.
    _ = rig.run(64, [(0, .control(7, 127))])
    return (rig, report)
  }

  @Test func aSampleIsPlayedWithItsLoopAtItsPitch() throws {
    let samples = coarse(400, seed: 4)
    let (rig, report) = try rig([
      BankWriter.Preset(
        bank: 0, program: 0, samples: samples, loop: 100..<300, instrument: [(17, -500), (54, 1)])
    ])
    #expect(report.findings == [])
    #expect(report.format == "SoundFont 2")
    let output = rig.run(2000, [(64, .on(60))])[0]
    let first = samples.firstIndex { abs($0) > 0.1 }!
    let gain = output[first] / samples[first]
    #expect(abs(Double(gain) - BankWriter.fullLevel) < 1e-5)
    #expect(
      output
        == (0..<2000).map { (frame: Int) -> Float in
          gain * (frame < 300 ? samples[frame] : samples[100 + (frame - 300) % 200])
        })
  }

  @Test func programsAreChosenByParameterAndEvent() throws {
    func constant(_ value: Float) -> [Float] { [Float](repeating: value, count: 300) }
    func preset(_ bank: Int, _ program: Int, _ value: Float) -> BankWriter.Preset {
      BankWriter.Preset(
        bank: bank, program: program, samples: constant(value), loop: 0..<300, instrument: [(17, -500)])
    }
    let presets = [preset(0, 5, 0.5), preset(0, 0, 0.125), preset(128, 0, 0.25)]
    let (rig, _) = try rig(presets, values: [1: 5])
    func height(_ event: Event? = nil) -> Float {
      let start = Int(rig.time)
      return rig.run(384, (event.map { [(start, $0)] } ?? []) + [(start, .on(60))])[0][200]
        / Float(BankWriter.fullLevel)
    }
    #expect(abs(height() - 0.5) < 1e-5)
    #expect(abs(height(Event(.program, value: 0)) - 0.125) < 1e-5)
    rig.kernel.set(2, element: 0, to: 128, over: 0)
    #expect(abs(height() - 0.25) < 1e-5)
    // A program that the bank lacks: falls back to the first drum preset, or the first preset of all.
    rig.kernel.set(1, element: 0, to: 77, over: 0)
    #expect(abs(height() - 0.25) < 1e-5)
    rig.kernel.set(2, element: 0, to: 0, over: 0)
    #expect(abs(height() - 0.125) < 1e-5)
  }

  /// A program change is for its channel and for notes to come, and finds the bank that was selected.
  @Test func aProgramChangeIsForItsChannelAndForNotesToCome() throws {
    func preset(_ bank: Int, _ program: Int, _ value: Float) -> BankWriter.Preset {
      BankWriter.Preset(
        bank: bank, program: program, samples: [Float](repeating: value, count: 300), loop: 0..<300,
        instrument: [(17, -500)])
    }
    let presets = [
      preset(0, 0, 0.5), preset(0, 5, 0.25), preset(8, 5, 0.125), preset(128, 0, 0.0625),
      preset(128, 5, 0.03125),
    ]
    let (rig, _) = try rig(presets)
    _ = rig.run(64, [3, 4].map { (0, Event(.control, channel: $0, key: 7, value: 127)) })
    func steps(_ level: Float) -> Float { (level / Float(BankWriter.fullLevel) * 3200).rounded() / 100 }
    func height(_ channel: UInt8, _ events: [Event] = []) -> Float {
      let start = Int(rig.time)
      var on = Event.on(60)
      on.channel = channel
      let level = rig.run(384, (events + [on]).map { (start, $0) })[0][200]
      _ = rig.run(64, [(Int(rig.time), Event(.allSoundOff))])
      _ = rig.run(960)
      return steps(level)
    }
    #expect(height(3, [Event(.program, channel: 3, value: 5)]) == 8)
    #expect(height(4) == 16)
    #expect(height(3) == 8)
    // Bank 8, by either controller; a missing bank falls back to the first.
    let change = Event(.program, channel: 3, value: 5)
    func bank(_ number: UInt8, _ value: Float) -> Event {
      Event(.control, channel: 3, key: number, value: value)
    }
    #expect(height(3, [bank(0, 8)]) == 8, "a bank waits for its program")
    #expect(height(3, [change]) == 4)
    #expect(height(3, [bank(0, 0), bank(32, 8), change]) == 4)
    #expect(height(3, [bank(0, 9), bank(32, 0), change]) == 8)
    // Drums stay drums.
    rig.kernel.set(2, element: 0, to: 128, over: 0)
    #expect(height(3, [bank(0, 0), change]) == 1)
    #expect(height(3, [Event(.program, channel: 3, value: 99)]) == 2)
    rig.kernel.set(2, element: 0, to: 0, over: 0)

    // A sounding note keeps its program, and its release.
    let start = Int(rig.time)
    let held = rig.run(
      384, [(start, .on(60)), (start + 100, Event(.program, value: 5)), (start + 200, .on(72))])[0]
    #expect(steps(held[150]) == 16)
    #expect(steps(held[280]) == 24)
    _ = rig.run(64, [(Int(rig.time), Event(.allSoundOff))])
    _ = rig.run(960)
    // A node with a program of its own ignores changes.
    rig.kernel.set(7, element: 0, to: 0, over: 0)
    #expect(height(4, [Event(.program, channel: 4, value: 5)]) == 16)
  }

  /// MIDI files end a drum's note in the tick in which it begins: it is heard for 10 ms, as by FluidSynth.
  @Test(arguments: [0, 1, 63, 200, 479, 480, 700])
  func aNoteOfNoLengthIsHeard(length: Int) throws {
    let one = [Float](repeating: 0.5, count: 20000)
    func rig() throws -> Rig<Sampler> {
      try self.rig([
        BankWriter.Preset(
          bank: 0, program: 0, samples: one, loop: 0..<20000, instrument: [(38, -12000)])
      ]).0
    }
    let (short, held) = (try rig(), try rig())
    let start = Int(held.time) + 37
    let output = short.run(2000, [(start, .on(60)), (start + length, .off(60))])[0]
    let whole = held.run(2000, [(start, .on(60))])[0]
    let end = 37 + max(length, 480)
    #expect(output.prefix(end) == whole.prefix(end))
    #expect(abs(whole[end + 600]) > 0.1 && abs(output[end + 600]) < 0.01)
  }

  @Test func generatorsOfPresetAndInstrumentAdd() throws {
    let one = [Float](repeating: 0.5, count: 20000)
    let (rig, report) = try rig([
      BankWriter.Preset(
        bank: 0, program: 0, samples: one, loop: 0..<20000,
        // Decay of one second, sustain at -6 dB, 5 dB of attenuation each from instrument and preset.
        instrument: [(17, -500), (48, 125), (36, 0), (37, 60), (16, 300)], preset: [(48, 125)])
    ])
    #expect(report.notUnderstood == [])
    let output = rig.run(9600, [(64, .on(60))])[0]
    let loud = 0.5 * powf(10, -10 / 20) * Float(BankWriter.fullLevel)
    #expect(abs(output[0] - loud) < 1e-4)
    // 96 dB per second: 3 dB after 1500 frames, and no deeper than 6 dB.
    #expect(abs(20 * log10(output[1500] / loud) + 3) < 0.05)
    #expect(abs(20 * log10(output[6000] / loud) + 6) < 0.05)
  }

  /// A bank of one instrument: a preset with `zones` zones of it, and presets without any. `instrument`: generators of
  /// each of its zones.
  private func crowded(zones: Int, instrument: [[(Int, Int)]], empty: Int = 0) -> [UInt8] {
    func u16(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    func u32(_ value: Int) -> [UInt8] { u16(value & 0xFFFF) + u16(value >> 16 & 0xFFFF) }
    func chunk(_ tag: String, _ body: [UInt8]) -> [UInt8] { Array(tag.utf8) + u32(body.count) + body }
    func name(_ count: Int = 20) -> [UInt8] { [120] + [UInt8](repeating: 0, count: count - 1) }
    let none = [UInt8](repeating: 0, count: 10)
    var phdr: [UInt8] = []
    for number in 0...empty {
      let first = number == 0 ? 0 : zones
      phdr += name() + u16(number & 127) + u16(number >> 7)
      phdr += u16(first) + u32(0) + u32(0) + u32(0)
    }
    phdr += name() + u32(0) + u16(zones)
    phdr += u32(0) + u32(0) + u32(0)
    var (pbag, pgen, ibag, igen): ([UInt8], [UInt8], [UInt8], [UInt8]) = ([], [], [], [])
    for number in 0...zones { pbag += u16(number) + u16(0) }
    for _ in 0..<zones { pgen += u16(41) + u16(0) }
    for zone in instrument {
      ibag += u16(igen.count / 4) + u16(0)
      for (number, value) in zone { igen += u16(number) + u16(value) }
    }
    ibag += u16(igen.count / 4) + u16(0)
    let inst = name() + u16(0) + name() + u16(instrument.count)
    var shdr = name() + u32(0) + u32(100)
    shdr += u32(10) + u32(90) + u32(48000)
    shdr += u16(60) + u16(0) + u16(1) + name(46)
    let tables: [UInt8] = [
      chunk("phdr", phdr), chunk("pbag", pbag), chunk("pmod", none), chunk("pgen", pgen + u32(0)),
      chunk("inst", inst), chunk("ibag", ibag), chunk("imod", none), chunk("igen", igen + u32(0)),
      chunk("shdr", shdr),
    ].flatMap { $0 }
    let samples = chunk("smpl", [UInt8](repeating: 0, count: 400))
    var body = Array("sfbk".utf8)
    body += chunk("LIST", Array("sdta".utf8) + samples)
    body += chunk("LIST", Array("pdta".utf8) + tables)
    return chunk("RIFF", body)
  }

  @Test func presetsWithoutZonesTakeNoMemory() throws {
    let bytes = try [0, 20_000].map { empty in
      let bank = crowded(zones: 1, instrument: [[(53, 0)]], empty: empty)
      let (resource, report) = try InstrumentLoader.load(path: folder.write("e.sf2", bank))
      #expect(report.regions == 1 && report.findings == [])
      return resource.bytes
    }
    #expect(bytes[0] == bytes[1])
  }

  /// Each zone of the preset goes through all of the instrument, though none makes a region.
  @Test func zonesThatMakeNoRegionAreCountedToo() {
    let instrument = [[(Int, Int)]](repeating: [(17, 1)], count: 1000)
    let path = folder.write("z.sf2", crowded(zones: 1000, instrument: instrument))
    #expect {
      try InstrumentLoader.load(path: path)
    } throws: {
      "\($0)".contains("the bank has too many regions")
    }
  }

  /// For each key and velocity there is a list of regions.
  @Test func listsOfRegionsThatOverlapAreLimited() throws {
    let sample = try AudioFile.generated("*silence", harmonics: 1, in: SamplePool())
    func fault(most: Int) -> String? {
      var builder = InstrumentBuilder(capacity: 40)
      builder.mostEntries = most
      for number in 0..<40 {
        var settings = RegionSettings()
        settings.highVelocity = 127 - number
        _ = settings.clamp(to: sample)
        builder.add(settings, sample)
      }
      _ = builder.build(name: "crowd")
      return builder.fault
    }
    // 40 + 39 + ... + 1 regions, and the lengths of the lists.
    #expect(fault(most: 900) == nil)
    #expect(fault(most: 800)?.hasPrefix("too many regions overlap") == true)
  }

  @Test func aBankThatIsRefusedClosesItsFileOnce() throws {
    let path = folder.write("d.sf2", Array(BankWriter.bytes([]).prefix(60)))
    let other = folder.write("other.txt", "other")
    // While loads are refused, files opened by other threads stay open.
    let watch = DescriptorWatch(path: other)
    watch.start()
    for _ in 0..<20_000 { #expect(throws: LoadError.self) { try InstrumentLoader.load(path: path) } }
    #expect(watch.stop() == 0, "descriptors that others had opened were closed")
    #expect(DescriptorWatch.open(to: path) == 0, "descriptors of refused files stay open")
  }

  @Test func damagedBanksFailWithWords() throws {
    let whole = BankWriter.bytes([
      BankWriter.Preset(
        bank: 0, program: 0, samples: coarse(200, seed: 1), loop: 50..<150, instrument: [(54, 1)])
    ])
    let short = folder.write("s.sf2", Array(whole.prefix(60)))
    #expect {
      try InstrumentLoader.load(path: short)
    } throws: {
      "\($0)" == "\(short): the bank has no pbag table up to its end (byte 60)"
    }
    #expect(throws: LoadError.self) { try InstrumentLoader.load(path: folder.write("t.sf2", "text")) }
    let seed: UInt64 = 31
    print("seed \(seed)")
    var random = SeededGenerator(seed: seed)
    for round in 0..<300 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        bytes[at] = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(
          using: &random)!
      }
      if round % 4 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
      let path = folder.write("m.sf2", bytes)
      guard let (resource, _) = try? InstrumentLoader.load(path: path) else { continue }
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource)
      let output = rig.run(200, [(0, .on(60)), (100, .off(60))])[0]
      #expect(output.allSatisfy { $0.isFinite })
    }
  }
}

/// Opens and closes a file on a thread of its own. Counts how often another thread closed it.
private final class DescriptorWatch: @unchecked Sendable {
  private let path: String
  private let isWanted = Atomic(true)
  private let lost = Atomic(0)
  private var thread = pthread_t()

  init(path: String) { self.path = path }

  func start() {
    pthread_create(
      &thread, nil,
      { argument in
        Unmanaged<DescriptorWatch>.fromOpaque(argument!).takeUnretainedValue().watch()
        return nil
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func stop() -> Int {
    isWanted.store(false, ordering: .relaxed)
    pthread_join(thread, nil)
    return lost.load(ordering: .relaxed)
  }

  private func watch() {
    while isWanted.load(ordering: .relaxed) {
      let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      for _ in 0..<20 where fcntl(file, F_GETFD) < 0 {
        lost.add(1, ordering: .relaxed)
        break
      }
      close(file)
    }
  }

  /// Number of this process's descriptors for a file.
  static func open(to path: String) -> Int {
    (0..<4096).count { number in
      var target = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(number)", &target, target.count - 1)
      return count > 0
        && String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) == path
    }
  }
}

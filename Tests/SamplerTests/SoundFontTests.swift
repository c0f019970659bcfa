import Glibc
import Realtime
import Testing

@testable import Sampler

/// Writes small banks for the tests: one sample an instrument, one instrument a preset.
struct BankWriter {
  struct Preset {
    var bank: Int
    var program: Int
    var samples: [Float]
    var loop: Range<Int>
    var key = 60
    var rate = 48000
    /// Generators of the instrument's and of the preset's zone, but for the last ones.
    var instrument: [(Int, Int)] = []
    var preset: [(Int, Int)] = []
  }

  static func bytes(_ presets: [Preset]) -> [UInt8] {
    func u16(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
    func u32(_ value: Int) -> [UInt8] { u16(value & 0xFFFF) + u16(value >> 16 & 0xFFFF) }
    func name(_ text: String) -> [UInt8] {
      Array(text.utf8.prefix(20)) + [UInt8](repeating: 0, count: max(0, 20 - text.utf8.count))
    }
    func chunk(_ tag: String, _ body: [UInt8]) -> [UInt8] { Array(tag.utf8) + u32(body.count) + body }
    var smpl: [UInt8] = []
    var phdr: [UInt8] = []
    var pbag: [UInt8] = []
    var pgen: [UInt8] = []
    var inst: [UInt8] = []
    var ibag: [UInt8] = []
    var igen: [UInt8] = []
    var shdr: [UInt8] = []
    for (index, preset) in presets.enumerated() {
      let start = smpl.count / 2
      for sample in preset.samples { smpl += u16(Int(sample * 32768)) }
      smpl += [UInt8](repeating: 0, count: 92)
      phdr += name("preset \(index)") + u16(preset.program) + u16(preset.bank) + u16(index)
      phdr += u32(0) + u32(0) + u32(0)
      pbag += u16(pgen.count / 4) + u16(0)
      for (number, value) in preset.preset + [(41, index)] { pgen += u16(number) + u16(value) }
      inst += name("instrument \(index)") + u16(index)
      ibag += u16(igen.count / 4) + u16(0)
      for (number, value) in preset.instrument + [(53, index)] { igen += u16(number) + u16(value) }
      shdr += name("sample \(index)") + u32(start) + u32(start + preset.samples.count)
      shdr += u32(start + preset.loop.lowerBound) + u32(start + preset.loop.upperBound) + u32(preset.rate)
      shdr += [UInt8(preset.key), 0] + u16(0) + u16(1)
    }
    phdr += name("EOP") + u16(0) + u16(0) + u16(presets.count) + u32(0) + u32(0) + u32(0)
    pbag += u16(pgen.count / 4) + u16(0)
    pgen += u32(0)
    inst += name("EOI") + u16(presets.count)
    ibag += u16(igen.count / 4) + u16(0)
    igen += u32(0)
    shdr += name("EOS") + [UInt8](repeating: 0, count: 26)
    let none = [UInt8](repeating: 0, count: 10)
    var tables = chunk("phdr", phdr) + chunk("pbag", pbag) + chunk("pmod", none) + chunk("pgen", pgen)
    tables += chunk("inst", inst) + chunk("ibag", ibag) + chunk("imod", none) + chunk("igen", igen)
    tables += chunk("shdr", shdr)
    var body = Array("sfbk".utf8)
    body += chunk("LIST", Array("INFO".utf8) + chunk("ifil", u16(2) + u16(4)))
    body += chunk("LIST", Array("sdta".utf8) + chunk("smpl", smpl))
    body += chunk("LIST", Array("pdta".utf8) + tables)
    return chunk("RIFF", body)
  }
}

@Suite struct SoundFonts {
  let folder = Folder()

  /// Samples that 16 bits hold exactly.
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
    let output = rig.run(2000, [(0, .on(60))])[0]
    #expect(
      output
        == (0..<2000).map { (frame: Int) -> Float in
          frame < 300 ? samples[frame] : samples[100 + (frame - 300) % 200]
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
    }
    #expect(height() == 0.5)
    #expect(height(Event(.program, value: 0)) == 0.125)
    rig.kernel.set(2, element: 0, to: 128, over: 0)
    #expect(height() == 0.25)
    // A program that the bank lacks: the first of the drums, or the first of all.
    rig.kernel.set(1, element: 0, to: 77, over: 0)
    #expect(height() == 0.25)
    rig.kernel.set(2, element: 0, to: 0, over: 0)
    #expect(height() == 0.125)
  }

  @Test func generatorsOfPresetAndInstrumentAdd() throws {
    let one = [Float](repeating: 0.5, count: 20000)
    let (rig, report) = try rig([
      BankWriter.Preset(
        bank: 0, program: 0, samples: one, loop: 0..<20000,
        // A sustain of 6 dB after a decay of a second, 10 dB softer by half from each, a filter.
        instrument: [(17, -500), (48, 125), (36, 0), (37, 60), (8, 6000)], preset: [(48, 125)])
    ])
    #expect(report.notUnderstood == ["initialFilterFc"])
    let output = rig.run(9600, [(0, .on(60))])[0]
    let loud = 0.5 * powf(10, -10 / 20)
    #expect(abs(output[0] - loud) < 1e-4)
    // 96 dB a second: 3 dB after 1500 frames, and no deeper than 6.
    #expect(abs(20 * log10(output[1500] / loud) + 3) < 0.05)
    #expect(abs(20 * log10(output[6000] / loud) + 6) < 0.05)
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
      "\($0)" == "\(short): the bank has no pbag table"
    }
    #expect(throws: LoadError.self) { try InstrumentLoader.load(path: folder.write("t.sf2", "text")) }
    let seed: UInt64 = 31
    print("seed \(seed)")
    var random = SplitMix(state: seed)
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

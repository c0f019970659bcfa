import Glibc

/// Writes small SoundFont banks for tests: one sample per instrument, one instrument per preset.
struct BankWriter {
  /// Gain of a bank at full velocity, volume and expression: the flat filter's 1.5 dB, less 127/128 of
  /// attenuation from each of the three.
  static let fullLevel = pow(10, (5 * log10(2) + 3 * 40 * log10(127.0 / 128)) / 20)

  struct Preset {
    var bank: Int
    var program: Int
    var samples: [Float]
    var loop: Range<Int>
    var key = 60
    var rate = 48000
    /// Generators of the instrument zone and of the preset zone, without the terminal ones.
    var instrument: [(Int, Int)] = []
    var preset: [(Int, Int)] = []
    /// Modulators: source, destination, amount, amount source, transform.
    var instrumentModulators: [[Int]] = []
    var presetModulators: [[Int]] = []
    /// Low bytes of 24-bit samples.
    var low: [UInt8] = []
    /// An Ogg Vorbis file of `samples`, for SoundFont 3.
    var compressed: [UInt8] = []
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
    var pmod: [UInt8] = []
    var imod: [UInt8] = []
    var sm24: [UInt8] = []
    for (index, preset) in presets.enumerated() {
      let isPlain = preset.compressed.isEmpty
      let start = isPlain ? smpl.count / 2 : smpl.count
      let end = start + (isPlain ? preset.samples.count : preset.compressed.count)
      let first = isPlain ? start : 0
      if isPlain {
        for sample in preset.samples { smpl += u16(Int(sample * 32768)) }
      } else {
        smpl += preset.compressed
      }
      smpl += [UInt8](repeating: 0, count: 92 + smpl.count % 2)
      sm24 += preset.low.isEmpty ? [UInt8](repeating: 0, count: preset.samples.count) : preset.low
      sm24 += [UInt8](repeating: 0, count: 46)
      phdr += name("preset \(index)") + u16(preset.program) + u16(preset.bank) + u16(index)
      phdr += u32(0) + u32(0) + u32(0)
      pbag += u16(pgen.count / 4) + u16(pmod.count / 10)
      for fields in preset.presetModulators { pmod += fields.flatMap(u16) }
      for (number, value) in preset.preset + [(41, index)] { pgen += u16(number) + u16(value) }
      inst += name("instrument \(index)") + u16(index)
      ibag += u16(igen.count / 4) + u16(imod.count / 10)
      for fields in preset.instrumentModulators { imod += fields.flatMap(u16) }
      for (number, value) in preset.instrument + [(53, index)] { igen += u16(number) + u16(value) }
      shdr += name("sample \(index)") + u32(start) + u32(end)
      shdr += u32(first + preset.loop.lowerBound) + u32(first + preset.loop.upperBound) + u32(preset.rate)
      shdr += [UInt8(preset.key), 0] + u16(0) + u16(isPlain ? 1 : 0x11)
    }
    phdr += name("EOP") + u16(0) + u16(0) + u16(presets.count) + u32(0) + u32(0) + u32(0)
    pbag += u16(pgen.count / 4) + u16(pmod.count / 10)
    pgen += u32(0)
    inst += name("EOI") + u16(presets.count)
    ibag += u16(igen.count / 4) + u16(imod.count / 10)
    igen += u32(0)
    shdr += name("EOS") + [UInt8](repeating: 0, count: 26)
    let none = [UInt8](repeating: 0, count: 10)
    var tables = chunk("phdr", phdr) + chunk("pbag", pbag) + chunk("pmod", pmod + none) + chunk("pgen", pgen)
    tables += chunk("inst", inst) + chunk("ibag", ibag) + chunk("imod", imod + none) + chunk("igen", igen)
    tables += chunk("shdr", shdr)
    var body = Array("sfbk".utf8)
    body += chunk("LIST", Array("INFO".utf8) + chunk("ifil", u16(2) + u16(4)))
    body += chunk(
      "LIST",
      Array("sdta".utf8) + chunk("smpl", smpl)
        + (presets.contains { !$0.low.isEmpty } ? chunk("sm24", sm24) : []))
    body += chunk("LIST", Array("pdta".utf8) + tables)
    return chunk("RIFF", body)
  }
}

import Realtime

/// Makes an instrument with programs of a SoundFont bank. Worker.
struct SoundFontLoader {
  private let file: SoundFontFile
  private var builder = InstrumentBuilder()
  private var findings: [Finding] = []
  private var known: Set<String> = []
  private var loaded: [Int: AudioFile] = [:]
  private var missing: Set<Int> = []

  static func load(_ path: String) throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    var loader = SoundFontLoader(file: try SoundFontFile(path: path))
    return try loader.build()
  }

  private init(file: SoundFontFile) { self.file = file }

  private mutating func build() throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    let order = file.presets.indices.sorted {
      (file.presets[$0].bank, file.presets[$0].program, $0)
        < (file.presets[$1].bank, file.presets[$1].program, $1)
    }
    for index in order { addPreset(file.presets[index]) }
    guard !builder.entries.isEmpty else {
      throw LoadError(path: file.path, findings.first?.message ?? "nothing in the bank can be played")
    }
    if file.hasModulators { note("modulators", "the bank's own modulators have no effect here") }
    let resource = builder.build(name: lastComponent(file.path))
    let low = builder.entries.map(\.settings.lowKey).min() ?? 0
    let high = builder.entries.map(\.settings.highKey).max() ?? 127
    let report = InstrumentReport(
      path: file.path, format: "SoundFont 2", regions: builder.entries.count, samples: loaded.count,
      bytes: resource.bytes, keys: low...max(low, high), findings: findings)
    return (resource, report)
  }

  private mutating func note(_ name: String, _ message: String) {
    guard known.insert(name).inserted else { return }
    findings.append(Finding(.notUnderstood(name), file: file.path, line: 0, message))
  }

  private mutating func addPreset(_ preset: SoundFontFile.Head) {
    let program = builder.programs.count
    builder.programs.append(InstrumentBuilder.Program(bank: preset.bank, program: preset.program))
    var shared = SoundFontZone()
    for (position, zone) in preset.zones.enumerated() {
      let generators = file.presetZones[zone]
      guard let instrument = generators.last, instrument.number == SoundFontZone.Generator.instrument else {
        // A first zone without an instrument states what all others begin with.
        if position == 0 { shared.state(generators) }
        continue
      }
      guard file.instruments.indices.contains(Int(instrument.bits)) else { continue }
      var zone = shared
      zone.state(generators)
      addInstrument(file.instruments[Int(instrument.bits)], zone, program)
    }
  }

  private mutating func addInstrument(
    _ instrument: SoundFontFile.Head, _ preset: SoundFontZone, _ program: Int
  ) {
    var shared = SoundFontZone()
    for (position, number) in instrument.zones.enumerated() {
      let generators = file.instrumentZones[number]
      guard let last = generators.last, last.number == SoundFontZone.Generator.sample else {
        if position == 0 { shared.state(generators) }
        continue
      }
      var zone = shared
      zone.state(generators)
      guard zone.add(preset), let sample = sample(Int(last.bits)) else { continue }
      for (number, name) in SoundFontZone.notUnderstood where zone.ignores(number) {
        note(name, "the generator `\(name)` has no effect here")
      }
      let exclusive = zone[SoundFontZone.Generator.exclusiveClass]
      let header = file.samples[Int(last.bits)]
      var settings = zone.region(
        header, first: header.start, group: exclusive == 0 ? 0 : program * 65536 + exclusive)
      // Offsets beyond a sample are common in banks, and cutting them is all that can be done.
      if settings.offset < 0 { settings.offset = 0 }
      if let end = settings.end, end < settings.offset { settings.end = nil }
      _ = settings.clamp(to: sample)
      builder.entries.append(InstrumentBuilder.Entry(settings: settings, sample: sample, program: program))
    }
  }

  private mutating func sample(_ index: Int) -> AudioFile? {
    if let sample = loaded[index] { return sample }
    guard !missing.contains(index), file.samples.indices.contains(index) else { return nil }
    let header = file.samples[index]
    let end = min(header.end, file.frames)
    guard header.start < end, header.rate > 0 else {
      missing.insert(index)
      findings.append(
        Finding(
          .missingSample(header.name), file: file.path, line: 0,
          "sample `\(header.name)` lies outside the bank's samples; its regions are left out"))
      return nil
    }
    let sample = AudioFile(
      path: file.path, format: "SoundFont 2", rate: Double(min(header.rate, 1_000_000)),
      frames: end - header.start, frame: { file.frame(header.start + $0) })
    loaded[index] = sample
    return sample
  }
}

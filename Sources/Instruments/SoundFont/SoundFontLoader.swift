import Glibc
import Realtime

/// Makes an instrument with programs from a SoundFont bank. Worker.
struct SoundFontLoader {
  private let file: SoundFontFile
  private var builder: InstrumentBuilder
  private var findings: [Finding] = []
  private var known: Set<String> = []
  private var loaded: [Int: AudioFile] = [:]
  private var missing: Set<Int> = []
  private let pool: SamplePool
  /// Modulators of the region before, which most regions repeat.
  private var modulators: [SoundFontFile.Modulator] = []
  /// Zones of instruments that were looked at, with those that make no region.
  private var zones = 0

  /// Presets of a bank: a file may ask for more, and each takes kilobytes even if it is silent.
  static let mostPresets = 16384
  /// Zones that are looked at. In real banks most make a region.
  static let mostZones = 4 * InstrumentBuilder.mostRegions

  static func load(
    _ path: String, _ options: LoadOptions
  ) throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    var loader = SoundFontLoader(file: try SoundFontFile(path: path), pool: SamplePool(options))
    return try loader.build()
  }

  private init(file: SoundFontFile, pool: SamplePool) {
    self.file = file
    self.pool = pool
    builder = InstrumentBuilder(capacity: min(Self.mostRegions(of: file), InstrumentBuilder.mostRegions))
  }

  /// Maximum number of regions: each zone of each instrument of each preset's zones.
  private static func mostRegions(of file: SoundFontFile) -> Int {
    let zones = file.presets.lazy.flatMap(\.zones).map { file.presetZones[$0].generators.last }
    return zones.reduce(0) { sum, last in
      guard let last, last.number == SoundFontZone.Generator.instrument,
        file.instruments.indices.contains(Int(last.bits))
      else { return sum }
      return sum + file.instruments[Int(last.bits)].zones.count
    }
  }

  private mutating func build() throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    let order = file.presets.indices.sorted {
      (file.presets[$0].bank, file.presets[$0].program, $0)
        < (file.presets[$1].bank, file.presets[$1].program, $1)
    }
    pool.options.progress?.expect(file.sampleBytes)
    for index in order {
      if !file.presets[index].zones.isEmpty { addPreset(file.presets[index]) }
      guard pool.options.progress?.isCancelled != true else {
        throw LoadError(path: file.path, .cancelled)
      }
    }
    guard builder.count > 0 else {
      throw LoadError(path: file.path, .noPlayablePresets(findings.first))
    }
    let resource = builder.build(name: lastComponent(file.path))
    if let fault = builder.fault {
      findings.append(Finding(.corrected, file: file.path, line: 0, fault))
    }
    let report = InstrumentReport(
      path: file.path, format: "SoundFont 2", regions: builder.count, samples: loaded.count,
      bytes: resource.bytes, keys: builder.keys, findings: findings)
    return (resource, report)
  }

  private mutating func note(_ name: String, _ message: String) {
    guard known.insert(name).inserted else { return }
    findings.append(Finding(.notUnderstood(name), file: file.path, line: 0, message))
  }

  private mutating func addPreset(_ preset: SoundFontFile.Head) {
    let program = builder.programs.count
    guard program < Self.mostPresets else {
      note("presets", "the bank has too many presets; the rest is left out")
      return
    }
    builder.programs.append(InstrumentBuilder.Program(bank: preset.bank, program: preset.program))
    var shared = SoundFontZone()
    for (position, zone) in preset.zones.enumerated() {
      let stated = file.presetZones[zone]
      guard let instrument = stated.generators.last, instrument.number == SoundFontZone.Generator.instrument
      else {
        // A first zone without an instrument holds defaults for the others.
        if position == 0 { shared.state(stated) }
        continue
      }
      guard file.instruments.indices.contains(Int(instrument.bits)) else { continue }
      var zone = shared
      zone.state(stated)
      addInstrument(file.instruments[Int(instrument.bits)], zone, program)
    }
  }

  private mutating func addInstrument(
    _ instrument: SoundFontFile.Head, _ preset: SoundFontZone, _ program: Int
  ) {
    var shared = SoundFontZone()
    for (position, number) in instrument.zones.enumerated() {
      // Every instrument of every preset: a small damaged file could ask for millions.
      guard builder.count < InstrumentBuilder.mostRegions, zones < Self.mostZones else {
        note("regions", "the bank has too many regions; the rest is left out")
        return
      }
      if pool.options.progress?.isCancelled == true { return }
      zones += 1
      let stated = file.instrumentZones[number]
      guard let last = stated.generators.last, last.number == SoundFontZone.Generator.sample else {
        if position == 0 { shared.state(stated) }
        continue
      }
      var zone = shared
      zone.state(stated)
      guard zone.add(preset), let sample = sample(Int(last.bits)) else { continue }
      if zone.modulators != modulators {
        modulators = zone.modulators
        for modulator in modulators where !zone.understands(modulator) {
          let name = "modulator of \(modulator.destination) by \(modulator.source)"
          note(name, "the \(name) has no effect here")
        }
      }
      let exclusive = zone[SoundFontZone.Generator.exclusiveClass]
      let header = file.samples[Int(last.bits)]
      var settings = zone.region(
        header, first: header.isCompressed ? 0 : header.start,
        group: exclusive == 0 ? 0 : program * 65536 + exclusive, frames: sample.frames)
      // Offsets beyond a sample are common in banks; they are limited.
      if settings.offset < 0 { settings.offset = 0 }
      if let end = settings.end, end < settings.offset { settings.end = nil }
      _ = settings.clamp(to: sample)
      builder.add(settings, sample, program: program)
    }
  }

  private mutating func sample(_ index: Int) -> AudioFile? {
    if let sample = loaded[index] { return sample }
    guard !missing.contains(index), file.samples.indices.contains(index) else { return nil }
    let header = file.samples[index]
    do throws(LoadError) {
      let sample = try read(header)
      loaded[index] = sample
      return sample
    } catch {
      missing.insert(index)
      findings.append(
        Finding(
          .missingSample(header.name), file: file.path, line: 0,
          "sample `\(header.name)` (byte \(header.byte)): \(error.message); its regions are left out"))
      return nil
    }
  }

  private func read(_ header: SoundFontFile.Sample) throws(LoadError) -> AudioFile {
    if header.isInRom { throw LoadError(path: file.path, .inRom) }
    guard header.rate > 0 else { throw LoadError(path: file.path, .noRate) }
    if header.isCompressed {
      guard header.start < header.end, header.end <= file.sampleBytes else {
        throw LoadError(path: file.path, .outsideSamples)
      }
      let bytes = try file.compressed(header)
      return try bytes.withUnsafeBufferPointer { bytes throws(LoadError) in
        try AudioFile.read(UnsafeRawBufferPointer(bytes), path: file.path, in: pool)
      }
    }
    let end = min(header.end, file.frames)
    guard header.start < end else { throw LoadError(path: file.path, .outsideSamples) }
    let count = end - header.start
    // Samples may overlap, but a bank in which all do is damaged, and would fill the memory.
    guard pool.bytes + 2 * count <= 8 * file.sampleBytes + 1 << 20 else {
      throw LoadError(path: file.path, .overlap)
    }
    let rate = Double(min(header.rate, 1_000_000))
    let facts = AudioFile.Facts(
      path: file.path, format: "SoundFont 2", rate: rate, originalRate: rate, originalFrames: count)
    let isLong = file.hasLowBytes(header.start, count)
    if pool.streams(count * (isLong ? 4 : 2)) {
      let source = BankSource(file, start: header.start, isLong: isLong)
      return try AudioFile(
        facts, channels: 1, frames: count, isShort: !isLong, source: source, waits: pool.options.waits)
    }
    defer { pool.options.progress?.advance(2 * count) }
    if isLong {
      return try AudioFile(facts, channels: 1, floats: file.readLong(header.start, count), in: pool)
    }
    return try AudioFile(facts, shorts: count, in: pool) { frames throws(LoadError) in
      try file.read(header.start, count, into: frames)
    }
  }
}

/// A sample of a bank that streams from disk. Worker.
private final class BankSource: FrameSource {
  private let file: SoundFontFile
  private let start: Int
  private let isLong: Bool

  init(_ file: SoundFontFile, start: Int, isLong: Bool) {
    self.file = file
    self.start = start
    self.isLong = isLong
  }

  func read(_ first: Int, _ count: Int, into memory: UnsafeMutableRawPointer, stride: Int) {
    if isLong, let frames = try? file.readLong(start + first, count) {
      memory.assumingMemoryBound(to: Float.self).update(from: frames, count: count)
    } else if isLong {
      memset(memory, 0, count * 4)
    } else {
      let frames = memory.assumingMemoryBound(to: Int16.self)
      if (try? file.read(start + first, count, into: frames)) == nil { memset(memory, 0, count * 2) }
    }
  }

  func rest() {}
}

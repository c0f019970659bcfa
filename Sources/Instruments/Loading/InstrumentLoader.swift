import Realtime

/// Loads instruments for samplers. Worker.
public enum InstrumentLoader {
  /// Loads an SFZ instrument, a SoundFont 2 bank, or an audio file as an instrument of one region over all
  /// keys.
  ///
  /// Unsupported opcodes and missing samples are listed in the report; throws only when nothing can be
  /// played. Worker.
  public static func load(
    path: String, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    let name = path.lowercased()
    if name.hasSuffix(".sfz") { return try loadSfz(path, options) }
    return name.hasSuffix(".sf2") || name.hasSuffix(".sf3")
      ? try SoundFontLoader.load(path, options) : try loadAudio(path, options)
  }

  private static func loadAudio(
    _ path: String, _ options: LoadOptions
  ) throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    var sample = try AudioFile.read(
      path, folded: true, in: SamplePool(options), showing: options.progress)
    var settings = RegionSettings()
    settings.pedals = .switches
    settings.addUsualControllers(except: [])
    settings.keyCenter = sample.key ?? 60
    settings.envelope.release = 0.1
    var findings = sample.findings()
    findings += settings.clamp(to: sample).map { Finding(.corrected, file: path, line: 0, $0) }
    if let loop = settings.turningLoop(of: sample), sample.stream == nil {
      let (unrolled, place) = try sample.unrolled(loop, isLeft: settings.leavesLoop, in: SamplePool(options))
      settings.take(place, added: unrolled.frames - sample.frames)
      sample = unrolled
    }
    var builder = InstrumentBuilder(capacity: 1)
    // A file plays at its own level until its volume controller is moved.
    builder.controls[7] = 127
    builder.add(settings, sample)
    let resource = builder.build(name: lastComponent(path))
    return (
      resource,
      InstrumentReport(
        path: path, format: sample.facts.format, regions: 1, samples: 1, bytes: resource.bytes, keys: 0...127,
        findings: findings)
    )
  }

  private static func loadSfz(
    _ path: String, _ options: LoadOptions
  ) throws(LoadError) -> (resource: Resource, report: InstrumentReport) {
    let reader = SfzReader(try SfzScanner(path: path))
    guard !reader.regions.isEmpty else {
      throw LoadError(
        path: path, line: reader.findings.first?.line, .noRegions(reader.findings.first))
    }
    var library = SampleLibrary(folder: TextFile.folder(path), options)
    library.embedded = reader.embedded
    options.progress?.expect(Set(reader.regions.compactMap(\.sample)).count)
    var findings = reader.findings
    let regions = reader.played
    // Those that are split may become too many.
    var count = 0
    for settings in regions {
      guard count < InstrumentBuilder.mostRegions else {
        findings.append(
          Finding(
            .corrected, file: settings.line.file, line: settings.line.line,
            "the instrument has too many regions, with those that are split; the rest is left out"))
        break
      }
      count += 1
    }
    var builder = InstrumentBuilder(capacity: count)
    builder.controls.merge(reader.controls) { $1 }
    builder.switchDefault = reader.switchDefault
    builder.effects = reader.effects.plan
    let used = reader.regions.reduce(into: Set<Int>()) { $0.formUnion($1.usedControllers) }
    for (_, var settings) in zip(0..<count, regions) {
      settings.addUsualControllers(except: used)
      if settings.isSilent {
        builder.add(settings, try library.silence())
        continue
      }
      guard let name = settings.sample else {
        findings.append(
          Finding(
            .corrected, file: settings.line.file, line: settings.line.line,
            "the region has no sample; it is left out"))
        continue
      }
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      guard var sample = library.sample(name, settings, &findings) else { continue }
      settings.turnWave(of: sample)
      var faults = settings.clamp(to: sample)
      if let loop = settings.turningLoop(of: sample) {
        if let (unrolled, place) = try library.unrolled(sample, loop, isLeft: settings.leavesLoop) {
          settings.take(place, added: unrolled.frames - sample.frames)
          sample = unrolled
        } else {
          faults.append("the sample is too large for a loop backwards; it goes forwards")
        }
      }
      for fault in faults {
        findings.append(
          Finding(
            .corrected, file: settings.line.file, line: settings.line.line,
            "`\(lastComponent(name))`: \(fault)"))
      }
      builder.add(settings, sample)
    }
    guard builder.count > 0 else {
      let first =
        findings.first { if case .missingSample = $0.kind { true } else { false } } ?? findings.last
      var error = LoadError(path: path, line: first?.line, .noPlayableRegions(first))
      error.findings = ordered(findings.filter { $0 != first })
      throw error
    }
    let resource = builder.build(name: lastComponent(path))
    if let fault = builder.fault { findings.append(Finding(.corrected, file: path, line: 0, fault)) }
    let report = InstrumentReport(
      path: path, format: "SFZ", regions: builder.count, samples: library.count,
      bytes: resource.bytes, keys: builder.keys,
      findings: Self.ordered(findings), opcodes: reader.opcodes)
    return (resource, report)
  }
}

extension InstrumentLoader {
  /// Sorts by file, in the order of first mention, and line.
  static func ordered(_ findings: [Finding]) -> [Finding] {
    var files: [String: Int] = [:]
    for finding in findings where files[finding.file] == nil { files[finding.file] = files.count }
    let places = findings.enumerated().sorted {
      (files[$0.element.file] ?? 0, $0.element.line, $0.offset)
        < (files[$1.element.file] ?? 0, $1.element.line, $1.offset)
    }
    return places.map(\.element)
  }
}

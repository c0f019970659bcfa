import Glibc

/// The samples of one instrument, each loaded once.
struct SampleLibrary {
  private struct Wish: Hashable {
    var name: String
    var isWave: Bool
    var isReversed: Bool
    var harmonics: Int
  }

  private struct Turn: Hashable {
    var sample: ObjectIdentifier
    var loop: AudioFile.Loop
    var isLeft: Bool
  }

  let folder: String
  /// Sound files embedded in the text.
  var embedded: [String: [UInt8]] = [:]
  private var turnedBytes = 0
  private var turned: [Turn: (AudioFile, AudioFile.Loop)] = [:]
  private var loaded: [Wish: AudioFile] = [:]
  private var failed: Set<Wish> = []
  /// Spectra of samples that are single wave cycles.
  private var spectra: [String: WaveSpectrum] = [:]
  private var nothing: AudioFile?
  private let pool: SamplePool

  init(folder: String, _ options: LoadOptions) {
    self.folder = folder
    pool = SamplePool(options)
  }

  var count: Int { loaded.count }

  /// Memory limit for loops that are laid out, which are copies of their samples.
  private static var mostTurned: Int { 256 << 20 }

  /// The sample with its loop laid out (see `AudioFile`), or nil if it streams or the limit is reached.
  mutating func unrolled(
    _ sample: AudioFile, _ loop: AudioFile.Loop, isLeft: Bool
  ) throws(LoadError) -> (AudioFile, AudioFile.Loop)? {
    let turn = Turn(sample: ObjectIdentifier(sample), loop: loop, isLeft: isLeft)
    if let known = turned[turn] { return known }
    guard sample.stream == nil, turnedBytes + 2 * sample.bytes <= Self.mostTurned else { return nil }
    turnedBytes += 2 * sample.bytes
    let result = try sample.unrolled(loop, isLeft: isLeft, in: pool)
    turned[turn] = result
    return result
  }

  /// A sample as one cycle of a wave.
  private mutating func wave(
    of sample: AudioFile, _ name: String, harmonics: Int
  ) throws(LoadError) -> AudioFile {
    guard sample.frames <= WaveSpectrum.mostFrames, sample.stream == nil else {
      throw LoadError(path: name, .noTurn(frames: sample.frames))
    }
    var frames = [Float](repeating: 0, count: sample.frames)
    for channel in 0..<sample.channels {
      let plane = sample.plane(channel)
      for frame in frames.indices { frames[frame] += plane[frame] / Float(sample.channels) }
    }
    let spectrum = WaveSpectrum(frames)
    spectra[name] = spectrum
    return try AudioFile.wave(spectrum, harmonics: harmonics, name, in: pool)
  }

  /// The sample of silent regions.
  mutating func silence() throws(LoadError) -> AudioFile {
    if let nothing { return nothing }
    let silence = try AudioFile.generated("*silence", harmonics: 1, in: pool)
    nothing = silence
    return silence
  }

  /// The sample; or nil with a finding, the first time.
  mutating func sample(
    _ name: String, _ settings: RegionSettings, _ findings: inout [Finding]
  ) -> AudioFile? {
    let (isReversed, place) = (settings.isReversed, settings.sampleLine)
    let wish = Wish(
      name: name, isWave: settings.oscillator.isOn, isReversed: isReversed, harmonics: settings.harmonics)
    if let known = loaded[wish] { return known }
    // A failed wave file has failed for every number of harmonics.
    var file = wish
    file.harmonics = 1
    if failed.contains(file) { return nil }
    defer { pool.options.progress?.advance(1) }
    do {
      if name.hasPrefix("*") {
        let sample = try AudioFile.generated(name, harmonics: settings.harmonics, in: pool)
        loaded[wish] = sample
        return sample
      }
      if settings.oscillator.isOn, let known = spectra[name] {
        let sample = try AudioFile.wave(known, harmonics: settings.harmonics, name, in: pool)
        loaded[wish] = sample
        return sample
      }
      var sample: AudioFile
      if let bytes = embedded[name] {
        sample = try AudioFile.read(file: bytes, path: name, isReversed: isReversed, in: pool)
      } else if let path = TextFile.find(name, in: folder) {
        sample = try AudioFile.read(path, folded: true, isReversed: isReversed, in: pool)
      } else {
        throw LoadError(path: name, .system(ENOENT))
      }
      findings += sample.findings(file: place.file, line: place.line)
      if settings.oscillator.isOn { sample = try wave(of: sample, name, harmonics: settings.harmonics) }
      loaded[wish] = sample
      return sample
    } catch {
      failed.insert(file)
      findings.append(
        Finding(
          .missingSample(name), file: place.file, line: place.line,
          "sample `\(name)`: \((error as? LoadError)?.message ?? "\(error)"); its regions are left out"))
      return nil
    }
  }
}

import CSndfile
import Glibc
import Sampler

/// Reading of audio files through libsndfile. Worker.
extension AudioFile {
  /// Reads a whole file, converted to `rate` if that is given and differs. `folded`: more than two channels
  /// become two. `isReversed`: the last frame comes first. Worker.
  static func read(
    _ path: String, rate wanted: Double? = nil, folded: Bool = false, isReversed: Bool = false,
    in pool: SamplePool = SamplePool(),
    showing progress: LoadProgress? = nil
  ) throws(LoadError) -> AudioFile {
    try read(
      SoundFile(path: path), rate: wanted, folded: folded, isReversed: isReversed, mayStream: true, in: pool,
      showing: progress)
  }

  /// Reads a whole open file; a file in memory cannot stream. Worker.
  static func read(
    _ sound: SoundFile, rate wanted: Double? = nil, folded: Bool, isReversed: Bool, mayStream: Bool = false,
    in pool: SamplePool, showing progress: LoadProgress? = nil
  ) throws(LoadError) -> AudioFile {
    defer { withExtendedLifetime(sound) {} }
    let (path, info, file) = (sound.path, sound.info, sound.handle)
    var channels = Int(info.channels)
    var facts = Facts(
      path: path, format: formatName(info.format), rate: Double(info.samplerate),
      originalRate: Double(info.samplerate), originalFrames: 0, missingBytes: sound.missingBytes)
    facts.isCut = sound.lacksEnd
    // A damaged header may promise more than the disk holds, so only actual frames count.
    let promised = Int(info.frames)
    let ratio = wanted.map { $0 / facts.rate } ?? 1
    guard !sound.hasMore(than: Double(mostFrames) / ratio) else { throw LoadError(path: path, .tooLong) }
    let isFolded = folded && channels > 2
    let isShort = hasShorts(info.format) && !isFolded && (wanted == nil || wanted == facts.rate)
    if mayStream,
      let stream = try streamed(
        facts, sound, rate: wanted, isFolded: isFolded, isReversed: isReversed, isShort, pool)
    {
      return stream
    }
    progress?.expect(promised)
    if isShort {
      var samples = try decode(file, channels, promised, path, progress, as: Int16.self, sf_readf_short)
      facts.setFrames(samples.count / channels, promised: sound.promised)
      (facts.loop, facts.key) = instrument(of: file, frames: facts.originalFrames)
      if isReversed { reverse(&samples, channels: channels, &facts) }
      return try AudioFile(facts, channels: channels, shorts: samples, in: pool)
    }
    var samples = try decode(file, channels, promised, path, progress, as: Float.self, sf_readf_float)
    facts.setFrames(samples.count / channels, promised: sound.promised)
    guard Double(facts.originalFrames) * ratio <= Double(mostFrames) else {
      throw LoadError(path: path, .tooLong)
    }
    samples.withUnsafeMutableBufferPointer { samples in
      for index in 0..<samples.count where !SoundFile.isSound(samples[index]) {
        samples[index] = 0
        facts.badSamples += 1
      }
    }
    if isFolded {
      samples = SoundFile.fold(samples, channels: channels)
      channels = 2
    }
    if let wanted, wanted != facts.rate {
      facts.ends = try RoundEnds(
        SoundFileSource.Conversion(from: Int(info.samplerate), to: wanted), frames: facts.originalFrames,
        channels: channels, path: path
      ) { Array(samples[$0.lowerBound * channels..<$0.upperBound * channels]) }
      samples = try convert(samples, channels: channels, ratio: ratio, path: path)
      facts.rate = wanted
    } else {
      (facts.loop, facts.key) = instrument(of: file, frames: facts.originalFrames)
    }
    if isReversed { reverse(&samples, channels: channels, &facts) }
    return try AudioFile(facts, channels: channels, floats: samples, in: pool)
  }

  /// The file as a stream, if it is large enough for that; nil otherwise.
  private static func streamed(
    _ facts: Facts, _ sound: SoundFile, rate wanted: Double?, isFolded: Bool, isReversed: Bool,
    _ isShort: Bool, _ pool: SamplePool
  ) throws(LoadError) -> AudioFile? {
    var facts = facts
    let (info, file) = (sound.info, sound.handle)
    var frames = Int(info.frames)
    var conversion: SoundFileSource.Conversion?
    if let wanted, wanted != facts.rate {
      conversion = SoundFileSource.Conversion(from: Int(info.samplerate), to: wanted)
      guard conversion != nil else { return nil }
    }
    facts.originalFrames = frames
    guard info.seekable != 0, sound.promised != nil else { return nil }
    if let conversion { frames = conversion.frames(of: frames) }
    guard frames <= mostFrames else { return nil }
    let channels = isFolded ? 2 : Int(info.channels)
    guard pool.streams(frames * channels * (isShort ? 2 : 4)) else { return nil }
    facts.isCut = facts.isCut || !sound.hasLastFrame()
    if let wanted, conversion != nil {
      facts.rate = wanted
    } else {
      (facts.loop, facts.key) = instrument(of: file, frames: frames)
    }
    let source = SoundFileSource(
      path: facts.path, channels: Int(info.channels), frames: facts.originalFrames, isFolded: isFolded,
      isShort: isShort, conversion: conversion)
    facts.ends = try RoundEnds(
      conversion, frames: facts.originalFrames, channels: channels, path: facts.path, read: source.frames)
    if isReversed { facts.loop = facts.loop?.reversed(frames) }
    return try AudioFile(
      facts, channels: channels, frames: frames, isShort: isShort,
      source: isReversed
        ? ReversedSource(source, channels: channels, frames: frames, isShort: isShort) : source,
      waits: pool.options.waits)
  }

  /// True when 16 bits hold everything in a file of this format.
  private static func hasShorts(_ format: Int32) -> Bool {
    switch Int(format) & SF_FORMAT_SUBMASK {
    case SF_FORMAT_PCM_16, SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8: true
    default: false
    }
  }

  /// All frames, interleaved, at least one.
  static func decode<Sample: Numeric>(
    _ file: OpaquePointer, _ channels: Int, _ promised: Int, _ path: String, _ progress: LoadProgress?,
    as type: Sample.Type,
    _ read: (OpaquePointer?, UnsafeMutablePointer<Sample>?, sf_count_t) -> sf_count_t
  ) throws(LoadError) -> [Sample] {
    let piece = max(1, longestRead / (channels * MemoryLayout<Sample>.size))
    var samples: [Sample] = []
    samples.reserveCapacity((min(promised, 1 << 24) + piece) * channels)
    while true {
      let before = samples.count
      samples.append(contentsOf: repeatElement(0, count: piece * channels))
      let got = samples.withUnsafeMutableBufferPointer {
        read(file, $0.baseAddress! + before, sf_count_t(piece))
      }
      samples.removeLast((piece - max(0, Int(got))) * channels)
      guard samples.count / channels <= mostFrames else { throw LoadError(path: path, .tooLong) }
      guard progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      progress?.advance(max(0, Int(got)))
      if got > 0 { continue }
      guard !samples.isEmpty else { throw LoadError(path: path, .noReadableAudio) }
      return samples
    }
  }

  private static func instrument(of file: OpaquePointer, frames: Int) -> (Loop?, Int?) {
    var chunk = SF_INSTRUMENT()
    let size = Int32(MemoryLayout<SF_INSTRUMENT>.size)
    guard sf_command(file, Int32(SFC_GET_INSTRUMENT), &chunk, size) == SF_TRUE else { return (nil, nil) }
    // Writers that do not know the base note write 0.
    let key = (1...127).contains(chunk.basenote) ? Int(chunk.basenote) : nil
    guard chunk.loop_count > 0, let place = MemoryLayout<SF_INSTRUMENT>.offset(of: \.loop_count) else {
      return (nil, key)
    }
    // Swift does not import the array of nameless structs (mode, start, end, count) behind the count.
    let (mode, start, end) = withUnsafeBytes(of: &chunk) { bytes in
      let at = place + MemoryLayout<Int32>.size
      return (
        bytes.load(fromByteOffset: at, as: Int32.self),
        Int(bytes.load(fromByteOffset: at + 4, as: UInt32.self)),
        // Exclusive: libsndfile adds one to the chunk's value.
        min(Int(bytes.load(fromByteOffset: at + 8, as: UInt32.self)), frames)
      )
    }
    guard mode != Int32(SF_LOOP_NONE) else { return (nil, key) }
    let type: LoopType =
      switch mode {
      case Int32(SF_LOOP_BACKWARD): .backward
      case Int32(SF_LOOP_ALTERNATING): .alternate
      default: .forward
      }
    return (end > start ? Loop(start: start, end: end, type: type) : nil, key)
  }

  private static func formatName(_ format: Int32) -> String {
    var major = SF_FORMAT_INFO()
    major.format = format & Int32(SF_FORMAT_TYPEMASK)
    let size = Int32(MemoryLayout<SF_FORMAT_INFO>.size)
    let container =
      switch Int(major.format) {
      case SF_FORMAT_WAV, SF_FORMAT_WAVEX: "WAV"
      case SF_FORMAT_FLAC: "FLAC"
      case SF_FORMAT_OGG: "OGG"
      case SF_FORMAT_AIFF: "AIFF"
      default:
        sf_command(nil, Int32(SFC_GET_FORMAT_INFO), &major, size) == 0 && major.name != nil
          ? String(cString: major.name) : "audio"
      }
    let coding =
      switch Int(format) & SF_FORMAT_SUBMASK {
      case SF_FORMAT_PCM_S8, SF_FORMAT_PCM_U8: "8-bit"
      case SF_FORMAT_PCM_16: "16-bit"
      case SF_FORMAT_PCM_24: "24-bit"
      case SF_FORMAT_PCM_32: "32-bit"
      case SF_FORMAT_FLOAT: "float"
      case SF_FORMAT_DOUBLE: "double"
      case SF_FORMAT_VORBIS: "Vorbis"
      default: "compressed"
      }
    return "\(container), \(coding)"
  }
}

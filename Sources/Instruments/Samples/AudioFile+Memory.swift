import CSndfile

/// Audio files in memory.
extension AudioFile {
  /// Decodes the compressed sample of a SoundFont 3 bank; the first channel is used. Worker.
  static func read(
    _ bytes: UnsafeRawBufferPointer, path: String, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    let sound = try SoundFile(bytes, path: path)
    defer { withExtendedLifetime(sound) {} }
    let channels = Int(sound.info.channels)
    let all = try decode(
      sound.handle, channels, Int(sound.info.frames), path, nil, as: Float.self, sf_readf_float)
    let samples = (0..<all.count / channels).map {
      SoundFile.isSound(all[$0 * channels]) ? all[$0 * channels] : 0
    }
    let facts = Facts(
      path: path, format: "SoundFont 3", rate: Double(sound.info.samplerate),
      originalRate: Double(sound.info.samplerate), originalFrames: samples.count)
    return try AudioFile(facts, channels: 1, floats: samples, in: pool)
  }

  /// Decodes a whole sound file, like one from the disk. Worker.
  static func read(
    file bytes: [UInt8], path: String, isReversed: Bool = false, in pool: SamplePool
  ) throws(LoadError) -> AudioFile {
    // A `Result`, since errors from the closure would lose their type.
    let sound: Result<SoundFile, LoadError> = bytes.withUnsafeBytes { bytes in
      do throws(LoadError) { return .success(try SoundFile(bytes, path: path)) } catch {
        return .failure(error)
      }
    }
    return try read(sound.get(), folded: true, isReversed: isReversed, in: pool)
  }
}

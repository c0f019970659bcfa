import Sampler

extension AudioFile {
  /// A file's sound at `rate` Hz, converted as far as needed, or at its own: the frames of each of the first `most` channels,
  /// `seconds` at most, and the file.
  ///
  /// Throws when it cannot be read as audio. Worker.
  static func planes(
    path: String, rate: Double?, seconds: Int, most: Int = .max, options: LoadOptions
  ) throws(LoadError) -> (planes: [[Float]], file: AudioFile) {
    if let rate, !(rate.isFinite && rate > 0) { throw LoadError(path: path, .invalidRate(rate)) }
    let file = try read(
      SoundFile(path: path), rate: rate, folded: false, isReversed: false, in: SamplePool(options),
      showing: options.progress)
    let frames = min(file.frames, Int(rate ?? file.facts.rate) * seconds)
    var planes: [[Float]] = []
    for channel in 0..<min(file.channels, most) {
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      let plane = file.plane(channel)
      planes.append((0..<frames).map { plane[$0] })
    }
    return (planes, file)
  }
}

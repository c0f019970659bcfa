import Processors
import Realtime
import Sampler

/// Loads audio files as impulses to convolve with. Worker.
public enum ImpulseLoader {
  /// Decodes `path` and converts it to `rate` Hz, as loud at every frequency as it was, up to the longest impulse.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func load(
    path: String, rate: Double, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, findings: [Finding]) {
    guard rate.isFinite, rate > 0 else { throw LoadError(path: path, .invalidRate(rate)) }
    let file = try AudioFile.read(
      SoundFile(path: path), rate: rate, folded: false, isReversed: false, in: SamplePool(options),
      showing: options.progress)
    // A sum of more frames is louder.
    let gain = Float(file.facts.originalRate / rate)
    let frames = min(file.frames, Int(rate) * Impulse.longest)
    var channels: [[Float]] = []
    for channel in 0..<file.channels {
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      let plane = file.plane(channel)
      channels.append((0..<frames).map { plane[$0] * gain })
    }
    return (Impulse.make(channels, name: lastComponent(path)), file.findings())
  }
}

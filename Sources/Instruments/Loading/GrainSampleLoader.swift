import Processors
import Realtime
import Sampler

/// Loads sounds that are held in memory, for grains. Worker.
public enum GrainSampleLoader {
  /// Decodes `path` and converts it to `rate` Hz, as far as it is not too long.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func load(
    path: String, rate: Double, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, findings: [Finding]) {
    guard rate.isFinite, rate > 0 else { throw LoadError(path: path, .invalidRate(rate)) }
    let file = try AudioFile.read(
      SoundFile(path: path), rate: rate, folded: false, isReversed: false, in: SamplePool(options),
      showing: options.progress)
    let frames = min(file.frames, Int(rate) * GrainSample.longest)
    var channels: [[Float]] = []
    for channel in 0..<min(file.channels, 2) {
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      let plane = file.plane(channel)
      channels.append((0..<frames).map { plane[$0] })
    }
    return (GrainSample.make(channels, name: lastComponent(path)), file.findings())
  }
}

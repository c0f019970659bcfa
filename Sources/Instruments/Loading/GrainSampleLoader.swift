import Processors
import Realtime
import Sampler

/// Loads sounds that are held in memory, for grains. Worker.
public enum GrainSampleLoader {
  /// Decodes the first two channels of `path` and converts them to `rate` Hz, as far as they are not too long.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func load(
    path: String, rate: Double, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, findings: [Finding]) {
    let (planes, file) = try AudioFile.planes(
      path: path, rate: rate, seconds: GrainSample.longest, most: 2, options: options)
    return (GrainSample.make(planes, name: lastComponent(path)), file.findings())
  }
}

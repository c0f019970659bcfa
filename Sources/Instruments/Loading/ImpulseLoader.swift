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
    let (planes, file) = try AudioFile.planes(
      path: path, rate: rate, seconds: Impulse.longest, options: options)
    // A sum of more frames is louder.
    let gain = Float(file.facts.originalRate / rate)
    let impulse = Impulse.make(planes.map { $0.map { $0 * gain } }, name: lastComponent(path))
    return (impulse, file.findings())
  }
}

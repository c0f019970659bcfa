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
    let (planes, file) = try AudioFile.planes(
      path: path, rate: nil, seconds: Impulse.longest, options: options)
    var frames: [[Float]] = []
    for plane in planes {
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      frames.append(try converted(plane, from: file.facts.rate, to: rate, path: path))
    }
    return (Impulse.make(frames, name: lastComponent(path)), file.findings())
  }

  /// A channel at another rate. A converter rings ahead of what begins at once, as a loudspeaker's impulse does. An impulse
  /// has no frames there: what they would hold counts in its first one, else much of that would be missing.
  private static func converted(
    _ plane: [Float], from old: Double, to new: Double, path: String
  ) throws(LoadError) -> [Float] {
    guard old != new else { return plane }
    // Silence on both sides, longer than the converter rings (143 frames of the lower rate); before it, of whole frames at
    // both rates.
    let ring = Int(150 * max(1, old / new))
    let step = Int(old) / common(Int(old), Int(new.rounded()))
    let silence = (ring / step + 1) * step
    let padded = [Float](repeating: 0, count: silence) + plane + [Float](repeating: 0, count: ring)
    let all = try convert(padded, channels: 1, ratio: new / old, path: path)
    // A sum of more frames is louder.
    let gain = Float(old / new)
    let first = min(all.count, Int((Double(silence) * new / old).rounded()))
    var frames = all[first...].map { $0 * gain }
    if !frames.isEmpty { frames[0] += all[..<first].reduce(0, +) * gain }
    return frames
  }

  /// The largest whole number that divides both. It is at least one.
  private static func common(_ a: Int, _ b: Int) -> Int {
    var (a, b) = (a, b)
    while b != 0 { (a, b) = (b, a % b) }
    return max(1, a)
  }
}

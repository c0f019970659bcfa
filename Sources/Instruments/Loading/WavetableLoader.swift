import Processors
import Realtime
import Sampler

/// Loads waves for `wavetable`. Worker.
public enum WavetableLoader {
  /// Waves of as many frames each, one after the other in the first channel of an audio file, as far as they are whole; a
  /// shorter file is one wave. Waves that are much too loud are brought down to full scale together.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func load(
    path: String, frames size: Int, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, findings: [Finding]) {
    let file = try AudioFile.read(
      SoundFile(path: path), folded: false, isReversed: false, in: SamplePool(options))
    let (plane, length) = (file.plane(0), min(size, file.frames))
    let count = min(max(file.frames / max(length, 1), 1), WavetableImage.mostWaves)
    let peak = (0..<min(count * length, file.frames)).reduce(0) { max($0, abs(plane[$1])) }
    let scale = peak > mostPeak ? 1 / peak : 1
    var spectra: [WavetableImage.Harmonics] = []
    for wave in 0..<count {
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      let first = wave * length
      let spectrum = WaveSpectrum(
        (first..<first + length).map { (frame: Int) -> Float in plane[frame] * scale })
      spectra.append((spectrum.cosines, spectrum.sines))
    }
    let image = UnsafeMutablePointer<WavetableImage>.allocate(capacity: 1)
    image.initialize(to: WavetableImage(spectra))
    let owner = ImageOwner(image: image, bytes: image.pointee.bytes)
    let resource = Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self),
      name: lastComponent(path), bytes: { owner.bytes }, release: { owner.free() })
    var findings = file.findings()
    if scale < 1 {
      findings.append(
        Finding(.corrected, file: path, line: 0, "the waves are louder than 24 dB; they play at full scale"))
    }
    return (resource, findings)
  }

  /// A node trusts its waves, which the blast shield does not look at (`Amplification.byModulation`).
  private static let mostPeak: Float = 16

  private final class ImageOwner: @unchecked Sendable {
    private let image: UnsafeMutablePointer<WavetableImage>
    let bytes: Int

    init(image: UnsafeMutablePointer<WavetableImage>, bytes: Int) {
      (self.image, self.bytes) = (image, bytes)
    }

    func free() {
      image.pointee.free()
      image.deallocate()
    }
  }
}

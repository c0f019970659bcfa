import Processors
import Realtime
import Sampler

/// Loads waves for `wavetable`. Worker.
public enum WavetableLoader {
  /// Waves of as many frames each, one after the other in the first channel of an audio file, as far as they are whole; a
  /// shorter file is one wave.
  ///
  /// Throws when it cannot be read as audio. Worker.
  public static func load(
    path: String, frames size: Int, options: LoadOptions = LoadOptions()
  ) throws(LoadError) -> (resource: Resource, findings: [Finding]) {
    let file = try AudioFile.read(
      SoundFile(path: path), folded: false, isReversed: false, in: SamplePool(options))
    let (plane, length) = (file.plane(0), min(size, file.frames))
    let count = min(max(file.frames / max(length, 1), 1), WavetableImage.mostWaves)
    var spectra: [WavetableImage.Harmonics] = []
    for wave in 0..<count {
      guard options.progress?.isCancelled != true else { throw LoadError(path: path, .cancelled) }
      let first = wave * length
      let spectrum = WaveSpectrum((first..<first + length).map { (frame: Int) -> Float in plane[frame] })
      spectra.append((spectrum.cosines, spectrum.sines))
    }
    let image = UnsafeMutablePointer<WavetableImage>.allocate(capacity: 1)
    image.initialize(to: WavetableImage(spectra))
    let owner = ImageOwner(image: image, bytes: image.pointee.bytes)
    let resource = Resource(
      header: UnsafeMutableRawPointer(image).assumingMemoryBound(to: ResourceHeader.self),
      name: lastComponent(path), bytes: { owner.bytes }, release: { owner.free() })
    return (resource, file.findings())
  }

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

import CSndfile
import Glibc
import Testing

@testable import Instruments
@testable import Processors

/// Waves read from files.
@Suite struct WavetableFiles {
  let folder = Folder()

  private func write(_ name: String, _ samples: [Float]) -> String {
    var info = SF_INFO()
    info.samplerate = 44100
    info.channels = 1
    info.format = Int32(SF_FORMAT_WAV | SF_FORMAT_FLOAT)
    let file = sf_open(folder.path + name, Int32(SFM_WRITE), &info)!
    var samples = samples
    #expect(sf_writef_float(file, &samples, sf_count_t(samples.count)) == samples.count)
    sf_close(file)
    return folder.path + name
  }

  /// A cycle of a harmonic.
  private func cycle(_ harmonic: Int, _ frames: Int) -> [Float] {
    (0..<frames).map { Float(0.5 * cos(2 * Double.pi * Double(harmonic * $0) / Double(frames))) }
  }

  @Test(arguments: [64, 600, 2048]) func wavesOfAFileAreItsCycles(size: Int) throws {
    // Half a wave at the end is left out.
    let path = write("waves.wav", cycle(1, size) + cycle(3, size) + cycle(7, size / 2))
    let (resource, findings) = try WavetableLoader.load(path: path, frames: size)
    #expect(findings == [] && resource.name == "waves.wav" && resource.bytes > 100_000)
    let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: WavetableImage.self)
    #expect(image.pointee.waves == 2)
    // The spline at its own points: a sixth of the neighbours, and two thirds.
    for (wave, harmonic) in [(0, 1), (1, 3)] {
      let table = image.pointee.tables + wave * WaveLevels.shared.stride
      for frame in stride(from: 0, to: 8192, by: 97) {
        let sum: Float = (table[frame] + 4 * table[frame + 1] + table[frame + 2]) / 6
        let expected = 0.5 * cos(2 * Double.pi * Double(harmonic * frame) / 8192)
        #expect(abs(Double(sum) - expected) < 1e-5)
      }
    }
  }

  /// Whole numbers of 16 bits in a file of floats, for instance.
  @Test(arguments: [(Float(30_000), Float(0.5)), (15, 7.5)])
  func wavesThatAreMuchTooLoudComeDownTogether(gain: Float, expected: Float) throws {
    let waves = cycle(1, 256).map { $0 * 2 * gain } + cycle(1, 256).map { $0 * gain }
    let (resource, findings) = try WavetableLoader.load(path: write("loud.wav", waves), frames: 256)
    #expect(findings.count == (gain > 16 ? 1 : 0))
    let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: WavetableImage.self)
    let second = image.pointee.tables + WaveLevels.shared.stride
    let peak = (0..<8192).reduce(0) { max($0, abs(second[$1])) }
    #expect(abs(peak - expected) < 0.01 * expected)
  }

  @Test func aShorterFileIsOneWaveAndNoSoundIsAnError() throws {
    let (resource, _) = try WavetableLoader.load(path: write("short.wav", cycle(2, 500)), frames: 2048)
    #expect(
      UnsafeRawPointer(resource.header).assumingMemoryBound(to: WavetableImage.self).pointee.waves == 1)
    #expect(throws: LoadError.self) { try WavetableLoader.load(path: folder.path + "none.wav", frames: 2048) }
  }
}

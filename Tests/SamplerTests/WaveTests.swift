import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Generated waves, which an instrument names instead of a file.
@Suite struct GeneratedWaves {
  let folder = Folder()

  /// Harmonics of the waves' Fourier series, and no aliases.
  @Test(arguments: ["saw", "square", "triangle", "tri"]) func generatedWavesHaveTheirHarmonics(_ wave: String)
    throws
  {
    let path = folder.write(
      "a.sfz", "<region> amp_veltrack=0 sample=*\(wave) seq_length=2 seq_position=1")
    let (resource, report) = try InstrumentLoader.load(path: path)
    #expect(report.findings == [])
    for key in [UInt8(33), 69, 93, 105] {
      let rig = Rig<Sampler>(Sampler.description)
      rig.use(resource)
      // Round robin of two: the region plays the first and the third note, and this is the third.
      let output = rig.run(
        48000, [(0, .on(20)), (0, .off(20)), (1, .on(21)), (1, .off(21)), (4800, .on(key))])[0]
      let hertz = 440 * exp2((Double(key) - 69) / 12)
      var rest = (9600..<48000).map { Double(output[$0]) }
      // A whole number of cycles of the fundamental.
      rest.removeLast(rest.count - Int((Double(Int(0.8 * hertz)) / hertz * 48000).rounded()))
      for number in 1...max(1, Int(20_500 / hertz)) {
        let level =
          switch wave {
          case "saw": 2 / (Double.pi * Double(number))
          case "square": number % 2 == 1 ? 4 / (Double.pi * Double(number)) : 0
          default: number % 2 == 1 ? 8 / (Double.pi * Double.pi * Double(number * number)) : 0
          }
        let step = 2 * Double.pi * hertz * Double(number) / 48000
        var (x, y) = (0.0, 0.0)
        for (frame, value) in rest.enumerated() {
          x += value * cos(step * Double(frame))
          y += value * sin(step * Double(frame))
        }
        (x, y) = (2 * x / Double(rest.count), 2 * y / Double(rest.count))
        for frame in rest.indices {
          rest[frame] -= x * cos(step * Double(frame)) + y * sin(step * Double(frame))
        }
        // All harmonics up to 16 kHz are present.
        if hertz * Double(number) < 16_000 {
          #expect(abs((x * x + y * y).squareRoot() - level) < 4e-3, "key \(key), \(number)")
        }
      }
      let noise = 10 * log10(rest.reduce(0) { $0 + $1 * $1 } / Double(rest.count))
      #expect(noise < -50, "key \(key): \(noise) dB")
    }
  }

  @Test func generatedNoiseIsWhiteAndEven() throws {
    let path = folder.write("a.sfz", "<region> amp_veltrack=0 sample=*noise")
    let rig = Rig<Sampler>(Sampler.description)
    rig.use(try InstrumentLoader.load(path: path).resource)
    let output = rig.run(48000, [(0, .on(60))])[0].map(Double.init)
    // Uniform noise in -1...1: a third of a square wave's power, zero mean, uncorrelated neighbours.
    func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
    let squares: [Double] = output.map { $0 * $0 }
    let neighbours: [Double] = zip(output, output.dropFirst()).map { $0 * $1 }
    #expect(abs(mean(squares) - 1.0 / 3) < 0.01)
    #expect(abs(mean(output)) < 0.01)
    #expect(abs(mean(neighbours)) < 0.01)
  }
}

import CSndfile
import Glibc
import Testing

@testable import Instruments
@testable import Processors

/// Impulses read from files.
@Suite struct ImpulseFiles {
  let folder = Folder()

  private func write(_ name: String, _ channels: [[Float]], rate: Int) -> String {
    var info = SF_INFO()
    info.samplerate = Int32(rate)
    info.channels = Int32(channels.count)
    info.format = Int32(SF_FORMAT_WAV | SF_FORMAT_FLOAT)
    let file = sf_open(folder.path + name, Int32(SFM_WRITE), &info)!
    var samples = channels[0].indices.flatMap { frame in channels.map { $0[frame] } }
    #expect(sf_writef_float(file, &samples, sf_count_t(channels[0].count)) == channels[0].count)
    sf_close(file)
    return folder.path + name
  }

  /// The response of an impulse's first 64 frames at a frequency.
  private func response(_ taps: UnsafePointer<Float>, _ frequency: Double, _ rate: Double) -> Double {
    var (re, im) = (0.0, 0.0)
    for frame in 0..<64 {
      let angle = 2 * Double.pi * frequency * Double(frame) / rate
      re += Double(taps[frame]) * cos(angle)
      im += Double(taps[frame]) * sin(angle)
    }
    return (re * re + im * im).squareRoot()
  }

  /// A short bell of each channel has the same level below the lower rate's half, whatever the rates.
  @Test(arguments: [8000, 44_100, 48_000, 96_000, 192_000], [8000.0, 44_100, 48_000, 96_000])
  func impulsesOfOtherRatesSoundAlike(of file: Int, at rate: Double) throws {
    // A Gaussian two frames of the lower rate wide, which lies within the first 64 frames.
    let low = min(Double(file), rate)
    guard rate / low < 2.5 else { return }
    let width = 4 / low
    func bell(_ gain: Float) -> [Float] {
      (0..<Int(16 * width * Double(file))).map { frame in
        let t = (Double(frame) / Double(file) - 3 * width) / (0.5 * width)
        return gain * Float(exp(-0.5 * t * t) / (0.5 * width * Double(file) * (2 * Double.pi).squareRoot()))
      }
    }
    let path = write("bell.wav", [bell(0.5), bell(-0.25), bell(1)], rate: file)
    let (resource, findings) = try ImpulseLoader.load(path: path, rate: rate)
    #expect(findings == [] && resource.name == "bell.wav" && resource.bytes > 1000)
    let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: Impulse.self)
    #expect(image.pointee.channels == 3)
    for (channel, gain) in [0.5, 0.25, 1].enumerated() {
      for share in [0.001, 0.02, 0.06] {
        let found = response(image.pointee.taps(channel), share * low, rate)
        let expected = gain * exp(-0.5 * pow(2 * Double.pi * share * low * 0.5 * width, 2))
        #expect(abs(20 * log10(found / expected)) < 0.1, "channel \(channel), \(share * low) Hz")
      }
    }
  }

  /// One that is loud from its first frame on keeps its level, whatever the rates: what a converter has ring ahead counts.
  @Test(arguments: [44_100, 48_000, 88_200, 96_000], [44_100.0, 48_000, 96_000])
  func impulsesThatBeginAtOnceKeepTheirLevel(of file: Int, at rate: Double) throws {
    var chance = SeededGenerator(seed: UInt64(file) &+ UInt64(rate))
    for _ in 0..<4 {
      let sound = (0..<Int.random(in: 1...6, using: &chance)).map { _ in
        Float.random(in: 0.2...1, using: &chance)
      }
      let (resource, _) = try ImpulseLoader.load(path: write("short.wav", [sound], rate: file), rate: rate)
      defer { withExtendedLifetime(resource) {} }
      let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: Impulse.self)
      for share in [0.001, 0.01, 0.04] {
        let frequency = share * min(Double(file), rate)
        let found = response(image.pointee.taps(0), frequency, rate)
        let padded = sound + [Float](repeating: 0, count: 64 - sound.count)
        let level = 20 * log10(found / response(padded, frequency, Double(file)))
        #expect(abs(level) < 0.1, "\(sound), \(frequency) Hz: \(level) dB")
      }
    }
  }

  @Test func noSoundIsAnErrorAndALongFileIsCut() throws {
    #expect(throws: LoadError.self) { try ImpulseLoader.load(path: folder.path + "none.wav", rate: 48_000) }
    let long = write("long.wav", [[Float](repeating: 0.1, count: 8000 * 40)], rate: 8000)
    let (resource, _) = try ImpulseLoader.load(path: long, rate: 8000)
    let image = UnsafeRawPointer(resource.header).assumingMemoryBound(to: Impulse.self)
    #expect(image.pointee.longParts == (8000 * Impulse.longest - 1) / 1024 - 1)
  }
}

import Glibc
import Realtime
import Testing

@testable import Instruments
@testable import Sampler

/// Noise of the interpolation, against sines computed at the ideal positions (a sinc of infinite length).
@Suite struct Quality {
  let folder = Folder()

  /// Error in decibels relative to the signal: a sine of `hertz` in the sample, transposed up by `cents`.
  func error(quality: Int, hertz: Double, cents: Double) throws -> Double {
    let step = hertz / 48000
    let samples = (0..<60000).map { Float(0.5 * sin(2 * .pi * step * Double($0))) }
    folder.wav("a.wav", [samples])
    folder.write("a.sfz", "<region> sample=a.wav amp_veltrack=0 tune=\(cents)")
    let rig = Rig<Sampler>(Sampler.description, values: [6: Float(quality)])
    rig.use(try InstrumentLoader.load(path: folder.path + "a.sfz").resource)
    let output = rig.run(24000, [(0, .on(60))])[0]
    let ratio = Double(fixedPoint(Double(Float(exp2(cents / 1200))))) / 4_294_967_296
    let exact = Double(fixedPoint(exp2(Double(Float(cents)) / 1200))) / 4_294_967_296
    let pace = abs(ratio - exact) < 1e-6 ? exact : ratio
    var wrong = 0.0
    var right = 0.0
    // Only up to the sample's end.
    for frame in 100..<min(24000, Int(59000 / pace)) {
      let place = Double(frame) * pace
      // Above the Nyquist frequency the ideal output is silence.
      let ideal = step * pace < 0.5 ? 0.5 * sin(2 * .pi * step * place) : 0
      wrong += (Double(output[frame]) - ideal) * (Double(output[frame]) - ideal)
      right += 0.125
    }
    return 10 * log10(wrong / right)
  }

  /// ARCHITECTURE.md gives these figures.
  @Test func interpolationNoiseStaysBelowItsFigures() throws {
    // By quality, then 1, 5, 10 and 15 kHz in a sample at 48 kHz, a fifth down.
    let limits: [[Double]] = [
      [-85, -45, -25, -13],
      [-78, -63, -75, -25],
      [-90, -90, -90, -88],
    ]
    for (quality, row) in limits.enumerated() {
      for (hertz, limit) in zip([1000.0, 5000, 10000, 15000], row) {
        let noise = try error(quality: quality, hertz: hertz, cents: -700)
        print("quality \(quality), \(Int(hertz)) Hz: \(noise) dB")
        #expect(noise < limit)
      }
    }
  }

  @Test func whatWouldAliasIsLeftOut() throws {
    for (hertz, cents) in [(20000.0, 1200.0), (14000, 2400), (17000, 1900)] {
      let noise = try error(quality: 2, hertz: hertz, cents: cents)
      print(
        "\(Int(hertz)) Hz, \(Int(cents)) cents up: \(noise) dB, 4-point \(try error(quality: 0, hertz: hertz, cents: cents)) dB"
      )
      #expect(noise < -60)
    }
  }

  /// Ten cents below one and two octaves up (exact octaves need no interpolation): content above the Nyquist
  /// frequency folds back. ARCHITECTURE.md gives these figures.
  @Test func aliasesStayBelowTheirFigures() throws {
    let limits: [[[Double]]] = [
      [[-80, -40, -20, 0.5], [-80, -40, 0.5, 0.5]],
      [[-75, -60, -70, 0.5], [-75, -60, 0.5, 0.5]],
      // An output near 20 kHz is in the transition band of the anti-aliasing filter.
      [[-75, -80, -10, -50], [-80, -8, -80, -80]],
    ]
    for (quality, rows) in limits.enumerated() {
      for (cents, row) in zip([1190.0, 2390], rows) {
        for (hertz, limit) in zip([1000.0, 5000, 10000, 15000], row) {
          let noise = try error(quality: quality, hertz: hertz, cents: cents)
          print("quality \(quality), \(Int(hertz)) Hz, \(Int(cents)) cents up: \(noise) dB")
          #expect(noise < limit)
        }
      }
    }
  }

  /// If the patch leaves the quality open, a render uses the best; otherwise the patch decides.
  @Test func whatIsLeftOpenIsTheRenderersChoice() {
    func quality(_ said: Float, _ open: SampleQuality?, load: Float = 0) -> UInt8 {
      let values: [[Float]] = (0..<Sampler.description.parameters.count).map { [$0 == 6 ? said : 0] }
      let configuration = KernelConfiguration(
        rate: 48000, inputs: [], outputs: [2], values: values, quality: open)
      let size = Sampler.memorySize(configuration)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
      defer { memory.deallocate() }
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      return Sampler(configuration, memory: memory).quality.points(load: load)
    }
    #expect(quality(3, .four) == 0 && quality(3, .sinc) == 2 && quality(3, .eight) == 1)
    #expect(quality(3, nil) == 2 && quality(3, nil, load: 0.4) == 2 && quality(3, nil, load: 0.6) == 1)
    #expect(quality(3, .sinc, load: 0.9) == 2 && quality(0, nil, load: 0.9) == 0)
    #expect(quality(0, .sinc) == 0 && quality(1, .sinc) == 1 && quality(2, .four) == 2)
  }
}

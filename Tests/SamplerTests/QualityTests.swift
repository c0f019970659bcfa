import Glibc
import Realtime
import Testing

@testable import Sampler

/// What interpolation adds to the sound, against sines computed where the ideal (a sinc of endless
/// length) would have them.
@Suite struct Quality {
  let folder = Folder()

  /// Decibels of what is wrong against what is right: a sine of `hertz` in the sample, played `cents`
  /// higher.
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
    // Not behind the sample's end.
    for frame in 100..<min(24000, Int(59000 / pace)) {
      let place = Double(frame) * pace
      // Above the Nyquist frequency nothing is right.
      let ideal = step * pace < 0.5 ? 0.5 * sin(2 * .pi * step * place) : 0
      wrong += (Double(output[frame]) - ideal) * (Double(output[frame]) - ideal)
      right += 0.125
    }
    return 10 * log10(wrong / right)
  }

  /// The figures stand in ARCHITECTURE.md.
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

  /// Ten cents less than an octave and two up (octaves themselves need no interpolation), where what comes to lie above the Nyquist frequency folds back. The figures stand in
  /// ARCHITECTURE.md.
  @Test func aliasesStayBelowTheirFigures() throws {
    let limits: [[[Double]]] = [
      [[-80, -40, -20, 0.5], [-80, -40, 0.5, 0.5]],
      [[-75, -60, -70, 0.5], [-75, -60, 0.5, 0.5]],
      // What comes out at 20 kHz is where the filter against aliases begins.
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

  /// A render takes the best where the patch leaves it open, and what the patch says else.
  @Test func whatIsLeftOpenIsTheRenderersChoice() {
    func quality(_ said: Float, _ open: SampleQuality) -> UInt8 {
      let values: [[Float]] = (0..<Sampler.description.parameters.count).map { [$0 == 6 ? said : 0] }
      let configuration = KernelConfiguration(
        rate: 48000, inputs: [], outputs: [2], values: values, quality: open)
      let size = Sampler.memorySize(configuration)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
      defer { memory.deallocate() }
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      return Sampler(configuration, memory: memory).quality
    }
    #expect(quality(3, .four) == 0 && quality(3, .sinc) == 2 && quality(3, .eight) == 1)
    #expect(quality(0, .sinc) == 0 && quality(1, .sinc) == 1 && quality(2, .four) == 2)
  }
}

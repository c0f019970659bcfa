import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Responses of filters and equalizers beside the analogue ones, up to the top: 20 kHz, or 0.42 of the rate.
struct ResponseTests {
  /// Magnitude of the analogue prototypes of R. Bristow-Johnson's cookbook at `x` times their frequency.
  static func analogue(_ type: String, _ gain: Double, _ q: Double, at x: Double) -> Double {
    let a = pow(10, gain / 40)
    let root = a.squareRoot()
    // Coefficients of 1, s and s^2.
    let (over, under): ([Double], [Double])
    switch type {
    case "peak": (over, under) = ([1, a / q, 1], [1, 1 / a / q, 1])
    case "lowshelf": (over, under) = ([a * a, a * root / q, a], [1, root / q, a])
    case "highshelf": (over, under) = ([a, a * root / q, a * a], [a, root / q, 1])
    case "lowpass": (over, under) = ([1, 0, 0], [1, 1 / q, 1])
    case "highpass": (over, under) = ([0, 0, 1], [1, 1 / q, 1])
    case "notch": (over, under) = ([1, 0, 1], [1, 1 / q, 1])
    default: (over, under) = ([0, 1 / q, 0], [1, 1 / q, 1])
    }
    func size(_ p: [Double]) -> Double { hypot(p[0] - p[2] * x * x, p[1] * x) }
    return size(over) / size(under)
  }

  private static let rates = [44_100.0, 48_000, 96_000]

  /// Corners and centres, up to 0.39 of the rate.
  private static func frequencies(_ rate: Double) -> [Double] {
    [120, 500, 3000, 7000, 10_000, 13_000, 16_000, 18_000].filter { $0 < 0.39 * rate }
  }

  /// Expects that an impulse response is within 0.5 dB of the analogue one, where that is above -40 dB.
  private func expectNear(
    _ out: [Float], _ type: String, _ freq: Double, _ gain: Double, _ q: Double, _ rate: Double
  ) {
    let top = min(20_000, 0.42 * rate)
    for f in (0..<14).map({ 25 * pow(top / 25, Double($0) / 13) }) + [0.98, 1, 1.02].map({ $0 * freq }) {
      let expected = Self.analogue(type, gain, q, at: f / freq)
      guard expected > 0.01, f <= top else { continue }
      let error = decibels(response(out, f, rate: rate) / expected)
      #expect(
        abs(error) < 0.5, "\(type) \(freq) Hz, \(gain) dB, q \(q), rate \(rate): \(error) dB at \(f) Hz")
    }
  }

  @Test(arguments: rates) func filtersAreAsTheirAnalogueModels(rate: Double) {
    for (index, type) in ["lowpass", "highpass", "bandpass", "notch"].enumerated() {
      for freq in Self.frequencies(rate) {
        for q in index < 2 ? [0.4, 0.707, 1.5] : [0.4, 0.707, 5] {
          let bench = KernelBench(
            Filter.self, Filter.description, inputs: [[impulse(32_000)]], outputs: [1],
            [Filter.type: [Float(index)], Filter.freq: [Float(freq)], Filter.q: [Float(q)]], rate: rate)
          expectNear(bench.run(32_000)[0][0], type, freq, 0, q, rate)
        }
      }
    }
  }

  /// Also a peak of 12 dB at 16 kHz, and every gain in between that is usual.
  @Test(arguments: rates) func bandsAreAsTheirAnalogueModels(rate: Double) {
    for (index, type) in ["peak", "lowshelf", "highshelf", "lowpass", "highpass", "notch", "bandpass"]
      .enumerated()
    {
      let widths = index == 0 || index > 4 ? [0.4, 1, 5] : index < 3 ? [0.5, 0.707, 1] : [0.4, 0.707, 1.5]
      for freq in Self.frequencies(rate) {
        for gain in index < 3 ? [-18.0, -6, 3, 12, 18] : [0] {
          for q in widths {
            let bench = KernelBench(
              Equalizer.self, Equalizer.description, inputs: [[impulse(32_000)]], outputs: [1],
              [
                Equalizer.bands: [1], Equalizer.type(0): [Float(index)], Equalizer.freq(0): [Float(freq)],
                Equalizer.gain(0): [linear(gain)], Equalizer.q(0): [Float(q)],
              ], rate: rate)
            expectNear(bench.run(32_000)[0][0], type, freq, gain, q, rate)
          }
        }
      }
    }
  }

  /// What the fit must not touch: the gain at the centre, silence in a notch and at 0 of a high-pass, a cut that undoes
  /// its boost.
  @Test func peaksNotchesAndCutsAreExact() {
    func band(_ type: Float, _ freq: Float, _ gain: Double, _ q: Float, _ input: [Float]) -> [Float] {
      KernelBench(
        Equalizer.self, Equalizer.description, inputs: [[input]], outputs: [1],
        [
          Equalizer.bands: [1], Equalizer.type(0): [type], Equalizer.freq(0): [freq],
          Equalizer.gain(0): [linear(gain)], Equalizer.q(0): [q],
        ]
      ).run(input.count)[0][0]
    }
    for freq in [Float(300), 5000, 15_000, 21_000] {
      let at = Double(freq)
      for gain in [-30.0, -6, 9, 36] {
        #expect(abs(decibels(response(band(0, freq, gain, 2, impulse(20_000)), at)) - gain) < 0.05)
      }
      #expect(decibels(response(band(5, freq, 0, 1, impulse(20_000)), at)) < -80)
      #expect(decibels(response(band(4, freq, 0, 0.707, impulse(20_000)), 0)) < -80)
      for type in [Float(0), 1, 2] {
        let back = band(type, freq, -24, 1, band(type, freq, 24, 1, impulse(4000)))
        for (frame, y) in back.enumerated() { #expect(abs(y - (frame == 0 ? 1 : 0)) < 1e-4) }
      }
    }
  }

  /// Sixteen frames are calculated at once from the products of their matrices: what rounding adds to the sound of the same
  /// coefficients, taken frame by frame in double precision, is below -110 dB.
  @Test(arguments: [Response.low, .high, .band, .notch]) func aMovingFilterIsAsExactAsItsFramesOneByOne(
    response: Response
  ) {
    let type = [Response.low, .high, .band, .notch].firstIndex(of: response)!
    var chance = Chance(5)
    let input = chance.signal(9600)
    let sweep = (0..<9600).map { 900 * Float(sin(Double($0) * 0.05) + sin(Double($0) * 0.7)) }
    let narrowing = (0..<9600).map { 8 * Float(sin(Double($0) * 0.011)) }
    let bench = KernelBench(
      Filter.self, Filter.description, inputs: [[input]], outputs: [1],
      [Filter.type: [Float(type)], Filter.freq: [2000], Filter.q: [9]])
    bench.modulation = [Filter.freq: [sweep], Filter.q: [narrowing]]
    let out = bench.run(9600)[0][0]
    var (s1, s2, fault, power) = (0.0, 0.0, 0.0, 0.0)
    for frame in 0..<9600 {
      let c = SectionCoefficients(
        response, Frames(repeating: 2000 + sweep[frame]),
        SectionShape(
          Frames(repeating: 9 + narrowing[frame]), Frames(repeating: 1), hasGain: false), 48000)
      let (g, k, x) = (Double(c.g[0]), Double(c.k[0]), Double(input[frame]))
      let a1 = 1 / (1 + g * (g + k))
      let v1 = a1 * s1 + g * a1 * (x - s2)
      let v2 = s2 + g * v1
      (s1, s2) = (2 * v1 - s1, 2 * v2 - s2)
      let y = Double(c.m0[0]) * x + Double(c.m1[0]) * v1 + Double(c.m2[0]) * v2
      fault += (Double(out[frame]) - y) * (Double(out[frame]) - y)
      power += y * y
    }
    #expect(10 * log10(fault / power) < -110)
  }

  /// Coefficients are made of estimates and one step of Newton's method, over all that frequencies, gains and widths may be.
  @Test func inversesAndRootsAreWithinTwoUnits() {
    var chance = Chance(31)
    var worst = (inverse: 0.0, root: 0.0)
    for _ in 0..<20_000 {
      var x = Frames(repeating: 0)
      for lane in 0..<16 { x[lane] = Float(pow(10, Double.random(in: -30...30, using: &chance))) }
      let (inverse, root) = (inverses(x), inverseRoots(x))
      for lane in 0..<16 {
        let exact = (1 / Double(x[lane]), 1 / Double(x[lane]).squareRoot())
        worst.inverse = max(worst.inverse, abs(Double(inverse[lane]) / exact.0 - 1))
        worst.root = max(worst.root, abs(Double(root[lane]) / exact.1 - 1))
      }
    }
    #expect(worst.inverse < 2.4e-7 && worst.root < 2.4e-7, "\(worst)")
  }

  /// Whatever g and k become from frame to frame, the sum of the squares of the states never grows by itself: a frame
  /// takes 4 g k v1^2 from it. The output weighs the states with up to k times the gain, which is 120 here.
  @Test func anEqualizerStaysTameUnderWildModulation() {
    var chance = Chance(23)
    for type in 0..<7 {
      let bench = KernelBench(
        Equalizer.self, Equalizer.description, inputs: [[chance.signal(48_000)]], outputs: [1],
        [
          Equalizer.bands: [1], Equalizer.type(0): [Float(type)], Equalizer.freq(0): [3000],
          Equalizer.gain(0): [2], Equalizer.q(0): [1],
        ])
      bench.modulation = [
        Equalizer.freq(0): [chance.signal(48_000, 60_000)], Equalizer.gain(0): [chance.signal(48_000, 4)],
        Equalizer.q(0): [chance.signal(48_000, 2)],
      ]
      let out = bench.run(48_000)[0][0]
      #expect(out.allSatisfy(\.isFinite) && peak(out) < 10_000, "type \(type): \(peak(out))")
    }
  }

  @Test func aChangeOfABandDoesNotClick() {
    let tone = (0..<20_000).map { 0.5 * Float(sin(2 * .pi * 300 * Double($0) / 48_000)) }
    for (parameter, value) in [
      (Equalizer.freq(0), Float(60)), (Equalizer.freq(0), 20_000), (Equalizer.type(0), 1),
      (Equalizer.type(0), 5),
      (Equalizer.q(0), 10), (Equalizer.gain(0), 0.1),
    ] {
      let bench = KernelBench(
        Equalizer.self, Equalizer.description, inputs: [[tone]], outputs: [1],
        [Equalizer.bands: [1], Equalizer.gain(0): [2], Equalizer.freq(0): [1000]])
      bench.moves = [.init(frame: 10_000, parameter: parameter, value: value, over: 480)]
      let out = bench.run(20_000)[0][0]
      #expect(largestStep(Array(out[9_900..<11_000])) < 0.06)
    }
  }
}

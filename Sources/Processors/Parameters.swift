import Patch

// Parameters shared by many kinds, so that these have the same names, units and ranges.

extension ParameterDescription {
  /// A gain in decibels; kernels see it as a linear factor.
  static func gain(
    _ name: String, _ summary: String, default decibels: Double = 0, upTo highest: Double = 24,
    smoothing: Smoothing = .ramp, dimensions: [String] = [], isPerChannel: Bool = false,
    switches: GainSwitches? = nil
  ) -> Self {
    Self(
      name, summary, unit: .decibels, range: -Double.infinity...highest,
      default: .number(decibels, .decibels), smoothing: smoothing, dimensions: dimensions,
      isPerChannel: isPerChannel, switches: switches)
  }

  /// A gain of which each element is a port of its own, which the kernel moves.
  static func modulatedGain(
    _ name: String, _ summary: String, dimensions: [String] = [], switches: GainSwitches? = nil
  ) -> Self {
    var gain = gain(name, summary, smoothing: .kernel, dimensions: dimensions, switches: switches)
    gain.isModulatedByKernel = true
    return gain
  }

  /// A level or a distance of levels in decibels; kernels see it as a linear factor.
  static func level(
    _ name: String, _ summary: String, default decibels: Double, range: ClosedRange<Double>
  ) -> Self {
    number(name, summary, default: decibels, range: range, unit: .decibels)
  }

  /// The toggles that act on a gain, with the same dimensions. `what`: an input, an output, a crosspoint.
  static func switches(_ switches: GainSwitches, of what: String, _ dimensions: [String]) -> [Self] {
    [
      (switches.mute, "Silences \(what)."), (switches.solo, "While any is on, \(what) without it is silent."),
      (switches.invert, "Turns the polarity of \(what)."),
    ].map { name, summary in
      Self(
        name, summary, form: .toggle, default: .text("off"), smoothing: .gain, dimensions: dimensions)
    }
  }

  /// A user's label of an input or output.
  static func label(_ name: String, _ summary: String, _ dimension: String) -> Self {
    Self(name, summary, form: .text, default: .text(""), smoothing: .none, dimensions: [dimension])
  }

  static func frequency(
    _ name: String, _ summary: String, default hertz: Double, range: ClosedRange<Double> = 10...22_000,
    isPerChannel: Bool = false
  ) -> Self {
    Self(
      name, summary, unit: .hertz, range: range, default: .number(hertz, .hertz),
      isPerChannel: isPerChannel)
  }

  static func number(
    _ name: String, _ summary: String, default value: Double, range: ClosedRange<Double>,
    unit: Unit = .none, smoothing: Smoothing = .ramp, isPerChannel: Bool = false
  ) -> Self {
    Self(
      name, summary, unit: unit, range: range, default: .number(value, unit), smoothing: smoothing,
      isPerChannel: isPerChannel)
  }

  /// A percentage, 0...100; kernels see the percentage, not a fraction.
  static func percent(_ name: String, _ summary: String, default percent: Double) -> Self {
    number(name, summary, default: percent, range: 0...100, unit: .percent)
  }

  static func choice(_ name: String, _ summary: String, _ words: [String], default first: Int = 0)
    -> Self
  {
    Self(
      name, summary, form: .choice(words), range: 0...Double(words.count - 1),
      default: .text(words[first]), smoothing: .crossfade)
  }

  static func count(
    _ name: String, _ summary: String, default count: Int, range: ClosedRange<Double> = 1...64,
    smoothing: Smoothing = .structural
  ) -> Self {
    Self(
      name, summary, form: .integer, range: range, default: .number(Double(count), .none),
      smoothing: smoothing)
  }
}

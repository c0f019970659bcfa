import Realtime
import Sampler

/// Settings of a modulation.
struct ModulationSettings: Hashable {
  var source: UInt16
  var by = Source.one
  var slot: UInt8
  var isAbsolute = false
  var isProduct = false
  var amount: Float
  var curve = Curve.linear
  var byCurve = Curve.linear
  var step: Float = 0
  /// Number of one of the instrument's own curves, until the whole instrument is read.
  var curveNumber: Int?

  /// Converts its values to another unit by a nonlinear function.
  mutating func bend(_ change: (Double) -> Float) {
    let values = curve.values.map { value in
      let amount = Double(amount * value)
      return change(step > 0 ? (amount / Double(step) * 1.0001).rounded(.towardZero) * Double(step) : amount)
    }
    (amount, step, curve) = (1, 0, .custom(values))
  }

  /// True for equal sources and targets.
  func isAlike(_ other: Self) -> Bool {
    source == other.source && by == other.by && slot == other.slot && isAbsolute == other.isAbsolute
      && isProduct == other.isProduct && curve == other.curve && byCurve == other.byCurve
  }
}

/// Modulation settings of a region's voices: see `VoiceShape`.
struct ShapeSettings {
  /// Values by slot, without modulation.
  var base: [Float] = {
    var base = [Float](repeating: 0, count: 64)
    base[Slot.amplitude] = 1
    base[Slot.width] = 100
    return base
  }()
  var modulations: [ModulationSettings] = []
  private(set) var routes: [RouteSettings] = []
  var lfos: [Named<LfoSettings>] = []
  /// Besides the amplifier's.
  var envelopes: [Named<EnvelopeSettings>] = []
  var flexible: [Named<Flexible>] = []
  var units: [FilterUnit] = []
  /// Behind them, those that a voice has only where an offset of its channel's needs them.
  var spareUnits: [FilterUnit] = []
  private var linkCount = 0

  struct Named<Settings> {
    var name: String
    var settings: Settings
  }

  struct RouteSettings: Hashable {
    var generator: UInt8
    var slot: UInt8
  }

  struct Flexible {
    var points: [FlexiblePoint] = []
    var sustain = -1
    var loop = -1
    var loopCount = 0
    var loopShape = Float.nan
    var isDynamic = false
    /// It replaces the amplifier envelope.
    var isAmplifier = false
    /// Numbers of the instrument's own curves for the segments; and the curves themselves.
    var curveNumbers: [Int: Int] = [:]
    var curves: [Int: Curve] = [:]
  }

  /// True when a voice may send to reverb or chorus.
  var hasSends: Bool {
    let slots = [Slot.reverb, Slot.chorus]
    return slots.contains { base[$0] != 0 } || modulations.contains { slots.contains(Int($0.slot)) }
  }

  /// The number of a source fed by other modulations, if there is room.
  mutating func link() -> Int? {
    guard linkCount < Most.links else { return nil }
    linkCount += 1
    return linkCount - 1
  }

  /// Index of the LFO of this name; created if there is room.
  mutating func lfo(_ name: String) -> Int? {
    if let known = lfos.firstIndex(where: { $0.name == name }) { return known }
    guard lfos.count < Most.lfos else { return nil }
    // SFZ 1's three are sines; the numbered ones are triangles, as in ARIA.
    lfos.append(Named(name: name, settings: LfoSettings(name.hasPrefix("lfo") ? .triangle : .sine)))
    return lfos.count - 1
  }

  mutating func envelope(_ name: String) -> Int? {
    if let known = envelopes.firstIndex(where: { $0.name == name }) { return known }
    guard envelopes.count < Most.envelopes else { return nil }
    var settings = EnvelopeSettings()
    settings.isLinear = true
    envelopes.append(Named(name: name, settings: settings))
    return envelopes.count - 1
  }

  mutating func flexible(_ name: String) -> Int? {
    if let known = flexible.firstIndex(where: { $0.name == name }) { return known }
    guard flexible.count < Most.flexible else { return nil }
    flexible.append(Named(name: name, settings: Flexible()))
    return flexible.count - 1
  }

  /// Slot of a route's depth; the route is created if there is room.
  mutating func depth(_ generator: Int, to slot: Int) -> Int? {
    let route = RouteSettings(generator: UInt8(generator), slot: UInt8(slot))
    if let known = routes.firstIndex(of: route) { return Slot.depth + known }
    guard routes.count < Most.routes else { return nil }
    routes.append(route)
    return Slot.depth + routes.count - 1
  }

  /// The modulation of a slot by a source, or by the product of two; created if there is none.
  mutating func modulate(
    _ slot: Int, by source: UInt16, and other: UInt16 = Source.one,
    _ change: (inout ModulationSettings) -> Void
  ) {
    if let known = modulations.firstIndex(where: {
      Int($0.slot) == slot && $0.source == source && $0.by == other
    }) {
      change(&modulations[known])
    } else {
      var new = ModulationSettings(
        source: source, by: other, slot: UInt8(slot), isProduct: slot == Slot.amplitude, amount: 0)
      change(&new)
      modulations.append(new)
    }
  }
}

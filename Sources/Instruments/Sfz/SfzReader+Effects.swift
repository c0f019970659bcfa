import Glibc
import Sampler

/// The `<effect>` headers of an SFZ instrument. Effects with a memory of seconds (delays, reverbs, choruses)
/// are reported as unsupported, since a patch has nodes for them.
struct SfzEffects {
  private(set) var plan = EffectPlan()
  private var type: String?
  private var bus = ""
  private var values: [String: (value: String, place: SourceLine)] = [:]
  private(set) var place = SourceLine(file: "", line: 0)

  /// Opcodes of the supported effects.
  private static let opcodes: [String: Set<String>] = [
    "lofi": ["bitred", "decim"],
    "filter": ["filter_type", "filter_cutoff", "filter_resonance"],
    "eq": ["eq_type", "eq_freq", "eq_bw", "eq_gain"],
    "gain": ["gain"], "width": ["width"],
    "disto": ["disto_depth", "disto_tone", "disto_stages", "disto_wet", "disto_dry"],
  ]

  mutating func begin(_ place: SourceLine) {
    (type, bus, values) = (nil, "", [:])
    self.place = place
  }

  /// Worker.
  mutating func set(_ name: String, _ value: String, _ place: SourceLine, _ reader: inout SfzReader) {
    switch name {
    case "type": type = value
    case "bus": bus = value
    case "directtomain":
      if let percent = reader.real(name, value, 0...100, place) { plan.shares.0 = Float(percent / 100) }
    case "fx1tomain":
      if let percent = reader.real(name, value, 0...100, place) { plan.shares.1 = Float(percent / 100) }
    case "fx2tomain":
      if let percent = reader.real(name, value, 0...100, place) { plan.shares.2 = Float(percent / 100) }
    default: values[name] = (value, place)
    }
  }

  /// Ends the header. Worker.
  mutating func close(_ reader: inout SfzReader) {
    guard let type else {
      for name in values.keys.sorted() { reader.notUnderstoodOpcode("<effect> \(name)", values[name]!.place) }
      return
    }
    guard let known = Self.opcodes[type] else {
      reader.notUnderstood("<effect> type=\(type)", place, "the effect \(type) has no effect here")
      for name in values.keys.sorted() + ["type", "bus"] { reader.ignore("<effect> \(name)") }
      return
    }
    for name in values.keys.sorted() where !known.contains(name) {
      reader.notUnderstoodOpcode("<effect> \(name)", values[name]!.place)
    }
    let number: Int
    switch bus {
    case "", "main": number = 0
    case "fx1": number = 1
    case "fx2": number = 2
    default:
      reader.find("bus=\(bus): of buses there are main, fx1 and fx2; its effect is left out", place)
      return
    }
    for unit in units(type, &reader) where !plan.append(unit, to: number) {
      reader.find("of effects on one bus only the first \(EffectPlan.most) count", place)
      return
    }
  }

  private func units(_ type: String, _ reader: inout SfzReader) -> [EffectUnit] {
    func value(_ name: String, _ range: ClosedRange<Double>, _ unstated: Double) -> Float {
      guard let stated = values[name] else { return Float(unstated) }
      return Float(reader.real(name, stated.value, range, stated.place) ?? unstated)
    }
    switch type {
    case "gain":
      return [EffectUnit(kind: .gain, first: powf(10, value("gain", -144...48, 0) / 20))]
    case "width": return [EffectUnit(kind: .width, first: value("width", -100...100, 100))]
    case "lofi":
      return [EffectUnit(kind: .lofi, first: value("bitred", 0...100, 0), second: value("decim", 0...100, 0))]
    case "filter":
      let name = values["filter_type"]?.value ?? "lpf_2p"
      guard let kinds = SfzFilter.kinds[name], !kinds.isEmpty else {
        reader.unreadable(
          "filter_type", name, "a type of `fil_type` without gain", values["filter_type"]?.place ?? place)
        return []
      }
      let cents = RegionSettings.cents(Double(value("filter_cutoff", 0...100_000, 1000)))
      let resonance = value("filter_resonance", -96...96, 0)
      return kinds.map {
        EffectUnit(kind: .filter, filter: $0, first: cents, second: resonance, third: 1)
      }
    case "eq":
      let kinds: [String: FilterKind] = ["peak": .peak, "lshelf": .lowShelf, "hshelf": .highShelf]
      let name = values["eq_type"]?.value ?? "peak"
      guard let kind = kinds[name] else {
        reader.unreadable("eq_type", name, "peak, lshelf or hshelf", values["eq_type"]?.place ?? place)
        return []
      }
      return [
        EffectUnit(
          kind: .filter, filter: kind,
          first: RegionSettings.cents(Double(value("eq_freq", 1...100_000, 1000))),
          second: value("eq_gain", -96...96, 0), third: value("eq_bw", 0.001...4, 1))
      ]
    default:
      // Up to 40 dB into the curve per stage; tone from 200 Hz to 20 kHz.
      let depth = powf(10, value("disto_depth", 0...100, 100) / 50)
      let tone = RegionSettings.cents(200 * pow(100, Double(value("disto_tone", 0...100, 100)) / 100))
      let stages = Int(value("disto_stages", 1...4, 1))
      let (wet, dry) = (value("disto_wet", 0...100, 100) / 100, value("disto_dry", 0...100, 0) / 100)
      return [
        EffectUnit(
          kind: .distortion, first: depth, second: tone, third: dry, fourth: wet, stages: UInt8(stages))
      ]
    }
  }
}

extension SfzReader {
  /// Worker.
  mutating func setEffect(_ name: String, _ value: String, _ place: SourceLine) {
    var changed = effects
    changed.set(name, value, place, &self)
    effects = changed
  }

  /// Ends an `<effect>` header. Worker.
  mutating func closeEffect() {
    var closed = effects
    closed.close(&self)
    effects = closed
  }
}

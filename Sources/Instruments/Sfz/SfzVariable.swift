import Sampler

/// An ARIA variable: several controllers that together modulate several targets (`varNN_…`).
struct SfzVariable {
  struct Source: Hashable {
    var control: UInt16
    var amount: Double = 1
    var curve = 0
  }

  var number: Int
  /// The controllers' values are multiplied, not added.
  var isProduct = false
  var sources: [Source] = []
  /// Slots, with their share of the variable.
  var targets: [(slot: Int, amount: Double)] = []

  /// Maximum number of controllers that can be multiplied.
  static let mostFactors = 2

  mutating func source(_ control: UInt16, _ change: (inout Source) -> Void) {
    if let known = sources.firstIndex(where: { $0.control == control }) {
      change(&sources[known])
    } else {
      var new = Source(control: control)
      change(&new)
      sources.append(new)
    }
  }

  /// The modulations of the variable.
  func modulations(_ curve: (Int) -> Curve) -> [ModulationSettings] {
    targets.flatMap { target in
      func modulation(_ source: Source) -> ModulationSettings {
        var result = ModulationSettings(
          source: source.control, slot: UInt8(target.slot), isProduct: target.slot == Slot.amplitude,
          amount: Float(source.amount * target.amount))
        result.curve = curve(source.curve)
        return result
      }
      guard isProduct, sources.count > 1 else { return sources.map(modulation) }
      var product = modulation(sources[0])
      product.by = sources[1].control
      product.byCurve = curve(sources[1].curve)
      product.amount *= Float(sources[1].amount)
      return [product]
    }
  }
}

extension SfzReader {
  /// `varNN_mod`, `varNN_onccX`, `varNN_curveccX`, and `varNN_` with a target; false for unsupported ones.
  /// Worker.
  mutating func setVariable(
    _ name: String, _ value: String, in region: inout SfzRegion, _ place: SourceLine
  ) -> Bool {
    guard let underscore = name.firstIndex(of: "_"),
      let number = Self.number(in: String(name[..<underscore]), after: "var")
    else { return false }
    let part = String(name[name.index(after: underscore)...])
    var variable = region.variables[number] ?? SfzVariable(number: number)
    if part == "mod" {
      guard value == "add" || value == "mult" else {
        unreadable(name, value, "add or mult", place)
        return true
      }
      variable.isProduct = value == "mult"
    } else if let control = Self.number(in: part, after: "oncc", last: 511)
      ?? Self.number(in: part, after: "cc", last: 511)
    {
      guard let amount = real(name, value, -1e6...1e6, place) else { return true }
      variable.source(UInt16(control)) { $0.amount = amount }
    } else if let control = Self.number(in: part, after: "curvecc", last: 511) {
      guard let curve = integer(name, value, 0...255, place) else { return true }
      variable.source(UInt16(control)) { $0.curve = curve }
    } else {
      guard let to = Self.destination(Self.bandName(part) ?? part, &region.shape) else { return false }
      guard let amount = real(name, value, -1e6...1e6, place) else { return true }
      variable.targets.removeAll { $0.slot == to.slot }
      variable.targets.append((to.slot, amount * to.scale))
    }
    if variable.isProduct, variable.sources.count > SfzVariable.mostFactors {
      find("var\(number): of what is multiplied only the first two controllers count", place)
    }
    region.variables[number] = variable
    return true
  }

  /// `eq1_gain` for `eq1gain`, the form used after variables, envelopes and LFOs.
  static func bandName(_ part: String) -> String? {
    for word in ["gain", "freq", "bw"] where part.hasPrefix("eq") && part.hasSuffix(word) {
      return number(in: String(part.dropLast(word.count)), after: "eq").map { "eq\($0)_\(word)" }
    }
    return nil
  }
}

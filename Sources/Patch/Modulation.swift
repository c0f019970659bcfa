import Glibc

/// The way in which a cable moves a parameter: `by 2oct offset=1oct curve=log`.
public struct Modulation: Hashable, Sendable {
  /// How far a signal of 1 moves the parameter: a number in one of `ParameterDescription.depthUnits`.
  public var depth: Value
  /// How far the cable moves it besides, whatever the signal; in a unit of the same sort. nil: not at all.
  public var offset: Value?
  /// Shape of the way between a signal of 0 and one of 1.
  public var curve: Curve

  /// Ways between 0 and 1, and the same below 0 turned round.
  public enum Curve: String, CaseIterable, Sendable, BitwiseCopyable {
    /// In step with the signal.
    case linear
    /// In equal ratios, as an audio potentiometer: a tenth at half the signal. Beyond 1 it stays at 1.
    case log
    /// The signal times its magnitude; the root of its magnitude.
    case square, root
    /// Slow at both ends, as `3a^2 - 2a^3`. Beyond 1 it stays at 1.
    case s
  }

  /// A modulation; linear and without an offset unless something else is given.
  public init(_ depth: Value, offset: Value? = nil, curve: Curve = .linear) {
    (self.depth, self.offset, self.curve) = (depth, offset, curve)
  }

  /// The words behind `by`.
  public var line: String {
    var words = depth.line
    if let offset { words += " offset=\(offset.line)" }
    if curve != .linear { words += " curve=\(curve.rawValue)" }
    return words
  }
}

/// A modulation as the engine has it.
public struct ModulationDepth: Hashable, Sendable {
  /// How far a signal of 1 moves the parameter: in octaves (factors of two) for a ratio, otherwise in the engine's unit.
  public var amount: Float
  /// The parameter is multiplied by 2 to the power of the signal times `amount`; otherwise that is added.
  public var isRatio: Bool
  /// Added to the signal times `amount`.
  public var offset: Float = 0
  /// Shape of the signal.
  public var curve = Modulation.Curve.linear

  init(amount: Float, isRatio: Bool) { (self.amount, self.isRatio) = (amount, isRatio) }

  /// It does more than multiply the signal.
  package var isShaped: Bool { offset != 0 || curve != .linear }

  /// Largest amounts: of a ratio, in octaves, and of others.
  static let most: (ratio: Double, sum: Double) = (20, 1e6)
}

extension ParameterDescription {
  /// True for a frequency that cables move: a pitch into it means octaves.
  var takesPitch: Bool { unit == .hertz && KindDescription.isPort(self) }

  /// Units in which the depth of a modulation can be given.
  public var depthUnits: [Unit] {
    switch unit {
    case .hertz: [.hertz, .octaves, .semitones, .cents]
    case .cents, .semitones: [.semitones, .cents, .octaves]
    case let unit: [unit]
    }
  }

  /// Units in which an offset can be given beside a depth.
  func offsetUnits(beside depth: Value) -> [Unit] {
    guard let isRatio = self.depth(depth)?.engine.isRatio else { return [] }
    return depthUnits.filter { self.depth(.number(0, $0))?.engine.isRatio == isRatio }
  }

  /// A modulation with its numbers in the units above, and what the engine makes of it; nil: it is none. An offset without a
  /// unit has the depth's.
  public func modulation(_ modulation: Modulation) -> (written: Modulation, engine: ModulationDepth)? {
    guard case (let value, var engine)? = depth(modulation.depth) else { return nil }
    var written = Modulation(value, curve: modulation.curve)
    engine.curve = modulation.curve
    guard case .number(let number, let unit)? = modulation.offset else {
      return modulation.offset == nil ? (written, engine) : nil
    }
    if case .number(_, let usual) = value, let offset = depth(.number(number, unit == .none ? usual : unit)) {
      guard offset.engine.isRatio == engine.isRatio else { return nil }
      engine.offset = offset.engine.amount
      if engine.offset != 0 { written.offset = offset.value }
      return (written, engine)
    }
    return nil
  }

  /// A depth in one of the units above, and what the engine makes of it; nil: it is none. A number without a unit has the
  /// parameter's.
  public func depth(_ value: Value) -> (value: Value, engine: ModulationDepth)? {
    guard case .number(let number, var written) = value, number.isFinite else { return nil }
    if written == .none { written = unit }
    guard depthUnits.contains(written) else { return nil }
    let octaves: Double? =
      switch written {
      case .octaves: number
      case .semitones: number / 12
      case .cents: number / 1200
      case .decibels: number / (20 * log10(2))
      default: nil
      }
    let depth: (amount: Double, isRatio: Bool)
    switch (unit, octaves) {
    case (.cents, let octaves?): depth = (octaves * 1200, false)
    case (.semitones, let octaves?): depth = (octaves * 12, false)
    case (_, let octaves?): depth = (octaves, true)
    default: depth = (number, false)
    }
    guard abs(depth.amount) <= (depth.isRatio ? ModulationDepth.most.ratio : ModulationDepth.most.sum) else {
      return nil
    }
    return (
      .number(number == 0 ? 0 : number, written),
      ModulationDepth(amount: Float(depth.amount), isRatio: depth.isRatio)
    )
  }
}

extension Unit {
  /// A depth in this unit.
  package var depthExample: Value {
    switch self {
    case .none: .number(0.5, self)
    case .decibels: .number(6, self)
    case .hertz: .number(100, self)
    case .seconds: .number(0.01, self)
    case .percent: .number(20, self)
    case .cents: .number(50, self)
    case .semitones, .key: .number(7, self)
    case .octaves: .number(2, self)
    case .notes: .number(0.125, self)
    }
  }
}

extension Patch {
  /// A cable's modulation as the engine has it; nil: its signal is added as it is.
  public func depth(of cable: Cable, catalogue: KindCatalogue) -> ModulationDepth? {
    guard let modulation = cable.settings.modulation else { return nil }
    return modulated(by: cable.ends, catalogue: catalogue)?.modulation(modulation)?.engine
  }

  /// The modulation of a cable in the parameter's units: as it is stated, or else an octave for a pitch into a frequency.
  func modulation(_ stated: Modulation?, of ends: Cable.Ends, catalogue: KindCatalogue) -> Modulation? {
    guard let stated else { return usualModulation(of: ends, catalogue: catalogue) }
    return modulated(by: ends, catalogue: catalogue)?.modulation(stated)?.written ?? stated
  }

  private func usualModulation(of ends: Cable.Ends, catalogue: KindCatalogue) -> Modulation? {
    guard modulated(by: ends, catalogue: catalogue)?.takesPitch == true,
      let kind = self[ends.source.node].flatMap({ catalogue[$0.kind] }),
      kind.outputs.contains(where: { $0.name == ends.source.port && $0.role == .pitch })
    else { return nil }
    return Modulation(.number(1, .octaves))
  }

  /// The parameter that a cable between these ports modulates; nil: none, or the kind is unknown.
  public func modulated(by ends: Cable.Ends, catalogue: KindCatalogue) -> ParameterDescription? {
    nodes.kind(of: ends.destination.node).flatMap { catalogue[$0] }?.modulated(at: ends.destination.port)
  }
}

extension KindDescription {
  /// The parameter of which a port is the modulation; nil: none.
  package func modulated(at port: String) -> ParameterDescription? {
    let port = self[parameter: port]?.glide ?? port
    if inputs.contains(where: { $0.name == port }) { return nil }
    return parameter(ofPort: port).map { parameters[$0.index] }
  }
}

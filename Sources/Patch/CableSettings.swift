import Glibc

/// Gain, channel map and depth of a cable.
public struct CableSettings: Hashable, Sendable {
  /// Gain in decibels; unused for events.
  public var gain: Double
  /// Channel map; nil: `mixing` applies.
  public var map: ChannelMap?
  /// Channel mixing without a map.
  public var mixing: ChannelMixing
  /// Depth of a modulation: how far a signal of 1 moves the parameter, a number in one of its units. nil: the signal is
  /// added as it is.
  public var depth: Value?

  /// The settings of a cable at unity, unless something else is given.
  public init(
    gain: Double = 0, map: ChannelMap? = nil, mixing: ChannelMixing = .speakers, depth: Value? = nil
  ) {
    self.gain = gain
    self.map = map
    self.mixing = mixing
    self.depth = depth
  }

  /// The same with another gain, in decibels.
  public func with(gain: Double) -> CableSettings {
    var settings = self
    settings.gain = gain
    return settings
  }

  /// The same with another map.
  public func with(map: ChannelMap?) -> CableSettings {
    var settings = self
    settings.map = map
    return settings
  }

  /// Words behind the cable's name in its line, each with a blank before it; empty at unity.
  var words: String {
    var words = ""
    if let depth { words += " by \(depth.line)" }
    if gain != 0 { words += " gain=\(Value.number(gain, .decibels).line)" }
    if let map { words += " map=\(map.line)" }
    if mixing != .speakers { words += " mix=\(mixing.rawValue)" }
    return words
  }
}

/// Depth of a modulation as the engine has it.
public struct ModulationDepth: Hashable, Sendable {
  /// How far a signal of 1 moves the parameter: in octaves (factors of two) for a ratio, otherwise in the engine's unit.
  public var amount: Float
  /// The parameter is multiplied by 2 to the power of the signal times `amount`; otherwise that is added.
  public var isRatio: Bool

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
  /// Depth of a cable's modulation, as the engine has it; nil: its signal is added as it is.
  public func depth(of cable: Cable, catalogue: KindCatalogue) -> ModulationDepth? {
    guard let value = cable.settings.depth else { return nil }
    return modulated(by: cable.ends, catalogue: catalogue)?.depth(value)?.engine
  }

  /// The depth of a cable of which the line states none: an octave for a pitch into a frequency.
  func usualDepth(of ends: Cable.Ends, catalogue: KindCatalogue) -> Value? {
    guard modulated(by: ends, catalogue: catalogue)?.takesPitch == true,
      let kind = self[ends.source.node].flatMap({ catalogue[$0.kind] }),
      kind.outputs.contains(where: { $0.name == ends.source.port && $0.role == .pitch })
    else { return nil }
    return .number(1, .octaves)
  }

  /// The parameter that a cable between these ports modulates; nil: none, or the kind is unknown.
  public func modulated(by ends: Cable.Ends, catalogue: KindCatalogue) -> ParameterDescription? {
    self[ends.destination.node].flatMap { catalogue[$0.kind] }?.modulated(at: ends.destination.port)
  }
}

extension KindDescription {
  /// The parameter of which a port is the modulation; nil: none.
  package func modulated(at port: String) -> ParameterDescription? {
    let port = self[parameter: port]?.glide ?? port
    guard !inputs.contains(where: { $0.name == port }), let parameter = self[parameter: port],
      Self.isPort(parameter)
    else { return nil }
    return parameter
  }
}

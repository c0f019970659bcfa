/// Gain, channel map and modulation of a cable.
public struct CableSettings: Hashable, Sendable {
  /// Gain in decibels; unused for events.
  public var gain: Double
  /// Channel map; nil: `mixing` applies.
  public var map: ChannelMap?
  /// Channel mixing without a map.
  public var mixing: ChannelMixing
  /// The way in which it moves a parameter. nil: its signal is added as it is.
  public var modulation: Modulation?

  /// The settings of a cable at unity, unless something else is given.
  public init(
    gain: Double = 0, map: ChannelMap? = nil, mixing: ChannelMixing = .speakers, modulation: Modulation? = nil
  ) {
    self.gain = gain
    self.map = map
    self.mixing = mixing
    self.modulation = modulation
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
    if let modulation { words += " by \(modulation.line)" }
    if gain != 0 { words += " gain=\(Value.number(gain, .decibels).line)" }
    if let map { words += " map=\(map.line)" }
    if mixing != .speakers { words += " mix=\(mixing.rawValue)" }
    return words
  }
}

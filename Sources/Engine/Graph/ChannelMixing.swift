import Patch

/// One entry of a cable's matrix: `destination` channel gets `gain` times `source` channel.
package struct ChannelGain: Hashable, Sendable {
  package var source: Int
  package var destination: Int
  package var gain: Float
}

/// Conversion of `from` channels into `to` channels, with a name when it is not 1:1.
package struct ChannelConversion: Sendable {
  package var gains: [ChannelGain]
  /// nil when the channels pass straight through.
  package var name: String?

  /// Uses the map if there is one. Otherwise the "speakers" rules of the Web Audio API (W3C Recommendation,
  /// 2021, section 4.7) between 1, 2, 4 and 6 channels. Otherwise 1:1.
  package init(from: Int, to: Int, map: ChannelMap?, mixing: ChannelMixing) {
    if let map {
      gains = map.sources.prefix(to).enumerated().compactMap { destination, source in
        source >= 0 && source < from ? ChannelGain(source: source, destination: destination, gain: 1) : nil
      }
      return
    }
    if mixing == .speakers, from != to, let rule = Self.speakers[Pair(from: from, to: to)] {
      gains = rule.map { ChannelGain(source: $0.0, destination: $0.1, gain: $0.2) }
      name = "\(Self.name(from)) to \(Self.name(to))"
      return
    }
    gains = (0..<min(from, to)).map { ChannelGain(source: $0, destination: $0, gain: 1) }
    if from != to { name = "\(from) to \(to) channels, 1:1" }
  }

  /// Conversion for a cable into a parameter that has `to` values: one for all channels, or one per channel.
  /// A single channel without a map drives all values; otherwise as for an audio input.
  package static func modulation(
    from: Int, to: Int, map: ChannelMap?, mixing: ChannelMixing
  ) -> ChannelConversion {
    var conversion = ChannelConversion(from: from, to: to, map: map, mixing: mixing)
    guard isForAll(from: from, map: map, mixing: mixing), to > 1 else { return conversion }
    conversion.gains = (0..<to).map { ChannelGain(source: 0, destination: $0, gain: 1) }
    conversion.name = "1 to all \(to) channels"
    return conversion
  }

  /// True when a cable into a parameter drives all channels with one value.
  static func isForAll(from: Int, map: ChannelMap?, mixing: ChannelMixing) -> Bool {
    from == 1 && map == nil && mixing == .speakers
  }

  private struct Pair: Hashable {
    var from: Int
    var to: Int
  }

  private static func name(_ channels: Int) -> String {
    switch channels {
    case 1: "mono"
    case 2: "stereo"
    case 4: "quad"
    default: "5.1"
    }
  }

  // Channels: mono M; stereo L R; quad L R SL SR; 5.1 L R C LFE SL SR.
  private static let half: Float = 0.5
  private static let root: Float = Float(0.5).squareRoot()
  private static let speakers: [Pair: [(Int, Int, Float)]] = [
    Pair(from: 1, to: 2): [(0, 0, 1), (0, 1, 1)],
    Pair(from: 1, to: 4): [(0, 0, 1), (0, 1, 1)],
    Pair(from: 1, to: 6): [(0, 2, 1)],
    Pair(from: 2, to: 4): [(0, 0, 1), (1, 1, 1)],
    Pair(from: 2, to: 6): [(0, 0, 1), (1, 1, 1)],
    Pair(from: 4, to: 6): [(0, 0, 1), (1, 1, 1), (2, 4, 1), (3, 5, 1)],
    Pair(from: 2, to: 1): [(0, 0, half), (1, 0, half)],
    Pair(from: 4, to: 1): [(0, 0, 0.25), (1, 0, 0.25), (2, 0, 0.25), (3, 0, 0.25)],
    Pair(from: 6, to: 1): [(0, 0, root), (1, 0, root), (2, 0, 1), (4, 0, half), (5, 0, half)],
    Pair(from: 4, to: 2): [(0, 0, half), (2, 0, half), (1, 1, half), (3, 1, half)],
    Pair(from: 6, to: 2): [
      (0, 0, 1), (2, 0, root), (4, 0, root), (1, 1, 1), (2, 1, root), (5, 1, root),
    ],
    Pair(from: 6, to: 4): [(0, 0, 1), (2, 0, root), (1, 1, 1), (2, 1, root), (4, 2, 1), (5, 3, 1)],
  ]
}

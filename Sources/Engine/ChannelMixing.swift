import Patch

/// One entry of a cable's matrix: `destination` channel gets `gain` times `source` channel.
package struct ChannelGain: Hashable, Sendable {
  package var source: Int
  package var destination: Int
  package var gain: Float
}

/// How `from` channels become `to` channels, and what to call it when it is not 1:1.
package struct ChannelConversion: Sendable {
  package var gains: [ChannelGain]
  /// nil when the channels go straight through.
  package var name: String?

  /// The map's entries where there is one; else the "speakers" rules of the Web Audio API
  /// (W3C Recommendation, 2021, section 4.7) between 1, 2, 4 and 6 channels, else 1:1.
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

  /// Whether sound from one end goes on at the other when this conversion, of `from` channels to `to`, becomes
  /// `new`, of `wider`: for all that the source may hold of what it held. That is what its kind makes of fewer
  /// channels at its input; one channel in all of them, which is what kernels remember; and, where it is
  /// `disturbed` (its own input changes), each channel where it was.
  func carriesOn(as new: ChannelConversion, from: Int, to: Int, wider: Int, disturbed: Bool) -> Bool {
    let old = Gains(gains, to: to)
    var holdings = [ChannelConversion(from: from, to: wider, map: nil, mixing: .speakers).gains]
    if from == 1 { holdings.append((0..<wider).map { ChannelGain(source: 0, destination: $0, gain: 1) }) }
    if disturbed {
      holdings.append((0..<from).map { ChannelGain(source: $0, destination: $0, gain: 1) })
    }
    return holdings.allSatisfy { holding in
      let both = new.gains.flatMap { gain in
        holding.filter { $0.destination == gain.source }.map {
          ChannelGain(source: $0.source, destination: gain.destination, gain: $0.gain * gain.gain)
        }
      }
      return Gains(both, to: to) == old
    }
  }

  /// The sums of gains from source to destination, of destinations below `to`.
  private struct Gains: Equatable {
    private var sums: [Pair: Float] = [:]

    init(_ gains: [ChannelGain], to: Int) {
      for gain in gains where gain.destination < to {
        sums[Pair(from: gain.source, to: gain.destination), default: 0] += gain.gain
      }
    }
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

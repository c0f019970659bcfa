import Engine
import Patch

extension GraphReport {
  /// Gives inputs that are not measured themselves the peaks that their cables bring: with one cable
  /// that is exact, with several it is the most that their sum can be.
  mutating func fillInputPeaks() {
    var peaks: [String: [Float]] = [:]
    for node in nodes where !node.state.isLeaving {
      for port in node.outputs where !port.isEvents { peaks[node.name + "." + port.name] = port.peaks }
    }
    for node in nodes.indices {
      for port in nodes[node].inputs.indices {
        let input = nodes[node].inputs[port]
        guard !input.isEvents, input.peaks.isEmpty, input.channels > 0 else { continue }
        var levels = [Float](repeating: 0, count: input.channels)
        for cable in input.cables {
          let source = peaks[cable.from + "." + cable.fromPort] ?? []
          for channel in levels.indices {
            levels[channel] += abs(cable.gain) * cable.level(of: channel, source)
          }
        }
        nodes[node].inputs[port].peaks = levels
      }
    }
  }
}

extension NodeReport.State {
  fileprivate var isLeaving: Bool {
    switch self {
    case .leaving, .ringing: true
    default: false
    }
  }
}

extension CableReport {
  /// The most that can reach a channel of the destination, before the gain, of these levels of the source.
  fileprivate func level(of channel: Int, _ source: [Float]) -> Float {
    let rule = ChannelConversion(
      from: source.count, to: toChannels, map: map, mixing: isDiscrete ? .discrete : .speakers)
    return rule.gains.reduce(0) { $1.destination == channel ? $0 + abs($1.gain) * source[$1.source] : $0 }
  }
}

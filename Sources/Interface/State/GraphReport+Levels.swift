import Engine
import Patch

extension GraphReport {
  /// Estimates levels of inputs, which are not measured, from their cables. With one cable the result is
  /// exact. With several, the peak is the upper bound of the sum, and the mean that of uncorrelated signals.
  mutating func fillInputLevels() {
    var outputs: [String: PortReport] = [:]
    for node in nodes where !node.state.isLeaving {
      for port in node.outputs where !port.isEvents { outputs[node.name + "." + port.name] = port }
    }
    for node in nodes.indices {
      for port in nodes[node].inputs.indices {
        let input = nodes[node].inputs[port]
        guard !input.isEvents, input.peaks.isEmpty, input.channels > 0 else { continue }
        var peaks = [Float](repeating: 0, count: input.channels)
        var powers = peaks
        var hasMeans = false
        for cable in input.cables {
          guard let source = outputs[cable.from + "." + cable.fromPort] else { continue }
          for entry in cable.conversion(of: source) where entry.destination < input.channels {
            let gain = abs(cable.gain * entry.gain)
            if source.peaks.indices.contains(entry.source) {
              peaks[entry.destination] += gain * source.peaks[entry.source]
            }
            if source.means.indices.contains(entry.source) {
              let mean = gain * source.means[entry.source]
              powers[entry.destination] += mean * mean
              hasMeans = true
            }
          }
        }
        nodes[node].inputs[port].peaks = peaks
        if hasMeans { nodes[node].inputs[port].means = powers.map { $0.squareRoot() } }
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
  fileprivate func conversion(of source: PortReport) -> [ChannelGain] {
    ChannelConversion(
      from: max(source.channels, source.peaks.count), to: toChannels, map: map,
      mixing: isDiscrete ? .discrete : .speakers
    ).gains
  }
}

import Engine
import Patch

/// Levels of ports. Those of inputs are not measured; they are estimated from their cables, and only where somebody looks.
/// With one cable the result is exact. With several, the peak is the upper bound of the sum, and the mean that of
/// uncorrelated signals.
extension Scene {
  /// Levels of an input in the scene's report.
  func levels(ofInput port: PortReport) -> GridLevels {
    guard !port.isEvents, port.peaks.isEmpty, port.channels > 0 else {
      return GridLevels(peaks: port.peaks, means: port.means)
    }
    var peaks = [Float](repeating: 0, count: port.channels)
    var powers = peaks
    var hasMeans = false
    for cable in port.cables {
      guard let source = source(of: cable) else { continue }
      for entry in cable.conversion(of: source) where entry.destination < port.channels {
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
    return GridLevels(peaks: peaks, means: hasMeans ? powers.map { $0.squareRoot() } : [])
  }

  /// The port that a cable of the report comes from. While a node replaces another of its name, cables that fade out belong
  /// to the leaving one.
  private func source(of cable: CableReport) -> PortReport? {
    var place: Int?
    if cable.state.isEnding {
      place = report.nodes.firstIndex { $0.name == cable.from && $0.state.isLeaving }
    }
    place = place ?? reportPlaces[cable.from] ?? report.nodes.lastIndex { $0.name == cable.from }
    return place.flatMap { report.nodes[$0].outputs.first { $0.name == cable.fromPort && !$0.isEvents } }
  }

  /// Notes the places of the report's nodes, if they are others than before.
  mutating func findPlaces() {
    guard let form = report.form, form !== placesForm else { return }
    placesForm = form
    reportPlaces = [:]
    for (place, node) in report.nodes.enumerated()
    where reportPlaces[node.name] == nil || patch[node.id] != nil {
      reportPlaces[node.name] = place
    }
  }
}

extension GridLevels {
  /// Levels of an output; empty where nothing is measured.
  init(output port: PortReport) { self.init(peaks: port.peaks, means: port.means) }
}

extension NodeReport.State {
  /// It fades out or rings out.
  var isLeaving: Bool {
    switch self {
    case .leaving, .ringing: true
    default: false
    }
  }
}

extension CableReport.State {
  /// It fades out.
  var isEnding: Bool { if case .fadingOut = self { true } else { false } }
}

extension CableReport {
  fileprivate func conversion(of source: PortReport) -> [ChannelGain] {
    ChannelConversion(
      from: max(source.channels, source.peaks.count), to: toChannels, map: map,
      mixing: isDiscrete ? .discrete : .speakers
    ).gains
  }
}

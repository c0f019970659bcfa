import Patch
import Session

/// Nodes in words, for those who do not see the screen.
extension Scene {
  /// `dist, distortion, drive 18.0 dB, shape tanh; from piano -12.0 dB; to main`
  func telling(_ id: NodeID) -> String {
    guard let node = patch[id] else { return "no node" }
    let facts = NodeFacts(node, self)
    var words = ["\(node.name), \(facts.kindText)"]
    words += facts.values(4).filter { !$0.value.display.isEmpty }
      .map { "\($0.path.line) \($0.value.display)" }
    var parts = [words.joined(separator: ", ")]
    let sources = cables(into: id).map { cable in
      let (name, end) = (name(of: cable.ends), cable.ends.destination)
      // A sub-patch has its name for the port at its edge.
      let port = end.node == id ? end.port : name.destination.port
      return name.source.description + Self.gain(cable)
        + (port == facts.kind?.inputs.first?.name ? "" : " at \(port ?? end.port)")
    }
    if !sources.isEmpty { parts.append("from " + sources.joined(separator: " and ")) }
    let goals = cables(from: id).map { cable in
      name(of: cable.ends).destination.description + Self.gain(cable)
    }
    if !goals.isEmpty { parts.append("to " + goals.joined(separator: " and ")) }
    if sources.isEmpty, goals.isEmpty { parts.append("not connected") }
    if let report = report.nodes.first(where: { $0.id == id }) {
      switch report.state {
      case .placeholder(let reason): parts.append("placeholder: \(reason)")
      case .muted(let reason): parts.append("muted: \(reason)")
      default: break
      }
      if let load = report.loading { parts.append("loading \(load.words)") }
      if let fault = report.fault { parts.append(fault) }
    }
    return parts.joined(separator: "; ")
  }

  private static func gain(_ cable: Cable) -> String {
    cable.gain == 0 ? "" : " " + Value.number(cable.gain, .decibels).display
  }

  /// Levels and figures of the moment, of a node or of the whole.
  func state(of focus: NodeID?) -> String {
    var words = [fileName + (isModified ? ", not saved" : "")]
    words.append("\(status.driver) \(Printout.fixed(status.rate / 1000, 1)) kHz, period \(status.period)")
    words.append(
      "load \(Printout.fixed(status.load * 100, 0)) %, xruns \(status.xruns), voices \(status.voices)")
    if status.isDisturbed { words.append(status.driverMessage) }
    if !status.muted.isEmpty { words.append("muted " + status.muted.joined(separator: ", ")) }
    if !status.takes.isEmpty { words.append("recording") }
    if let fault = status.journalFault { words.append("not safe from a crash: \(fault)") }
    if let song = status.song { words.append("\(song.isHalted ? "halted" : "plays") \(song.name)") }
    if let report = report.nodes.first(where: { $0.id == focus }) {
      let peaks =
        report.outputs.isEmpty
        ? report.inputs.flatMap { levels(ofInput: $0).peaks } : report.outputs.flatMap(\.peaks)
      if let peak = peaks.max() {
        let level = Meter.text(peak)
        words.append("\(report.name) " + (level == "·" ? "is silent" : "peaks at \(level) dB"))
      }
      for reading in report.readings {
        let value = Value.number((reading.value * 10).rounded() / 10, reading.description.unit).display
        words.append("\(reading.description.name) \(value)")
      }
    }
    return words.joined(separator: "; ")
  }
}

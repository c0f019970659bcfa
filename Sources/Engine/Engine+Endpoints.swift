import Patch
import Realtime

// Endpoints: the driver channels of nodes. Worker, all of it.

extension Engine {
  func findEndpoints() -> [Endpoint] {
    var result: [Endpoint] = []
    let ends = graph.endpoints.sorted {
      ($0.isLeaving ? 1 : 0, $0.number) < ($1.isLeaving ? 1 : 0, $1.number)
    }
    for node in ends {
      guard let first = node.firstChannel else { continue }
      let isInput = node.endpoint == .input
      let channels = isInput ? node.outputPort(0).count : node.inputPort(0).count
      let isTap = taps.contains { $0.id == node.id }
      let name = node.portName ?? node.name
      if let known = result.firstIndex(where: {
        $0.isInput == isInput && $0.firstChannel == first && $0.name == name
      }) {
        result[known].channels = max(result[known].channels, channels)
      } else {
        result.append(
          Endpoint(
            node: node.id, name: name, connections: node.connections, device: node.key.device,
            isInput: isInput,
            firstChannel: first, channels: channels, isTap: isTap))
      }
    }
    return result.sorted { ($0.isInput ? 0 : 1, $0.firstChannel) < ($1.isInput ? 0 : 1, $1.firstChannel) }
  }

  /// Driver channels for an endpoint: those of the leaving node of that name and device that it replaces, or the first
  /// free ones. nil when all 256 are taken.
  func driverChannels(_ count: Int, isInput: Bool, name: String, device: String) -> Int? {
    var taken = Set<Int>()
    var predecessors: [EngineNode] = []
    for node in graph.endpoints {
      guard let first = node.firstChannel, (node.endpoint == .input) == isInput else { continue }
      if node.isLeaving, node.name == name, node.key.device == device {
        predecessors.append(node)
        continue
      }
      let channels = isInput ? node.outputPort(0).count : node.inputPort(0).count
      taken.formUnion(first..<first + channels)
    }
    func isFree(_ first: Int) -> Bool {
      first + count <= DriverChannels.capacity && (first..<first + count).allSatisfy { !taken.contains($0) }
    }
    // The newest predecessor, so that the choice does not depend on when older ones were removed.
    for node in predecessors.sorted(by: { $0.number > $1.number }) {
      if let first = node.firstChannel, isFree(first) { return first }
    }
    return (0..<DriverChannels.capacity).first(where: isFree)
  }
}

extension DeviceChannels {
  /// Number of an endpoint's channels, counted from the last, that the driver lacks; 0 for other nodes.
  func lackingChannels(of node: EngineNode) -> Int {
    guard let first = node.firstChannel else { return 0 }
    let isInput = node.endpoint == .input
    let channels = isInput ? node.outputPort(0).count : node.inputPort(0).count
    let lacking = max(lacking[node.id] ?? 0, first + channels - DriverChannels.capacity)
    if !node.key.device.isEmpty { return max(0, lacking) }
    return max(0, channels - (isInput ? inputs : outputs), lacking)
  }
}

extension Engine {
  /// Channels of inputs and outputs that the driver lacks, by their nodes. A node that changes its shape counts as it will be.
  public var lackingChannels: [NodeID: Int] {
    var result: [NodeID: Int] = [:]
    for node in graph.endpoints where !node.isLeaving && !node.id.isTap {
      let lacking = device.lackingChannels(of: node)
      if lacking > 0 { result[node.id] = lacking }
    }
    return result
  }

  /// The driver's MIDI port for nodes that listen to `sender` (nil: everybody): the port that they share
  /// already, or the first free one. -1 when all are taken.
  func midiPort(for sender: String?) -> Int {
    let known = graph.receivers.filter { $0.endpoint == .midi && ($0.midiPort ?? -1) >= 0 }
    if let same = known.first(where: { $0.portName == sender }) { return same.midiPort ?? -1 }
    let taken = Set(known.map(\.midiPort))
    return (0..<MidiInput.ports).first { !taken.contains($0) } ?? -1
  }

  /// The first MIDI output of the driver that no node has; -1 when all are taken.
  func freeMidiOutput() -> Int {
    let taken = Set(graph.receivers.filter { $0.endpoint == .midiOutput }.map(\.midiPort))
    return (0..<MidiOutput.ports).first { !taken.contains($0) } ?? -1
  }

  /// Nodes that have a MIDI port of the driver, with the port, in the order of their identities.
  public var midiNodes: [(node: NodeID, port: MidiPort)] {
    graph.receivers.compactMap { node in
      node.isLeaving ? nil : wantedPort(of: node).map { (node.id, $0) }
    }.sorted { $0.node < $1.node }
  }

  private func wantedPort(of node: EngineNode) -> MidiPort? {
    guard let number = node.midiPort, number >= 0 else { return nil }
    guard node.endpoint == .midiOutput else { return MidiPort(number: number, sender: node.portName) }
    return MidiPort(
      number: number,
      outlet: MidiPort.Outlet(
        node: node.id, name: node.portName ?? node.name,
        receivers: node.connections.isEmpty ? nil : node.connections))
  }

  /// Wanted MIDI ports of the driver: inputs, then outputs, by their numbers.
  public var midiPorts: [MidiPort] {
    Set(graph.receivers.compactMap(wantedPort)).sorted {
      ($0.outlet == nil ? 0 : 1, $0.number) < ($1.outlet == nil ? 0 : 1, $1.number)
    }
  }
}

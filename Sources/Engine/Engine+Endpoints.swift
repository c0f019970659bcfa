import Patch
import Realtime

// Where sound goes to and comes from the driver. Worker, all of it.

extension Engine {
  func findEndpoints() -> [Endpoint] {
    var result: [Endpoint] = []
    let ends = graph.endpoints.sorted {
      ($0.isLeaving ? 1 : 0, $0.number) < ($1.isLeaving ? 1 : 0, $1.number)
    }
    for node in ends {
      guard let first = node.firstChannel else { continue }
      let isInput = node.kind == "input"
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
            node: node.id, name: name, isInput: isInput, firstChannel: first, channels: channels,
            isTap: isTap))
      }
    }
    return result.sorted { ($0.isInput ? 0 : 1, $0.firstChannel) < ($1.isInput ? 0 : 1, $1.firstChannel) }
  }

  /// Driver channels for an endpoint: those of a leaving node of that name, which it replaces, or the
  /// first that are free. nil when all 256 are taken.
  func driverChannels(_ count: Int, isInput: Bool, name: String) -> Int? {
    var taken = Set<Int>()
    var predecessors: [EngineNode] = []
    for node in graph.endpoints {
      guard let first = node.firstChannel, (node.kind == "input") == isInput else { continue }
      if node.isLeaving, node.name == name {
        predecessors.append(node)
        continue
      }
      let channels = isInput ? node.outputPort(0).count : node.inputPort(0).count
      taken.formUnion(first..<first + channels)
    }
    func isFree(_ first: Int) -> Bool {
      first + count <= DriverChannels.capacity && (first..<first + count).allSatisfy { !taken.contains($0) }
    }
    // The latest, and not any: which one must not depend on when others were removed.
    for node in predecessors.sorted(by: { $0.number > $1.number }) {
      if let first = node.firstChannel, isFree(first) { return first }
    }
    return (0..<DriverChannels.capacity).first(where: isFree)
  }
}

extension Engine {
  /// The driver's MIDI port for nodes that hear `sender` (nil: everybody): theirs already, or the first that
  /// is free; -1 when all are taken.
  func midiPort(for sender: String?) -> Int {
    let known = graph.receivers.filter { ($0.midiPort ?? -1) >= 0 }
    if let same = known.first(where: { $0.portName == sender }) { return same.midiPort ?? -1 }
    let taken = Set(known.map(\.midiPort))
    return (0..<MidiInput.ports).first { !taken.contains($0) } ?? -1
  }

  /// What the driver's MIDI ports are to hear.
  public var midiPorts: [MidiPort] {
    let heard = Set(
      graph.receivers.compactMap { node in
        node.midiPort.flatMap { $0 >= 0 ? MidiPort(number: $0, sender: node.portName) : nil }
      })
    return heard.sorted { $0.number < $1.number }
  }
}

/// A MIDI port that the driver is to have: one for all `midi` nodes that hear the same sender.
public struct MidiPort: Sendable, Hashable {
  /// Its place among the `MidiInput`s of a render.
  public var number: Int
  /// A part of the names of those that it is to be connected to; nil: all hardware.
  public var sender: String?

  public init(number: Int, sender: String?) {
    self.number = number
    self.sender = sender
  }
}

/// How many channels of an `input` or `output` a driver can lead somewhere; as many as asked for where it
/// makes them, as JACK does.
public struct DeviceChannels: Sendable, Hashable {
  public var inputs: Int
  public var outputs: Int

  public init(inputs: Int = .max, outputs: Int = .max) {
    self.inputs = inputs
    self.outputs = outputs
  }
}

/// Driver channels of a node.
public struct Endpoint: Sendable, Hashable {
  public var node: NodeID
  public var name: String
  public var isInput: Bool
  public var firstChannel: Int
  public var channels: Int
  /// Not in the patch: a port being listened to.
  public var isTap: Bool
}

/// A port listened to from outside of the patch.
struct Tap {
  var id: NodeID
  var node: String
  var port: String
  var channels: Int
  /// The cable that it hears by, which goes from whatever node has the name.
  var ends: Cable.Ends?
}

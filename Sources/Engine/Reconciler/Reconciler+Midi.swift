import Patch
import Processors
import Realtime

/// Assignment of the driver's MIDI ports to `midi` and `midiout` nodes.
extension Reconciler {
  /// Assigns a port to a new node that has one.
  func beginMidi(of made: EngineNode, _ node: Node) {
    switch made.endpoint {
    case .midi: made.portName = Self.sender(of: node)
    case .midiOutput: (made.portName, made.connections) = Self.portWords(of: node, made)
    default: return
    }
    assign(midiPort(for: made), to: made)
  }

  /// The sender that a `midi` node listens to; nil: everybody.
  static func sender(of node: Node) -> String? {
    guard case .text(let text)? = node.settings[ParameterPath("port")], !text.isEmpty, text != MidiIn.any
    else { return nil }
    return text
  }

  private func midiPort(for node: EngineNode) -> Int {
    node.endpoint == .midi ? engine.midiPort(for: node.portName) : engine.freeMidiOutput()
  }

  /// Assigns a port. A node without one shows a fault.
  private func assign(_ port: Int, to node: EngineNode) {
    node.midiPort = port
    node.fault =
      port >= 0
      ? nil
      : node.endpoint == .midi
        ? "hears nobody: other nodes hear \(MidiInput.ports) different senders, and more there cannot be"
        : "is heard by nobody: \(MidiOutput.ports) other nodes have a MIDI output, and more there cannot be"
    if let fault = node.fault { engine.record(.failed(fault), node) }
  }

  func updateMidiPort(of target: EngineNode, _ node: Node) {
    guard target.endpoint == .midi else { return updatePorts(of: target, node) }
    let sender = Self.sender(of: node)
    guard target.portName != sender else { return }
    target.portName = sender
    // Its own port is free if no other node listens to it.
    target.midiPort = -1
    assign(midiPort(for: target), to: target)
    sendPort(to: target)
  }

  private func sendPort(to node: EngineNode) {
    engine.rename(node)
    // An unprepared node starts with its port number.
    guard node.slot != nil, let port = node.midiPort else { return }
    let parameter = node.endpoint == .midi ? MidiIn.port : MidiOut.port
    work.commands.append(
      .kernel(node.slot, parameter: Int32(parameter), element: 0, value: Float(port), frames: 0))
  }

  /// Assigns ports that became free to nodes without one, the oldest first.
  func assignFreePorts() {
    for node in graph.receivers where node.midiPort == -1 && !node.isLeaving {
      let port = midiPort(for: node)
      guard port >= 0 else { continue }
      assign(port, to: node)
      sendPort(to: node)
    }
  }
}

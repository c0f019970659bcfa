import Patch
import Processors
import Realtime

/// Assignment of the driver's MIDI ports to `midi` nodes.
extension Reconciler {
  /// The sender that a `midi` node listens to; nil: everybody.
  static func sender(of node: Node) -> String? {
    guard case .text(let text)? = node.settings[ParameterPath("port")], !text.isEmpty, text != MidiIn.any
    else { return nil }
    return text
  }

  /// Assigns a port. A node without one shows a fault.
  func listen(_ node: EngineNode, at port: Int) {
    node.midiPort = port
    node.fault =
      port < 0
      ? "hears nobody: other nodes hear \(MidiInput.ports) different senders, and more there cannot be" : nil
    if let fault = node.fault { engine.record(.failed(fault), node) }
  }

  func updateMidiPort(of target: EngineNode, _ node: Node) {
    let sender = Self.sender(of: node)
    guard target.portName != sender else { return }
    target.portName = sender
    // Its own port is free if no other node listens to it.
    target.midiPort = -1
    let port = engine.midiPort(for: sender)
    listen(target, at: port)
    sendPort(port, to: target)
  }

  private func sendPort(_ port: Int, to node: EngineNode) {
    engine.rename(node)
    // An unprepared node starts with its port number.
    guard node.slot != nil else { return }
    work.commands.append(
      .kernel(node.slot, parameter: Int32(MidiIn.port), element: 0, value: Float(port), frames: 0))
  }

  /// Assigns ports that became free to nodes without one, the oldest first.
  func assignFreePorts() {
    for node in graph.receivers where node.midiPort == -1 && !node.isLeaving {
      let port = engine.midiPort(for: node.portName)
      guard port >= 0 else { continue }
      listen(node, at: port)
      sendPort(port, to: node)
    }
  }
}

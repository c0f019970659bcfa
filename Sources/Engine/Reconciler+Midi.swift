import Patch
import Processors
import Realtime

/// Which `midi` nodes hear which ports of the driver.
extension Reconciler {
  /// Whom a `midi` node hears; nil: everybody.
  static func sender(of node: Node) -> String? {
    guard case .text(let text)? = node.settings[ParameterPath("port")], !text.isEmpty, text != MidiIn.any
    else { return nil }
    return text
  }

  /// A node for which no port is left says so.
  func hear(_ port: Int, _ node: EngineNode) {
    node.midiPort = port
    node.fault =
      port < 0
      ? "hears nobody: other nodes hear \(MidiInput.ports) different senders, and more there cannot be" : nil
    if let fault = node.fault { engine.note(.failed(fault), node) }
  }

  func update(midiPortOf target: EngineNode, _ node: Node) {
    let sender = Self.sender(of: node)
    guard target.portName != sender else { return }
    target.portName = sender
    // Its own is free as soon as nobody else hears it.
    target.midiPort = -1
    let port = engine.midiPort(for: sender)
    hear(port, target)
    tell(target, port)
  }

  private func tell(_ node: EngineNode, _ port: Int) {
    engine.rename(node)
    // One that is not prepared yet begins with it.
    guard node.slot != nil else { return }
    work.commands.append(
      .kernel(node.slot, parameter: Int32(MidiIn.port), element: 0, value: Float(port), frames: 0))
  }

  /// Those for which no port was left take what others have given up; the oldest first.
  func hearFreePorts() {
    for node in graph.receivers where node.midiPort == -1 && !node.isLeaving {
      let port = engine.midiPort(for: node.portName)
      guard port >= 0 else { continue }
      hear(port, node)
      tell(node, port)
    }
  }
}

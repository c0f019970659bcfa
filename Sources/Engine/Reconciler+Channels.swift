import Patch
import Realtime

// Nodes and cables whose channel counts change. Worker.

extension Reconciler {
  /// Moves nodes, in execution order, and their cables to the new channel counts. Returns true if some cables
  /// got successors.
  func followCounts(_ nodes: [EngineNode]) -> Bool {
    for node in nodes { widen(node) }
    var seen: Set<ObjectIdentifier> = []
    for node in nodes {
      for cable in node.incoming + node.outgoing where cable.slot != nil && !cable.carriesEvents {
        guard seen.insert(ObjectIdentifier(cable)).inserted else { continue }
        let widths = cable.sourceWidth
        if !cable.followEnds(), let wish = graph[cable.patchEnds], wish.cable === cable {
          changed.append(wish)
        }
        guard cable.key.delay > 0, cable.sourceWidth > widths else { continue }
        work.commands.append(
          .widenRing(cable.slot, from: Int32(widths), to: Int32(cable.sourceWidth)))
      }
    }
    guard !changed.isEmpty else { return false }
    carryOut()
    return true
  }

  /// Widens its kernel to the new channels, and adapts its count parameter and its values.
  private func widen(_ node: EngineNode) {
    let (inputs, outputs) = node.preparedChannels
    if let (command, garbage) = node.widen(inputs: inputs, outputs: outputs, rate: engine.rate) {
      work.commands.append(command)
      work.garbage += garbage.map { .memory($0) }
      let before = inputs.first ?? outputs.first ?? 0
      node.widenValues(from: before, to: node.inputChannels.first ?? node.outputChannels.first ?? 0)
      node.preparedChannels = (node.inputChannels, node.outputChannels)
    }
    if let position = node.countPosition {
      let (count, frames) = (Float(node.inputPort(0).count), Int32(clamping: fade))
      work.crossfade = max(work.crossfade, Int(frames))
      work.commands.append(
        .ramp(node.slot, parameter: Int32(position), element: 0, value: count, frames: frames))
    }
    for (index, parameter) in (node.type?.description.parameters ?? []).enumerated()
    where parameter.isPerChannel { send(index, of: node) { _ in fade } }
  }

  /// Sends the targets of a parameter's changed elements. `frames`: duration of an element's move.
  func send(_ index: Int, of node: EngineNode, frames: (Int) -> Int) {
    let before = node.sentValues[index]
    let elements = node.elements(of: index)
    guard elements != before, let smoothing = node.type?.description.parameters[index].smoothing else {
      return
    }
    node.sentValues[index] = elements
    for (element, value) in elements.enumerated() where element >= before.count || before[element] != value {
      let frames = Int32(clamping: frames(element))
      let (parameter, element) = (Int32(index), Int32(element))
      switch smoothing {
      case .ramp, .crossfade:
        if smoothing == .crossfade { work.crossfade = max(work.crossfade, Int(frames)) }
        work.commands.append(
          .ramp(node.slot, parameter: parameter, element: element, value: value, frames: frames))
      case .kernel:
        work.commands.append(
          .kernel(node.slot, parameter: parameter, element: element, value: value, frames: frames))
      case .gain, .structural, .none: break
      }
    }
  }
}

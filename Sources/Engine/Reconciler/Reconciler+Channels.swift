import Patch
import Realtime

// Nodes and cables whose channel counts change. Worker.

extension Reconciler {
  /// Settles the channel counts along the cables. Returns the new cables that succeed those whose gains
  /// would jump.
  func settleChannelCounts(_ arrangement: Arrangement) -> [EngineCable] {
    let counts = ChannelCounts(order: graph.order)
    let outgrown = follow(counts.follow())
    if outgrown.isEmpty { return [] }
    let successors = realize(outgrown, arrangement)
    // Successor cables bring as many channels as their predecessors, so the counts are settled once more.
    _ = counts.follow()
    return successors
  }

  /// Moves nodes, in execution order, and their cables to the new channel counts. Returns the intents
  /// whose cables need a successor.
  private func follow(_ nodes: [EngineNode]) -> [CableIntent] {
    var outgrown: [CableIntent] = []
    if nodes.contains(where: { $0.slot != nil }) { work.isLocal = false }
    DiscreteChannels.mark(nodes)
    for node in nodes { widen(node) }
    var seen: Set<ObjectIdentifier> = []
    for node in nodes {
      for cable in node.incoming + node.outgoing where cable.slot != nil && !cable.carriesEvents {
        guard seen.insert(ObjectIdentifier(cable)).inserted else { continue }
        let widths = cable.sourceWidth
        if !cable.followEnds(), let intent = graph[cable.patchEnds], intent.cable === cable {
          outgrown.append(intent)
        }
        guard let (command, garbage) = cable.widenRing(from: widths) else { continue }
        work.commands.append(command)
        work.garbage.append(.memory(garbage))
      }
    }
    return outgrown
  }

  /// Widens its kernel to the new channels, and adapts its count parameter and its values.
  private func widen(_ node: EngineNode) {
    let (inputs, outputs) = node.preparedChannels
    if let (command, garbage) = node.widen(inputs: inputs, outputs: outputs, rate: engine.rate) {
      work.commands.append(command)
      if let meters = node.makeMeters() { work.commands.append(meters) }
      for index in node.sentValues.indices {
        if let room = node.makeRoom(for: node.sentValues[index].count, of: index) {
          work.commands.append(room)
        }
      }
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
    where parameter.isPerChannel { send(index, of: node) { _ in (fade, .even) } }
  }
}

// Channel counts of flexible ports, derived from the document. Worker.

/// Propagates channel counts along the cables, upwards or downwards.
///
/// The implied count is the smallest possible: a port has one channel, or as many as the widest patch cable
/// brings. Outputs have as many as the first input. A fresh load of the same document gives the same counts,
/// around cycles too. Leaving cables do not count.
struct ChannelCounts {
  let order: ExecutionOrder

  /// The nodes of which a mark is set, in execution order. Only stretches that have the mark are looked at.
  private func take(
    _ hasAny: WritableKeyPath<StretchHead, Bool>, where isMarked: (NodeRow) -> Bool
  ) -> [NodeRow.Pointer] {
    var result: [NodeRow.Pointer] = []
    for stretch in order.all where stretch.head.pointee[keyPath: hasAny] {
      stretch.head.pointee[keyPath: hasAny] = false
      for row in stretch.rows where isMarked(row.pointee) { result.append(row) }
    }
    return result
  }

  /// Returns the prepared nodes whose channel counts changed.
  func follow() -> [EngineNode] {
    var pending = take(\.hasPending) { $0.isPending }
    if pending.isEmpty { return [] }
    forget(downstreamOf: &pending)
    while !pending.isEmpty {
      var next: [NodeRow.Pointer] = []
      for row in pending {
        row.pointee.isPending = false
        guard row.pointee.hasFlexiblePorts, Self.widen(row) else { continue }
        row.markTouched()
        for cable in row.pointee.node.takeUnretainedValue().outgoing where cable.row.pointee.isWanted {
          let row = cable.destination.row
          if !row.pointee.isPending { next.append(row) }
          row.pointee.isPending = true
        }
      }
      pending = next
    }
    for row in take(\.hasKept, where: { $0.isKept }) { row.markTouched() }
    return take(\.hasTouched, where: { $0.isTouched }).filter { row in
      row.pointee.isTouched = false
      return Self.settle(row) && row.pointee.slot != nil
    }.map { $0.pointee.node.takeUnretainedValue() }
  }

  /// Resets the counts downstream of a lost wide source to one.
  private func forget(downstreamOf pending: inout [NodeRow.Pointer]) {
    var next = pending.filter { $0.pointee.mayNarrow }
    for row in next { row.pointee.mayNarrow = false }
    while let row = next.popLast() {
      let node = row.pointee.node.takeUnretainedValue()
      guard row.pointee.hasFlexiblePorts, !node.isLeaving, Self.forget(row, node) else { continue }
      row.markTouched()
      if !row.pointee.isPending { pending.append(row) }
      row.pointee.isPending = true
      for cable in node.outgoing where cable.row.pointee.isWanted { next.append(cable.destination.row) }
    }
  }

  /// Returns true when any port had more than one channel.
  private static func forget(_ row: NodeRow.Pointer, _ node: EngineNode) -> Bool {
    var hadMore = false
    for (port, description) in (node.inputs + node.outputs).enumerated() where description.format == .flexible
    {
      if row.implied[port] > 1 { hadMore = true }
      row.implied[port] = 1
    }
    for (port, size) in node.sizes.enumerated() {
      guard let size else { continue }
      let least = leastChannels(size, node)
      if row.implied[port] > least { (hadMore, row.implied[port]) = (true, least) }
    }
    return hadMore
  }

  /// Widens the inputs to their cables, and the outputs to the first input. Returns true when a port grew.
  private static func widen(_ row: NodeRow.Pointer) -> Bool {
    let node = row.pointee.node
    var hasGrown = false
    var next = row.pointee.incoming
    while let cable = next {
      next = cable.pointee.next
      let input = Int(cable.pointee.input)
      guard input >= 0, cable.pointee.isWanted else { continue }
      let width = UInt8(min(cable.pointee.impliedWidth, 64))
      if row.implied[input] < width, node.takeUnretainedValue().inputs[input].format == .flexible {
        row.implied[input] = width
        hasGrown = true
      }
    }
    if stateSizes(row, node.takeUnretainedValue()) { hasGrown = true }
    let inputCount = Int(row.pointee.inputCount)
    guard inputCount > 0 else { return hasGrown }
    for output in 0..<Int(row.pointee.outputCount) where row.implied[inputCount + output] < row.implied[0] {
      guard node.takeUnretainedValue().outputs[output].format == .flexible else { continue }
      row.implied[inputCount + output] = row.implied[0]
      hasGrown = true
    }
    return hasGrown
  }

  /// Channels that a node's settings ask for.
  private static func leastChannels(_ size: Int, _ node: EngineNode) -> UInt8 {
    UInt8(min(max(node.values[size][0], 1), 64))
  }

  /// Widens the ports whose channels a parameter states: to what it says, to the cables into such inputs, and to those into
  /// a source's parameters. Returns true when one grew.
  private static func stateSizes(_ row: NodeRow.Pointer, _ node: EngineNode) -> Bool {
    var hasGrown = false
    for (port, size) in node.sizes.enumerated() {
      guard let size else { continue }
      var width = leastChannels(size, node)
      var next = row.pointee.incoming
      while let cable = next {
        next = cable.pointee.next
        guard cable.pointee.isWanted, counts(cable.pointee, to: size, of: node) else { continue }
        width = max(width, UInt8(min(cable.pointee.impliedWidth, 64)))
      }
      if row.implied[port] < width { (hasGrown, row.implied[port]) = (true, width) }
    }
    return hasGrown
  }

  /// True when a cable widens the ports that this parameter states the channels of.
  private static func counts(_ cable: CableRow, to size: Int, of node: EngineNode) -> Bool {
    let input = Int(cable.input)
    if input >= 0 { return node.sizes[input] == size }
    guard let (target, _) = cable.modulated, let description = node.type?.description else { return false }
    return description.isWidened(by: description.parameters[target.parameter])
  }

  /// Makes the implied counts effective. Returns true when they changed.
  private static func settle(_ row: NodeRow.Pointer) -> Bool {
    let ports = Int(row.pointee.inputCount) + Int(row.pointee.outputCount)
    let isPrepared = row.pointee.slot != nil
    let narrows = (0..<ports).contains { row.implied[$0] < row.counts[$0] }
    // A node without any source upstream rings out with the channels that it had.
    row.markKept(narrows && isPrepared && !isFed(row))
    if row.pointee.isKept { return false }
    var isOther = false
    for port in 0..<ports where row.counts[port] != row.implied[port] {
      row.counts[port] = row.implied[port]
      row.channels[port] =
        isPrepared ? max(row.channels[port], Int32(row.counts[port])) : Int32(row.counts[port])
      isOther = true
    }
    if isOther { row.pointee.node.takeUnretainedValue().adoptChannels() }
    return isOther
  }

  /// True when a path of patch cables leads here from a source node.
  private static func isFed(_ row: NodeRow.Pointer) -> Bool {
    var seen: Set<NodeRow.Pointer> = [row]
    var next = [row]
    while let row = next.popLast() {
      if row.pointee.inputCount == 0 || row.pointee.isEndless { return true }
      var wire = row.pointee.incoming
      while let cable = wire {
        wire = cable.pointee.next
        guard cable.pointee.input >= 0, cable.pointee.isWanted else { continue }
        if seen.insert(cable.pointee.source).inserted { next.append(cable.pointee.source) }
      }
    }
    return false
  }
}

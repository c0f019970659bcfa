// What becomes of cables when nodes at their ends widen. Worker.

extension Reconciler {
  /// A node that widens changes what its cables make of the same channels: stereo that was 1:1 is half of a
  /// quadraphonic source. Where that would be heard as a step, another cable takes over by crossfade, while
  /// the one before goes on with the channels that there were. Says whether there are such.
  ///
  /// `widened`: in the order of execution.
  func renewCables(at widened: [EngineNode]) -> Bool {
    if widened.isEmpty { return false }
    let numbers = Set(widened.map(\.number))
    // Nodes whose own input changes.
    var disturbed: Set<Int32> = []
    for node in widened {
      for cable in node.incoming where !carryOn(cable, disturbed) { disturbed.insert(node.number) }
      for cable in node.outgoing where !numbers.contains(cable.destination.number) {
        _ = carryOn(cable, disturbed)
      }
    }
    guard !changed.isEmpty else { return false }
    carryOut()
    return true
  }

  /// False: the cable cannot go on as one.
  private func carryOn(_ cable: EngineCable, _ disturbed: Set<Int32>) -> Bool {
    if cable.carriesEvents || cable.slot == nil { return true }
    if cable.carriesOn(disturbed: disturbed.contains(cable.source.number)) {
      cable.takeSpread()
      return true
    }
    cable.keepSpread()
    // One that leaves must not come back either.
    if let wish = graph.renew(cable.patchEnds), wish.cable === cable { changed.append(wish) }
    return false
  }
}

/// Removed nodes whose sound the musician recorded: an undo brings them back with it.
///
/// A node with the key of one that is here takes over its kernel (`Command.adopt`). The latest ones are kept, as far as
/// the memory goes. Worker.
struct Shelf {
  private static let most = 8
  private static let mostBytes = 1 << 30

  /// The latest one last.
  private(set) var nodes: [EngineNode] = []

  /// Keeps a node that no plan has from now on. Returns those to free instead.
  mutating func keep(_ node: EngineNode) -> [EngineNode] {
    guard node.isRecorder else { return [node] }
    nodes.append(node)
    var bytes = nodes.reduce(0) { $0 + $1.bytes }
    var gone: [EngineNode] = []
    while nodes.count > Self.most || bytes > Self.mostBytes {
      let oldest = nodes.removeFirst()
      bytes -= oldest.bytes
      gone.append(oldest)
    }
    return gone
  }

  /// Takes the node of this key off; nil: it is not here.
  mutating func take(_ key: EngineNode.Key) -> EngineNode? {
    nodes.lastIndex { $0.key == key }.map { nodes.remove(at: $0) }
  }

  mutating func removeAll() {
    for node in nodes { node.free() }
    nodes = []
  }
}

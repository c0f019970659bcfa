/// The nodes of a patch by identity, in file order. It is stored in pieces: a modified copy shares all but
/// the changed piece. In a patch of many thousand nodes an edit would otherwise copy them all.
public struct NodeTable: Sendable {
  private static var pieceSize: Int { 64 }
  /// Nodes by slot, which they keep while they are in the table; nil: free.
  private(set) var pieces: [[Node?]] = []
  private var places: ShardedDictionary<NodeID, Int32> = ShardedDictionary()
  /// Slots in file order.
  private var order: [Int32] = []
  private var free: [Int32] = []

  init() {}

  /// Number of nodes.
  public var count: Int { order.count }
  /// True when there are no nodes.
  public var isEmpty: Bool { order.isEmpty }
  /// The nodes in file order.
  public var values: Values { Values(table: self) }
  /// The identities in file order.
  public var keys: [NodeID] { order.map { self[place: $0].id } }

  /// The node with this identity.
  public subscript(id: NodeID) -> Node? { places[id].map { self[place: $0] } }

  /// Position in file order.
  public func index(forKey id: NodeID) -> Int? { places[id].flatMap { order.firstIndex(of: $0) } }

  /// The kind alone, which is cheaper than a copy of the node.
  func kind(of id: NodeID) -> String? {
    places[id].flatMap { pieces[Int($0) / Self.pieceSize][Int($0) % Self.pieceSize]?.kind }
  }

  private subscript(place place: Int32) -> Node {
    pieces[Int(place) / Self.pieceSize][Int(place) % Self.pieceSize]!
  }

  /// True if the kind of any node is such.
  func contains(ofKind isSuch: (String) -> Bool) -> Bool {
    order.contains {
      pieces[Int($0) / Self.pieceSize][Int($0) % Self.pieceSize].map { isSuch($0.kind) } ?? false
    }
  }

  mutating func reserveCapacity(_ count: Int) {
    places.reserveCapacity(count)
    order.reserveCapacity(count)
  }

  /// Inserts a new node before the one at `index`; nil: at the end.
  mutating func insert(_ node: Node, at index: Int?) {
    let place: Int32
    if let last = free.popLast() {
      place = last
      pieces[Int(place) / Self.pieceSize][Int(place) % Self.pieceSize] = node
    } else {
      if pieces.last.map({ $0.count == Self.pieceSize }) ?? true { pieces.append([]) }
      place = Int32((pieces.count - 1) * Self.pieceSize + pieces[pieces.count - 1].count)
      pieces[pieces.count - 1].append(node)
    }
    places[node.id] = place
    order.insert(place, at: index ?? order.count)
  }

  mutating func update(_ id: NodeID, _ change: (inout Node) -> Void) {
    guard let place = places[id].map({ Int($0) }) else { return }
    change(&pieces[place / Self.pieceSize][place % Self.pieceSize]!)
  }

  /// Moves a node to the place before another one; nil: to the end.
  mutating func move(_ id: NodeID, before next: NodeID?) {
    guard let index = index(forKey: id) else { return }
    let place = order.remove(at: index)
    order.insert(place, at: next.flatMap { self.index(forKey: $0) } ?? order.count)
  }

  mutating func remove(_ id: NodeID) -> Node? {
    guard let index = index(forKey: id) else { return nil }
    let place = order.remove(at: index)
    let node = self[place: place]
    pieces[Int(place) / Self.pieceSize][Int(place) % Self.pieceSize] = nil
    places[id] = nil
    free.append(place)
    return node
  }

  /// The nodes in file order.
  public struct Values: RandomAccessCollection, Sendable {
    fileprivate let table: NodeTable

    /// 0.
    public var startIndex: Int { 0 }
    /// Number of nodes.
    public var endIndex: Int { table.order.count }
    /// The node at this position.
    public subscript(index: Int) -> Node { table[place: table.order[index]] }
  }
}

extension NodeTable: Hashable {
  /// The two are usually copies of each other, and pieces that they share compare at once.
  public static func == (a: Self, b: Self) -> Bool {
    a.order == b.order && a.pieces == b.pieces || a.count == b.count && a.values.elementsEqual(b.values)
  }

  /// Hashes all nodes in order.
  public func hash(into hasher: inout Hasher) {
    for node in values { hasher.combine(node) }
  }
}

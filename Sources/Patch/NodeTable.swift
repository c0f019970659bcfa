/// The nodes of a patch by their identities, in the order of the file. In pieces: a copy that is changed
/// shares all but the piece where the change is. In a patch of many thousand nodes an edit would otherwise
/// copy them all.
public struct NodeTable: Sendable {
  private static var pieceSize: Int { 64 }
  /// Nodes by their places, which they keep as long as they are here; nil: free.
  private var pieces: [[Node?]] = []
  private var places: ShardedDictionary<NodeID, Int32> = ShardedDictionary()
  /// Places in the order of the file.
  private var order: [Int32] = []
  private var free: [Int32] = []

  init() {}

  public var count: Int { order.count }
  public var isEmpty: Bool { order.isEmpty }
  public var values: Values { Values(table: self) }
  public var keys: [NodeID] { order.map { self[place: $0].id } }

  public subscript(id: NodeID) -> Node? { places[id].map { self[place: $0] } }

  /// Where it stands in the order of the file.
  public func index(forKey id: NodeID) -> Int? { places[id].flatMap { order.firstIndex(of: $0) } }

  /// The kind alone: a copy of the node would cost more.
  func kind(of id: NodeID) -> String? {
    places[id].flatMap { pieces[Int($0) / Self.pieceSize][Int($0) % Self.pieceSize]?.kind }
  }

  private subscript(place place: Int32) -> Node {
    pieces[Int(place) / Self.pieceSize][Int(place) % Self.pieceSize]!
  }

  mutating func reserveCapacity(_ count: Int) {
    places.reserveCapacity(count)
    order.reserveCapacity(count)
  }

  /// A node that is not here yet, before the one at `index`; nil: as the last.
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

  /// In front of another node; nil: to the end.
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

  /// The nodes in the order of the file.
  public struct Values: RandomAccessCollection, Sendable {
    fileprivate let table: NodeTable

    public var startIndex: Int { 0 }
    public var endIndex: Int { table.order.count }
    public subscript(index: Int) -> Node { table[place: table.order[index]] }
  }
}

extension NodeTable: Hashable {
  /// Mostly one is a copy of the other, and pieces that they share are not looked into.
  public static func == (a: Self, b: Self) -> Bool {
    a.order == b.order && a.pieces == b.pieces || a.count == b.count && a.values.elementsEqual(b.values)
  }

  public func hash(into hasher: inout Hasher) {
    for node in values { hasher.combine(node) }
  }
}

/// A dictionary in many pieces: a modified copy shares all but the changed piece. In a patch of many thousand
/// cables an edit would otherwise copy them all.
public struct ShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// Pieces in a group, and groups. An edit copies one piece and one group.
  private static var groupSize: Int { 32 }
  private static var shardCount: Int { groupSize * groupSize }
  private(set) var groups: [[[Key: Value]]]
  /// Number of entries.
  public private(set) var count = 0

  init() {
    groups = Array(repeating: Array(repeating: [:], count: Self.groupSize), count: Self.groupSize)
  }

  /// True when there are no entries.
  public var isEmpty: Bool { count == 0 }
  /// The keys, in no particular order.
  public var keys: some Sequence<Key> { groups.lazy.joined().flatMap(\.keys) }
  /// The values, in no particular order.
  public var values: some Sequence<Value> { groups.lazy.joined().flatMap(\.values) }

  private static func shard(of key: Key) -> (group: Int, piece: Int) {
    let place = Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) >> 20)
    return (place / groupSize & (groupSize - 1), place & (groupSize - 1))
  }

  /// Changes the piece of a key in place.
  private mutating func change<Result>(_ key: Key, _ body: (inout [Key: Value]) -> Result) -> Result {
    let (group, piece) = Self.shard(of: key)
    let (result, growth) = Self.change(&groups[group][piece], body)
    count += growth
    return result
  }

  private static func change<Result>(
    _ piece: inout [Key: Value], _ body: (inout [Key: Value]) -> Result
  ) -> (Result, growth: Int) {
    let before = piece.count
    let result = body(&piece)
    return (result, piece.count - before)
  }

  /// The value for a key.
  public internal(set) subscript(key: Key) -> Value? {
    get {
      let (group, piece) = Self.shard(of: key)
      return groups[group][piece][key]
    }
    set { change(key) { $0[key] = newValue } }
  }

  /// Reserves capacity, with some excess for uneven pieces.
  mutating func reserveCapacity(_ count: Int) {
    guard count > 8 * Self.shardCount else { return }
    for group in groups.indices {
      for piece in groups[group].indices {
        groups[group][piece].reserveCapacity(count * 5 / 4 / Self.shardCount)
      }
    }
  }

  /// Changes the value in place, or a default value.
  mutating func update(_ key: Key, default value: Value, _ body: (inout Value) -> Void) {
    change(key) { body(&$0[key, default: value]) }
  }

  /// Returns the previous value.
  mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
    change(key) { $0.updateValue(value, forKey: key) }
  }

  mutating func removeValue(forKey key: Key) -> Value? { change(key) { $0.removeValue(forKey: key) } }
}

extension ShardedDictionary: Equatable where Value: Equatable {}
extension ShardedDictionary: Hashable where Value: Hashable {}

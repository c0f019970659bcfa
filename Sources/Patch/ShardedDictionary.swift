/// A dictionary in many pieces: a modified copy shares all but the changed piece. In a patch of many thousand
/// cables an edit would otherwise copy them all.
public struct ShardedDictionary<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private static var shardCount: Int { 128 }
  private(set) var shards: [[Key: Value]]
  /// Number of entries.
  public private(set) var count = 0

  init() { shards = Array(repeating: [:], count: Self.shardCount) }

  /// True when there are no entries.
  public var isEmpty: Bool { count == 0 }
  /// The keys, in no particular order.
  public var keys: some Sequence<Key> { shards.lazy.flatMap(\.keys) }
  /// The values, in no particular order.
  public var values: some Sequence<Value> { shards.lazy.flatMap(\.values) }

  private static func shard(of key: Key) -> Int {
    Int(truncatingIfNeeded: UInt(bitPattern: key.hashValue) >> 20) & (shardCount - 1)
  }

  /// The value for a key.
  public internal(set) subscript(key: Key) -> Value? {
    get { shards[Self.shard(of: key)][key] }
    set {
      let shard = Self.shard(of: key)
      let before = shards[shard].count
      shards[shard][key] = newValue
      count += shards[shard].count - before
    }
  }

  /// Reserves capacity, with some excess for uneven pieces.
  mutating func reserveCapacity(_ count: Int) {
    guard count > 8 * Self.shardCount else { return }
    for shard in shards.indices { shards[shard].reserveCapacity(count * 5 / 4 / Self.shardCount) }
  }

  /// Changes the value in place, or a default value.
  mutating func update(_ key: Key, default value: Value, _ change: (inout Value) -> Void) {
    let shard = Self.shard(of: key)
    let before = shards[shard].count
    change(&shards[shard][key, default: value])
    count += shards[shard].count - before
  }

  /// Returns the previous value.
  mutating func updateValue(_ value: Value, forKey key: Key) -> Value? {
    let old = shards[Self.shard(of: key)].updateValue(value, forKey: key)
    if old == nil { count += 1 }
    return old
  }

  mutating func removeValue(forKey key: Key) -> Value? {
    let old = shards[Self.shard(of: key)].removeValue(forKey: key)
    if old != nil { count -= 1 }
    return old
  }
}

extension ShardedDictionary: Equatable where Value: Equatable {}
extension ShardedDictionary: Hashable where Value: Hashable {}

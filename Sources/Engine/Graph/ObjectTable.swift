import Patch

/// An object that a table finds by its key.
protocol TableObject: AnyObject {
  associatedtype TableKey: Hashable
  /// Must not change while the object is in a table.
  var tableKey: TableKey { get }
}

/// A hash table of objects that hold their own keys. Worker.
///
/// A dictionary would hold the keys once more: those of cables have 96 bytes, and half of a large patch's buckets are empty.
/// Open addressing with linear probing; removal shifts later objects back (Knuth, The Art of Computer Programming, vol. 3,
/// section 6.4, algorithm R).
struct ObjectTable<Object: TableObject> {
  private var objects: [Object?] = []
  /// Hashes of the objects, so that a search seldom has to read another object's key.
  private var hashes: [UInt32] = []
  private(set) var count = 0
  private var mask: Int { objects.count - 1 }

  /// All objects, in no particular order.
  var values: some Sequence<Object> { objects.lazy.compactMap { $0 } }

  subscript(_ key: Object.TableKey) -> Object? {
    if count == 0 { return nil }
    return objects[bucket(of: key, Self.hash(key))]
  }

  /// Reserves buckets for so many objects.
  mutating func reserveCapacity(_ capacity: Int) {
    var size = max(objects.count, 8)
    while size * 3 < capacity * 4 { size *= 2 }
    if size > objects.count { resize(size) }
  }

  /// Inserts an object; one of the same key makes way for it.
  mutating func insert(_ object: Object) {
    reserveCapacity(count + 1)
    let hash = Self.hash(object.tableKey)
    let bucket = bucket(of: object.tableKey, hash)
    if objects[bucket] == nil { count += 1 }
    objects[bucket] = object
    hashes[bucket] = hash
  }

  mutating func remove(_ key: Object.TableKey) {
    if count == 0 { return }
    var hole = bucket(of: key, Self.hash(key))
    if objects[hole] == nil { return }
    count -= 1
    var next = hole
    while true {
      next = (next + 1) & mask
      guard objects[next] != nil else { break }
      // An object whose search begins behind the hole stays.
      let home = Int(hashes[next]) & mask
      if (next - home) & mask < (next - hole) & mask { continue }
      objects[hole] = objects[next]
      hashes[hole] = hashes[next]
      hole = next
    }
    objects[hole] = nil
  }

  mutating func removeAll() { self = ObjectTable() }

  private static func hash(_ key: Object.TableKey) -> UInt32 {
    UInt32(truncatingIfNeeded: key._rawHashValue(seed: 0))
  }

  /// The bucket of the object with this key, or the free one in which its search ends.
  private func bucket(of key: Object.TableKey, _ hash: UInt32) -> Int {
    var bucket = Int(hash) & mask
    while let object = objects[bucket] {
      if hashes[bucket] == hash, object.tableKey == key { break }
      bucket = (bucket + 1) & mask
    }
    return bucket
  }

  private mutating func resize(_ size: Int) {
    let (oldObjects, oldHashes) = (objects, hashes)
    objects = Array(repeating: nil, count: size)
    hashes = Array(repeating: 0, count: size)
    for (object, hash) in zip(oldObjects, oldHashes) {
      guard let object else { continue }
      var bucket = Int(hash) & mask
      while objects[bucket] != nil { bucket = (bucket + 1) & mask }
      objects[bucket] = object
      hashes[bucket] = hash
    }
  }
}

extension EngineNode: TableObject { var tableKey: Key { key } }
extension EngineCable: TableObject { var tableKey: Key { key } }
extension CableIntent: TableObject { var tableKey: Cable.Ends { ends } }

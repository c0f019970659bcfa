import Realtime

/// The compiled steps of nodes that follow each other. Nothing in it changes: successive plans share it until an edit
/// touches one of its nodes. Worker.
final class PlanPiece {
  let run: StepRun
  /// In execution order.
  let nodes: [NodeRow.Pointer]
  /// Grouped by destination node. Rows instead of object references: a node or cable that left the graph lives until a
  /// plan without it runs.
  let cables: [CableRow.Pointer]
  /// Floats of scratch for the moving parameters of one node.
  let scratch: Int
  private let memory: PieceMemory
  private let arena: BufferArena

  init(
    run: StepRun, nodes: [NodeRow.Pointer], cables: [CableRow.Pointer], scratch: Int, memory: PieceMemory,
    arena: BufferArena
  ) {
    self.run = run
    self.nodes = nodes
    self.cables = cables
    self.scratch = scratch
    self.memory = memory
    self.arena = arena
  }

  /// Makes sure that the pool has room for another piece like this one.
  func prepareAnother() { _ = PieceMemory(like: memory) }
}

/// Memory of one piece of a plan: filled once, and returned to its pool at once, when no plan has the piece any more.
/// Worker.
final class PieceMemory {
  private static let blockSize = 1 << 14
  private let pool: RowPool
  private var blocks: [(base: UnsafeMutableRawPointer, size: Int)] = []
  /// The current block has `left` bytes free from `next` on.
  private var next = PieceMemory.nowhere
  private var left = 0
  /// Valid address for empty arrays.
  private nonisolated(unsafe) static let nowhere = UnsafeMutableRawPointer.allocate(
    byteCount: 64, alignment: 64)

  init(pool: RowPool) { self.pool = pool }

  /// As many blocks as `other` has.
  convenience init(like other: PieceMemory) {
    self.init(pool: other.pool)
    for block in other.blocks { blocks.append((pool.allocate(block.size), block.size)) }
  }

  deinit { for block in blocks { pool.recycle(block.base, block.size) } }

  /// Address of an empty array.
  static func none<T: BitwiseCopyable>() -> UnsafeMutablePointer<T> {
    nowhere.assumingMemoryBound(to: T.self)
  }

  private func bytes(_ count: Int) -> UnsafeMutableRawPointer {
    let rounded = (count + 7) & ~7
    if rounded > left { open(rounded) }
    defer {
      next += rounded
      left -= rounded
    }
    return next
  }

  /// Opens a block with room for `count` bytes. Sizes are rounded, so that other pieces find use for it.
  private func open(_ count: Int) {
    left = max(Self.blockSize, (count + 4095) & ~4095)
    next = pool.allocate(left)
    blocks.append((next, left))
  }

  /// Uninitialised room for `count` elements.
  func reserve<T: BitwiseCopyable>(_ count: Int) -> UnsafeMutablePointer<T> {
    guard count > 0 else { return Self.none() }
    return bytes(count * MemoryLayout<T>.stride).bindMemory(to: T.self, capacity: count)
  }

  /// Uninitialised room for `count` elements, from the beginning of a cache line.
  func reserveLines<T: BitwiseCopyable>(_ count: Int) -> UnsafeMutablePointer<T> {
    if left & 63 > 0 { _ = bytes(left & 63) }
    return reserve(count)
  }

  /// A copy of `elements`, which must be plain data.
  func allocate<T: BitwiseCopyable>(_ elements: [T]) -> UnsafeMutablePointer<T> {
    let place: UnsafeMutablePointer<T> = reserve(elements.count)
    place.initialize(from: elements, count: elements.count)
    return place
  }
}

/// Audio buffers of one block. Nothing persists between blocks, so plans share them.
final class BufferArena {
  let capacity: Int
  let base: UnsafeMutablePointer<Float>

  init(capacity: Int) {
    self.capacity = capacity
    base = .zeroed(capacity * blockCapacity)
  }

  deinit { base.deallocate() }
}

/// Buffers and silence flags of the outputs of one node, at one address as long as nodes of other pieces read them.
struct Crossing: BitwiseCopyable {
  let base: UnsafeMutablePointer<Float>
  /// A flag for each output.
  let flags: UnsafeMutablePointer<Bool>
  /// Channels of all outputs together.
  let channels: Int
}

/// Memory of a running sum: one channel's buffer holds the record, and the buffers behind it hold the sum.
struct SumRoom: BitwiseCopyable {
  let room: Crossing
  var record: UnsafeMutablePointer<RunningSum> {
    UnsafeMutableRawPointer(room.base).assumingMemoryBound(to: RunningSum.self)
  }
  var channels: Int { room.channels - 1 }

  init(channels: Int, from pool: CrossingPool) {
    room = pool.allocate(channels: channels + 1)
    let nowhere: UnsafeMutablePointer<MixSource> = PieceMemory.none()
    UnsafeMutableRawPointer(room.base).initializeMemory(
      as: RunningSum.self,
      to: RunningSum(frames: room.base + blockCapacity, first: nowhere, end: nowhere, next: nowhere))
  }
}

/// The memory of crossings. Worker.
final class CrossingPool {
  private static let most = 1 << 13
  private var slabs: [(base: UnsafeMutablePointer<Float>, flags: UnsafeMutablePointer<Bool>, capacity: Int)] =
    []
  /// Channels taken of the latest slab.
  private var taken = 0
  private var free = FreeLists<Crossing>()

  deinit {
    for slab in slabs {
      slab.base.deallocate()
      slab.flags.deallocate()
    }
  }

  /// At least one channel for each output.
  func allocate(channels: Int) -> Crossing {
    if let known = free.take(channels) {
      known.flags.initialize(repeating: true, count: channels)
      return known
    }
    if slabs.isEmpty || taken + channels > slabs[slabs.count - 1].capacity {
      let capacity = max(channels, min(Self.most, 64 << slabs.count))
      let flags = UnsafeMutablePointer<Bool>.allocate(capacity: capacity)
      flags.initialize(repeating: true, count: capacity)
      slabs.append((.zeroed(capacity * blockCapacity), flags, capacity))
      taken = 0
    }
    let slab = slabs[slabs.count - 1]
    defer { taken += channels }
    return Crossing(base: slab.base + taken * blockCapacity, flags: slab.flags + taken, channels: channels)
  }

  /// Takes back a crossing that no running plan uses.
  func recycle(_ crossing: Crossing) { free.put(crossing, crossing.channels) }
}

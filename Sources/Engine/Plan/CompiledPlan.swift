import Realtime

/// A plan and everything it points to. The worker frees it after the audio thread has switched to the next
/// one.
final class CompiledPlan {
  let serial: Int
  let plan: UnsafeMutablePointer<Plan>
  let memory: PlanMemory
  private let arena: BufferArena
  // Rows instead of object references: a node or cable that left the graph lives until a plan without it
  // runs.
  private let nodeRows: UnsafeBufferPointer<NodeRow.Pointer>
  private let cableRows: UnsafeBufferPointer<CableRow.Pointer>
  /// Nodes in execution order.
  var nodes: [EngineNode] { nodeRows.map { $0.pointee.node.takeUnretainedValue() } }
  /// Grouped by destination node.
  var cables: [EngineCable] { cableRows.map { $0.pointee.cable.takeUnretainedValue() } }
  /// Latency in frames at each node's outputs, by node number; empty when none has any. Feedback cables and
  /// leaving cables do not count.
  private(set) lazy var latencies: [Int32: Int] = findLatencies()

  init(
    serial: Int, plan: UnsafeMutablePointer<Plan>, memory: PlanMemory, arena: BufferArena,
    nodes: UnsafeBufferPointer<NodeRow.Pointer>, cables: UnsafeBufferPointer<CableRow.Pointer>
  ) {
    self.serial = serial
    self.plan = plan
    self.memory = memory
    self.arena = arena
    nodeRows = nodes
    cableRows = cables
  }
}

extension CompiledPlan {
  private func findLatencies() -> [Int32: Int] {
    let nodes = nodes
    guard nodes.contains(where: { $0.latency > 0 }) else { return [:] }
    var result: [Int32: Int] = [:]
    var rest = cables[...]
    for node in nodes {
      var latest = 0
      while let cable = rest.first, cable.destination === node {
        rest.removeFirst()
        guard case .audio = cable.input, !cable.key.isFeedback, !cable.isLeaving else { continue }
        latest = max(latest, (result[cable.source.number] ?? 0) + Int(cable.key.delay))
      }
      result[node.number] = latest + Int(node.latency)
    }
    return result
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

/// Allocates runs of channel buffers, and reclaims each after its last reader has run.
///
/// A run goes back to the segment that freed it, since other segments may run at the same time.
struct BufferAllocator {
  private(set) var size = 0
  /// Free lists. `last`: the run freed last, by segment and channel count. `before`: for each run, by its
  /// first channel, the one freed before it. -1: none.
  private var last: [Int32] = []
  private var before: [Int32] = []

  private static func shelf(_ count: Int, _ segment: Int) -> Int { segment * 65 + count }

  mutating func allocate(_ count: Int, in segment: Int) -> Int {
    guard count > 0 else { return 0 }
    let shelf = Self.shelf(count, segment)
    if shelf < last.count, last[shelf] >= 0 {
      let run = Int(last[shelf])
      last[shelf] = before[run]
      return run
    }
    size += count
    return size - count
  }

  mutating func recycle(_ run: Int, _ count: Int, in segment: Int) {
    guard count > 0 else { return }
    let shelf = Self.shelf(count, segment)
    while last.count <= shelf { last.append(-1) }
    while before.count <= run { before.append(-1) }
    before[run] = last[shelf]
    last[shelf] = Int32(run)
  }
}

/// Bump allocator for one plan: filled once, released at once.
final class PlanMemory {
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  /// Chunks in use. The current chunk has `left` bytes free from `next` on.
  private var used = 0
  private var next = PlanMemory.nowhere
  private var left = 0
  /// Total bytes of all chunks.
  private(set) var bytes = 0
  /// Valid address for empty arrays.
  private nonisolated(unsafe) static let nowhere = UnsafeMutableRawPointer.allocate(
    byteCount: 64, alignment: 64)

  init() {}

  /// Same chunk sizes as `other`, with every page touched.
  init(like other: PlanMemory) {
    for chunk in other.chunks {
      let copy = UnsafeMutableRawBufferPointer(start: LargePages.allocate(chunk.count), count: chunk.count)
      copy.initializeMemory(as: UInt8.self, repeating: 0)
      chunks.append(copy)
    }
    bytes = other.bytes
  }

  deinit { chunks.forEach { $0.deallocate() } }

  /// Address of an empty array.
  static func none<T: BitwiseCopyable>() -> UnsafeMutablePointer<T> {
    nowhere.assumingMemoryBound(to: T.self)
  }

  /// Releases all allocations. The pages stay mapped for the next plan.
  func clear() {
    used = 0
    left = 0
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

  /// Opens the next chunk with room for `count` bytes, cache-line aligned. Drops chunks that are too small.
  private func open(_ count: Int) {
    while used < chunks.count, chunks[used].count < count { drop(used) }
    if used == chunks.count {
      // Allocates an eighth more than asked, since the next plan may be slightly larger. At least doubles the
      // total, by one large page at most.
      let size = max(count + count / 8, min(max(bytes, 1 << 16), LargePages.size))
      chunks.append(UnsafeMutableRawBufferPointer(start: LargePages.allocate(size), count: size))
      bytes += size
    }
    next = chunks[used].baseAddress!
    left = chunks[used].count
    used += 1
  }

  private func drop(_ index: Int) {
    bytes -= chunks[index].count
    chunks.remove(at: index).deallocate()
  }

  /// Uninitialised room for `count` elements.
  func reserve<T: BitwiseCopyable>(_ count: Int) -> UnsafeMutablePointer<T> {
    guard count > 0 else { return Self.none() }
    return bytes(count * MemoryLayout<T>.stride).bindMemory(to: T.self, capacity: count)
  }

  /// A copy of `elements`, which must be plain data.
  func allocate<T: BitwiseCopyable>(_ elements: [T]) -> UnsafeMutablePointer<T> {
    let place: UnsafeMutablePointer<T> = reserve(elements.count)
    place.initialize(from: elements, count: elements.count)
    return place
  }

  /// Zeroed floats, cache-line aligned.
  func allocateFloats(_ count: Int) -> UnsafeMutablePointer<Float> {
    let piece = bytes(count * MemoryLayout<Float>.stride + 63)
    let memory = piece.alignedUp(toMultipleOf: 64).bindMemory(to: Float.self, capacity: count)
    memory.initialize(repeating: 0, count: count)
    return memory
  }
}

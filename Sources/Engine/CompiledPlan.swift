import Realtime

/// A plan and all that it points to. Freed when the worker drops it, which it does after the audio
/// thread has taken up the next one.
final class CompiledPlan {
  let serial: Int
  let plan: UnsafeMutablePointer<Plan>
  let memory: PlanMemory
  private let arena: BufferArena
  // Rows, not objects: what leaves the graph lives until the plan that is without it has been taken up.
  private let nodeRows: UnsafeBufferPointer<NodeRow.Pointer>
  private let cableRows: UnsafeBufferPointer<CableRow.Pointer>
  /// In the order of execution.
  var nodes: [EngineNode] { nodeRows.map { $0.pointee.node.takeUnretainedValue() } }
  /// Cables into each node, one node after the other.
  var cables: [EngineCable] { cableRows.map { $0.pointee.cable.takeUnretainedValue() } }
  /// Frames that each node's sound is late at its outputs, by its number, and empty where none is: cycles,
  /// and cables that leave, do not count.
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

/// The channel buffers of a block. They hold nothing from one block to the next, so plans share them.
final class BufferArena {
  let capacity: Int
  let base: UnsafeMutablePointer<Float>

  init(capacity: Int) {
    self.capacity = capacity
    base = Renderer.aligned(capacity * blockCapacity)
  }

  deinit { base.deallocate() }
}

/// Hands out runs of channel buffers, and takes them back when their last reader has run.
///
/// What one segment gave back only that segment gets again: others may run at the same time.
struct BufferAllocator {
  private(set) var size = 0
  /// The run given back last, by the segment and the number of channels, and for each run, by its first
  /// channel, the one given back before it; -1: none.
  private var last: [Int32] = []
  private var before: [Int32] = []

  private static func shelf(_ count: Int, _ segment: Int) -> Int { segment * 65 + count }

  mutating func take(_ count: Int, in segment: Int) -> Int {
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

  mutating func give(_ run: Int, _ count: Int, in segment: Int) {
    guard count > 0 else { return }
    let shelf = Self.shelf(count, segment)
    while last.count <= shelf { last.append(-1) }
    while before.count <= run { before.append(-1) }
    before[run] = last[shelf]
    last[shelf] = Int32(run)
  }
}

/// Memory that is filled once, and taken back at once.
final class PlanMemory {
  private var chunks: [UnsafeMutableRawBufferPointer] = []
  /// Chunks in use; the last of them has `left` bytes left from `next` on.
  private var used = 0
  private var next = PlanMemory.nowhere
  private var left = 0
  /// Bytes of all chunks.
  private(set) var bytes = 0
  /// What nothing points to.
  private nonisolated(unsafe) static let nowhere = UnsafeMutableRawPointer.allocate(
    byteCount: 64, alignment: 64)

  init() {}

  /// As much as the other has, every page touched.
  init(like other: PlanMemory) {
    for chunk in other.chunks {
      let copy = UnsafeMutableRawBufferPointer(start: LargePages.allocate(chunk.count), count: chunk.count)
      copy.initializeMemory(as: UInt8.self, repeating: 0)
      chunks.append(copy)
    }
    bytes = other.bytes
  }

  deinit { chunks.forEach { $0.deallocate() } }

  /// Where no elements are.
  static func none<T: BitwiseCopyable>() -> UnsafeMutablePointer<T> {
    nowhere.assumingMemoryBound(to: T.self)
  }

  /// Takes everything back; the pages stay for what comes next.
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

  /// The next chunk with room for so many bytes, on a cache line; those that are too small go.
  private func open(_ count: Int) {
    while used < chunks.count, chunks[used].count < count { drop(used) }
    if used == chunks.count {
      // Some more than is needed, since what comes next may be a little larger; and as much again as there
      // is, up to one large page.
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

  /// Room for so many elements, to be initialised by the caller.
  func reserve<T: BitwiseCopyable>(_ count: Int) -> UnsafeMutablePointer<T> {
    guard count > 0 else { return Self.none() }
    return bytes(count * MemoryLayout<T>.stride).bindMemory(to: T.self, capacity: count)
  }

  /// A copy of `elements`, which are plain data.
  func allocate<T: BitwiseCopyable>(_ elements: [T]) -> UnsafeMutablePointer<T> {
    let place: UnsafeMutablePointer<T> = reserve(elements.count)
    place.initialize(from: elements, count: elements.count)
    return place
  }

  /// Zeroed floats on a cache line.
  func allocateFloats(_ count: Int) -> UnsafeMutablePointer<Float> {
    let piece = bytes(count * MemoryLayout<Float>.stride + 63)
    let memory = piece.alignedUp(toMultipleOf: 64).bindMemory(to: Float.self, capacity: count)
    memory.initialize(repeating: 0, count: count)
    return memory
  }
}

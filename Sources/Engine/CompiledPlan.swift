import Realtime

/// A plan and all that it points to. Freed when the worker drops it, which it does after the audio
/// thread has taken up the next one.
final class CompiledPlan {
  let serial: Int
  let plan: UnsafeMutablePointer<Plan>
  private let memory: PlanMemory
  private let arena: BufferArena
  /// In the order of execution.
  let nodes: [EngineNode]
  private let cableRows: [UnsafeMutablePointer<CableRow>]
  /// Cables into each node, one node after the other. Not kept by the plan: what leaves the graph lives
  /// until the plan that is without it has been taken up.
  var cables: [EngineCable] { cableRows.map { $0.pointee.cable.takeUnretainedValue() } }
  let stepCount: Int
  /// Frames that each node's sound is late at its outputs, by its number, and empty where none is: cycles,
  /// and cables that leave, do not count.
  private(set) lazy var latencies: [Int32: Int] = findLatencies()

  init(
    serial: Int, plan: UnsafeMutablePointer<Plan>, memory: PlanMemory, arena: BufferArena,
    nodes: [EngineNode], cables: [UnsafeMutablePointer<CableRow>], stepCount: Int
  ) {
    self.serial = serial
    self.plan = plan
    self.memory = memory
    self.arena = arena
    self.nodes = nodes
    cableRows = cables
    self.stepCount = stepCount
  }
}

extension CompiledPlan {
  private func findLatencies() -> [Int32: Int] {
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
  /// By the segment and the number of channels.
  private var free: [[Int]] = []

  private static func shelf(_ count: Int, _ segment: Int) -> Int { segment * 65 + count }

  mutating func take(_ count: Int, in segment: Int) -> Int {
    guard count > 0 else { return 0 }
    let shelf = Self.shelf(count, segment)
    if shelf < free.count, let run = free[shelf].popLast() { return run }
    size += count
    return size - count
  }

  mutating func give(_ run: Int, _ count: Int, in segment: Int) {
    guard count > 0 else { return }
    let shelf = Self.shelf(count, segment)
    while free.count <= shelf { free.append([]) }
    free[shelf].append(run)
  }
}

/// Memory that is filled once and freed at once.
final class PlanMemory {
  private var chunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer
  private var left = 0
  private let nothing: UnsafeMutableRawPointer

  init() {
    nothing = .allocate(byteCount: 64, alignment: 64)
    next = nothing
  }

  deinit {
    chunks.forEach { $0.deallocate() }
    nothing.deallocate()
  }

  private func bytes(_ count: Int) -> UnsafeMutableRawPointer {
    let rounded = (count + 7) & ~7
    if rounded > left {
      left = max(rounded, 1 << 16)
      next = .allocate(byteCount: left, alignment: 64)
      chunks.append(next)
    }
    defer {
      next += rounded
      left -= rounded
    }
    return next
  }

  /// Room for so many elements, to be initialised by the caller.
  func reserve<T: BitwiseCopyable>(_ count: Int) -> UnsafeMutablePointer<T> {
    guard count > 0 else { return nothing.assumingMemoryBound(to: T.self) }
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
    let memory = Renderer.aligned(count)
    chunks.append(UnsafeMutableRawPointer(memory))
    return memory
  }
}

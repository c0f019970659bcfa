import Realtime
import Synchronization

/// Memory for what is gone through of many nodes: pieces of whole cache lines side by side, in the order
/// in which nodes are made, which is about that in which they run. Worker.
final class RowPool {
  private static let smallestChunk = 1 << 16
  private var chunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer?
  private var left = 0
  /// Bytes of all chunks.
  private var taken = 0
  /// Pieces that came back, by size.
  private var free: [Int: [UnsafeMutableRawPointer]] = [:]

  deinit { chunks.forEach { $0.deallocate() } }

  /// Zeroed, on a cache line.
  func take(_ bytes: Int) -> UnsafeMutableRawPointer {
    let size = (bytes + 63) & ~63
    if let piece = free[size]?.popLast() {
      piece.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      return piece
    }
    if size > left || next == nil {
      // As much again as there is, up to one large page at a time.
      left = max(size, min(max(taken, Self.smallestChunk), LargePages.size))
      let chunk = LargePages.allocate(left)
      taken += left
      chunk.initializeMemory(as: UInt8.self, repeating: 0, count: left)
      chunks.append(chunk)
      next = chunk
    }
    defer {
      next = next! + size
      left -= size
    }
    return next!
  }

  /// Takes back a piece of `bytes`.
  func give(_ piece: UnsafeMutableRawPointer, _ bytes: Int) {
    free[(bytes + 63) & ~63, default: []].append(piece)
  }
}

/// Where nodes have their memory. Worker.
final class NodePools {
  /// What every block touches of a node.
  let slots = RowPool()
  /// What moves and reports touch.
  let rest = RowPool()
  let kernels = KernelMemoryPool()
}

/// The memory of one node's slot. What every block touches (the slot itself, the parameters' streams,
/// the kernel) is one piece of a pool; what moves and reports touch is another. Worker.
struct NodeMemory {
  let slot: UnsafeMutablePointer<NodeSlot>
  let streams: UnsafeMutablePointer<ParameterStream>
  let crossfades: UnsafeMutablePointer<CrossfadeStream>
  let kernel: UnsafeMutableRawPointer
  let parameters: UnsafeMutablePointer<ParameterState>
  let meters: UnsafeMutablePointer<ChannelMeter>
  let meterCount: Int
  private let singles: UnsafeMutablePointer<Float>
  private let ramps: [(first: UnsafeMutablePointer<Ramp>, capacity: Int)]
  private let many: UnsafeMutablePointer<Float>
  private let cold: UnsafeMutableRawPointer
  private let hot: UnsafeMutableRawPointer
  private let hotSize: Int
  private let coldSize: Int
  private let pools: NodePools

  /// For a node that knows its channels.
  init(node: EngineNode, pools: NodePools) {
    self.pools = pools
    let count = node.parameterCount
    let capacities = (0..<count).map { index in
      // What the engine adds behind the parameters is one value.
      guard index < node.values.count else { return 1 }
      return ParameterState.capacity(
        isPerChannel: node.type?.description.parameters[index].isPerChannel == true,
        values: node.values[index].count)
    }
    meterCount = 64 * node.outputChannels.count

    var layout = Layout()
    let slotAt = layout.place(NodeSlot.self, 1)
    let streamsAt = layout.place(ParameterStream.self, count)
    let singlesAt = layout.place(Float.self, count)
    let kernelAt = layout.place(node.type?.size ?? 1, alignment: node.type?.alignment ?? 1)
    let crossfadesAt = layout.place(CrossfadeStream.self, count)
    hotSize = layout.size
    hot = pools.slots.take(hotSize)
    slot = (hot + slotAt).bindMemory(to: NodeSlot.self, capacity: 1)
    streams = (hot + streamsAt).bindMemory(to: ParameterStream.self, capacity: count)
    singles = (hot + singlesAt).bindMemory(to: Float.self, capacity: count)
    kernel = hot + kernelAt
    crossfades = (hot + crossfadesAt).bindMemory(to: CrossfadeStream.self, capacity: count)

    layout = Layout()
    let parametersAt = layout.place(ParameterState.self, count)
    let rampsAt = capacities.map { layout.place(Ramp.self, $0) }
    let manyAt = layout.place(Float.self, 64 * count)
    let metersAt = layout.place(ChannelMeter.self, meterCount)
    coldSize = layout.size
    let cold = pools.rest.take(coldSize)
    self.cold = cold
    parameters = (cold + parametersAt).bindMemory(to: ParameterState.self, capacity: count)
    ramps = zip(rampsAt, capacities).map { at, capacity in
      ((cold + at).bindMemory(to: Ramp.self, capacity: capacity), capacity)
    }
    many = (cold + manyAt).bindMemory(to: Float.self, capacity: 64 * count)
    meters = (cold + metersAt).bindMemory(to: ChannelMeter.self, capacity: meterCount)
    for index in 0..<meterCount { (meters + index).initialize(to: ChannelMeter()) }
  }

  /// One parameter, at rest at `values`.
  func initialize(_ index: Int, kind: ParameterState.Kind, values: [Float]) {
    let state = ParameterState(
      kind: kind, values: values, capacity: ramps[index].capacity, ramps: ramps[index].first,
      single: singles + index, many: many + 64 * index)
    (parameters + index).initialize(to: state)
    (streams + index).initialize(
      to: ParameterStream(
        values: UnsafePointer(state.values(state.elements)), stream: nil, elements: state.elements))
    let value = values.first ?? 0
    (crossfades + index).initialize(to: CrossfadeStream(old: value, new: value, blend: nil))
  }

  func deallocate() {
    pools.slots.give(hot, hotSize)
    pools.rest.give(cold, coldSize)
  }

  /// Places things one after the other.
  private struct Layout {
    private(set) var size = 0

    mutating func place<T: ~Copyable>(_ type: T.Type, _ count: Int) -> Int {
      place(MemoryLayout<T>.stride * count, alignment: MemoryLayout<T>.alignment)
    }

    mutating func place(_ bytes: Int, alignment: Int) -> Int {
      let start = (size + alignment - 1) / alignment * alignment
      size = start + bytes
      return start
    }
  }
}

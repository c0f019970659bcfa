import Realtime
import Synchronization

/// Returned pieces of memory, by small sizes. Worker.
struct FreeLists<Piece> {
  private var lists: [[Piece]] = []

  /// A returned piece of this size, the latest first; nil: there is none.
  mutating func take(_ size: Int) -> Piece? { size < lists.count ? lists[size].popLast() : nil }

  mutating func put(_ piece: Piece, _ size: Int) {
    if size >= lists.count { lists += repeatElement([], count: size + 1 - lists.count) }
    lists[size].append(piece)
  }
}

/// Pool of per-node hot data. Pieces are whole cache lines, side by side in order of creation, which is close
/// to execution order. Worker.
final class RowPool {
  private static let smallestChunk = 1 << 16
  private var chunks: [UnsafeMutableRawPointer] = []
  private var next: UnsafeMutableRawPointer?
  private var left = 0
  /// Total bytes of all chunks.
  private var taken = 0
  /// Returned pieces, by size in cache lines.
  private var free = FreeLists<UnsafeMutableRawPointer>()

  deinit { chunks.forEach { $0.deallocate() } }

  /// Zeroed memory, cache-line aligned.
  func allocate(_ bytes: Int) -> UnsafeMutableRawPointer {
    let lines = (bytes + 63) / 64
    let size = lines * 64
    if let piece = free.take(lines) {
      piece.initializeMemory(as: UInt8.self, repeating: 0, count: size)
      return piece
    }
    if size > left || next == nil {
      // Doubles the total, by one large page at a time at most.
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
  func recycle(_ piece: UnsafeMutableRawPointer, _ bytes: Int) {
    free.put(piece, (bytes + 63) / 64)
  }
}

/// The pools of the memory of nodes and cables. Worker.
final class NodePools {
  /// Data touched in every block.
  let slots = RowPool()
  /// Data touched by parameter moves and reports only.
  let rest = RowPool()
  let kernels = KernelMemoryPool(largeSize: 1 << 17)
  /// Rings of delayed cables.
  let rings = KernelMemoryPool(largeSize: 1 << 14)
}

/// Memory of one node's slot, in two pool pieces. One has the data touched in every block: the slot, the
/// parameter streams and the kernel. The other has the data for parameter moves and reports. Worker.
struct NodeMemory {
  let slot: UnsafeMutablePointer<NodeSlot>
  let streams: UnsafeMutablePointer<ParameterStream>
  let crossfades: UnsafeMutablePointer<CrossfadeStream>
  let kernel: UnsafeMutableRawPointer
  let parameters: UnsafeMutablePointer<ParameterState>
  /// One for each audio output channel; a node that widens gets more (`makeMeters`).
  private(set) var meters: UnsafeMutablePointer<ChannelMeter>
  private(set) var meterCount: Int
  let readingCount: Int
  private let singles: UnsafeMutablePointer<Float>
  private var elements: [Elements]
  /// Ramps of parameters that came to have several elements.
  private var rooms: [(base: UnsafeMutableRawPointer, size: Int)] = []
  private let cold: UnsafeMutableRawPointer
  private let hot: UnsafeMutableRawPointer
  /// Bytes of the piece that every block touches.
  let hotSize: Int
  private let coldSize: Int
  private let pools: NodePools

  /// Memory of a parameter's elements. Most have one value all their life: a ramp for each channel would be most of a
  /// node, so those come when they are needed.
  private struct Elements {
    var ramps: UnsafeMutablePointer<Ramp>
    var capacity: Int
    /// How many ramps it may come to have.
    let most: Int
    /// Values of ramps that may have several; nothing else has, or is modulated.
    var many: UnsafeMutablePointer<Float>?
    let isPerChannel: Bool
  }

  /// Memory for a node whose channel counts are known.
  init(node: EngineNode, pools: NodePools) {
    self.pools = pools
    let count = node.parameterCount
    let sizes = (0..<count).map { index -> (values: Int, most: Int, isRamp: Bool, isPerChannel: Bool) in
      // The hidden parameter behind the others has one value.
      guard index < node.values.count else { return (1, 1, false, false) }
      let (description, values) = (node.type?.description.parameters[index], node.values[index].count)
      let most = ParameterState.capacity(isPerChannel: description?.isPerChannel == true, values: values)
      return (values, most, description?.smoothing == .ramp, description?.isPerChannel == true)
    }
    // Most nodes stay mono or stereo, and meters for 64 channels would be most of such a node's memory.
    meterCount = (node.outputChannels.reduce(0, +) + 1) & ~1
    readingCount = min(node.type?.description.readings.count ?? 0, 255)

    var layout = Layout()
    let slotAt = layout.place(NodeSlot.self, 1)
    let streamsAt = layout.place(ParameterStream.self, count)
    let singlesAt = layout.place(Float.self, count)
    let kernelAt = layout.place(node.type?.size ?? 1, alignment: node.type?.alignment ?? 1)
    let crossfadesAt = layout.place(CrossfadeStream.self, count)
    hotSize = layout.size
    hot = pools.slots.allocate(hotSize)
    slot = (hot + slotAt).bindMemory(to: NodeSlot.self, capacity: 1)
    streams = (hot + streamsAt).bindMemory(to: ParameterStream.self, capacity: count)
    singles = (hot + singlesAt).bindMemory(to: Float.self, capacity: count)
    kernel = hot + kernelAt
    crossfades = (hot + crossfadesAt).bindMemory(to: CrossfadeStream.self, capacity: count)

    layout = Layout()
    let parametersAt = layout.place(ParameterState.self, count)
    // Behind the parameters, where `NodeSlot.readings` looks; zeroed memory is what they begin with.
    _ = layout.place(Atomic<UInt32>.self, readingCount)
    let places = sizes.map { size in
      let capacity = size.isRamp && size.values > 1 ? size.most : 1
      let ramps = layout.place(Ramp.self, capacity)
      let isWide = size.isRamp && size.isPerChannel && node.mainChannels.width > 1
      let many = isWide || size.values > 1 ? layout.place(Float.self, 64) : nil
      return (ramps: ramps, capacity: capacity, many: many)
    }
    let metersAt = layout.place(ChannelMeter.self, meterCount)
    coldSize = layout.size
    let cold = pools.rest.allocate(coldSize)
    self.cold = cold
    parameters = (cold + parametersAt).bindMemory(to: ParameterState.self, capacity: count)
    elements = zip(places, sizes).map { place, size in
      Elements(
        ramps: (cold + place.ramps).bindMemory(to: Ramp.self, capacity: place.capacity),
        capacity: place.capacity, most: size.isRamp ? size.most : 1,
        many: place.many.map { (cold + $0).bindMemory(to: Float.self, capacity: 64) },
        isPerChannel: size.isPerChannel)
    }
    meters = (cold + metersAt).bindMemory(to: ChannelMeter.self, capacity: meterCount)
    for index in 0..<meterCount { (meters + index).initialize(to: ChannelMeter()) }
  }

  /// Meters for so many channels of all outputs; nil: there are enough.
  mutating func makeMeters(for channels: Int) -> UnsafeMutablePointer<ChannelMeter>? {
    guard channels > meterCount else { return nil }
    while meterCount < channels { meterCount = max(2 * meterCount, 8) }
    meters = allocate(meterCount)
    for index in 0..<meterCount { (meters + index).initialize(to: ChannelMeter()) }
    return meters
  }

  /// Initialises one parameter, at rest at `values`.
  func initialize(_ index: Int, kind: ParameterState.Kind, values: [Float]) {
    let state = ParameterState(
      kind: kind, values: values, capacity: elements[index].capacity, ramps: elements[index].ramps,
      single: singles + index, many: elements[index].many)
    (parameters + index).initialize(to: state)
    (streams + index).initialize(
      to: ParameterStream(
        values: UnsafePointer(state.values(state.elements)), stream: nil, elements: state.elements))
    let value = values.first ?? 0
    (crossfades + index).initialize(to: CrossfadeStream(old: value, new: value, blend: nil))
  }

  /// Largest number of ramps that move in one block.
  var mostRamps: Int { elements.reduce(0) { $0 + $1.most } }

  /// Memory for so many elements of a parameter, and for a modulation of so many channels; nil: it has that.
  mutating func makeRoom(for count: Int, channels: Int, of index: Int) -> ParameterRoom? {
    var room = ParameterRoom()
    let most = elements[index].most
    if count > elements[index].capacity, most > elements[index].capacity {
      room.ramps = allocate(most)
      room.capacity = Int32(most)
      elements[index].ramps = room.ramps!
      elements[index].capacity = most
    }
    if elements[index].many == nil, most > 1, max(count, elements[index].isPerChannel ? channels : 1) > 1 {
      room.many = allocate(64)
      elements[index].many = room.many
    }
    return room.ramps == nil && room.many == nil ? nil : room
  }

  private mutating func allocate<T: ~Copyable>(_ count: Int) -> UnsafeMutablePointer<T> {
    let size = count * MemoryLayout<T>.stride
    let base = pools.rest.allocate(size)
    rooms.append((base, size))
    return base.bindMemory(to: T.self, capacity: count)
  }

  func deallocate() {
    for room in rooms { pools.rest.recycle(room.base, room.size) }
    pools.slots.recycle(hot, hotSize)
    pools.rest.recycle(cold, coldSize)
  }

  /// Offsets of successive, aligned items.
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

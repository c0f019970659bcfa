import Realtime

// Inputs of a node, as the plan compiler reads them. Worker.

/// A cable into a node.
struct Wire: BitwiseCopyable {
  let cable: CableRow.Pointer
  let row: CableRow
  /// Index of the output that it reads, among all of the piece; negative: events, or a node of another piece.
  let output: Int

  /// `piece`: number of the piece that it leads into.
  init(_ cable: CableRow.Pointer, piece: Int32) {
    self.cable = cable
    row = cable.pointee
    let isNear = row.output >= 0 && row.source.pointee.piece == piece
    output = isNear ? Int(row.source.pointee.firstOutput + row.output) : -1
  }
}

/// Successive nodes and the cables into them. Their rows are scattered in memory in execution order: a batch
/// is prefetched before it is read.
struct PlanBatch {
  static let size = 128

  struct Entry {
    /// Its step without any connections; nil: no step.
    let step: Step?
    let wires: Range<Int>
    /// The others of its cables are there; nil: these are all.
    let sum: WideSum?
  }

  private(set) var entries: [Entry] = []
  private(set) var wires: [Wire] = []

  /// `isWhole`: nothing is taken over from an earlier plan.
  mutating func read(_ rows: ArraySlice<NodeRow.Pointer>, piece: Int32, isWhole: Bool) {
    entries.removeAll(keepingCapacity: true)
    wires.removeAll(keepingCapacity: true)
    fetch(rows)
    for row in rows {
      let first = wires.count
      let sum = isWhole ? nil : Self.sum(row)
      if let sum {
        for cable in sum.stale(channels: max(Int(row.channels[0]), 1)) {
          wires.append(Wire(cable, piece: piece))
        }
      } else {
        var next = row.pointee.incoming
        while let cable = next {
          wires.append(Wire(cable, piece: piece))
          next = wires[wires.count - 1].row.next
        }
      }
      entries.append(
        Entry(step: row.pointee.slot.map { Step(.process, $0) }, wires: first..<wires.count, sum: sum))
    }
  }

  /// The kept sum of a node with many cables; nil: they are few.
  private static func sum(_ row: NodeRow.Pointer) -> WideSum? {
    guard row.pointee.ownSum != nil else { return nil }
    let node = row.pointee.node.takeUnretainedValue()
    if let sum = node.wideSum {
      if sum.cables.count >= WideSum.leastCables { return sum }
      node.wideSum = nil
    } else {
      node.wideSum = WideSum.find(row)
    }
    return node.wideSum
  }
}

extension PlanBatch {
  /// Prefetches the rows, level by level: each round follows the pointers fetched in the one before.
  private func fetch(_ rows: ArraySlice<NodeRow.Pointer>) {
    for row in rows { prefetch(row) }
    for row in rows {
      if let cable = row.pointee.incoming { prefetch(cable) }
      if let slot = row.pointee.slot { prefetch(slot) }
    }
    for row in rows
    where row.pointee.ownSum == nil || row.pointee.node.takeUnretainedValue().wideSum == nil {
      var next = row.pointee.incoming
      while let cable = next {
        prefetch(cable.pointee.source)
        next = cable.pointee.next
      }
    }
  }
}

/// An input of a node: its cables, and its buffer if they must be mixed.
struct Inlet {
  /// Range in `Inlets.wires`.
  var wires: Range<Int>
  /// Its other cables; nil: these are all.
  var sum: WideSum?
  /// Number of its cables.
  var count: Int { sum?.cables.count ?? wires.count }
  var channels: Int
  /// The parameter that it modulates; negative: an audio input.
  var parameter = -1
  /// The element of that parameter, if the kernel modulates it itself; negative: the parameter's stream is modulated.
  var element = -1
  /// It multiplies the parameter by a power of two.
  var isRatio = false
  /// First channel of the sum's buffer; negative when the only source's buffer is read directly.
  var buffer = -1
  /// First channel of the sum where that is not the buffer: in the node's output, which has a crossing.
  var place: UnsafeMutablePointer<Float>?
  /// All of its cables bring one channel to every channel, which are therefore one.
  var isUniform = false
  /// Channels of the sum's buffer.
  var width: Int { isUniform ? 1 : channels }
  /// The parameter or element that it modulates.
  var target: CableRow.Target { CableRow.Target(parameter: parameter, element: element) }
}

/// A cable into a parameter or an element. In the order in which kernels expect elements; what is added comes right before
/// what multiplies, and cables to the same place stay in theirs.
private struct Modulator: Comparable, BitwiseCopyable {
  let target: CableRow.Target
  let isRatio: Bool
  /// Position among the cables.
  let wire: Int

  init(_ target: CableRow.Target, isRatio: Bool, wire: Int) {
    (self.target, self.isRatio, self.wire) = (target, isRatio, wire)
  }

  func leads(where other: Self) -> Bool { target == other.target && isRatio == other.isRatio }

  private var place: (Int, Int, Int, Int) {
    (target.parameter, target.element, isRatio ? 1 : 0, wire)
  }

  static func < (a: Self, b: Self) -> Bool { a.place < b.place }
}

/// The inlets of one node, in storage reused for each node.
struct Inlets {
  var list: [Inlet] = []
  private(set) var wires: [Wire] = []
  private var modulations: [Modulator] = []

  /// Audio inputs first, then the connected parameters and elements, in their order. `all`: cables into the node.
  /// `sum`: the other cables into it, if those are not all.
  mutating func find(_ row: NodeRow.Pointer, _ all: ArraySlice<Wire>, _ sum: WideSum?) {
    list.removeAll(keepingCapacity: true)
    wires.removeAll(keepingCapacity: true)
    modulations.removeAll(keepingCapacity: true)
    for input in 0..<Int(row.pointee.inputCount) {
      list.append(
        Inlet(wires: collect(Int32(input), from: all), channels: max(Int(row.channels[input]), 1)))
    }
    if let sum {
      list[0].sum = sum
      return
    }
    for index in all.indices {
      if let (target, isRatio) = all[index].row.modulated {
        modulations.append(Modulator(target, isRatio: isRatio, wire: index))
      }
    }
    // A matrix may have thousands.
    if modulations.count > 1 { modulations.sort() }
    var next = 0
    while next < modulations.count {
      let first = modulations[next]
      let start = wires.count
      while next < modulations.count, modulations[next].leads(where: first) {
        wires.append(all[modulations[next].wire])
        next += 1
      }
      list.append(inlet(first, start..<wires.count, row))
    }
  }

  private func inlet(_ modulation: Modulator, _ range: Range<Int>, _ row: NodeRow.Pointer) -> Inlet {
    let target = modulation.target
    let isWide = wires[range].contains { !$0.row.isForAll }
    let node = row.pointee.node
    let channels = isWide ? node.takeUnretainedValue().parameterChannels(target.parameter).width : 1
    return Inlet(
      wires: range, channels: channels, parameter: target.parameter, element: target.element,
      isRatio: modulation.isRatio)
  }

  private mutating func collect(_ input: Int32, from all: ArraySlice<Wire>) -> Range<Int> {
    let first = wires.count
    for wire in all where wire.row.input == input { wires.append(wire) }
    return first..<wires.count
  }

  func needsMix(_ inlet: Inlet) -> Bool {
    guard inlet.count == 1 else { return inlet.count > 1 }
    let cable = wires[inlet.wires.lowerBound].row
    guard cable.isDirect else { return true }
    return !cable.isStraight && !Self.isSelection(cable.gains(to: inlet.channels))
  }

  /// True when every channel gets the same.
  func isUniform(_ inlet: Inlet) -> Bool {
    if let sum = inlet.sum { return sum.isUniform(channels: inlet.channels) }
    return inlet.parameter < 0 && inlet.channels > 1 && wires[inlet.wires].allSatisfy { $0.row.isSpread }
  }

  /// True when channels pass unchanged, so that pointers do the work of a map.
  private static func isSelection(_ gains: [ChannelGain]) -> Bool {
    var seen: UInt64 = 0
    for gain in gains {
      guard gain.gain == 1, seen & (1 << UInt64(gain.destination)) == 0 else { return false }
      seen |= 1 << UInt64(gain.destination)
    }
    return true
  }
}

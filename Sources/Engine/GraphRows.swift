// What the plan compiler reads of nodes and cables: plain memory, a cache line each and side by side, so
// that a plan of many thousands is compiled without touching (and counting references to) as many objects.
// Worker.

/// Owned by its node. Behind it lie the channels of each audio input and of each output, then how many
/// cables read each output directly, then the counts of the same channels that the rules see, and those that the
/// document implies.
struct NodeRow: BitwiseCopyable {
  typealias Pointer = UnsafeMutablePointer<NodeRow>

  let node: Unmanaged<EngineNode>
  var slot: UnsafeMutablePointer<NodeSlot>?
  /// The first cable into it, in the order in which they are summed.
  var incoming: CableRow.Pointer?
  let inputCount: UInt16
  let outputCount: UInt16
  /// Its place in the plan being compiled, and that of its first output among all outputs.
  var mark: Int32 = 0
  var firstOutput: Int32 = 0
  /// Values that its moving parameters may need in one block.
  var parameterElements: Int32 = 0
  /// Whether its channels follow what is connected.
  let hasFlexiblePorts: Bool
  let takesEvents: Bool
  let isSink: Bool
  /// The last of its outputs is `KernelType.aheadOutput`.
  let hasAhead: Bool
  /// Its inputs may bring other channels; and fewer.
  var isPending = false
  var mayNarrow = false
  /// Its counts are looked at.
  var isTouched = false
  /// Nothing comes in: its counts stay as they were while it rings.
  var isKept = false

  /// For a node whose row is in place already, the rest behind it zeroed.
  init(of node: EngineNode) {
    self.node = .passUnretained(node)
    inputCount = UInt16(node.inputs.count)
    outputCount = UInt16(node.outputs.count)
    hasFlexiblePorts = (node.inputs + node.outputs).contains { $0.format == .flexible }
    takesEvents = node.takesEvents
    isSink = node.isSink
    hasAhead = node.type?.aheadOutput != nil
  }

  /// Channels to begin with.
  static func begin(_ row: Pointer, _ counts: [Int]) {
    for (index, count) in counts.enumerated() {
      row.channels[index] = Int32(count)
      row.counts[index] = UInt8(clamping: count)
      row.implied[index] = UInt8(clamping: count)
    }
  }

  /// Bytes of a row with what lies behind it.
  static func size(inputs: Int, outputs: Int) -> Int {
    MemoryLayout<NodeRow>.stride + (inputs + 2 * outputs) * MemoryLayout<Int32>.stride + 2
      * (inputs + outputs)
  }
}

extension UnsafeMutablePointer<NodeRow> {
  /// Of each audio input, then of each output: those of kernels and buffers.
  var channels: UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: Int32.self)
  }
  var outputChannels: UnsafeMutablePointer<Int32> { channels + Int(pointee.inputCount) }
  /// Cables without delay that leave each output.
  var readers: UnsafeMutablePointer<Int32> { outputChannels + Int(pointee.outputCount) }
  /// Of each audio input, then of each output.
  var counts: UnsafeMutablePointer<UInt8> {
    UnsafeMutableRawPointer(readers + Int(pointee.outputCount)).assumingMemoryBound(to: UInt8.self)
  }
  var implied: UnsafeMutablePointer<UInt8> { counts + Int(pointee.inputCount) + Int(pointee.outputCount) }
}

/// Owned by its cable.
struct CableRow: BitwiseCopyable {
  typealias Pointer = UnsafeMutablePointer<CableRow>

  /// The next cable into the same node.
  var next: Pointer?
  let source: NodeRow.Pointer
  var slot: UnsafeMutablePointer<CableSlot>?
  let cable: Unmanaged<EngineCable>
  /// Position among the outputs of its source; -1: events.
  let output: Int32
  /// The audio input of its destination; `events`; or `-2 - parameter`.
  let input: Int32
  /// Entries of its map; 0: no map.
  let mapCount: Int32
  /// Linear.
  var target: Float = 1
  /// Goes through its delay.
  let isDelayed: Bool
  /// It does not fade.
  var isSettled = true
  /// It brings each channel to the one of the same number, and no others are there.
  var isStraight = false
  /// The patch has it.
  var isWanted = true
  /// Into a parameter: one value for all channels.
  var isForAll = false
  /// Costs nothing: its source's buffer is the input, if its channels fit.
  var isDirect = false
  /// The newest plan applies its gain: it need not be compiled for another one.
  var isMixed = false

  static var events: Int32 { -1 }

  /// The channels that it brings by the document; for cables of sound.
  var impliedWidth: Int {
    if mapCount > 0 { return Int(mapCount) }
    return max(Int(source.implied[Int(source.pointee.inputCount) + Int(output)]), 1)
  }

  /// Gains from its channels to an input of so many.
  func gains(to channels: Int) -> [ChannelGain] { cable.takeUnretainedValue().gains(to: channels) }
}

// What the plan compiler reads of nodes and cables: plain memory, a cache line each and side by side, so
// that a plan of many thousands is compiled without touching (and counting references to) as many objects.
// Worker.

/// Owned by its node. Behind it lie the channels of each audio input and of each output, then how many
/// cables read each output directly.
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
  /// Something came that may bring more channels.
  var isPending = false

  /// For a node whose row is in place already, the rest behind it zeroed.
  init(of node: EngineNode) {
    self.node = .passUnretained(node)
    let counts = node.inputChannels + node.outputChannels
    for (index, count) in counts.enumerated() { node.row.channels[index] = Int32(count) }
    inputCount = UInt16(node.inputs.count)
    outputCount = UInt16(node.outputs.count)
    hasFlexiblePorts = (node.inputs + node.outputs).contains { $0.format == .flexible }
    takesEvents = node.takesEvents
    isSink = node.isSink
    hasAhead = node.type?.aheadOutput != nil
  }

  /// Bytes of a row with what lies behind it.
  static func size(inputs: Int, outputs: Int) -> Int {
    MemoryLayout<NodeRow>.stride + (inputs + 2 * outputs) * MemoryLayout<Int32>.stride
  }
}

extension UnsafeMutablePointer<NodeRow> {
  /// Of each audio input, then of each output.
  var channels: UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: Int32.self)
  }
  var outputChannels: UnsafeMutablePointer<Int32> { channels + Int(pointee.inputCount) }
  /// Cables without delay that leave each output.
  var readers: UnsafeMutablePointer<Int32> { outputChannels + Int(pointee.outputCount) }
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
  /// What it brings is spread as its ends' channels say now.
  var isSpread = true
  /// Costs nothing: its source's buffer is the input, if its channels fit.
  var isDirect = false
  /// The newest plan applies its gain: it need not be compiled for another one.
  var isMixed = false

  static var events: Int32 { -1 }

  /// The channels that it brings; for cables of sound.
  var width: Int {
    mapCount > 0 ? Int(mapCount) : max(Int(source.outputChannels[Int(output)]), 1)
  }

  /// Whether it brings each channel to the one of the same number.
  func isPlain(to channels: Int) -> Bool {
    mapCount == 0 && isSpread && Int(source.outputChannels[Int(output)]) == channels
  }

  func conversion(to channels: Int) -> ChannelConversion {
    cable.takeUnretainedValue().conversion(to: channels)
  }
}

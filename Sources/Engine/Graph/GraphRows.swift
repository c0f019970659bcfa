// Columns of nodes and cables for the plan compiler: plain memory, one cache line each, side by side. A plan
// of many thousand nodes compiles without touching (and reference-counting) as many objects. Worker.

/// Hot data of a node; owned by the node. Behind it lie four arrays: the channels of each audio input and
/// output, the number of undelayed readers of each output, the document's channel counts in use, and the
/// implied counts.
struct NodeRow: BitwiseCopyable {
  typealias Pointer = UnsafeMutablePointer<NodeRow>

  let node: Unmanaged<EngineNode>
  var slot: UnsafeMutablePointer<NodeSlot>?
  /// The first cable into it, in summing order.
  var incoming: CableRow.Pointer?
  let inputCount: UInt16
  let outputCount: UInt16
  /// Index in the graph.
  var index: Int32 = 0
  /// Index in a pass over the execution order.
  var planIndex: Int32 = 0
  /// The latest search (`ExecutionOrder.run`) that has found it.
  var search: Int32 = 0
  /// Number of its piece of the plan, and index of its first output among all outputs there.
  var piece: Int32 = 0
  var firstOutput: Int32 = 0
  /// Place in the execution order; nil: none yet.
  var stretch: UnsafeMutablePointer<StretchHead>?
  var place: Int32 = 0
  /// Delayed cables that leave it.
  var delayedReaders: Int32 = 0
  /// Buffers of its outputs, if other pieces of the plan read them.
  var crossing: Crossing?
  /// Memory of the running sum of its first input; nil: too few cables. `isGathered`: its sources' `runningSum` is set.
  var ownSum: SumRoom?
  var isGathered = false
  /// The running sum that is the only reader of its output; nil: it has other readers.
  var runningSum: UnsafeMutablePointer<RunningSum>?
  /// Largest number of moving parameter values in one block.
  var parameterElements: Int32 = 0
  /// Bytes that a block may read from the slot on (`NodeMemory`).
  var hotBytes: UInt16 = 0
  /// True when its channel counts follow its cables.
  let hasFlexiblePorts: Bool
  let takesEvents: Bool
  let isSink: Bool
  /// The last of its outputs is `NodeKind.aheadOutput`.
  let hasAhead: Bool
  /// Its compiled step does not write that output, which has no reader.
  var isTrimmed = false
  /// Its first output may take the place of the sum at its first input.
  let worksInPlace: Bool
  /// Its kernel has nothing to do there.
  let passesOn: Bool
  /// Its kernel is never finished.
  let isEndless: Bool
  /// The parameters by whose modulation it may grow louder than its input: bits of `NodeSlot.bit(ofParameter:)`.
  let growingParameters: UInt64
  /// Its kernel may multiply each channel by a factor and add a number, and do nothing else.
  let isAffine, isAffineOfOneChannel: Bool
  /// The parameters that are its factor and its addend, and the inputs that are; negative: none.
  let factorParameter: Int16
  let addendParameter: Int16
  let factorInput: Int16
  let addendInput: Int16
  /// Its inputs may have other channel counts; `mayNarrow`: smaller ones.
  var isPending = false
  var mayNarrow = false
  /// Its counts are being recomputed.
  var isTouched = false
  /// Without input, it keeps its counts while it rings out.
  var isKept = false

  /// Initialises a row in place. The arrays behind it must be zeroed.
  init(of node: EngineNode) {
    self.node = .passUnretained(node)
    inputCount = UInt16(node.inputs.count)
    outputCount = UInt16(node.outputs.count)
    hasFlexiblePorts =
      (node.inputs + node.outputs).contains { $0.format == .flexible } || node.sizes.contains { $0 != nil }
    takesEvents = node.takesEvents
    isSink = node.isSink
    hasAhead = node.type?.aheadOutput != nil
    worksInPlace = node.type?.worksInPlace == true && inputCount > 0 && outputCount > 0
    passesOn = node.type?.passesOn == true
    isEndless = node.type?.isEndless == true
    growingParameters = node.type?.amplifiers?.reduce(0) { $0 | NodeSlot.bit(ofParameter: $1) } ?? .max
    isAffine = node.type?.isAffine == true
    isAffineOfOneChannel = node.type?.isAffineOfOneChannel == true
    factorParameter = Int16(node.type?.factorParameter ?? -1)
    addendParameter = Int16(node.type?.addendParameter ?? -1)
    factorInput = Int16(node.type?.factorInput ?? -1)
    addendInput = Int16(node.type?.addendInput ?? -1)
  }

  /// Initial channel counts.
  static func begin(_ row: Pointer, _ counts: [Int]) {
    for (index, count) in counts.enumerated() {
      row.channels[index] = Int32(count)
      row.counts[index] = UInt8(clamping: count)
      row.implied[index] = UInt8(clamping: count)
    }
  }

  /// Bytes of a row with its arrays.
  static func size(inputs: Int, outputs: Int) -> Int {
    MemoryLayout<NodeRow>.stride + (inputs + 2 * outputs) * MemoryLayout<Int32>.stride + 2
      * (inputs + outputs)
  }
}

extension UnsafeMutablePointer<NodeRow> {
  /// Its only output has a single reader.
  var isReadOnce: Bool { pointee.outputCount == 1 && readers[0] == 1 && pointee.delayedReaders == 0 }

  /// Sets the running sum to which it adds its output, and marks its steps for compilation if that changes it.
  func addTo(_ sum: UnsafeMutablePointer<RunningSum>?) {
    guard pointee.runningSum != sum else { return }
    pointee.runningSum = sum
    markStale()
  }

  /// Channels of kernels and buffers: of each audio input, then of each output.
  var channels: UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(self + 1).assumingMemoryBound(to: Int32.self)
  }
  var outputChannels: UnsafeMutablePointer<Int32> { channels + Int(pointee.inputCount) }
  /// Undelayed cables that leave each output.
  var readers: UnsafeMutablePointer<Int32> { outputChannels + Int(pointee.outputCount) }
  /// Document counts in use: of each audio input, then of each output.
  var counts: UnsafeMutablePointer<UInt8> {
    UnsafeMutableRawPointer(readers + Int(pointee.outputCount)).assumingMemoryBound(to: UInt8.self)
  }
  var implied: UnsafeMutablePointer<UInt8> { counts + Int(pointee.inputCount) + Int(pointee.outputCount) }
}

/// Hot data of a cable; owned by the cable.
struct CableRow: BitwiseCopyable {
  typealias Pointer = UnsafeMutablePointer<CableRow>

  /// The next cable into the same node.
  var next: Pointer?
  let source: NodeRow.Pointer
  var slot: UnsafeMutablePointer<CableSlot>?
  let cable: Unmanaged<EngineCable>
  /// Position among the outputs of its source; -1: events.
  let output: Int32
  /// Audio input of its destination; or `events`; or a parameter's code.
  let input: Int32
  /// Entries of its channel map; 0: no map.
  let mapCount: Int32
  /// Linear gain.
  var target: Float = 1
  /// Goes through a delay.
  let isDelayed: Bool
  /// Closes a cycle.
  let isFeedback: Bool
  /// Does not fade.
  var isSettled = true
  /// Connects each channel to the one of the same number, with no channels left over.
  var isStraight = false
  /// Brings its one channel to both channels of a stereo input.
  var isSpread = false
  /// True if it is in the patch.
  var isWanted = true
  /// Into a parameter: one value drives all channels.
  var isForAll = false
  /// Costs nothing: the input reads the source's buffer, if the channels fit.
  var isDirect = false
  /// The newest plan applies its gain, so a gain change needs no new plan.
  var isMixed = false

  static var events: Int32 { -1 }

  /// A parameter, or the element of it that the kernel modulates itself; negative: all of it.
  struct Target: Equatable {
    let parameter: Int
    let element: Int
  }

  /// Negative codes below `events` of sums that are added to parameters, and of those whose power of two multiplies them.
  private static let ratios: Int32 = 1 << 30
  private static let elements: Int32 = 1 << 16
  static func code(of target: Target, isRatio: Bool) -> Int32 {
    -2 - Int32(target.parameter) - Int32(target.element + 1) * elements - (isRatio ? ratios : 0)
  }

  /// The parameter that it modulates; nil: it leads to an input.
  var modulated: (target: Target, isRatio: Bool)? {
    guard input < Self.events else { return nil }
    let (place, isRatio) = (-2 - input, -2 - input >= Self.ratios)
    let rest = isRatio ? place - Self.ratios : place
    return (
      Target(parameter: Int(rest % Self.elements), element: Int(rest / Self.elements) - 1), isRatio
    )
  }

  /// Channels by the document that it brings; for audio cables.
  var impliedWidth: Int {
    if mapCount > 0 { return Int(mapCount) }
    return max(Int(source.implied[Int(source.pointee.inputCount) + Int(output)]), 1)
  }

  /// The running sum of its destination, if it leads there.
  var ownSum: UnsafeMutablePointer<RunningSum>? {
    input == 0 && !isDelayed ? cable.takeUnretainedValue().destination.row.pointee.ownSum?.record : nil
  }

  /// Gains from its channels to those of an input.
  func gains(to channels: Int) -> [ChannelGain] { cable.takeUnretainedValue().gains(to: channels) }
}

// What the plan compiler reads of nodes and cables: plain memory, one cache line each, so that a plan of
// many thousands is compiled without touching (and counting references to) as many objects. Worker.

/// Owned by its node.
struct NodeRow: BitwiseCopyable {
  var slot: UnsafeMutablePointer<NodeSlot>?
  /// The first cable into it, in the order in which they are summed.
  var incoming: UnsafeMutablePointer<CableRow>?
  /// Channels of each audio input, then of each output.
  var channels: UnsafeMutablePointer<Int32>
  var inputCount: Int32
  var outputCount: Int32
  /// Its place in the plan being compiled.
  var mark: Int32 = 0
  /// Values that its moving parameters may need in one block.
  var parameterElements: Int32 = 0
  /// Whether its channels follow what is connected.
  var hasFlexiblePorts: Bool
  var takesEvents: Bool
}

/// Owned by its cable.
struct CableRow: BitwiseCopyable {
  /// The next cable into the same node.
  var next: UnsafeMutablePointer<CableRow>?
  let source: UnsafeMutablePointer<NodeRow>
  var slot: UnsafeMutablePointer<CableSlot>?
  let cable: Unmanaged<EngineCable>
  /// Position among the outputs of its source; -1: events.
  let output: Int32
  /// The audio input of its destination; `events`; or `-2 - parameter`.
  let input: Int32
  /// Entries of its map; 0: no map.
  let mapCount: Int32
  /// Goes through its delay.
  let isDelayed: Bool
  /// Costs nothing: its source's buffer is the input, if its channels fit.
  var isDirect = false
  /// The newest plan applies its gain: it need not be compiled for another one.
  var isMixed = false

  static var events: Int32 { -1 }
}

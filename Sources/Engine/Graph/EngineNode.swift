import Patch
import Realtime
import Synchronization

/// Worker-side object of a running node, from preparation until it is freed.
///
/// Its identity is that of the patch's node together with its structural settings. When one of these changes,
/// another EngineNode takes over by crossfade.
final class EngineNode {
  struct Key: Hashable {
    var id: NodeID
    var kind: String
    var shape: [Float]
    /// Number of revivals before it.
    var revival = 0
    /// Saved state of a kind that has one.
    var state = ""
    /// Sound card of an endpoint's own.
    var device = ""
    /// The kind was unknown when it was made.
    var isPlaceholder = false

    /// A hash without `Hasher`: few nodes of one identity are there at a time.
    func _rawHashValue(seed: Int) -> Int { QuickHash.value(id.raw, seed: seed) }
  }

  var key: Key
  /// Unique over the engine's lifetime.
  let number: Int32
  var name: String
  /// nil for a placeholder.
  let type: NodeKind?
  /// Audio inputs and outputs, in the description's order.
  let inputs: [PortDescription]
  let outputs: [PortDescription]
  /// Channels of the kernel's audio inputs and outputs: the largest number since it was prepared.
  private(set) var inputChannels: [Int]
  private(set) var outputChannels: [Int]
  /// Channels last announced to the kernel.
  var preparedChannels: (inputs: [Int], outputs: [Int]) = ([], [])
  /// Its channels are notes: `DiscreteChannels` has found such a source upstream.
  var hasDiscreteChannels = false
  /// Parameter targets from the patch, by position, one value per element.
  var values: [[Float]]
  /// The lengths of notes among them, by position, in whole notes; nil for an element that is none.
  var noteLengths: [Int: [Double?]] = [:]
  /// The targets last sent to the audio thread. A parameter that once was a list keeps its elements. NaN is the length of a
  /// note, of which the audio thread makes a number (`NoteTable`).
  var sentValues: [[Float]]
  /// Positions of the parameters that maps move.
  var mapped: Set<Int> = []
  private(set) var slot: UnsafeMutablePointer<NodeSlot>! {
    didSet { row.pointee.slot = slot }
  }
  let row: NodeRow.Pointer
  private let rows: RowPool
  var kernelMemory: KernelMemory?
  /// Values for which the kernel's memory is large enough, where it follows them.
  private var reserve: (values: [[Float]], moving: Set<Int>)?
  private(set) var memory: NodeMemory?
  var resource: Resource?
  /// Instance of a kind that is only known at run time, and its preparation while that is under way.
  var instance: ForeignInstance?
  var preparation: Preparation?
  /// Reason why it passes nothing or plays its old file.
  var fault: String?
  var loading: FileLoad?
  var isLeaving = false
  /// Leaving, but audible until its tail is over.
  var isRinging = false
  var startedAt: Int64 = 0
  /// First driver channel, for endpoints; `DriverChannels.capacity` for one that found none free.
  var firstChannel: Int?
  /// Name of its ports at the driver, if not the node's own. For `midi`: the sender that it listens to.
  var portName: String?
  /// Patterns of what its ports are connected to; empty: the driver's choice.
  var connections = ""
  /// Number of the driver's MIDI port of a `midi` node; -1: no port is left.
  var midiPort: Int?
  var bytes = 0
  /// Cables into it, in summing order.
  var incoming: [EngineCable] = []
  var outgoing: [EngineCable] = []
  /// The sources of the sum of its cables, as the latest plan has them; nil: they are few.
  var wideSum: WideSum?
  /// Index in the graph.
  var index: Int32 {
    get { row.pointee.index }
    set { row.pointee.index = newValue }
  }
  /// Removed from the graph.
  var isGone = false
  /// Index in the plan under inspection.
  var inspectionIndex = 0
  /// Index in a pass over the execution order.
  var planIndex: Int { Int(row.pointee.planIndex) }

  var id: NodeID { key.id }
  var kind: String { key.kind }
  var endpoint: KindDescription.Endpoint? { type?.description.endpoint }
  /// True if events reach it, by cable or directly.
  var takesEvents: Bool { type?.takesEvents == true }
  /// Its tail is over: it is asleep, and no input can wake it.
  var hasRungOut = false
  /// Muted by the blast shield.
  var isMuted: Bool { slot?.pointee.isMuted == true }
  /// Bytes that the system lacked for its kernel. The node has no kernel then, and is silent. 0: it has one.
  private(set) var lack = 0
  /// The reason for that.
  var lackWords: String? { lack == 0 ? nil : "there is no memory for its \(lack >> 20) MB" }
  /// The kind whose kernel it has; nil: none.
  private var kernelType: NodeKind? { lack == 0 ? type : nil }
  /// An edit gives it another chance: a new node takes over.
  var isRevivable: Bool { isMuted || lack != 0 }
  /// The signal path ends here, so no node downstream could fade in its place.
  let isSink: Bool
  /// By port, inputs first: position of the parameter that states its channels, where they may change while the node lives.
  let sizes: [Int?]
  /// Latency, in frames.
  var latency: Int32 = 0

  init(
    key: Key, number: Int32, name: String, type: NodeKind?, inputs: [PortDescription],
    outputs: [PortDescription], values: [[Float]], firstChannel: Int?, rows: RowPool
  ) {
    self.key = key
    self.number = number
    self.name = name
    self.type = type
    func channels(of parameter: String) -> Int {
      type?.description.parameters.firstIndex { $0.name == parameter }.map { Int(values[$0][0]) } ?? 1
    }
    /// A port without a number of channels has as many as come.
    func settled(_ port: PortDescription) -> PortDescription {
      guard case .parameter(let name) = port.format, channels(of: name) == 0 else { return port }
      var port = port
      port.format = .flexible
      return port
    }
    self.inputs = inputs.map(settled)
    self.outputs = outputs.map(settled)
    self.values = values
    sentValues = values
    self.firstChannel = firstChannel
    // One that sends events must run before those who get them.
    isSink = outputs.isEmpty && !inputs.isEmpty && type?.description.outputs.isEmpty != false
    func channels(_ port: PortDescription) -> Int {
      switch port.format {
      case .events: 0
      case .channels(let count): count
      case .parameter(let name): channels(of: name)
      case .flexible: 1
      }
    }
    sizes = (self.inputs + self.outputs).map { type?.description.sizeParameter(of: $0) }
    inputChannels = self.inputs.map(channels)
    outputChannels = self.outputs.map(channels)
    self.rows = rows
    row = rows.allocate(NodeRow.size(inputs: inputs.count, outputs: outputs.count))
      .bindMemory(to: NodeRow.self, capacity: 1)
    row.initialize(to: NodeRow(of: self))
    NodeRow.begin(row, inputChannels + outputChannels)
  }

  deinit { rows.recycle(row, NodeRow.size(inputs: inputs.count, outputs: outputs.count)) }

  /// Adopts the channel counts of its row.
  func adoptChannels() {
    for index in inputChannels.indices { inputChannels[index] = Int(row.channels[index]) }
    for index in outputChannels.indices {
      outputChannels[index] = Int(row.outputChannels[index])
    }
    wideSum = nil
    row.markStale()
  }

  /// Its kernel holds what the musician recorded, and the patch does not.
  var isRecorder: Bool { kernelType?.isRecorder == true && !isMuted }

  /// Allocates its state for its present channel counts. `old`: a node of the same key that no plan has any more; its
  /// kernel's memory becomes this one's, and the audio thread is still to copy its state. Worker.
  func prepare(
    rate: Double, quality: SampleQuality?, noEvents: UnsafeMutablePointer<EventQueue>, pools: NodePools,
    adopting old: EngineNode?
  ) {
    if type?.memoryFollowsValues == true { reserve = (values, modulated) }
    var configuration = configuration(rate: rate)
    configuration.quality = quality
    configuration.moving = reserve?.moving ?? []
    let size = type?.memorySize(configuration) ?? 0
    let whole = old?.kernelMemory ?? pools.kernels.allocateIfThere(size)
    old?.kernelMemory = nil
    lack = whole == nil ? size : 0
    bytes = size - lack + (type?.size ?? 0)
    let inner = whole ?? pools.kernels.allocate(0)
    kernelMemory = inner
    let memory = NodeMemory(node: self, pools: pools)
    self.memory = memory
    if old == nil { kernelType?.initialize(memory.kernel, configuration, inner.base) }
    sentValues = values.indices.map { index in
      noteLengths[index] == nil ? values[index] : marked(values[index], index)
    }
    preparedChannels = (inputChannels, outputChannels)
    for index in values.indices {
      let description = type?.description.parameters[index]
      let kind: ParameterState.Kind =
        switch description?.smoothing {
        case .ramp: .ramp
        case .crossfade: .crossfade
        default: .none
        }
      memory.initialize(index, kind: kind, values: kind == .none ? [] : values[index])
    }
    if let position = countPosition {
      memory.initialize(position, kind: .crossfade, values: [Float(inputPort(0).count)])
    }
    let isSender = type?.description.outputs.contains(where: \.isEvents) == true
    memory.slot.initialize(
      to: NodeSlot(
        parameters: memory.parameters, streams: memory.streams, crossfades: memory.crossfades,
        events: takesEvents ? Self.makeQueue() : noEvents, eventOutput: isSender ? Self.makeQueue() : nil,
        meters: memory.meters, parameterCount: Int32(parameterCount), number: number, kernel: memory.kernel,
        tag: kernelType?.tag ?? .placeholder,
        tracesNotes: type?.description.inputs.contains(where: \.isEvents) == true && !outputs.isEmpty,
        runsInParts: !takesEvents && !isSender && endpoint == nil,
        readingCount: UInt8(memory.readingCount), meterCount: UInt16(clamping: memory.meterCount)))
    slot = memory.slot
    slot.pointee.amplifies = type?.mayAmplify(values) ?? false
    slot.pointee.hasReadings = memory.readingCount > 0
    row.pointee.parameterElements = Int32(memory.mostRamps)
    row.pointee.hotBytes = UInt16(clamping: memory.hotSize)
  }

  /// The command that gives a parameter memory for so many elements, and for the node's channels; nil if it has that.
  /// Worker.
  func makeRoom(for elements: Int, of parameter: Int) -> Command? {
    memory?.makeRoom(for: elements, channels: mainChannels.width, of: parameter).map {
      .makeRoom(slot, parameter: Int32(parameter), $0)
    }
  }

  /// The command that gives it meters for its present channels; nil if it has those. Worker.
  func makeMeters() -> Command? {
    guard let meters = memory?.makeMeters(for: outputChannels.reduce(0, +)), let count = memory?.meterCount
    else { return nil }
    return .meters(slot, meters, count: Int32(count))
  }

  private static func makeQueue() -> UnsafeMutablePointer<EventQueue> {
    let queue = UnsafeMutablePointer<EventQueue>.allocate(capacity: 1)
    queue.initialize(to: EventQueue())
    return queue
  }

  func configuration(rate: Double) -> KernelConfiguration {
    var values = values
    if let firstChannel { values.append([Float(firstChannel)]) }
    if let midiPort { values.append([Float(midiPort)]) }
    // FNV-1a hash of the name: a node of the same name gets the same random numbers.
    let seed = name.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
    return KernelConfiguration(
      rate: rate, inputs: inputChannels, outputs: outputChannels, values: values, seed: seed)
  }

  /// Allocates memory for its present channel counts, with the command that moves the state there. nil if
  /// `inputs` and `outputs`, the counts before, are the same. Free the garbage after the command has been
  /// executed.
  func widen(inputs: [Int], outputs: [Int], rate: Double) -> (command: Command, garbage: [KernelMemory])? {
    guard inputs != inputChannels || outputs != outputChannels else { return nil }
    return move(from: inputs, outputs, rate: rate)
  }

  /// The same for values that its memory is too small for, or for parameters that begin to move; call it before they
  /// do, and before its channels change. nil if the memory is large enough.
  func grow(rate: Double) -> (command: Command, garbage: [KernelMemory])? {
    guard slot != nil, let type = kernelType, let reserve else { return nil }
    let before = type.memorySize(largestConfiguration(rate: rate))
    let moved = values.indices.filter {
      type.description.parameters[$0].smoothing == .ramp && values[$0] != reserve.values[$0]
    }
    self.reserve = (values, reserve.moving.union(modulated).union(moved))
    if type.memorySize(largestConfiguration(rate: rate)) > before {
      return move(from: inputChannels, outputChannels, rate: rate)
    }
    self.reserve?.values = reserve.values
    return nil
  }

  /// Positions of the parameters into which cables lead, or that maps or the tempo move.
  private var modulated: Set<Int> {
    mapped.union(noteLengths.keys).union(
      incoming.compactMap { if case .parameter(let position, _) = $0.input { position } else { nil } })
  }

  /// Values that its memory is sized for.
  func largestConfiguration(rate: Double) -> KernelConfiguration {
    var configuration = configuration(rate: rate)
    if let reserve { (configuration.values, configuration.moving) = reserve }
    return configuration
  }

  private func move(
    from inputs: [Int], _ outputs: [Int], rate: Double
  ) -> (command: Command, garbage: [KernelMemory])? {
    guard let old = kernelMemory else { return nil }
    let size = kernelType?.memorySize(largestConfiguration(rate: rate)) ?? 0
    let memory = old.another(size)
    kernelMemory = memory
    bytes = size + (type?.size ?? 0)
    let counts = old.another(Widening.size(inputs: inputs.count, outputs: outputs.count))
    let widening = Widening(
      inputs: inputs, outputs: outputs, toInputs: inputChannels, outputs: outputChannels, bytes: size,
      isDiscrete: hasDiscreteChannels, at: counts.base)
    return (.widen(slot, memory: memory.base, widening), [old, counts])
  }

  /// Call this after the audio thread has released it. Worker.
  func free() {
    guard let slot else { return }
    if memory != nil { kernelType?.release(slot.pointee.kernel) }
    if takesEvents {
      slot.pointee.events.pointee.deallocate()
      slot.pointee.events.deallocate()
    }
    slot.pointee.eventOutput?.pointee.deallocate()
    slot.pointee.eventOutput?.deallocate()
    slot.deinitialize(count: 1)
    memory?.deallocate()
    memory = nil
    kernelMemory?.deallocate()
    self.slot = nil
    resource = nil
    instance = nil
  }
}

import Patch
import Realtime
import Synchronization

/// The worker's side of a node that sounds, from preparation until it is freed.
///
/// Its identity is that of the patch's node and the settings that its shape depends on: when one of
/// those changes, another EngineNode takes over by crossfade.
final class EngineNode {
  struct Key: Hashable {
    var id: NodeID
    var kind: String
    var shape: [Float]
    /// How often it was revived.
    var life = 0
  }

  let key: Key
  /// Unique among all nodes that ever were.
  let number: Int32
  var name: String
  /// nil for a placeholder.
  let type: KernelType?
  /// Audio inputs and outputs, in the description's order.
  let inputs: [PortDescription]
  let outputs: [PortDescription]
  /// Channels of the kernel's audio inputs and outputs: as many as there have been since it was prepared.
  private(set) var inputChannels: [Int]
  private(set) var outputChannels: [Int]
  /// The channels that its kernel has been told of.
  var preparedChannels: (inputs: [Int], outputs: [Int]) = ([], [])
  /// Targets of its parameters by the patch, by the parameter's position, one an element.
  var values: [[Float]]
  /// The same as the audio thread was told. What was a list once has its elements from then on.
  var sentValues: [[Float]]
  private(set) var slot: UnsafeMutablePointer<NodeSlot>! {
    didSet { row.pointee.slot = slot }
  }
  let row: NodeRow.Pointer
  private let rows: RowPool
  var kernelMemory: KernelMemory?
  private var memory: NodeMemory?
  var resource: Resource?
  /// Why it passes nothing, or plays its old file.
  var fault: String?
  var loading: FileLoad?
  var isLeaving = false
  /// Leaving, but heard until nothing more comes from it.
  var isRinging = false
  var startedAt: Int64 = 0
  /// For endpoints: the first of its driver channels.
  var firstChannel: Int?
  /// What its ports are called at the driver, if not as it is; whom its MIDI port hears.
  var portName: String?
  /// For `midi`: which of the driver's MIDI ports; -1: there are too many.
  var midiPort: Int?
  var bytes = 0
  /// Cables into it, in the order in which they are summed.
  var incoming: [EngineCable] = []
  var outgoing: [EngineCable] = []
  /// Its place in the graph.
  var index: Int32 = 0
  /// No longer in the graph.
  var isGone = false
  /// Its place in the plan that is being looked at.
  var place = 0
  /// Its place in the plan being compiled.
  var mark: Int { Int(row.pointee.mark) }

  var id: NodeID { key.id }
  var kind: String { key.kind }
  /// By cable or directly.
  var takesEvents: Bool { type?.takesEvents == true }
  /// It rings no more: it has fallen asleep, and nothing comes in that could wake it.
  var hasRungOut = false
  /// By the blast shield.
  var isMuted: Bool { slot?.pointee.isMuted == true }
  /// Sound ends here: nothing behind it could fade in its place.
  let isSink: Bool
  /// Frames that its sound is late.
  var latency: Int32 = 0

  init(
    key: Key, number: Int32, name: String, type: KernelType?, inputs: [PortDescription],
    outputs: [PortDescription], values: [[Float]], firstChannel: Int?, rows: RowPool
  ) {
    self.key = key
    self.number = number
    self.name = name
    self.type = type
    self.inputs = inputs
    self.outputs = outputs
    self.values = values
    sentValues = values
    self.firstChannel = firstChannel
    isSink = outputs.isEmpty && !inputs.isEmpty
    func channels(_ port: PortDescription) -> Int {
      switch port.format {
      case .events: 0
      case .channels(let count): count
      case .parameter(let name):
        type?.description.parameters.firstIndex { $0.name == name }.map { Int(values[$0][0]) } ?? 1
      case .flexible: 1
      }
    }
    inputChannels = inputs.map(channels)
    outputChannels = outputs.map(channels)
    self.rows = rows
    row = rows.take(NodeRow.size(inputs: inputs.count, outputs: outputs.count))
      .bindMemory(to: NodeRow.self, capacity: 1)
    row.initialize(to: NodeRow(of: self))
    NodeRow.begin(row, inputChannels + outputChannels)
  }

  deinit { rows.give(row, NodeRow.size(inputs: inputs.count, outputs: outputs.count)) }

  /// Takes up the channels that its row has now.
  func takeChannels() {
    for index in inputChannels.indices { inputChannels[index] = Int(row.channels[index]) }
    for index in outputChannels.indices {
      outputChannels[index] = Int(row.outputChannels[index])
    }
  }

  /// Allocates its state for the channels that it has by now. Worker.
  func prepare(
    rate: Double, quality: SampleQuality, noEvents: UnsafeMutablePointer<EventQueue>, pools: NodePools
  ) {
    var configuration = configuration(rate: rate)
    configuration.quality = quality
    let size = type?.memorySize(configuration) ?? 0
    bytes = size + (type?.size ?? 0)
    let inner = pools.kernels.take(size)
    kernelMemory = inner
    let memory = NodeMemory(node: self, pools: pools)
    self.memory = memory
    type?.initialize(memory.kernel, configuration, inner.base)
    sentValues = values
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
        tag: type?.tag ?? .none,
        tracesNotes: type?.description.inputs.contains(where: \.isEvents) == true && !outputs.isEmpty,
        amplifies: type?.mayAmplify(values) ?? false, meterCount: UInt16(clamping: memory.meterCount)))
    slot = memory.slot
    row.pointee.parameterElements = (0..<parameterCount).reduce(0) {
      $0 + Int32(memory.parameters[$1].capacity)
    }
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
    // FNV-1a of the name: the same node of the same file gets the same random numbers.
    let seed = name.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
    return KernelConfiguration(
      rate: rate, inputs: inputChannels, outputs: outputChannels, values: values, seed: seed)
  }

  /// Memory for the channels that it has by now, and the command that moves the state there, if they are more
  /// than they were (`inputs`, `outputs`). The old memory is to be freed once the command has been executed.
  func widen(inputs: [Int], outputs: [Int], rate: Double) -> (command: Command, old: KernelMemory)? {
    guard let old = kernelMemory, inputs != inputChannels || outputs != outputChannels else { return nil }
    let size = type?.memorySize(configuration(rate: rate)) ?? 0
    let memory = old.another(size)
    kernelMemory = memory
    bytes = size + (type?.size ?? 0)
    return (
      .widen(
        slot, memory: memory.base,
        Widening(inputs: inputs, outputs: outputs, toInputs: inputChannels, outputs: outputChannels)), old
    )
  }

  /// After the audio thread has let go of it. Worker.
  func free() {
    guard let slot else { return }
    if memory != nil { type?.release(slot.pointee.kernel) }
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
  }
}

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
  /// Grown by the compiler, never shrunk: channels of each audio input and output.
  var inputChannels: [Int]
  var outputChannels: [Int]
  /// What its parameters go to, by the parameter's position, one an element.
  var values: [[Float]]
  private(set) var slot: UnsafeMutablePointer<NodeSlot>!
  private(set) var kernelMemory: UnsafeMutableRawPointer?
  private var memory: NodeMemory?
  var resource: Resource?
  /// Why it passes nothing.
  var fault: String?
  var isLeaving = false
  var startedAt: Int64 = 0
  /// For endpoints: the first of its driver channels.
  var firstChannel: Int?
  var bytes = 0
  /// Values that its moving parameters may need in one block.
  private(set) var parameterElements = 0
  /// Whether its channels follow what is connected.
  let hasFlexiblePorts: Bool
  /// Cables into it, in the order in which they are summed.
  var incoming: [EngineCable] = []
  var outgoing: [EngineCable] = []
  /// Its place in the graph.
  var index: Int32 = 0
  /// No longer in the graph.
  var isGone = false
  /// Its place in the plan being compiled.
  var mark = 0

  var id: NodeID { key.id }
  var kind: String { key.kind }
  /// By cable or directly.
  var takesEvents: Bool { type?.takesEvents == true }
  /// Sound ends here: nothing behind it could fade in its place.
  var isSink: Bool { outputs.isEmpty && !inputs.isEmpty }

  init(
    key: Key, number: Int32, name: String, type: KernelType?, inputs: [PortDescription],
    outputs: [PortDescription], values: [[Float]], firstChannel: Int?
  ) {
    self.key = key
    self.number = number
    self.name = name
    self.type = type
    self.inputs = inputs
    self.outputs = outputs
    self.values = values
    self.firstChannel = firstChannel
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
    hasFlexiblePorts = (inputs + outputs).contains { $0.format == .flexible }
  }

  /// Allocates its state for the channels that it has by now. Worker.
  func prepare(rate: Double, noEvents: UnsafeMutablePointer<EventQueue>, pool: SlotPool) {
    let configuration = configuration(rate: rate)
    let size = type?.memorySize(configuration) ?? 0
    bytes = size + (type?.size ?? 0)
    let inner = Self.zeroed(size)
    kernelMemory = inner
    let memory = NodeMemory(node: self, pool: pool)
    self.memory = memory
    type?.initialize(memory.kernel, configuration, inner)
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
    let isSender = type?.description.outputs.contains(where: \.isEvents) == true
    memory.slot.initialize(
      to: NodeSlot(
        parameters: memory.parameters, streams: memory.streams, crossfades: memory.crossfades,
        events: takesEvents ? Self.makeQueue() : noEvents, eventOutput: isSender ? Self.makeQueue() : nil,
        peaks: memory.peaks, parameterCount: Int32(values.count), number: number, kernel: memory.kernel,
        tag: type?.tag ?? .none,
        tracesNotes: type?.description.inputs.contains(where: \.isEvents) == true && !outputs.isEmpty,
        peakCount: UInt16(clamping: memory.peakCount)))
    slot = memory.slot
    parameterElements = values.indices.reduce(0) { $0 + Int(memory.parameters[$1].capacity) }
  }

  private static func makeQueue() -> UnsafeMutablePointer<EventQueue> {
    let queue = UnsafeMutablePointer<EventQueue>.allocate(capacity: 1)
    queue.initialize(to: EventQueue())
    return queue
  }

  /// Zeroed, aligned, every page touched. Worker.
  static func zeroed(_ size: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(size, 64), alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: max(size, 64))
    return memory
  }

  func configuration(rate: Double) -> KernelConfiguration {
    var values = values
    if let firstChannel { values.append([Float(firstChannel)]) }
    // FNV-1a of the name: the same node of the same file gets the same random numbers.
    let seed = name.utf8.reduce(14_695_981_039_346_656_037 as UInt64) {
      ($0 ^ UInt64($1)) &* 1_099_511_628_211
    }
    return KernelConfiguration(
      rate: rate, inputs: inputChannels, outputs: outputChannels, values: values, seed: seed)
  }

  /// Memory for the channels that it has by now, and the command that moves the state there. The old
  /// memory is to be freed once the command has been executed. Worker.
  func widen(rate: Double) -> (command: Command, old: UnsafeMutableRawPointer?) {
    let size = type?.memorySize(configuration(rate: rate)) ?? 0
    let old = kernelMemory
    let memory = Self.zeroed(size)
    kernelMemory = memory
    bytes = size + (type?.size ?? 0)
    return (
      .widen(
        slot, memory: memory, inputs: Int32(inputChannels.first ?? 0),
        outputs: Int32(outputChannels.first ?? 0)), old
    )
  }

  /// After the audio thread has let go of it. Worker.
  func free() {
    guard let slot else { return }
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

/// The worker's side of a cable that sounds.
final class EngineCable {
  enum Destination: Hashable {
    case audio(Int)
    /// Added to the parameter at this position.
    case parameter(Int)
    case events
  }

  /// A cable with another map, or through the feedback delay, is another cable: the two crossfade.
  struct Key: Hashable {
    var source: Int32
    var sourcePort: String
    var destination: Int32
    var destinationPort: String
    var map: ChannelMap?
    var mixing: ChannelMixing
    var isFeedback: Bool
  }

  let key: Key
  /// Unique among all cables that ever were: those between the same two ports are summed by age.
  let number: Int32
  let source: EngineNode
  /// Position among the source's audio outputs; nil for events.
  let output: Int?
  let destination: EngineNode
  let input: Destination
  /// Linear.
  var target: Float
  var isLeaving = false
  /// Among the graph's unsettled cables.
  var isUnsettled = false
  /// No longer in the graph.
  var isGone = false
  /// The newest plan applies its gain: it need not be compiled for another one.
  var isMixed = false
  /// The end of its fade, while it fades.
  enum Settling {
    case unsent(frames: Int)
    /// So many frames after the transaction of this serial is executed.
    case after(transaction: Int, frames: Int)
    case at(Int64)
  }

  var settling: Settling?
  /// What the audio thread's ramp does, followed from here to know when a fade is as good as over
  /// although edits keep arriving.
  private var mirror: Ramp
  private var mirrorTime: Int64 = 0
  private(set) var slot: UnsafeMutablePointer<CableSlot>!

  init(key: Key, number: Int32, route: CableWish.Route, target: Float) {
    self.key = key
    self.number = number
    source = route.source
    output = route.output
    destination = route.destination
    input = route.input
    self.target = target
    mirror = Ramp(target)
  }

  /// Follows a gain command that takes effect at `time`.
  func mirrorMove(over frames: Int, at time: Int64) {
    mirror.skip(Int(clamping: time - mirrorTime))
    mirrorTime = time
    mirror.move(to: target, over: frames)
  }

  /// Its linear gain at `time`.
  func gain(at time: Int64) -> Float {
    var ramp = mirror
    ramp.skip(Int(clamping: max(0, time - mirrorTime)))
    return ramp.value
  }

  var carriesEvents: Bool { output == nil }

  func prepare(gain: Float, startsEmpty: Bool) {
    mirror = Ramp(gain)
    slot = .allocate(capacity: 1)
    slot.initialize(
      to: CableSlot(
        gain: gain, feedbackChannels: key.isFeedback ? 64 : 0, carriesEvents: carriesEvents,
        startsEmpty: startsEmpty))
  }

  func free() {
    guard let slot else { return }
    slot.pointee.deallocate()
    slot.deinitialize(count: 1)
    slot.deallocate()
    self.slot = nil
  }
}

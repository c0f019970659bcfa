import CKind
import Realtime

/// Kernel of a kind that is only known at run time: it calls the kind's C functions. It is silent until its
/// instance has been prepared; an instance that arrives later fades in.
struct ForeignKernel: Kernel {
  static var description: Void { () }

  /// Seconds of the fade of an instance that arrives while the node runs.
  private static var fade: Float { @_noLocks get { 0.01 } }
  /// Events that one block can bring or send.
  private static var eventCapacity: Int { @_noLocks get { EventQueue.capacity } }

  private let inputCount: Int
  private let outputCount: Int
  private let parameterCount: Int
  private let inputs: UnsafeMutablePointer<sostenuto_input>
  private let outputs: UnsafeMutablePointer<sostenuto_output>
  private let parameters: UnsafeMutablePointer<sostenuto_parameter>
  private let events: UnsafeMutablePointer<sostenuto_event>
  private let sent: UnsafeMutablePointer<sostenuto_event>
  private let view: UnsafeMutablePointer<sostenuto_block>
  private let gains: UnsafeMutablePointer<Float>
  private var handle: UnsafePointer<ForeignHandle>?
  private var hasRun = false
  private var entry = Ramp(1)
  /// The fade begins with the next block.
  private var isNew = false

  /// Places of the arrays in the kernel's memory, which begin on 64-byte boundaries.
  private struct Layout {
    var size = 0

    mutating func place<T>(_ type: T.Type, _ count: Int) -> Int {
      defer { size += (count * MemoryLayout<T>.stride + 63) & ~63 }
      return size
    }
  }

  static func memorySize(_ configuration: KernelConfiguration) -> Int {
    var layout = Layout()
    _ = layout.place(sostenuto_input.self, configuration.inputs.count)
    _ = layout.place(sostenuto_output.self, configuration.outputs.count)
    _ = layout.place(sostenuto_parameter.self, configuration.values.count)
    for _ in 0..<2 { _ = layout.place(sostenuto_event.self, eventCapacity) }
    _ = layout.place(sostenuto_block.self, 1)
    _ = layout.place(Float.self, blockCapacity)
    return layout.size
  }

  init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    inputCount = configuration.inputs.count
    outputCount = configuration.outputs.count
    parameterCount = configuration.values.count
    var layout = Layout()
    func take<T>(_ type: T.Type, _ count: Int) -> UnsafeMutablePointer<T> {
      (memory + layout.place(type, count)).bindMemory(to: type, capacity: count)
    }
    inputs = take(sostenuto_input.self, inputCount)
    outputs = take(sostenuto_output.self, outputCount)
    parameters = take(sostenuto_parameter.self, parameterCount)
    events = take(sostenuto_event.self, Self.eventCapacity)
    sent = take(sostenuto_event.self, Self.eventCapacity)
    view = take(sostenuto_block.self, 1)
    gains = take(Float.self, blockCapacity)
  }

  @_noLocks mutating func use(_ resource: UnsafeMutablePointer<ResourceHeader>?) {
    guard let resource else { return }
    handle = UnsafeRawPointer(resource).assumingMemoryBound(to: ForeignHandle.self)
    isNew = hasRun
  }

  @_noLocks mutating func process(_ block: Block) -> Activity {
    hasRun = true
    guard let handle else { return .silent }
    if isNew {
      isNew = false
      entry = Ramp(0)
      entry.move(to: 1, over: Int(Self.fade * block.rate))
    }
    show(block)
    let sounds = callProcess(handle.pointee.functions, handle.pointee.instance, view)
    if let queue = block.eventOutput { send(queue) }
    guard entry.isMoving else { return sounds ? .sounding : .silent }
    entry.fill(gains, frames: block.frames)
    if sounds { fadeIn(block) }
    return sounds ? .sounding : .silent
  }

  /// Writes the block as C sees it.
  @_noLocks private func show(_ block: Block) {
    view.pointee.time = block.time
    view.pointee.frames = Int32(truncatingIfNeeded: block.frames)
    view.pointee.rate = block.rate
    view.pointee.inputs = UnsafePointer(inputs)
    view.pointee.outputs = UnsafePointer(outputs)
    view.pointee.parameters = UnsafePointer(parameters)
    view.pointee.events = UnsafePointer(events)
    view.pointee.sent = sent
    view.pointee.sent_capacity = Int32(truncatingIfNeeded: Self.eventCapacity)
    view.pointee.sent_count = 0
    var index = 0
    while index < inputCount {
      let input = block.inputs[index]
      inputs[index].channels = UnsafeRawPointer(input.channels)
        .assumingMemoryBound(to: UnsafePointer<Float>?.self)
      inputs[index].count = Int32(truncatingIfNeeded: input.count)
      inputs[index].is_silent = input.isSilent
      inputs[index].is_connected = input.isConnected
      index &+= 1
    }
    index = 0
    while index < outputCount {
      let output = block.outputs[index]
      outputs[index].samples = output.base
      outputs[index].count = Int32(truncatingIfNeeded: output.count)
      outputs[index].is_read = output.isRead
      index &+= 1
    }
    index = 0
    while index < parameterCount {
      let stream = block.parameters[index]
      parameters[index].values = stream.values
      parameters[index].stream = stream.stream
      parameters[index].elements = Int32(truncatingIfNeeded: stream.elements)
      index &+= 1
    }
    let queue = block.events
    let count = queue.pointee.count < Self.eventCapacity ? queue.pointee.count : Self.eventCapacity
    view.pointee.event_count = Int32(truncatingIfNeeded: count)
    index = 0
    while index < count {
      let event = queue.pointee[index]
      events[index].type = number(of: event.kind)
      events[index].channel = event.channel
      events[index].key = event.key
      events[index].value = event.value
      events[index].offset = event.offset
      events[index].detail = event.detail
      events[index].time = event.time
      index &+= 1
    }
  }

  /// Passes on the events that the instance sent; unknown types are dropped.
  @_noLocks private func send(_ queue: UnsafeMutablePointer<EventQueue>) {
    let count = Int(view.pointee.sent_count)
    var index = 0
    while index < count, index < Self.eventCapacity {
      let event = sent[index]
      index &+= 1
      guard let kind = eventKind(event.type) else { continue }
      queue.pointee.append(
        Event(
          kind, channel: event.channel, key: event.key, value: event.value, offset: event.offset,
          detail: event.detail, time: event.time))
    }
  }

  @_noLocks private func fadeIn(_ block: Block) {
    var port = 0
    while port < outputCount {
      let output = block.outputs[port]
      var channel = 0
      while output.isRead, channel < output.count {
        var frame = 0
        while frame < block.frames {
          output[channel][frame] *= gains[frame]
          frame &+= 1
        }
        channel &+= 1
      }
      port &+= 1
    }
  }

  @_noLocks mutating func isFinished() -> Bool {
    guard let handle else { return true }
    return callIsFinished(handle.pointee.functions, handle.pointee.instance)
  }

  @_noLocks mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    guard let handle else { return }
    callSet(
      handle.pointee.functions, handle.pointee.instance, Int32(truncatingIfNeeded: parameter),
      Int32(truncatingIfNeeded: element), value, Int32(truncatingIfNeeded: frames))
  }

  var voices: Int {
    @_noLocks get {
      guard let handle else { return 0 }
      return Int(callVoices(handle.pointee.functions, handle.pointee.instance))
    }
  }

  @_noLocks func reading(_ position: Int) -> Float {
    guard let handle else { return 0 }
    return callReading(
      handle.pointee.functions, handle.pointee.instance, Int32(truncatingIfNeeded: position))
  }
}

/// An instance as the audio thread sees it.
struct ForeignHandle {
  /// Stands first, since it is handed over as a resource.
  var header: ResourceHeader
  let functions: UnsafePointer<sostenuto_kind>
  let instance: UnsafeMutableRawPointer
}

import Glibc
import Patch
import Realtime
import Testing

@testable import Processors

/// Drives one kernel as the renderer does: blocks within 64-frame boundaries, smoothed parameters, crossfades
/// that end at such boundaries, and sleep where the kernel allows it: after a quiet 64-frame cell, until the
/// start of the cell in which something comes.
final class KernelBench<K: Kernel> {
  /// Block lengths, repeated in turn.
  struct Split {
    var lengths: [Int]
    static var whole: Self { Self(lengths: [64]) }
  }

  struct Move {
    var frame: Int
    var parameter: Int
    var element = 0
    var value: Float
    var over: Int
  }

  let description: KindDescription
  var rate: Double
  var time: Int64 = 0
  /// Signals at the audio inputs, by port, channel and frame; silent after their end.
  var inputs: [[[Float]]]
  /// Signals added to parameters, by parameter index: one per element, or one for all.
  var modulation: [Int: [[Float]]] = [:]
  var moves: [Move] = []
  var events: [(frame: Int, event: Event)] = []
  /// Musical time, and its changes.
  var transport: Transport?
  var changes: [(frame: Int, change: TransportChange)] = []
  /// Events that the kernel sent on its event output.
  private(set) var sentEvents: [(frame: Int, event: Event)] = []
  /// Blocks that the kernel slept through.
  private(set) var sleptBlocks = 0
  var kernel: K

  private let outputCounts: [Int]
  private var ramps: [[Ramp]]
  private var fades: [Crossfade]
  private var memories: [UnsafeMutableRawPointer] = []
  private(set) var memoryBytes = 0
  /// Values and moving parameters for which the memory is large enough.
  private var reserve: (values: [[Float]], moving: Set<Int>)
  /// Memory that the kernel has left, filled with NaN, and its bytes.
  private var left: [(memory: UnsafeMutableRawPointer, bytes: Int)] = []
  private var isAsleep = false
  /// Nothing has come in since the 64-frame cell began.
  private var isCellQuiet = true
  private let zeros: UnsafeMutablePointer<Float>
  private let eventsIn: UnsafeMutablePointer<EventQueue>
  private let eventsOut: UnsafeMutablePointer<EventQueue>
  let driverInputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  let driverOutputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  private var positionOfInputs = 0

  init(
    _ type: K.Type, _ description: KindDescription, inputs: [[[Float]]] = [], outputs: [Int],
    _ values: [Int: [Float]] = [:], rate: Double = 48000, extra: Float? = nil, seed: UInt64 = 7
  ) {
    self.description = description
    self.inputs = inputs
    self.rate = rate
    outputCounts = outputs
    var all = description.parameters.enumerated().map { index, parameter in
      values[index] ?? [Self.plain(parameter)]
    }
    if let extra { all.append([extra]) }
    let configuration = KernelConfiguration(
      rate: rate, inputs: inputs.map(\.count), outputs: outputs, values: all, seed: seed)
    reserve = (all, [])
    ramps = all.map { $0.map { Ramp($0) } }
    fades = all.map { Crossfade($0[0]) }
    let bytes = K.memorySize(configuration)
    let memory = Self.memory(bytes)
    kernel = K(configuration, memory: memory)
    memories = [memory]
    memoryBytes = bytes
    zeros = .allocate(capacity: blockCapacity)
    zeros.initialize(repeating: 0, count: blockCapacity)
    eventsIn = .allocate(capacity: 1)
    eventsIn.initialize(to: EventQueue())
    eventsOut = .allocate(capacity: 1)
    eventsOut.initialize(to: EventQueue())
    driverInputs = .allocate(capacity: DriverChannels.capacity)
    driverInputs.initialize(repeating: nil, count: DriverChannels.capacity)
    driverOutputs = .allocate(capacity: DriverChannels.capacity)
    driverOutputs.initialize(repeating: nil, count: DriverChannels.capacity)
  }

  deinit {
    memories.forEach { $0.deallocate() }
    zeros.deallocate()
    eventsIn.pointee.deallocate()
    eventsOut.pointee.deallocate()
    eventsIn.deallocate()
    eventsOut.deallocate()
    driverInputs.deallocate()
    driverOutputs.deallocate()
  }

  /// Default of a parameter, in the kernel's unit.
  static func plain(_ parameter: ParameterDescription) -> Float {
    switch parameter.defaultValue {
    case .number(let number, .decibels): return linear(number)
    case .number(let number, _): return Float(number)
    case .text(let word):
      if case .choice(let words) = parameter.form { return Float(words.firstIndex(of: word) ?? 0) }
      return 0
    case .list: return 0
    }
  }

  private static var guardBytes: Int { 256 }

  private static func memory(_ bytes: Int) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: bytes + guardBytes, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytes)
    (memory + bytes).initializeMemory(as: UInt8.self, repeating: 0xa5, count: guardBytes)
    return memory
  }

  /// No write went beyond the memory that the kernel asked for, nor to memory that it has left.
  var isMemoryIntact: Bool {
    left.allSatisfy { memory, bytes in
      (0..<bytes).allSatisfy { memory.load(fromByteOffset: $0, as: UInt8.self) == 0xff }
    }
      && (0..<Self.guardBytes).allSatisfy {
        memories.last!.load(fromByteOffset: memoryBytes + $0, as: UInt8.self) == 0xa5
      }
  }

  /// The worker frees memory that a kernel has left: another one may write to it.
  private func leaveMemory() {
    memories.last!.initializeMemory(as: UInt8.self, repeating: 0xff, count: memoryBytes)
    left.append((memories.last!, memoryBytes))
  }

  /// Sets new channel counts.
  func widen(_ signals: [[Float]], outputs: Int) {
    widen([signals], outputs: outputCounts.map { _ in outputs })
  }

  /// The same for all ports. Signals stay where there are none.
  func widen(_ signals: [[[Float]]] = [], outputs: [Int]) {
    let before = (inputs.map(\.count), widenedOutputs ?? outputCounts)
    for (port, signals) in signals.enumerated() { inputs[port] = signals }
    move(from: before, outputs: outputs)
    widenedOutputs = outputs
  }
  private var widenedOutputs: [Int]?

  /// What the memory is sized for.
  private func configuration(outputs: [Int], rate: Double) -> KernelConfiguration {
    var all = description.parameters.map { [Self.plain($0)] }
    for index in all.indices { all[index] = ramps[index].map(\.target) }
    var configuration = KernelConfiguration(
      rate: rate, inputs: inputs.map(\.count), outputs: outputs,
      values: K.memoryFollowsValues ? reserve.values : all)
    configuration.moving = reserve.moving
    return configuration
  }

  /// Moves into more memory where a value, or parameters that move, ask for it.
  private func grow(_ change: (inout (values: [[Float]], moving: Set<Int>)) -> Void) {
    guard K.memoryFollowsValues else { return }
    let outputs = widenedOutputs ?? outputCounts
    let before = reserve
    change(&reserve)
    if K.memorySize(configuration(outputs: outputs, rate: rate)) > memoryBytes {
      move(from: (inputs.map(\.count), outputs), outputs: outputs)
    } else {
      reserve.values = before.values
    }
  }

  /// Moves into memory for any values.
  func growFully() { grow { $0.moving.formUnion(description.parameters.indices) } }

  private func move(from before: ([Int], [Int]), outputs: [Int]) {
    let bytes = K.memorySize(configuration(outputs: outputs, rate: rate))
    let memory = Self.memory(bytes)
    let counts = Self.memory(Widening.size(inputs: inputs.count, outputs: outputs.count))
    defer { counts.deallocate() }
    kernel.widen(
      Widening(
        inputs: before.0, outputs: before.1, toInputs: inputs.map(\.count), outputs: outputs, bytes: bytes,
        at: counts),
      memory: memory)
    leaveMemory()
    memories.append(memory)
    memoryBytes = bytes
  }

  /// Runs `frames` frames. Returns the output by port, channel and frame.
  func run(_ frames: Int, _ split: Split = .whole) -> [[[Float]]] {
    var result = (widenedOutputs ?? outputCounts).map { count in
      [[Float]](repeating: [Float](repeating: 0, count: frames), count: count)
    }
    grow {
      $0.moving.formUnion(modulation.keys)
      $0.moving.formUnion(moves.map(\.parameter).filter { description.parameters[$0].smoothing == .ramp })
    }
    let start = positionOfInputs
    var done = 0
    var turn = 0
    while done < frames {
      var length = min(split.lengths[turn % split.lengths.count], frames - done, 64 - Int(time & 63))
      turn += 1
      for move in moves where move.frame > start + done {
        length = min(length, move.frame - start - done)
      }
      let moved = moves.filter { $0.frame == start + done }
      if !moved.isEmpty { wake() }
      for move in moved { apply(move) }
      for change in changes {
        if change.frame > start + done { length = min(length, change.frame - start - done) }
        if change.frame == start + done { transport?.apply(change.change, at: time) }
      }
      step(length, start + done) { port, channel, samples in
        for frame in 0..<length { result[port][channel][done + frame] = samples[frame] }
      }
      done += length
    }
    positionOfInputs += frames
    return result
  }

  /// Restarts the input signals; the kernel's time goes on.
  func rewind() { positionOfInputs = 0 }

  /// Changes the sample rate, with new memory of the size for it.
  func retune(to new: Double) {
    let bytes = K.memorySize(configuration(outputs: outputCounts, rate: new))
    let memory = bytes != memoryBytes ? Self.memory(bytes) : nil
    kernel.retune(from: rate, to: new, memory: memory)
    if let memory {
      leaveMemory()
      memories.append(memory)
      memoryBytes = bytes
    }
    rate = new
  }

  /// Wakes the kernel, and runs it over the silent start of the cell.
  private func wake() {
    guard isAsleep else { return }
    isAsleep = false
    let now = time
    guard now & 63 != 0 else { return }
    time = now & ~63
    // All signals have ended there.
    step(Int(now & 63), 1 << 40) { _, _, _ in }
    precondition(time == now)
  }

  private func apply(_ move: Move) {
    switch description.parameters[move.parameter].smoothing {
    case .ramp: ramps[move.parameter][move.element].move(to: move.value, over: move.over)
    case .crossfade:
      grow { $0.values[move.parameter][move.element] = move.value }
      fades[move.parameter].move(to: move.value, over: move.over)
    default: kernel.set(move.parameter, element: move.element, to: move.value, over: move.over)
    }
  }

  private func step(
    _ length: Int, _ position: Int,
    _ take: (_ port: Int, _ channel: Int, _ samples: UnsafePointer<Float>) -> Void
  ) {
    let sounds = inputs.contains { $0.contains { Self.sounds($0, position, length) } }
    let isModulated = modulation.values.contains { $0.contains { Self.sounds($0, position, length) } }
    let hasEvents = events.contains { $0.frame >= position && $0.frame < position + length }
    if sounds || isModulated || hasEvents || ramps.contains(where: { $0.contains(where: \.isMoving) }) {
      wake()
    }
    var owned: [UnsafeMutableRawPointer] = []
    defer { owned.forEach { $0.deallocate() } }
    func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: count * 4, alignment: 64)
      owned.append(memory)
      // Filled with NaN: memory that the kernel must not read.
      return memory.initializeMemory(as: Float.self, repeating: .nan, count: count)
    }
    let ports = UnsafeMutablePointer<InputPort>.allocate(capacity: max(inputs.count, 1))
    owned.append(UnsafeMutableRawPointer(ports))
    for (index, signals) in inputs.enumerated() {
      let channels = UnsafeMutablePointer<UnsafePointer<Float>>.allocate(capacity: signals.count)
      owned.append(UnsafeMutableRawPointer(channels))
      var silent = true
      for (channel, signal) in signals.enumerated() {
        let buffer = floats(64)
        for frame in 0..<length {
          buffer[frame] = position + frame < signal.count ? signal[position + frame] : 0
          if buffer[frame] != 0 { silent = false }
        }
        channels[channel] = UnsafePointer(buffer)
      }
      if silent { for channel in signals.indices { channels[channel] = UnsafePointer(zeros) } }
      ports[index] = InputPort(
        channels: channels, count: signals.count, isSilent: silent, isConnected: !signals.isEmpty)
    }
    let streams = UnsafeMutablePointer<ParameterStream>.allocate(capacity: ramps.count + 1)
    let crosses = UnsafeMutablePointer<CrossfadeStream>.allocate(capacity: ramps.count + 1)
    owned += [UnsafeMutableRawPointer(streams), UnsafeMutableRawPointer(crosses)]
    for index in description.parameters.indices {
      // A cable that is silent in a block modulates nothing in it.
      let modulation = self.modulation[index].flatMap { signals in
        signals.contains { Self.sounds($0, position, length) } ? signals : nil
      }
      let elements = max(ramps[index].count, modulation?.count ?? 0)
      let values = floats(elements + 16)
      let stream = floats(elements * 64)
      let isMoving = ramps[index].contains(where: \.isMoving) || modulation != nil
      for element in 0..<elements {
        let ramp = min(element, ramps[index].count - 1)
        var copy = ramps[index][ramp]
        copy.fill(stream + 64 * element, frames: length)
        if let added = modulation {
          let signal = added[min(element, added.count - 1)]
          for frame in 0..<length where position + frame < signal.count {
            stream[64 * element + frame] += signal[position + frame]
          }
        }
        values[element] = stream[64 * element]
      }
      for element in ramps[index].indices { ramps[index][element].skip(length) }
      streams[index] = ParameterStream(
        values: UnsafePointer(values), stream: isMoving ? UnsafePointer(stream) : nil,
        elements: elements)
      let fades = self.fades[index]
      var blend: UnsafePointer<Float>?
      if fades.old != fades.new {
        let buffer = floats(64)
        self.fades[index].fill(buffer, frames: length)
        blend = UnsafePointer(buffer)
      }
      crosses[index] = CrossfadeStream(old: fades.old, new: fades.new, blend: blend)
    }
    if K.followsCount {
      let count = Float(inputs[0].count)
      crosses[description.parameters.count] = CrossfadeStream(old: count, new: count, blend: nil)
    }
    let outputs = UnsafeMutablePointer<OutputPort>.allocate(capacity: max(outputCounts.count, 1))
    owned.append(UnsafeMutableRawPointer(outputs))
    for (index, count) in outputCounts.enumerated() {
      let count = widenedOutputs?[index] ?? count
      outputs[index] = OutputPort(base: floats(count * 64 + 64), count: count)
    }
    eventsIn.pointee.removeAll()
    eventsOut.pointee.removeAll()
    for (frame, event) in events where frame >= position && frame < position + length {
      var copy = event
      copy.offset = Int32(frame - position)
      eventsIn.pointee.append(copy)
    }
    let driver = UnsafeMutablePointer<DriverChannels>.allocate(capacity: 1)
    owned.append(UnsafeMutableRawPointer(driver))
    driver.initialize(
      to: DriverChannels(inputs: driverInputs, outputs: driverOutputs, offset: position))
    let musical = UnsafeMutablePointer<Transport>.allocate(capacity: 1)
    owned.append(UnsafeMutableRawPointer(musical))
    musical.initialize(to: transport ?? Transport(rate: rate))
    let scratch = UnsafeMutableRawPointer.allocate(
      byteCount: BlockContext.scratchSize + Self.guardBytes, alignment: 64)
    owned.append(scratch)
    scratch.initializeMemory(as: UInt8.self, repeating: 0xFF, count: BlockContext.scratchSize)
    let behind = scratch + BlockContext.scratchSize
    behind.initializeMemory(as: UInt8.self, repeating: 0xa5, count: Self.guardBytes)
    defer {
      // The scratch memory of a block is all that a kernel may take for its work.
      if (0..<Self.guardBytes).contains(where: { behind.load(fromByteOffset: $0, as: UInt8.self) != 0xa5 }) {
        Issue.record("\(K.self) wrote behind the scratch memory of a block")
      }
    }
    let context = BlockContext(
      frames: length, time: time, rate: Float(rate), driver: driver,
      transport: transport == nil ? nil : musical, scratch: scratch)
    let surroundings = NodeContext(
      inputs: ports, outputs: outputs, parameters: streams, crossfades: crosses, events: eventsIn,
      eventOutput: eventsOut)

    if sounds || isModulated || hasEvents { isCellQuiet = false }
    if isAsleep {
      sleptBlocks += 1
      for (index, count) in outputCounts.enumerated() {
        for channel in 0..<(widenedOutputs?[index] ?? count) { take(index, channel, zeros) }
      }
    } else {
      let activity = withUnsafePointer(to: context) { context in
        withUnsafePointer(to: surroundings) { kernel.process(Block(context, $0)) }
      }
      for (index, count) in outputCounts.enumerated() {
        for channel in 0..<(widenedOutputs?[index] ?? count) {
          take(
            index, channel,
            activity == .silent ? UnsafePointer(zeros) : UnsafePointer(outputs[index][channel]))
        }
      }
      for index in 0..<eventsOut.pointee.count {
        sentEvents.append((position + Int(eventsOut.pointee[index].offset), eventsOut.pointee[index]))
      }
    }
    time += Int64(length)
    if time & 63 == 0 {
      for index in fades.indices { fades[index].settle() }
      let isMoving =
        ramps.contains { $0.contains(where: \.isMoving) } || fades.contains { $0.old != $0.new }
      if isCellQuiet, !isMoving, !isAsleep { isAsleep = kernel.isFinished() }
      isCellQuiet = true
    }
  }

  private static func sounds(_ signal: [Float], _ position: Int, _ length: Int) -> Bool {
    position < signal.count && signal[position..<min(position + length, signal.count)].contains { $0 != 0 }
  }
}

func linear(_ decibels: Double) -> Float { decibels == -.infinity ? 0 : Float(pow(10, decibels / 20)) }

/// A deterministic random generator.
struct Chance: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
  mutating func signal(_ count: Int, _ peak: Float = 1) -> [Float] {
    (0..<count).map { _ in Float.random(in: -peak...peak, using: &self) }
  }
  mutating func lengths() -> [Int] {
    (0..<Int.random(in: 3...20, using: &self)).map { _ in Int.random(in: 1...64, using: &self) }
  }
}

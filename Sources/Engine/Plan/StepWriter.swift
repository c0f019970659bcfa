import Realtime

/// Writes the steps of one piece of a plan from nodes, inlets and buffers. Worker.
struct StepWriter {
  let arena: BufferArena
  let memory: PieceMemory
  let zeros: UnsafePointer<UnsafePointer<Float>>
  let always, never: UnsafeMutablePointer<Bool>
  /// Silence flags of all outputs in a row, of nodes without a crossing.
  private let silences: UnsafeMutablePointer<Bool>
  /// First channel of each output so far.
  private var outputs: [UnsafeMutablePointer<Float>] = []
  var steps: [Step] = []
  /// All cables into the nodes so far.
  private var cables: [CableRow.Pointer] = []
  var scratch = 64
  /// The steps that may become a chain, what the first one reads, and what the next one reads.
  var chain = 0..<0
  var chainStart: ChainStart?
  var chainOutput: (index: Int, channels: Int)?
  var chainLinks: [ChainLink] = []
  /// The sum to which the last one may add its output.
  var chainSum: UnsafeMutablePointer<RunningSum>?

  /// `outputCount`: of all nodes of the piece. `zeros`: 64 silent channels.
  init(
    outputCount: Int, memory: PieceMemory, arena: BufferArena, zeros: UnsafePointer<UnsafePointer<Float>>
  ) {
    self.memory = memory
    self.arena = arena
    self.zeros = zeros
    always = memory.allocate([true, false])
    never = always + 1
    silences = memory.reserve(outputCount)
    silences.initialize(repeating: true, count: outputCount)
  }

  private func channel(_ number: Int) -> UnsafeMutablePointer<Float> { arena.base + number * blockCapacity }

  /// First channel of the output that a cable reads.
  func base(of wire: Wire) -> UnsafeMutablePointer<Float> {
    if wire.output >= 0 { return outputs[wire.output] }
    return wire.row.source.crossingBase(of: Int(wire.row.output))
  }

  /// First channel of the sum at an input.
  private func base(of inlet: Inlet) -> UnsafeMutablePointer<Float> { inlet.place ?? channel(inlet.buffer) }

  private mutating func append(_ step: Step) { steps.append(step) }

  /// Writes the steps of one node: mixes of its inlets, the node itself, and copies of its outputs for
  /// delayed cables. `wires`: all cables into it. `buffers`: first channel of each of its outputs; negative: they
  /// have a crossing.
  mutating func write(
    _ row: NodeRow.Pointer, _ entry: PlanBatch.Entry, _ wires: ArraySlice<Wire>, _ inlets: Inlets,
    _ buffers: ArraySlice<Int32>
  ) {
    if let sum = entry.sum { cables += sum.cables } else { for wire in wires { cables.append(wire.cable) } }
    for (output, buffer) in buffers.enumerated() {
      outputs.append(buffer < 0 ? row.crossingBase(of: output) : channel(Int(buffer)))
    }
    guard var step = entry.step else { return }
    let ports: UnsafeMutablePointer<InputPort> = memory.reserve(inlets.list.count)
    let bindings: UnsafeMutablePointer<InputBinding> = memory.reserve(inlets.list.count)
    var inputCount = 0
    for (position, inlet) in inlets.list.enumerated() {
      if inlet.parameter < 0 { inputCount += 1 }
      (ports + position).initialize(
        to: InputPort(
          channels: zeros, count: inlet.channels, isSilent: true, isConnected: inlet.count > 0))
      var binding = binding(inlet, inlets.wires[inlet.wires])
      binding.isFurther =
        inlet.isRatio && position > 0 && inlets.list[position - 1].target == inlet.target
      if position == 0, inputCount > 0, let sum = binding.sum, let own = row.pointee.ownSum {
        sum.pointee.running = own.record
        scratch = max(scratch, inlet.width * blockCapacity)
      }
      (bindings + position).initialize(to: binding)
    }

    let firstOutput = Int(row.pointee.firstOutput)
    let outputCount = Int(row.pointee.outputCount)
    let outputs: UnsafeMutablePointer<OutputPort> = memory.reserve(outputCount)
    for output in 0..<outputCount {
      (outputs + output).initialize(
        to: OutputPort(
          base: self.outputs[firstOutput + output], count: Int(row.outputChannels[output]),
          isRead: isRead(output, of: row)))
    }
    step.takesEvents = row.pointee.takesEvents
    step.fetchedBytes = min(max(row.pointee.hotBytes, 192) - 64, 512)
    step.mayGrow = inlets.list.contains {
      $0.parameter < 0
        ? $0.buffer >= 0 : row.pointee.growingParameters & NodeSlot.bit(ofParameter: $0.parameter) != 0
    }
    step.ports = ports
    step.context.inputs = UnsafePointer(ports)
    step.context.outputs = UnsafePointer(outputs)
    step.bindings = bindings
    // Inputs that get nothing stay silent, as they are. A kernel without end is then a source, as those without inputs are.
    let isSource = row.pointee.isEndless && inlets.list.allSatisfy { $0.count == 0 }
    step.inputCount = isSource ? 0 : UInt16(inputCount)
    step.portCount = isSource ? 0 : UInt16(inlets.list.count)
    let isTrimmed = row.pointee.hasAhead && !isRead(outputCount - 1, of: row)
    // The flag is from when the output last had a reader, and a sleeping node does not update it.
    if row.pointee.isTrimmed, !isTrimmed { row.pointee.crossing?.flags[outputCount - 1] = true }
    row.pointee.isTrimmed = isTrimmed
    step.outputCount = UInt16(isTrimmed ? outputCount - 1 : outputCount)
    step.outputSilence = row.pointee.crossing?.flags ?? silences + firstOutput
    if step.takesEvents { addEvents(wires, to: &step) }
    for inlet in inlets.list where inlet.parameter >= 0 {
      step.modulated |= NodeSlot.bit(ofParameter: inlet.parameter)
    }
    let elementCount = inlets.list.count { $0.element >= 0 }
    if elementCount > 0 {
      let modulations: UnsafeMutablePointer<ModulatedElements> = memory.reserve(1)
      modulations.initialize(to: ModulatedElements(memory.reserve(elementCount)))
      step.context.modulations = modulations
    }
    if !step.takesEvents, step.context.eventOutput == nil, step.outputCount == 1,
      step.modulated & NodeSlot.lateParameters == 0
    {
      step.operation = .processPlain
    }
    if let first = inlets.list.first, first.buffer >= 0, let output = buffers.first {
      step.isPassage = row.pointee.passesOn && (first.place != nil || Int(output) == first.buffer)
      if step.isPassage, step.operation == .processPlain, step.portCount == 1,
        let sum = bindings.pointee.sum
      {
        step.operation = .passOn
        step.record = UnsafeMutableRawPointer(sum)
      }
    }
    follow(step, row, inlets)
    if step.operation == .processPlain, !step.mayGrow, step.portCount <= 1 { step.operation = .processDirect }
    append(step)
    for cable in delayed(from: row) { writeRemember(cable.pointee, step) }
    scratch = max(
      scratch,
      ((inlets.list.count - inputCount - elementCount) * 64 + elementCount
        + Int(row.pointee.parameterElements)) * blockCapacity + step.partFloats)
  }

  /// True when a kernel must write this output; see `OutputPort`.
  private func isRead(_ output: Int, of row: NodeRow.Pointer) -> Bool {
    if output == 0 || row.readers[output] > 0 { return true }
    return delayed(from: row).contains { $0.pointee.output == output }
  }

  /// The delayed cables that leave a node.
  private func delayed(from row: NodeRow.Pointer) -> [CableRow.Pointer] {
    guard row.pointee.delayedReaders > 0 else { return [] }
    return row.pointee.node.takeUnretainedValue().outgoing.map(\.row).filter {
      $0.pointee.isDelayed && $0.pointee.output >= 0
    }
  }

  /// Silence flag of a cable's source. A delayed cable's ring is never taken for silent.
  func silence(_ wire: Wire) -> UnsafePointer<Bool> {
    if wire.row.isDelayed { return UnsafePointer(always) }
    if let crossing = wire.row.source.pointee.crossing {
      return UnsafePointer(crossing.flags + Int(wire.row.output))
    }
    return UnsafePointer(silences + wire.output)
  }

  /// Binds an input to the sum of its cables, to its source, or to zeros.
  private func binding(_ inlet: Inlet, _ wires: ArraySlice<Wire>) -> InputBinding {
    let channels: UnsafeMutablePointer<UnsafePointer<Float>> = memory.reserve(inlet.channels)
    var binding = InputBinding(
      channels: UnsafePointer(channels), silence: UnsafePointer(always), parameter: Int32(inlet.parameter),
      element: Int32(inlet.element), isRatio: inlet.isRatio)
    if inlet.buffer >= 0 {
      for number in 0..<inlet.channels {
        let offset = inlet.isUniform ? 0 : number * blockCapacity
        (channels + number).initialize(to: UnsafePointer(base(of: inlet) + offset))
      }
      let sum = sum(inlet, wires)
      binding.sum = sum
      binding.silence = UnsafePointer(sum.pointee.silence)
    } else {
      channels.initialize(repeating: zeros[0], count: inlet.channels)
      if let wire = wires.first { binding.silence = point(channels, to: wire, inlet.channels) }
    }
    return binding
  }

  /// Points an input at its source's buffer.
  private func point(
    _ channels: UnsafeMutablePointer<UnsafePointer<Float>>, to wire: Wire, _ count: Int
  ) -> UnsafePointer<Bool> {
    let first = base(of: wire)
    if wire.row.isStraight {
      for number in 0..<count { channels[number] = UnsafePointer(first + number * blockCapacity) }
    } else {
      let gains = wire.row.gains(to: count)
      // Nothing comes from a map to channels that the source does not have, as nothing is added to a sum.
      if gains.isEmpty { return UnsafePointer(always) }
      for gain in gains {
        channels[gain.destination] = UnsafePointer(first + gain.source * blockCapacity)
      }
    }
    return silence(wire)
  }

  /// The sum of an inlet's cables.
  private func sum(_ inlet: Inlet, _ wires: ArraySlice<Wire>) -> UnsafeMutablePointer<InletSum> {
    let sum: UnsafeMutablePointer<InletSum> = inlet.count > 1 ? memory.reserveLines(1) : memory.reserve(1)
    let isSilent: UnsafeMutablePointer<Bool> = memory.reserve(1)
    isSilent.initialize(to: true)
    let sources: UnsafeMutablePointer<MixSource> = memory.reserve(inlet.count)
    if let known = inlet.sum {
      var stale = wires.makeIterator()
      known.copy(to: sources) {
        let wire = stale.next()!
        let moves = wire.output >= 0 || wire.row.isDelayed || !wire.row.isStraight && !wire.row.isSpread
        return (source(wire, to: inlet.width), moves)
      }
    } else {
      for (position, wire) in wires.enumerated() {
        (sources + position).initialize(to: source(wire, to: inlet.width))
      }
    }
    sum.initialize(
      to: InletSum(
        output: OutputPort(base: base(of: inlet), count: inlet.width), silence: isSilent,
        sources: sources, sourceCount: Int32(inlet.count),
        mayBeDirect: inlet.parameter >= 0 && inlet.channels == 1,
        few: FewSources(sources, count: inlet.count)))
    return sum
  }

  private func source(_ wire: Wire, to channels: Int) -> MixSource {
    let cable = wire.row
    let slot = cable.slot!
    // A channel of the source's buffer, or of the cable's delay ring.
    let base =
      cable.isDelayed
      ? cable.cable.takeUnretainedValue().ring!.base.assumingMemoryBound(to: Float.self) : base(of: wire)
    let stride = cable.isDelayed ? slot.pointee.ringStride : blockCapacity
    var source = MixSource(
      base: UnsafePointer(base), silence: silence(wire), cable: slot, stride: Int32(stride), coefficient: 1,
      count: UInt16(channels), isDelayed: cable.isDelayed)
    guard !cable.isStraight else { return source }
    if let depth = cable.cable.takeUnretainedValue().key.depth, depth.isShaped {
      (source.isShaped, source.curve, source.offset) = (true, depth.curve, depth.offset)
    }
    let gains = cable.gains(to: channels)
    if let first = gains.first, let step = Self.step(gains, to: channels) {
      source.base += first.source * stride
      source.stride *= Int32(step)
      source.coefficient = first.gain
      return source
    }
    let taps: UnsafeMutablePointer<MixTap> = memory.reserve(gains.count)
    source.taps = taps
    source.count = UInt16(gains.count)
    for (number, gain) in gains.enumerated() {
      (taps + number).initialize(
        to: MixTap(
          destination: gain.destination, source: UnsafePointer(base + gain.source * stride),
          coefficient: gain.gain))
    }
    return source
  }

  /// The distance between the source channels of successive destinations, if each has one and all have the same gain and
  /// the same distance; otherwise nil.
  private static func step(_ gains: [ChannelGain], to channels: Int) -> Int? {
    guard gains.count == channels else { return nil }
    let step = channels > 1 ? gains[1].source - gains[0].source : 0
    for (number, gain) in gains.enumerated() {
      guard gain.destination == number, gain.gain == gains[0].gain,
        gain.source == gains[0].source + number * step
      else { return nil }
    }
    return step
  }

  private func addEvents(_ wires: ArraySlice<Wire>, to step: inout Step) {
    var events: [EventSource] = []
    for wire in wires where wire.row.input == CableRow.events {
      if let queue = wire.row.source.pointee.slot?.pointee.eventOutput, let slot = wire.row.slot {
        events.append(EventSource(queue: queue, cable: slot))
      }
    }
    step.eventSources = memory.allocate(events)
    step.eventSourceCount = Int32(events.count)
  }

  /// Writes the copy of an output into a cable's delay ring.
  private mutating func writeRemember(_ cable: CableRow, _ step: Step) {
    let base = outputs[Int(cable.source.pointee.firstOutput + cable.output)]
    let count = Int(cable.source.outputChannels[Int(cable.output)])
    let source: UnsafeMutablePointer<MixSource> = memory.reserve(1)
    source.initialize(
      to: MixSource(
        base: UnsafePointer(base), silence: UnsafePointer(step.outputSilence + Int(cable.output)),
        cable: cable.slot!, stride: Int32(blockCapacity), coefficient: 1, count: UInt16(count),
        isDelayed: true))
    var fillDelay = Step(.fillDelay, step.node)
    fillDelay.record = UnsafeMutableRawPointer(source)
    append(fillDelay)
  }

  /// The finished piece, once every node has been written.
  mutating func finish(_ rows: [NodeRow.Pointer]) -> PlanPiece {
    endChain()
    let run: UnsafeMutablePointer<Step> = memory.reserveLines(steps.count)
    run.initialize(from: steps, count: steps.count)
    return PlanPiece(
      run: StepRun(steps: run, count: steps.count), nodes: rows, cables: cables,
      scratch: scratch, memory: memory, arena: arena)
  }
}

extension NodeRow.Pointer {
  /// First channel of an output of a node that has a crossing.
  func crossingBase(of output: Int) -> UnsafeMutablePointer<Float> {
    let channels = (0..<output).reduce(0) { $0 + max(Int(outputChannels[$1]), 1) }
    return pointee.crossing!.base + channels * blockCapacity
  }
}

extension Step {
  /// A step without connections. Apart from the ports, the kernel's view is the same as long as its node
  /// lives.
  init(_ operation: Operation, _ node: UnsafeMutablePointer<NodeSlot>) {
    let context = NodeContext(
      inputs: UnsafePointer(PieceMemory.none()), outputs: UnsafePointer(PieceMemory.none()),
      parameters: UnsafePointer(node.pointee.streams),
      crossfades: UnsafePointer(node.pointee.crossfades), events: UnsafePointer(node.pointee.events),
      eventOutput: node.pointee.eventOutput)
    self.init(
      context: context, eventSources: PieceMemory.none(), operation: operation, takesEvents: false,
      mayGrow: false, outputCount: 0, inputCount: 0, portCount: 0, fetchedBytes: 128,
      eventSourceCount: 0, node: node,
      ports: PieceMemory.none(), bindings: PieceMemory.none(), outputSilence: PieceMemory.none(),
      record: UnsafeMutableRawPointer(PieceMemory.none() as UnsafeMutablePointer<Chain>), modulated: 0)
  }
}

import Realtime

// The last pass of the plan compiler: nodes, inlets and buffers become the steps that the renderer
// runs. Worker.

extension PlanCompiler {
  func writeSteps(
    _ serial: Int, _ allInlets: Rows<Inlet>, _ outputs: Rows<Int>, _ arena: BufferArena,
    _ zeros: UnsafePointer<UnsafePointer<Float>>
  ) -> CompiledPlan {
    let memory = PlanMemory()
    let always: UnsafeMutablePointer<Bool> = memory.allocate([true])
    let silences = nodes.indices.map { index in
      memory.allocate(Array(repeating: true, count: nodes[index].outputs.count))
    }
    func channel(_ number: Int) -> UnsafeMutablePointer<Float> { arena.base + number * blockCapacity }
    func taps(_ cable: EngineCable, to channels: Int) -> [MixTap] {
      Self.conversion(cable, to: channels).gains.map { gain in
        let source =
          cable.key.isFeedback
          ? UnsafePointer(cable.slot.pointee.ring! + gain.source * CableSlot.ringStride)
          : UnsafePointer(channel(outputs[cable.source.mark, cable.output!] + gain.source))
        return MixTap(destination: gain.destination, source: source, coefficient: gain.gain)
      }
    }
    func silence(_ cable: EngineCable) -> UnsafePointer<Bool> {
      UnsafePointer(silences[cable.source.mark] + cable.output!)
    }

    var steps: [Step] = []
    var scratch = 64
    for (index, node) in nodes.enumerated() {
      var ports: [InputPort] = []
      var bindings: [InputBinding] = []
      for inlet in allInlets[index] {
        var channels: [UnsafePointer<Float>]
        var flag = UnsafePointer(always)
        if let buffer = inlet.buffer {
          channels = (0..<inlet.channels).map { UnsafePointer(channel(buffer + $0)) }
          var mix = Step(.mix, node.slot, memory)
          let output = [OutputPort(base: channel(buffer), count: inlet.channels)]
          mix.context.outputs = UnsafePointer(memory.allocate(output))
          mix.outputCount = 1
          mix.outputSilence = memory.allocate([true])
          flag = UnsafePointer(mix.outputSilence)
          mix.sources = memory.allocate(
            inlet.cables.map { cable in
              let taps = taps(cable, to: inlet.channels)
              return MixSource(
                cable: cable.slot, silence: cable.key.isFeedback ? UnsafePointer(always) : silence(cable),
                taps: memory.allocate(taps), tapCount: taps.count, isFeedback: cable.key.isFeedback)
            })
          mix.sourceCount = Int32(inlet.cables.count)
          steps.append(mix)
        } else {
          channels = Array(repeating: zeros[0], count: inlet.channels)
          if let cable = inlet.cables.first {
            for tap in taps(cable, to: inlet.channels) { channels[tap.destination] = tap.source }
            flag = silence(cable)
          }
        }
        let pointers = UnsafePointer(memory.allocate(channels))
        ports.append(
          InputPort(
            channels: zeros, count: inlet.channels, isSilent: true,
            isConnected: !inlet.cables.isEmpty))
        bindings.append(InputBinding(channels: pointers, silence: flag, parameter: inlet.parameter))
      }
      var step = Step(.process, node.slot, memory)
      step.takesEvents = node.takesEvents
      step.ports = memory.allocate(ports)
      step.context.inputs = UnsafePointer(step.ports)
      step.context.outputs = UnsafePointer(
        memory.allocate(
          node.outputs.indices.map {
            OutputPort(base: channel(outputs[index, $0]), count: node.outputChannels[$0])
          }))
      step.bindings = memory.allocate(bindings)
      step.inputCount = UInt16(allInlets[index].count { $0.parameter < 0 })
      step.portCount = UInt16(ports.count)
      step.outputCount = UInt16(node.outputs.count)
      step.outputSilence = silences[index]
      let events = node.incoming.filter { $0.carriesEvents && $0.source.slot.pointee.eventOutput != nil }
      step.eventSources = memory.allocate(
        events.map { EventSource(queue: $0.source.slot.pointee.eventOutput!, cable: $0.slot) })
      step.eventSourceCount = Int32(events.count)
      if !step.takesEvents, step.context.eventOutput == nil, step.portCount == step.inputCount,
        step.outputCount == 1
      {
        step.operation = .processPlain
      }
      steps.append(step)
      for cable in node.outgoing where cable.key.isFeedback {
        var remember = Step(.remember, node.slot, memory)
        let count = node.outputChannels[cable.output!]
        let taps = (0..<count).map {
          MixTap(
            destination: $0, source: UnsafePointer(channel(outputs[index, cable.output!] + $0)),
            coefficient: 1)
        }
        remember.sources = memory.allocate([
          MixSource(
            cable: cable.slot, silence: silence(cable), taps: memory.allocate(taps), tapCount: count,
            isFeedback: true)
        ])
        remember.sourceCount = 1
        steps.append(remember)
      }
      scratch = max(scratch, parameterScratch(node, allInlets[index]))
    }
    let plan: UnsafeMutablePointer<Plan> = memory.allocate([
      Plan(
        serial: serial, steps: memory.allocate(steps), stepCount: steps.count,
        parameterScratch: memory.allocateFloats(scratch))
    ])
    return CompiledPlan(
      serial: serial, plan: plan, memory: memory, arena: arena, nodes: nodes,
      cables: nodes.flatMap(\.incoming),
      stepCount: steps.count)
  }

  private func parameterScratch(_ node: EngineNode, _ inlets: ArraySlice<Inlet>) -> Int {
    var elements = inlets.count { $0.parameter >= 0 } * 64
    for index in 0..<Int(node.slot.pointee.parameterCount) {
      elements += node.slot.pointee.parameters[index].capacity
    }
    return elements * blockCapacity
  }
}

extension Step {
  /// With nothing connected. What the kernel sees is the same as long as its node lives, but for the
  /// ports.
  fileprivate init(_ operation: Operation, _ node: UnsafeMutablePointer<NodeSlot>, _ memory: PlanMemory) {
    let ports: UnsafeMutablePointer<InputPort> = memory.allocate([])
    let context = NodeContext(
      inputs: UnsafePointer(ports), outputs: UnsafePointer(memory.allocate([])),
      parameters: UnsafePointer(node.pointee.streams), crossfades: UnsafePointer(node.pointee.crossfades),
      events: UnsafePointer(node.pointee.events), eventOutput: node.pointee.eventOutput)
    self.init(
      context: context, operation: operation, takesEvents: false, outputCount: 0, inputCount: 0,
      portCount: 0, node: node, ports: ports, bindings: memory.allocate([]),
      outputSilence: memory.allocate([]),
      eventSources: memory.allocate([]), sources: memory.allocate([]), eventSourceCount: 0, sourceCount: 0)
  }
}

import Realtime

// Finding chains among the steps. Worker.

extension StepWriter {
  /// Input of the first step of a chain.
  struct ChainStart {
    var input: UnsafePointer<Float>
    var silence: UnsafePointer<Bool>
    /// Floats between channels; 0: all get the same one.
    var stride = 0
    var sum: UnsafeMutablePointer<InletSum>?
  }

  /// Adds a step, the next one, to the chain before it, or begins another one.
  mutating func follow(_ step: Step, _ row: NodeRow.Pointer, _ inlets: Inlets) {
    guard isAffine(row), step.operation == .processPlain, let start = chainStart(step, row, inlets),
      let link = chainLink(step, row, inlets)
    else { return endChain() }
    let channels = Int(row.outputChannels[0])
    let isNext =
      row.pointee.inputCount > 0 && start.sum == nil && start.stride > 0
      && chain.upperBound == steps.count
    if isNext, let output = chainOutput, output == (inlets.wires[0].output, channels) {
      chain = chain.lowerBound..<(steps.count + 1)
    } else {
      endChain()
      chain = steps.count..<(steps.count + 1)
      chainStart = start
    }
    chainLinks.append(link)
    let goesOn = row.readers[0] == 1 && row.pointee.crossing == nil && row.pointee.delayedReaders == 0
    chainOutput = goesOn ? (Int(row.pointee.firstOutput), channels) : nil
    chainSum = row.pointee.runningSum
  }

  private func isAffine(_ row: NodeRow.Pointer) -> Bool {
    let isOfOneChannel = row.pointee.inputCount > 0 && row.channels[0] == 1
    return isOfOneChannel ? row.pointee.isAffineOfOneChannel : row.pointee.isAffine
  }

  /// Input of a step, if that can be the beginning of a chain. A source reads zeros.
  private func chainStart(_ step: Step, _ row: NodeRow.Pointer, _ inlets: Inlets) -> ChainStart? {
    guard row.pointee.inputCount > 0 else {
      return ChainStart(input: zeros[0], silence: UnsafePointer(never))
    }
    let (channels, outputs) = (Int(row.channels[0]), Int(row.outputChannels[0]))
    guard channels == outputs || channels == 1 else { return nil }
    let inlet = inlets.list[0]
    var start: ChainStart
    if let sum = step.bindings.pointee.sum {
      start = ChainStart(
        input: UnsafePointer(sum.pointee.output.base), silence: UnsafePointer(never), sum: sum)
    } else {
      guard inlet.wires.count == 1, inlets.wires[0].row.isStraight else { return nil }
      start = ChainStart(input: UnsafePointer(base(of: inlets.wires[0])), silence: silence(inlets.wires[0]))
    }
    if !inlet.isUniform, channels == outputs { start.stride = blockCapacity }
    return start
  }

  /// The modulation of a step by one cable, or none; nil: something else is connected to it.
  private func chainLink(_ step: Step, _ row: NodeRow.Pointer, _ inlets: Inlets) -> ChainLink? {
    var link = ChainLink()
    for (position, inlet) in inlets.list.enumerated().dropFirst(Int(row.pointee.inputCount > 0 ? 1 : 0)) {
      if inlet.parameter < 0, inlet.wires.isEmpty { continue }
      guard link.binding == nil, inlet.wires.count == 1 else { return nil }
      let wire = inlets.wires[inlet.wires.lowerBound]
      guard !inlet.isRatio, !wire.row.isDelayed else { return nil }
      link.binding = step.bindings + position
      if inlet.parameter >= 0 {
        link.isAddend = inlet.parameter == Int(row.pointee.addendParameter)
        guard link.isAddend || inlet.parameter == Int(row.pointee.factorParameter), inlet.channels == 1
        else { return nil }
      } else {
        link.isAddend = position == Int(row.pointee.addendInput)
        guard link.isAddend || position == Int(row.pointee.factorInput) else { return nil }
        if inlet.channels > 1, !inlet.isUniform {
          guard inlet.channels == Int(row.outputChannels[0]) else { return nil }
          if let sum = step.bindings[position].sum {
            guard let stride = Int16(exactly: sum.pointee.sources.pointee.stride) else { return nil }
            link.stride = stride
          } else {
            guard wire.row.isStraight else { return nil }
            link.stride = Int16(blockCapacity)
          }
        }
      }
    }
    // Without what is connected there it has no factor.
    if link.binding == nil, row.pointee.factorInput >= 0, row.pointee.factorParameter < 0 { return nil }
    return link
  }

  /// Makes a chain of the steps that may be one.
  mutating func endChain() {
    defer { (chain, chainStart, chainOutput, chainLinks, chainSum) = (0..<0, nil, nil, [], nil) }
    guard !chain.isEmpty, let start = chainStart else { return }
    let last = steps[chain.upperBound - 1]
    let channels = Int(last.context.outputs[0].count)
    let record: UnsafeMutablePointer<Chain> = memory.reserveLines(1)
    record.initialize(
      to: Chain(
        input: start.input, output: last.context.outputs[0].base, inputSilence: start.silence,
        outputSilence: last.outputSilence, sum: start.sum, channels: UInt8(channels),
        isSingle: chain.count == 1, running: chainSum, count: Int32(chain.count),
        inputStride: Int16(start.stride),
        affines: memory.reserve(chain.count * channels), links: memory.allocate(chainLinks)))
    steps[chain.lowerBound].operation = .chain
    steps[chain.lowerBound].record = UnsafeMutableRawPointer(record)
    scratch = max(scratch, channels * blockCapacity)
  }
}

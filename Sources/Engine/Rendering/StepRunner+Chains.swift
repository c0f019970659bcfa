import Realtime

// Chains of multiplications. Audio thread, all of it.

extension StepRunner {
  /// Runs the chain that begins with a step, if all of its nodes are at rest and nobody measures them. False: nothing has
  /// happened, and its steps have to be run one by one. So they are also where the blast shield would mute a node,
  /// which is then found as it always is.
  @inline(__always) @_noLocks func runChain(_ step: UnsafeMutablePointer<Step>) -> Bool {
    let chain = step.pointee.chain
    if frames == blockCapacity, !isMetering, !chain.pointee.inputSilence.pointee,
      chain.pointee.settledAt == moves || settle(chain, step), multiply(chain)
    {
      chain.pointee.outputSilence.pointee = false
      return true
    }
    chain.pointee.settledAt = 0
    return false
  }

  /// Asks the kernels for their factors. False if a node is not at rest, with sound in its last cell as in this one:
  /// then nothing would be written to it.
  @inline(never) @_noLocks private func settle(
    _ chain: UnsafeMutablePointer<Chain>, _ first: UnsafeMutablePointer<Step>
  ) -> Bool {
    var factors = chain.pointee.factors
    var index = 0
    while index < chain.pointee.count {
      let step = first + index
      let node = step.pointee.node
      guard !node.pointee.isMoving, !node.pointee.isReached, !node.pointee.isAsleep,
        node.pointee.modulated == step.pointee.modulated,
        node.pointee.isCellSilent, !node.pointee.isSilent.load(ordering: .relaxed)
      else { return false }
      if let binding = chain.pointee.modulations[index] {
        guard binding.pointee.isSingle else { return false }
        var channel = 0
        while channel < chain.pointee.channels {
          factors[channel] = binding.pointee.base
          channel &+= 1
        }
      } else {
        let surroundings = UnsafeRawPointer(step).assumingMemoryBound(to: NodeContext.self)
        let block = Block(context, surroundings)
        guard dispatchFactors(node.pointee.tag, node.pointee.kernel, block, factors) else { return false }
      }
      chain.pointee.isExamined[index] = step.pointee.mayGrow || node.pointee.amplifies
      factors += chain.pointee.channels
      index &+= 1
    }
    chain.pointee.settledAt = moves
    return true
  }

  /// A modulation by a cable that sounds, and its gain; nil: something else.
  @inline(__always) @_noLocks private func modulation(
    _ binding: UnsafeMutablePointer<InputBinding>
  ) -> (frames: UnsafePointer<Float>, gain: Float)? {
    guard let sum = binding.pointee.sum else {
      return binding.pointee.silence.pointee ? nil : (binding.pointee.channels[0], 1)
    }
    guard isLeftToNode(binding, sum), let frames = binding.pointee.direct else { return nil }
    return (frames, binding.pointee.gain)
  }

  /// Multiplies a whole block, channel by channel. False if a node would have to be muted, or a modulation is not what it
  /// was: then nothing is written, since the output may be the memory of the input.
  @_noLocks private func multiply(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    let (count, channels) = (chain.pointee.count, chain.pointee.channels)
    var magnitudes = Magnitudes()
    var channel = 0
    while channel < channels {
      let from = chain.pointee.input + channel &* blockCapacity
      let to = scratch + channel &* blockCapacity
      var (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      var factor = chain.pointee.factors + channel
      let isExamined = chain.pointee.isExamined
      var index = 0
      while index < count {
        let times = factor.pointee
        // Adding zero turns -0 into 0, as in the kernels.
        if let binding = chain.pointee.modulations[index] {
          guard let (m, gain) = modulation(binding) else { return false }
          a = a * (times + m.vector(0) * gain) + 0
          b = b * (times + m.vector(16) * gain) + 0
          c = c * (times + m.vector(32) * gain) + 0
          d = d * (times + m.vector(48) * gain) + 0
        } else {
          a = a * times + 0
          b = b * times + 0
          c = c * times + 0
          d = d * times + 0
        }
        if isExamined[index] { magnitudes.add(a, b, c, d) }
        factor += channels
        index &+= 1
      }
      to.store(a, 0)
      to.store(b, 16)
      to.store(c, 32)
      to.store(d, 48)
      channel &+= 1
    }
    guard !magnitudes.areUnfit else { return false }
    channel = 0
    while channel < channels {
      let from = scratch + channel &* blockCapacity
      let to = chain.pointee.output + channel &* blockCapacity
      let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      to.store(a, 0)
      to.store(b, 16)
      to.store(c, 32)
      to.store(d, 48)
      channel &+= 1
    }
    return true
  }
}

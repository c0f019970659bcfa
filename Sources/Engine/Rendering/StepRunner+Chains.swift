import Realtime

// Chains of multiplications. Audio thread, all of it.

extension StepRunner {
  /// Runs the chain that begins with a step, if all of its nodes are at rest and nobody measures them. False: nothing has
  /// happened, and its steps have to be run one by one. So they are also where the blast shield would mute a node,
  /// which is then found as it always is.
  @inline(__always) @_noLocks func runChain(_ step: UnsafeMutablePointer<Step>) -> Bool {
    let chain = step.pointee.chain
    if !isMetering, !chain.pointee.inputSilence.pointee,
      chain.pointee.settledAt == moves || settle(chain, step),
      chain.pointee.isSingle ? multiplyOnce(chain) : multiply(chain)
    {
      chain.pointee.outputSilence.pointee = false
      if frames != blockCapacity { noteInputs(step, Int(chain.pointee.count)) }
      return true
    }
    chain.pointee.settledAt = 0
    return false
  }

  /// Notes in a part of a cell that sound came into the nodes of a chain. In a whole one it makes no difference.
  @inline(never) @_noLocks private func noteInputs(_ first: UnsafeMutablePointer<Step>, _ count: Int) {
    var step = first
    let end = first + count
    while step != end {
      noteInput(step.pointee.node)
      step += 1
    }
  }

  /// Asks the kernels for their factors. False if a node is not at rest, with sound in its last block as in this one:
  /// then nothing would be written to it.
  @inline(never) @_noLocks private func settle(
    _ chain: UnsafeMutablePointer<Chain>, _ first: UnsafeMutablePointer<Step>
  ) -> Bool {
    var factors = chain.pointee.factors
    let channels = Int(chain.pointee.channels)
    chain.pointee.modulation = nil
    var isAnyExamined = false
    var index = 0
    while index < Int(chain.pointee.count) {
      let step = first + index
      let node = step.pointee.node
      guard !node.pointee.isMoving, !node.pointee.isReached, !node.pointee.isAsleep,
        node.pointee.modulated == step.pointee.modulated,
        node.pointee.isCellSilent || frames != blockCapacity, !node.pointee.isSilent.load(ordering: .relaxed)
      else { return false }
      if let binding = chain.pointee.modulations[index] {
        guard binding.pointee.isSingle, let (frames, gain) = modulation(binding) else { return false }
        chain.pointee.modulation = frames
        chain.pointee.modulationGain = gain
        chain.pointee.modulationSilence =
          binding.pointee.sum?.pointee.sources.pointee.silence ?? binding.pointee.silence
        var channel = 0
        while channel < channels {
          factors[channel] = binding.pointee.base
          channel &+= 1
        }
      } else {
        let surroundings = UnsafeRawPointer(step).assumingMemoryBound(to: NodeContext.self)
        let block = Block(context, surroundings)
        guard dispatchFactors(node.pointee.tag, node.pointee.kernel, block, factors) else { return false }
      }
      let isExamined = step.pointee.mayGrow || node.pointee.amplifies
      chain.pointee.isExamined[index] = isExamined
      if isExamined { isAnyExamined = true }
      factors += channels
      index &+= 1
    }
    chain.pointee.isAnyExamined = isAnyExamined
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

  /// Multiplies a whole block of a single step. Its output is never the memory of its input: if the node would have to be
  /// muted, it may be run once more. False: it would.
  @inline(__always) @_noLocks private func multiplyOnce(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    var bits = MagnitudeBits()
    let channels = Int(chain.pointee.channels)
    let (from, to) = (chain.pointee.input, chain.pointee.output)
    if let frames = chain.pointee.modulation {
      guard let silence = chain.pointee.modulationSilence, !silence.pointee else { return false }
      multiply(from, chain, frames, to: to, &bits)
    } else {
      multiply(from, chain.pointee.factors.pointee, to: to, &bits)
      if channels > 1 {
        let stride = Int(chain.pointee.inputStride)
        var channel = 1
        while channel < channels {
          multiply(
            from + channel &* stride, chain.pointee.factors[channel], to: to + channel &* blockCapacity, &bits
          )
          channel &+= 1
        }
      }
    }
    guard chain.pointee.isAnyExamined, bits.mayBeUnfit else { return true }
    return !isPartUnfit(OutputPort(base: to, count: channels))
  }

  /// Adding zero turns -0 into 0, as in the kernels.
  @inline(__always) @_noLocks private func multiply(
    _ from: UnsafePointer<Float>, _ factor: Float, to: UnsafeMutablePointer<Float>,
    _ bits: inout MagnitudeBits
  ) {
    let (a, b) = (from.vector(0) * factor + 0, from.vector(16) * factor + 0)
    let (c, d) = (from.vector(32) * factor + 0, from.vector(48) * factor + 0)
    to.store(a, 0)
    to.store(b, 16)
    to.store(c, 32)
    to.store(d, 48)
    bits.add(a, b, c, d)
  }

  /// The same with a factor that a cable modulates.
  @inline(__always) @_noLocks private func multiply(
    _ from: UnsafePointer<Float>, _ chain: UnsafeMutablePointer<Chain>, _ frames: UnsafePointer<Float>,
    to: UnsafeMutablePointer<Float>, _ bits: inout MagnitudeBits
  ) {
    let gain = chain.pointee.modulationGain
    let (e, f) = (frames.vector(0) * gain, frames.vector(16) * gain)
    let (g, h) = (frames.vector(32) * gain, frames.vector(48) * gain)
    let channels = Int(chain.pointee.channels)
    var channel = 0
    repeat {
      let from = from + channel &* Int(chain.pointee.inputStride)
      let to = to + channel &* blockCapacity
      let factor = chain.pointee.factors[channel]
      let (a, b) = (from.vector(0) * (factor + e) + 0, from.vector(16) * (factor + f) + 0)
      let (c, d) = (from.vector(32) * (factor + g) + 0, from.vector(48) * (factor + h) + 0)
      to.store(a, 0)
      to.store(b, 16)
      to.store(c, 32)
      to.store(d, 48)
      bits.add(a, b, c, d)
      channel &+= 1
    } while channel < channels
  }

  /// Multiplies a whole block of several steps. False if a node would have to be muted, or a modulation is not what it was.
  @inline(never) @_noLocks private func multiply(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    // The output may be the memory of the input: nothing may be written that would have to be taken back.
    var bits = MagnitudeBits()
    guard multiply(chain, to: scratch, &bits) else { return false }
    if bits.mayBeUnfit, isAnyUnfit(chain) { return false }
    var (from, to) = (UnsafePointer(scratch), chain.pointee.output)
    var channel = 0
    while channel < Int(chain.pointee.channels) {
      let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      to.store(a, 0)
      to.store(b, 16)
      to.store(c, 32)
      to.store(d, 48)
      from += blockCapacity
      to += blockCapacity
      channel &+= 1
    }
    return true
  }

  /// True if a node would have to be muted.
  @inline(never) @_noLocks private func isAnyUnfit(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    var magnitudes = Magnitudes()
    return !multiply(chain, to: scratch, &magnitudes) || magnitudes.areUnfit
  }

  /// Multiplies a whole block, channel by channel. False if a modulation is not what it was. Generic, and so checked where it
  /// is called.
  @inline(__always) private func multiply(
    _ chain: UnsafeMutablePointer<Chain>, to output: UnsafeMutablePointer<Float>,
    _ magnitudes: inout some MagnitudeSum
  ) -> Bool {
    let (count, channels) = (Int(chain.pointee.count), Int(chain.pointee.channels))
    let stride = Int(chain.pointee.inputStride)
    var channel = 0
    while channel < channels {
      let from = chain.pointee.input + channel &* stride
      let to = output + channel &* blockCapacity
      var (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      var factor = chain.pointee.factors + channel
      let isExamined = chain.pointee.isExamined
      var index = 0
      while index < count {
        let times = factor.pointee
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
    return true
  }
}

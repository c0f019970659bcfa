import Realtime

// Chains of multiplications and additions. Audio thread, all of it.

extension StepRunner {
  /// Runs the chain that begins with a step, if all of its nodes are at rest and nobody measures them. False: nothing has
  /// happened, and its steps have to be run one by one. So they are also where the blast shield would mute a node,
  /// which is then found as it always is.
  @inline(__always) @_noLocks func runChain(_ step: UnsafeMutablePointer<Step>) -> Bool {
    let chain = step.pointee.chain
    if !isMetering, !chain.pointee.inputSilence.pointee,
      chain.pointee.settledAt == moves || settle(chain, step), chain.pointee.sum == nil || add(chain),
      chain.pointee.isSingle ? runSingle(chain) : runAll(chain)
    {
      chain.pointee.outputSilence.pointee = false
      if frames != blockCapacity { noteInputs(step, Int(chain.pointee.count)) }
      return true
    }
    chain.pointee.settledAt = 0
    return false
  }

  /// Notes in a part of a cell that sound came into the nodes of a chain. In a whole one it makes no difference.
  @inline(never) @_noLocks func noteInputs(_ first: UnsafeMutablePointer<Step>, _ count: Int) {
    var step = first
    let end = first + count
    while step != end {
      if step.pointee.portCount > 0 { noteInput(step.pointee.node) }
      step += 1
    }
  }

  /// Sums the cables into a chain. False: not all of them are at rest, or none brings sound.
  @inline(__always) @_noLocks private func add(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    guard let sum = chain.pointee.sum, isWhole(sum) else { return false }
    return addWhole(sum) != .silent
  }

  /// Asks the kernels for their numbers. False if a node is not at rest, with sound in its last block as in this one:
  /// then nothing would be written to it.
  @inline(never) @_noLocks private func settle(
    _ chain: UnsafeMutablePointer<Chain>, _ first: UnsafeMutablePointer<Step>
  ) -> Bool {
    var affines = chain.pointee.affines
    let channels = Int(chain.pointee.channels)
    chain.pointee.isModulated = false
    chain.pointee.isAnyExamined = false
    var index = 0
    while index < Int(chain.pointee.count) {
      let step = first + index
      let node = step.pointee.node
      let surroundings = UnsafeRawPointer(step).assumingMemoryBound(to: NodeContext.self)
      guard !node.pointee.isMoving, !node.pointee.isReached, !node.pointee.isAsleep,
        node.pointee.modulated == step.pointee.modulated,
        node.pointee.isCellSilent || frames != blockCapacity, !node.pointee.isSilent.load(ordering: .relaxed),
        dispatchAffine(node.pointee.tag, node.pointee.kernel, Block(context, surroundings), affines)
      else { return false }
      let link = chain.pointee.links + index
      if let binding = link.pointee.binding {
        guard settle(link, binding, affines, channels) else { return false }
        chain.pointee.isModulated = true
      }
      link.pointee.isExamined = step.pointee.mayGrow || node.pointee.amplifies
      if link.pointee.isExamined { chain.pointee.isAnyExamined = true }
      affines += channels
      index &+= 1
    }
    chain.pointee.first = chain.pointee.affines.pointee
    chain.pointee.settledAt = moves
    return true
  }

  /// Finds the signal that modulates a step's factor or addend. In place of that number the step gets the constant to which
  /// the signal is added: the parameter's own value, or that of the kind's formula. False: the signal moves or is silent.
  @inline(__always) @_noLocks private func settle(
    _ link: UnsafeMutablePointer<ChainLink>, _ binding: UnsafeMutablePointer<InputBinding>,
    _ affines: UnsafeMutablePointer<Affine>, _ channels: Int
  ) -> Bool {
    let isInput = binding.pointee.parameter < 0
    guard isInput || binding.pointee.isSingle, find(binding, link) else { return false }
    var base = binding.pointee.base
    if isInput {
      // The signal and the step's own number are one gain. That of the cable times it would be rounded.
      let (factor, addend) = (affines.pointee.factor, affines.pointee.addend)
      let own = link.pointee.isAddend ? addend : factor
      guard link.pointee.gain == 1 || own == 1 else { return false }
      link.pointee.gain *= own
      base = link.pointee.isAddend ? 0 : addend
      var channel = 1
      while channel < channels {
        if affines[channel].factor != factor || affines[channel].addend != addend { return false }
        channel &+= 1
      }
    }
    var channel = 0
    while channel < channels {
      affines[channel] =
        link.pointee.isAddend
        ? Affine(factor: affines[channel].factor, addend: base) : Affine(factor: base, addend: 0)
      channel &+= 1
    }
    return true
  }

  /// Finds the frames that modulate a step, and their gain. False: no single cable at rest brings sound.
  @inline(__always) @_noLocks private func find(
    _ binding: UnsafeMutablePointer<InputBinding>, _ link: UnsafeMutablePointer<ChainLink>
  ) -> Bool {
    link.pointee.gain = 1
    guard let sum = binding.pointee.sum else {
      link.pointee.frames = binding.pointee.channels[0]
      link.pointee.silence = binding.pointee.silence
      return !binding.pointee.silence.pointee
    }
    let source = sum.pointee.sources
    if binding.pointee.parameter >= 0 {
      guard isLeftToNode(binding, sum) else { return false }
    } else {
      guard isWhole(sum), areSounding(source, source + 1) else { return false }
    }
    link.pointee.frames = source.pointee.base
    link.pointee.silence = source.pointee.silence
    link.pointee.gain = source.pointee.gain
    return true
  }

  /// Runs a whole block of a single step. Where its output is the memory of its input, that is a sum, which can be written once
  /// more: if the node would have to be muted, it may be run again. False: it would, or a modulation is not what it was.
  @inline(__always) @_noLocks private func runSingle(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    var bits = MagnitudeBits()
    let channels = Int(chain.pointee.channels)
    let (from, to) = (chain.pointee.input, chain.pointee.output)
    if chain.pointee.isModulated {
      guard runModulated(chain, &bits) else { return false }
    } else {
      run(from, chain.pointee.first, to: to, &bits)
      if channels > 1 {
        let stride = Int(chain.pointee.inputStride)
        var channel = 1
        while channel < channels {
          run(
            from + channel &* stride, chain.pointee.affines[channel], to: to + channel &* blockCapacity, &bits
          )
          channel &+= 1
        }
      }
    }
    guard chain.pointee.isAnyExamined, bits.mayBeUnfit else { return true }
    return !isPartUnfit(OutputPort(base: to, count: channels))
  }

  @inline(__always) @_noLocks private func run(
    _ from: UnsafePointer<Float>, _ affine: Affine, to: UnsafeMutablePointer<Float>,
    _ bits: inout MagnitudeBits
  ) {
    var block = WholeBlock(from)
    block.multiply(by: affine)
    block.store(to: to)
    block.measure(&bits)
  }

  /// The same with a factor or an addend that a cable modulates.
  @inline(__always) @_noLocks private func runModulated(
    _ chain: UnsafeMutablePointer<Chain>, _ bits: inout MagnitudeBits
  ) -> Bool {
    let link = chain.pointee.links
    guard link.pointee.frames != nil, link.pointee.isHeard else { return false }
    let channels = Int(chain.pointee.channels)
    var channel = 0
    while channel < channels {
      var block = WholeBlock(chain.pointee.input + channel &* Int(chain.pointee.inputStride))
      modulate(&block, link, chain.pointee.affines[channel], channel)
      block.store(to: chain.pointee.output + channel &* blockCapacity)
      block.measure(&bits)
      channel &+= 1
    }
    return true
  }

  /// Passes a block of one channel through a step whose modulation is heard.
  @inline(__always) @_noLocks func modulate(
    _ block: inout WholeBlock, _ link: UnsafeMutablePointer<ChainLink>, _ affine: Affine, _ channel: Int
  ) {
    guard let frames = link.pointee.frames else { return }
    let signal = frames + channel &* Int(link.pointee.stride)
    if !link.pointee.isAddend {
      block.multiply(by: affine, factorPlus: signal, times: link.pointee.gain)
    } else if affine.factor == 0 {
      // A constant: the input, which is finite, counts for nothing.
      block = WholeBlock(signal, times: link.pointee.gain, plus: affine.addend)
    } else {
      block.multiply(by: affine, addendPlus: signal, times: link.pointee.gain)
    }
  }

  /// Runs a whole block of several steps. False if a node would have to be muted, or a modulation is not what it was.
  @inline(never) @_noLocks private func runAll(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    // The output may be the memory of the input: nothing may be written that would have to be taken back.
    var bits = MagnitudeBits()
    guard run(chain, to: scratch, &bits) else { return false }
    if bits.mayBeUnfit, isAnyUnfit(chain) { return false }
    var (from, to) = (UnsafePointer(scratch), chain.pointee.output)
    var channel = 0
    while channel < Int(chain.pointee.channels) {
      WholeBlock(from).store(to: to)
      from += blockCapacity
      to += blockCapacity
      channel &+= 1
    }
    return true
  }

  /// True if a node would have to be muted.
  @inline(never) @_noLocks private func isAnyUnfit(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    var magnitudes = Magnitudes()
    return !run(chain, to: scratch, &magnitudes) || magnitudes.areUnfit
  }

  /// Runs a whole block, channel by channel. False if a modulation is not what it was. Generic, and so checked where it is
  /// called.
  @inline(__always) private func run(
    _ chain: UnsafeMutablePointer<Chain>, to output: UnsafeMutablePointer<Float>,
    _ magnitudes: inout some MagnitudeSum
  ) -> Bool {
    let (channels, stride) = (Int(chain.pointee.channels), Int(chain.pointee.inputStride))
    var channel = 0
    while channel < channels {
      var block = WholeBlock(chain.pointee.input + channel &* stride)
      guard pass(&block, through: chain, channel, &magnitudes) else { return false }
      block.store(to: output + channel &* blockCapacity)
      channel &+= 1
    }
    return true
  }

  /// Runs a block of one channel through all steps. False if a modulation is not what it was. Generic, and so checked where it is
  /// called.
  @discardableResult @inline(__always) func pass(
    _ block: inout WholeBlock, through chain: UnsafeMutablePointer<Chain>, _ channel: Int,
    _ magnitudes: inout some MagnitudeSum
  ) -> Bool {
    var affine = chain.pointee.affines + channel
    var link = chain.pointee.links
    let end = link + Int(chain.pointee.count)
    while link != end {
      if link.pointee.frames != nil {
        guard link.pointee.isHeard else { return false }
        modulate(&block, link, affine.pointee, channel)
      } else {
        block.multiply(by: affine.pointee)
      }
      if link.pointee.isExamined { block.measure(&magnitudes) }
      affine += Int(chain.pointee.channels)
      link += 1
    }
    return true
  }
}

import Realtime

// Sums of whole blocks at rest. Audio thread, all of it.

/// Sum of whole blocks.
enum WholeSum {
  /// No cable brings sound, and nothing was written.
  case silent
  /// No frame exceeds the limit of the blast shield.
  case fit
  /// Some may.
  case doubtful
}

extension StepRunner {
  /// Runs a node that passes the sum of its cables on, where that is its output. False: something is not at rest, and it has to
  /// be run as others are.
  @inline(__always) @_noLocks func passOn(_ step: UnsafeMutablePointer<Step>) -> Bool {
    let (node, sum) = (step.pointee.node, step.pointee.sum)
    guard isWhole(sum), !isMetering, !node.pointee.isAsleep,
      !node.pointee.isMoving, node.pointee.modulated == 0
    else { return false }
    switch addWhole(sum) {
    case .silent: return false
    case .fit: break
    case .doubtful: if isPartUnfit(step.pointee.context.outputs[0]) { return false }
    }
    noteSound(step, node)
    return true
  }

  /// Sums cables without taps or delays, at rest, with a channel's whole block in registers: each source is read once, and the
  /// sum is written once. In the order of the cables, as `MixSum` adds them, to the bit.
  @inline(__always) @_noLocks func addWhole(_ inlet: UnsafeMutablePointer<InletSum>) -> WholeSum {
    inlet.pointee.wereAllHeard && inlet.pointee.isFew ? addFew(inlet) : addMany(inlet)
  }

  /// The same of two to four cables at unity: without a loop, which would take as long as the sum.
  @inline(never) @_noLocks private func addFew(_ inlet: UnsafeMutablePointer<InletSum>) -> WholeSum {
    guard inlet.pointee.few.areSounding else { return addMany(inlet) }
    var (p, q, r, s) = inlet.pointee.few.channels
    let sources = inlet.pointee.sources
    let count = inlet.pointee.sourceCount
    if inlet.pointee.silence.pointee { inlet.pointee.silence.pointee = false }
    var bits = MagnitudeBits()
    let (output, channels) = (inlet.pointee.output[0], inlet.pointee.output.count)
    var channel = 0
    while true {
      var total = WholeBlock(p)
      total.add(WholeBlock(q))
      if count > 2 { total.add(WholeBlock(r)) }
      if count > 3 { total.add(WholeBlock(s)) }
      total.measure(&bits)
      total.store(to: output + channel &* blockCapacity)
      channel &+= 1
      if channel == channels { break }
      (p, q) = (sources.pointee.channel(channel), sources[1].channel(channel))
      if count > 2 { r = sources[2].channel(channel) }
      if count > 3 { s = sources[3].channel(channel) }
    }
    return bits.mayBeUnfit ? .doubtful : .fit
  }

  /// The same of any number of cables.
  @inline(never) @_noLocks private func addMany(_ inlet: UnsafeMutablePointer<InletSum>) -> WholeSum {
    let end = inlet.pointee.sources + Int(inlet.pointee.sourceCount)
    let begun = begun(inlet)
    let first = begun?.pointee.next ?? inlet.pointee.sources
    let areAllHeard = inlet.pointee.wereAllHeard && areAllSounding(first, end)
    if !areAllHeard {
      let sounding = listen(inlet.pointee.sources, end)
      inlet.pointee.wereAllHeard = sounding == Int(inlet.pointee.sourceCount)
      inlet.pointee.silence.pointee = sounding == 0
      guard sounding > 0 else { return .silent }
    } else if inlet.pointee.silence.pointee {
      inlet.pointee.silence.pointee = false
    }
    if let running = inlet.pointee.running { arm(running, inlet, areAllHeard: areAllHeard) }
    var bits = MagnitudeBits()
    let output = inlet.pointee.output
    var channel = 0
    while channel < output.count {
      // A number added to minus zero stays as it is.
      var total = WholeBlock(repeating: -0.0)
      if let begun { total = WholeBlock(UnsafePointer(begun.pointee.frames + channel &* blockCapacity)) }
      var source = first
      if inlet.pointee.isUnity {
        // In pairs, so that the loop's own work counts for less.
        while areAllHeard, end - source > 1 {
          total.add(WholeBlock(source.pointee.channel(channel)))
          total.add(WholeBlock(source[1].channel(channel)))
          source += 2
        }
        while source != end {
          if !source.pointee.wasSilent { total.add(WholeBlock(source.pointee.channel(channel))) }
          source += 1
        }
      } else {
        while source != end {
          if !source.pointee.wasSilent {
            total.add(WholeBlock(source.pointee.channel(channel)), times: source.pointee.gain)
          }
          source += 1
        }
      }
      total.measure(&bits)
      total.store(to: output[channel])
      channel &+= 1
    }
    return bits.mayBeUnfit ? .doubtful : .fit
  }

  /// The running sum of an inlet, if chains have added to it in this block.
  @inline(__always) @_noLocks private func begun(
    _ inlet: UnsafeMutablePointer<InletSum>
  ) -> UnsafeMutablePointer<RunningSum>? {
    guard let running = inlet.pointee.running, running.pointee.block == block,
      running.pointee.next != running.pointee.first
    else { return nil }
    return running
  }

  /// Lets chains add to a sum in the blocks to come, as long as nothing moves. What has been added in this one stays: the sum may
  /// be asked for again.
  @inline(__always) @_noLocks private func arm(
    _ running: UnsafeMutablePointer<RunningSum>, _ inlet: UnsafeMutablePointer<InletSum>, areAllHeard: Bool
  ) {
    let count = areAllHeard ? moves : 0
    guard running.pointee.moves != count || running.pointee.serial != serial else { return }
    running.pointee.moves = count
    running.pointee.serial = serial
    running.pointee.channels = Int32(truncatingIfNeeded: inlet.pointee.output.count)
    running.pointee.first = inlet.pointee.sources
    running.pointee.end = inlet.pointee.sources + Int(inlet.pointee.sourceCount)
  }

  /// True if every cable brings sound. Without a branch for each.
  @inline(__always) @_noLocks private func areAllSounding(
    _ first: UnsafeMutablePointer<MixSource>, _ end: UnsafeMutablePointer<MixSource>
  ) -> Bool {
    var silences: UInt8 = 0
    var source = first
    while source != end {
      silences |= source.pointee.silenceByte
      source += 1
    }
    return silences == 0
  }

  /// Notes which cables bring sound. Returns their number.
  @inline(__always) @_noLocks private func listen(
    _ first: UnsafeMutablePointer<MixSource>, _ end: UnsafeMutablePointer<MixSource>
  ) -> Int {
    var count = 0
    var source = first
    while source != end {
      let isSilent = source.pointee.silence.pointee
      if isSilent != source.pointee.wasSilent { publish(source, isSilent: isSilent) }
      count &+= isSilent ? 0 : 1
      source += 1
    }
    return count
  }
}

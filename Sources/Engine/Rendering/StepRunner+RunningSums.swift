import CVector
import Realtime

// Sums that are added up while their sources run. Audio thread, all of it.

extension StepRunner {
  /// The largest number of chains in one group, and the smallest group that a sum begins with. Smaller groups cost more than
  /// they save.
  private static var mostInTurn: Int { @_noLocks get { 32 } }
  private static var leastInTurn: Int { @_noLocks get { 4 } }

  /// True if it is the turn of the cable that brings what stands at `output`.
  @inline(__always) @_noLocks private func isTurn(
    of output: UnsafeMutablePointer<Float>, in sum: UnsafeMutablePointer<RunningSum>
  ) -> Bool {
    guard sum.pointee.moves == moves, sum.pointee.serial == serial, split == nil else { return false }
    if sum.pointee.block != block {
      sum.pointee.block = block
      sum.pointee.next = sum.pointee.first
    }
    let source = sum.pointee.next
    return source != sum.pointee.end && source.pointee.base == UnsafePointer(output)
  }

  /// Runs chains that follow each other, and whose turn it is to add to the same sum: with a channel of the sum in registers.
  /// Returns the step behind them; nil: nothing has happened.
  @inline(never) @_noLocks func runInTurn(
    _ first: UnsafeMutablePointer<Step>, before end: UnsafeMutablePointer<Step>
  ) -> UnsafeMutablePointer<Step>? {
    let chain = first.pointee.chain
    guard !isMetering, let sum = chain.pointee.running, isTurn(of: chain.pointee.output, in: sum)
    else { return nil }
    let turns = countTurns(from: first, before: end, sum)
    if turns.count < Self.leastInTurn, sum.pointee.next == sum.pointee.first {
      // No chain tries again in this block.
      sum.pointee.moves = 0
      return nil
    }
    guard turns.count > 0, addInTurn(first, turns.count, sum) else { return nil }
    var channel = 0
    while channel < Int(sum.pointee.channels) {
      let row = channel &* blockCapacity
      WholeBlock(UnsafePointer(scratch + row)).store(to: sum.pointee.frames + row)
      channel &+= 1
    }
    sum.pointee.next += turns.count
    if frames != blockCapacity { noteInputs(first, turns.end - first) }
    return turns.end
  }

  /// The number of chains that are at rest, with sound in their inputs, and the step behind them. Their outputs are marked as
  /// sounding.
  @inline(__always) @_noLocks private func countTurns(
    from first: UnsafeMutablePointer<Step>, before end: UnsafeMutablePointer<Step>,
    _ sum: UnsafeMutablePointer<RunningSum>
  ) -> (count: Int, end: UnsafeMutablePointer<Step>) {
    var (step, source) = (first, sum.pointee.next)
    let rest = sum.pointee.end - source
    let last = source + (rest < Self.mostInTurn ? rest : Self.mostInTurn)
    while step != end, source != last, step.pointee.operation == .chain {
      let chain = step.pointee.chain
      guard chain.pointee.running == sum, chain.pointee.settledAt == moves,
        source.pointee.base == UnsafePointer(chain.pointee.output), chain.pointee.sum == nil,
        !chain.pointee.inputSilence.pointee, !chain.pointee.isModulated || isModulationHeard(chain)
      else { break }
      fetch(step + 2, before: end)
      chain.pointee.outputSilence.pointee = false
      step += chain.pointee.isSingle ? 1 : Int(chain.pointee.count)
      source += 1
    }
    return (source - sum.pointee.next, step)
  }

  @inline(__always) @_noLocks private func isModulationHeard(_ chain: UnsafeMutablePointer<Chain>) -> Bool {
    var link = chain.pointee.links
    if chain.pointee.isSingle { return link.pointee.isHeard }
    let end = link + Int(chain.pointee.count)
    while link != end {
      if !link.pointee.isHeard { return false }
      link += 1
    }
    return true
  }

  /// Adds the outputs of chains to a sum, in scratch memory. False if the blast shield would have to look closer.
  @inline(__always) @_noLocks private func addInTurn(
    _ first: UnsafeMutablePointer<Step>, _ count: Int, _ sum: UnsafeMutablePointer<RunningSum>
  ) -> Bool {
    var bits = MagnitudeBits()
    let isBegun = sum.pointee.next != sum.pointee.first
    var channel = 0
    while channel < Int(sum.pointee.channels) {
      let row = channel &* blockCapacity
      // A number added to minus zero stays as it is.
      var total = WholeBlock(repeating: -0.0)
      if isBegun { total = WholeBlock(UnsafePointer(sum.pointee.frames + row)) }
      var (step, source) = (first, sum.pointee.next)
      let end = source + count
      while source != end {
        let (chain, gain) = (step.pointee.chain, source.pointee.gain)
        // Channel of the chain.
        let place = (channel &* Int(source.pointee.stride)) / blockCapacity
        var from = chain.pointee.input
        if place > 0 { from += place &* Int(chain.pointee.inputStride) }
        if chain.pointee.isSingle {
          let affine = place > 0 ? chain.pointee.affines[place] : chain.pointee.first
          var block: WholeBlock
          if chain.pointee.isModulated {
            block = WholeBlock(from)
            modulate(&block, chain.pointee.links, affine, place)
          } else if affine.factor == 0 {
            // A constant, or a gain that is shut: sound is finite, and times zero is zero.
            block = WholeBlock(repeating: affine.addend)
          } else {
            block = WholeBlock(from)
            block.multiply(by: affine)
          }
          if chain.pointee.isAnyExamined { block.measure(&bits) }
          total.add(block, times: gain)
          step += 1
        } else {
          var block = WholeBlock(from)
          pass(&block, through: chain, place, &bits)
          total.add(block, times: gain)
          step += Int(chain.pointee.count)
        }
        source += 1
      }
      total.store(to: scratch + row)
      channel &+= 1
    }
    return !bits.mayBeUnfit
  }
}

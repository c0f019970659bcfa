import Realtime

// Nodes that a transaction reaches within the block. Audio thread, all of it.

extension StepRunner {
  /// Runs a node in two parts, before the transaction and after it: kernels give the same bits however frames are split.
  @inline(never) @_noLocks mutating func runSplit(
    _ step: UnsafeMutablePointer<Step>, _ split: UnsafeMutablePointer<BlockSplit>
  ) {
    let node = step.pointee.node
    node.pointee.isReached = false
    sumInputs(step)
    let (start, whole, room) = (now, frames, scratch)
    let (first, rest) = (split.pointee.frames, frames &- split.pointee.frames)
    let second = SecondPart(of: step, from: first, frames: rest, room: room)
    scratch = room + step.pointee.partFloats
    var wasSilent = true
    if !split.pointee.begins(node) {
      setTime(to: start, frames: first)
      runNode(step)
      wasSilent = step.pointee.isSilent
    }
    split.pointee.execute(on: node)
    setTime(to: start &+ Int64(first), frames: rest)
    second.exchange(step)
    runNode(step)
    second.exchange(step)
    second.append(to: step, from: first, frames: rest, wasSilent: wasSilent)
    scratch = room
    setTime(to: start, frames: whole)
  }
}

/// Inputs and outputs of a step in the second part of its block, in memory of their own: the first part may overwrite its
/// inputs, and kernels write whole vectors from the start of their outputs. Audio thread.
private struct SecondPart {
  /// The outputs' channels in a row.
  private let outputs: UnsafeMutablePointer<Float>
  /// Addresses for the channels of all inputs that sound, and for the outputs.
  private let addresses: UnsafeMutablePointer<UnsafeMutablePointer<Float>>

  /// Copies the inputs from the frame `first` on. `room` for `Step.partFloats`.
  @_noLocks init(
    of step: UnsafeMutablePointer<Step>, from first: Int, frames: Int, room: UnsafeMutablePointer<Float>
  ) {
    outputs = room
    let inputs = room + step.pointee.writtenChannels &* blockCapacity
    let table = inputs + step.pointee.heardChannels &* blockCapacity
    addresses = UnsafeMutableRawPointer(table).assumingMemoryBound(to: UnsafeMutablePointer<Float>.self)
    var count = 0
    var port = 0
    while port < Int(step.pointee.portCount) {
      let binding = step.pointee.bindings[port]
      let channels = binding.silence.pointee ? 0 : step.pointee.ports[port].count
      var channel = 0
      while channel < channels {
        addresses[count] = inputs + count &* blockCapacity
        copyMemory(addresses[count], binding.channels[channel] + first, frames &* 4)
        count &+= 1
        channel &+= 1
      }
      port &+= 1
    }
    var place = outputs
    port = 0
    while port < Int(step.pointee.outputCount) {
      addresses[count &+ port] = place
      place += step.pointee.context.outputs[port].count &* blockCapacity
      port &+= 1
    }
  }

  /// Gives the step the other addresses, and keeps those that it had.
  @_noLocks func exchange(_ step: UnsafeMutablePointer<Step>) {
    var count = 0
    var port = 0
    while port < Int(step.pointee.portCount) {
      let binding = step.pointee.bindings[port]
      let table = UnsafeMutablePointer(mutating: binding.channels)
      let channels = binding.silence.pointee ? 0 : step.pointee.ports[port].count
      var channel = 0
      while channel < channels {
        let other = addresses[count]
        addresses[count] = UnsafeMutablePointer(mutating: table[channel])
        table[channel] = UnsafePointer(other)
        count &+= 1
        channel &+= 1
      }
      port &+= 1
    }
    let ports = UnsafeMutablePointer(mutating: step.pointee.context.outputs)
    port = 0
    while port < Int(step.pointee.outputCount) {
      let other = addresses[count &+ port]
      addresses[count &+ port] = ports[port].base
      ports[port].base = other
      port &+= 1
    }
  }

  /// Puts the outputs behind those of the first part.
  @_noLocks func append(
    to step: UnsafeMutablePointer<Step>, from first: Int, frames: Int, wasSilent: Bool
  ) {
    let isSilent = step.pointee.isSilent
    if wasSilent, isSilent { return }
    var place = outputs
    var port = 0
    while port < Int(step.pointee.outputCount) {
      let output = step.pointee.context.outputs[port]
      var channel = 0
      while channel < output.count {
        if output.isRead {
          if wasSilent { setMemory(output[channel], 0, first &* 4) }
          if isSilent {
            setMemory(output[channel] + first, 0, frames &* 4)
          } else {
            copyMemory(output[channel] + first, place, frames &* 4)
          }
        }
        place += blockCapacity
        channel &+= 1
      }
      step.pointee.outputSilence[port] = false
      port &+= 1
    }
  }
}

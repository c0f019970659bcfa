import Patch
import Realtime

// Change of the driver's sample rate. No audio thread runs meanwhile. Worker, all of it.

extension Engine {
  /// Follows a driver with another rate or period: sounding notes keep their pitch, fades their time in
  /// seconds. No audio thread may run.
  public func retune(rate newRate: Double, period newPeriod: Int) {
    period = newPeriod
    guard newRate != rate else { return }
    retuning()
    // Waiting edits were prepared for the old rate. Their exact times are over with the driver that had them.
    renderer.executeWaiting()
    // Fades that have begun become known here, and their ends are stretched too.
    toldUntil = .max
    collect()
    // Later edits take effect at the same frame as those that have waited.
    latestExecution = min(latestExecution, renderer.time - 1)
    latestKnown = -1
    let pending = pending
    for transaction in pending { transaction.adoptNow() }
    for node in graph.nodesByKey.values { node.retune(from: rate, to: newRate, pending) }
    for node in graph.shelf.nodes { node.retune(from: rate, to: newRate, pending) }
    for cable in graph.cables.values { cable.stretch(by: newRate / rate, at: renderer.time) }
    rate = newRate
    if isTaping { stamps.append(Stamp(time: renderer.time, meaning: .rate(newRate))) }
    renderer.setRate(newRate)
    edits.setRate(newRate)
  }
}

extension EngineNode {
  /// `pending`: transactions that are not executed yet; they may hold memory for more channels.
  fileprivate func retune(from old: Double, to new: Double, _ pending: [Transaction]) {
    guard let type, let slot, let kernelMemory else { return }
    for index in 0..<Int(slot.pointee.parameterCount) {
      slot.pointee.parameters[index].stretch(by: new / old)
    }
    guard lack == 0 else { return }
    let size = type.memorySize(largestConfiguration(rate: new))
    guard size != type.memorySize(largestConfiguration(rate: old)) else {
      type.retune(slot.pointee.kernel, old, new, nil)
      return
    }
    let memory = kernelMemory.another(size)
    type.retune(slot.pointee.kernel, old, new, memory.base)
    // Memory that it is still to widen into changes its size too.
    var newest = memory
    for transaction in pending { newest = transaction.moveWidening(of: slot, from: newest, size: size) }
    kernelMemory.deallocate()
    self.kernelMemory = newest
    bytes = size + type.size
  }
}

extension Transaction {
  /// Carries out adoptions ahead of time: both kernels have one memory, which is about to change.
  fileprivate func adoptNow() {
    change { command in
      guard case .adopt(let slot, _, _) = command else { return }
      command.execute(on: slot)
      command = .begin(slot)
    }
  }

  /// Replaces the memory that a pending widening moves a kernel into. `memory` is where the kernel is before
  /// this transaction; it is freed afterwards. Returns where the kernel is after it.
  fileprivate func moveWidening(
    of slot: UnsafeMutablePointer<NodeSlot>, from memory: KernelMemory, size: Int
  ) -> KernelMemory {
    var newest = memory
    change { command in
      guard case .widen(slot, _, var widening) = command else { return }
      widening.bytes = size
      garbage.append(.memory(newest))
      newest = newest.another(size)
      command = .widen(slot, memory: newest.base, widening)
    }
    return newest
  }
}

extension ParameterState {
  fileprivate mutating func stretch(by factor: Double) {
    for element in 0..<capacity { ramps[element].stretch(by: factor) }
    crossfade.stretch(by: factor)
  }
}

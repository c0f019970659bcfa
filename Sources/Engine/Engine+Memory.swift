// Recycling of plan memory. Worker.

extension Engine {
  /// Bytes kept for later plans, in addition to the memory of two plans.
  private static let spareBytes = 1 << 24

  func planMemory() -> PlanMemory { spareMemory.popLast() ?? PlanMemory() }

  /// Keeps a plan's memory for another plan, enough for edits in quick succession. Allocating and freeing it
  /// with each edit would fragment the heap.
  func keepPlanMemory(_ memory: PlanMemory) {
    let kept = spareMemory.reduce(memory.bytes) { $0 + $1.bytes }
    if spareMemory.count < 2 || kept <= Self.spareBytes { spareMemory.append(memory) }
  }

  /// Prepares memory for the next plan, so that no edit waits for page faults. Call it now and then in live
  /// use.
  public func prepareMemory() {
    guard spareMemory.isEmpty, isSettled, let running else { return }
    spareMemory.append(PlanMemory(like: running.memory))
  }
}

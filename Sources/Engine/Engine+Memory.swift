// Memory that plans lie in, one after the other. Worker.

extension Engine {
  /// Bytes that are kept for plans to come, beside what two of them need.
  private static let spareBytes = 1 << 24

  func takePlanMemory() -> PlanMemory { spareMemory.popLast() ?? PlanMemory() }

  /// Keeps what a plan lay in for another one. As many as edits come in a hurry: memory that is asked for
  /// and given back with each of them leaves the heap in pieces.
  func keepPlanMemory(_ memory: PlanMemory) {
    let kept = spareMemory.reduce(memory.bytes) { $0 + $1.bytes }
    if spareMemory.count < 2 || kept <= Self.spareBytes { spareMemory.append(memory) }
  }

  /// Has memory ready for the next plan, so that no edit waits while the system finds it. To be called
  /// now and then, where sound is live.
  public func makeReady() {
    guard spareMemory.isEmpty, isSettled, let running else { return }
    spareMemory.append(PlanMemory(like: running.memory))
  }
}

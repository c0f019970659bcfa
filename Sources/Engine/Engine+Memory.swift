// Memory that plans lie in, one after the other. Worker.

extension Engine {
  func takePlanMemory() -> PlanMemory { spareMemory.popLast() ?? PlanMemory() }

  /// Has memory ready for the next plan, so that no edit waits while the system finds it. To be called
  /// now and then, where sound is live.
  public func makeReady() {
    guard spareMemory.isEmpty, isSettled, let running else { return }
    spareMemory.append(PlanMemory(like: running.memory))
  }
}

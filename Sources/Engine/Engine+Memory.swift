// Memory of plans. Worker.

extension Engine {
  /// Prepares memory for the next plan, so that no edit waits for page faults. Call it now and then in live
  /// use.
  public func prepareMemory() {
    guard isSettled, preparedPlan != planNumber, let running else { return }
    preparedPlan = planNumber
    running.pieces.max { $0.run.count < $1.run.count }?.prepareAnother()
  }
}

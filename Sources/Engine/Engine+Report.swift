extension Engine {
  /// Snapshot of the running graph: the plan that the audio thread switched to last, with its live figures.
  ///
  /// Reading resets the peaks: each report has the peaks since the one before. `inTurns`: in a patch of many nodes those at
  /// rest are looked at some at a time. Worker.
  public func report(inTurns: Bool = false) -> GraphReport {
    var report = GraphReport()
    report.rate = rate
    report.period = period
    report.time = renderer.time
    report.lostEvents = lostEvents
    report.lostTraceEntries = lostTraceEntries
    guard let running else { return report }
    report.isRunning = true
    report.plan = running.serial
    report.steps = running.stepCount
    report.segments = running.plan.pointee.segmentCount
    if picture?.plan !== running { picture = PlanPicture(of: running) }
    picture?.refresh(at: report.time, rate: rate, device: device, inTurns: inTurns)
    report.isMoving = picture?.isMoving ?? false
    report.stateChanges = picture?.stateChanges ?? 0
    report.looked = picture?.looked
    report.form = picture?.form
    report.latency = picture?.latency ?? 0
    report.nodes = picture?.nodes ?? []
    return report
  }

  /// Serial number of the running plan. Anything derived from the plan alone stays valid while it does not
  /// change.
  public var planNumber: Int { running?.serial ?? 0 }

  /// Latency of each output after each input that leads to it, in the running plan. As in the report, the 64
  /// frames of a cycle do not count, nor do leaving cables and cables into parameters.
  public var pathLatencies: [PathLatency] { running?.pathLatencies ?? [] }
}

extension Engine {
  /// What runs now, from the plan that the audio thread took up last and from its own figures.
  ///
  /// Reading takes the peaks: each report has those since the one before. Worker.
  public func report() -> GraphReport {
    var report = GraphReport()
    report.rate = rate
    report.period = period
    report.time = renderer.time
    report.lostEvents = lostEvents
    report.lostTraceEntries = lostTraceEntries
    guard let running else { return report }
    report.isRunning = true
    report.plan = running.serial
    report.steps = running.plan.pointee.stepCount
    report.segments = running.plan.pointee.segmentCount
    if picture?.plan !== running { picture = PlanPicture(of: running, without: Set(taps.map(\.id))) }
    picture?.refresh(at: report.time, rate: rate, device: device)
    report.latency = picture?.latency ?? 0
    report.nodes = picture?.nodes ?? []
    return report
  }
}

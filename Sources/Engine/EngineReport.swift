import Patch
import Realtime
import Synchronization

extension Engine {
  /// What runs now, from the plan that the audio thread took up last and from its own figures.
  ///
  /// Reading takes the peaks: each report has those since the one before. Worker.
  public func report() -> GraphReport {
    var report = GraphReport()
    report.rate = rate
    report.period = period
    report.time = renderer.time
    guard let running else { return report }
    report.isRunning = true
    report.plan = running.serial
    report.steps = running.plan.pointee.stepCount
    report.segments = running.plan.pointee.segmentCount
    report.latency = running.nodes.reduce(0) { latest, node in
      node.kind == "output" ? max(latest, running.latencies[node.number] ?? 0) : latest
    }
    let now = report.time
    var outgoing: [Int32: [EngineCable]] = [:]
    var incoming: [Int32: [EngineCable]] = [:]
    for cable in running.cables where cable.slot != nil {
      outgoing[cable.source.number, default: []].append(cable)
      incoming[cable.destination.number, default: []].append(cable)
    }
    let tapped = Set(taps.map(\.id))
    for node in running.nodes.reversed() where node.slot != nil && !tapped.contains(node.id) {
      report.nodes.append(
        nodeReport(node, incoming[node.number] ?? [], outgoing, now, tapped))
    }
    return report
  }

  private func nodeReport(
    _ node: EngineNode, _ incoming: [EngineCable], _ outgoing: [Int32: [EngineCable]], _ now: Int64,
    _ tapped: Set<NodeID>
  ) -> NodeReport {
    var result = NodeReport(
      id: node.id, name: node.name, kind: node.kind,
      state: state(node, incoming, outgoing[node.number] ?? [], now))
    result.voices = Int(node.slot.pointee.voices.load(ordering: .relaxed))
    result.heldNotes = Int(node.slot.pointee.held.load(ordering: .relaxed))
    if let index = node.type?.description.parameters.firstIndex(where: { $0.name == "polyphony" }) {
      result.polyphony = Int(node.values[index][0])
    }
    result.file = node.resource?.name
    result.startedAt = node.startedAt
    result.latency = Int(node.latency)

    func cables(_ list: [EngineCable]) -> [CableReport] {
      list.filter { !tapped.contains($0.destination.id) }.map {
        cableReport($0, incoming: list, outgoing: outgoing[$0.source.number] ?? [], now, tapped)
      }
    }
    let description = node.type?.description
    for port in description?.inputs ?? node.inputs {
      let list = incoming.filter { $0.key.destinationPort == port.name }
      let channels = node.inputs.firstIndex { $0.name == port.name }.map { node.inputChannels[$0] } ?? 0
      result.inputs.append(
        PortReport(name: port.name, isEvents: port.isEvents, channels: channels, cables: cables(list)))
    }
    let modulated = Set(
      incoming.compactMap { cable in
        if case .parameter = cable.input { cable.key.destinationPort } else { nil }
      })
    for name in modulated.sorted() {
      let list = incoming.filter { $0.key.destinationPort == name }
      result.inputs.append(PortReport(name: name, isEvents: false, channels: 1, cables: cables(list)))
    }
    let isQuiet =
      node.slot.pointee.isSilent.load(ordering: .relaxed)
      || node.slot.pointee.blast.load(ordering: .relaxed) != 0
    var meter = 0
    for port in description?.outputs ?? node.outputs {
      let list = (outgoing[node.number] ?? []).filter { $0.key.sourcePort == port.name }
      let index = node.outputs.firstIndex { $0.name == port.name }
      let channels = index.map { node.outputChannels[$0] } ?? 0
      var peaks: [Float] = []
      var means: [Float] = []
      for _ in 0..<channels where meter < Int(node.slot.pointee.meterCount) {
        let channel = node.slot.pointee.meters + meter
        peaks.append(Float(bitPattern: channel.pointee.peak.exchange(0, ordering: .relaxed)))
        let power = Float(bitPattern: channel.pointee.power.load(ordering: .relaxed))
        means.append(isQuiet ? 0 : power.squareRoot())
        meter += 1
      }
      var report = PortReport(
        name: port.name, isEvents: port.isEvents, channels: channels, cables: cables(list))
      report.peaks = peaks
      report.means = means
      result.outputs.append(report)
    }
    return result
  }

  private func state(
    _ node: EngineNode, _ incoming: [EngineCable], _ outgoing: [EngineCable], _ now: Int64
  ) -> NodeReport.State {
    let boundary = node.isSink ? incoming : outgoing
    let left = boundary.compactMap { secondsLeft($0, now) }.max() ?? 0
    if node.isRinging { return .ringing(secondsLeft: left) }
    if node.isLeaving { return .leaving(secondsLeft: left) }
    let blast = node.slot.pointee.blast.load(ordering: .relaxed)
    if blast != 0 { return .muted(Blast.words(Float(bitPattern: blast))) }
    if let fault = node.fault { return .placeholder(fault) }
    if node.type == nil { return .placeholder("unknown kind \(node.kind)") }
    let isEntering =
      now < node.startedAt + Int64(Engine.standardFade * rate)
      && boundary.contains { $0.target > 0 && secondsLeft($0, now) != nil }
    if isEntering { return .entering(secondsLeft: left) }
    // What has no sound of its own, such as a keyboard, is never silent.
    if node.outputs.isEmpty, !node.isSink { return .active }
    return node.slot.pointee.isSilent.load(ordering: .relaxed) ? .silent : .active
  }

  private func secondsLeft(_ cable: EngineCable, _ now: Int64) -> Double? {
    switch cable.settling {
    case .at(let end): max(0, Double(end - now) / rate)
    case .unsent(let frames), .after(_, let frames): Double(frames) / rate
    case nil: nil
    }
  }

  private func cableReport(
    _ cable: EngineCable, incoming: [EngineCable], outgoing: [EngineCable], _ now: Int64,
    _ tapped: Set<NodeID>
  ) -> CableReport {
    var toChannels = 0
    var conversion: String?
    if !cable.carriesEvents {
      switch cable.input {
      case .audio(let index): toChannels = cable.destination.inputChannels[index]
      default: toChannels = 1
      }
      conversion = cable.conversion(to: toChannels).name
    }
    let siblings = outgoing.filter {
      $0.key.sourcePort == cable.key.sourcePort && !tapped.contains($0.destination.id)
    }
    let partners = incoming.filter { $0.key.destinationPort == cable.key.destinationPort }
    let state: CableReport.State
    let isMixed = cable.settling != nil
    let gain =
      isMixed ? Float(bitPattern: cable.slot.pointee.gainNow.load(ordering: .relaxed)) : cable.target
    if !cable.isTail, let left = secondsLeft(cable, now) {
      state =
        cable.isLeaving || cable.target == 0 ? .fadingOut(secondsLeft: left) : .fadingIn(secondsLeft: left)
    } else if cable.carriesEvents {
      state = .active
    } else {
      state = cable.source.slot.pointee.isSilent.load(ordering: .relaxed) ? .silent : .active
    }
    var report = CableReport(
      from: cable.source.name, fromPort: cable.key.sourcePort, to: cable.destination.name,
      toPort: cable.key.destinationPort,
      fromChannels: cable.output.map { cable.source.outputChannels[$0] } ?? 0, toChannels: toChannels,
      gain: cable.carriesEvents ? 1 : gain, target: cable.target, map: cable.key.map,
      isDiscrete: cable.key.mixing == .discrete, state: state, isFeedback: cable.key.isFeedback,
      conversion: conversion,
      splitter: ((siblings.firstIndex { $0 === cable } ?? 0) + 1, siblings.count),
      sum: ((partners.firstIndex { $0 === cable } ?? 0) + 1, partners.count))
    if !cable.key.isFeedback { report.compensation = Int(cable.key.delay) }
    report.latency = (running?.latencies[cable.source.number] ?? 0) + Int(cable.key.delay)
    return report
  }
}

import Patch
import Realtime
import Synchronization

/// Report of one plan. The fixed part is built once; the live figures are updated at each look, and only
/// where they changed, since patches of many thousand nodes are looked at many times a second. Worker.
struct PlanPicture {
  let plan: CompiledPlan
  let form = ReportForm()
  private(set) var nodes: [NodeReport] = []
  /// Latency of the nodes from input to output, in frames.
  private(set) var latency = 0
  private var subjects: [Subject] = []

  /// The engine objects behind a node report.
  private struct Subject {
    let node: EngineNode
    /// Position of its polyphony among its values.
    let polyphony: Int?
    /// Cables at its inputs and then at its outputs, in report order; and their rows.
    let cables: [EngineCable]
    let rows: [CableRow.Pointer]
    /// First meter of each output, in report order.
    let meters: [Int]
  }

  /// A cable of the plan, with its position among the cables that share its output and its input.
  private struct Wire {
    let cable: EngineCable
    var splitter = (index: 1, count: 1)
    var sum = (index: 1, count: 1)
  }

  // MARK: Fixed part

  /// Taps are left out of the report.
  init(of plan: CompiledPlan) {
    self.plan = plan
    let list = plan.nodes
    for (place, node) in list.enumerated() { node.inspectionIndex = place }
    var wires: [Wire] = []
    // Cables are grouped by destination: those into a node are consecutive.
    var incoming = [Range<Int>](repeating: 0..<0, count: list.count)
    var counts = [Int](repeating: 0, count: list.count)
    for cable in plan.cables where cable.slot != nil && !cable.destination.id.isTap {
      let place = cable.destination.inspectionIndex
      if incoming[place].isEmpty { incoming[place] = wires.count..<wires.count }
      incoming[place] = incoming[place].lowerBound..<wires.count + 1
      counts[cable.source.inspectionIndex] += 1
      wires.append(Wire(cable: cable))
    }
    var outgoing = counts.map { count in
      var list: [Int] = []
      list.reserveCapacity(count)
      return list
    }
    for index in wires.indices { outgoing[wires[index].cable.source.inspectionIndex].append(index) }
    for together in incoming where together.count > 1 {
      Self.count(together, of: &wires, \.sum) { $0.key.destinationPort }
    }
    for together in outgoing where together.count > 1 {
      Self.count(together, of: &wires, \.splitter) { $0.key.sourcePort }
    }
    nodes.reserveCapacity(list.count)
    subjects.reserveCapacity(list.count)
    for place in list.indices.reversed() {
      let node = list[place]
      guard node.slot != nil, !node.id.isTap else { continue }
      if node.endpoint == .output { latency = max(latency, plan.latencies[node.number] ?? 0) }
      add(node, wires[incoming[place]], outgoing[place].map { wires[$0] })
    }
  }

  /// Numbers the wires of each port in order. A linear search will do, since ports are few.
  private static func count(
    _ together: some Collection<Int>, of wires: inout [Wire],
    _ place: WritableKeyPath<Wire, (index: Int, count: Int)>, by port: (EngineCable) -> String
  ) {
    var ports: [(name: String, count: Int)] = []
    for wire in together {
      let name = port(wires[wire].cable)
      let known = ports.firstIndex { $0.name == name } ?? ports.count
      if known == ports.count { ports.append((name, 0)) }
      ports[known].count += 1
      wires[wire][keyPath: place].index = ports[known].count
    }
    for wire in together {
      let name = port(wires[wire].cable)
      wires[wire][keyPath: place].count = ports.first { $0.name == name }?.count ?? 1
    }
  }

  private mutating func add(_ node: EngineNode, _ incoming: ArraySlice<Wire>, _ outgoing: [Wire]) {
    var report = NodeReport(id: node.id, name: node.name, kind: node.kind, state: .active)
    report.startedAt = node.startedAt
    report.latency = Int(node.latency)
    let description = node.type?.description
    report.endpoint = description?.endpoint
    report.isMatrix = description?.crosspoints != nil
    report.readings = (description?.readings ?? []).map { ReadingReport(description: $0, value: 0) }
    var cables: [EngineCable] = []
    func port(
      _ name: String, isEvents: Bool, _ channels: Int, _ wires: some Collection<Wire>,
      isParameter: Bool = false
    ) -> PortReport {
      cables += wires.map(\.cable)
      return PortReport(
        name: name, isEvents: isEvents, channels: channels,
        cables: wires.map { self.report($0, valueCount: isParameter ? channels : 1) })
    }
    for input in description?.inputs ?? node.inputs {
      let channels = node.inputs.firstIndex { $0.name == input.name }.map { node.inputPort($0).count } ?? 0
      let wires = incoming.filter { $0.cable.key.destinationPort == input.name }
      report.inputs.append(port(input.name, isEvents: input.isEvents, channels, wires))
    }
    let modulations = incoming.filter { if case .parameter = $0.cable.input { true } else { false } }
    for name in Set(modulations.map(\.cable.key.destinationPort)).sorted() {
      let wires = modulations.filter { $0.cable.key.destinationPort == name }
      var channels = 1
      if let cable = wires.first(where: { !$0.cable.row.pointee.isForAll })?.cable,
        case .parameter(let parameter, _) = cable.input
      {
        channels = node.parameterChannels(parameter).count
      }
      report.inputs.append(port(name, isEvents: false, channels, wires, isParameter: true))
    }
    var meter = 0
    var meters: [Int] = []
    for output in description?.outputs ?? node.outputs {
      let position = node.outputs.firstIndex { $0.name == output.name }
      let channels = position.map { node.outputPort($0).count } ?? 0
      meters.append(meter)
      meter += position.map { node.outputPort($0).width } ?? 0
      let wires = outgoing.filter { $0.cable.key.sourcePort == output.name }
      report.outputs.append(port(output.name, isEvents: output.isEvents, channels, wires))
      report.outputs[report.outputs.count - 1].isOptional = output.isOptional
      report.outputs[report.outputs.count - 1].peaks = Array(repeating: 0, count: channels)
      report.outputs[report.outputs.count - 1].means = Array(repeating: 0, count: channels)
    }
    nodes.append(report)
    let polyphony = description?.parameters.firstIndex { $0.name == "polyphony" }
    subjects.append(
      Subject(node: node, polyphony: polyphony, cables: cables, rows: cables.map(\.row), meters: meters))
  }

  /// `valueCount`: number of incoming values, for a parameter.
  private func report(_ wire: Wire, valueCount: Int = 1) -> CableReport {
    let cable = wire.cable
    var toChannels = 0
    var conversion: String?
    if !cable.carriesEvents {
      toChannels =
        if case .audio(let index) = cable.input { cable.destination.inputPort(index).count } else {
          valueCount
        }
      conversion = cable.conversionName(to: toChannels)
    }
    var report = CableReport(
      from: cable.source.name, fromPort: cable.key.sourcePort, to: cable.destination.name,
      toPort: cable.key.destinationPort,
      fromChannels: cable.output.map { cable.source.outputPort($0).count } ?? 0, toChannels: toChannels,
      gain: 1, target: cable.target, map: cable.key.map, depth: cable.key.depth,
      isDiscrete: cable.key.mixing == .discrete,
      state: .active, isFeedback: cable.key.isFeedback, conversion: conversion, splitter: wire.splitter,
      sum: wire.sum)
    if !cable.key.isFeedback { report.compensation = Int(cable.key.delay) }
    report.latency = (plan.latencies[cable.source.number] ?? 0) + Int(cable.key.delay)
    return report
  }

  // MARK: Live figures

  /// Something sounds or fades.
  private(set) var isMoving = false
  private(set) var stateChanges = 0
  /// Places of the nodes that the last look was at; nil: at all.
  private(set) var looked: [Int]?
  /// Places of the nodes whose figures changed at the last look.
  private var changing: [Int] = []
  /// The node at rest that is looked at next; nil: the first look is at all.
  private var turn: Int?
  /// Nodes at rest that one look is at.
  private static let turnLength = 1000

  /// Updates the live figures and resets the peaks. `rate`: Hz. `inTurns`: of many nodes at rest some are looked at.
  mutating func refresh(at now: Int64, rate: Double, device: DeviceChannels, inTurns: Bool) {
    isMoving = false
    looked = inTurns && nodes.count > Self.turnLength ? next() : nil
    turn = turn ?? 0
    var changing: [Int] = []
    func look(_ index: Int) {
      if refresh(index, now, rate, device) { changing.append(index) }
    }
    if let looked {
      for index in looked { look(index) }
    } else {
      for index in nodes.indices { look(index) }
    }
    self.changing = changing
  }

  /// A node sounds that was silent at the last look.
  var isStirring: Bool {
    for (node, subject) in zip(nodes, subjects) {
      guard let slot = subject.node.slot else { continue }
      if Int(slot.pointee.voices.load(ordering: .relaxed)) != node.voices { return true }
      if node.state == .silent, !slot.pointee.isSilent.load(ordering: .relaxed) { return true }
    }
    return false
  }

  /// The nodes that change, and some of the others.
  private mutating func next() -> [Int]? {
    guard let turn else { return nil }
    let end = min(turn + Self.turnLength, nodes.count)
    let rest = turn..<end
    self.turn = end < nodes.count ? end : 0
    return changing.filter { !rest.contains($0) } + rest
  }

  /// True when a figure of the node or of its cables has changed, or will.
  private mutating func refresh(_ index: Int, _ now: Int64, _ rate: Double, _ device: DeviceChannels) -> Bool
  {
    var isChanged = refreshNode(index, now, rate)
    let lacking = device.lackingChannels(of: subjects[index].node)
    if nodes[index].lackingChannels != lacking { nodes[index].lackingChannels = lacking }
    let isUnheard = device.unheard.contains(subjects[index].node.id)
    if nodes[index].isUnheard != isUnheard { nodes[index].isUnheard = isUnheard }
    let card = device.cards[subjects[index].node.id]
    if nodes[index].card != card { nodes[index].card = card }
    var position = 0
    for isInput in [true, false] {
      for port in nodes[index][isInput].indices {
        for cable in nodes[index][isInput][port].cables.indices {
          let (gain, target, state) = figures(index, position, now, rate)
          if nodes[index][isInput][port].cables[cable].isFeedback {
            nodes[index][isInput][port].cables[cable].isCompensated =
              subjects[index].cables[position].isCompensated(rate: rate)
          }
          position += 1
          if state.isFading { isMoving = true }
          // Unchanged figures are shared with earlier reports (copy on write).
          guard nodes[index][isInput][port].cables[cable].isOther(gain, target, state) else { continue }
          nodes[index][isInput][port].cables[cable].put(gain, target, state)
          isChanged = true
        }
      }
    }
    return isChanged
  }

  private mutating func refreshNode(_ index: Int, _ now: Int64, _ rate: Double) -> Bool {
    let node = subjects[index].node
    guard let slot = node.slot, let meters = node.memory?.meters else { return false }
    var isChanged = false
    let state = Self.state(node, now, rate)
    if nodes[index].state != state {
      nodes[index].state = state
      stateChanges += 1
      isChanged = true
    }
    if state.isFading { isMoving = true }
    let voices = Int(slot.pointee.voices.load(ordering: .relaxed))
    if nodes[index].voices != voices { nodes[index].voices = voices }
    if voices > 0 { (isMoving, isChanged) = (true, true) }
    let held = Int(slot.pointee.held.load(ordering: .relaxed))
    if nodes[index].heldNotes != held { nodes[index].heldNotes = held }
    for place in nodes[index].readings.indices.prefix(Int(slot.pointee.readingCount)) {
      let bits = slot.pointee.readings[place].load(ordering: .relaxed)
      let value = Double(Float(bitPattern: bits))
      if nodes[index].readings[place].value != value {
        nodes[index].readings[place].value = value
        isChanged = true
      }
    }
    let polyphony = subjects[index].polyphony.map { Int(node.values[$0][0]) } ?? 0
    if nodes[index].polyphony != polyphony { nodes[index].polyphony = polyphony }
    refreshFile(index, node)
    let isQuiet =
      slot.pointee.isSilent.load(ordering: .relaxed) || slot.pointee.blast.load(ordering: .relaxed) != 0
    for port in nodes[index].outputs.indices {
      var channel = subjects[index].meters[port]
      for place in nodes[index].outputs[port].peaks.indices {
        let meter = meters + channel
        channel += 1
        var peak: Float = 0
        if meter.pointee.peak.load(ordering: .relaxed) != 0 {
          peak = Float(bitPattern: meter.pointee.peak.exchange(0, ordering: .relaxed))
          (isMoving, isChanged) = (true, true)
        }
        if nodes[index].outputs[port].peaks[place] != peak {
          nodes[index].outputs[port].peaks[place] = peak
          isChanged = true
        }
        let power = isQuiet ? 0 : Float(bitPattern: meter.pointee.power.load(ordering: .relaxed))
        let mean = power.squareRoot()
        if nodes[index].outputs[port].means[place] != mean {
          nodes[index].outputs[port].means[place] = mean
          isChanged = true
        }
      }
    }
    return isChanged
  }

  private mutating func refreshFile(_ index: Int, _ node: EngineNode) {
    let resource = node.resource
    if nodes[index].file != resource?.name { nodes[index].file = resource?.name }
    if nodes[index].loading != node.loading { nodes[index].loading = node.loading }
    let fault = resource == nil ? nil : node.fault
    if nodes[index].fault != fault { nodes[index].fault = fault }
    guard let resource else { return }
    let (memory, underruns) = (resource.bytes, resource.underruns)
    if nodes[index].memory != memory { nodes[index].memory = memory }
    if nodes[index].underruns != underruns { nodes[index].underruns = underruns }
  }

  private static func state(_ node: EngineNode, _ now: Int64, _ rate: Double) -> NodeReport.State {
    var boundary: [EngineCable] { node.isSink ? node.incoming : node.outgoing }
    var left: Double { boundary.compactMap { secondsLeft($0, now, rate) }.max() ?? 0 }
    if node.isRinging { return .ringing(secondsLeft: left) }
    if node.isLeaving { return .leaving(secondsLeft: left) }
    let blast = node.slot.pointee.blast.load(ordering: .relaxed)
    if blast != 0 { return .muted(Blast.words(Float(bitPattern: blast))) }
    if let words = node.lackWords { return .placeholder(words) }
    if let fault = node.fault, node.resource == nil, node.instance == nil { return .placeholder(fault) }
    if node.type == nil { return .placeholder("unknown kind \(node.kind)") }
    if now < node.startedAt + Int64(EngineCable.standardFade * rate),
      boundary.contains(where: { $0.target != 0 && secondsLeft($0, now, rate) != nil })
    {
      return .entering(secondsLeft: left)
    }
    // A node without audio outputs, such as a keyboard, is never silent.
    if node.outputs.isEmpty, !node.isSink { return .active }
    return node.slot.pointee.isSilent.load(ordering: .relaxed) ? .silent : .active
  }

  private func figures(
    _ index: Int, _ position: Int, _ now: Int64, _ rate: Double
  ) -> (gain: Float, target: Float, state: CableReport.State) {
    // Most cables are at rest, and their row has all that is needed.
    let row = subjects[index].rows[position]
    guard row.pointee.isSettled, let slot = row.pointee.source.pointee.slot else {
      return Self.figures(subjects[index].cables[position], now, rate)
    }
    if row.pointee.output < 0 { return (1, row.pointee.target, .active) }
    let isSilent = slot.pointee.isSilent.load(ordering: .relaxed)
    return (row.pointee.target, row.pointee.target, isSilent ? .silent : .active)
  }

  private static func figures(
    _ cable: EngineCable, _ now: Int64, _ rate: Double
  ) -> (gain: Float, target: Float, state: CableReport.State) {
    let left = secondsLeft(cable, now, rate)
    var gain = cable.target
    if left != nil { gain = Float(bitPattern: cable.slot.pointee.gainNow.load(ordering: .relaxed)) }
    if cable.carriesEvents { gain = 1 }
    let state: CableReport.State
    if !cable.isTail, let left {
      let isEnding = cable.isLeaving || cable.target == 0
      state = isEnding ? .fadingOut(secondsLeft: left) : .fadingIn(secondsLeft: left)
    } else if cable.carriesEvents {
      state = .active
    } else {
      state = cable.source.slot.pointee.isSilent.load(ordering: .relaxed) ? .silent : .active
    }
    return (gain, cable.target, state)
  }

  private static func secondsLeft(_ cable: EngineCable, _ now: Int64, _ rate: Double) -> Double? {
    switch cable.settling {
    case .at(let end): max(0, Double(end - now) / rate)
    case .unsent(let frames), .after(_, let frames): Double(frames) / rate
    case nil: nil
    }
  }
}

extension NodeReport {
  /// Its inputs or its outputs.
  fileprivate subscript(isInput: Bool) -> [PortReport] {
    get { isInput ? inputs : outputs }
    _modify {
      if isInput {
        yield &inputs
      } else {
        yield &outputs
      }
    }
  }
}

extension CableReport {
  fileprivate func isOther(_ gain: Float, _ target: Float, _ state: State) -> Bool {
    self.gain != gain || self.target != target || self.state != state
  }

  fileprivate mutating func put(_ gain: Float, _ target: Float, _ state: State) {
    (self.gain, self.target, self.state) = (gain, target, state)
  }
}

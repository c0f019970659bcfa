import Patch
import Realtime

// Kinds that are added while the engine runs. Worker, all of it.

extension Engine {
  /// Adds a kind. Nodes of its name that were placeholders begin to sound.
  public func add(_ kind: NodeKind) throws(KindError) {
    try kinds.add(kind)
    let name = kind.description.name
    let waiting = wanted.nodes.values.filter { $0.kind == name }.map(\.id)
    if !waiting.isEmpty { adopt(wanted, touched: Touched(again: waiting, in: wanted)) }
  }

  /// True while instances of nodes are being prepared.
  public var isPreparing: Bool { graph.foreign.contains { $0.preparation != nil } }

  /// State of a node as text, if its kind saves one.
  public func state(of id: NodeID) -> String? { graph.current[id]?.instance?.save() }

  /// State of a node as text, if its kind saves one and it differs from the state in the node's settings. The
  /// caller puts it there with its next edit; the node then goes on as it is.
  public func captureState(of id: NodeID) -> String? {
    guard let node = graph.current[id], let text = state(of: id), text != node.key.state else { return nil }
    graph.setState(text, of: node)
    return text
  }

  /// Begins to prepare a new node's instance. With preparation at once, it is there afterwards.
  func beginPreparation(_ node: EngineNode) {
    guard let program = node.type?.program else { return }
    let preparation = Preparation()
    node.preparation = preparation
    let (configuration, state) = (node.configuration(rate: rate), node.key.state)
    background {
      preparation.finish(program.prepare(configuration, state: state, preparation))
    }
    collectInstance(of: node)
    node.latency = node.instance?.latency ?? 0
  }

  /// Collects a finished instance, or the reason why there is none. True: there is one.
  @discardableResult private func collectInstance(of node: EngineNode) -> Bool {
    guard let outcome = node.preparation?.collect() else { return false }
    node.preparation = nil
    node.loading = nil
    switch outcome {
    case .success(let instance):
      instance.retune(to: rate)
      node.instance = instance
      return true
    case .failure(let error):
      node.fault = error.description
      record(.failed(error.description), node)
      return false
    }
  }

  /// Commands that hand a node its instance, with the parameters that it smooths itself.
  func handOver(_ instance: ForeignInstance, to node: EngineNode) -> [Command] {
    var commands: [Command] = [.use(node.slot, instance.header)]
    for (index, parameter) in (node.type?.description.parameters ?? []).enumerated()
    where parameter.smoothing == .kernel {
      for (element, value) in node.values[index].enumerated() {
        commands.append(
          .kernel(node.slot, parameter: Int32(index), element: Int32(element), value: value, frames: 0))
      }
    }
    return commands
  }

  /// Collects instances that became ready, shows the progress of others, and follows latencies.
  func maintainForeign() {
    var isOther = false
    for node in graph.foreign {
      let isNew = collectInstance(of: node)
      if let preparation = node.preparation {
        node.loading = FileLoad(name: node.kind, fraction: preparation.progress)
      }
      guard let instance = node.instance else { continue }
      if isNew, node.slot != nil { send(handOver(instance, to: node)) }
      guard isNew || node.type?.description.latencyVaries == true else { continue }
      let latency = instance.latency
      guard latency != node.latency else { continue }
      graph.setLatency(latency, of: node)
      isOther = true
    }
    if isOther { recompile() }
  }
}

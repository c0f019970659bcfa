import OrderedCollections
import Patch

// Cable intents: what the patch and the taps ask for. Worker.

extension Reconciler {
  /// Changes of an edit to the cables that the patch asks for.
  struct IntentChanges {
    /// Intents that are new, or have another gain, map or mixing.
    var changed: [CableIntent] = []
    /// A cable was added, removed or moved to another port.
    var areRewired = false
  }

  /// Updates the intents from the patch's cables at these ports, and from the taps.
  func reconcileIntents(at touched: OrderedSet<Cable.Ends>) -> IntentChanges {
    var changes = IntentChanges()
    for ends in touched {
      guard let cable = patch.cables[ends] else {
        withdraw(ends, &changes)
        continue
      }
      update(ends, settings(of: cable, in: patch), &changes)
    }
    for tap in engine.endedTaps { for ends in tap.ends { withdraw(ends, &changes) } }
    engine.endedTaps = []
    for index in engine.taps.indices { connect(&engine.taps[index], &changes) }
    return changes
  }

  /// A tap hears an output as it is, or what goes into an input through cables like those there.
  private func connect(_ tap: inout Tap, _ changes: inout IntentChanges) {
    let id =
      switch tap.subject {
      case .name(let name): patch.id(named: name)
      case .node(let id): patch[id].map(\.id)
      }
    var wanted: [Cable.Ends: Cable?] = [:]
    if let id, let port = tap.port {
      wanted[Cable.Ends(PortReference(id, port), tap.input)] = .some(nil)
    } else if let id, let port = tap.heardInput ?? graph.current[id]?.inputs.first?.name {
      for ends in patch.cables(at: id) where ends.destination == PortReference(id, port) {
        wanted[Cable.Ends(ends.source, tap.input)] = patch.cables[ends]
      }
    }
    for old in tap.ends where wanted[old] == nil { withdraw(old, &changes) }
    // In one order, so that sums have the same bits in every run.
    for (ends, cable) in wanted.sorted(by: {
      ($0.key.source.node.raw, $0.key.source.port) < ($1.key.source.node.raw, $1.key.source.port)
    }) {
      update(ends, cable.map { settings(of: $0, in: patch) } ?? CableIntent.Settings(), &changes)
    }
    tap.ends = Set(wanted.keys)
  }

  private func update(
    _ ends: Cable.Ends, _ settings: CableIntent.Settings, _ changes: inout IntentChanges
  ) {
    guard let route = route(ends) else {
      withdraw(ends, &changes)
      return
    }
    if let intent = graph[ends] {
      if intent.route.source === route.source, intent.route.destination === route.destination {
        guard intent.settings != settings else { return }
        intent.settings = settings
        changes.changed.append(intent)
        return
      }
      withdraw(ends, &changes)
    }
    let intent = CableIntent(ends: ends, route: route, settings)
    graph.insert(intent)
    changes.changed.append(intent)
    changes.areRewired = true
  }

  private func settings(of cable: Cable, in patch: Patch) -> CableIntent.Settings {
    let settings = cable.settings
    let depth = patch.depth(of: cable, catalogue: engine.kinds.catalogue)
    return CableIntent.Settings(
      map: settings.map, mixing: settings.mixing, depth: depth,
      gain: EngineValues.gain(decibels: settings.gain),
      factor: depth?.isRatio == true ? 1 : switched(cable.ends.destination))
  }

  /// Factor by mute, solo and polarity for cables that add to a gain; cables that multiply it need none.
  private func switched(_ port: PortReference) -> Float {
    // Most cables lead into audio inputs: no copy of the document's node for those.
    if graph.current[port.node]?.inputs.contains(where: { $0.name == port.port }) == true { return 1 }
    guard let node = patch[port.node], let description = engine.kinds[node.kind]?.description,
      let (index, path) = description.parameter(ofPort: port.port),
      description.parameters[index].switches != nil, description.parameters[index].isModulatedByKernel
    else { return 1 }
    let key = SwitchedGroup(node: node.id, parameter: index)
    if switchedGains[key] == nil {
      switchedGains[key] = SwitchedGains(path.name, of: node, description: description)
    }
    guard let element = switchedGains[key]?[path.indices] else { return 1 }
    // The gain's own value takes the same time.
    if let frames = request.ramps.frames(of: path, of: node.id), let number = graph.current[node.id]?.number {
      switchTimes[Junction(node: number, port: port.port)] = frames
    }
    return element.isHeard ? element.isInverted ? -1 : 1 : 0
  }

  /// The cables that add to gains of a node which have switches.
  func switchedCables(into node: EngineNode) -> [Cable.Ends] {
    guard let parameters = node.type?.description.parameters else { return [] }
    return node.incoming.compactMap { cable in
      guard case .parameter(let index, _?) = cable.input, parameters[index].switches != nil,
        cable.key.depth?.isRatio != true
      else { return nil }
      return cable.patchEnds
    }
  }

  private func withdraw(_ ends: Cable.Ends, _ changes: inout IntentChanges) {
    guard let intent = graph[ends] else { return }
    if let cable = intent.cable {
      if passesTail(cable) { startTail(through: cable) } else { fadeOut(cable) }
    }
    graph.remove(intent)
    changes.areRewired = true
  }

  /// The ports that the cable joins; nil where they do not fit (at a placeholder, for example).
  private func route(_ ends: Cable.Ends) -> CableIntent.Route? {
    guard let source = graph.current[ends.source.node],
      let destination = graph.current[ends.destination.node]
    else { return nil }
    let port = ends.destination.port
    let output = source.outputs.firstIndex { $0.name == ends.source.port }
    let sendsEvents =
      source.type?.description.outputs.contains { $0.name == ends.source.port && $0.isEvents } == true
    guard output != nil || sendsEvents else { return nil }
    let input: EngineCable.Destination
    if let index = destination.inputs.firstIndex(where: { $0.name == port }) {
      if sendsEvents { return nil }
      input = .audio(index)
    } else if let description = destination.type?.description {
      if description.inputs.contains(where: { $0.name == port && $0.isEvents }) {
        guard sendsEvents else { return nil }
        input = .events
      } else if !sendsEvents, let modulated = modulated(at: port, of: destination, description) {
        input = modulated
      } else {
        return nil
      }
    } else {
      return nil
    }
    return CableIntent.Route(
      source: source, output: sendsEvents ? nil : output, destination: destination, input: input)
  }

  /// The parameter that a port modulates, or the element of it; nil: the node has no such port.
  private func modulated(
    at port: String, of node: EngineNode, _ description: KindDescription
  ) -> EngineCable.Destination? {
    guard let (index, path) = description.parameter(ofPort: port) else { return nil }
    let parameter = description.parameters[index]
    guard parameter.isModulatedByKernel else { return .parameter(index) }
    let sizes = parameter.dimensions.map { name in
      description.parameters.firstIndex { $0.name == name }.map { Int(node.values[$0][0]) } ?? 0
    }
    return EngineValues.place(of: path, sizes).map { .parameter(index, element: $0) }
  }
}

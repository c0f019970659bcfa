import Patch
import Realtime

// Cables: the patch's wishes, the choice of delayed cables, and the crossfades from running to wanted cables.
// Worker.

extension Reconciler {
  /// Updates the wishes from the patch and the taps.
  func reconcileWishes() {
    for ends in touchedCables {
      guard let cable = patch.cables[ends] else {
        withdraw(ends)
        continue
      }
      update(
        ends, route(ends), cable.map, cable.mixing, EngineValues.gain(decibels: cable.gain))
    }
    for index in engine.taps.indices {
      let tap = engine.taps[index]
      let ends = patch.id(named: tap.node).map {
        Cable.Ends(PortReference($0, tap.port), PortReference(tap.id, "in"))
      }
      if let old = engine.taps[index].ends, old != ends { withdraw(old) }
      if let ends { update(ends, route(ends), nil, .discrete, 1) }
      engine.taps[index].ends = ends
    }
  }

  private func update(
    _ ends: Cable.Ends, _ route: CableWish.Route?, _ map: ChannelMap?, _ mixing: ChannelMixing,
    _ target: Float
  ) {
    guard let route else {
      withdraw(ends)
      return
    }
    if let wish = graph[ends] {
      if wish.route.source === route.source, wish.route.destination === route.destination {
        guard wish.map != map || wish.mixing != mixing || wish.target != target else { return }
        wish.map = map
        wish.mixing = mixing
        wish.target = target
        changed.append(wish)
        return
      }
      withdraw(ends)
    }
    let wish = CableWish(ends: ends, route: route, map: map, mixing: mixing, target: target)
    graph.insert(wish)
    changed.append(wish)
    isRewired = true
  }

  private func withdraw(_ ends: Cable.Ends) {
    guard let wish = graph[ends] else { return }
    if let cable = wish.cable {
      if mayRing(cable) { ring(cable) } else { leave(cable) }
    }
    graph.remove(wish)
    isRewired = true
  }

  /// The ports that the cable joins; nil where they do not fit (at a placeholder, for example).
  private func route(_ ends: Cable.Ends) -> CableWish.Route? {
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
      } else if let index = description.parameters.firstIndex(where: {
        $0.name == port && $0.smoothing == .ramp && $0.dimensions.isEmpty
      }), !sendsEvents {
        input = .parameter(index)
      } else {
        return nil
      }
    } else {
      return nil
    }
    return CableWish.Route(
      source: source, output: sendsEvents ? nil : output, destination: destination, input: input)
  }

  /// Sorts the union of wanted and fading cables, and marks the wishes that need the feedback delay.
  func arrange() {
    var sources = graph.wishSources
    var destinations = graph.wishDestinations
    // Before the first frame no cable has sounded, so that none has to stay as it is.
    var standings = isFirst ? graph.wishStandings.map { $0 == .events ? .events : .new } : graph.wishStandings
    var fading: [EngineCable] = []
    for cable in graph.unsettled where (cable.isLeaving || cable.isTail) && !cable.key.isFeedback {
      if cable.isGone || !cable.isTail && isFinished(cable) { continue }
      sources.append(cable.source.index)
      destinations.append(cable.destination.index)
      standings.append(.leaving)
      fading.append(cable)
    }
    let wishCount = graph.wishes.count
    func name(_ edge: Int) -> (String, String, String, String) {
      if edge < wishCount, let wish = graph.wishes[edge] {
        return (
          wish.route.destination.name, wish.ends.destination.port, wish.route.source.name,
          wish.ends.source.port
        )
      }
      let cable = fading[edge - wishCount]
      return (cable.destination.name, cable.key.destinationPort, cable.source.name, cable.key.sourcePort)
    }
    let breaker = CycleBreaker(
      count: graph.nodes.count, sources: sources, destinations: destinations, standings: standings,
      canonicalEdges: { edges in
        edges.map { (edge: $0, name: name($0)) }.sorted { $0.name < $1.name }.map(\.edge)
      },
      canonicalNodes: { nodes in
        nodes.map {
          (node: $0, name: self.graph.nodes[$0]?.name ?? "", number: self.graph.nodes[$0]?.number ?? 0)
        }
        .sorted { ($0.name, $0.number) < ($1.name, $1.number) }.map(\.node)
      },
      makesUp: { self.graph.nodes[$0]?.type?.aheadOutput != nil })
    order = breaker.order
    changed += graph.setFeedback(breaker.feedback.filter { $0 < wishCount })
    if graph.isLatent { compensate(breaker) }
  }

  /// Realises each changed wish by a cable.
  func carryOut() {
    for wish in changed {
      var key = wish.key
      if let cable = wish.cable, cable.key == key, !cable.isFixed {
        retarget(cable, wish.target)
        continue
      }
      if let old = wish.cable { leave(old) }
      // Whether an inaudible cable still exists depends on when the worker last ran, so it is replaced.
      if let known = graph.cables[key], known !== wish.cable, known.isLeaving, isInaudible(known) {
        graph.remove(known)
        drop(known)
      }
      // It keeps gains that the patch no longer implies.
      if graph.cables[key]?.isFixed == true {
        graph.renew(wish)
        key = wish.key
      }
      if let known = graph.cables[key] {
        if known.isTail {
          known.isTail = false
          move(known)
        }
        retarget(known, wish.target)
        graph.setCable(known, of: wish)
      } else {
        let cable = EngineCable(
          key: key, number: engine.makeCableNumber(), route: wish.route, target: wish.target,
          rows: engine.rows, rings: engine.pools.rings)
        if !isFirst {
          let place = Int(cable.source.index)
          cable.wait = key.delay + (place < readiness.count ? readiness[place] : 0)
        }
        graph.insert(cable)
        graph.setCable(cable, of: wish)
        newCables.append(cable)
        work.needsPlan = true
      }
    }
    changed = []
  }

  /// True when a change of this cable is heard downstream. In front of a node that is itself new or leaving
  /// it is not, since that node's outputs fade.
  private func isHeard(_ cable: EngineCable) -> Bool {
    if isFirst { return false }
    if cable.destination.isSink { return true }
    return !cable.destination.isLeaving && !arrived.contains(cable.destination.number)
  }

  /// Prepares its slot, and the fade in if it begins with one.
  func prepare(_ cable: EngineCable) {
    // A feedback cable begins with an empty delay; without a fade, a new node would receive a step when its
    // ring is full.
    let fades = (isHeard(cable) || cable.key.isFeedback && !isFirst) && !cable.carriesEvents
    cable.prepare(gain: fades ? 0 : cable.target)
    if fades { move(cable) }
  }

  private func retarget(_ cable: EngineCable, _ target: Float) {
    guard cable.isLeaving || cable.target != target else { return }
    let wasLeaving = cable.isLeaving
    cable.isLeaving = false
    cable.target = target
    // A cable that the newest plan mixes needs no new plan for a gain change.
    if !cable.isMixed { work.needsPlan = true }
    if cable.carriesEvents {
      if wasLeaving {
        cable.settling = nil
        cable.isClosing = false
        work.commands.append(.close(cable.slot, after: -1))
      }
    } else {
      move(cable)
    }
  }

  func leave(_ cable: EngineCable) {
    guard !cable.isLeaving else { return }
    cable.isLeaving = true
    graph.unsettle(cable)
    work.needsPlan = true
    if cable.carriesEvents {
      // An event cable into a leaving node keeps its notes while it fades: it may come back.
      if !cable.destination.isLeaving || cable.destination.isRinging {
        close(cable)
      } else {
        settle(cable, after: fade)
      }
    } else if cable.destination.isSink || !cable.destination.isLeaving || cable.destination.isRinging {
      cable.target = 0
      move(cable)
    }
  }

  /// An event cable ends its notes when an audio cable would have faded out. An edit that restores it earlier
  /// finds all notes held.
  private func close(_ cable: EngineCable) {
    cable.isClosing = true
    work.commands.append(.close(cable.slot, after: Int32(clamping: fade)))
    // The block in which it closes must be over before it is removed.
    settle(cable, after: fade + blockCapacity)
  }

  private func settle(_ cable: EngineCable, after frames: Int) {
    cable.settling = .unsent(frames: frames)
    graph.unsettle(cable)
    work.fading.append(cable)
  }

  /// Fades out leaving cables at nodes that came back without them. In front of a leaving node they had kept
  /// their gain.
  func endCables(into nodes: [EngineNode]) {
    for node in nodes {
      for cable in node.incoming where cable.isLeaving {
        if cable.carriesEvents {
          if !cable.isClosing { close(cable) }
        } else if cable.target != 0 {
          cable.target = 0
          move(cable)
        }
      }
    }
  }

  func move(_ cable: EngineCable) {
    disturbed.insert(Junction(node: cable.key.destination, port: cable.key.destinationPort))
    moving.append(cable)
    cable.settling = .unsent(frames: fade)
    graph.unsettle(cable)
  }

  /// Sends the gain moves, once all are known.
  ///
  /// Fades under way at the same junction restart together with a new one. A ramp is linear in its position,
  /// speed and target. Gains that add up to one and start together therefore keep adding up to one, however
  /// many edits arrive during a fade. All of them wait until the signals that fade in are complete.
  func alignFades() {
    for cable in newCables where cable.wait > 0 {
      cable.opensAt = CableSlot.start(after: Int(cable.wait), from: time)
      work.opening.append(cable)
    }
    guard !disturbed.isEmpty else { return }
    var seen = Set(moving.map { ObjectIdentifier($0) })
    for cable in graph.unsettled
    where cable.settling != nil && !cable.carriesEvents && !cable.isTail
      && disturbed.contains(Junction(node: cable.key.destination, port: cable.key.destinationPort))
    {
      if seen.insert(ObjectIdentifier(cable)).inserted { moving.append(cable) }
    }
    var waits: [Junction: Int32] = [:]
    for cable in moving {
      let junction = Junction(node: cable.key.destination, port: cable.key.destinationPort)
      waits[junction] = max(waits[junction] ?? 0, cable.remainingWait(at: time))
    }
    seen = []
    for cable in moving where seen.insert(ObjectIdentifier(cable)).inserted {
      let junction = Junction(node: cable.key.destination, port: cable.key.destinationPort)
      let wait = waits[junction] ?? 0
      cable.mirrorMove(over: fade, after: Int(wait), at: time, isExact: isExact)
      work.commands.append(.gain(cable.slot, value: cable.target, frames: Int32(fade), wait: wait))
      cable.settling = .unsent(frames: fade + (wait > 0 ? Int(wait) + 63 : 0))
      work.fading.append(cable)
    }
  }

  // MARK: Ends

  /// Removes cables whose fade has ended, and leaving nodes that are no longer audible.
  func removeFinished() {
    for cable in graph.unsettled where cable.isLeaving && !cable.isGone && isFinished(cable) {
      graph.remove(cable)
      drop(cable)
    }
    graph.forgetSettled()
    if graph.leaving.isEmpty { return }
    // Audible: feeding a node that stays, or fading. Nodes upstream of an audible leaving node are audible
    // through it.
    var heard = graph.leaving.filter { node in
      node.outgoing.contains { !$0.destination.isLeaving || $0.settling != nil && !$0.isTail }
        || node.incoming.contains { $0.settling != nil && !$0.isTail }
    }
    var kept = Set(heard.map(\.number))
    while let node = heard.popLast() {
      for cable in node.incoming where cable.source.isLeaving {
        if kept.insert(cable.source.number).inserted { heard.append(cable.source) }
      }
    }
    for node in graph.leaving where !kept.contains(node.number) {
      graph.remove(node) { drop($0) }
      work.left.append(node)
      work.needsPlan = true
      if node.slot != nil { work.garbage.append(.node(node)) }
    }
    graph.forgetSettled()
  }

  /// True when a leaving cable is no longer audible.
  private func isFinished(_ cable: EngineCable) -> Bool {
    // Before the first frame nothing fades. A cable that counted until the first block was over would decide
    // which others are delayed, and for how long would depend on the driver's period.
    if isFirst { return true }
    guard cable.settling == nil || isInaudible(cable) else { return false }
    // Its destination is back, and its fade has not begun yet.
    if !cable.carriesEvents, cable.target != 0, !cable.destination.isLeaving { return false }
    return !cable.destination.isLeaving || cable.destination.isRinging || cable.destination.isSink
      || cable.isClosing
  }

  /// Evaluated for edits only, since an edit's time is part of the script. The time of tidying depends on the
  /// driver's period.
  private func isInaudible(_ cable: EngineCable) -> Bool {
    !isTidying && cable.isInaudible(at: time, isExact: isExact)
  }

  private func drop(_ cable: EngineCable) {
    work.needsPlan = true
    work.garbage.append(.cable(cable))
  }
}

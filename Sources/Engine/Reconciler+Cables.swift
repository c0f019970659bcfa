import Patch
import Realtime

// Cables: what the patch wants, which of them are delayed, and the crossfades between what sounds and
// what is to sound. Worker.

extension Reconciler {
  /// Brings the wishes up to date with the patch and the taps.
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

  /// What the cable joins; nil where its ends do not fit (at a placeholder, say).
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

  /// Orders what is to sound and what still does, and marks the wishes that must go through the
  /// feedback delay.
  func arrange() {
    var sources = graph.wishSources
    var destinations = graph.wishDestinations
    var standings = graph.wishStandings
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

  /// Gives each changed wish the cable that it asks for.
  func carryOut() {
    for wish in changed {
      var key = wish.key
      if let cable = wish.cable, cable.key == key, !cable.isFixed {
        retarget(cable, wish.target)
        continue
      }
      if let old = wish.cable { leave(old) }
      // Whether one that is silent by now is still there depends on when the worker last came by.
      if let known = graph.cables[key], known !== wish.cable, known.isLeaving, isInaudible(known) {
        graph.remove(known)
        drop(known)
      }
      // What it brings is no longer what the patch says.
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
          rows: engine.rows)
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

  /// Whether a change at this cable is heard where sound goes on: not in front of a node that is itself
  /// new or leaving, since that one's outputs fade.
  private func isHeard(_ cable: EngineCable) -> Bool {
    if isFirst { return false }
    if cable.destination.isSink { return true }
    return !cable.destination.isLeaving && !arrived.contains(cable.destination.number)
  }

  /// Its slot, with the fade in that it begins with.
  func prepare(_ cable: EngineCable) {
    // One that closes a cycle begins with an empty delay, which a new node would hear end.
    let fades = (isHeard(cable) || cable.key.isFeedback && !isFirst) && !cable.carriesEvents
    cable.prepare(gain: fades ? 0 : cable.target)
    if fades { move(cable) }
  }

  private func retarget(_ cable: EngineCable, _ target: Float) {
    guard cable.isLeaving || cable.target != target else { return }
    let wasLeaving = cable.isLeaving
    cable.isLeaving = false
    cable.target = target
    // A cable that the newest plan mixes has its gain there already.
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
      // What leaves with its cable keeps its notes as it fades: it may come back.
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

  /// A cable of events ends what it holds when a cable of sound would have faded out; an edit that brings it
  /// back before finds all notes as they were.
  private func close(_ cable: EngineCable) {
    cable.isClosing = true
    work.commands.append(.close(cable.slot, after: Int32(clamping: fade)))
    // The block in which it closes is to be over when it goes.
    settle(cable, after: fade + blockCapacity)
  }

  private func settle(_ cable: EngineCable, after frames: Int) {
    cable.settling = .unsent(frames: frames)
    graph.unsettle(cable)
    work.fading.append(cable)
  }

  /// Ends the cables into nodes that are back without them: in front of a leaving node they went on as they
  /// were.
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

  /// Sends the moves of gains, once all are known.
  ///
  /// The fades that are under way where a new one begins restart with it. A ramp depends linearly on where
  /// it stands, how fast it moves and where it goes: gains that add up to one and start together go on
  /// adding up to one, however many edits arrive during a fade. All wait until what fades in there is
  /// whole.
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

  /// Takes out cables whose fade has ended, and nodes that nothing hears any more.
  func removeFinished() {
    for cable in graph.unsettled where cable.isLeaving && !cable.isGone && isFinished(cable) {
      graph.remove(cable)
      drop(cable)
    }
    graph.forgetSettled()
    if graph.leaving.isEmpty { return }
    // Heard: by what stays, or through a fade. What is in front of a leaving node that is heard, is
    // heard through it.
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

  /// Whether nothing of a leaving cable is heard any more.
  private func isFinished(_ cable: EngineCable) -> Bool {
    guard cable.settling == nil || isInaudible(cable) else { return false }
    // Its destination is back, and its fade has yet to begin.
    if !cable.carriesEvents, cable.target != 0, !cable.destination.isLeaving { return false }
    return !cable.destination.isLeaving || cable.destination.isRinging || cable.destination.isSink
      || cable.isClosing
  }

  /// Decided by edits only, whose time is part of the script: when tidying comes depends on the driver's
  /// period.
  private func isInaudible(_ cable: EngineCable) -> Bool {
    !isTidying && cable.isInaudible(at: time, isExact: isExact)
  }

  private func drop(_ cable: EngineCable) {
    work.needsPlan = true
    work.garbage.append(.cable(cable))
  }
}

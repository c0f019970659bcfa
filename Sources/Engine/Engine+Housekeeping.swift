import Patch
import Realtime

// Results from the audio thread since the last call. Worker, all of it.

extension Engine {
  /// Seconds for which freed delay lines and tables wait for another node of the same size.
  private static let spareSeconds = 10.0

  /// Processes what the audio thread has done: frees unused memory, ends fades, reads the trace. Call it
  /// about 60 times a second live, and after each period offline.
  ///
  /// `frame`: no edit will be requested before this engine frame. Fades that end earlier are followed up at
  /// their exact frames, whenever this method is called: a script sounds the same live and offline.
  public func collect(expectingNothingBefore frame: Int64? = nil) {
    flush()
    // Read the time first: every transaction executed before it is then counted below.
    let watched = renderer.time
    countExecuted()
    readTrace()
    readWatch(until: watched)
    endSilentTails(until: min(watched, toldUntil))
    maintainForeign()
    if let frame, !isTold {
      endFades(inTurnUntil: frame)
    } else if !isTold {
      let known = catchUp()
      // Edits in quick succession compile new plans anyway.
      if needsRecompile, known - plannedAt >= Int64(0.002 * rate) { recompile(knowing: known) }
    }
    graph.forgetSettled()
    oldResources.removeAll { !$0.header.pointee.isUsed && sent.isEmpty && unsent.isEmpty }
    for pool in [pools.kernels, pools.rings] {
      pool.trim(now: watched, before: watched - Int64(Self.spareSeconds * rate))
    }
  }

  /// Ends the fades that are over by `time`, each at its own frame. A cable that was delayed because of one
  /// becomes direct by a crossfade that begins at that frame.
  func endFades(inTurnUntil time: Int64) {
    while let end = graph.unsettled.compactMap({ end(of: $0.settling) }).min(), end <= time {
      if endFades(until: end) { recompile(at: end) }
    }
  }

  /// Ends the fades that are over by `time`. Returns true when the plan can be reduced.
  func endFades(until time: Int64) -> Bool {
    var isOver = false
    for cable in graph.unsettled {
      guard let end = end(of: cable.settling), end <= time else { continue }
      cable.settling = nil
      // A gain at rest is mixed as before, unless the cable is gone or at unity.
      if cable.isLeaving || cable.isTail || cable.key.isFeedback || cable.target == 1 { isOver = true }
    }
    return isOver
  }

  /// Ends the tail of a ringing node half a second after it fell asleep. The worker knows of the sleep before
  /// that, so whether an undo finds the node does not depend on the driver's period.
  func endSilentTail(_ node: EngineNode, until time: Int64) {
    let since = node.slot.pointee.asleepSince.load(ordering: .relaxed)
    // Input through a fade, or from another ringing node, may still wake it.
    guard (0..<time).contains(since),
      node.incoming.allSatisfy({ $0.isTail && ($0.source === node || $0.source.hasRungOut) })
    else { return }
    let longest = Int64((Reconciler.longestTail * rate).rounded())
    for cable in node.outgoing where cable.isTail {
      guard case .at(let end) = cable.settling else { return }
      cable.settling = .at(min(end, max(since, end - longest) + Int64(rate / 2)))
    }
    node.hasRungOut = true
  }

  /// The engine frame at which a fade counts as over, if known: a multiple of 64, where a block ends anyway.
  private func end(of settling: EngineCable.Settling?) -> Int64? {
    switch settling {
    case .at(let end): return Self.cellEnd(end)
    case .after(let serial, let frames):
      // A transaction with a frame of its own that was queued ahead of time is executed at that frame,
      // whether or not the count has arrived. Serial numbers are consecutive.
      guard let first = sent.first, sent.indices.contains(serial - first.serial) else { return nil }
      let transaction = sent[serial - first.serial]
      guard transaction.isAhead else { return nil }
      return Self.cellEnd(transaction.time + Int64(frames))
    case .unsent, nil: return nil
    }
  }

  /// The first multiple of 64 from a frame on.
  private static func cellEnd(_ frame: Int64) -> Int64 { (frame + 63) & ~63 }

  func finish(_ transaction: Transaction) {
    let time = transaction.executedAt
    // It was decided for another frame: it came late, or early since the rate has changed.
    let isMissed = transaction.time != .min && time != transaction.time
    if isTaping {
      let isLate = time > transaction.time && transaction.isAmidFades && transaction.hasDecided
      // Or it came with one that was known already.
      if isMissed && isLate && transaction.stamp != Self.settling || time < latestKnown { guess(at: time) }
      if let known = transaction.known ?? (isMissed ? transaction.time : nil), transaction.stamp != 0 {
        stamps.append(Stamp(time: time, meaning: .known(known)))
      }
      if transaction.stamp == Self.settling { stamps.append(Stamp(time: time, meaning: .settled)) }
    }
    if transaction.stamp > 0, stamps.last?.meaning != .transactions(transaction.stamp) {
      stamps.append(Stamp(time: time, meaning: .transactions(transaction.stamp)))
    }
    if let edit = transaction.edit {
      edits.begin(edit, at: time, frames: transaction.fade, isMeasured: isWatching)
    } else if transaction.plan != nil {
      edits.replan(at: time)
    }
    if let plan = transaction.plan {
      if let running {
        plansReturned += 1
        for node in transaction.leaving where !node.id.isTap {
          log.record(.retired(plan: running.serial), node.id, node.name, at: time)
        }
      }
      running = plan
    }
    for node in transaction.starting where !node.id.isTap {
      node.startedAt = time
      log.record(.started, node.id, node.name, at: time)
    }
    for cable in transaction.opening {
      cable.opensAt = CableSlot.start(after: Int(cable.wait), from: time)
    }
    for cable in transaction.fading {
      cable.beginMoves(of: transaction.serial, at: time)
      if cable.leavingSince == transaction.serial { cable.leavingAt = time }
      if case .after(transaction.serial, let frames) = cable.settling {
        cable.settling = .at(time + Int64(frames))
      }
    }
    for node in transaction.leaving where !node.id.isTap { log.record(.freed, node.id, node.name, at: time) }
    for item in transaction.garbage {
      if case .node(let node) = item { numbers[node.number] = nil }
    }
    transaction.dispose()
  }

  private func readTrace() {
    var records: [TraceRecord] = []
    for index in 0..<threads {
      let ring = renderer.team.pointee.runners[index].trace
      while let raw = ring.peek() {
        records.append(raw.assumingMemoryBound(to: TraceRecord.self).pointee)
        ring.pop()
      }
    }
    // The order must not depend on the number of threads.
    let sorted = records.enumerated().sorted {
      ($0.element.time, $0.element.node, $0.offset) < ($1.element.time, $1.element.node, $1.offset)
    }
    for (_, record) in sorted {
      guard let node = numbers[record.node], let happening = TraceEntry.Happening(record) else { continue }
      log.record(happening, node.id, node.name, at: record.time)
    }
  }

  /// Events dropped because a node's queue was full, in total. Notes may be among them, ends of notes never.
  public var lostEvents: Int {
    (0..<threads).reduce(0) {
      $0 + renderer.team.pointee.runners[$1].eventsDropped.load(ordering: .relaxed)
    }
  }

  /// Trace entries lost because `collect` was not called in time.
  public var lostTraceEntries: Int {
    (0..<threads).reduce(0) {
      $0 + renderer.team.pointee.runners[$1].traceDropped.load(ordering: .relaxed)
    }
  }

  /// Entries of the lifecycle trace from serial number `id` on.
  public func trace(since id: Int) -> [TraceEntry] { log.entries(since: id) }

  /// The engine frame at which the next fade counts as over. A driver that promises the same bits for every period must
  /// call `collect` there, since cables of a cycle are crossfaded from that frame. nil: no fade is under way.
  public var nextFadeEnd: Int64? {
    let now = renderer.time
    return graph.unsettled.compactMap { cable in
      switch cable.settling {
      case .at(let end): Self.cellEnd(end)
      case .after(_, let frames), .unsent(let frames): Self.cellEnd(now + Int64(frames))
      case nil: nil
      }
    }.min()
  }

  /// True when every request has been executed and no fade is under way.
  public var isSettled: Bool {
    unsent.isEmpty && sent.isEmpty && !needsRecompile
      && graph.unsettled.allSatisfy { $0.settling == nil && !$0.isLeaving }
  }
}

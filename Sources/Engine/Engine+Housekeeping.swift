import Patch
import Realtime

// What the audio thread has done since the look before. Worker, all of it.

extension Engine {
  /// How long the memory of delays and the like waits for another node that needs as much.
  private static let spareSeconds = 10.0

  /// Takes up what the audio thread has done: frees what it no longer uses, ends fades, reads the
  /// trace. To be called about 60 times a second live, after each period offline.
  ///
  /// `frame`: the engine frame before which nothing more will be asked for. Fades that end by then are
  /// followed up at their very frames, whenever this is called: a script is heard live as in a file.
  public func collect(expectingNothingBefore frame: Int64? = nil) {
    flush()
    // Read first: every transaction that was executed before it is counted below.
    let watched = renderer.time
    let done = renderer.executed.load(ordering: .acquiring)
    while executedCount < done, !sent.isEmpty {
      finish(sent.removeFirst())
      executedCount += 1
    }
    readTrace()
    readWatch(until: watched)
    for node in graph.leaving where node.isRinging && !node.hasRungOut { hearOut(node) }
    if let frame {
      endFades(inTurnUntil: frame)
    } else {
      isUntidy = endFades(until: renderer.time) || isUntidy
      // Edits that come thick and fast compile anyway.
      if isUntidy, renderer.time - plannedAt >= Int64(0.002 * rate) { tidy() }
    }
    graph.forgetSettled()
    oldResources.removeAll { !$0.header.pointee.isUsed && sent.isEmpty && unsent.isEmpty }
    pools.kernels.trim(now: watched, before: watched - Int64(Self.spareSeconds * rate))
  }

  /// Takes the fades that end by `time` for ended, each at its own frame: what was delayed because of them
  /// becomes direct by a fade that begins there.
  func endFades(inTurnUntil time: Int64) {
    while let end = graph.unsettled.compactMap({ end(of: $0.settling) }).min(), end <= time {
      if endFades(until: end) { tidy(at: end) }
    }
  }

  /// Takes the fades that end by `time` for ended; says whether there is less to run without them.
  private func endFades(until time: Int64) -> Bool {
    var isOver = false
    for cable in graph.unsettled {
      guard let end = end(of: cable.settling), end <= time else { continue }
      cable.settling = nil
      // A gain that has come to rest is mixed as before, unless it is none any more.
      if cable.isLeaving || cable.isTail || cable.key.isFeedback || cable.target == 1 { isOver = true }
    }
    return isOver
  }

  /// The engine frame at which a fade ends, if that is known.
  private func end(of settling: EngineCable.Settling?) -> Int64? {
    switch settling {
    case .at(let end): return end
    case .after(let serial, let frames):
      // What has its frame and was in the queue before it, is executed there, taken up or not.
      // Serial numbers follow each other.
      guard let first = sent.first, sent.indices.contains(serial - first.serial) else { return nil }
      let transaction = sent[serial - first.serial]
      guard transaction.isAhead else { return nil }
      return transaction.time + Int64(frames)
    case .unsent, nil: return nil
    }
  }

  private func finish(_ transaction: Transaction) {
    let time = transaction.executedAt
    if let edit = transaction.edit {
      edits.begin(edit, at: time, frames: transaction.fade, isMeasured: isWatching)
    } else if transaction.plan != nil {
      edits.replan(at: time)
    }
    if let plan = transaction.plan {
      if let running {
        plansReturned += 1
        keepPlanMemory(running.memory)
        for node in transaction.leaving {
          log.note(.retired(plan: running.serial), node.id, node.name, at: time)
        }
      }
      running = plan
    }
    for node in transaction.starting {
      node.startedAt = time
      log.note(.started, node.id, node.name, at: time)
    }
    for cable in transaction.opening {
      cable.opensAt = CableSlot.start(after: Int(cable.wait), from: time)
    }
    for cable in transaction.fading {
      if cable.leavingSince == transaction.serial { cable.leavingAt = time }
      if case .after(transaction.serial, let frames) = cable.settling {
        cable.settling = .at(time + Int64(frames))
      }
    }
    for node in transaction.leaving { log.note(.freed, node.id, node.name, at: time) }
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
    // In an order that does not depend on how many threads there are.
    let sorted = records.enumerated().sorted {
      ($0.element.time, $0.element.node, $0.offset) < ($1.element.time, $1.element.node, $1.offset)
    }
    for (_, record) in sorted {
      guard let node = numbers[record.node], let happening = TraceEntry.Happening(record) else { continue }
      log.note(happening, node.id, node.name, at: record.time)
    }
  }

  /// Events for which the queue of a node had no room, ever; notes that begin may be among them, ends never.
  public var lostEvents: Int {
    (0..<threads).reduce(0) {
      $0 + renderer.team.pointee.runners[$1].eventsDropped.load(ordering: .relaxed)
    }
  }

  /// Entries that the lifecycle trace lacks, since nobody called `collect` in time.
  public var lostTraceEntries: Int {
    (0..<threads).reduce(0) {
      $0 + renderer.team.pointee.runners[$1].traceDropped.load(ordering: .relaxed)
    }
  }

  /// The lifecycle trace from the entry with this serial number on.
  public func trace(since id: Int) -> [TraceEntry] { log.entries(since: id) }

  /// The engine frame at which the next fade ends, and a driver that wants the same bits for every period
  /// has to call `collect`: what a cycle becomes after its fade begins there. nil: none is under way.
  public var nextFadeEnd: Int64? {
    let now = renderer.time
    return graph.unsettled.compactMap { cable in
      switch cable.settling {
      case .at(let end): end
      case .after(_, let frames), .unsent(let frames): now + Int64(frames)
      case nil: nil
      }
    }.min()
  }

  /// Whether everything that was asked for has happened and no fade is under way.
  public var isSettled: Bool {
    unsent.isEmpty && sent.isEmpty && !isUntidy
      && graph.unsettled.allSatisfy { $0.settling == nil && !$0.isLeaving }
  }
}

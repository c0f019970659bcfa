import Patch
import Realtime

// Edits are decided by what is known of the audio thread. A live edit takes effect with the next block, at a frame that the
// worker learns afterwards; a replay decides the same at that frame. Worker, all of it.

extension Engine {
  /// Ends the fades that are over for an edit. Returns the frame before which all is known, if it has none of its own.
  /// `isOfTaps`: the patch stays as it is.
  func beginDecision(at time: Int64?, isOfTaps: Bool, isMoved: Bool) -> Int64? {
    if isTold {
      if isMoved || isOfTaps { return nil }
      if knownFrame != nil { return catchUp() }
      if let time { needsRecompile = endFades(until: time) || needsRecompile }
      return nil
    }
    if let time {
      endFades(inTurnUntil: time)
      return nil
    }
    let known = catchUp()
    // A replay has no other takes, and hears what maps move at other times: what follows from the fades is told.
    if isTaping, isMoved || isOfTaps, needsRecompile { recompile(knowing: known) }
    return known
  }

  /// Compiles a smaller plan after fades have ended. `known`: the frame before which all is known, if it has none of its own.
  func recompile(at time: Int64? = nil, knowing known: Int64? = nil) {
    let isAmidFades = graph.unsettled.contains(where: \.isAmidFade)
    let request = Reconciler.Request(
      patch: wanted, touched: Touched(from: wanted, to: wanted), fade: frames(Engine.standardFade),
      isRecompiling: true, time: time, known: known, serial: nextTransaction)
    let outer = stamp
    stamp = Self.settling
    defer { stamp = outer }
    send(
      Reconciler(engine: self, request, now: renderer.time).run(), at: time, known: known,
      isAmidFades: isAmidFades)
  }

  /// Notes that a replay may decide otherwise.
  func guess(at time: Int64) { firstGuess = firstGuess ?? time }

  /// Takes note of what the audio thread has executed; in a replay, of what was known when the next decision was made.
  func countExecuted() {
    let done = renderer.executed.load(ordering: .acquiring)
    while executedCount < done, let next = sent.first, next.executedAt < toldUntil {
      sent.removeFirst()
      latestExecution = max(latestExecution, next.executedAt)
      finish(next)
      executedCount += 1
    }
  }

  /// Takes note of what has happened so far, and ends the fades that are over. Returns the frame before which all is known:
  /// what an edit without a frame of its own decides follows from that frame, and a replay decides the same.
  func catchUp() -> Int64 {
    let now = renderer.time
    countExecuted()
    let known = knownFrame ?? max(now, latestExecution + 1)
    endSilentTails(until: known)
    needsRecompile = endFades(until: known) || needsRecompile
    graph.forgetSettled()
    return known
  }

  /// In a replay: compiles a smaller plan after fades have ended, as was done when all before `knownFrame` was known.
  public func settle(at time: Int64) {
    let known = catchUp()
    recompile(at: time, knowing: knownFrame == nil ? nil : known)
  }

  func endSilentTails(until time: Int64) {
    for node in graph.leaving where node.isRinging && !node.hasRungOut { endSilentTail(node, until: time) }
  }
}

import Realtime

/// Modes of a looper: what it does, and how it goes from one to another.
extension Looper {
  @_noLocks mutating func obey(_ mode: Int, _ block: Block, _ frame: Int) {
    if mode == Self.back { return takeBack() }
    (obeyed, found) = (mode, state)
    switch mode {
    case 0: stop()
    case 1: play()
    case 2: requestRecording(block, frame)
    case 3: overdub()
    case 4: clear()
    default: undo(mode == 5)
    }
  }

  /// A loop that was cleared, or that another recording has replaced, does not come back.
  @_noLocks private mutating func takeBack() {
    let mode = obeyed
    obeyed = -1
    switch mode {
    case 0:
      stopsAtEnd = false
      if found != .stopped { play() }
    case 1: if found == .stopped { stop() }
    case 2: clear()
    case 3:
      if state == .overdubbing { undo(true) }
      wantsOverdub = false
      if found == .stopped { stop() }
    case 5: undo(false)
    case 6: undo(true)
    default: break
    }
  }

  @_noLocks mutating func pressPedal(_ block: Block, _ frame: Int) {
    switch state {
    case .empty, .leaving: requestRecording(block, frame)
    case .recording, .overdubbing, .stopped: play()
    case .playing: overdub()
    }
  }

  @_noLocks private mutating func play() {
    wantsOverdub = false
    if state == .recording {
      // The last of the loop is joined to what was before it.
      if goal == 0 { goal = length > 2 &* memory.join ? length : 2 &* memory.join }
      return
    }
    if state == .overdubbing {
      added.move(to: 0, over: memory.join)
    } else if state == .stopped {
      // A fade under way goes on from where it is: from the start it would jump.
      if !heard.isMoving { beginPlaying() }
      heard.move(to: 1, over: memory.join / 2)
    } else {
      return
    }
    state = .playing
  }

  @_noLocks private mutating func stop() {
    (isWaiting, wantsOverdub) = (false, false)
    switch state {
    case .recording:
      play()
      stopsAtEnd = true
    case .playing, .overdubbing:
      added.move(to: 0, over: memory.join)
      heard.move(to: 0, over: memory.join)
      state = .stopped
    default: break
    }
  }

  @_noLocks private mutating func overdub() {
    if state == .stopped { play() }
    if state == .recording { play() }
    if state == .playing || state == .recording { wantsOverdub = true }
  }

  /// Begins an overdub once the copies are as it needs them.
  @_noLocks mutating func beginOverdub() {
    if isUndone {
      guard passed >= length, !other.isMoving, !cross.isMoving else { return }
      memory.swapCopies()
      (isUndone, other) = (false, Ramp(0))
    } else if other.isMoving {
      return
    }
    wantsOverdub = false
    memory.beginCopy()
    (passed, hasOverdub, state) = (0, true, .overdubbing)
    added.move(to: 1, over: memory.join)
  }

  @_noLocks mutating func undo(_ takesAway: Bool) {
    guard hasOverdub, takesAway != isUndone else { return }
    if state == .overdubbing { play() }
    wantsOverdub = false
    isUndone = takesAway
    other.move(to: takesAway ? 1 : 0, over: memory.join)
  }

  @_noLocks mutating func clear() {
    (isWaiting, recordsNext, wantsOverdub, stopsAtEnd) = (false, false, false, false)
    added.move(to: 0, over: memory.join)
    heard.move(to: 0, over: memory.join)
    if state == .recording { length = 0 }
    if state != .empty { state = .leaving }
  }

  /// Records at once, or at the next quarter note where the length is in beats.
  @_noLocks private mutating func requestRecording(_ block: Block, _ frame: Int) {
    if state != .empty, state != .leaving { clear() }
    if beats > 0, let transport = block.transport?.pointee, transport.isRolling {
      findStart(transport, block.time &+ Int64(frame))
      isWaiting = true
    } else if state == .leaving {
      recordsNext = true
    } else {
      record(block, frame)
    }
  }

  @_noLocks mutating func record(_ block: Block, _ frame: Int) {
    (isWaiting, recordsNext) = (false, false)
    (state, length, place, goal) = (.recording, 0, 0, 0)
    (isUndone, hasOverdub, other, added, heard) = (false, false, Ramp(0), Ramp(0), Ramp(0))
    (cross, rest, passageAdds, passageFrames) = (Ramp(0), Ramp(1), false, 0)
    beginBeat(block, frame)
    memory.keepPast()
  }

  @_noLocks mutating func endRecording(_ block: Block, _ frame: Int) {
    memory.joinEnd(length)
    memory.beginCopy()
    (place, passed, goal) = (0, 0, 0)
    state = stopsAtEnd ? .stopped : .playing
    if !stopsAtEnd { heard.move(to: 1, over: memory.join / 2) }
    stopsAtEnd = false
    endBeat(block, frame)
  }
}

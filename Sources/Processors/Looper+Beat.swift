import Realtime

/// Loops in beats: each cycle begins in the frame of its beat, whatever the tempo has become.
///
/// A beat has no whole number of frames, so cycles are a frame longer and shorter in turn. Before a cycle begins the loop passes,
/// over 10 ms, to as many frames before its end as are left, so that the beginning comes as it was recorded, and at its time. A
/// faster tempo cuts the loop's end in this way; at a slower one the loop ends, and waits silently for its beat.
extension Looper {
  /// Frames by which a cycle may be longer than the loop without a silence: less than the ear parts, and in a passage its last and
  /// softest.
  private var slack: Int { @inline(__always) @_noLocks get { memory.join / 8 } }

  /// The transport that the loop follows, if it moves.
  @inline(__always) @_noLocks private func leader(_ block: Block) -> Transport? {
    guard beats > 0, let transport = block.transport?.pointee, transport.isRolling else { return nil }
    return transport
  }

  /// Follows the beat at a frame in which the loop plays. Returns the frames until it has to be asked again.
  @_noLocks mutating func followBeat(_ block: Block, _ frame: Int) -> Int {
    guard beat.length > 0, !cross.isMoving else { return Int.max }
    let now = block.time &+ Int64(frame)
    guard let transport = leader(block) else {
      (beat.isKnown, beat.isFresh) = (false, false)
      // Nothing calls it any more: it goes round by itself.
      if beat.isOver || rest.target == 0 { pass(to: length &- memory.join, over: memory.join) }
      return Int.max
    }
    if !beat.isKnown || beat.jumps != transport.jumps { take(transport.jumps, place(transport, now)) }
    if cross.isMoving || beat.isOnTime { return Int.max }
    var due = dueFrame(transport, now)
    if due <= now {
      take(beat.jumps, place(transport, now))
      if cross.isMoving { return Int.max }
      due = dueFrame(transport, now)
    }
    let left = due &- now < Int64(Int32.max) ? Int(due &- now) : Int(Int32.max)
    let join = memory.join
    if left <= join {
      beat.number &+= 1
      if !beat.isOver, rest.target == 1, place &+ left == length {
        beat.isOnTime = true
      } else {
        // Less would be a click.
        let frames = left > join / 4 ? left : join / 4
        pass(to: length &- frames, over: frames)
      }
      return Int.max
    }
    let fade = length &- join &- place
    if fade == 0, left > join &+ slack, rest.target == 1, !beat.isOver { rest.move(to: 0, over: join) }
    return fade > 0 && fade < left &- join ? fade : left &- join
  }

  @inline(__always) @_noLocks private func dueFrame(_ transport: Transport, _ now: Int64) -> Int64 {
    transport.frame(ofQuarters: beat.start + Double(beat.number) * beat.length, from: now) ?? Int64.max
  }

  /// Number of the cycle at a frame, and the frames that have passed in it at the present tempo.
  @_noLocks private func place(_ transport: Transport, _ now: Int64) -> (number: Int64, frames: Int) {
    // Far less than a frame, more than rounding.
    let quarters = transport.quarters(at: now) - beat.start + 1e-8
    let number = Transport.floor(quarters / beat.length)
    let step = transport.step * transport.pulse.quarters
    return (Int64(number), Int((quarters - number * beat.length) / step))
  }

  /// Takes up the beat at a place that it has not come to by itself.
  @_noLocks private mutating func take(_ jumps: Int32, _ found: (number: Int64, frames: Int)) {
    (beat.isKnown, beat.jumps, beat.number, beat.isOnTime) = (true, jumps, found.number &+ 1, false)
    let isFresh = beat.isFresh
    beat.isFresh = false
    if found.frames >= length {
      if isFresh { (beat.isOver, rest) = (true, Ramp(0)) }
      if !beat.isOver, rest.target == 1 { rest.move(to: 0, over: memory.join) }
    } else if isFresh {
      place = found.frames
    } else if found.frames != place || beat.isOver || rest.target == 0 {
      pass(to: found.frames, over: memory.join)
    }
  }

  /// Passes from the present place of the loop to another one.
  @_noLocks private mutating func pass(to goal: Int, over frames: Int) {
    (second, passageStart, passageGoal, passageFrames) = (goal, place, goal, 0)
    beat.isOnTime = false
    cross = Ramp(0)
    cross.move(to: 1, over: frames)
  }

  /// The loop goes on from its other place alone.
  @_noLocks mutating func endPassage() {
    addPassage()
    (place, cross, rest, beat.isOver) = (second, Ramp(0), Ramp(1), false)
  }

  /// Writes what was overdubbed in a passage to both places.
  @_noLocks mutating func addPassage() {
    if passageAdds { memory.add(passageFrames, from: passageStart, to: passageGoal, length) }
    (passageAdds, passageFrames) = (false, 0)
    (passageStart, passageGoal) = (place, second)
  }

  /// The loop's end: it begins again, unless its beat is still to come.
  @_noLocks mutating func wrap() {
    place = 0
    if beat.isOnTime {
      beat.isOnTime = false
    } else if beat.isKnown, !cross.isMoving, rest.target == 1 {
      rest.move(to: 0, over: memory.join)
    }
  }

  /// Frames of a recording that is to end on a beat, as the tempo is now.
  @_noLocks mutating func followRecording(_ block: Block, _ frame: Int) {
    guard beat.isKnown else { return }
    let now = block.time &+ Int64(frame)
    guard let transport = block.transport?.pointee, transport.isRolling, transport.jumps == beat.jumps,
      let due = transport.frame(ofQuarters: beat.start + beat.length, from: now)
    else {
      // It keeps the length that it would have had.
      beat.isKnown = false
      return
    }
    let left = due &- now < Int64(memory.capacity) ? Int(due &- now) : memory.capacity
    goal = length &+ left < memory.capacity ? length &+ left : memory.capacity
    if goal < 2 &* memory.join { goal = 2 &* memory.join }
  }

  /// Begins to count beats with a recording that begins.
  @_noLocks mutating func beginBeat(_ block: Block, _ frame: Int) {
    beat = LoopBeat()
    guard beats > 0, let transport = block.transport?.pointee else { return }
    let quarter = 60 * transport.rate / (transport.pulse.tempo * transport.pulse.quarters)
    let most = Double(memory.capacity)
    // A loop cut within a quarter note would drift against the tempo.
    var count = Double(beats)
    if count * quarter > most { count = Transport.floor(most / quarter) }
    goal = count < 1 ? memory.capacity : Int(count * quarter + 0.5)
    if goal > memory.capacity { goal = memory.capacity }
    guard count >= 1, goal >= 2 &* memory.join else {
      if goal < 2 &* memory.join { goal = 2 &* memory.join }
      return
    }
    beat.length = count
    if transport.isRolling { (beat.start, beat.jumps, beat.isKnown) = (start, transport.jumps, true) }
  }

  /// Goes on from a recording that ends to the cycles of its loop.
  @_noLocks mutating func endBeat(_ block: Block, _ frame: Int) {
    guard beat.length > 0 else { return }
    if !beat.isKnown, let transport = block.transport?.pointee {
      beat.start = transport.quarters(at: block.time &+ Int64(frame))
    }
    (beat.isKnown, beat.isFresh) = (false, true)
  }

  /// Begins a loop that stands: from its first frame, or where the beat is.
  @_noLocks mutating func beginPlaying() {
    addPassage()
    (place, cross, rest) = (0, Ramp(0), Ramp(1))
    (beat.isKnown, beat.isOnTime, beat.isOver, beat.isFresh) = (false, false, false, true)
  }

  /// Finds the quarter note at which a recording begins.
  @_noLocks mutating func findStart(_ transport: Transport, _ now: Int64) {
    let quarters = transport.quarters(at: now)
    start = Transport.floor(quarters)
    if start < quarters - 1e-7 { start += 1 }
    waitJumps = transport.jumps
  }
}

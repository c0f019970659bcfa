import CVector
import Realtime

/// Work of a looper in frames in which nothing begins.
extension Looper {
  /// Frames of the other copy that are brought up to date in each frame.
  static var haste: Int { @inline(__always) @_noLocks get { 16 } }

  /// Gains of some frames: a row while they move.
  private struct Gains {
    let row: UnsafeMutablePointer<Float>
    let moves: Bool
    let rest: Float

    @inline(__always) @_noLocks init(_ ramp: inout Ramp, _ row: UnsafeMutablePointer<Float>, _ frames: Int) {
      (self.row, moves, rest) = (row, ramp.isMoving, ramp.target)
      if moves { ramp.fill(row, frames: frames) }
    }

    /// A gain that rests.
    @inline(__always) @_noLocks init(_ rest: Float, _ row: UnsafeMutablePointer<Float>) {
      (self.row, moves, self.rest) = (row, false, rest)
    }

    @inline(__always) @_noLocks subscript(_ frame: Int) -> Frames {
      moves ? row.vector(frame) : Frames(repeating: rest)
    }
  }

  /// Gains and parameters of a run.
  private struct Course {
    let start, frames: Int
    let level, through, keep: Readable
    let heard, added, other, rest: Gains
    /// Of the place that the loop passes to.
    let cross: Gains
    let adds: Bool

    /// Share of the loop that an overdub leaves.
    @inline(__always) @_noLocks func kept(_ frame: Int) -> Frames {
      limited(keep.vector(start &+ frame) * 0.01, 0, 1)
    }
  }

  /// The frames from one place of the block to another, in which nothing begins.
  @_noLocks mutating func run(_ block: Block, _ start: Int, _ end: Int) {
    let (frames, parameters, rows) = (end &- start, block.parameters, Rows(block))
    let (runs, crosses) = (self.runs, self.runs && cross.isMoving)
    let adds = added.isMoving || added.target > 0
    let course = Course(
      start: start, frames: frames, level: Self.row(parameters[Self.level], rows[0]),
      through: Self.row(parameters[Self.through], rows[1]), keep: Self.row(parameters[Self.keep], rows[2]),
      heard: Gains(&heard, rows[3], frames), added: Gains(&added, rows[4], frames),
      other: Gains(&other, rows[5], frames), rest: runs ? Gains(&rest, rows[7], frames) : Gains(1, rows[7]),
      cross: crosses ? Gains(&cross, rows[8], frames) : Gains(0, rows[8]), adds: adds)
    if runs, hasOverdub, passed < length { copyAhead(frames, crosses) }
    if crosses { stagePassage(course) }
    var channel = 0
    while channel < channels {
      let row = memory.row(channel)
      if state == .recording {
        record(row, course)
      } else if !runs {
        passOn(row, course)
      } else if crosses {
        cross(row, course)
      } else if beat.isOver {
        passOn(row, course)
      } else {
        play(row, course)
      }
      channel &+= 1
    }
    // The playing loop fades out over the length of the past before anything else is recorded.
    if state != .playing, state != .overdubbing { memory.remember(start, frames, rows[6]) }
    if state == .recording {
      length &+= frames
    } else if runs {
      advance(frames, crosses)
    }
  }

  @inline(__always) @_noLocks private mutating func advance(_ frames: Int, _ crosses: Bool) {
    if !beat.isOver {
      place &+= frames
      if place >= length { wrap() }
    }
    if hasOverdub, passed < length {
      passed = passed &+ Self.haste &* frames < length ? passed &+ Self.haste &* frames : length
    }
    if !rest.isMoving, rest.target == 0, !beat.isOver { (beat.isOver, place) = (true, 0) }
    guard crosses else { return }
    second = second &+ frames < length ? second &+ frames : 0
    passageFrames &+= frames
    if !cross.isMoving { endPassage() }
  }

  /// Brings the other copy up to date where the loop is, and some of the rest.
  @inline(never) @_noLocks private func copyAhead(_ frames: Int, _ crosses: Bool) {
    memory.copy(from: place, to: place &+ frames)
    if crosses { memory.copy(from: second, to: second &+ frames) }
    let end = passed &+ Self.haste &* frames
    memory.copy(from: passed, to: end < length ? end : length)
  }

  /// Keeps the gains of a passage for what is overdubbed in it, which is written when it is over: before that the one place would
  /// play what has just come at the other.
  @_noLocks private mutating func stagePassage(_ course: Course) {
    let passage = memory.passage
    if course.adds { passageAdds = true }
    var frame = 0
    while frame < course.frames {
      let cross = course.cross[frame]
      let from = beat.isOver ? Frames(repeating: 0) : course.rest[frame] * (1 - cross)
      let gain = course.adds ? course.added[frame] : Frames(repeating: 0)
      passage.from.store(from, passageFrames &+ frame)
      passage.to.store(cross, passageFrames &+ frame)
      passage.replaced.store((1 - course.kept(frame)) * gain, passageFrames &+ frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func passOn(_ row: LoopRow, _ course: Course) {
    let (x, y) = (row.input + course.start, row.output + course.start)
    var frame = 0
    while frame < course.frames {
      y.store(x.vector(frame) * course.through.vector(course.start &+ frame), frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func record(_ row: LoopRow, _ course: Course) {
    passOn(row, course)
    let x = row.input + course.start
    var frame = 0
    while frame < course.frames {
      row.loop.store(x.vector(frame), length &+ frame)
      frame &+= 16
    }
  }

  /// The loop from one place on.
  @inline(__always) @_noLocks private func play(_ row: LoopRow, _ course: Course) {
    let (x, y) = (row.input + course.start, row.output + course.start)
    // The other copy is not heard: most of a loop's life, in which half of its memory need not be read.
    let isAlone = !course.other.moves && course.other.rest == 0
    let isWhole = !course.rest.moves && course.rest.rest == 1
    var frame = 0
    while frame < course.frames {
      let sound = x.vector(frame)
      var out = sound * course.through.vector(course.start &+ frame)
      let at = place &+ frame
      let loop = row.loop.vector(at)
      var now = loop
      if !isAlone {
        let share = course.other[frame]
        now = loop * (1 - share) + row.before.vector(at) * share
      }
      var gain = course.heard[frame]
      if !isWhole { gain *= course.rest[frame] }
      // Plus zero, as the sum with the other copy has it: minus zero would be another bit.
      out += (now + 0) * (gain * course.level.vector(course.start &+ frame))
      if course.adds {
        var gain = course.added[frame]
        if !isWhole { gain *= course.rest[frame] }
        let left = 1 - (1 - course.kept(frame)) * gain
        let count = Int32(truncatingIfNeeded: course.frames &- frame < 16 ? course.frames &- frame : 16)
        row.loop.store(sostenuto_join(loop * left + sound * gain, loop, count), at)
      }
      y.store(out, frame)
      frame &+= 16
    }
  }

  /// The loop from two places on, of which the second one takes over.
  @inline(__always) @_noLocks private func cross(_ row: LoopRow, _ course: Course) {
    let (x, y, passage) = (row.input + course.start, row.output + course.start, memory.passage)
    var frame = 0
    while frame < course.frames {
      let sound = x.vector(frame)
      let (a, b, share) = (place &+ frame, second &+ frame, course.other[frame])
      let first = row.loop.vector(a) * (1 - share) + row.before.vector(a) * share
      let other = row.loop.vector(b) * (1 - share) + row.before.vector(b) * share
      let now =
        first * passage.from.vector(passageFrames &+ frame) + other
        * passage.to.vector(passageFrames &+ frame)
      let gain = course.heard[frame] * course.level.vector(course.start &+ frame)
      y.store(sound * course.through.vector(course.start &+ frame) + now * gain, frame)
      let added = course.adds ? course.added[frame] : Frames(repeating: 0)
      row.lead.store(sound * added, passageFrames &+ frame)
      frame &+= 16
    }
  }

  /// A parameter from any frame of the block on.
  @inline(__always) @_noLocks private static func row(
    _ stream: ParameterStream, _ room: UnsafeMutablePointer<Float>
  ) -> Readable { Readable(stream, 0, room) }
}

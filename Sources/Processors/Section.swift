import CVector
import Realtime

// A two-pole section: the trapezoidal state variable filter (V. Zavalishin, "The Art of VA Filter
// Design", 2012; A. Simper, "Linear trapezoidal integrated state variable filter", Cytomic, 2013).
//
//   v1 = a1 s1 + a2 (x - s2)            a1 = 1 / (1 + g (g + k)), a2 = g a1, a3 = g a2
//   v2 = s2 + a2 s1 + a3 (x - s2)       s1' = 2 v1 - s1, s2' = 2 v2 - s2
//   y  = m0 x + m1 v1 + m2 v2
//
// While the coefficients rest, `SectionTable` has what four frames and the states before them give. Where a coefficient
// moves, `SectionSteps` has the coefficients of every frame.
//
// Both work on groups of sixteen frames that begin at multiples of sixteen of engine time. A block that
// ends within a group leaves the group's inputs and parameters behind, and the next block computes the
// group again from its start: so each frame is the same function of the group up to itself, however
// the frames are split.

/// The coefficients of sixteen frames.
struct SectionCoefficients: BitwiseCopyable {
  var g: Frames
  var k: Frames
  var m0: Frames
  var m1: Frames
  var m2: Frames

  @inline(__always) @_noLocks init(g: Frames, k: Frames, m0: Frames, m1: Frames, m2: Frames) {
    self.g = g
    self.k = k
    self.m0 = m0
    self.m1 = m1
    self.m2 = m2
  }

  /// Interpolates from `old` to these coefficients; `blend` 0...1.
  @inline(__always) @_noLocks mutating func fade(from old: Self, _ blend: Frames) {
    let rest = 1 - blend
    g = old.g * rest + g * blend
    k = old.k * rest + k * blend
    m0 = old.m0 * rest + m0 * blend
    m1 = old.m1 * rest + m1 * blend
    m2 = old.m2 * rest + m2 * blend
  }
}

/// A section: its table for coefficients at rest.
struct Section: BitwiseCopyable {
  private var table = SectionTable()
  /// Frequency, q and gain that the table is for.
  private var known = SIMD4<Float>(repeating: .nan)
  private var knownResponse = Response.peak
  private var knownRate: Float = 0
  /// The parameters have settled on values that the table does not have yet.
  private(set) var isStale = false
  private var past = SectionPast()
  /// Shape of a steady q and gain, while the frequency moves.
  private var shape = RestingShape()

  /// A section with the table for these parameters; `gain` is linear, and one where the response has none. Worker.
  init(_ response: Response, freq: Float, q: Float, gain: Float, rate: Float) {
    build(response, freq, q, gain, rate)
  }

  /// Computes the table.
  @inline(never) @_noLocks private mutating func build(
    _ response: Response, _ freq: Float, _ q: Float, _ gain: Float, _ rate: Float
  ) {
    known = SIMD4(freq, q, gain, 0)
    knownResponse = response
    knownRate = rate
    isStale = false
    table = SectionTable(
      SectionCoefficients(
        response, Frames(repeating: freq),
        SectionShape(Frames(repeating: q), Frames(repeating: gain), hasGain: response.hasGain), rate))
  }

  /// True when the table is for all frames of these parameters, as far as a glance tells.
  @inline(__always) @_noLocks func knows(_ p: SectionParameters) -> Bool { p.isSteady && fits(p, 0) }

  /// True when the table is for these parameters.
  @inline(__always) @_noLocks func knows(
    _ freq: Float, _ q: Float, _ gain: Float, _ response: Response, _ rate: Float
  )
    -> Bool
  {
    // Bit patterns, which also tell numbers from what is none: half the branches.
    known[0].bitPattern == freq.bitPattern && known[1].bitPattern == q.bitPattern
      && known[2].bitPattern == gain.bitPattern && knownResponse == response
      && knownRate.bitPattern == rate.bitPattern
  }

  /// True when the table is for this frame.
  @inline(__always) @_noLocks private func fits(_ p: SectionParameters, _ frame: Int) -> Bool {
    p.freq[frame] == known[0] && p.q[frame] == known[1] && p.gain[frame] == known[2]
      && knownRate == p.rate
      && (knownResponse == p.new && p.blend[frame] == 1 || knownResponse == p.old && p.blend[frame] == 0)
  }

  /// The first of the `have` frames from `frame` on that the table is not for; 16: none.
  @_noLocks private mutating func change(_ p: SectionParameters, _ frame: Int, _ have: Int) -> Int {
    if p.isSteady { return fits(p, 0) ? 16 : 0 }
    guard knownRate == p.rate, knownResponse == p.new || knownResponse == p.old else { return 0 }
    let share = Frames(repeating: knownResponse == p.new ? 1 : 0)
    var isOther = p.freq.vector(frame) .!= Frames(repeating: known[0])
    isOther = isOther .| (p.q.vector(frame) .!= Frames(repeating: known[1]))
    isOther = isOther .| (p.gain.vector(frame) .!= Frames(repeating: known[2]))
    isOther = isOther .| (p.blend.vector(frame) .!= share)
    let places = SIMD16<UInt32>(repeating: 16).replacing(with: Self.places, where: isOther)
    let first = Int(least(places))
    return first < have ? first : 16
  }

  private static var places: SIMD16<UInt32> {
    @inline(__always) @_noLocks get { SIMD16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
  }

  /// The first block starts within a group: the frames before it were silence.
  @_noLocks mutating func begin() { past.fill(known[0], known[1], known[2], knownResponse) }

  /// The table stood for a whole block: no other parameters are left to settle on.
  @inline(__always) @_noLocks mutating func rest() { isStale = false }

  /// True when the table stood for the frames of the unfinished group too.
  var restedBefore: Bool {
    @inline(__always) @_noLocks mutating get { past.equals(known[0], known[1], known[2], knownResponse) }
  }

  /// The table stood for part of a block, as it did for the frames of an unfinished group before it.
  @inline(__always) @_noLocks mutating func restPart(_ span: SectionSpan) {
    if span.end >= 16 { isStale = false }
    if span.lane == 0 { past.fill(known[0], known[1], known[2], knownResponse) }
  }

  /// Filters a block on some channels. Audio thread.
  @_noLocks mutating func process(_ p: SectionParameters, _ span: SectionSpan, _ channels: SectionChannels) {
    guard !span.isWhole else { return filter(p, span.end, channels, span.room) }
    if p.isSteady, span.lane == 0 || past.equals(p) {
      filter(p, span.end, channels, span.room)
      past.fill(p.freq[0], p.q[0], p.gain[0], p.new)
    } else {
      var window = SectionWindow()
      withUnsafeMutablePointer(to: &window) {
        let rows = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self)
        past.write(p, span.lane, rows)
        filter(p.with(UnsafePointer(rows), apart: SectionWindow.apart), span.end, channels, span.room)
        past.keep(UnsafePointer(rows), span.end & ~15, p.new)
      }
    }
    // Frames still to come must not reach another section.
    var channel = 0
    while channel < channels.count {
      var behind = span.end
      while behind & 15 != 0 {
        channels.to(channel)[behind] = 0
        behind &+= 1
      }
      channel &+= 1
    }
  }

  /// Filters `end` frames from the start of a group on.
  @_noLocks private mutating func filter(
    _ p: SectionParameters, _ end: Int, _ channels: SectionChannels, _ room: UnsafeMutableRawPointer
  ) {
    if moves(p, end) {
      let steps = SectionSteps.write(p, &shape, to: room)
      var channel = 0
      while channel < channels.count {
        SectionSteps.run(
          steps, channels.from(channel), channels.to(channel), channels.state(channel),
          complete: end &>> 4)
        channel &+= 1
      }
      isStale = end >= 16 || isStale
    } else if knows(p) {
      if end >= 16 { rest() }
      var channel = 0
      while channel < channels.count {
        rest(channels.from(channel), channels.to(channel), channels.state(channel), complete: end &>> 4)
        channel &+= 1
      }
    } else {
      var frame = 0
      while frame < end {
        filterGroup(p, frame, end &- frame < 16 ? end &- frame : 16, channels, room)
        frame &+= 16
      }
    }
  }

  /// True when every group moves from its first frame on, and none ends with parameters for a table.
  @inline(__always) @_noLocks private func moves(_ p: SectionParameters, _ end: Int) -> Bool {
    guard !p.isSteady else { return false }
    var frame = 0
    while frame < end {
      if fits(p, frame) || (end &- frame >= 16 && !p.clearlyMove(frame)) { return false }
      frame &+= 16
    }
    return true
  }

  /// Filters the group at `frame`, of which `have` frames are there; `x` is zero beyond. The states advance when it is
  /// complete. If all of it had the same new parameters, the table is rebuilt.
  @inline(never) @_noLocks private mutating func filterGroup(
    _ p: SectionParameters, _ frame: Int, _ have: Int, _ channels: SectionChannels,
    _ room: UnsafeMutableRawPointer
  ) {
    let change = change(p, frame, have)
    let complete = have == 16 ? 1 : 0
    // The group alone, in a window of four.
    var window = SectionWindow()
    var signal = Quads(repeating: 0)
    withUnsafeMutablePointer(to: &window) { window in
      withUnsafeMutablePointer(to: &signal) { signal in
        let x = UnsafeMutableRawPointer(signal).assumingMemoryBound(to: Float.self)
        if change == 16 {
          var channel = 0
          while channel < channels.count {
            x.store(channels.from(channel).vector(frame), 0)
            rest(UnsafePointer(x), x, channels.state(channel), complete: complete)
            channels.to(channel).store(x.vector(0), frame)
            channel &+= 1
          }
          return
        }
        let rows = UnsafeMutableRawPointer(window).assumingMemoryBound(to: Float.self)
        rows.store(p.freq.vector(frame), 0)
        rows.store(p.q.vector(frame), SectionWindow.apart)
        rows.store(p.gain.vector(frame), 2 &* SectionWindow.apart)
        rows.store(p.blend.vector(frame), 3 &* SectionWindow.apart)
        let steps = SectionSteps.write(
          p.with(UnsafePointer(rows), apart: SectionWindow.apart), &shape, to: room)
        var channel = 0
        while channel < channels.count {
          let input = channels.from(channel).vector(frame)
          x.store(input, 0)
          rest(UnsafePointer(x), x, channels.state(channel), complete: 0)
          let y = x.vector(0)
          x.store(input, 0)
          SectionSteps.run(steps, UnsafePointer(x), x, channels.state(channel), complete: complete)
          channels.to(channel).store(sostenuto_join(y, x.vector(0), Int32(truncatingIfNeeded: change)), frame)
          channel &+= 1
        }
      }
    }
    if change == 16 {
      if have == 16 { isStale = false }
      return
    }
    guard have == 16 else { return }
    isStale = true
    if p.areLevel(frame) { build(p.new, p.freq[frame], p.q[frame], p.gain[frame], p.rate) }
  }

  /// Up to four groups of one channel from the table; `to` may be `from`.
  @inline(__always) @_noLocks mutating func rest(
    _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, complete: Int
  ) {
    SectionTable.run(&table, from, to, state, complete: complete)
  }

  /// Whole groups of one channel from the table; `to` may be `from`.
  @inline(__always) @_noLocks mutating func restWhole(
    _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, _ frames: Int
  ) {
    rest()
    rest(from, to, state, complete: frames &>> 4)
  }

  /// Part of a block of one channel at rest. `row` has the frames of the first group that were filtered before, and
  /// keeps those of the last one. `to` may be `from`.
  @inline(__always) @_noLocks mutating func restPart(
    _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, row: UnsafeMutablePointer<Float>, _ span: SectionSpan
  ) {
    let (groups, left) = (span.end & ~15, Int32(truncatingIfNeeded: span.end & 15))
    if span.lane == 0 {
      row.store(sostenuto_join(from.vector(groups), Frames(repeating: 0), left), 0)
      return rest(from, to, state, complete: span.end &>> 4)
    }
    var window = Quads(repeating: 0)
    withUnsafeMutablePointer(to: &window) {
      let x = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self)
      span.gather(from, row, to: x)
      rest(UnsafePointer(x), x, state, complete: span.end &>> 4)
      span.scatter(UnsafePointer(x), to: to)
    }
  }
}

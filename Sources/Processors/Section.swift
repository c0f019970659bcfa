import CVector
import Realtime

// A two-pole section: the trapezoidal state variable filter (V. Zavalishin, "The Art of VA Filter
// Design", 2012; A. Simper, "Linear trapezoidal integrated state variable filter", Cytomic, 2013).
//
//   v1 = a1 s1 + a2 (x - s2)            a1 = 1 / (1 + g (g + k)), a2 = g a1, a3 = g a2
//   v2 = s2 + a2 s1 + a3 (x - s2)       s1' = 2 v1 - s1, s2' = 2 v2 - s2
//   y  = m0 x + m1 v1 + m2 v2
//
// While the coefficients rest, sixteen frames are computed at once: the output is the impulse
// response times the inputs, plus what the two states contribute; a table holds these vectors. Where
// a coefficient moves, `SectionSteps` has the coefficients of every frame.
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
  /// Zeros and the impulse response, adjacent: read from `16 - j` they are the response to frame j.
  private var zeros = Frames(repeating: 0)
  private var impulse = Frames(repeating: 0)
  private var fromFirst = Frames(repeating: 0)
  private var fromSecond = Frames(repeating: 0)
  /// Contribution of each input to the states at the group's end.
  private var intoFirst = Frames(repeating: 0)
  private var intoSecond = Frames(repeating: 0)
  private var a11: Float = 1
  private var a12: Float = 0
  private var a21: Float = 0
  private var a22: Float = 1
  /// What the table is for: frequency, q and gain.
  private var known = SIMD4<Float>(repeating: .nan)
  private var knownResponse = Response.peak
  private var knownRate: Float = 0
  /// The parameters have settled on values that the table does not have yet.
  private(set) var isStale = false
  private var past = SectionPast()

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
    let c = SectionCoefficients(
      response, Frames(repeating: freq),
      SectionShape(Frames(repeating: q), Frames(repeating: gain), hasGain: response.hasGain), rate)
    let (g, k) = (Double(c.g[0]), Double(c.k[0]))
    let (m0, m1, m2) = (Double(c.m0[0]), Double(c.m1[0]), Double(c.m2[0]))
    let e1 = 1 / (1 + g * (g + k))
    let e2 = g * e1
    let e3 = g * e2
    var first = SIMD3<Double>(1, 0, 0)
    var second = SIMD3<Double>(0, 1, 0)
    withUnsafeMutablePointer(to: &self) { table in
      let floats = UnsafeMutableRawPointer(table).assumingMemoryBound(to: Float.self)
      var frame = 0
      while frame < 16 {
        // Three runs at once: from the first state, from the second, and from an impulse.
        let x = SIMD3<Double>(0, 0, frame == 0 ? 1 : 0)
        let v3 = x - second
        let v1 = e1 * first + e2 * v3
        let v2 = second + e2 * first + e3 * v3
        first = 2 * v1 - first
        second = 2 * v2 - second
        let y = m0 * x + m1 * v1 + m2 * v2
        floats[32 &+ frame] = Float(y[0])
        floats[48 &+ frame] = Float(y[1])
        floats[16 &+ frame] = Float(y[2])
        floats[64 &+ 15 &- frame] = Float(first[2])
        floats[80 &+ 15 &- frame] = Float(second[2])
        frame &+= 1
      }
    }
    a11 = Float(first[0])
    a12 = Float(first[1])
    a21 = Float(second[0])
    a22 = Float(second[1])
  }

  /// True when the table is for all frames of these parameters, as far as a glance tells.
  @inline(__always) @_noLocks func knows(_ p: SectionParameters) -> Bool { p.isSteady && fits(p, 0) }

  /// True when the table is for these parameters.
  @inline(__always) @_noLocks func knows(
    _ freq: Float, _ q: Float, _ gain: Float, _ response: Response, _ rate: Float
  )
    -> Bool
  {
    known[0] == freq && known[1] == q && known[2] == gain && knownResponse == response && knownRate == rate
  }

  /// True when the table is for this frame.
  @inline(__always) @_noLocks private func fits(_ p: SectionParameters, _ frame: Int) -> Bool {
    p.freq[frame] == known[0] && p.q[frame] == known[1] && p.gain[frame] == known[2]
      && knownRate == p.rate
      && (knownResponse == p.new && p.blend[frame] == 1 || knownResponse == p.old && p.blend[frame] == 0)
  }

  /// The first of the `have` frames from `frame` on that the table is not for; 16: none.
  @_noLocks private func change(_ p: SectionParameters, _ frame: Int, _ have: Int) -> Int {
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
    @inline(__always) @_noLocks get { past.equals(known[0], known[1], known[2], knownResponse) }
  }

  /// The table stood for part of a block.
  @inline(__always) @_noLocks mutating func restPart(_ span: SectionSpan) {
    if span.end >= 16 { isStale = false }
    past.fill(known[0], known[1], known[2], knownResponse)
  }

  /// Filters a block on some channels. Audio thread.
  @_noLocks mutating func process(_ p: SectionParameters, _ span: SectionSpan, _ channels: SectionChannels) {
    guard !span.isWhole else { return filter(p, 64, channels) }
    if p.isSteady, span.lane == 0 || past.equals(p) {
      filter(p, span.end, channels)
      past.fill(p.freq[0], p.q[0], p.gain[0], p.new)
    } else {
      var window = SectionWindow()
      withUnsafeMutablePointer(to: &window) {
        let rows = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self)
        past.write(p, span.lane, rows)
        filter(p.with(UnsafePointer(rows), apart: SectionWindow.apart), span.end, channels)
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
  @_noLocks private mutating func filter(_ p: SectionParameters, _ end: Int, _ channels: SectionChannels) {
    if moves(p, end) {
      let steps = SectionSteps(p)
      var channel = 0
      while channel < channels.count {
        steps.run(channels.from(channel), channels.to(channel), channels.state(channel), complete: end &>> 4)
        channel &+= 1
      }
      isStale = end >= 16 || isStale
    } else if end == 64, knows(p) {
      rest()
      var channel = 0
      while channel < channels.count {
        Self.rest(&self, channels.from(channel), channels.to(channel), channels.state(channel))
        channel &+= 1
      }
    } else {
      var frame = 0
      while frame < end {
        filterGroup(p, frame, end &- frame < 16 ? end &- frame : 16, channels)
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
    _ p: SectionParameters, _ frame: Int, _ have: Int, _ channels: SectionChannels
  ) {
    let change = change(p, frame, have)
    if change == 16 {
      var channel = 0
      while channel < channels.count {
        var next = channels.state(channel).pointee
        let y = resting(channels.from(channel) + frame, &next)
        channels.to(channel).store(y + 0, frame)
        if have == 16 { channels.state(channel).pointee = next }
        channel &+= 1
      }
      if have == 16 { isStale = false }
      return
    }
    // The group alone, in a window of four.
    var window = SectionWindow()
    var signal = Quads(repeating: 0)
    withUnsafeMutablePointer(to: &window) { window in
      withUnsafeMutablePointer(to: &signal) { signal in
        let rows = UnsafeMutableRawPointer(window).assumingMemoryBound(to: Float.self)
        let x = UnsafeMutableRawPointer(signal).assumingMemoryBound(to: Float.self)
        rows.store(p.freq.vector(frame), 0)
        rows.store(p.q.vector(frame), SectionWindow.apart)
        rows.store(p.gain.vector(frame), 2 &* SectionWindow.apart)
        rows.store(p.blend.vector(frame), 3 &* SectionWindow.apart)
        let steps = SectionSteps(p.with(UnsafePointer(rows), apart: SectionWindow.apart))
        let isMoved = Self.places .>= SIMD16(repeating: UInt32(truncatingIfNeeded: change))
        var channel = 0
        while channel < channels.count {
          let from = channels.from(channel) + frame
          var next = channels.state(channel).pointee
          let y = resting(from, &next)
          x.store(from.vector(0), 0)
          steps.run(
            UnsafePointer(x), x, channels.state(channel), complete: have == 16 ? 1 : 0)
          channels.to(channel).store(
            (y + 0).replacing(with: x.vector(0), where: isMoved), frame)
          channel &+= 1
        }
      }
    }
    guard have == 16 else { return }
    isStale = true
    if p.areLevel(frame) { build(p.new, p.freq[frame], p.q[frame], p.gain[frame], p.rate) }
  }

  /// A whole group from the table.
  @inline(__always) @_noLocks private func resting(
    _ x: UnsafePointer<Float>, _ state: inout SIMD2<Float>
  ) -> Frames {
    withUnsafePointer(to: self) { table in
      let response = UnsafeRawPointer(table).assumingMemoryBound(to: Float.self)
      var sum = Frames(repeating: 0)
      var j = 0
      while j < 16 {
        sum = addProduct(sum, response.vector(16 &- j), x[j])
        j &+= 1
      }
      let x = x.vector(0)
      return finish(sum, total(intoFirst * x), total(intoSecond * x), &state)
    }
  }

  /// Adds the contribution of the states, and advances them by sixteen frames; `first` and `second` are the
  /// contributions of the inputs to them.
  @inline(__always) @_noLocks private func finish(
    _ sum: Frames, _ first: Float, _ second: Float, _ state: inout SIMD2<Float>
  ) -> Frames {
    let s1 = state[0]
    let s2 = state[1]
    state[0] = (first + a11 * s1) + a12 * s2
    state[1] = (second + a21 * s1) + a22 * s2
    return addProduct(addProduct(sum, fromFirst, s1), fromSecond, s2)
  }

  /// Sums of eight vectors, each in the order of `total`, in a quarter of the steps: each halving turns two
  /// vectors into one.
  @inline(__always) @_noLocks private static func totals(
    _ a: Frames, _ b: Frames, _ c: Frames, _ d: Frames, _ e: Frames, _ f: Frames, _ g: Frames, _ h: Frames
  ) -> SIMD8<Float> {
    let two = twos(fours(eights(a, b), eights(c, d)), fours(eights(e, f), eights(g, h)))
    return two.evenHalf + two.oddHalf
  }

  @inline(__always) @_noLocks private static func eights(_ a: Frames, _ b: Frames) -> Frames {
    Frames(lowHalf: a.lowHalf, highHalf: b.lowHalf) + Frames(lowHalf: a.highHalf, highHalf: b.highHalf)
  }

  @inline(__always) @_noLocks private static func fours(_ a: Frames, _ b: Frames) -> Frames {
    let low = Frames(
      lowHalf: SIMD8(lowHalf: a.lowHalf.lowHalf, highHalf: a.highHalf.lowHalf),
      highHalf: SIMD8(lowHalf: b.lowHalf.lowHalf, highHalf: b.highHalf.lowHalf))
    let high = Frames(
      lowHalf: SIMD8(lowHalf: a.lowHalf.highHalf, highHalf: a.highHalf.highHalf),
      highHalf: SIMD8(lowHalf: b.lowHalf.highHalf, highHalf: b.highHalf.highHalf))
    return low + high
  }

  @inline(__always) @_noLocks private static func twos(_ a: Frames, _ b: Frames) -> Frames {
    let pairsOfA = unsafeBitCast(a, to: SIMD8<UInt64>.self)
    let pairsOfB = unsafeBitCast(b, to: SIMD8<UInt64>.self)
    let low = SIMD8(lowHalf: pairsOfA.evenHalf, highHalf: pairsOfB.evenHalf)
    let high = SIMD8(lowHalf: pairsOfA.oddHalf, highHalf: pairsOfB.oddHalf)
    return unsafeBitCast(low, to: Frames.self) + unsafeBitCast(high, to: Frames.self)
  }

  /// Four whole groups of one channel at rest. `to` may be `from`.
  @inline(__always) @_noLocks static func rest(
    _ section: UnsafePointer<Section>, _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>
  ) {
    let response = UnsafeRawPointer(section).assumingMemoryBound(to: Float.self)
    var y0 = Frames(repeating: 0)
    var y1 = y0
    var y2 = y0
    var y3 = y0
    var j = 0
    while j < 16 {
      let h = response.vector(16 &- j)
      y0 = addProduct(y0, h, from[j])
      y1 = addProduct(y1, h, from[16 &+ j])
      y2 = addProduct(y2, h, from[32 &+ j])
      y3 = addProduct(y3, h, from[48 &+ j])
      j &+= 1
    }
    let x0 = from.vector(0)
    let x1 = from.vector(16)
    let x2 = from.vector(32)
    let x3 = from.vector(48)
    let first = section.pointee.intoFirst
    let second = section.pointee.intoSecond
    let totals = Self.totals(
      first * x0, first * x1, first * x2, first * x3, second * x0, second * x1, second * x2, second * x3)
    var s = state.pointee
    y0 = section.pointee.finish(y0, totals[0], totals[4], &s)
    y1 = section.pointee.finish(y1, totals[1], totals[5], &s)
    y2 = section.pointee.finish(y2, totals[2], totals[6], &s)
    y3 = section.pointee.finish(y3, totals[3], totals[7], &s)
    to.store(y0 + 0, 0)
    to.store(y1 + 0, 16)
    to.store(y2 + 0, 32)
    to.store(y3 + 0, 48)
    state.pointee = s
  }

  /// Part of a block of one channel at rest. `row` has the frames of the first group that were filtered before, and
  /// keeps those of the last one. `to` may be `from`.
  @inline(__always) @_noLocks static func restPart(
    _ section: UnsafePointer<Section>, _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, row: UnsafeMutablePointer<Float>, _ span: SectionSpan
  ) {
    let frames = span.end &- span.lane
    let zero = Frames(repeating: 0)
    var s = state.pointee
    var frame = 0
    if span.lane > 0 {
      let lane = Int32(truncatingIfNeeded: span.lane)
      let isThere = places .< SIMD16(repeating: UInt32(truncatingIfNeeded: span.end))
      let x = zero.replacing(with: sostenuto_join(row.vector(0), from.vector(0), lane), where: isThere)
      var next = s
      let y = sostenuto_from_lane(restGroup(section, x, &next), lane)
      if span.end >= 16 { s = next } else { row.store(x, 0) }
      frame = 16 &- span.lane
      let isOurs = places .< SIMD16(repeating: UInt32(truncatingIfNeeded: frame))
      to.store(to.vector(0).replacing(with: y, where: isOurs), 0)
    }
    while frame &+ 16 <= frames {
      to.store(restGroup(section, from.vector(frame), &s), frame)
      frame &+= 16
    }
    if frame < frames {
      let isThere = places .< SIMD16(repeating: UInt32(truncatingIfNeeded: frames &- frame))
      let x = zero.replacing(with: from.vector(frame), where: isThere)
      row.store(x, 0)
      var next = s
      to.store(restGroup(section, x, &next), frame)
    }
    state.pointee = s
  }

  /// A group of one channel at rest.
  @inline(__always) @_noLocks private static func restGroup(
    _ section: UnsafePointer<Section>, _ x: Frames, _ state: inout SIMD2<Float>
  ) -> Frames {
    let response = UnsafeRawPointer(section).assumingMemoryBound(to: Float.self)
    var sum = Frames(repeating: 0)
    withUnsafePointer(to: x) {
      let frames = UnsafeRawPointer($0).assumingMemoryBound(to: Float.self)
      var j = 0
      while j < 16 {
        sum = addProduct(sum, response.vector(16 &- j), frames[j])
        j &+= 1
      }
    }
    let first = total(section.pointee.intoFirst * x)
    let second = total(section.pointee.intoSecond * x)
    return section.pointee.finish(sum, first, second, &state) + 0
  }
}

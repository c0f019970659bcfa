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
// a coefficient moves, the states go in steps of two frames.
//
// Both work on groups of sixteen frames that begin at multiples of sixteen of engine time. A block that
// ends within a group leaves the group's inputs and coefficients behind, and the next block computes the
// group again from its start: so each frame is the same function of the group up to itself, however
// the frames are split.

/// The coefficients of sixteen frames.
struct SectionCoefficients {
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

/// A section at rest: its table, and its state within the group.
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
  /// Coefficients of the table.
  private var g: Float = 0
  private var k: Float = 0
  private var m0: Float = 0
  private var m1: Float = 0
  private var m2: Float = 0
  /// Parameters known to give these coefficients (frequency, q, gain, type), and their rate.
  private var known = SIMD4<Float>(repeating: .nan)
  private var knownRate: Float = .nan
  /// The first frame of this group whose coefficients differ from the table's; 16: none.
  private(set) var changedAt = 16
  /// The coefficients have settled on values that the table does not have yet.
  private(set) var isStale = false

  /// Floats for the coefficients of an unfinished group, and for the steps of a moving one.
  static var rowSize: Int { @_noLocks get { 5 &* 32 &+ 64 } }

  @inline(__always) @_noLocks func knows(_ parameters: SIMD4<Float>, _ rate: Float) -> Bool {
    known == parameters && knownRate == rate
  }

  @inline(__always) @_noLocks func holds(_ c: SectionCoefficients) -> Bool {
    areZero(c.g - g) && areZero(c.k - k) && areZero(c.m0 - m0) && areZero(c.m1 - m1) && areZero(c.m2 - m2)
  }

  /// Stores the resting parameters that the table stands for.
  @inline(__always) @_noLocks mutating func learn(_ parameters: SIMD4<Float>, _ rate: Float) {
    known = parameters
    knownRate = rate
  }

  /// Coefficients of the table.
  var coefficients: SectionCoefficients {
    @inline(__always) @_noLocks get {
      SectionCoefficients(
        g: Frames(repeating: g), k: Frames(repeating: k), m0: Frames(repeating: m0),
        m1: Frames(repeating: m1), m2: Frames(repeating: m2))
    }
  }

  /// Computes the table for the first lane of `c`. Worker, and audio thread.
  @_noLocks mutating func build(_ c: SectionCoefficients) {
    g = c.g[0]
    k = c.k[0]
    m0 = c.m0[0]
    m1 = c.m1[0]
    m2 = c.m2[0]
    known = SIMD4(repeating: .nan)
    isStale = false
    let e1 = 1 / (1 + Double(g) * (Double(g) + Double(k)))
    let e2 = Double(g) * e1
    let e3 = Double(g) * e2
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
        let y = Double(table.pointee.m0) * x + Double(table.pointee.m1) * v1 + Double(table.pointee.m2) * v2
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

  /// Sets the coefficients of the group's frames `from..<to`; `c` begins at `from`.
  @inline(__always) @_noLocks mutating func setCoefficients(
    _ c: SectionCoefficients, from: Int, to: Int, rows: UnsafeMutablePointer<Float>
  ) {
    if from == 0 { changedAt = 16 }
    rows.store(c.g, from)
    rows.store(c.k, 32 &+ from)
    rows.store(c.m0, 64 &+ from)
    rows.store(c.m1, 96 &+ from)
    rows.store(c.m2, 128 &+ from)
    var lane = from
    while lane < to, changedAt == 16 {
      if rows[lane] != g || rows[32 &+ lane] != k || rows[64 &+ lane] != m0
        || rows[96 &+ lane] != m1 || rows[128 &+ lane] != m2
      {
        changedAt = lane
      }
      lane &+= 1
    }
  }

  @_noLocks mutating func begin() { changedAt = 16 }

  /// The table stood for a whole block: no other coefficients are left to settle on. A block that does not end within a
  /// group never comes to `settle`, and would leave the kernel awake for ever.
  @inline(__always) @_noLocks mutating func rest() { isStale = false }

  /// Ends a group. If all of it had the same new coefficients, the table is rebuilt.
  @inline(__always) @_noLocks mutating func settle(_ rows: UnsafeMutablePointer<Float>) {
    isStale = changedAt < 16
    guard isStale else { return }
    let c = Self.coefficients(rows)
    if areZero(c.g - c.g[0]), areZero(c.k - c.k[0]), areZero(c.m0 - c.m0[0]), areZero(c.m1 - c.m1[0]),
      areZero(c.m2 - c.m2[0])
    {
      build(c)
    }
  }

  @inline(__always) @_noLocks private static func coefficients(_ rows: UnsafeMutablePointer<Float>)
    -> SectionCoefficients
  {
    SectionCoefficients(
      g: rows.vector(0), k: rows.vector(32), m0: rows.vector(64), m1: rows.vector(96),
      m2: rows.vector(128))
  }

  /// Filters one group of one channel up to frame `have`; `x` is zero beyond. The state advances when the
  /// group is complete.
  @inline(__always) @_noLocks func filterGroup(
    _ x: UnsafeMutablePointer<Float>, _ state: UnsafeMutablePointer<SIMD2<Float>>, _ have: Int,
    _ rows: UnsafeMutablePointer<Float>
  ) -> Frames {
    var next = state.pointee
    var y = Frames(repeating: 0)
    if changedAt > 0 { y = resting(UnsafePointer(x), &next) }
    if changedAt < have {
      next = state.pointee
      y = Self.moving(x, &next, rows, y, changedAt)
    }
    if have == 16 { state.pointee = next }
    return y + 0
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
        sum += response.vector(16 &- j) * x[j]
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
    return (sum + fromFirst * s1) + fromSecond * s2
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
      y0 += h * from[j]
      y1 += h * from[16 &+ j]
      y2 += h * from[32 &+ j]
      y3 += h * from[48 &+ j]
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

  /// A group whose coefficients move; frames before `first` keep their value in `y`.
  ///
  /// With the coefficients of a frame the states step as s' = P s + b x. Two steps in one halve the chain of frames
  /// that wait for each other; the frames between are computed from those before them, all at once.
  @_noLocks private static func moving(
    _ x: UnsafeMutablePointer<Float>, _ state: inout SIMD2<Float>, _ rows: UnsafeMutablePointer<Float>,
    _ y: Frames, _ first: Int
  ) -> Frames {
    let c = coefficients(rows)
    let input = x.vector(0)
    let a1 = 1 / (1 + c.g * (c.g + c.k))
    let a2 = c.g * a1
    let a3 = c.g * a2
    let cross = a2 + a2
    let (p11, p22) = (a1 + a1 - 1, 1 - (a3 + a3))
    let (b1, b2) = (cross * input, (a3 + a3) * input)
    // The even frame's step, then the odd one's: the products of their matrices. Beside the diagonal P has -cross
    // above and cross below.
    let (e11, e12, e22, e1, e2) = (p11.evenHalf, cross.evenHalf, p22.evenHalf, b1.evenHalf, b2.evenHalf)
    let (o11, o12, o22) = (p11.oddHalf, cross.oddHalf, p22.oddHalf)
    let step = rows + 160
    let steps = UnsafeMutableRawPointer(step)
    steps.storeBytes(of: o11 * e11 - o12 * e12, as: SIMD8<Float>.self)
    steps.storeBytes(of: o11 * e12 + o12 * e22, toByteOffset: 32, as: SIMD8<Float>.self)
    steps.storeBytes(of: o12 * e11 + o22 * e12, toByteOffset: 64, as: SIMD8<Float>.self)
    steps.storeBytes(of: o22 * e22 - o12 * e12, toByteOffset: 96, as: SIMD8<Float>.self)
    steps.storeBytes(of: (o11 * e1 - o12 * e2) + b1.oddHalf, toByteOffset: 128, as: SIMD8<Float>.self)
    steps.storeBytes(of: (o12 * e1 + o22 * e2) + b2.oddHalf, toByteOffset: 160, as: SIMD8<Float>.self)
    var s1 = state[0]
    var s2 = state[1]
    var pair = 0
    while pair < 8 {
      let (t1, t2) = (s1, s2)
      s1 = (step[pair] * t1 + step[32 &+ pair]) - step[8 &+ pair] * t2
      s2 = (step[16 &+ pair] * t1 + step[40 &+ pair]) + step[24 &+ pair] * t2
      // The states before the pair take the place of what they came from.
      step[pair] = t1
      step[8 &+ pair] = t2
      pair &+= 1
    }
    state = SIMD2(s1, s2)
    let before1 = steps.loadUnaligned(as: SIMD8<Float>.self)
    let before2 = steps.loadUnaligned(fromByteOffset: 32, as: SIMD8<Float>.self)
    var firsts = Frames(repeating: 0)
    var seconds = firsts
    firsts.evenHalf = before1
    firsts.oddHalf = (e11 * before1 + e1) - e12 * before2
    seconds.evenHalf = before2
    seconds.oddHalf = (e12 * before1 + e2) + e22 * before2
    let v3 = input - seconds
    let v1 = a1 * firsts + a2 * v3
    let v2 = seconds + a2 * firsts + a3 * v3
    let moved = c.m0 * input + c.m1 * v1 + c.m2 * v2
    let lanes = SIMD16<Int32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    return y.replacing(with: moved, where: lanes .>= SIMD16(repeating: Int32(truncatingIfNeeded: first)))
  }
}

/// Inputs of unfinished groups: 32 floats per channel.
struct GroupInputs: BitwiseCopyable {
  private let rows: UnsafeMutablePointer<Float>

  @_noLocks init(_ rows: UnsafeMutablePointer<Float>) { self.rows = rows }

  /// Stores frames `lane..<have` of the group of `channel`; the rest becomes zero.
  @inline(__always) @_noLocks func store(
    _ channel: Int, _ x: Frames, lane: Int, have: Int
  ) -> UnsafeMutablePointer<Float> {
    let row = rows + channel &* 32
    row.store(x, lane)
    var behind = have
    while behind < 16 {
      row[behind] = 0
      behind &+= 1
    }
    return row
  }
}

import CVector

/// The work of a section at rest on 64 frames, in the order of `SectionSteps`: four frames at once from silence before
/// them, then what the states before them add.
struct SectionTable: BitwiseCopyable {
  /// Response to the first of four frames.
  private var impulse = SIMD4<Float>.zero
  /// Contributions of the two states to four frames.
  private var fromFirst = SIMD4<Float>.zero
  private var fromSecond = SIMD4<Float>.zero
  /// Contributions of four frames to the states behind them.
  private var intoFirst = SIMD4<Float>.zero
  private var intoSecond = SIMD4<Float>.zero
  /// Matrices of four frames and of eight, row by row; the columns of that of sixteen.
  private var four = SIMD4<Float>.zero
  private var eight = SIMD4<Float>.zero
  private var group = SIMD4<Float>.zero
  /// Contributions of the two states to sixteen frames.
  private var firstToGroup = Frames(repeating: 0)
  private var secondToGroup = Frames(repeating: 0)

  init() {}

  @_noLocks init(_ c: SectionCoefficients) {
    let (g, k) = (Double(c.g[0]), Double(c.k[0]))
    let (m0, m1, m2) = (Double(c.m0[0]), Double(c.m1[0]), Double(c.m2[0]))
    let e1 = 1 / (1 + g * (g + k))
    let e2 = g * e1
    let e3 = g * e2
    // Three runs at once: from the first state, from the second, and from an impulse.
    var first = SIMD3<Double>(1, 0, 0)
    var second = SIMD3<Double>(0, 1, 0)
    var frame = 0
    while frame < 16 {
      let x = SIMD3<Double>(0, 0, frame == 0 ? 1 : 0)
      let v3 = x - second
      let v1 = e1 * first + e2 * v3
      let v2 = second + e2 * first + e3 * v3
      first = 2 * v1 - first
      second = 2 * v2 - second
      let y = m0 * x + m1 * v1 + m2 * v2
      firstToGroup[frame] = Float(y[0])
      secondToGroup[frame] = Float(y[1])
      if frame < 4 {
        fromFirst[frame] = Float(y[0])
        fromSecond[frame] = Float(y[1])
        impulse[frame] = Float(y[2])
        intoFirst[3 &- frame] = Float(first[2])
        intoSecond[3 &- frame] = Float(second[2])
      }
      frame &+= 1
      let matrix = SIMD4(Float(first[0]), Float(first[1]), Float(second[0]), Float(second[1]))
      if frame == 4 { four = matrix }
      if frame == 8 { eight = matrix }
    }
    group = SIMD4(Float(first[0]), Float(second[0]), Float(first[1]), Float(second[1]))
  }

  /// Filters 64 frames of one channel, and advances its state by the groups that are complete; `to` may be `from`.
  /// Frames are read to the end, and may be anything behind those that are wanted.
  @inline(never) @_noLocks static func run(
    _ table: UnsafePointer<SectionTable>, _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, complete: Int
  ) {
    let x = Quads(from)
    // Each group from silence before it.
    var added = SectionStates(
      sum(x, table.pointee.intoFirst), sum(x, table.pointee.intoSecond))
    added = SectionMatrix(table.pointee.four).turned(added.laterByOne, plus: added)
    added = SectionMatrix(table.pointee.eight).turned(added.laterByTwo, plus: added)
    let group = table.pointee.group
    let starts = added.startsOfGroups(group, group, group, group, state, complete)
    let s = added.laterByOne
    let h = table.pointee.impulse
    let (one, two) = (table.pointee.fromFirst, table.pointee.fromSecond)
    var y = x
    y.a = x.a * h[0]
    y.b = addProduct(x.a * h[1], x.b, h[0])
    y.c = addProduct(addProduct(x.a * h[2], x.b, h[1]), x.c, h[0])
    y.d = addProduct(addProduct(addProduct(x.a * h[3], x.b, h[2]), x.c, h[1]), x.d, h[0])
    y.a = addProduct(addProduct(y.a, s.first, one[0]), s.second, two[0])
    y.b = addProduct(addProduct(y.b, s.first, one[1]), s.second, two[1])
    y.c = addProduct(addProduct(y.c, s.first, one[2]), s.second, two[2])
    y.d = addProduct(addProduct(y.d, s.first, one[3]), s.second, two[3])
    // Only what the states before the groups add waits for one group after the other.
    let groups = y.inOrder
    to.store(table.pointee.added(starts.0, to: groups.0), 0)
    to.store(table.pointee.added(starts.1, to: groups.1), 16)
    to.store(table.pointee.added(starts.2, to: groups.2), 32)
    to.store(table.pointee.added(starts.3, to: groups.3), 48)
  }

  /// Adds to sixteen frames what the states before them contribute.
  @inline(__always) @_noLocks private func added(_ states: SIMD4<Float>, to frames: Frames) -> Frames {
    addProduct(addProduct(frames, firstToGroup, states[0]), secondToGroup, states[1]) + 0
  }

  @inline(__always) @_noLocks private static func sum(_ x: Quads, _ factors: SIMD4<Float>) -> Frames {
    addProduct(x.a * factors[0], x.b, factors[1]) + addProduct(x.c * factors[2], x.d, factors[3])
  }
}

extension SectionMatrix {
  /// The same matrix in all places; entries row by row.
  @inline(__always) @_noLocks init(_ entries: SIMD4<Float>) {
    self.init(
      Frames(repeating: entries[0]), Frames(repeating: entries[1]), Frames(repeating: entries[2]),
      Frames(repeating: entries[3]))
  }
}

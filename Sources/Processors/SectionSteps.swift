import CVector

// A section whose coefficients move, for up to four groups of sixteen frames. With d = x - s2, one frame is
//
//   s1' = p s1 + c d           p = 2 a1 - 1, c = 2 a2, t = 2 a3
//   s2' = s2 + c s1 + t d      y = m0 x + m1 / 2 (s1 + s1') + m2 / 2 (s2 + s2')
//
// since the states mirror v1 and v2: v = (s + s') / 2. Frames wait for each other only through the two states, which each
// frame turns by a matrix and adds to. Turning is associative, so that the frames of a group need not wait: four frames are
// one matrix, in all lanes at once; the four matrices of a group are multiplied up in two steps (W. Hillis and G. Steele,
// "Data parallel algorithms", 1986), from what silence before the group gives; and only the groups take their turn.
// A group is calculated alike whether others follow it or not, and no lane depends on later ones.

/// States of a section in sixteen places at once.
struct SectionStates: BitwiseCopyable {
  var first: Frames
  var second: Frames

  @inline(__always) @_noLocks init(_ first: Frames, _ second: Frames) {
    self.first = first
    self.second = second
  }

  /// Within each group: those of one lane before, and of two; zero before the group.
  var laterByOne: Self {
    @inline(__always) @_noLocks get {
      Self(sostenuto_later_by_one(first, 0), sostenuto_later_by_one(second, 0))
    }
  }
  var laterByTwo: Self {
    @inline(__always) @_noLocks get {
      Self(sostenuto_later_by_two(first, 0), sostenuto_later_by_two(second, 0))
    }
  }
}

extension SectionStates {
  /// States before each group, in all of its places; see `startsOfGroups`.
  @inline(__always) @_noLocks func starts(
    _ a: SIMD4<Float>, _ b: SIMD4<Float>, _ c: SIMD4<Float>, _ d: SIMD4<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, _ complete: Int
  ) -> Self {
    let s = startsOfGroups(a, b, c, d, state, complete)
    let pairs = Frames(
      lowHalf: SIMD8(lowHalf: s.0, highHalf: s.1), highHalf: SIMD8(lowHalf: s.2, highHalf: s.3))
    return Self(sostenuto_firsts_of_four(pairs), sostenuto_seconds_of_four(pairs))
  }

  /// Both states before each group, twice, one group after the other; `state` is that before the first, and advances by the
  /// groups that are complete. These states are those at the ends of groups from silence before them; the columns are those of
  /// the groups' matrices.
  @inline(__always) @_noLocks func startsOfGroups(
    _ a: SIMD4<Float>, _ b: SIMD4<Float>, _ c: SIMD4<Float>, _ d: SIMD4<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, _ complete: Int
  ) -> (SIMD4<Float>, SIMD4<Float>, SIMD4<Float>, SIMD4<Float>) {
    let more = sostenuto_halves(sostenuto_last_pairs(first, second), Frames(repeating: 0))
    let s0 = sostenuto_twice(state.pointee)
    let s1 = sostenuto_turned(s0, a, more.lowHalf.lowHalf)
    let s2 = sostenuto_turned(s1, b, more.lowHalf.highHalf)
    let s3 = sostenuto_turned(s2, c, more.highHalf.lowHalf)
    switch complete {
    case 0: break
    case 1: state.pointee = s1.lowHalf
    case 2: state.pointee = s2.lowHalf
    case 3: state.pointee = s3.lowHalf
    default: state.pointee = sostenuto_turned(s3, d, more.highHalf.highHalf).lowHalf
    }
    return (s0, s1, s2, s3)
  }
}

/// A 2x2 matrix in sixteen places at once: it turns the states.
struct SectionMatrix: BitwiseCopyable {
  let a11: Frames
  let a12: Frames
  let a21: Frames
  let a22: Frames

  @inline(__always) @_noLocks init(_ a11: Frames, _ a12: Frames, _ a21: Frames, _ a22: Frames) {
    self.a11 = a11
    self.a12 = a12
    self.a21 = a21
    self.a22 = a22
  }

  /// This matrix after `earlier`.
  @inline(__always) @_noLocks func after(_ earlier: Self) -> Self {
    Self(
      addProduct(a12 * earlier.a21, a11, earlier.a11), addProduct(a12 * earlier.a22, a11, earlier.a12),
      addProduct(a22 * earlier.a21, a21, earlier.a11), addProduct(a22 * earlier.a22, a21, earlier.a12))
  }

  /// Turned states, and `more`.
  @inline(__always) @_noLocks func turned(_ states: SectionStates, plus more: SectionStates) -> SectionStates
  {
    SectionStates(
      addProduct(addProduct(more.first, a12, states.second), a11, states.first),
      addProduct(addProduct(more.second, a22, states.second), a21, states.first))
  }

  /// Within each group: those of one lane before, and of two; one before the group.
  var laterByOne: Self {
    @inline(__always) @_noLocks get {
      Self(
        sostenuto_later_by_one(a11, 1), sostenuto_later_by_one(a12, 0), sostenuto_later_by_one(a21, 0),
        sostenuto_later_by_one(a22, 1))
    }
  }
  var laterByTwo: Self {
    @inline(__always) @_noLocks get {
      Self(
        sostenuto_later_by_two(a11, 1), sostenuto_later_by_two(a12, 0), sostenuto_later_by_two(a21, 0),
        sostenuto_later_by_two(a22, 1))
    }
  }
  /// In each four lanes the two columns of the last one.
  var columnsOfGroup: Frames {
    @inline(__always) @_noLocks get {
      sostenuto_halves(sostenuto_last_pairs(a11, a21), sostenuto_last_pairs(a12, a22))
    }
  }
}

/// The step of one frame of each four.
private struct SectionStep: BitwiseCopyable {
  private let kept: Frames
  private let cross: Frames
  private let turn: Frames
  private let through: Frames
  private let first: Frames
  private let second: Frames

  @_transparent @_noLocks init(_ c: SectionCoefficients) {
    let damping = c.g * (c.g + c.k)
    let a1 = inverses(1 + damping)
    cross = 2 * c.g * a1
    // 2 a1 - 1, of which a1 near one would have lost digits.
    kept = addProduct(1, -2 * damping, a1)
    turn = c.g * cross
    through = c.m0
    first = 0.5 * c.m1
    second = 0.5 * c.m2
  }

  @inline(__always) @_noLocks func matrix() -> SectionMatrix {
    SectionMatrix(kept, 0 - cross, cross, 1 - turn)
  }

  /// States after a frame of silence.
  @inline(__always) @_noLocks func start(_ x: Frames) -> SectionStates { SectionStates(cross * x, turn * x) }

  @inline(__always) @_noLocks func states(_ x: Frames, _ s: SectionStates) -> SectionStates {
    let d = x - s.second
    return SectionStates(
      addProduct(kept * s.first, cross, d), addProduct(addProduct(s.second, cross, s.first), turn, d))
  }

  /// The frame's output, and its states.
  @inline(__always) @_noLocks func output(_ x: Frames, _ s: inout SectionStates) -> Frames {
    let next = states(x, s)
    let y = addProduct(through * x, first, s.first + next.first)
    let sum = addProduct(y, second, s.second + next.second)
    s = next
    return sum + 0
  }
}

/// The shapes of four steps: one for all, or each its own.
private struct SectionShapes: BitwiseCopyable {
  let first: UnsafeRawPointer
  /// Bytes from one to the next.
  let apart: Int

  @inline(__always) @_noLocks init(_ first: UnsafeRawPointer, apart: Int) {
    self.first = first
    self.apart = apart
  }
}

/// Steps of a section through up to four groups, for all channels that share its coefficients.
struct SectionSteps: BitwiseCopyable {
  private var steps: (a: SectionStep, b: SectionStep, c: SectionStep, d: SectionStep)
  /// Of each four frames; then of these and the four before them in the group.
  private var four: SectionMatrix
  private var eight: SectionMatrix
  /// Of all frames of the group before the four; and of all its frames:
  private var before: SectionMatrix
  /// In each four lanes the group's two columns.
  private var group: Frames

  /// Writes the steps to memory with room for them: they are too many to be moved. `rest`: the shape of steady q and gain.
  @inline(never) @_noLocks static func write(
    _ p: SectionParameters, _ rest: inout RestingShape, to room: UnsafeMutableRawPointer
  ) -> UnsafePointer<SectionSteps> {
    let place = room.assumingMemoryBound(to: SectionSteps.self)
    // Each frequency is stored where its step will be.
    let freq = p.freq.quads
    room.storeBytes(of: freq.a, as: Frames.self)
    room.storeBytes(of: freq.b, toByteOffset: apart, as: Frames.self)
    room.storeBytes(of: freq.c, toByteOffset: 2 &* apart, as: Frames.self)
    room.storeBytes(of: freq.d, toByteOffset: 3 &* apart, as: Frames.self)
    let hasGain = p.new.hasGain || p.old.hasGain
    let shapes: SectionShapes
    if p.q.frames == nil, p.gain.frames == nil {
      rest.follow(p.q[0], p.gain[0], hasGain: hasGain)
      // Stored behind the steps, in fields that are calculated last.
      let behind = room + 4 &* apart
      behind.storeBytes(of: rest.shape, as: SectionShape.self)
      shapes = SectionShapes(behind, apart: 0)
    } else {
      shapes = writeShapes(p, hasGain, room)
    }
    if p.old == p.new {
      calculate(room, shapes, p.new, p.rate)
    } else {
      fade(room, shapes, p)
    }
    let steps = place.pointee.steps
    let four = steps.d.matrix().after(steps.c.matrix()).after(
      steps.b.matrix().after(steps.a.matrix()))
    let eight = four.after(four.laterByOne)
    let sixteen = eight.after(eight.laterByTwo)
    place.pointee.four = four
    place.pointee.eight = eight
    place.pointee.before = sixteen.laterByOne
    place.pointee.group = sixteen.columnsOfGroup
    return UnsafePointer(place)
  }

  /// Bytes from one step to the next.
  private static var apart: Int { @inline(__always) @_noLocks get { MemoryLayout<SectionStep>.stride } }

  /// Writes shapes of q and gain that move, each behind its frequency and the tangent that takes the place of this.
  @inline(__always) @_noLocks private static func writeShapes(
    _ p: SectionParameters, _ hasGain: Bool, _ room: UnsafeMutableRawPointer
  ) -> SectionShapes {
    let (q, gain) = (p.q.quads, p.gain.quads)
    let first = room + MemoryLayout<SectionTangent>.stride
    first.storeBytes(of: SectionShape(q.a, gain.a, hasGain: hasGain), as: SectionShape.self)
    first.storeBytes(
      of: SectionShape(q.b, gain.b, hasGain: hasGain), toByteOffset: apart, as: SectionShape.self)
    first.storeBytes(
      of: SectionShape(q.c, gain.c, hasGain: hasGain), toByteOffset: 2 &* apart, as: SectionShape.self)
    first.storeBytes(
      of: SectionShape(q.d, gain.d, hasGain: hasGain), toByteOffset: 3 &* apart, as: SectionShape.self)
    return SectionShapes(first, apart: apart)
  }

  /// Turns frequencies into steps.
  @inline(never) @_noLocks private static func calculate(
    _ room: UnsafeMutableRawPointer, _ shapes: SectionShapes, _ response: Response, _ rate: Float
  ) {
    // A loop for each: the compiler is to see a constant.
    switch response {
    case .peak: calculateAll(room, shapes, .peak, rate)
    case .lowShelf: calculateAll(room, shapes, .lowShelf, rate)
    case .highShelf: calculateAll(room, shapes, .highShelf, rate)
    case .low: calculateAll(room, shapes, .low, rate)
    case .high: calculateAll(room, shapes, .high, rate)
    case .notch: calculateAll(room, shapes, .notch, rate)
    case .band: calculateAll(room, shapes, .band, rate)
    }
  }

  @_transparent @_noLocks private static func calculateAll(
    _ room: UnsafeMutableRawPointer, _ shapes: SectionShapes, _ response: Response, _ rate: Float
  ) {
    // In three parts: each is short enough for the processor to work on several steps at once, none of which needs another.
    let end = room + 4 &* apart
    var place = room
    while place < end {
      let tangent = SectionTangent(place.load(as: Frames.self), rate)
      place.storeBytes(of: tangent, as: SectionTangent.self)
      place += apart
    }
    var shape = shapes.first
    place = room
    while place < end {
      let c = SectionCoefficients(
        response, place.load(as: SectionTangent.self), shape.load(as: SectionShape.self))
      place.storeBytes(of: c, as: SectionCoefficients.self)
      place += apart
      shape += shapes.apart
    }
    place = room
    while place < end {
      let c = place.load(as: SectionCoefficients.self)
      place.storeBytes(of: SectionStep(c), as: SectionStep.self)
      place += apart
    }
  }

  /// Turns frequencies into steps while one response fades into another.
  @inline(never) @_noLocks private static func fade(
    _ room: UnsafeMutableRawPointer, _ shapes: SectionShapes, _ p: SectionParameters
  ) {
    var blend = p.blend.quads
    withUnsafePointer(to: &blend) { blend in
      let blends = UnsafeRawPointer(blend).assumingMemoryBound(to: Float.self)
      var step = 0
      while step < 4 {
        let (place, shape) = (room + step &* apart, shapes.first + step &* shapes.apart)
        var c = coefficients(place, shape, p.new, p.rate)
        c.fade(from: coefficients(place, shape, p.old, p.rate), blends.vector(16 &* step))
        place.storeBytes(of: SectionStep(c), as: SectionStep.self)
        step &+= 1
      }
    }
  }

  @inline(never) @_noLocks private static func coefficients(
    _ freq: UnsafeMutableRawPointer, _ shape: UnsafeRawPointer, _ response: Response, _ rate: Float
  ) -> SectionCoefficients {
    SectionCoefficients(response, freq.load(as: Frames.self), shape.load(as: SectionShape.self), rate)
  }

  /// Filters 64 frames of one channel, and advances its state by the groups that are complete; `to` may be `from`.
  /// Frames are read to the end, and may be anything behind those that are wanted.
  @inline(never) @_noLocks static func run(
    _ all: UnsafePointer<SectionSteps>, _ from: UnsafePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ state: UnsafeMutablePointer<SIMD2<Float>>, complete: Int
  ) {
    let x = Quads(from)
    // Each group from silence before it.
    var added = all.pointee.steps.d.states(
      x.d, all.pointee.steps.c.states(x.c, all.pointee.steps.b.states(x.b, all.pointee.steps.a.start(x.a))))
    added = all.pointee.four.turned(added.laterByOne, plus: added)
    added = all.pointee.eight.turned(added.laterByTwo, plus: added)
    let group = all.pointee.group
    let starts = added.starts(
      group.lowHalf.lowHalf, group.lowHalf.highHalf, group.highHalf.lowHalf, group.highHalf.highHalf, state,
      complete)
    var s = all.pointee.before.turned(starts, plus: added.laterByOne)
    var y = x
    y.a = all.pointee.steps.a.output(x.a, &s)
    y.b = all.pointee.steps.b.output(x.b, &s)
    y.c = all.pointee.steps.c.output(x.c, &s)
    y.d = all.pointee.steps.d.output(x.d, &s)
    y.store(to)
  }
}

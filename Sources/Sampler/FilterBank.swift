import Realtime

/// The filters of all voices, computed sixteen voices at a time, one a lane of a vector: a recursion
/// forbids lanes along time. A voice's lane is its slot's number modulo sixteen, and what a lane computes
/// depends on nothing else.
///
/// Coefficients that move go straight to where they are to be at the end of a control period.
struct FilterBank {
  /// Voices a group.
  static var lanes: Int { @_noLocks @inline(__always) get { 16 } }
  /// Floats between the rows of two voices: a block, and room for whole vectors behind it.
  static var stride: Int { @_noLocks @inline(__always) get { 80 } }
  /// Rows of one unit: two states a side, six coefficients and how these change a frame.
  private static var rows: Int { @_noLocks @inline(__always) get { 16 } }
  private static var coefficients: Int { @_noLocks @inline(__always) get { 4 } }
  private static var changes: Int { @_noLocks @inline(__always) get { 10 } }
  /// At most so many changes of a group in one block: each voice's, each unit's, once a control period.
  private static var mostUpdates: Int { @_noLocks get { 16 * 3 * 6 } }

  /// New coefficients of a lane at a frame.
  private struct Update {
    var lane: UInt8
    /// The next update of the same unit and frame (-1: none).
    var next: Int16
    var from: FilterCoefficients
    var change: FilterCoefficients
  }

  private let units: UnsafeMutablePointer<Float>
  /// What goes through the filters, lane beside lane: a vector a frame, left and right.
  private let left: UnsafeMutablePointer<Float>
  private let right: UnsafeMutablePointer<Float>
  private let spare: UnsafeMutablePointer<Float>
  private let updates: UnsafeMutablePointer<Update>
  private let heads: UnsafeMutablePointer<Int16>
  /// The frames at which a unit's coefficients change, a bit each.
  private let marks: UnsafeMutablePointer<UInt64>
  private var updateCount = 0

  static func memorySize(groups: Int) -> Int {
    let unitBytes = groups * Most.units * rows * lanes * 4
    return unitBytes + 3 * 64 * lanes * 4 + 64 * 8 + mostUpdates * MemoryLayout<Update>.stride
      + Most.units * 64 * 2 + 192
  }

  /// `memory` is zeroed and 64-byte aligned. Worker.
  init(memory: UnsafeMutableRawPointer, groups: Int) {
    units = memory.assumingMemoryBound(to: Float.self)
    left = units + groups * Most.units * Self.rows * Self.lanes
    right = left + 64 * Self.lanes
    spare = right + 64 * Self.lanes
    marks = UnsafeMutableRawPointer(spare + 64 * Self.lanes).assumingMemoryBound(to: UInt64.self)
    updates = UnsafeMutableRawPointer(marks + 64).assumingMemoryBound(to: Update.self)
    heads = UnsafeMutableRawPointer(updates + Self.mostUpdates).assumingMemoryBound(to: Int16.self)
    // A lane without a voice lets everything through.
    for number in 0..<groups * Most.units {
      store(
        SIMD16(repeating: 1),
        units + (number * Self.rows + Self.coefficients + 3) * Self.lanes)
    }
  }

  @_noLocks private func unit(_ group: Int, _ number: Int) -> UnsafeMutablePointer<Float> {
    units + (group &* Most.units &+ number) &* (Self.rows &* Self.lanes)
  }

  /// A unit of a slot without a voice, or of one that has no such unit: it lets everything through.
  /// Audio thread.
  @_noLocks func reset(_ slot: Int, _ number: Int) {
    let lane = unit(slot &>> 4, number) + (slot & 15)
    for row in 0..<Self.rows { lane[row &* Self.lanes] = 0 }
    lane[(Self.coefficients &+ 3) &* Self.lanes] = 1
  }

  /// Before a stretch of frames. Audio thread.
  @_noLocks mutating func begin() {
    updateCount = 0
    for number in 0..<Most.units { marks[number] = 0 }
  }

  /// From `frame` of the stretch on, a unit of the slot goes from these coefficients to others within
  /// `frames`. Audio thread.
  @_noLocks mutating func move(
    _ slot: Int, _ number: Int, at frame: Int, from: FilterCoefficients, to: FilterCoefficients,
    over frames: Float
  ) {
    guard updateCount < Self.mostUpdates else { return }
    var change = FilterCoefficients()
    change.a1 = (to.a1 - from.a1) / frames
    change.a2 = (to.a2 - from.a2) / frames
    change.a3 = (to.a3 - from.a3) / frames
    change.m0 = (to.m0 - from.m0) / frames
    change.m1 = (to.m1 - from.m1) / frames
    change.m2 = (to.m2 - from.m2) / frames
    let bit: UInt64 = 1 &<< UInt64(frame & 63)
    let head = number &* 64 &+ (frame & 63)
    let next: Int16 = marks[number] & bit != 0 ? heads[head] : -1
    updates[updateCount] = Update(lane: UInt8(slot & 15), next: next, from: from, change: change)
    heads[head] = Int16(truncatingIfNeeded: updateCount)
    marks[number] |= bit
    updateCount &+= 1
  }

  /// Filters `frames` of a group: rows of `stride` floats, one a voice, in place. Audio thread.
  @_noLocks func process(
    _ group: Int, units count: Int, left leftRows: UnsafeMutablePointer<Float>,
    right rightRows: UnsafeMutablePointer<Float>?, frames: Int
  ) {
    var from = 0
    while from < frames {
      transpose(leftRows + from, Self.stride, left + from &* 16, 16)
      if let rightRows { transpose(rightRows + from, Self.stride, right + from &* 16, 16) }
      from &+= 16
    }
    for number in 0..<count {
      if rightRows == nil { run(group, number, frames) } else { runStereo(group, number, frames) }
    }
    from = 0
    while from < frames {
      transpose(left + from &* 16, 16, leftRows + from, Self.stride)
      if let rightRows { transpose(right + from &* 16, 16, rightRows + from, Self.stride) }
      from &+= 16
    }
  }

  @_noLocks private func apply(_ state: UnsafeMutablePointer<Float>, _ number: Int, _ frame: Int) {
    var index = Int(heads[number &* 64 &+ frame])
    while index >= 0 {
      let update = updates[index]
      let lane = state + Self.coefficients &* 16 + Int(update.lane)
      lane[0] = update.from.a1
      lane[16] = update.from.a2
      lane[32] = update.from.a3
      lane[48] = update.from.m0
      lane[64] = update.from.m1
      lane[80] = update.from.m2
      lane[96] = update.change.a1
      lane[112] = update.change.a2
      lane[128] = update.change.a3
      lane[144] = update.change.m0
      lane[160] = update.change.m1
      lane[176] = update.change.m2
      index = Int(update.next)
    }
  }

  /// The frame up to which the coefficients go on as they do now; `frame` itself is done with.
  @_noLocks private func stop(_ number: Int, after frame: Int, _ frames: Int) -> Int {
    let later = frame >= 63 ? 0 : marks[number] & (UInt64.max &<< UInt64(frame &+ 1))
    let next = later == 0 ? 64 : later.trailingZeroBitCount
    return next < frames ? next : frames
  }

  @_noLocks private func run(_ group: Int, _ number: Int, _ frames: Int) {
    let state = unit(group, number)
    var frame = 0
    while frame < frames {
      if marks[number] >> UInt64(frame) & 1 == 1 { apply(state, number, frame) }
      let end = stop(number, after: frame, frames)
      var c = Lanes(state + Self.coefficients &* 16)
      let change = Lanes(state + Self.changes &* 16)
      var first = vector(state)
      var second = vector(state + 16)
      if change.isZero {
        while frame < end {
          store(c.filter(vector(left + frame &* 16), &first, &second), left + frame &* 16)
          frame &+= 1
        }
      } else {
        while frame < end {
          store(c.filter(vector(left + frame &* 16), &first, &second), left + frame &* 16)
          c.add(change)
          frame &+= 1
        }
        c.write(state + Self.coefficients &* 16)
      }
      store(first, state)
      store(second, state + 16)
    }
  }

  @_noLocks private func runStereo(_ group: Int, _ number: Int, _ frames: Int) {
    let state = unit(group, number)
    var frame = 0
    while frame < frames {
      if marks[number] >> UInt64(frame) & 1 == 1 { apply(state, number, frame) }
      let end = stop(number, after: frame, frames)
      var c = Lanes(state + Self.coefficients &* 16)
      let change = Lanes(state + Self.changes &* 16)
      var first = vector(state)
      var second = vector(state + 16)
      var third = vector(state + 32)
      var fourth = vector(state + 48)
      while frame < end {
        store(c.filter(vector(left + frame &* 16), &first, &second), left + frame &* 16)
        store(c.filter(vector(right + frame &* 16), &third, &fourth), right + frame &* 16)
        c.add(change)
        frame &+= 1
      }
      c.write(state + Self.coefficients &* 16)
      store(first, state)
      store(second, state + 16)
      store(third, state + 32)
      store(fourth, state + 48)
    }
  }

  // MARK: Turning rows into columns

  /// Sixteen rows of sixteen floats to sixteen columns: four times a perfect shuffle. Audio thread.
  @_noLocks private func transpose(
    _ from: UnsafeMutablePointer<Float>, _ stride: Int, _ to: UnsafeMutablePointer<Float>, _ toStride: Int
  ) {
    Self.shuffle(from, stride, spare, 16)
    Self.shuffle(spare, 16, spare + 256, 16)
    Self.shuffle(spare + 256, 16, spare, 16)
    Self.shuffle(spare, 16, to, toStride)
  }

  @_noLocks @inline(__always) private static func shuffle(
    _ from: UnsafeMutablePointer<Float>, _ stride: Int, _ to: UnsafeMutablePointer<Float>, _ toStride: Int
  ) {
    for row in 0..<8 {
      let a = vector(from + row &* stride)
      let b = vector(from + (row &+ 8) &* stride)
      store(
        SIMD16(
          a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]),
        to + 2 &* row &* toStride)
      store(
        SIMD16(
          a[8], b[8], a[9], b[9], a[10], b[10], a[11], b[11], a[12], b[12], a[13], b[13], a[14], b[14],
          a[15], b[15]), to + (2 &* row &+ 1) &* toStride)
    }
  }
}

/// The coefficients of sixteen voices.
private struct Lanes {
  var a1: SIMD16<Float>
  var a2: SIMD16<Float>
  var a3: SIMD16<Float>
  var m0: SIMD16<Float>
  var m1: SIMD16<Float>
  var m2: SIMD16<Float>

  @_noLocks @inline(__always) init(_ memory: UnsafeMutablePointer<Float>) {
    a1 = vector(memory)
    a2 = vector(memory + 16)
    a3 = vector(memory + 32)
    m0 = vector(memory + 48)
    m1 = vector(memory + 64)
    m2 = vector(memory + 80)
  }

  @_noLocks @inline(__always) func write(_ memory: UnsafeMutablePointer<Float>) {
    store(a1, memory)
    store(a2, memory + 16)
    store(a3, memory + 32)
    store(m0, memory + 48)
    store(m1, memory + 64)
    store(m2, memory + 80)
  }

  @_noLocks @inline(__always) mutating func add(_ change: Lanes) {
    a1 += change.a1
    a2 += change.a2
    a3 += change.a3
    m0 += change.m0
    m1 += change.m1
    m2 += change.m2
  }

  var isZero: Bool {
    @_noLocks @inline(__always) get {
      let bits =
        ((Self.bits(a1) | Self.bits(a2)) | (Self.bits(a3) | Self.bits(m0)))
        | (Self.bits(m1) | Self.bits(m2))
      return bits & 0x7FFF_FFFF == SIMD16(repeating: 0)
    }
  }

  @_noLocks @inline(__always) private static func bits(_ value: SIMD16<Float>) -> SIMD16<UInt32> {
    unsafeBitCast(value, to: SIMD16<UInt32>.self)
  }

  @_noLocks @inline(__always) func filter(
    _ input: SIMD16<Float>, _ first: inout SIMD16<Float>, _ second: inout SIMD16<Float>
  ) -> SIMD16<Float> {
    let v3 = input - second
    let v1 = a1 * first + a2 * v3
    let rise = a2 * first + a3 * v3
    let v2 = second + rise
    first = (v1 + v1) - first
    second += rise + rise
    return m0 * input + (m1 * v1 + m2 * v2)
  }
}

@_noLocks @inline(__always) func vector(_ memory: UnsafePointer<Float>) -> SIMD16<Float> {
  UnsafeRawPointer(memory).loadUnaligned(as: SIMD16<Float>.self)
}

@_noLocks @inline(__always) func store(_ value: SIMD16<Float>, _ memory: UnsafeMutablePointer<Float>) {
  UnsafeMutableRawPointer(memory).storeBytes(of: value, as: SIMD16<Float>.self)
}

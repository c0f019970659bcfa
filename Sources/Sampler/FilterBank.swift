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
  /// Rows of one unit: two states a side, six coefficients, how these change a frame, and where they go.
  private static var rows: Int { @_noLocks @inline(__always) get { 22 } }
  private static var coefficients: Int { @_noLocks @inline(__always) get { 4 } }
  private static var changes: Int { @_noLocks @inline(__always) get { 10 } }
  private static var goals: Int { @_noLocks @inline(__always) get { 16 } }
  /// At most so many changes of a group in one block: each voice's, each unit's, once a control period.
  private static var mostUpdates: Int { @_noLocks get { 16 * 3 * 6 } }

  /// At a frame a lane goes to new coefficients, or rests at those it went to.
  private struct Update {
    var lane: UInt8
    var isRest: Bool
    var kind: FilterKind
    /// The next update of the same unit and frame (-1: none).
    var next: Int16
  }

  private let units: UnsafeMutablePointer<Float>
  /// What goes through the filters, lane beside lane: a vector a frame, left and right.
  private let left: UnsafeMutablePointer<Float>
  private let right: UnsafeMutablePointer<Float>
  private let spare: UnsafeMutablePointer<Float>
  private let updates: UnsafeMutablePointer<Update>
  /// What the updates ask for: cents, decibels, octaves, frames a second; then what these make
  /// (`FilterPowers`), in the same places.
  private let wishes: UnsafeMutablePointer<Float>
  private let heads: UnsafeMutablePointer<Int16>
  /// The frames at which a unit's coefficients change, a bit each.
  private let marks: UnsafeMutablePointer<UInt64>
  private var updateCount = 0

  static func memorySize(groups: Int) -> Int {
    let unitBytes = groups * Most.units * rows * lanes * 4
    return unitBytes + 3 * 64 * lanes * 4 + 64 * 8 + 4 * mostUpdates * 4
      + mostUpdates * MemoryLayout<Update>.stride + Most.units * 64 * 2 + 192
  }

  /// `memory` is zeroed and 64-byte aligned. Worker.
  init(memory: UnsafeMutableRawPointer, groups: Int) {
    units = memory.assumingMemoryBound(to: Float.self)
    left = units + groups * Most.units * Self.rows * Self.lanes
    right = left + 64 * Self.lanes
    spare = right + 64 * Self.lanes
    marks = UnsafeMutableRawPointer(spare + 64 * Self.lanes).assumingMemoryBound(to: UInt64.self)
    wishes = UnsafeMutableRawPointer(marks + 64).assumingMemoryBound(to: Float.self)
    updates = UnsafeMutableRawPointer(wishes + 4 * Self.mostUpdates).assumingMemoryBound(to: Update.self)
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

  /// A unit of a slot of which the voice begins. Audio thread.
  @_noLocks func set(_ slot: Int, _ number: Int, _ c: FilterCoefficients) {
    let lane = unit(slot &>> 4, number) + (slot & 15)
    Self.put(c, lane + Self.coefficients &* 16)
    Self.put(c, lane + Self.goals &* 16)
    Self.put(FilterCoefficients(), lane + Self.changes &* 16)
  }

  @_noLocks @inline(__always) private static func put(
    _ c: FilterCoefficients, _ row: UnsafeMutablePointer<Float>
  ) {
    row[0] = c.a1
    row[16] = c.a2
    row[32] = c.a3
    row[48] = c.m0
    row[64] = c.m1
    row[80] = c.m2
  }

  /// From `frame` of the stretch on, a unit of the slot goes to these values within a control period.
  /// Audio thread.
  @_noLocks mutating func move(
    _ slot: Int, _ number: Int, at frame: Int, _ kind: FilterKind, cents: Float, level: Float,
    octaves: Float, rate: Float
  ) {
    guard updateCount < Self.mostUpdates else { return }
    let wish = wishes + updateCount
    wish[0] = cents
    wish[Self.mostUpdates] = level
    wish[2 &* Self.mostUpdates] = octaves
    wish[3 &* Self.mostUpdates] = rate
    add(Update(lane: UInt8(slot & 15), isRest: false, kind: kind, next: -1), number, frame)
  }

  /// From `frame` of the stretch on, a unit of the slot stays where it has gone. Audio thread.
  @_noLocks mutating func rest(_ slot: Int, _ number: Int, at frame: Int) {
    guard updateCount < Self.mostUpdates else { return }
    add(Update(lane: UInt8(slot & 15), isRest: true, kind: .lowpass, next: -1), number, frame)
  }

  @_noLocks @inline(__always) private mutating func add(_ update: Update, _ number: Int, _ frame: Int) {
    let bit: UInt64 = 1 &<< UInt64(frame & 63)
    let head = number &* 64 &+ (frame & 63)
    updates[updateCount] = update
    if marks[number] & bit != 0 { updates[updateCount].next = heads[head] }
    heads[head] = Int16(truncatingIfNeeded: updateCount)
    marks[number] |= bit
    updateCount &+= 1
  }

  /// Works out what the updates ask for.
  @_noLocks private func design() {
    var first = 0
    while first < updateCount {
      let wish = wishes + first
      let powers = FilterPowers(
        cents: vector(wish), level: vector(wish + Self.mostUpdates),
        octaves: vector(wish + 2 &* Self.mostUpdates), rate: vector(wish + 3 &* Self.mostUpdates))
      store(powers.g, wish)
      store(powers.damping, wish + Self.mostUpdates)
      store(powers.root, wish + 2 &* Self.mostUpdates)
      store(powers.width, wish + 3 &* Self.mostUpdates)
      first &+= 16
    }
  }

  /// Filters `frames` of a group: rows of `stride` floats, one a voice, in place. Audio thread.
  @_noLocks func process(
    _ group: Int, units count: Int, left leftRows: UnsafeMutablePointer<Float>,
    right rightRows: UnsafeMutablePointer<Float>?, frames: Int
  ) {
    design()
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
    let share = 1 / Float(VoiceShape.period)
    var index = Int(heads[number &* 64 &+ frame])
    while index >= 0 {
      let update = updates[index]
      let lane = state + Int(update.lane)
      let current = lane + Self.coefficients &* 16
      let change = lane + Self.changes &* 16
      let goal = lane + Self.goals &* 16
      if update.isRest {
        for row in 0..<6 {
          current[row &* 16] = goal[row &* 16]
          change[row &* 16] = 0
        }
      } else {
        let wish = wishes + index
        let next = FilterCoefficients(
          update.kind, g: wish[0], k: wish[Self.mostUpdates], root: wish[2 &* Self.mostUpdates],
          width: wish[3 &* Self.mostUpdates])
        let before = FilterCoefficients(goal)
        Self.put(before, current)
        Self.put(before.change(to: next, share), change)
        Self.put(next, goal)
      }
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

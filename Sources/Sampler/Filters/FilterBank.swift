import CVector
import Realtime

/// The filters of all voices, computed for sixteen voices at a time, one per vector lane, since a recursion
/// forbids lanes along time. A voice's lane is its slot number modulo sixteen, and the result of a lane
/// depends on nothing else.
///
/// Moving coefficients are interpolated linearly over a control period.
struct FilterBank {
  /// Voices per group.
  static var lanes: Int { @_noLocks @inline(__always) get { 16 } }
  /// Floats between the rows of two voices: a block, plus room for whole vectors.
  static var stride: Int { @_noLocks @inline(__always) get { 80 } }
  /// Rows of one unit: two states per side, six coefficients, their change per frame, their goals, and the
  /// other fields of `FilterMix`.
  private static var rows: Int { @_noLocks @inline(__always) get { 24 } }
  private static var coefficients: Int { @_noLocks @inline(__always) get { 4 } }
  private static var mixture: Int { @_noLocks @inline(__always) get { 7 } }
  /// Offsets from a coefficient to its change and to its goal.
  private static var toChange: Int { @_noLocks @inline(__always) get { 6 } }
  private static var toGoal: Int { @_noLocks @inline(__always) get { 12 } }
  private static var damping: Int { @_noLocks @inline(__always) get { 22 } }
  private static var stretch: Int { @_noLocks @inline(__always) get { 23 } }
  /// Maximum updates of a group in one block: each unit of each voice once per control period.
  private static var mostUpdates: Int { @_noLocks get { 16 * 3 * 6 } }

  /// Action of a lane from a frame on: move to another frequency, also to another level and width, or rest at
  /// the goal.
  private enum Action: UInt8 {
    case frequency, all, rest
  }

  private struct Update {
    var lane: UInt8
    var action: Action
    var kind: FilterKind
    /// The next update of the same unit and frame (-1: none).
    var next: Int16
  }

  private let units: UnsafeMutablePointer<Float>
  /// Signal through the filters, transposed: one vector of lanes per frame, left and right.
  private let left: UnsafeMutablePointer<Float>
  private let right: UnsafeMutablePointer<Float>
  private let updates: UnsafeMutablePointer<Update>
  /// Arguments of the updates: cents, decibels, octaves. Replaced by the tangents and `FilterPowers` computed
  /// from them: damping, root, width.
  private let wishes: UnsafeMutablePointer<Float>
  private let heads: UnsafeMutablePointer<Int16>
  /// Bit masks of the frames at which a unit's coefficients change.
  private let marks: UnsafeMutablePointer<UInt64>
  private var updateCount = 0
  /// Some update changes more than a frequency.
  private var areMixed = false

  /// The memory is zeroed; `open` completes it. Worker.
  init(groups: Int, _ arena: inout Arena) {
    units = arena.take(Float.self, groups * Most.units * Self.rows * Self.lanes)
    left = arena.take(Float.self, 64 * Self.lanes)
    right = arena.take(Float.self, 64 * Self.lanes)
    marks = arena.take(UInt64.self, 64)
    wishes = arena.take(Float.self, 4 * Self.mostUpdates)
    updates = arena.take(Update.self, Self.mostUpdates)
    heads = arena.take(Int16.self, Most.units * 64)
  }

  /// Lets a lane without a voice pass everything. Worker.
  func open(groups: Int) {
    for number in 0..<groups * Most.units {
      store(
        SIMD16(repeating: 1),
        units + (number * Self.rows + Self.mixture) * Self.lanes)
    }
  }

  @_noLocks private func unit(_ group: Int, _ number: Int) -> UnsafeMutablePointer<Float> {
    units + (group &* Most.units &+ number) &* (Self.rows &* Self.lanes)
  }

  /// Resets a unit of a slot without a voice, or without that unit, so that it passes everything. Audio
  /// thread.
  @_noLocks func reset(_ slot: Int, _ number: Int) {
    let lane = unit(slot &>> 4, number) + (slot & 15)
    for row in 0..<Self.rows { lane[row &* Self.lanes] = 0 }
    lane[Self.mixture &* Self.lanes] = 1
  }

  /// Call this before a run of frames. Audio thread.
  @_noLocks mutating func begin() {
    updateCount = 0
    areMixed = false
    for number in 0..<Most.units { marks[number] = 0 }
  }

  /// Sets a unit of a starting voice's slot. Audio thread.
  @_noLocks func set(
    _ slot: Int, _ number: Int, _ kind: FilterKind, cents: Float, level: Float, octaves: Float, rate: Float
  ) {
    let lane = unit(slot &>> 4, number) + (slot & 15)
    let tangent = FilterPowers.tangent(cents: SIMD16(repeating: cents), rate: rate)[0]
    let powers = FilterPowers(level: SIMD16(repeating: level), octaves: SIMD16(repeating: octaves))
    Self.mix(lane, FilterMix(kind, powers, 0))
    Self.tune(lane, tangent)
    Self.rest(lane)
  }

  /// Moves a unit of the slot to these values within a control period, from `frame` of the run on.
  /// `isFrequencyOnly`: only if the other goals are unchanged. Audio thread.
  @_noLocks mutating func move(
    _ slot: Int, _ number: Int, at frame: Int, _ kind: FilterKind, cents: Float, level: Float,
    octaves: Float, isFrequencyOnly: Bool
  ) {
    guard updateCount < Self.mostUpdates else { return }
    let wish = wishes + updateCount
    wish[0] = cents
    wish[Self.mostUpdates] = level
    wish[2 &* Self.mostUpdates] = octaves
    areMixed = areMixed || !isFrequencyOnly
    add(slot, isFrequencyOnly ? .frequency : .all, kind, number, frame)
  }

  /// Lets a unit of the slot rest at its goal, from `frame` of the run on. Audio thread.
  @_noLocks mutating func rest(_ slot: Int, _ number: Int, at frame: Int) {
    guard updateCount < Self.mostUpdates else { return }
    add(slot, .rest, .lowpass, number, frame)
  }

  @_noLocks @inline(__always) private mutating func add(
    _ slot: Int, _ action: Action, _ kind: FilterKind, _ number: Int, _ frame: Int
  ) {
    let bit: UInt64 = 1 &<< UInt64(frame & 63)
    let head = number &* 64 &+ (frame & 63)
    let next = marks[number] & bit != 0 ? heads[head] : -1
    updates[updateCount] = Update(lane: UInt8(slot & 15), action: action, kind: kind, next: next)
    heads[head] = Int16(truncatingIfNeeded: updateCount)
    marks[number] |= bit
    updateCount &+= 1
  }

  // MARK: Coefficients of a lane

  /// Starts a move from the previous goal to `goal`.
  @_noLocks @inline(__always) private static func go(
    _ lane: UnsafeMutablePointer<Float>, _ row: Int, to goal: Float
  ) {
    let place = lane + row &* lanes
    let before = place[toGoal &* lanes]
    place[0] = before
    place[toChange &* lanes] = (goal - before) * (1 / Float(ControlPeriod.frames))
    place[toGoal &* lanes] = goal
  }

  @_noLocks @inline(__always) private static func mix(
    _ lane: UnsafeMutablePointer<Float>, _ mix: FilterMix
  ) {
    go(lane, mixture, to: mix.input)
    go(lane, mixture &+ 1, to: mix.band)
    go(lane, mixture &+ 2, to: mix.low)
    lane[damping &* lanes] = mix.damping
    lane[stretch &* lanes] = mix.stretch
  }

  @_noLocks @inline(__always) private static func tune(
    _ lane: UnsafeMutablePointer<Float>, _ tangent: Float
  ) {
    let poles = FilterPoles(
      tangent: tangent, damping: lane[damping &* lanes], stretch: lane[stretch &* lanes])
    go(lane, coefficients, to: poles.keep)
    go(lane, coefficients &+ 1, to: poles.feed)
    go(lane, coefficients &+ 2, to: poles.lift)
  }

  @_noLocks @inline(__always) private static func rest(_ lane: UnsafeMutablePointer<Float>) {
    for row in coefficients..<coefficients &+ 6 {
      let place = lane + row &* lanes
      place[0] = place[toGoal &* lanes]
      place[toChange &* lanes] = 0
    }
  }

  /// Applies the updates of a frame.
  @_noLocks private mutating func apply(_ state: UnsafeMutablePointer<Float>, _ number: Int, _ frame: Int) {
    var index = Int(heads[number &* 64 &+ frame])
    while index >= 0 {
      let update = updates[index]
      let lane = state + Int(update.lane)
      let wish = wishes + index
      if update.action == .rest {
        Self.rest(lane)
      } else {
        if update.action == .all {
          Self.mix(
            lane,
            FilterMix(
              update.kind, damping: wish[Self.mostUpdates], root: wish[2 &* Self.mostUpdates],
              width: wish[3 &* Self.mostUpdates]))
        }
        Self.tune(lane, wish[0])
      }
      index = Int(update.next)
    }
  }

  /// Computes coefficients from the updates' arguments.
  @_noLocks private mutating func design(_ rate: Float) {
    var first = 0
    while first < updateCount {
      let wish = wishes + first
      store(FilterPowers.tangent(cents: vector(wish), rate: rate), wish)
      if areMixed {
        let powers = FilterPowers(
          level: vector(wish + Self.mostUpdates), octaves: vector(wish + 2 &* Self.mostUpdates))
        store(powers.damping, wish + Self.mostUpdates)
        store(powers.root, wish + 2 &* Self.mostUpdates)
        store(powers.width, wish + 3 &* Self.mostUpdates)
      }
      first &+= 16
    }
  }

  // MARK: Sound

  /// Filters `frames` of a group in place: rows of `stride` floats, one per voice. Audio thread.
  @_noLocks mutating func process(
    _ group: Int, units count: Int, left leftRows: UnsafeMutablePointer<Float>,
    right rightRows: UnsafeMutablePointer<Float>?, frames: Int, rate: Float
  ) {
    design(rate)
    turn(leftRows, left, frames, isBack: false)
    if let rightRows { turn(rightRows, right, frames, isBack: false) }
    for number in 0..<count { run(group, number, frames, isStereo: rightRows != nil) }
    turn(leftRows, left, frames, isBack: true)
    if let rightRows { turn(rightRows, right, frames, isBack: true) }
  }

  @_noLocks private mutating func run(_ group: Int, _ number: Int, _ frames: Int, isStereo: Bool) {
    let state = unit(group, number)
    var frame = 0
    while frame < frames {
      if marks[number] >> UInt64(frame) & 1 == 1 { apply(state, number, frame) }
      // Up to the next change of coefficients.
      let later = frame == 63 ? 0 : marks[number] & (UInt64.max &<< UInt64(frame &+ 1))
      let mark = later == 0 ? 64 : later.trailingZeroBitCount
      let end = mark < frames ? mark : frames
      let c = Lanes(state + Self.coefficients &* Self.lanes)
      let change = Lanes(state + (Self.coefficients &+ Self.toChange) &* Self.lanes)
      let last = filter(left, state, frame, end, c, change)
      if isStereo { _ = filter(right, state + 2 &* Self.lanes, frame, end, c, change) }
      last.write(state + Self.coefficients &* Self.lanes)
      frame = end
    }
  }

  /// Filters one side; returns the final coefficients.
  @_noLocks @inline(__always) private mutating func filter(
    _ side: UnsafeMutablePointer<Float>, _ state: UnsafeMutablePointer<Float>, _ from: Int, _ to: Int,
    _ coefficients: Lanes, _ change: Lanes
  ) -> Lanes {
    var c = coefficients
    var first = vector(state)
    var second = vector(state + Self.lanes)
    var place = side + from &* Self.lanes
    let end = side + to &* Self.lanes
    if change.isZero {
      while place < end {
        store(c.filter(vector(place), &first, &second), place)
        place += Self.lanes
      }
    } else {
      while place < end {
        store(c.filter(vector(place), &first, &second), place)
        c.add(change)
        place += Self.lanes
      }
    }
    store(first, state)
    store(second, state + Self.lanes)
    return c
  }

  // MARK: Transposition

  /// Transposes rows of frames (per voice) to rows of voices (per frame), or back. Audio thread.
  @_noLocks private mutating func turn(
    _ rows: UnsafeMutablePointer<Float>, _ columns: UnsafeMutablePointer<Float>, _ frames: Int, isBack: Bool
  ) {
    var frame = 0
    while frame < frames {
      for voices in 0..<2 {
        let row = rows + (frame &+ 8 &* voices &* Self.stride)
        let column = columns + (frame &* Self.lanes &+ 8 &* voices)
        if isBack {
          sostenuto_turn_eight(column, Int64(Self.lanes), row, Int64(Self.stride))
        } else {
          sostenuto_turn_eight(row, Int64(Self.stride), column, Int64(Self.lanes))
        }
      }
      frame &+= 8
    }
  }
}

/// The coefficients of sixteen voices: `FilterPoles`, then `FilterMix`.
private struct Lanes {
  var keep: SIMD16<Float>
  var feed: SIMD16<Float>
  var lift: SIMD16<Float>
  var input: SIMD16<Float>
  var band: SIMD16<Float>
  var low: SIMD16<Float>

  @_noLocks @inline(__always) init(_ memory: UnsafeMutablePointer<Float>) {
    keep = vector(memory)
    feed = vector(memory + 16)
    lift = vector(memory + 32)
    input = vector(memory + 48)
    band = vector(memory + 64)
    low = vector(memory + 80)
  }

  @_noLocks @inline(__always) func write(_ memory: UnsafeMutablePointer<Float>) {
    store(keep, memory)
    store(feed, memory + 16)
    store(lift, memory + 32)
    store(input, memory + 48)
    store(band, memory + 64)
    store(low, memory + 80)
  }

  @_noLocks @inline(__always) mutating func add(_ change: Lanes) {
    keep += change.keep
    feed += change.feed
    lift += change.lift
    input += change.input
    band += change.band
    low += change.low
  }

  var isZero: Bool {
    @_noLocks @inline(__always) get {
      let bits =
        ((Self.bits(keep) | Self.bits(feed)) | (Self.bits(lift) | Self.bits(input)))
        | (Self.bits(band) | Self.bits(low))
      return bits & 0x7FFF_FFFF == SIMD16(repeating: 0)
    }
  }

  @_noLocks @inline(__always) private static func bits(_ value: SIMD16<Float>) -> SIMD16<UInt32> {
    unsafeBitCast(value, to: SIMD16<UInt32>.self)
  }

  @_noLocks @inline(__always) func filter(
    _ sound: SIMD16<Float>, _ first: inout SIMD16<Float>, _ second: inout SIMD16<Float>
  ) -> SIMD16<Float> {
    let v = sound - second
    let nextFirst = keep * first + feed * v
    let nextSecond = (second + feed * first) + lift * v
    let output = input * sound + (band * (first + nextFirst) + low * (second + nextSecond))
    first = nextFirst
    second = nextSecond
    return output
  }
}

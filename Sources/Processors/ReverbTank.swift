import CVector
import Realtime

/// Memory of a reverb: rings of past sound, of two delays before it, four all-passes in each, and sixteen lines that feed
/// each other.
///
/// A ring is as long as its longest delay, in whole blocks, so that a block is read where another has been written not long
/// ago, and little memory passes through the caches. Its first 64 frames are repeated behind the end: a block can be read
/// in one piece from any frame.
struct ReverbTank: BitwiseCopyable {
  /// Of each ring the first frame in `sound`, its frames, and where the next one is written.
  private let starts, sizes, places: UnsafeMutablePointer<Int32>
  /// Coefficients of `sostenuto_shelve_moving`, what each frame adds to them, and those of `sostenuto_shelve`.
  let numbers, steps, resting: UnsafeMutablePointer<Float>
  /// States of the filters.
  let states: UnsafeMutablePointer<Float>
  /// Gains of the input and of the all-passes at the start of a cell, and what each of its frames adds.
  let gains, gainSteps: UnsafeMutablePointer<Float>
  private let sound: UnsafeMutablePointer<Float>
  let rate: Double

  // Rings: the sixteen lines, two rows of four all-passes, and two delays before.
  static var ringCount: Int { @_noLocks get { 26 } }
  static var firstDiffuser: Int { @_noLocks get { 16 } }
  static var firstBefore: Int { @_noLocks get { 24 } }
  /// Those behind the lines, a bit each.
  private static var others: UInt32 { @_noLocks get { 0x3ff } }

  /// Frames of the sixteen lines at 48 kHz and full size, each 6 % longer than the one before. Rounded they are prime numbers.
  /// Their fractions, steps of the golden ratio, keep the lengths from having factors in common at multiples of that rate:
  /// echoes would come on every second frame only.
  static var longest: Frames {
    @_noLocks get {
      Frames(
        1931.24, 2052.86, 2213.48, 2371.10, 2538.72, 2707.33, 2886.95, 3066.57, 3253.19, 3448.81,
        3659.42, 3863.04, 4078.66, 4297.28, 4522.90, 4758.51)
    }
  }

  /// Frames of the all-passes at 48 kHz: nearly those of J. Dattorro ("Effect design, part 1", 1997), and on the other side
  /// lengths that are prime to them.
  static var diffusers: SIMD8<Float> {
    @_noLocks get { SIMD8(229.26, 172.88, 611.50, 447.12, 240.73, 181.35, 586.97, 462.59) }
  }

  /// Longest time before the reverb, in seconds.
  static var longestBefore: Double { 0.5 }

  /// Frames behind a ring: those of its start, and what vectors go beyond a block, or before the start of the next one.
  private static var margin: Int { blockCapacity + 16 }

  /// Frames of a ring: whole blocks.
  private static func size(_ ring: Int, _ rate: Double) -> Int {
    let seconds: Double
    switch ring {
    case firstBefore...: seconds = longestBefore
    case firstDiffuser...: seconds = Double(diffusers[ring - firstDiffuser]) / 48_000
    default: seconds = Double(longest[ring]) / 48_000
    }
    return max(1, Int((seconds * rate + 1) / 64) + 1) * 64
  }

  static func soundFrames(_ rate: Double) -> Int {
    (0..<ringCount).reduce(16) { $0 + size($1, rate) + margin }
  }

  /// `frames`: those of all rings.
  @_noLocks init(_ frames: Int, rate: Double, _ arena: inout Arena) {
    self.rate = rate
    starts = arena.take(Int32.self, 32)
    sizes = arena.take(Int32.self, 32)
    places = arena.take(Int32.self, 32)
    numbers = arena.take(Float.self, Self.movingRows &* 16)
    steps = arena.take(Float.self, Self.movingRows &* 16)
    resting = arena.take(Float.self, Self.restingRows &* 16)
    states = arena.take(Float.self, Self.stateRows &* 16)
    gains = arena.take(Float.self, 16)
    gainSteps = arena.take(Float.self, 16)
    sound = arena.take(Float.self, frames)
  }

  /// Lays the rings out. Worker.
  func build() {
    var start = 16
    for ring in 0..<Self.ringCount {
      starts[ring] = Int32(start)
      sizes[ring] = Int32(Self.size(ring, rate))
      start += Int(sizes[ring]) + Self.margin
    }
    // Those that fill the vectors are the first one.
    for ring in Self.ringCount..<32 { sizes[ring] = sizes[0] }
  }

  /// Takes everything from another one of the same size. Audio thread.
  @_noLocks func copy(_ other: ReverbTank, _ frames: Int) {
    copyMemory(starts, other.starts, 128)
    copyMemory(sizes, other.sizes, 128)
    copyMemory(places, other.places, 128)
    copyFilters(other)
    copyMemory(sound, other.sound, frames &* 4)
  }

  /// Takes the filters and the gains of another one.
  @_noLocks func copyFilters(_ other: ReverbTank) {
    copyMemory(numbers, other.numbers, Self.movingRows &* 64)
    copyMemory(steps, other.steps, Self.movingRows &* 64)
    copyMemory(resting, other.resting, Self.restingRows &* 64)
    copyMemory(states, other.states, Self.stateRows &* 64)
    copyMemory(gains, other.gains, 64)
    copyMemory(gainSteps, other.gainSteps, 64)
  }

  /// Gives the second delay before the reverb what the first one has. Audio thread.
  @_noLocks func copyBefore() {
    let (from, to) = (Int(starts[Self.firstBefore]), Int(starts[Self.firstBefore &+ 1]))
    copyMemory(sound + to, sound + from, (to &- from) &* 4)
  }

  // MARK: Gains

  /// Gain `index` of sixteen frames that begin at `frame` of a cell.
  @inline(__always) @_noLocks func gain(_ index: Int, _ frame: Int) -> Frames {
    let first = Float(frame) + 1
    let places = Frames(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + first
    return places * gainSteps[index] + gains[index]
  }

  /// The same while it rests.
  @inline(__always) @_noLocks func gainAtRest(_ index: Int) -> Frames { Frames(repeating: gains[index]) }

  // MARK: Rings

  /// Begins where the engine's cell of 64 frames is.
  @_noLocks func begin(at start: Int) {
    var ring = 0
    while ring < 32 {
      places[ring] = Int32(truncatingIfNeeded: start)
      ring &+= 1
    }
  }

  /// Finds the sound of the lines, `lengths` frames ago. Audio thread.
  @inline(__always) @_noLocks func findLines(
    _ lengths: Frames, _ found: UnsafeMutablePointer<UnsafePointer<Float>?>
  ) {
    sostenuto_find_past(sound, starts, sizes, places, lengths, found)
  }

  /// Finds the sound of the other rings, and where all of them are written. Audio thread.
  @inline(__always) @_noLocks func findRest(_ delays: Frames, _ rows: ReverbRows) {
    sostenuto_find_past(sound, starts + 16, sizes + 16, places + 16, delays, rows.from + 16)
    sostenuto_find_places(sound, starts, places, rows.to)
    sostenuto_find_places(sound, starts + 16, places + 16, rows.to + 16)
  }

  /// The sound of a ring so many frames ago: at least sixteen.
  @inline(__always) @_noLocks func past(_ ring: Int, _ delay: Int) -> UnsafePointer<Float> {
    let size = Int(sizes[ring])
    var place = Int(places[ring]) &- (delay < size ? delay : size)
    if place < 0 { place = place &+ size }
    return UnsafePointer(sound + (Int(starts[ring]) &+ place))
  }

  /// Where a ring is written.
  @inline(__always) @_noLocks func present(_ ring: Int) -> UnsafeMutablePointer<Float> {
    sound + Int(starts[ring] &+ places[ring])
  }

  /// True when these frames lie at a ring's start or beyond its end: `close` then follows every vector.
  @inline(__always) @_noLocks func isAtEnd(_ ring: Int, _ frames: Int) -> Bool {
    let place = Int(places[ring])
    return place < blockCapacity || place &+ frames > Int(sizes[ring])
  }

  /// Repeats a vector at a ring's start behind its end, and one that goes beyond the end before its start.
  @inline(__always) @_noLocks func close(_ ring: Int, _ to: UnsafeMutablePointer<Float>, _ frame: Int) {
    let (place, size) = (Int(places[ring]) &+ frame, Int(sizes[ring]))
    if place < blockCapacity { to.store(to.vector(frame), frame &+ size) }
    if place &+ 16 > size { to.store(to.vector(frame), frame &- size) }
  }

  /// Ends a block: closes the rings, and moves their places on.
  @inline(__always) @_noLocks mutating func end(_ frames: Int, _ rows: ReverbRows) {
    let count = Int32(truncatingIfNeeded: frames)
    let rings = sostenuto_are_at_ends(places, sizes, count)
    let others = sostenuto_are_at_ends(places + 16, sizes + 16, count) & Self.others
    if rings | others != 0 { close(rings | others &<< 16, frames, rows) }
    sostenuto_move_places(places, sizes, count)
    sostenuto_move_places(places + 16, sizes + 16, count)
  }

  /// Closes some rings, a bit each.
  @inline(never) @_noLocks private mutating func close(_ rings: UInt32, _ frames: Int, _ rows: ReverbRows) {
    var rings = rings
    while rings != 0 {
      let ring = rings.trailingZeroBitCount
      var frame = 0
      while frame < frames {
        close(ring, rows.to[ring]!, frame)
        frame &+= 16
      }
      rings &= rings &- 1
    }
  }

  /// Writes the first `count` frames of a vector, and leaves what is behind them.
  @inline(__always) @_noLocks static func write(
    _ vector: Frames, _ count: Int, _ to: UnsafeMutablePointer<Float>, _ frame: Int
  ) {
    to.store(
      count < 16 ? sostenuto_join(vector, to.vector(frame), Int32(truncatingIfNeeded: count)) : vector,
      frame)
  }

  /// True when all-passes are as long as a block, at least.
  @inline(__always) @_noLocks static func diffusesBlocks(_ rate: Float) -> Bool { rate > 20_000 }

  /// Sends a bus through its four all-passes (M. R. Schroeder, "Natural sounding artificial reverberation", 1962), each of
  /// at least sixteen frames.
  @inline(__always) @_noLocks func diffuse(
    _ bus: Int, _ from: UnsafePointer<Float>, _ start: Int, _ frames: Int, moves: Bool, _ rows: ReverbRows
  ) {
    let row = rows.buses + bus &* blockCapacity
    var number = bus &* 4
    while number < bus &* 4 &+ 4 {
      let ring = Self.firstDiffuser &+ number
      let (before, past, to) = (number & 3 == 0 ? from : UnsafePointer(row), rows.from[ring]!, rows.to[ring]!)
      let isAtEnd = isAtEnd(ring, frames)
      var g = gainAtRest(1 &+ number)
      var frame = 0
      while frame < frames {
        if moves { g = gain(1 &+ number, start &+ frame) }
        let x = before.vector(frame)
        let y = addProduct(past.vector(frame), g, 0 - x)
        Self.write(addProduct(x, g, y), frames &- frame, to, frame)
        row.store(y, frame)
        if isAtEnd { close(ring, to, frame) }
        frame &+= 16
      }
      number &+= 1
    }
  }

  /// True when everything written to the lines in this block is inaudible.
  @_noLocks func hasFaded(_ rows: ReverbRows, _ frames: Int) -> Bool {
    var line = 0
    while line < 16 {
      let row = rows.to[line]!
      var frame = 0
      while frame < frames {
        if !isInaudible(row[frame]) { return false }
        frame &+= 1
      }
      line &+= 1
    }
    return true
  }

  /// Drops the cell before the next frame in all rings, of which nothing can be heard.
  @inline(never) @_noLocks mutating func drop() {
    var ring = 0
    while ring < Self.ringCount {
      let (frames, size, place) = (sound + Int(starts[ring]), Int(sizes[ring]), Int(places[ring]))
      if place >= 2 &* blockCapacity {
        setMemory(frames + (place &- blockCapacity), 0, blockCapacity &* 4)
      } else {
        var age = 1
        while age <= blockCapacity {
          let frame = place < age ? place &- age &+ size : place &- age
          frames[frame] = 0
          if frame < blockCapacity { frames[size &+ frame] = 0 }
          age &+= 1
        }
      }
      ring &+= 1
    }
  }

  /// Clears what the filters of the round remember.
  @_noLocks func rest() { setMemory(states, 0, Self.stateRows &* 64) }

  /// Resamples what the rings of another one hold, into this one. Worker.
  func resample(_ other: ReverbTank) {
    begin(at: Int(other.places[0]) & (blockCapacity - 1))
    for ring in 0..<Self.ringCount {
      let (old, place) = (other.sound + Int(other.starts[ring]), Int(other.places[ring]))
      let oldSize = Int(other.sizes[ring])
      let past = Past((1...oldSize).map { old[(place + oldSize - $0) % oldSize] }, step: other.rate / rate)
      let (new, size) = (sound + Int(starts[ring]), Int(sizes[ring]))
      for age in 1...size {
        new[(Int(places[ring]) + size - age) % size] = past.value(Double(age) * other.rate / rate)
      }
      copyMemory(new + size, new, blockCapacity * 4)
    }
  }
}

/// Memory for one block of a reverb.
struct ReverbRows: BitwiseCopyable {
  /// Lines that are crossfaded, 64 frames of each.
  let lines: UnsafeMutablePointer<Float>
  /// Both sides of the input behind its delay, and behind the all-passes.
  let input, buses: UnsafeMutablePointer<Float>
  /// Sums of lines that two outputs hear.
  let sums: UnsafeMutablePointer<Float>
  /// Gain of the input in each frame, and the share of several channels of it.
  let entries, shares: UnsafeMutablePointer<Float>
  /// Where the block is read of each ring, and where it is written.
  let from: UnsafeMutablePointer<UnsafePointer<Float>?>
  let to: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// Where the lines are read that fade out.
  let olds: UnsafeMutablePointer<UnsafePointer<Float>?>

  @inline(__always) @_noLocks init(_ scratch: UnsafeMutableRawPointer) {
    var arena = Arena(scratch)
    lines = arena.take(Float.self, 16 &* blockCapacity)
    input = arena.take(Float.self, 2 &* blockCapacity)
    buses = arena.take(Float.self, 2 &* blockCapacity)
    sums = arena.take(Float.self, 2 &* blockCapacity)
    entries = arena.take(Float.self, blockCapacity)
    shares = arena.take(Float.self, blockCapacity)
    from = arena.reserve(32 &* 8).assumingMemoryBound(to: UnsafePointer<Float>?.self)
    to = arena.reserve(32 &* 8).assumingMemoryBound(to: UnsafeMutablePointer<Float>?.self)
    olds = arena.reserve(16 &* 8).assumingMemoryBound(to: UnsafePointer<Float>?.self)
  }

  /// Adds up the lines with the signs of an output.
  @inline(never) @_noLocks func addLines(_ channel: Int, _ frames: Int) {
    let signs = Self.signs(channel)
    var frame = 0
    while frame < frames {
      var sum = Frames(repeating: 0)
      var line = 0
      while line < 16 {
        // A minus turns the sign's bit.
        let sign = SIMD16<UInt32>(repeating: (signs &>> UInt32(truncatingIfNeeded: line)) &<< 31)
        sum += Self.turned(from[line]!.vector(frame), sign)
        line &+= 1
      }
      sums.store(sum, frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private static func turned(_ v: Frames, _ sign: SIMD16<UInt32>) -> Frames {
    unsafeBitCast(unsafeBitCast(v, to: SIMD16<UInt32>.self) ^ sign, to: Frames.self)
  }

  /// Signs of the lines in an output, a bit each: rows of a Hadamard matrix, so that outputs have nothing in common, of which
  /// neighbours differ among even lines and among odd ones. What comes back to where the input enters is louder than what
  /// goes elsewhere, and two of these rows hear nothing else. The products of a number's pairs of bits are as far from all
  /// rows as can be (O. S. Rothaus, "On bent functions", 1976): turned by them, all outputs are equally loud.
  @inline(__always) @_noLocks private static func signs(_ channel: Int) -> UInt32 {
    let row = (channel &<< 1 | channel &>> 3) & 15
    var signs: UInt32 = 0
    var line = 0
    while line < 16 {
      let minuses = (line & row).nonzeroBitCount &+ (line & line &>> 1 & 5).nonzeroBitCount
      signs |= UInt32(truncatingIfNeeded: minuses & 1) &<< UInt32(truncatingIfNeeded: line)
      line &+= 1
    }
    return signs
  }
}

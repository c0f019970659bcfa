import CVector
import Realtime

/// Memory of a reverb: two delays before it, four all-passes in each, and sixteen lines that feed each other.
struct ReverbTank: BitwiseCopyable {
  /// Delay lines: two before, two rows of four all-passes, then the sixteen.
  let lines: UnsafeMutablePointer<DelayLine>
  /// Sound of both inputs in a block, and a copy of one that goes to both.
  let buses: UnsafeMutablePointer<Float>
  /// Output of the lines in a block, 64 frames of each.
  let rows: UnsafeMutablePointer<Float>
  /// Coefficients and states of `sostenuto_shelve_sixteen`, and what each frame adds.
  let numbers, steps: UnsafeMutablePointer<Float>
  /// Gains of the input and of the all-passes at the start of a cell, and what each of its frames adds.
  let gains, gainSteps: UnsafeMutablePointer<Float>
  /// Gain of the input in each frame.
  let entries: UnsafeMutablePointer<Float>
  /// Sixteen floats for the edges of a delay line.
  let scratch: UnsafeMutablePointer<Float>
  /// Lengths of the lines in frames, and those that fade out.
  let lengths: UnsafeMutablePointer<Float>
  private let sound: UnsafeMutablePointer<Float>
  let rate: Double

  static var lineCount: Int { @_noLocks get { 26 } }
  static var firstOfTank: Int { @_noLocks get { 10 } }

  /// Frames of the sixteen lines at 48 kHz and full size: prime numbers, each 6 % longer than the one before.
  static var primes: Frames {
    @_noLocks get {
      Frames(
        1931, 2053, 2213, 2371, 2539, 2707, 2887, 3067, 3253, 3449, 3659, 3863, 4079, 4297, 4523, 4759)
    }
  }

  /// Frames of the all-passes at 48 kHz: those of J. Dattorro ("Effect design, part 1", 1997), and on the other side
  /// lengths that are prime to them.
  static var diffusers: SIMD8<Float> { @_noLocks get { SIMD8(229, 173, 611, 447, 241, 181, 587, 463) } }

  /// Longest time before the reverb, in seconds.
  static var longestBefore: Double { 0.5 }

  /// Frames of the memory of a line: a power of two, with room for a block and for what is read around a place.
  private static func length(_ line: Int, _ rate: Double) -> Int {
    let seconds: Double
    switch line {
    case 0..<2: seconds = longestBefore
    case 2..<firstOfTank: seconds = Double(diffusers[line - 2]) / 48_000
    default: seconds = Double(primes[line - firstOfTank]) / 48_000
    }
    var length = 256
    while Double(length) < seconds * rate + 96 { length *= 2 }
    return length
  }

  static func soundFrames(_ rate: Double) -> Int {
    (0..<lineCount).reduce(0) { $0 + length($1, rate) + DelayLine.margin }
  }

  /// `frames`: those of all lines.
  @_noLocks init(_ frames: Int, rate: Double, _ arena: inout Arena) {
    self.rate = rate
    lines = arena.reserve(Self.lineCount &* MemoryLayout<DelayLine>.stride).assumingMemoryBound(
      to: DelayLine.self)
    buses = arena.take(Float.self, 3 &* blockCapacity)
    rows = arena.take(Float.self, 16 &* blockCapacity)
    numbers = arena.take(Float.self, 8 &* 16)
    steps = arena.take(Float.self, 6 &* 16)
    gains = arena.take(Float.self, 16)
    gainSteps = arena.take(Float.self, 16)
    entries = arena.take(Float.self, blockCapacity)
    scratch = arena.take(Float.self, 16)
    lengths = arena.take(Float.self, 32)
    sound = arena.take(Float.self, frames)
  }

  /// Lays the lines out. Worker.
  func build() {
    var place = sound
    for line in 0..<Self.lineCount {
      let length = Self.length(line, rate)
      lines[line] = DelayLine(place, length: length)
      place += length + DelayLine.margin
    }
  }

  /// Takes everything from another one of the same size. Audio thread.
  @_noLocks func copy(_ other: ReverbTank, _ frames: Int) {
    var line = 0
    while line < Self.lineCount {
      lines[line] = other.lines[line].moved(from: other.sound, to: sound)
      line &+= 1
    }
    copyMemory(numbers, other.numbers, 8 &* 64)
    copyMemory(steps, other.steps, 6 &* 64)
    copyMemory(gains, other.gains, 64)
    copyMemory(gainSteps, other.gainSteps, 64)
    copyMemory(sound, other.sound, frames &* 4)
  }

  /// Room for gains of a block's frames, where the input has several channels.
  var shares: UnsafeMutablePointer<Float> { @_noLocks get { buses + 2 &* blockCapacity } }

  /// The row of a line in a block.
  @inline(__always) @_noLocks func row(_ line: Int) -> UnsafeMutablePointer<Float> {
    rows + line &* blockCapacity
  }

  /// Gain `index` of sixteen frames that begin at `frame` of a cell.
  @inline(__always) @_noLocks func gain(_ index: Int, _ frame: Int) -> Frames {
    let first = Float(frame) + 1
    let places = Frames(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + first
    return places * gainSteps[index] + gains[index]
  }

  /// The same while it rests.
  @inline(__always) @_noLocks func gainAtRest(_ index: Int) -> Frames { Frames(repeating: gains[index]) }

  /// Sends a bus through its four all-passes (M. R. Schroeder, "Natural sounding artificial reverberation", 1962), each of
  /// at least sixteen frames.
  @inline(__always) @_noLocks func diffuse(
    _ bus: Int, _ head: Int, _ start: Int, _ frames: Int, rate: Float, moves: Bool
  ) {
    var number = bus &* 4
    while number < bus &* 4 &+ 4 {
      let line = lines[2 &+ number]
      let delay = Int(Self.diffusers[number] * rate * (1 / 48_000) + 0.5)
      let row = buses + bus &* blockCapacity
      var g = gainAtRest(1 &+ number)
      var frame = 0
      while frame < frames {
        let count = frames &- frame < 16 ? frames &- frame : 16
        if moves { g = gain(1 &+ number, start &+ frame) }
        let past = line.vector(head &+ frame &- delay)
        let y = past - g * row.vector(frame)
        line.write(row.vector(frame) + g * y, count, at: head &+ frame, scratch)
        row.store(y, frame)
        frame &+= 16
      }
      number &+= 1
    }
  }

  /// Takes away what a round loses, mixes the lines, and adds the buses: to even lines one, to odd ones the other.
  @inline(__always) @_noLocks func goRound(
    _ head: Int, _ frames: Int, moves: Bool, _ turned: UnsafeMutablePointer<Float>
  ) {
    var frame = 0
    while frame < frames {
      sostenuto_turn_eight(rows + frame, 64, turned + 16 &* frame, 16)
      sostenuto_turn_eight(rows + (8 &* 64 &+ frame), 64, turned + (16 &* frame &+ 8), 16)
      frame &+= 8
    }
    let count = Int64(truncatingIfNeeded: frames)
    if moves {
      sostenuto_shelve_sixteen(turned, numbers, steps, count)
    } else {
      sostenuto_shelve_sixteen(turned, numbers, nil, count)
    }
    frame = 0
    while frame < frames {
      sostenuto_turn_eight(turned + 16 &* frame, 16, rows + frame, 64)
      sostenuto_turn_eight(turned + (16 &* frame &+ 8), 16, rows + (8 &* 64 &+ frame), 64)
      frame &+= 8
    }
    if frames == blockCapacity, head & (blockCapacity &- 1) == 0 {
      return writeWhole(head, UnsafeMutableRawPointer(turned))
    }
    frame = 0
    while frame < frames {
      sostenuto_mix_sixteen(rows + frame, 64, 0.25)
      let count = frames &- frame < 16 ? frames &- frame : 16
      let (left, right) = (buses.vector(frame), buses.vector(frame &+ blockCapacity))
      var line = 0
      while line < 16 {
        let row = row(line)
        let sum = row.vector(frame) + (line & 1 == 0 ? left : right)
        row.store(sum, frame)
        lines[Self.firstOfTank &+ line].write(sum, count, at: head &+ frame, scratch)
        line &+= 1
      }
      frame &+= 16
    }
  }

  /// Mixes a whole block into the lines, of which no end lies within it. `room`: for the places.
  @inline(__always) @_noLocks private func writeWhole(_ head: Int, _ room: UnsafeMutableRawPointer) {
    let places = room.assumingMemoryBound(to: UnsafeMutablePointer<Float>?.self)
    var line = 0
    while line < 16 {
      places[line] = lines[Self.firstOfTank &+ line].room(head)
      line &+= 1
    }
    var frame = 0
    while frame < blockCapacity {
      sostenuto_mix_sixteen_to(
        rows + frame, 64, 0.25, buses + frame, buses + (blockCapacity &+ frame), places,
        Int64(truncatingIfNeeded: frame))
      frame &+= 16
    }
    line = 0
    while line < 16 {
      lines[Self.firstOfTank &+ line].close(row(line).vector(0), at: head)
      line &+= 1
    }
  }

  /// True when everything written to the lines in this block is inaudible.
  @_noLocks func hasFaded(_ frames: Int) -> Bool {
    var line = 0
    while line < 16 {
      var frame = 0
      while frame < frames {
        if !isInaudible(row(line)[frame]) { return false }
        frame &+= 1
      }
      line &+= 1
    }
    return true
  }

  /// Drops the cell before a position in all lines.
  @inline(never) @_noLocks func drop(before position: Int) {
    var line = 0
    while line < Self.lineCount {
      lines[line].drop(before: position)
      line &+= 1
    }
  }

  /// Clears what the filters of the round remember.
  @_noLocks func rest() { setMemory(numbers + 96, 0, 2 &* 64) }

  /// Resamples what the lines hold up to `head` to another rate, into this one. Worker.
  func resample(_ other: ReverbTank, _ head: Int) {
    for line in 0..<Self.lineCount {
      let old = other.lines[line]
      let past = Past((1...Self.length(line, other.rate)).map { old[head - $0] }, step: other.rate / rate)
      for age in 1...Self.length(line, rate) {
        lines[line].write(past.value(Double(age) * other.rate / rate), at: head - age)
      }
    }
  }
}

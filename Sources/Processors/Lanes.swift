import CVector
import Glibc
import Realtime

/// Common part of kernels whose recursions go from frame to frame, so that no vector can run along time: eight channels are
/// calculated side by side, each in a lane of its own.
///
/// States are numbers that all kernels hold alike: they are copied where channels are added, looked at for the end of a
/// tail, and forgotten when it is over.
struct Lanes: BitwiseCopyable {
  private(set) var channels: Int
  /// Numbers that a channel keeps from frame to frame.
  private let size: Int
  /// Of eight channels each, group by group.
  private var states: UnsafeMutablePointer<Float>
  /// Memory for work within a block.
  private(set) var work: UnsafeMutablePointer<Float>
  private let workSize: Int
  private var quiet = QuietCell()
  private(set) var isAsleep = true

  /// Reserves its memory in `arena`. `states`: of each channel. `work`: floats of memory for a block. Audio thread.
  @_noLocks init(_ channels: Int, states size: Int, work workSize: Int = 0, _ arena: inout Arena) {
    self.channels = channels
    self.size = size
    self.workSize = workSize
    states = arena.take(Float.self, Self.groups(channels) &* size &* 8)
    work = arena.take(Float.self, workSize)
  }

  @_noLocks private static func groups(_ channels: Int) -> Int { (channels &+ 7) &>> 3 }

  /// States of the group that begins with a channel.
  @inline(__always) @_noLocks func states(_ first: Int) -> UnsafeMutablePointer<Float> {
    states + (first &>> 3) &* size &* 8
  }

  @inline(__always) @_noLocks private func place(_ channel: Int, _ state: Int) -> Int {
    (channel &>> 3) &* size &* 8 &+ state &* 8 &+ (channel & 7)
  }

  /// Channels of the group that begins with one.
  @inline(__always) @_noLocks func count(_ first: Int) -> Int {
    channels &- first < 8 ? channels &- first : 8
  }

  /// Moves into memory for more channels, laid out by the same arena. Audio thread.
  @_noLocks mutating func widen(_ widening: Widening, _ arena: inout Arena) {
    let inputs = widening.inputs[0]
    var wide = Lanes(inputs, states: size, work: workSize, &arena)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      var state = 0
      while from >= 0, state < size {
        wide.states[wide.place(channel, state)] = states[place(from, state)]
        state &+= 1
      }
      channel &+= 1
    }
    (wide.quiet, wide.isAsleep) = (quiet, isAsleep)
    self = wide
  }

  /// Begins a block; false: it is silent. `wakes`: it sounds without an input too. Audio thread.
  @inline(__always) @_noLocks mutating func begin(_ block: Block, wakes: Bool = false) -> Bool {
    let isSilent = block.inputs[0].isSilent
    if isSilent, isAsleep, !wakes { return false }
    isAsleep = false
    quiet.update(block, silent: isSilent)
    return true
  }

  /// Forgets states that nobody hears. False: some are heard. Audio thread.
  @_noLocks mutating func finish() -> Bool {
    guard quiet.isQuiet else { return false }
    let count = Self.groups(channels) &* size &* 8
    var place = 0
    // States are eight of each, and their memory goes to a multiple of sixteen floats.
    while place < count {
      if sostenuto_magnitudes_exceed(states.vector(place), 1e-10) { return false }
      place &+= 16
    }
    setMemory(states, 0, count &* 4)
    isAsleep = true
    return true
  }

  /// States that nothing would bring back begin anew: a sum of huge numbers, or what is none. Audio thread.
  @inline(__always) @_noLocks func mend(_ first: Int) {
    sostenuto_mend(states(first), Int64(truncatingIfNeeded: size))
  }
}

/// Room within a block for the frames of eight channels, and for rows that all of them share.
struct LaneRoom {
  /// Sixty-four frames of each channel.
  let rows: UnsafeMutablePointer<Float>
  /// Eight channels of each frame.
  let turned: UnsafeMutablePointer<Float>
  private let shared: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ block: Block) {
    var arena = Arena(block.scratch)
    self.init(&arena)
  }

  @inline(__always) @_noLocks init(_ arena: inout Arena) {
    rows = arena.take(Float.self, 8 &* blockCapacity)
    turned = arena.take(Float.self, 8 &* blockCapacity)
    shared = arena.take(Float.self, 0)
  }

  /// The row of a channel of the group.
  @inline(__always) @_noLocks func row(_ channel: Int) -> UnsafeMutablePointer<Float> {
    rows + (channel & 7) &* blockCapacity
  }

  /// A row of a frame each, one of sixteen.
  @inline(__always) @_noLocks func shared(_ number: Int) -> UnsafeMutablePointer<Float> {
    shared + number &* blockCapacity
  }

  @inline(__always) @_noLocks func fill(_ row: UnsafeMutablePointer<Float>, _ value: Frames) {
    row.store(value, 0)
    row.store(value, 16)
    row.store(value, 32)
    row.store(value, 48)
  }

  /// Multiplies the rows of so many channels by gains.
  @inline(never) @_noLocks func multiply(_ count: Int, by gains: UnsafePointer<Float>) {
    var frame = 0
    while frame < count &* blockCapacity {
      rows.store(rows.vector(frame) * gains.vector(frame % blockCapacity), frame)
      frame &+= 16
    }
  }

  /// Brings the rows of eight channels into `turned`. `used`: how many of them there are.
  @inline(__always) @_noLocks func turn(_ used: Int) { turn(used, to: turned) }

  /// The same into other memory.
  @inline(__always) @_noLocks func turn(_ used: Int, to place: UnsafeMutablePointer<Float>) {
    var channel = used
    while channel < 8 {
      fill(row(channel), Frames(repeating: 0))
      channel &+= 1
    }
    var frame = 0
    while frame < blockCapacity {
      sostenuto_turn_eight(rows + frame, 64, place + 8 &* frame, 8)
      frame &+= 8
    }
  }

  /// The way back.
  @inline(__always) @_noLocks func turnBack() { turnBack(from: turned) }

  /// The same from other memory.
  @inline(__always) @_noLocks func turnBack(from place: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < blockCapacity {
      sostenuto_turn_eight(place + 8 &* frame, 8, rows + frame, 64)
      frame &+= 8
    }
  }
}

/// Coefficients of eight channels: one for each, or one for each frame too.
struct LaneCoefficients {
  private let turned: UnsafeMutablePointer<Float>
  /// Floats from one frame to the next; 0: all frames have the same.
  private(set) var step: Int64 = 0

  /// Floats of its memory.
  static var size: Int { @inline(__always) @_noLocks get { 8 &* blockCapacity } }

  /// `turned`: memory of `size` floats. Before sound is there, a room's rows are free for it.
  @inline(__always) @_noLocks init(_ turned: UnsafeMutablePointer<Float>) { self.turned = turned }

  var numbers: UnsafePointer<Float> { @inline(__always) @_noLocks get { UnsafePointer(turned) } }

  /// Prepares for streams: true where one is enough for all frames.
  @inline(__always) @_noLocks mutating func rests(_ streams: Bool) -> Bool {
    step = streams ? 0 : 8
    return streams
  }

  /// One for each channel at rest.
  @inline(__always) @_noLocks func set(_ channel: Int, _ value: Float) { turned[channel & 7] = value }

  /// Brings the room's rows into place: each has the coefficients of a channel, frame by frame.
  @inline(__always) @_noLocks func take(_ room: LaneRoom) { room.turn(8, to: turned) }
}

/// Sine and cosine of the angle of a frequency: its tangent, of half the angle in a frame, makes one-poles and two-poles by
/// the trapezoidal rule meet it exactly. `part`: frequency times the length of a frame, at most 0.49.
@inline(__always) @_noLocks func halfAngle(_ part: Frames) -> (sine: Frames, cosine: Frames) {
  let quarters = limited(part * 2, 1e-6, 0.98)
  return (sineOfQuarters(quarters), sineOfQuarters(1 - quarters))
}

/// Half-band filter for twice the rate, by all-passes (`sostenuto_pass_half`): flat up to 0.417 of the lower rate, and below
/// -96 dB from 0.583 of it on. Its group delay is four frames at most below a quarter of the lower rate; it has no latency.
///
/// Coefficients are those of an elliptic filter whose two rows are complementary in power (L. Gazsi, "Explicit formulas for
/// lattice wave digital filters", 1985), by its theta functions.
enum AllPassPair {
  /// Coefficients of `count` all-passes, those of both rows in turn. `edge`: width of the transition, as a part of the higher
  /// rate. Worker.
  static func coefficients(_ count: Int, edge: Double) -> [Float] {
    let k = pow(tan((1 - 2 * edge) * Double.pi / 4), 2)
    let root = (1 - k * k).squareRoot().squareRoot()
    let e = 0.5 * (1 - root) / (1 + root)
    // The nome, by its series.
    let q = e + 2 * pow(e, 5) + 15 * pow(e, 9) + 150 * pow(e, 13)
    return (1...count).map { index in
      let angle = Double(index) * Double.pi / Double(2 * count + 1)
      var (over, under, sign) = (0.0, 0.5, 1.0)
      for i in 0..<24 {
        over += sign * pow(q, Double(i * (i + 1))) * sin(Double(2 * i + 1) * angle)
        if i > 0 { under += sign * pow(q, Double(i * i)) * cos(Double(2 * i) * angle) }
        sign = 0 - sign
      }
      let w = pow(over / under, 2) * q.squareRoot()
      let x = ((1 - w * k) * (1 - w / k)).squareRoot() / (1 + w)
      return Float((1 - x) / (1 + x))
    }
  }

  /// The half-band filter's own. Worker.
  static func halfBand() -> [Float] { coefficients(6, edge: 1.0 / 12) }
}

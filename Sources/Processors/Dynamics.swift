import CVector
import Patch
import Realtime

/// Common part of compressors and gates: a gain for all channels or one for each, which follows its target as a one-pole
/// does, at different speeds up and down.
struct Dynamics: BitwiseCopyable {
  /// Parameter of both: whether channels go together.
  static let link = ParameterDescription(
    "link", "On: all channels have one gain, by the loudest of them. Off: each has its own.", form: .toggle,
    default: .text("on"), smoothing: .structural)

  let isLinked: Bool
  private(set) var channels: Int
  /// State of each gain, eight channels together.
  private(set) var levels: UnsafeMutablePointer<SIMD8<Float>>
  /// Frames that are left for each channel of a gate, likewise.
  private(set) var counts: UnsafeMutablePointer<SIMD8<Int32>>
  /// Of each gain that goes by rows: the sixteen frames that its last block ended in.
  private var parts: UnsafeMutablePointer<DynamicsPart>

  /// Down and up, of the shares below.
  private var ways: UnsafeMutablePointer<Float>
  /// Times up and down at rest and the rate, and the shares for them.
  private var known = SIMD4<Float>(repeating: .nan)
  private(set) var shares = DynamicsShares(up: 0, down: 0, rest: false)

  /// Groups of eight channels, of which each has gains of its own.
  var groups: Int { @inline(__always) @_noLocks get { isLinked ? 1 : Self.groups(channels) } }
  @_noLocks private static func groups(_ channels: Int) -> Int { (channels &+ 7) &>> 3 }

  /// Reserves its memory in `arena`. Audio thread.
  @_noLocks init(_ channels: Int, isLinked: Bool, _ arena: inout Arena) {
    self.isLinked = isLinked
    self.channels = channels
    let groups = Self.groups(channels)
    levels = arena.reserve(groups &* 32).assumingMemoryBound(to: SIMD8<Float>.self)
    counts = arena.reserve(groups &* 32).assumingMemoryBound(to: SIMD8<Int32>.self)
    parts = arena.reserve(Self.rows &* MemoryLayout<DynamicsPart>.stride).assumingMemoryBound(
      to: DynamicsPart.self)
    ways = arena.take(Float.self, Int(sostenuto_ways_size))
  }

  /// Gains that are calculated each by itself: eight side by side are worth turning their rows if there are some.
  private static var rows: Int { @inline(__always) @_noLocks get { 2 } }

  /// Bytes of its memory. Audio thread.
  @_noLocks static func bytes(_ channels: Int) -> Int {
    var arena = Arena(measuring: ())
    _ = Dynamics(channels, isLinked: true, &arena)
    return arena.bytes
  }

  /// Sets all channels to a level, and lets no frames be left. Audio thread.
  @_noLocks func reset(to rest: Float) {
    var group = 0
    while group < Self.groups(channels) {
      levels[group] = SIMD8(repeating: rest)
      counts[group] = SIMD8(repeating: 0)
      group &+= 1
    }
  }

  /// Moves into memory for more channels, of which new ones begin at a level. Audio thread.
  @_noLocks mutating func widen(_ widening: Widening, rest: Float, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = Dynamics(inputs, isLinked: isLinked, &arena)
    wide.reset(to: rest)
    var channel = 0
    while channel < inputs {
      let from = isLinked ? channel : widening.source(of: channel, from: channels, to: inputs)
      if from >= 0, from < channels {
        wide.level(channel).pointee = level(from).pointee
        wide.count(channel).pointee = count(from).pointee
        if channel < Self.rows, from < Self.rows { wide.parts[channel] = parts[from] }
      }
      channel &+= 1
    }
    (levels, counts, parts, ways, self.channels) = (
      wide.levels, wide.counts, wide.parts, wide.ways, inputs
    )
    // Those of its memory are written anew.
    known = SIMD4(repeating: .nan)
  }

  /// State of a channel's gain.
  @inline(__always) @_noLocks func level(_ channel: Int) -> UnsafeMutablePointer<Float> {
    UnsafeMutableRawPointer(levels).assumingMemoryBound(to: Float.self) + channel
  }

  @inline(__always) @_noLocks func count(_ channel: Int) -> UnsafeMutablePointer<Int32> {
    UnsafeMutableRawPointer(counts).assumingMemoryBound(to: Int32.self) + channel
  }

  /// Channels that have gains of their own.
  var gains: Int { @inline(__always) @_noLocks get { isLinked ? 1 : channels } }

  /// Writes the shares of the way up and down for times in seconds. Audio thread.
  @inline(__always) @_noLocks mutating func write(
    _ up: ParameterStream, _ down: ParameterStream, _ block: Block, to room: DynamicsRoom
  ) {
    learn(up, down, block, room)
    if shares.rest { room.fill(shares) }
  }

  /// The same for `follow`: those of times at rest stand in `shares` only.
  @inline(__always) @_noLocks mutating func learn(
    _ up: ParameterStream, _ down: ParameterStream, _ block: Block, _ room: DynamicsRoom
  ) {
    shares.rest = up.isSteady && down.isSteady
    guard shares.rest else { return Self.writeMoving(up, down, block, room) }
    learn(up.value(0), down.value(0), block.rate)
  }

  /// The same for times that rest, in seconds. Audio thread.
  @inline(__always) @_noLocks mutating func learn(_ up: Float, _ down: Float, _ rate: Float) {
    if known[0] != up || known[1] != down || known[2] != rate { learnAnew(up, down, rate) }
  }

  @inline(never) @_noLocks private mutating func learnAnew(_ up: Float, _ down: Float, _ rate: Float) {
    known = SIMD4(up, down, rate, 0)
    let frames = SIMD16(lowHalf: SIMD8(repeating: up), highHalf: SIMD8(repeating: down))
    let all = sostenuto_approaches(frames * rate)
    shares = DynamicsShares(up: all[0], down: all[8], rest: true, ways: UnsafePointer(ways))
    sostenuto_learn_ways(ways, shares.up, shares.down)
  }

  @inline(never) @_noLocks private static func writeMoving(
    _ up: ParameterStream, _ down: ParameterStream, _ block: Block, _ room: DynamicsRoom
  ) {
    var frame = 0
    while frame < block.frames {
      room.up.store(sostenuto_approaches(up.vector(0, frame) * block.rate), frame)
      room.down.store(sostenuto_approaches(down.vector(0, frame) * block.rate), frame)
      frame &+= 16
    }
  }

  /// Brings eight gains from their targets to the course that they take, in `room.turned`; one or two in rows.
  @inline(__always) @_noLocks mutating func follow(
    _ group: Int, _ room: DynamicsRoom, _ shares: DynamicsShares, _ block: Block
  ) {
    let frames = Int64(truncatingIfNeeded: block.frames)
    if goesByRows {
      guard block.isOfSixteens else {
        return Self.followParts(level(0), parts, gains, room, shares, block)
      }
      var gain = 0
      while gain < gains {
        let (row, level) = (room.row(gain), level(gain))
        level.pointee =
          shares.holds
          ? sostenuto_hold_sixteens(row, level.pointee, shares.down, frames)
          : shares.rest
            ? sostenuto_follow_resting_sixteens(
              row, level.pointee, shares.up, shares.down, shares.ways, frames)
            : sostenuto_follow_sixteens(row, level.pointee, room.up, room.down, frames)
        gain &+= 1
      }
    } else {
      levels[group] =
        shares.holds
        ? sostenuto_hold_eight(room.turned, levels[group], shares.down, frames)
        : shares.rest
          ? sostenuto_follow_resting_eight(room.turned, levels[group], shares.up, shares.down, frames)
          : sostenuto_follow_eight(room.turned, levels[group], room.up, room.down, frames)
    }
  }

  /// Rows of a block that begins or ends within sixteen frames of engine time. These are always calculated together, so that
  /// the levels are the same however they are split: those from before the block are calculated again. Static, since the
  /// compiler would copy the kernel in each block for a method that is not inlined.
  @inline(never) @_noLocks private static func followParts(
    _ levels: UnsafeMutablePointer<Float>, _ parts: UnsafeMutablePointer<DynamicsPart>, _ gains: Int,
    _ room: DynamicsRoom, _ shares: DynamicsShares, _ block: Block
  ) {
    let (lane, end) = (Int(block.time & 15), Int(block.time & 15) &+ block.frames)
    var gain = 0
    while gain < gains {
      let (row, level, part) = (room.row(gain), levels + gain, parts + gain)
      let done = UnsafeMutableRawPointer(part).assumingMemoryBound(to: Float.self)
      var window = Quads(repeating: 0)
      part.pointee.begin(level.pointee, block.time)
      withUnsafeMutablePointer(to: &window) {
        let x = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self)
        var group = 0
        while group < end {
          let first = Int32(truncatingIfNeeded: group == 0 ? lane : 0)
          let last = Int32(truncatingIfNeeded: end &- group < 16 ? end &- group : 16)
          let (targets, start) = (sixteen(row, group, lane), part.pointee.start)
          let course: Frames
          if shares.holds {
            course = sostenuto_hold_part(targets, start, shares.down, first, last, done + 16)
          } else {
            let up = shares.rest ? Frames(repeating: shares.up) : sixteen(room.up, group, lane)
            let down = shares.rest ? Frames(repeating: shares.down) : sixteen(room.down, group, lane)
            course = sostenuto_follow_part(targets, start, up, down, first, last, done)
          }
          x.store(course, group)
          // The next sixteen begin from the last frame.
          if last == 16 { part.pointee.goOn(from: course[15]) }
          group &+= 16
        }
        row.store(sostenuto_frames_from(x.vector(0), Int32(truncatingIfNeeded: lane)), 0)
        let behind = row + (16 &- lane)
        behind.store(x.vector(16), 0)
        behind.store(x.vector(32), 16)
        behind.store(x.vector(48), 32)
        level.pointee = x[end &- 1]
      }
      part.pointee.end(level.pointee, block.time &+ Int64(truncatingIfNeeded: block.frames))
      gain &+= 1
    }
  }

  /// Sixteen frames of engine time that begin `lane` frames before `group` in a row; those before the row are others.
  @inline(__always) @_noLocks private static func sixteen(
    _ row: UnsafeMutablePointer<Float>, _ group: Int, _ lane: Int
  ) -> Frames {
    if group > 0 { return row.vector(group &- lane) }
    return sostenuto_frames_from(row.vector(0), Int32(truncatingIfNeeded: (16 &- lane) & 15))
  }

  /// Lets reductions end that make no difference to a gain of one, where a 64-frame cell of engine time begins: the end of a
  /// release would else go on for long.
  @inline(__always) @_noLocks mutating func settle(_ block: Block) {
    guard block.time & 63 == 0 else { return }
    if goesByRows {
      var gain = 0
      while gain < gains {
        let level = level(gain)
        if level.pointee < 1e-9 { level.pointee = 0 }
        gain &+= 1
      }
    } else {
      var group = 0
      while group < groups {
        levels[group] = levels[group].replacing(with: 0, where: levels[group] .< 1e-9)
        group &+= 1
      }
    }
  }

  /// True where nothing in a block leads a group's reductions away from zero, by the targets in `room.rows`. Of whole blocks
  /// only: what lies behind the end of others may be anything.
  @inline(__always) @_noLocks mutating func staysAtZero(
    _ group: Int, _ count: Int, _ room: DynamicsRoom, _ block: Block
  ) -> Bool {
    guard block.frames == blockCapacity else { return false }
    var channel = 0
    while channel < count {
      if level(group &* 8 &+ channel).pointee != 0 { return false }
      channel &+= 1
    }
    var bits = SIMD16<UInt32>(repeating: 0)
    channel = 0
    while channel < count {
      let row = room.row(channel)
      bits |= unsafeBitCast(row.vector(0), to: SIMD16<UInt32>.self)
      bits |= unsafeBitCast(row.vector(16), to: SIMD16<UInt32>.self)
      bits |= unsafeBitCast(row.vector(32), to: SIMD16<UInt32>.self)
      bits |= unsafeBitCast(row.vector(48), to: SIMD16<UInt32>.self)
      channel &+= 1
    }
    return largest(bits) == 0
  }

  /// True for gains that go by rows and shares that rest, in whole sixteens of engine time.
  @inline(__always) @_noLocks func goesWhole(_ block: Block) -> Bool {
    goesByRows && shares.rest && block.isOfSixteens
  }

  /// True where each gain is calculated by itself.
  var goesByRows: Bool { @inline(__always) @_noLocks get { gains <= Self.rows } }
}

extension Dynamics {
  /// The same from rows of channels to rows. Audio thread.
  @inline(__always) @_noLocks mutating func followRows(
    _ group: Int, _ room: DynamicsRoom, _ shares: DynamicsShares, _ block: Block
  ) {
    if goesByRows { return follow(group, room, shares, block) }
    room.turn(gains &- group &* 8 < 8 ? gains &- group &* 8 : 8)
    follow(group, room, shares, block)
    room.turnBack()
  }
}

/// The sixteen frames of engine time that a block ended in: the share of the way that each goes, and that of its target.
private struct DynamicsPart: BitwiseCopyable {
  private var shares = SIMD16<Float>(repeating: 0)
  private var adds = SIMD16<Float>(repeating: 0)
  /// The level before the sixteen.
  private(set) var start: Float = 0
  private var level: Float = 0
  private var time: Int64 = 0

  /// Goes on from a level. One that is not what the frames before came to takes their place.
  @inline(__always) @_noLocks mutating func begin(_ level: Float, _ time: Int64) {
    if time & 15 == 0 {
      start = level
    } else if time != self.time || level != self.level {
      start = level
      shares = SIMD16(repeating: 1)
      adds = SIMD16(repeating: level)
    }
  }

  /// The next sixteen begin at a level.
  @inline(__always) @_noLocks mutating func goOn(from level: Float) { start = level }

  @inline(__always) @_noLocks mutating func end(_ level: Float, _ time: Int64) {
    self.level = level
    self.time = time
  }
}

/// Shares of the way up and down to the target, in a frame: those of all frames of a block, if they rest.
struct DynamicsShares: BitwiseCopyable {
  var up, down: Float
  var rest: Bool
  /// They always rest, and a level is at once where it goes up to.
  var holds = false
  /// Down and up, of shares that rest and do not hold.
  var ways: UnsafePointer<Float>?
}

/// Room within a block for the gains of eight channels.
struct DynamicsRoom {
  private let lanes: LaneRoom
  /// Sixty-four frames of each channel.
  var rows: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.rows } }
  /// Eight channels of each frame.
  var turned: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.turned } }
  /// Shares of the way up and down to the target, in each frame.
  var up: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.shared(0) } }
  var down: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.shared(1) } }
  /// Shares of the own signal.
  var shares: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.shared(2) } }
  /// More rows of a frame each, four of them.
  var more: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.shared(3) } }
  /// A row for work on one gain.
  var work: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.shared(7) } }

  @inline(__always) @_noLocks init(_ block: Block) { lanes = LaneRoom(block) }

  /// Another row of a channel of the group.
  @inline(__always) @_noLocks func spare(_ channel: Int) -> UnsafeMutablePointer<Float> {
    lanes.shared(8 &+ (channel & 7))
  }

  /// The row of a channel of the group.
  @inline(__always) @_noLocks func row(_ channel: Int) -> UnsafeMutablePointer<Float> { lanes.row(channel) }

  @inline(__always) @_noLocks func fill(_ row: UnsafeMutablePointer<Float>, _ value: Frames) {
    lanes.fill(row, value)
  }

  @inline(__always) @_noLocks func fill(_ shares: DynamicsShares) {
    fill(up, Frames(repeating: shares.up))
    fill(down, Frames(repeating: shares.down))
  }

  /// Brings the rows of eight channels into one of frames. `used`: how many of them there are.
  @inline(__always) @_noLocks func turn(_ used: Int) { lanes.turn(used) }

  /// The way back.
  @inline(__always) @_noLocks func turnBack() { lanes.turnBack() }

  /// Multiplies the rows of so many channels by gains.
  @inline(__always) @_noLocks func multiply(_ count: Int, by gains: UnsafePointer<Float>) {
    lanes.multiply(count, by: gains)
  }

  /// Multiplies channels of a group, or all, with one gain.
  @inline(__always) @_noLocks func multiply(
    _ block: Block, _ first: Int, _ count: Int, isLinked: Bool, by gain: Float
  ) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    var channel = isLinked ? 0 : first
    let end = isLinked ? output.count : first &+ count
    while channel < end {
      multiplyWhole(input[channel], gain, to: output[channel])
      channel &+= 1
    }
  }

  /// Multiplies channels with the gains in `rows`: those of a group, or all with the first row.
  @inline(__always) @_noLocks func multiply(_ block: Block, _ first: Int, _ count: Int, isLinked: Bool) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    var channel = isLinked ? 0 : first
    let end = isLinked ? output.count : first &+ count
    while channel < end {
      multiplyWhole(input[channel], isLinked ? rows : row(channel), to: output[channel])
      channel &+= 1
    }
  }
}

import CVector
import Patch
import Realtime

/// Follows a signal no faster than at a set pace.
public struct Slew: Kernel {
  public static let description = KindDescription(
    name: "slew", summary: "Follows a signal no faster than at a set pace: glides instead of steps.",
    category: .modulation, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .number("rise", "Time of the way up, as `shape` has it.", default: 0.1, range: 0...100, unit: .seconds),
      .number("fall", "Time of the way down.", default: 0.1, range: 0...100, unit: .seconds),
      .choice(
        "shape",
        "Linear: at an even pace, in these times for a way of 1. Exponential: fast at first, in these times for 63 % of any way.",
        ["linear", "exponential"]),
    ], face: .level, amplification: .never, cost: .init(40, perChannel: 30))

  /// Positions in `description.parameters`.
  public static var rise: Int { @_noLocks get { 0 } }
  public static var fall: Int { @_noLocks get { 1 } }
  public static var shape: Int { @_noLocks get { 2 } }

  /// Shares of ways.
  private var shares: Dynamics
  private var channels: Int
  /// The values of both shapes.
  private var linear, exponential: UnsafeMutablePointer<Double>
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Dynamics.bytes(configuration.inputs[0]) + 2 * bytes(configuration.inputs[0])
  }

  /// Bytes of the values of one shape: whole groups of eight.
  @_noLocks private static func bytes(_ channels: Int) -> Int { (channels &+ 7) &>> 3 &* 64 }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    channels = configuration.inputs[0]
    var arena = Arena(memory)
    shares = Dynamics(channels, isLinked: false, &arena)
    linear = arena.reserve(Self.bytes(channels)).assumingMemoryBound(to: Double.self)
    exponential = arena.reserve(Self.bytes(channels)).assumingMemoryBound(to: Double.self)
    reset()
  }

  @_noLocks private func reset() {
    setMemory(linear, 0, Self.bytes(channels))
    setMemory(exponential, 0, Self.bytes(channels))
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let (old, before) = (self, channels)
    channels = widening.inputs[0]
    shares.widen(widening, rest: 0, memory: memory)
    var arena = Arena(memory + Dynamics.bytes(channels))
    linear = arena.reserve(Self.bytes(channels)).assumingMemoryBound(to: Double.self)
    exponential = arena.reserve(Self.bytes(channels)).assumingMemoryBound(to: Double.self)
    reset()
    var channel = 0
    while channel < channels {
      let from = widening.source(of: channel, from: before, to: channels)
      if from >= 0 {
        linear[channel] = old.linear[from]
        exponential[channel] = old.exponential[from]
      }
      channel &+= 1
    }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    if isAsleep, input.isSilent { return .silent }
    isAsleep = false
    let (shape, room) = (block.crossfades[Self.shape], DynamicsRoom(block))
    if shape.blend == nil {
      // The other shape goes on from here, should it be chosen.
      run(block, room, isLinear: shape.new == 0)
      if shape.new == 0 {
        copyMemory(exponential, linear, Self.bytes(channels))
      } else {
        copyMemory(linear, exponential, Self.bytes(channels))
      }
    } else {
      blend(block, shape, room)
    }
    return .sounding
  }

  /// Both shapes, in the midst of a change.
  @inline(never) @_noLocks private mutating func blend(
    _ block: Block, _ shape: CrossfadeStream, _ room: DynamicsRoom
  ) {
    var group = 0
    write(block, room, isLinear: true)
    while 8 &* group < channels {
      let count = take(block, group, room)
      room.turn(count)
      followLinear(group, room, block.frames)
      room.turnBack()
      give(block, group, count, room, shape, isLinear: true)
      group &+= 1
    }
    group = 0
    write(block, room, isLinear: false)
    while 8 &* group < channels {
      let count = take(block, group, room)
      room.turn(count)
      followExponential(group, room, block.frames)
      room.turnBack()
      give(block, group, count, room, shape, isLinear: false)
      group &+= 1
    }
  }

  @inline(__always) @_noLocks private mutating func run(
    _ block: Block, _ room: DynamicsRoom, isLinear: Bool
  ) {
    write(block, room, isLinear: isLinear)
    let frames = Int64(truncatingIfNeeded: block.frames)
    if channels <= 2 {
      _ = take(block, 0, room)
      let (row, other) = (room.rows, room.row(channels &- 1))
      if isLinear {
        if !keepsUp(0, channels, room, block.frames) {
          if channels == 2 {
            sostenuto_slew_two(row, other, linear, room.up, room.down, frames)
          } else {
            linear[0] = sostenuto_slew(row, linear[0], room.up, room.down, frames)
          }
        }
      } else if channels == 2 {
        sostenuto_glide_two(row, other, exponential, room.up, room.down, frames)
      } else {
        let work = UnsafeMutableRawPointer(room.turned).assumingMemoryBound(to: Double.self)
        exponential[0] = sostenuto_glide(row, exponential[0], room.up, room.down, frames, work)
      }
      return copy(block, 0, channels, room)
    }
    var group = 0
    while 8 &* group < channels {
      let count = take(block, group, room)
      if !isLinear || !keepsUp(group, count, room, block.frames) {
        room.turn(count)
        if isLinear {
          followLinear(group, room, block.frames)
        } else {
          followExponential(group, room, block.frames)
        }
        room.turnBack()
      }
      copy(block, group, count, room)
      group &+= 1
    }
  }

  /// True when the linear values of a group are at their targets in each frame, which they then end at.
  @inline(__always) @_noLocks private func keepsUp(
    _ group: Int, _ count: Int, _ room: DynamicsRoom, _ frames: Int
  ) -> Bool {
    let values = linear + 8 &* group
    var channel = 0
    while channel < count {
      guard
        sostenuto_slew_keeps_up(
          room.row(channel), values[channel], room.up, room.down, Int64(truncatingIfNeeded: frames))
      else { return false }
      channel &+= 1
    }
    channel = 0
    while channel < count {
      values[channel] = Double(room.row(channel)[frames &- 1])
      channel &+= 1
    }
    return true
  }

  @inline(__always) @_noLocks private func followLinear(_ group: Int, _ room: DynamicsRoom, _ frames: Int) {
    sostenuto_slew_eight(
      room.turned, linear + 8 &* group, room.up, room.down, Int64(truncatingIfNeeded: frames))
  }

  @inline(__always) @_noLocks private func followExponential(
    _ group: Int, _ room: DynamicsRoom, _ frames: Int
  ) {
    sostenuto_glide_eight(
      room.turned, exponential + 8 &* group, room.up, room.down, Int64(truncatingIfNeeded: frames))
  }

  /// Writes the ways of a frame, or their shares.
  @inline(__always) @_noLocks private mutating func write(
    _ block: Block, _ room: DynamicsRoom, isLinear: Bool
  ) {
    let (up, down) = (block.parameters[Self.rise], block.parameters[Self.fall])
    guard isLinear else { return shares.write(up, down, block, to: room) }
    if up.isSteady, down.isSteady {
      room.fill(room.up, Self.step(up, 0, block))
      room.fill(room.down, Self.step(down, 0, block))
      return
    }
    var frame = 0
    while frame < block.frames {
      room.up.store(Self.step(up, frame, block), frame)
      room.down.store(Self.step(down, frame, block), frame)
      frame &+= 16
    }
  }

  /// Ways of a frame for the time of a way of 1. No time: as far as any signal goes.
  @inline(__always) @_noLocks private static func step(_ time: ParameterStream, _ frame: Int, _ block: Block)
    -> Frames
  {
    1 / atLeast(1e-30, time.vector(0, frame) * block.rate)
  }

  /// Brings the channels of a group into rows. Returns how many there are.
  @inline(__always) @_noLocks private func take(_ block: Block, _ group: Int, _ room: DynamicsRoom) -> Int {
    let (input, first) = (block.inputs[0], group &* 8)
    let count = channels &- first < 8 ? channels &- first : 8
    var channel = 0
    while channel < count {
      let (from, row) = (input[first &+ channel], room.row(channel))
      let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
      row.store(limited(a, -1e9, 1e9), 0)
      row.store(limited(b, -1e9, 1e9), 16)
      row.store(limited(c, -1e9, 1e9), 32)
      row.store(limited(d, -1e9, 1e9), 48)
      channel &+= 1
    }
    return count
  }

  @inline(__always) @_noLocks private func copy(
    _ block: Block, _ group: Int, _ count: Int, _ room: DynamicsRoom
  ) {
    var channel = 0
    while channel < count {
      let (row, to) = (room.row(channel), block.outputs[0][group &* 8 &+ channel])
      let (a, b, c, d) = (row.vector(0), row.vector(16), row.vector(32), row.vector(48))
      to.store(a + 0, 0)
      to.store(b + 0, 16)
      to.store(c + 0, 32)
      to.store(d + 0, 48)
      channel &+= 1
    }
  }

  /// Adds the share of a shape, of which the linear one comes first.
  @inline(__always) @_noLocks private func give(
    _ block: Block, _ group: Int, _ count: Int, _ room: DynamicsRoom, _ shape: CrossfadeStream,
    isLinear: Bool
  ) {
    let rises = (shape.new == 0) == isLinear
    var channel = 0
    while channel < count {
      let (row, to) = (room.row(channel), block.outputs[0][group &* 8 &+ channel])
      var frame = 0
      while frame < block.frames {
        let blend = shape.blend!.vector(frame)
        let part = row.vector(frame) * (rises ? blend : 1 - blend)
        to.store(isLinear ? part + 0 : to.vector(frame) + part, frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  private var areZero: Bool {
    @inline(__always) @_noLocks get {
      var channel = 0
      while channel < channels {
        guard isInaudible(Float(linear[channel])), isInaudible(Float(exponential[channel]))
        else { return false }
        channel &+= 1
      }
      return true
    }
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard areZero else { return false }
    reset()
    isAsleep = true
    return true
  }
}

import CVector
import Patch
import Realtime

/// Systems without chance whose course nobody foretells: the logistic map, the map of M. Hénon ("A two-dimensional mapping with a
/// strange attractor", 1976) and the flow of E. N. Lorenz ("Deterministic nonperiodic flow", 1963).
///
/// Everything is calculated by additions and products in double precision, one by one, so that every processor goes the same
/// course. The flow is integrated by the classical method of Runge and Kutta.
public struct Chaos: Kernel {
  public static let description = KindDescription(
    name: "chaos",
    summary: "A chaotic system as sound or modulation: logistic map, Hénon's map or Lorenz' flow.",
    category: .source,
    outputs: [PortDescription("out", .parameter("channels"), "Channels have courses of their own.")],
    parameters: [
      ParameterDescription(
        "system", "The logistic map, Hénon's map, or Lorenz' flow, which is smooth.",
        form: .choice(["logistic", "henon", "lorenz"]), range: 0...2, default: .text("logistic"),
        smoothing: .structural),
      .number(
        "rate", "Steps of a map, or turns of the flow, a second.", default: 2000, range: 0...48_000,
        unit: .hertz, isPerChannel: true),
      .percent(
        "chaos",
        "From cycles to chaos: the logistic map's r is 2.8 to 4, Hénon's a 0.8 to 1.4, Lorenz' rho 14 to 28.",
        default: 100),
      .choice("shape", "Between the steps of a map: levels or lines.", ["steps", "lines"]),
      .gain("level", "Loudness; at 0 dB they come close to full scale.", default: -12, isPerChannel: true),
      ParameterDescription(
        "seed", "Another number gives another course; 0: by the node's name.", form: .integer,
        range: 0...999_999, default: .number(0, .none), smoothing: .structural),
      .count(
        "channels",
        "How many, one a channel; at least one for each channel of cables into `rate` and `level`.",
        default: 1, smoothing: .kernel),
    ], amplification: .never, cost: .init(10, perChannel: 300))

  /// Positions in `description.parameters`.
  public static var system: Int { @_noLocks get { 0 } }
  public static var rate: Int { @_noLocks get { 1 } }
  public static var chaos: Int { @_noLocks get { 2 } }
  public static var shape: Int { @_noLocks get { 3 } }
  public static var level: Int { @_noLocks get { 4 } }
  public static var seed: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  /// Course of a channel.
  struct State: BitwiseCopyable {
    /// Place of the system.
    var place: SIMD4<Double>
    /// The levels before and after the present step, and how much of it is over.
    var old: Float = 0
    var new: Float = 0
    var phase: UInt32 = 0

    @_noLocks init(_ place: SIMD4<Double>) { self.place = place }
  }

  private var count: Int
  private var states: UnsafeMutablePointer<State>
  private let key: UInt64
  private let system: Int
  private var mute = QuietCell()

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    configuration.outputs[0] * MemoryLayout<State>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    system = Int(configuration.value(Self.system))
    let seed = configuration.value(Self.seed)
    key = seed > 0 ? UInt64(seed) : configuration.seed
    states = memory.assumingMemoryBound(to: State.self)
    for channel in 0..<count { begin(channel) }
  }

  /// Begins a channel's course near the attractor, by its seed.
  @_noLocks private func begin(_ channel: Int) {
    var h = Noise.mixed(UInt32(truncatingIfNeeded: key) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9)
    h = Noise.mixed(h ^ UInt32(truncatingIfNeeded: key &>> 32))
    let a = Double(h) * (1 / 4_294_967_296)
    let b = Double(Noise.mixed(h &+ 0x9e37_79b9)) * (1 / 4_294_967_296)
    states[channel] = State(
      system == 0
        ? SIMD4(0.1 + 0.8 * a, 0, 0, 0)
        : system == 1
          ? SIMD4(0.1 * a - 0.05, 0.1 * b - 0.05, 0, 0) : SIMD4(1 + a, 1 + b, 20, 0))
    if system == 2 { return settle(states + channel) }
    var step = 0
    while step < 100 {
      advance(states + channel, 1)
      step &+= 1
    }
    states[channel].old = states[channel].new
  }

  /// Brings the flow to its attractor.
  @_noLocks private func settle(_ state: UnsafeMutablePointer<State>) {
    let p = state.pointee.place
    // Places, turns, chaos and what is heard.
    var memory = (
      SIMD8(repeating: p.x), SIMD8(repeating: p.y), SIMD8(repeating: p.z),
      SIMD8<Float>(0.026, 0.026, 1, 1, 0, 0, 0, 0)
    )
    withUnsafeMutablePointer(to: &memory) {
      let places = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Double.self)
      let numbers = UnsafeMutableRawPointer(places + 24).assumingMemoryBound(to: Float.self)
      var step = 0
      while step < 100 {
        sostenuto_flow_frames_2(places, numbers, numbers + 2, 0, numbers + 4, 1)
        step &+= 1
      }
    }
    state.pointee.place = SIMD4(memory.0[0], memory.1[0], memory.2[0], 0)
  }

  /// A new channel has a course of its own.
  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let (old, kept) = (states, count)
    states = memory.assumingMemoryBound(to: State.self)
    count = widening.outputs[0]
    var channel = 0
    while channel < count {
      if widening.source(of: channel, from: kept, to: count) == channel {
        states[channel] = old[channel]
      } else {
        begin(channel)
      }
      channel &+= 1
    }
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (rate, level) = (block.parameters[Self.rate], block.parameters[Self.level])
    let (share, shape) = (block.parameters[Self.chaos], block.crossfades[Self.shape])
    let isMute = level.isZero(block)
    mute.update(block, silent: isMute)
    let rows = Rows(block)
    let (steps, lines) = (rows[0], rows[1])
    let perFrame = 1 / block.rate
    if system == 2 {
      flow(block, rate, share, perFrame)
      return isMute ? .silent : .sounding
    }
    var channel = 0
    while channel < count {
      map(states + channel, block, rate, share, channel, perFrame, steps, lines)
      let to = block.outputs[0][channel]
      var frame = 0
      while frame < block.frames {
        var y = shape.new == 0 ? steps.vector(frame) : lines.vector(frame)
        if let blend = shape.blend {
          let b = blend.vector(frame)
          y = (shape.old == 0 ? steps.vector(frame) : lines.vector(frame)) * (1 - b) + y * b
        }
        to.store(y * level.vector(channel, frame) + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    return isMute ? .silent : .sounding
  }

  /// A block of a map: its levels, and the lines between them.
  @inline(__always) @_noLocks private func map(
    _ state: UnsafeMutablePointer<State>, _ block: Block, _ rate: ParameterStream, _ share: ParameterStream,
    _ channel: Int, _ perFrame: Float, _ steps: UnsafeMutablePointer<Float>,
    _ lines: UnsafeMutablePointer<Float>
  ) {
    let moving = rate.frames(channel)
    var pace = Self.pace(rate.value(channel), perFrame)
    var (old, new, phase, frame) = (state.pointee.old, state.pointee.new, state.pointee.phase, 0)
    while frame < block.frames {
      if let moving { pace = Self.pace(moving[frame], perFrame) }
      // Frames until the next step: all of them are calculated at once.
      let left = 0xFFFF_FFFF &- phase
      var count = moving != nil ? 1 : block.frames &- frame
      if pace > 0 {
        let most = Int(left / pace)
        if most < count { count = most }
      }
      let line = (new - old) * 0x1p-31
      var done = 0
      while done < count {
        let place = unsafeBitCast(
          sostenuto_row(
            Int32(bitPattern: phase &+ pace &* UInt32(truncatingIfNeeded: done &+ 1)), Int32(bitPattern: pace)
          ),
          to: SIMD16<UInt32>.self)
        steps.store(Frames(repeating: old), frame &+ done)
        lines.store(old + line * converted(unsafeBitCast(place &>> 1, to: SIMD16<Int32>.self)), frame &+ done)
        done &+= 16
      }
      phase = phase &+ pace &* UInt32(truncatingIfNeeded: count)
      frame &+= count
      guard frame < block.frames, moving == nil || count == 0 else { continue }
      // The frame in which the phase is full.
      phase = phase &+ pace
      advance(state, Double(limited(share.value(channel, at: frame) * 0.01, 0, 1)))
      (old, new) = (new, state.pointee.new)
      steps[frame] = old
      lines[frame] = old + (new - old) * 0x1p-31 * Float(phase &>> 1)
      frame &+= 1
    }
    (state.pointee.old, state.pointee.phase) = (old, phase)
  }

  /// Part of a step for each frame, of 2^32; 2^32 - 1 at most.
  @inline(__always) @_noLocks private static func pace(_ rate: Float, _ perFrame: Float) -> UInt32 {
    let part = limited(rate * perFrame, 0, 1)
    return part < 0.999_999_9 ? UInt32(part * 4_294_967_296) : 0xFFFF_FFFF
  }

  // MARK: The flow

  /// A block of the flow, eight channels at a time; one or two of them have vectors of their size.
  @inline(__always) @_noLocks private func flow(
    _ block: Block, _ rate: ParameterStream, _ share: ParameterStream, _ perFrame: Float
  ) {
    var first = 0
    while first < count {
      let many = count &- first < 8 ? count &- first : 8
      let width = many > 2 ? 8 : 2
      let room = FlowRoom(block)
      let stride = room.fill(block, rate, share, perFrame, first, many, width)
      room.take(states + first, many)
      let frames = Int64(truncatingIfNeeded: block.frames)
      if width > 2 {
        sostenuto_flow_frames_8(room.places, room.turns, room.chaos, stride, room.turned, frames)
      } else {
        sostenuto_flow_frames_2(room.places, room.turns, room.chaos, stride, room.turned, frames)
      }
      room.give(states + first, many)
      write(block, first, many, room)
      first &+= many
    }
  }

  /// Writes what the flow's frames are as sound.
  @inline(__always) @_noLocks private func write(_ block: Block, _ first: Int, _ many: Int, _ room: FlowRoom)
  {
    let level = block.parameters[Self.level]
    if many > 2 { room.turnBack() }
    var lane = 0
    while lane < many {
      let to = block.outputs[0][first &+ lane]
      var frame = 0
      while frame < block.frames {
        let y = many > 2 ? room.rows.vector(lane &* blockCapacity &+ frame) : room.pair(lane, frame)
        to.store(y * level.vector(first &+ lane, frame) + 0, frame)
        frame &+= 16
      }
      lane &+= 1
    }
  }

  /// The next step of a map.
  @inline(__always) @_noLocks private func advance(_ state: UnsafeMutablePointer<State>, _ chaos: Double) {
    var p = state.pointee.place
    if system == 0 {
      p.x = (2.8 + 1.2 * chaos) * p.x * (1 - p.x)
      // In 64 bits it may end at a place from which it never leaves.
      if !(p.x > 1e-9 && p.x < 1) { p.x = 0.1 }
      state.pointee.new = Float(2 * p.x - 1)
    } else {
      let x = 1 - (0.8 + 0.6 * chaos) * p.x * p.x + p.y
      p.y = 0.3 * p.x
      p.x = x
      // A step of `chaos` may lead out of the attractor's basin.
      if !(x.magnitude < 1.3) { p = SIMD4(0, 0, 0, 0) }
      state.pointee.new = Float(p.x * (1 / 1.3))
    }
    state.pointee.place = p
  }
}

/// Room within a block for the flow of up to eight channels.
private struct FlowRoom {
  /// x, y and z, eight of each.
  let places: UnsafeMutablePointer<Double>
  /// Turns of a frame and the share of chaos, of all channels of a frame, one frame after the other. The turns have the place
  /// of `rows`, which are not written before they are done.
  let turns, chaos: UnsafeMutablePointer<Float>
  private let lanes: LaneRoom

  /// A channel's frames, and those of all channels one after the other.
  var rows: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.rows } }
  var turned: UnsafeMutablePointer<Float> { @inline(__always) @_noLocks get { lanes.turned } }

  @inline(__always) @_noLocks init(_ block: Block) {
    var arena = Arena(block.scratch)
    places = arena.reserve(24 &* 8).assumingMemoryBound(to: Double.self)
    chaos = arena.take(Float.self, 8 &* blockCapacity)
    lanes = LaneRoom(&arena)
    turns = lanes.rows
  }

  /// Writes turns and chaos of channels; those that are not there go with the last one. Returns the numbers of a frame, 0
  /// where all frames have the same.
  @inline(__always) @_noLocks func fill(
    _ block: Block, _ rate: ParameterStream, _ share: ParameterStream, _ perFrame: Float, _ first: Int,
    _ many: Int, _ width: Int
  ) -> Int64 {
    let moves = !rate.isSteady || !share.isSteady
    var lane = 0
    while lane < width {
      let channel = first &+ (lane < many ? lane : many &- 1)
      var frame = 0
      repeat {
        let place = frame &* width &+ lane
        turns[place] = limited(rate.value(channel, at: frame) * perFrame, 0, 0.2)
        chaos[place] = limited(share.value(channel, at: frame) * 0.01, 0, 1)
        frame &+= 1
      } while moves && frame < block.frames
      lane &+= 1
    }
    return moves ? Int64(truncatingIfNeeded: width) : 0
  }

  @inline(__always) @_noLocks func take(_ states: UnsafeMutablePointer<Chaos.State>, _ many: Int) {
    var lane = 0
    while lane < 8 {
      let place = states[lane < many ? lane : many &- 1].place
      (places[lane], places[8 &+ lane], places[16 &+ lane]) = (place.x, place.y, place.z)
      lane &+= 1
    }
  }

  @inline(__always) @_noLocks func give(_ states: UnsafeMutablePointer<Chaos.State>, _ many: Int) {
    var lane = 0
    while lane < many {
      states[lane].place = SIMD4(places[lane], places[8 &+ lane], places[16 &+ lane], 0)
      lane &+= 1
    }
  }

  @inline(__always) @_noLocks func turnBack() { lanes.turnBack() }

  /// Sixteen frames of one of two channels.
  @inline(__always) @_noLocks func pair(_ lane: Int, _ frame: Int) -> Frames {
    let (low, high) = (turned.vector(2 &* frame), turned.vector(2 &* frame &+ 16))
    return lane == 0 ? sostenuto_evens(low, high) : sostenuto_odds(low, high)
  }
}

import CVector
import Patch
import Realtime

/// Notches that go up and down: all-passes in a row whose corner a slow sine moves, mixed with the sound itself.
///
/// The all-passes are of the first order, by the trapezoidal rule, and the feedback around them has no delay
/// (`sostenuto_pass_stages`): the response is that of the analogue circuit at the tangents of half the angles, so the corner is
/// exact, and notches far above it lie lower than the circuit's (13.8 instead of 18.7 kHz for 5 kHz and six stages at 48 kHz).
public struct Phaser: Kernel {
  public static let description = KindDescription(
    name: "phaser", summary: "Notches that go up and down.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      SweptDelay.rate,
      .number("depth", "By how many octaves the notches go up and down.", default: 2, range: 0...5),
      .percent("mix", "How much of it goes through the all-passes.", default: 50),
      SweptDelay.feedback,
      .frequency(
        "freq", "Corner of the all-passes, in the middle of the way.", default: 800, range: 20...20_000),
      SweptDelay.spread,
      .count(
        "stages", "How many all-passes; two for each notch.", default: 6, range: 2...12),
    ], cost: .init(300, perChannel: 150))

  /// Positions in `description.parameters`.
  public static var rate: Int { @_noLocks get { 0 } }
  public static var depth: Int { @_noLocks get { 1 } }
  public static var mix: Int { @_noLocks get { 2 } }
  public static var feedback: Int { @_noLocks get { 3 } }
  public static var freq: Int { @_noLocks get { 4 } }
  public static var spread: Int { @_noLocks get { 5 } }
  public static var stages: Int { @_noLocks get { 6 } }

  private var channels: Int
  private let stages: Int
  private var sweep: Sweep
  /// States of the all-passes of eight channels, group by group.
  private var states: UnsafeMutablePointer<Float>
  /// Poles of eight channels, sixty-four frames each, and those of each frame.
  private var poles, turnedPoles: UnsafeMutablePointer<Float>
  private var quiet = QuietCell()
  private var isAsleep = true
  private var entry = Entry.ofFilter

  private static var statesOfGroup: Int { @inline(__always) @_noLocks get { 96 } }
  @_noLocks private static func groups(_ channels: Int) -> Int { (channels &+ 7) &>> 3 }

  private struct Layout {
    let sweep: Sweep
    let states, poles, turnedPoles: UnsafeMutablePointer<Float>

    @_noLocks init(_ channels: Int, _ arena: inout Arena) {
      sweep = Sweep(&arena)
      states = arena.take(Float.self, Phaser.groups(channels) &* Phaser.statesOfGroup)
      poles = arena.take(Float.self, 8 &* blockCapacity)
      turnedPoles = arena.take(Float.self, 8 &* blockCapacity)
    }
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(configuration.inputs[0], &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    channels = configuration.inputs[0]
    stages = Int(min(max(configuration.value(Self.stages), 2), 12))
    var arena = Arena(memory)
    let layout = Layout(channels, &arena)
    (sweep, states, poles, turnedPoles) = (layout.sweep, layout.states, layout.poles, layout.turnedPoles)
  }

  /// The state of a channel's all-pass.
  @inline(__always) @_noLocks private static func place(_ channel: Int, _ stage: Int) -> Int {
    (channel &>> 3) &* statesOfGroup &+ stage &* 8 &+ (channel & 7)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = Layout(inputs, &arena)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      var stage = 0
      while from >= 0, stage < stages {
        wide.states[Self.place(channel, stage)] = states[Self.place(from, stage)]
        stage &+= 1
      }
      channel &+= 1
    }
    let before = sweep
    (sweep, states, poles, turnedPoles) = (wide.sweep, wide.states, wide.poles, wide.turnedPoles)
    sweep.go(on: before)
    channels = inputs
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard quiet.isQuiet else { return false }
    var channel = 0
    while channel < channels {
      var stage = 0
      while stage < stages {
        guard isInaudible(states[Self.place(channel, stage)]) else { return false }
        stage &+= 1
      }
      channel &+= 1
    }
    setMemory(states, 0, Self.groups(channels) &* Self.statesOfGroup &* 4)
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    sweep.begin(block.parameters[Self.rate], block)
    let room = DynamicsRoom(block)
    let entry = entry.follow(block, room.work)
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    let (feedback, mix) = (block.parameters[Self.feedback], block.parameters[Self.mix])
    var frame = 0
    while frame < block.frames {
      room.up.store(limited(feedback.vector(0, frame) * 0.01, -0.95, 0.95), frame)
      frame &+= 16
    }
    var first = 0
    while first < channels {
      let count = channels &- first < 8 ? channels &- first : 8
      aim(block, first, count)
      var channel = first
      while channel < first &+ count {
        copyMemory(room.row(channel), input[channel], blockCapacity &* 4)
        channel &+= 1
      }
      if let entry { room.multiply(count, by: entry) }
      let states = states + (first &>> 3) &* Self.statesOfGroup
      let (stages, frames) = (Int64(truncatingIfNeeded: stages), Int64(truncatingIfNeeded: block.frames))
      if count == 1, stages < 8 {
        passOne(room.row(first), room.up, states, room.turned, stages, frames)
      } else {
        turnPoles(count, block.frames)
        room.turn(count)
        sostenuto_pass_eight(room.turned, turnedPoles, room.up, states, stages, frames)
        room.turnBack()
      }
      channel = first
      while channel < first &+ count {
        let (dry, wet, to) = (input[channel], room.row(channel), block.outputs[0][channel])
        frame = 0
        while frame < block.frames {
          let m = limited(mix.vector(0, frame) * 0.01, 0, 1)
          to.store(dry.vector(frame) * (1 - m) + wet.vector(frame) * m + 0, frame)
          frame &+= 16
        }
        channel &+= 1
      }
      first &+= 8
    }
    return .sounding
  }

  /// A single channel of up to seven stages.
  @inline(never) @_noLocks private func passOne(
    _ frames: UnsafeMutablePointer<Float>, _ feedback: UnsafePointer<Float>,
    _ states: UnsafeMutablePointer<Float>, _ work: UnsafeMutablePointer<Float>, _ stages: Int64,
    _ count: Int64
  ) {
    sostenuto_pass_one(frames, poles, feedback, states, work, stages, count)
  }

  /// Poles of eight channels in each frame: (g - 1) / (g + 1) with g = tan(pi f / rate).
  @inline(never) @_noLocks private mutating func aim(_ block: Block, _ first: Int, _ count: Int) {
    let parameters = block.parameters
    let (freq, depth, spread) = (parameters[Self.freq], parameters[Self.depth], parameters[Self.spread])
    let turn = 3.141_592_7 / block.rate
    var channel = 0
    while channel < count {
      let part = Sweep.part(first &+ channel)
      var frame = 0
      while frame < block.frames {
        let sine = sweep.sines(frame, limited(spread.vector(0, frame) * 0.01, 0, 1) * part)
        let octaves = sine * limited(depth.vector(0, frame) * 0.5, 0, 10)
        let f = atLeast(1, freq.vector(0, frame)) * sostenuto_powers_of_two(octaves)
        // The tangent of half the angle, from the sine and the cosine of it.
        let quarters = atMost(0.98, f * (turn * 0.636_619_8))
        let g = sineOfQuarters(quarters) / sineOfQuarters(1 - quarters)
        poles.store((g - 1) / (g + 1), channel &* blockCapacity &+ frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  /// Poles of each frame. Lanes without a channel have some too.
  @inline(__always) @_noLocks private func turnPoles(_ count: Int, _ frames: Int) {
    var channel = count
    while channel < 8 {
      copyWhole(poles, to: poles + channel &* blockCapacity)
      channel &+= 1
    }
    var frame = 0
    while frame < frames {
      sostenuto_turn_eight(poles + frame, 64, turnedPoles + 8 &* frame, 8)
      frame &+= 8
    }
  }
}

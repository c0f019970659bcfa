import CVector
import Patch
import Realtime

/// Echoes that are bent or crossfaded when their time changes, in taps, from side to side, and darker each time.
///
/// In a glide the delay time approaches its target exponentially, so that pitch bends as that of a tape does. A fade
/// stays where it is, and goes to the new time by crossfade. Both courses are calculated while `change` is crossfaded.
public struct Echo: Kernel {
  public static let description = KindDescription(
    name: "echo", summary: "Echoes in taps, from side to side, darker each time; their time glides or fades.",
    category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .number(
        "time", "Until the last tap; at least 20 frames, at most `longest`.", default: 0.375,
        range: 0.001...60, unit: .seconds),
      .number(
        "feedback", "How much of the last tap goes through again; below 0 turned over.", default: 35,
        range: -100...100, unit: .percent),
      .percent("mix", "How much of the sound is echoes.", default: 35),
      .choice(
        "change", "When `time` moves. Glide: pitch bends. Fade: crossfade to the new time.",
        ["glide", "fade"]
      ),
      .number(
        "lag", "Time of 63 % of a glide, or of a whole fade.", default: 0.1, range: 0...20, unit: .seconds),
      .frequency("damp", "Low-pass of what goes through again.", default: 6000, range: 20...20_000),
      .percent(
        "pingpong",
        "Of two channels: how much each echo goes to the other one; at 100 % sound enters the first only.",
        default: 0),
      .number(
        "swing", "How much later taps of odd number come, in parts of a tap's distance.", default: 0,
        range: 0...90, unit: .percent),
      .level("slope", "From one tap to the next.", default: -3, range: -24...0),
      .count("taps", "How many, evenly spaced.", default: 1, range: 1...8),
      .number(
        "longest", "Longest time: memory is held for it.", default: 2, range: 0.1...60, unit: .seconds,
        smoothing: .structural),
    ], cost: .init(100, perChannel: 250))

  /// Positions in `description.parameters`.
  public static var time: Int { @_noLocks get { 0 } }
  public static var feedback: Int { @_noLocks get { 1 } }
  public static var mix: Int { @_noLocks get { 2 } }
  public static var change: Int { @_noLocks get { 3 } }
  public static var lag: Int { @_noLocks get { 4 } }
  public static var damp: Int { @_noLocks get { 5 } }
  public static var pingpong: Int { @_noLocks get { 6 } }
  public static var swing: Int { @_noLocks get { 7 } }
  public static var slope: Int { @_noLocks get { 8 } }
  public static var taps: Int { @_noLocks get { 9 } }
  public static var longest: Int { @_noLocks get { 10 } }

  let taps: Int
  private let seconds: Float
  private var channels: Int
  private var length: Int
  private(set) var head = 0
  private var lines: UnsafeMutablePointer<Float>
  /// Low-passes of the loop, one a channel.
  private(set) var lows: UnsafeMutablePointer<Float>
  private(set) var gliding, held, leaving: EchoCourse
  /// The share of its input that a low-pass takes, for the frequency and the rate that it was calculated for.
  private var damping: (frequency: Float, rate: Float, share: Float) = (0, 0, 0)
  /// Delay of the last tap in frames: as it glides, as it is held, and what a fade leaves.
  private var place = 0.0
  private var here = 0.0
  private var before = 0.0
  private var fade = Ramp(1)
  private var isNew = true
  /// A glide has arrived and no fade is under way.
  private var hasArrived = true
  private var entry = Entry()
  private var quiet = QuietCell()
  private var quietFrames = 0
  private var isAsleep = true

  private struct Layout {
    let gliding, held, leaving: EchoCourse
    let lows, lines: UnsafeMutablePointer<Float>

    @_noLocks init(_ taps: Int, _ channels: Int, _ length: Int, _ arena: inout Arena) {
      gliding = EchoCourse(taps, &arena)
      held = EchoCourse(taps, &arena)
      leaving = EchoCourse(taps, &arena)
      lows = arena.take(Float.self, channels)
      lines = arena.take(Float.self, channels &* (length &+ DelayLine.margin))
    }
  }

  private static func length(_ seconds: Float, _ rate: Double) -> Int {
    var length = 256
    while Double(length) < Double(seconds) * rate + 100 { length *= 2 }
    return length
  }

  private static func taps(_ configuration: KernelConfiguration) -> Int {
    min(max(Int(configuration.value(taps)), 1), 8)
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes {
      Layout(
        taps(configuration), configuration.inputs[0],
        length(configuration.value(longest), configuration.rate), &$0)
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    (taps, channels) = (Self.taps(configuration), configuration.inputs[0])
    seconds = configuration.value(Self.longest)
    length = Self.length(seconds, configuration.rate)
    var arena = Arena(memory)
    let layout = Layout(taps, channels, length, &arena)
    (gliding, held, leaving) = (layout.gliding, layout.held, layout.leaving)
    (lows, lines) = (layout.lows, layout.lines)
  }

  @inline(__always) @_noLocks func line(_ channel: Int) -> DelayLine {
    DelayLine(lines + channel &* (length &+ DelayLine.margin), length: length)
  }

  /// Longest delay of a tap, in frames.
  private var most: Double { @inline(__always) @_noLocks get { Double(length &- 90) } }

  @_noLocks private mutating func take(_ layout: Layout) {
    (gliding, held, leaving) = (layout.gliding, layout.held, layout.leaving)
    (lows, lines) = (layout.lows, layout.lines)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let (old, oldLows, count) = (lines, lows, channels)
    var arena = Arena(memory)
    channels = widening.inputs[0]
    take(Layout(taps, channels, length, &arena))
    // Only what the taps can reach: all of long lines would take too long here. Beyond, sound fades in.
    var farthest = place > here ? place : here
    if before > farthest { farthest = before }
    let edge = 512
    let reach = Int(farthest) &+ 80 &+ edge
    let needed = reach < length ? reach : length
    var channel = 0
    while channel < channels {
      let from = widening.source(of: channel, from: count, to: channels)
      if from >= 0, from < count {
        let line = line(channel)
        lows[channel] = oldLows[from]
        let stride = length &+ DelayLine.margin
        line.copy(DelayLine(old + from &* stride, length: length), from: head &- needed, to: head)
        var frame = 0
        while needed < length, frame < edge {
          let t = Float(frame) / Float(edge)
          let place = head &- needed &+ frame
          line.write(line[place] * (t * t * (3 - 2 * t)), at: place)
          frame &+= 1
        }
        line.closeRing()
      }
      channel &+= 1
    }
  }

  /// Resamples the lines, so that echoes keep pitch and time. Worker.
  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    let pasts = (0..<channels).map { channel in
      Past((1...length).map { line(channel)[head - $0] }, step: old / new)
    }
    if let memory {
      let states = (0..<channels).map { lows[$0] }
      length = Self.length(seconds, new)
      head = 0
      var arena = Arena(memory)
      take(Layout(taps, channels, length, &arena))
      for channel in 0..<channels { lows[channel] = states[channel] }
    }
    for (channel, past) in pasts.enumerated() {
      for age in 1...length { line(channel).write(past.value(Double(age) * old / new), at: head - age) }
    }
    (place, here, before) = (place * new / old, here * new / old, before * new / old)
    fade.stretch(by: new / old)
    entry.stretch(by: new / old)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    guard quietFrames > length &+ blockCapacity, hasArrived else { return false }
    var channel = 0
    while channel < channels {
      lows[channel] = 0
      channel &+= 1
    }
    isAsleep = true
    return true
  }

  // MARK: Rendering

  /// Rows of the block's scratch memory.
  enum Room {
    static var damp: Int { @inline(__always) @_noLocks get { 0 } }
    static var entry: Int { @inline(__always) @_noLocks get { 1 } }
    static var first: Int { @inline(__always) @_noLocks get { 2 } }
    static var second: Int { @inline(__always) @_noLocks get { 3 } }
    static var edge: Int { @inline(__always) @_noLocks get { 4 } }
    /// Two rows.
    static var products: Int { @inline(__always) @_noLocks get { 5 } }
    static var fade: Int { @inline(__always) @_noLocks get { 7 } }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, rows) = (block.inputs[0], Rows(block))
    let entry = entry.follow(block, rows[Room.entry])
    aim(block, rows)
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    fetch(0)
    let damp = block.parameters[Self.damp]
    var frame = 0
    if damp.isSteady {
      let asked = damp.value(0)
      if asked != damping.frequency || block.rate != damping.rate {
        damping = (asked, block.rate, Self.share(Frames(repeating: asked), block.rate)[0])
      }
      let all = Frames(repeating: damping.share)
      while frame < block.frames {
        rows[Room.damp].store(all, frame)
        frame &+= 16
      }
    }
    while frame < block.frames {
      rows[Room.damp].store(Self.share(damp.vector(0, frame), block.rate), frame)
      frame &+= 16
    }
    var channel = 0
    while channel < channels {
      let isPair = channel &+ 1 < channels
      fetch(channel &+ 2)
      renderChannels(block, channel, isPair, rows, entry)
      channel &+= isPair ? 2 : 1
    }
    var hasFaded = input.isSilent
    channel = 0
    while hasFaded, channel < channels {
      hasFaded = line(channel).isFaded(head, block.frames)
      channel &+= 1
    }
    quiet.update(block, silent: hasFaded)
    if !hasFaded { quietFrames = 0 }
    head = (head &+ block.frames) & (length &- 1)
    if quiet.isOver(block) { drop() }
    return .sounding
  }

  @inline(never) @_noLocks private mutating func drop() {
    var channel = 0
    while channel < channels {
      line(channel).drop(before: head)
      channel &+= 1
    }
  }

  /// Asks for what a pair of channels reads and writes in this block: with many echoes it is far away.
  @inline(__always) @_noLocks private mutating func fetch(_ first: Int) {
    let past = Int(place > here ? place : here) &+ 4
    var channel = first
    while channel < channels, channel < first &+ 2 {
      let line = line(channel)
      line.fetch(head &- past)
      line.fetch(head)
      channel &+= 1
    }
  }

  /// Share of its input that a low-pass takes, for a frequency.
  @inline(__always) @_noLocks private static func share(_ damp: Frames, _ rate: Float) -> Frames {
    let (sine, cosine) = halfAngle(limited(damp * (1 / rate), 0.0001, 0.49))
    return sine / (sine + cosine)
  }

  /// Moves the courses by a block.
  @inline(never) @_noLocks private mutating func aim(_ block: Block, _ rows: Rows) {
    let (time, swing) = (block.parameters[Self.time], block.parameters[Self.swing])
    let lag = block.parameters[Self.lag]
    let rate = Double(block.rate)
    let change = block.crossfades[Self.change]
    let (glides, fades) = (change.new == 0 || change.blend != nil, change.new == 1 || change.blend != nil)
    // The part of the way that a glide goes in a frame.
    var pull = 1 / (1 + Double(limited(lag.value(0, at: 0), 0, 60)) * rate)
    var target = 0.0
    var isStill = time.isSteady
    var frame = 0
    if isStill, hasArrived, !isNew {
      // Nothing moves.
      let asked = Double(time.value(0)) * rate
      target = asked > EchoCourse.nearest ? (asked < most ? asked : most) : EchoCourse.nearest
      if target == place, target == here {
        gliding.set(place, 0)
        held.set(here, 0)
        frame = block.frames
        if !swing.isSteady {
          frame = 0
        }
      }
    }
    if !isNew, !fades, lag.isSteady, pull == 1, let times = time.frames(0) {
      // Without a lag it is where it is to be in every frame.
      gliding.set(times, rate, block.frames, within: most)
      target = gliding.delay(0)
      aimFade(block, target, lag)
      isStill = false
      target = gliding.delay(block.frames &- 1)
      place = target
      frame = block.frames
    }
    while frame < block.frames {
      let asked = Double(time.value(0, at: frame)) * rate
      target = asked > EchoCourse.nearest ? (asked < most ? asked : most) : EchoCourse.nearest
      if isNew {
        isNew = false
        (place, here, before) = (target, target, target)
      }
      if frame == 0 { aimFade(block, target, lag) }
      if place != target {
        isStill = false
        if !lag.isSteady { pull = 1 / (1 + Double(limited(lag.value(0, at: frame), 0, 60)) * rate) }
        place += (target - place) * pull
        if (target - place).magnitude < 1e-3 { place = target }
      }
      gliding.set(place, frame)
      if fades {
        held.set(here, frame)
        leaving.set(before, frame)
      }
      frame &+= 1
    }
    hasArrived = place == target && here == target && !fade.isMoving
    if glides {
      gliding.place(block.frames, rests: isStill, swing, within: most)
    }
    if fades {
      held.place(block.frames, rests: true, swing, within: most)
      if fade.isMoving { leaving.place(block.frames, rests: true, swing, within: most) }
    }
    isFading = fade.isMoving
    if isFading {
      // A glide does not need the fade's curve. The fade goes on, for a change of `glide` amid it.
      if fades { fade.fill(rows[Room.fade], frames: block.frames) } else { fade.skip(block.frames) }
    }
  }
  /// Begins a fade to another time where a cell begins.
  @inline(__always) @_noLocks private mutating func aimFade(
    _ block: Block, _ target: Double, _ lag: ParameterStream
  ) {
    guard block.time & 63 == 0, !fade.isMoving else { return }
    before = here
    if (target - here).magnitude > 1e-3 {
      here = target
      fade = Ramp(0)
      let frames = Int(limited(lag.value(0, at: 0), 0.005, 60) * block.rate)
      fade.move(to: 1, over: frames)
    }
  }
  /// In this block.
  private(set) var isFading = false
}

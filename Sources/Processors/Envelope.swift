import CVector
import Patch
import Realtime

/// The course of a level while a gate is open and after it: delay, attack, hold, decay, sustain, release.
///
/// Each channel has a course of its own. A stage takes whole frames, and its level is a function of the share of its time that
/// is done. It starts from the level at which the one before it was left.
public struct Envelope: Kernel {
  public static let description = KindDescription(
    name: "envelope", summary: "The course of a level while a gate is open, and after it has shut.",
    category: .modulation,
    inputs: [
      PortDescription(
        "gate", .flexible,
        "Above 0 it is open. Opening it starts from the present level; one frame at 0 starts again.",
        role: .gate)
    ],
    outputs: [
      PortDescription("out", .flexible, "From 0 to 1, one for each channel of the gate.", swing: .unipolar)
    ],
    parameters: [
      time("delay", "Time from the gate's opening to the attack.", default: 0),
      time("attack", "Time of the way up to 1.", default: 0.005),
      time("hold", "Time at 1.", default: 0),
      time("decay", "Time of the way from 1 to `sustain`.", default: 0.2),
      .number(
        "sustain", "Level until the gate shuts.", default: 70, range: 0...100, unit: .percent,
        isPerChannel: true),
      time("release", "Time of the way down to 0 after the gate has shut.", default: 0.2),
      .number(
        "bend", "Course of the attack: 0 % is straight, above it is fast at first, below slow at first.",
        default: 0, range: -100...100, unit: .percent, isPerChannel: true),
      .number(
        "curve", "Course of decay and release: 0 % is straight, above it is fast at first.", default: 50,
        range: -100...100, unit: .percent, isPerChannel: true),
    ], face: .level, amplification: .never, cost: .init(10, perChannel: 20))

  /// Positions in `description.parameters`.
  public static var delay: Int { @_noLocks get { 0 } }
  public static var attack: Int { @_noLocks get { 1 } }
  public static var hold: Int { @_noLocks get { 2 } }
  public static var decay: Int { @_noLocks get { 3 } }
  public static var sustain: Int { @_noLocks get { 4 } }
  public static var release: Int { @_noLocks get { 5 } }
  public static var bend: Int { @_noLocks get { 6 } }
  public static var curve: Int { @_noLocks get { 7 } }

  private static func time(_ name: String, _ summary: String, default seconds: Double)
    -> ParameterDescription
  {
    .number(name, summary, default: seconds, range: 0...100, unit: .seconds, isPerChannel: true)
  }

  private var courses: PerChannel<EnvelopeCourse>
  /// Every gate is shut and every level at 0.
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    PerChannel<EnvelopeCourse>.size(configuration.inputs[0])
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    courses = PerChannel(configuration.inputs[0], EnvelopeCourse(), memory)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    courses = courses.widened(widening, EnvelopeCourse(), memory)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (gate, output) = (block.inputs[0], block.outputs[0])
    if isAsleep, gate.isSilent { return .silent }
    var (sounds, rests) = (false, true)
    let count = output.count < gate.count ? output.count : gate.count
    var channel = 0
    while channel < count {
      let open = Gates.open(gate, channel, block.frames)
      if courses[channel].pointee.run(open, block, channel, output[channel]) { sounds = true }
      if !courses[channel].pointee.rests { rests = false }
      channel &+= 1
    }
    isAsleep = rests
    return sounds ? .sounding : .silent
  }

  @_noLocks public mutating func isFinished() -> Bool { isAsleep }
}

/// The course of one channel.
struct EnvelopeCourse: BitwiseCopyable {
  private enum Stage: UInt8, BitwiseCopyable {
    case rest, delay, attack, hold, decay, sustain, release
  }

  /// Parts of the stage that are done.
  private var place = 0.0
  /// Level at the stage's start, and the present one.
  private var from: Float = 0
  private var level: Float = 0
  private var stage = Stage.rest
  private var isOpen = false

  @_noLocks init() {}

  /// Nothing is heard until the gate opens.
  var rests: Bool { @inline(__always) @_noLocks get { stage == .rest && !isOpen } }

  /// Renders a block. `open`: the frames in which the gate is open. False: all of it is silent.
  @inline(__always) @_noLocks mutating func run(
    _ open: UInt64, _ block: Block, _ channel: Int, _ output: UnsafeMutablePointer<Float>
  ) -> Bool {
    if open == (isOpen ? Gates.all(block.frames) : 0) {
      if stage == .rest {
        output.fill(0)
        return false
      }
      let sustain = block.parameters[Envelope.sustain]
      if stage == .sustain, sustain.isSteady {
        level = limited(sustain.value(channel) * 0.01, 0, 1)
        output.fill(level)
        return level != 0
      }
    }
    runAny(open, block, channel)
    Rows(block).copy(0, to: output)
    return true
  }

  /// The same into row 0, through any stages.
  @inline(never) @_noLocks private mutating func runAny(_ open: UInt64, _ block: Block, _ channel: Int) {
    let settings = EnvelopeSettings(block, channel)
    var frame = 0
    while frame < block.frames {
      let bits = open &>> UInt64(truncatingIfNeeded: frame)
      let opens = bits & 1 != 0
      if opens != isOpen {
        isOpen = opens
        begin(opens ? .delay : level > 0 ? .release : .rest)
      }
      let same = (opens ? ~bits : bits).trailingZeroBitCount
      let end = frame &+ same < block.frames ? frame &+ same : block.frames
      while frame < end { frame = advance(frame, end, settings) }
    }
  }

  @inline(__always) @_noLocks private mutating func begin(_ stage: Stage) {
    self.stage = stage
    place = 0
    from = level
  }

  /// Goes on until the stage ends, or to `end`. Returns the frame that is reached.
  @inline(__always) @_noLocks private mutating func advance(
    _ frame: Int, _ end: Int, _ settings: EnvelopeSettings
  ) -> Int {
    let row = settings.rows[0]
    let time: Int
    switch stage {
    case .rest, .sustain:
      var next = frame
      while next < end {
        row.store(stage == .rest ? Frames(repeating: 0) : settings.sustained(next), next)
        next &+= 16
      }
      level = row[end &- 1]
      return end
    case .delay: time = Envelope.delay
    case .attack: time = Envelope.attack
    case .hold: time = Envelope.hold
    case .decay: time = Envelope.decay
    case .release: time = Envelope.release
    }
    let seconds = settings.block.parameters[time]
    // A stage of no time takes no frame.
    if place == 0, seconds.value(settings.channel, at: frame) * settings.block.rate < 0.5 {
      finish(settings.sustained(frame)[0])
      return frame
    }
    let count = settings.writeShares(&place, seconds, frame, end)
    let shares = settings.rows[1]
    var done = 0
    while done < count {
      let (at, share) = (frame &+ done, shares.vector(done))
      switch stage {
      case .attack:
        row.store((1 - from) * settings.bend(at)(share) + from, at)
      case .decay:
        let goal = settings.sustained(at)
        row.store((from - goal) * (1 - settings.curve(at)(share)) + goal, at)
      case .release:
        row.store(from * (1 - settings.curve(at)(share)), at)
      default: row.store(Frames(repeating: from), at)
      }
      done &+= 16
    }
    level = row[frame &+ count &- 1]
    if place >= Course.parts { finish(level) }
    return frame &+ count
  }

  /// Goes on to the next stage; `sustained`: the level where a decay ends.
  @inline(__always) @_noLocks private mutating func finish(_ sustained: Float) {
    switch stage {
    case .delay: begin(.attack)
    case .attack:
      level = 1
      begin(.hold)
    case .hold: begin(.decay)
    case .decay:
      level = sustained
      begin(.sustain)
    default:
      level = 0
      begin(.rest)
    }
  }
}

/// The settings of one channel in a block.
private struct EnvelopeSettings {
  let block: Block
  let channel: Int
  /// The levels, the shares of a stage, and room for what moves.
  let rows: Rows
  private let sustain, bends, curves: Readable
  private let restingBend, restingCurve: Bend

  @inline(__always) @_noLocks init(_ block: Block, _ channel: Int) {
    self.block = block
    self.channel = channel
    rows = Rows(block)
    sustain = Readable(block.parameters[Envelope.sustain], channel, rows[2])
    bends = Readable(block.parameters[Envelope.bend], channel, rows[3])
    curves = Readable(block.parameters[Envelope.curve], channel, rows[4])
    restingBend = Bend(bends.vector(0))
    restingCurve = Bend(curves.vector(0))
  }

  @inline(__always) @_noLocks func sustained(_ frame: Int) -> Frames {
    limited(sustain.vector(frame) * 0.01, 0, 1)
  }

  @inline(__always) @_noLocks func bend(_ frame: Int) -> Bend {
    bends.isSteady ? restingBend : Bend(bends.vector(frame))
  }

  @inline(__always) @_noLocks func curve(_ frame: Int) -> Bend {
    curves.isSteady ? restingCurve : Bend(curves.vector(frame))
  }

  /// Writes the shares of a stage's time from `frame` on into row 1, until it is whole or to `end`. Returns how many.
  @inline(__always) @_noLocks func writeShares(
    _ place: inout Double, _ seconds: ParameterStream, _ frame: Int, _ end: Int
  ) -> Int {
    let row = rows[1]
    if let moving = seconds.frames(channel) {
      var next = frame
      while next < end, place < Course.parts {
        place += Course.step(moving[next], block.rate)
        let share = place < Course.parts ? Float(place) * Float(1 / Course.parts) : 1
        row[next &- frame] = share
        next &+= 1
      }
      return next &- frame
    }
    let step = Course.step(seconds.value(channel), block.rate)
    let left = Course.framesLeft(place, step)
    let count = left < end &- frame ? left : end &- frame
    var done = 0
    while done < count {
      row.store(Course.shares(place + Double(done &+ 1) * step, step), done)
      done &+= 16
    }
    place += Double(count) * step
    return count
  }
}

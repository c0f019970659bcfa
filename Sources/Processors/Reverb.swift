import CVector
import Patch
import Realtime

/// A feedback delay network: sixteen lines that feed each other through a Hadamard matrix.
///
/// Signal path: input, predelay, four all-passes on each side, then the lines (`ReverbTank`), of which each output hears a sum
/// with signs of its own. A round takes away what makes every line decay in the time that is set (`ReverbDecay`). The wet
/// sound of a steady noise is as loud as the noise, whatever the decay.
public struct Reverb: Kernel {
  public static let description = KindDescription(
    name: "reverb", summary: "A room, from a feedback delay network of sixteen lines.", category: .effect,
    inputs: [
      PortDescription(
        "in", .flexible, "One channel goes to all outputs, more of them to both sides in turns.")
    ],
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .number(
        "decay", "Time in which 1 kHz falls by 60 dB.", default: 2, range: 0.1...60, unit: .seconds),
      .number(
        "size", "Distance of the walls; a change is crossfaded.", default: 50, range: 10...100,
        unit: .percent, smoothing: .crossfade),
      .percent(
        "damp", "By how much less than 1 kHz the highest frequencies last; 90 % at most.", default: 50),
      .number(
        "bass", "How long the lowest frequencies last, beside 1 kHz.", default: 100, range: 25...200,
        unit: .percent),
      .number(
        "predelay", "Before the reverb, in whole frames; a change is crossfaded.", default: 0, range: 0...0.5,
        unit: .seconds, smoothing: .crossfade),
      .percent("mix", "How much of it is reverb.", default: 30),
      .count("channels", "How many outputs, all different.", default: 2, range: 1...16),
    ], cost: .init(450, perChannel: 30))

  /// Positions in `description.parameters`.
  public static var decay: Int { @_noLocks get { 0 } }
  public static var size: Int { @_noLocks get { 1 } }
  public static var damp: Int { @_noLocks get { 2 } }
  public static var bass: Int { @_noLocks get { 3 } }
  public static var predelay: Int { @_noLocks get { 4 } }
  public static var mix: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  private var tank: ReverbTank
  /// Frames of all rings.
  private var frames: Int
  /// Channels that come in.
  private var inputs: Int
  /// From one channel to several of their own: the share of the new way, and the channel that goes on as the one.
  private var wide = Ramp(1)
  private var first = 0
  /// Within a block: it is under way.
  private var isWidening = false
  private var entry = Entry()
  private var hasBegun = false
  /// Decay, bass, damp, and the size, of which the coefficients know.
  private var known = SIMD4<Float>(repeating: .nan)
  /// The gains move in this 64-frame cell of engine time.
  private var moves = false
  /// Gains at the end of this cell, while they move.
  private var target: ReverbDecay
  private var targetGains = Frames(repeating: 0)
  private var quiet = QuietCell()
  private var quietFrames = 0
  private var isAsleep = true

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    let frames = ReverbTank.soundFrames(configuration.rate)
    return Arena.bytes { ReverbTank(frames, rate: configuration.rate, &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    frames = ReverbTank.soundFrames(configuration.rate)
    inputs = configuration.inputs[0]
    var arena = Arena(memory)
    tank = ReverbTank(frames, rate: configuration.rate, &arena)
    tank.build()
    target = ReverbDecay(ReverbTank.longest, decay: 1, bass: 100, damp: 50, rate: Float(configuration.rate))
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let other = ReverbTank(frames, rate: tank.rate, &arena)
    other.copy(tank, frames)
    tank = other
    // One channel had one line for both sides.
    if inputs == 1, widening.inputs[0] > 1 {
      tank.copyBefore()
      if !isAsleep {
        first = 0
        while widening.source(of: first, from: 1, to: widening.inputs[0]) != 0 { first &+= 1 }
        wide = Ramp(0)
        wide.move(to: 1, over: Int(tank.rate * 0.01))
      }
    }
    inputs = widening.inputs[0]
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    entry.stretch(by: new / old)
    wide.stretch(by: new / old)
    known = SIMD4(repeating: .nan)
    guard let memory else { return }
    frames = ReverbTank.soundFrames(new)
    var arena = Arena(memory)
    let other = ReverbTank(frames, rate: new, &arena)
    other.build()
    other.copyFilters(tank)
    other.resample(tank)
    tank = other
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietFrames = quiet.isQuiet ? quietFrames &+ blockCapacity : 0
    // All lines are inaudible, also the part that another size or predelay would reach.
    guard quietFrames > frames / 2 else { return false }
    tank.rest()
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (input, output, rows) = (block.inputs[0], block.outputs[0], ReverbRows(block.scratch))
    let entry = entry.follow(block, rows.entries)
    aim(block)
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    let start = Int(block.time & 63)
    if !hasBegun {
      tank.begin(at: start)
      hasBegun = true
    }
    find(block, rows)
    if wide.isMoving {
      wide.fill(rows.shares, frames: block.frames)
      isWidening = true
    }
    takeIn(block, entry, rows, start)
    blendLines(block, rows)
    var channel = 2
    while channel < output.count {
      rows.addLines(channel, block.frames)
      giveOut(block, channel, UnsafePointer(rows.sums), rows)
      channel &+= 1
    }
    if block.frames == blockCapacity, !moves {
      let count = Int64(truncatingIfNeeded: blockCapacity)
      sostenuto_go_round(rows.from, rows.to, tank.resting, nil, tank.states, rows.buses, rows.sums, count)
    } else {
      goRoundPart(block.frames, rows)
    }
    channel = 0
    while channel < output.count, channel < 2 {
      giveOut(block, channel, UnsafePointer(rows.sums + channel &* blockCapacity), rows)
      channel &+= 1
    }
    isWidening = false
    let isInaudible = input.isSilent && tank.hasFaded(rows, block.frames)
    quiet.update(block, silent: isInaudible)
    if !isInaudible { quietFrames = 0 }
    tank.end(block.frames, rows)
    if quiet.isOver(block) { tank.drop() }
    return .sounding
  }

  // MARK: Decay

  /// Lengths of the lines in frames: at least a block.
  @inline(__always) @_noLocks private static func lengths(_ size: Float, _ rate: Float) -> Frames {
    let scale = size * 0.01 * rate / 48_000
    let least = 64 / ReverbTank.longest[0]
    let sums = ReverbTank.longest * (scale > least ? scale : least) + 12_582_912
    return sums - 12_582_912
  }

  /// Begins a 64-frame cell of engine time: what has changed is reached at its end.
  @inline(__always) @_noLocks private mutating func aim(_ block: Block) {
    let isNew = known[0].isNaN
    guard block.time & 63 == 0 || isNew else { return }
    if moves { arrive() }
    let parameters = block.parameters
    let now = SIMD4(
      parameters[Self.decay].value(0), parameters[Self.bass].value(0), parameters[Self.damp].value(0),
      block.crossfades[Self.size].new)
    if known[0] == now[0], known[1] == now[1], known[2] == now[2], known[3] == now[3] {
      if moves { tank.settle() }
      moves = false
      return
    }
    move(to: now, block.rate, isNew: isNew)
  }

  /// Is exactly where a movement was to lead.
  @inline(never) @_noLocks private mutating func arrive() {
    tank.set(target)
    tank.gains.store(targetGains, 0)
    tank.gainSteps.store(Frames(repeating: 0), 0)
  }

  @inline(never) @_noLocks private mutating func move(to now: SIMD4<Float>, _ rate: Float, isNew: Bool) {
    let isFirst = isNew && tank.gains[0] == 0
    known = now
    target = ReverbDecay(
      Self.lengths(now[3], rate), decay: now[0], bass: now[1], damp: now[2], rate: rate)
    // All-passes decay three times as fast as the whole, at least.
    let decay = limited(now[0], 0.05, 1000) * 48_000
    let fast = sostenuto_powers_of_two(
      Frames(lowHalf: ReverbTank.diffusers, highHalf: ReverbTank.diffusers) * (-29.897_353 / decay))
    let pair = SIMD4<Float>(0.75, 0.75, 0.625, 0.625)
    let most = SIMD8(lowHalf: pair, highHalf: pair)
    let diffusers = sostenuto_lesser(fast, Frames(lowHalf: most, highHalf: most))
    targetGains = Frames(repeating: 0)
    targetGains[0] = squareRoot(1 - target.round * target.round) * 0.25
    var number = 0
    while number < 8 {
      targetGains[1 &+ number] = diffusers[number]
      number &+= 1
    }
    if isFirst {
      arrive()
      return tank.settle()
    }
    if !moves { tank.loosen() }
    tank.move(to: target)
    tank.gainSteps.store((targetGains - tank.gains.vector(0)) * (1 / 64), 0)
    moves = true
  }

  // MARK: Sound

  /// Finds where rings are read and written.
  @inline(__always) @_noLocks private mutating func find(_ block: Block, _ rows: ReverbRows) {
    let (size, before) = (block.crossfades[Self.size], block.crossfades[Self.predelay])
    tank.findLines(Self.lengths(size.new, block.rate), rows.from)
    let delays = ReverbTank.diffusers * block.rate * (1 / 48_000)
    var rest = SIMD8<Float>(repeating: 0)
    rest[0] = Float(Self.frames(before.new, block.rate))
    rest[1] = rest[0]
    tank.findRest(Frames(lowHalf: delays, highHalf: rest), rows)
  }

  /// Brings the input to both buses, through predelay and all-passes; then the first one has half of what goes to even
  /// lines and of what goes to odd ones, and the second one half of the difference.
  @inline(__always) @_noLocks private mutating func takeIn(
    _ block: Block, _ entry: UnsafePointer<Float>?, _ rows: ReverbRows, _ start: Int
  ) {
    // Both sides have the same sound of one channel, which one ring remembers.
    takeIn(block, 0, entry, rows)
    if block.inputs[0].count > 1 { takeIn(block, 1, entry, rows) }
    let right = block.inputs[0].count > 1 ? rows.input + blockCapacity : rows.input
    if block.frames == blockCapacity, !moves, ReverbTank.diffusesBlocks(block.rate) {
      let first = ReverbTank.firstDiffuser
      sostenuto_diffuse(rows.from + first, rows.to + first, tank.gains, rows.input, right, rows.buses)
    } else {
      diffuse(rows, UnsafePointer(right), start, block.frames)
    }
  }

  /// The same as `sostenuto_diffuse`, of part of a cell or while gains move.
  @inline(never) @_noLocks private mutating func diffuse(
    _ rows: ReverbRows, _ right: UnsafePointer<Float>, _ start: Int, _ frames: Int
  ) {
    tank.diffuse(0, UnsafePointer(rows.input), start, frames, moves: moves, rows)
    tank.diffuse(1, right, start, frames, moves: moves, rows)
    var gain = tank.gainAtRest(0)
    var frame = 0
    while frame < frames {
      if moves { gain = tank.gain(0, start &+ frame) }
      let (left, right) = (rows.buses.vector(frame), rows.buses.vector(blockCapacity &+ frame))
      rows.buses.store((left + right) * (gain * 0.5), frame)
      rows.buses.store((left - right) * (gain * 0.5), blockCapacity &+ frame)
      frame &+= 16
    }
  }

  /// Brings the input of one side through the predelay.
  @inline(__always) @_noLocks private mutating func takeIn(
    _ block: Block, _ bus: Int, _ entry: UnsafePointer<Float>?, _ rows: ReverbRows
  ) {
    let (input, predelay, frames) = (block.inputs[0], block.crossfades[Self.predelay], block.frames)
    let ring = ReverbTank.firstBefore &+ bus
    let (row, to) = (rows.input + bus &* blockCapacity, rows.to[ring]!)
    let isAtEnd = tank.isAtEnd(ring, frames)
    let (old, new) = (Self.frames(predelay.old, block.rate), Self.frames(predelay.new, block.rate))
    let (oldPast, past) = (predelay.blend == nil ? rows.from[ring]! : tank.past(ring, old), rows.from[ring]!)
    var frame = 0
    while frame < frames {
      var sum = Frames(repeating: 0)
      var channel = input.count == 1 ? 0 : bus
      while channel < input.count {
        sum += input[channel].vector(frame)
        channel &+= 2
      }
      if isWidening, bus == 1 { sum = Self.mixed(input[first], sum, frame, rows) }
      if let entry { sum *= entry.vector(frame) }
      let after = new == 0 ? sum : past.vector(frame)
      if let blend = predelay.blend {
        let b = blend.vector(frame)
        let before = old == 0 ? sum : oldPast.vector(frame)
        row.store(before * (1 - b) + after * b, frame)
      } else {
        row.store(after, frame)
      }
      ReverbTank.write(sum, frames &- frame, to, frame)
      if isAtEnd { tank.close(ring, to, frame) }
      frame &+= 16
    }
  }

  /// Mixes the output of one channel for all with that of several, while the one becomes several.
  @inline(never) @_noLocks private static func mixed(
    _ one: UnsafePointer<Float>, _ several: Frames, _ frame: Int, _ rows: ReverbRows
  ) -> Frames {
    let share = rows.shares.vector(frame)
    return one.vector(frame) * (1 - share) + several * share
  }

  /// A predelay in frames; less than sixteen are none, as vectors read them.
  @inline(__always) @_noLocks private static func frames(_ seconds: Float, _ rate: Float) -> Int {
    let frames = Int(limited(seconds, 0, 0.5) * rate + 0.5)
    return frames < 16 ? 0 : frames
  }

  /// Crossfades the lines while the size changes.
  @inline(__always) @_noLocks private mutating func blendLines(_ block: Block, _ rows: ReverbRows) {
    let size = block.crossfades[Self.size]
    guard let blend = size.blend else { return }
    tank.findLines(Self.lengths(size.old, block.rate), rows.olds)
    var line = 0
    while line < 16 {
      let (old, new, row) = (rows.olds[line]!, rows.from[line]!, rows.lines + line &* blockCapacity)
      var frame = 0
      while frame < block.frames {
        let b = blend.vector(frame)
        row.store(old.vector(frame) * (1 - b) + new.vector(frame) * b, frame)
        frame &+= 16
      }
      rows.from[line] = UnsafePointer(row)
      line &+= 1
    }
  }

  /// Sends a part of a cell round, or a cell while coefficients move.
  @inline(never) @_noLocks private mutating func goRoundPart(_ frames: Int, _ rows: ReverbRows) {
    let count = Int64(truncatingIfNeeded: frames)
    if moves {
      sostenuto_go_round(
        rows.from, rows.to, tank.numbers, tank.steps, tank.states, rows.buses, rows.sums, count)
    } else {
      sostenuto_go_round(rows.from, rows.to, tank.resting, nil, tank.states, rows.buses, rows.sums, count)
    }
  }

  /// Writes an output: a sum of lines, and the input.
  @inline(__always) @_noLocks private mutating func giveOut(
    _ block: Block, _ channel: Int, _ sum: UnsafePointer<Float>, _ rows: ReverbRows
  ) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let mix = block.parameters[Self.mix]
    var m = Frames(repeating: limited(mix.value(0) * 0.01, 0, 1))
    // Whole blocks: the frames behind a shorter one are nobody's.
    var frame = 0
    while frame < blockCapacity {
      var dry = Frames(repeating: 0)
      var source = input.count == 1 ? 0 : channel
      while source < input.count {
        dry += input[source].vector(frame)
        source &+= output.count
      }
      if isWidening { dry = Self.mixed(input[first], dry, frame, rows) }
      if !mix.isSteady { m = limited(mix.vector(0, frame) * 0.01, 0, 1) }
      output[channel].store(dry * (1 - m) + sum.vector(frame) * m + 0, frame)
      frame &+= 16
    }
  }
}

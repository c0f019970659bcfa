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
    ], cost: .init(900, perChannel: 30))

  /// Positions in `description.parameters`.
  public static var decay: Int { @_noLocks get { 0 } }
  public static var size: Int { @_noLocks get { 1 } }
  public static var damp: Int { @_noLocks get { 2 } }
  public static var bass: Int { @_noLocks get { 3 } }
  public static var predelay: Int { @_noLocks get { 4 } }
  public static var mix: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  private var tank: ReverbTank
  /// Frames of all lines.
  private var frames: Int
  /// Channels that come in.
  private var inputs: Int
  /// From one channel to several of their own: the share of the new way, and the channel that goes on as the one.
  private var wide = Ramp(1)
  private var first = 0
  /// Within a block: it is under way.
  private var isWidening = false
  private var entry = Entry()
  /// Position of the next frame to write.
  private var head = 0
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
    target = ReverbDecay(ReverbTank.primes, decay: 1, bass: 100, damp: 50, rate: Float(configuration.rate))
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    let other = ReverbTank(frames, rate: tank.rate, &arena)
    other.copy(tank, frames)
    tank = other
    // One channel had one line for both sides.
    if inputs == 1, widening.inputs[0] > 1 {
      tank.lines[1].copyAll(tank.lines[0])
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
    copyMemory(other.numbers, tank.numbers, 8 * 64)
    copyMemory(other.gains, tank.gains, 64)
    other.resample(tank, head)
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
    let input = block.inputs[0]
    let entry = entry.follow(block, tank.entries)
    aim(block)
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    let start = Int(block.time & 63)
    let (size, output) = (block.crossfades[Self.size], block.outputs[0])
    findLines(size, block.rate)
    if wide.isMoving {
      wide.fill(tank.shares, frames: block.frames)
      isWidening = true
    }
    takeIn(block, entry, start)
    readLines(size, block)
    var channel = 0
    while channel < output.count {
      giveOut(block, channel)
      channel &+= 1
    }
    isWidening = false
    tank.goRound(head, block.frames, moves: moves, block.scratch.assumingMemoryBound(to: Float.self))
    let isInaudible = input.isSilent && tank.hasFaded(block.frames)
    quiet.update(block, silent: isInaudible)
    if !isInaudible { quietFrames = 0 }
    head = head &+ block.frames
    if quiet.isOver(block) { tank.drop(before: head) }
    return .sounding
  }

  // MARK: Decay

  /// Lengths of the lines in frames: at least a block.
  @inline(__always) @_noLocks private static func lengths(_ size: Float, _ rate: Float) -> Frames {
    let scale = size * 0.01 * rate / 48_000
    let least = 64 / ReverbTank.primes[0]
    let sums = ReverbTank.primes * (scale > least ? scale : least) + 12_582_912
    return sums - 12_582_912
  }

  /// Begins a 64-frame cell of engine time: what has changed is reached at its end.
  @inline(__always) @_noLocks private mutating func aim(_ block: Block) {
    let isNew = known[0].isNaN
    guard block.time & 63 == 0 || isNew else { return }
    if moves { rest() }
    let parameters = block.parameters
    let now = SIMD4(
      parameters[Self.decay].value(0), parameters[Self.bass].value(0), parameters[Self.damp].value(0),
      block.crossfades[Self.size].new)
    if known[0] == now[0], known[1] == now[1], known[2] == now[2], known[3] == now[3] { return }
    move(to: now, block.rate, isNew: isNew)
  }

  /// Ends a movement exactly where it was to lead.
  @inline(never) @_noLocks private mutating func rest() {
    let n = target.numbers
    let to = tank.numbers
    to.store(n.0, 0)
    to.store(n.1, 16)
    to.store(n.2, 32)
    to.store(n.3, 48)
    to.store(n.4, 64)
    to.store(n.5, 80)
    tank.gains.store(targetGains, 0)
    tank.gainSteps.store(Frames(repeating: 0), 0)
    moves = false
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
    if isFirst { return rest() }
    let share: Float = 1 / 64
    let (n, from, to) = (target.numbers, tank.numbers, tank.steps)
    to.store((n.0 - from.vector(0)) * share, 0)
    to.store((n.1 - from.vector(16)) * share, 16)
    to.store((n.2 - from.vector(32)) * share, 32)
    to.store((n.3 - from.vector(48)) * share, 48)
    to.store((n.4 - from.vector(64)) * share, 64)
    to.store((n.5 - from.vector(80)) * share, 80)
    tank.gainSteps.store((targetGains - tank.gains.vector(0)) * share, 0)
    moves = true
  }

  // MARK: Sound

  /// Brings the input to both buses, through predelay and all-passes.
  @inline(__always) @_noLocks private func takeIn(
    _ block: Block, _ entry: UnsafePointer<Float>?, _ start: Int
  ) {
    let input = block.inputs[0]
    let predelay = block.crossfades[Self.predelay]
    let (old, new) = (Self.frames(predelay.old, block.rate), Self.frames(predelay.new, block.rate))
    var bus = 0
    while bus < 2 {
      let row = tank.buses + bus &* blockCapacity
      if bus == 1, input.count == 1 {
        // Both sides have the same sound, which one line remembers.
        copyWhole(UnsafePointer(tank.buses + 2 &* blockCapacity), to: row)
      } else {
        takeIn(input, bus, entry, predelay, old, new, block.frames)
        if input.count == 1 { copyWhole(UnsafePointer(row), to: tank.buses + 2 &* blockCapacity) }
      }
      tank.diffuse(bus, head, start, block.frames, rate: block.rate, moves: moves)
      let rest = tank.gainAtRest(0)
      var frame = 0
      while frame < block.frames {
        row.store(row.vector(frame) * (moves ? tank.gain(0, start &+ frame) : rest), frame)
        frame &+= 16
      }
      bus &+= 1
    }
  }

  /// Brings the input to one bus, through the predelay.
  @inline(__always) @_noLocks private func takeIn(
    _ input: InputPort, _ bus: Int, _ entry: UnsafePointer<Float>?, _ predelay: CrossfadeStream, _ old: Int,
    _ new: Int, _ frames: Int
  ) {
    let (row, line) = (tank.buses + bus &* blockCapacity, tank.lines[bus])
    var frame = 0
    while frame < frames {
      let count = frames &- frame < 16 ? frames &- frame : 16
      var sum = Frames(repeating: 0)
      var channel = input.count == 1 ? 0 : bus
      while channel < input.count {
        sum += input[channel].vector(frame)
        channel &+= 2
      }
      if isWidening, bus == 1 { sum = mixed(input[first], sum, frame) }
      if let entry { sum *= entry.vector(frame) }
      line.write(sum, count, at: head &+ frame, tank.scratch)
      row.store(sum, frame)
      if let blend = predelay.blend {
        let b = blend.vector(frame)
        let before = old == 0 ? sum : line.vector(head &+ frame &- old)
        let after = new == 0 ? sum : line.vector(head &+ frame &- new)
        row.store(before * (1 - b) + after * b, frame)
      } else if new > 0 {
        row.store(line.vector(head &+ frame &- new), frame)
      }
      frame &+= 16
    }
  }

  /// What one channel for all was, and what several are, while it becomes several.
  @inline(never) @_noLocks private func mixed(
    _ one: UnsafePointer<Float>, _ several: Frames, _ frame: Int
  ) -> Frames {
    let share = tank.shares.vector(frame)
    return one.vector(frame) * (1 - share) + several * share
  }

  /// A predelay in frames; less than sixteen are none, as vectors read them.
  @inline(__always) @_noLocks private static func frames(_ seconds: Float, _ rate: Float) -> Int {
    let frames = Int(limited(seconds, 0, 0.5) * rate + 0.5)
    return frames < 16 ? 0 : frames
  }

  /// Finds the lengths of the lines, and asks for what this block reads and writes: with many reverbs it is far away.
  @inline(__always) @_noLocks private func findLines(_ size: CrossfadeStream, _ rate: Float) {
    let new = Self.lengths(size.new, rate)
    tank.lengths.store(new, 0)
    tank.lengths.store(size.blend == nil ? new : Self.lengths(size.old, rate), 16)
    var number = 0
    while number < 16 {
      let line = tank.lines[ReverbTank.firstOfTank &+ number]
      line.fetch(head &- Int(tank.lengths[number]))
      line.fetch(head)
      number &+= 1
    }
  }

  /// Reads a block of every line.
  @inline(__always) @_noLocks private func readLines(_ size: CrossfadeStream, _ block: Block) {
    let (news, olds) = (tank.lengths, tank.lengths + 16)
    var number = 0
    while number < 16 {
      let (line, row) = (tank.lines[ReverbTank.firstOfTank &+ number], tank.row(number))
      let place = head &- Int(news[number])
      number &+= 1
      if size.blend == nil, let whole = line.whole(place) {
        copyWhole(whole, to: row)
        continue
      }
      var frame = 0
      while frame < block.frames {
        var past = line.vector(place &+ frame)
        if let blend = size.blend {
          let b = blend.vector(frame)
          past = line.vector(head &+ frame &- Int(olds[number &- 1])) * (1 - b) + past * b
        }
        row.store(past, frame)
        frame &+= 16
      }
    }
  }

  /// Writes an output: the lines with its signs, and the input.
  @inline(__always) @_noLocks private func giveOut(_ block: Block, _ channel: Int) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let mix = block.parameters[Self.mix]
    let signs = Self.signs(channel)
    // Whole blocks: the frames behind a shorter one are nobody's.
    let zero = Frames(repeating: 0)
    var (s0, s1, s2, s3) = (zero, zero, zero, zero)
    var line = 0
    while line < 16 {
      let row = tank.row(line)
      // A minus turns the sign's bit.
      let sign = SIMD16<UInt32>(repeating: (signs &>> UInt32(truncatingIfNeeded: line)) &<< 31)
      s0 += Self.turned(row.vector(0), sign)
      s1 += Self.turned(row.vector(16), sign)
      s2 += Self.turned(row.vector(32), sign)
      s3 += Self.turned(row.vector(48), sign)
      line &+= 1
    }
    var frame = 0
    while frame < blockCapacity {
      let sum = frame == 0 ? s0 : frame == 16 ? s1 : frame == 32 ? s2 : s3
      var dry = Frames(repeating: 0)
      var source = input.count == 1 ? 0 : channel
      while source < input.count {
        dry += input[source].vector(frame)
        source &+= output.count
      }
      if input.count == 1, output.count == 1 { dry = input[0].vector(frame) }
      if isWidening { dry = mixed(input[first], dry, frame) }
      let m = limited(mix.vector(0, frame) * 0.01, 0, 1)
      output[channel].store(dry * (1 - m) + sum * m + 0, frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private static func turned(_ v: Frames, _ sign: SIMD16<UInt32>) -> Frames {
    unsafeBitCast(unsafeBitCast(v, to: SIMD16<UInt32>.self) ^ sign, to: Frames.self)
  }

  /// Signs of the lines in an output, a bit each: rows of the Hadamard matrix, so that outputs have nothing in common.
  @inline(__always) @_noLocks private static func signs(_ channel: Int) -> UInt32 {
    var signs: UInt32 = 0
    var line = 0
    while line < 16 {
      let common = UInt32(truncatingIfNeeded: line & (channel ^ 6))
      signs |= UInt32(truncatingIfNeeded: common.nonzeroBitCount & 1) &<< UInt32(truncatingIfNeeded: line)
      line &+= 1
    }
    return signs
  }
}

import CVector
import Patch
import Realtime

/// A slow wave that moves parameters.
///
/// Its place is a whole number that wraps, 40 bits a cycle (`Cycles.h`): no error builds up, and any split of the frames
/// gives the same bits. Random values are hashes of the cycle's number, by the node's seed.
///
/// A rate in notes is in phase with the transport while that rolls: the place glides to where cycles begin with the notes,
/// counted from bar 1. A channel that was reset goes its own way until the rate is set again.
public struct Lfo: Kernel {
  public static let description = KindDescription(
    name: "lfo", summary: "A slow wave that moves parameters of other nodes.", category: .modulation,
    inputs: [
      PortDescription(
        "reset", .parameter("channels"), "Opening it begins a cycle, of each channel by itself.", role: .gate)
    ],
    outputs: [
      PortDescription(
        "out", .parameter("channels"), "From -1 to 1 (bipolar) or from 0 to 1 (unipolar), as `range` says.",
        swing: .choice("range"))
    ],
    parameters: [
      .choice(
        "shape",
        "The wave. Saws go up or down; `random` takes a new value in each cycle (sample and hold). `wander` glides to a new random value during each cycle.",
        ["sine", "triangle", "up", "down", "square", "random", "wander"]),
      rateDescription,
      .number(
        "phase", "How far it is ahead; 100 % is a cycle.", default: 0, range: -100...100, unit: .percent),
      .percent("width", "Part of the cycle in which a square is high.", default: 50),
      .choice("range", "Bipolar: from -1 to 1. Unipolar: from 0 to 1.", ["bipolar", "unipolar"]),
      .percent(
        "spread", "How far channels are apart in the cycle; 100 %: two go against each other.", default: 0),
      .count(
        "channels",
        "How many waves, one a channel; at least one for each channel of cables into `reset` and `rate`.",
        default: 1, smoothing: .kernel),
    ], face: .level, amplification: .never, cost: .init(8, perChannel: 12))

  private static var rateDescription: ParameterDescription {
    var rate = ParameterDescription.frequency(
      "rate",
      "Cycles a second; backwards where a cable brings it below zero. A note is in phase with the transport's. A list gives one a channel.",
      default: 1, range: 0...1000, isPerChannel: true)
    rate.isInPhase = true
    return rate
  }

  /// Positions in `description.parameters`.
  public static var shape: Int { @_noLocks get { 0 } }
  public static var rate: Int { @_noLocks get { 1 } }
  public static var phase: Int { @_noLocks get { 2 } }
  public static var width: Int { @_noLocks get { 3 } }
  public static var range: Int { @_noLocks get { 4 } }
  public static var spread: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  private let seed: UInt64
  private var hasBegun = false
  /// The transport may lead a channel.
  private var isLed = false
  /// A rate at rest and the sample rate, and the parts of a frame with them.
  private var known = SIMD2<Float>(repeating: .nan)
  private var knownStep: Int64 = 0

  /// Parts of a cycle.
  private static var parts: Double { @inline(__always) @_noLocks get { 1_099_511_627_776 } }
  /// Added to a double, it leaves the nearest whole number in the low bits.
  private static var rounding: Double { @inline(__always) @_noLocks get { 6_755_399_441_055_744 } }

  /// State of a channel. Its memory begins with zeros.
  private struct Voice: BitwiseCopyable {
    /// Place of the next frame, in parts of a cycle.
    var place: Int64
    /// Parts of a frame by which the place glides towards the transport's.
    var lean: Int64
    /// Length of a cycle in whole notes; 0: the rate is in hertz.
    var cycle: Double
    /// Random values of the cycle in which they were needed last, and of the next one.
    var number: UInt32
    var value, next: Float
    var isKnown: Bool
    /// The input was open.
    var wasOpen: Bool
    /// It was reset, so that the transport does not lead it.
    var isFree: Bool
  }

  private var voices: UnsafeMutablePointer<Voice>
  private var count: Int

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    configuration.outputs[0] * MemoryLayout<Voice>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    seed = configuration.seed
    count = configuration.outputs[0]
    voices = memory.assumingMemoryBound(to: Voice.self)
  }

  /// A new channel goes with the first one, until something tells it apart.
  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    let new = memory.assumingMemoryBound(to: Voice.self)
    let cycle = voices[count &- 1].cycle
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new[channel] = voices[from >= 0 ? from : 0]
      if from != channel { new[channel].isKnown = false }
      if from < 0 { (new[channel].cycle, new[channel].wasOpen) = (cycle, false) }
      channel &+= 1
    }
    (voices, count) = (new, wide)
  }

  /// The lengths of notes come in order: each holds for the channels behind it too.
  @_noLocks public mutating func set(_ parameter: Int, element: Int, to value: Float, over frames: Int) {
    guard parameter == Self.rate else { return }
    isLed = true
    var channel = element
    while channel < count {
      (voices[channel].cycle, voices[channel].isFree) = (Double(value), false)
      channel &+= 1
    }
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    if isLed, block.time & 63 == 0 || !hasBegun { follow(block) }
    hasBegun = true
    let (shape, range) = (block.crossfades[Self.shape], block.crossfades[Self.range])
    let (ahead, width) = (block.parameters[Self.phase], block.parameters[Self.width])
    let (rate, spread) = (block.parameters[Self.rate], block.parameters[Self.spread])
    guard shape.blend == nil, range.blend == nil, ahead.isSteady, width.isSteady, spread.isSteady
    else { return move(block) }
    // Random values mostly stay for many blocks.
    if shape.new < 5 || !rate.isSteady {
      run(block)
    } else if shape.new > 5 {
      glide(block)
    } else {
      hold(block)
    }
    return .sounding
  }

  /// How far a channel is ahead, in parts of a cycle.
  @inline(__always) @_noLocks private static func ahead(_ percent: Float, _ spread: Float, _ channel: Int)
    -> Int64
  {
    let cycles =
      limited(percent * 0.01, -1000, 1000) + limited(spread, 0, 100) * (Sweep.part(channel) * 0.01)
    return whole(Double(cycles) * parts)
  }

  /// Waves of which no more than the rate moves.
  @inline(never) @_noLocks private mutating func run(_ block: Block) {
    let (shape, range) = (block.crossfades[Self.shape].new, block.crossfades[Self.range].new)
    let (ahead, spread) = (block.parameters[Self.phase].value(0), block.parameters[Self.spread].value(0))
    var row = Row(block)
    let (scale, offset) = (1 - 0.5 * range, 0.5 * range)
    let high = block.parameters[Self.width].value(0) * 0.01
    let output = block.outputs[0]
    let isRandom = shape >= 5
    var channel = 0
    while channel < count {
      let (rises, more) = (rises(channel, block), Self.ahead(ahead, spread, channel))
      // Several channels share the places that are written.
      let step = isRandom || rises != 0 || count > 1 ? nil : restingStep(channel, block)
      if step == nil { write(&row, channel, block, rises) }
      let wave = Wave(
        places: row.places, step: step, more: step == nil ? more : voices[channel].place &+ more, high: high,
        scale: scale, offset: offset, to: output[channel])
      if let step { voices[channel].place &+= step &* Int64(truncatingIfNeeded: block.frames) }
      if shape == 0 {
        wave.write(0, block.frames)
      } else if shape == 1 {
        wave.write(1, block.frames)
      } else if shape == 2 {
        wave.write(2, block.frames)
      } else if shape == 3 {
        wave.write(3, block.frames)
      } else if shape == 4 {
        wave.write(4, block.frames)
      } else {
        vary(wave, channel, isSmooth: shape > 5, block.frames)
      }
      channel &+= 1
    }
  }

  /// The same while more than the rate moves.
  @inline(never) @_noLocks private mutating func move(_ block: Block) -> Activity {
    var row = Row(block)
    let places = row.places
    let (shape, range) = (block.crossfades[Self.shape], block.crossfades[Self.range])
    let (ahead, width) = (block.parameters[Self.phase], block.parameters[Self.width])
    let (spread, output) = (block.parameters[Self.spread], block.outputs[0])
    var channel = 0
    while channel < count {
      write(&row, channel, block, rises(channel, block))
      let (to, part) = (output[channel], Sweep.part(channel) * 0.01)
      var frame = 0
      while frame < block.frames {
        // Within what `sostenuto_moved_on` rounds exactly.
        let cycles =
          limited(ahead.vector(0, frame) * 0.01, -1000, 1000)
          + limited(spread.vector(0, frame), 0, 100) * part
        let high = width.vector(0, frame) * 0.01
        var y = wave(shape.new, places + frame, cycles, high, channel)
        if let blend = shape.blend {
          let share = blend.vector(frame)
          y = wave(shape.old, places + frame, cycles, high, channel) * (1 - share) + y * share
        }
        var share = Frames(repeating: range.new)
        if let blend = range.blend {
          share = blend.vector(frame) * range.new + (1 - blend.vector(frame)) * range.old
        }
        to.store(y * (1 - 0.5 * share) + 0.5 * share, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    return .sounding
  }

  // MARK: Places

  /// Seconds in which a distance from the transport's place becomes a third.
  private static var glide: Double { @inline(__always) @_noLocks get { 0.1 } }

  /// Finds how fast the places have to glide to be the transport's. At the beginning they are there at once.
  @inline(never) @_noLocks private mutating func follow(_ block: Block) {
    isLed = false
    var channel = 0
    while channel < count {
      let voice = voices + channel
      voice.pointee.lean = 0
      if voice.pointee.cycle > 0, !voice.pointee.isFree {
        isLed = true
        lead(voice, block)
      }
      channel &+= 1
    }
  }

  @inline(__always) @_noLocks private func lead(_ voice: UnsafeMutablePointer<Voice>, _ block: Block) {
    guard let transport = block.transport?.pointee, transport.isRolling else { return }
    let cycles = transport.quarters(at: block.time) / (4 * voice.pointee.cycle)
    let wanted = Self.whole((cycles - Transport.floor(cycles)) * Self.parts)
    // The nearest such place, whatever the cycle's number.
    let distance = ((wanted &- voice.pointee.place) &<< 24) &>> 24
    if hasBegun {
      voice.pointee.lean = Self.whole(Double(distance) / (Self.glide * Double(block.rate)))
    } else {
      voice.pointee.place &+= distance
    }
  }

  /// The frames in which a channel is reset.
  @inline(__always) @_noLocks private func rises(_ channel: Int, _ block: Block) -> UInt64 {
    let voice = voices + channel
    if block.inputs[0].isSilent {
      voice.pointee.wasOpen = false
      return 0
    }
    let open = Gates.open(block.inputs[0], channel, block.frames)
    let rises = Gates.rises(open, voice.pointee.wasOpen)
    voice.pointee.wasOpen = Gates.last(open, block.frames)
    return rises
  }

  /// The places of a block's frames, which channels share as long as nothing tells them apart.
  private struct Row {
    let places: UnsafeMutablePointer<Int64>
    var isKnown = false
    /// Where they begin and end, and how they lean.
    var start: Int64 = 0
    var end: Int64 = 0
    var lean: Int64 = 0

    @inline(__always) @_noLocks init(_ block: Block) {
      places = block.scratch.assumingMemoryBound(to: Int64.self)
    }
  }

  /// Writes the places of a channel, and advances it. `rises`: the frames in which it is reset.
  @inline(__always) @_noLocks private mutating func write(
    _ row: inout Row, _ channel: Int, _ block: Block, _ rises: UInt64
  ) {
    let voice = voices + channel
    if !row.isKnown || row.start != voice.pointee.place || row.lean != voice.pointee.lean
      || block.parameters[Self.rate].elements > 1
    {
      (row.isKnown, row.start, row.lean) = (true, voice.pointee.place, voice.pointee.lean)
      row.end = write(row, channel, block)
    }
    voice.pointee.place = row.end
    if rises != 0 {
      row.isKnown = false
      begin(channel, row.places, rises, block)
    }
  }

  /// Lets a channel begin a new cycle in some frames.
  @inline(never) @_noLocks private func begin(
    _ channel: Int, _ places: UnsafeMutablePointer<Int64>, _ rises: UInt64, _ block: Block
  ) {
    let voice = voices + channel
    var rises = rises
    while rises != 0 {
      var frame = rises.trailingZeroBitCount
      rises &= rises &- 1
      // What is left of the cycle: random values are those of the next one. From here on nothing leans.
      var left = (0 &- places[frame]) & 0xFF_FFFF_FFFF
      // Where the phase is ahead, the next one may have begun before.
      let here = places[frame] &+ ahead(channel, frame, block)
      if left > 0, (here &+ left) &>> 40 == here &>> 40 { left &+= 1 &<< 40 }
      while frame < block.frames {
        places[frame] &+= left
        left &-= voice.pointee.lean
        frame &+= 1
      }
      voice.pointee.place &+= left
      (voice.pointee.isFree, voice.pointee.lean) = (true, 0)
    }
  }

  /// How far a channel is ahead in one frame.
  @inline(__always) @_noLocks private func ahead(_ channel: Int, _ frame: Int, _ block: Block) -> Int64 {
    let (phase, spread) = (block.parameters[Self.phase], block.parameters[Self.spread])
    return Self.ahead(
      phase.frames(0)?[frame] ?? phase.value(0), spread.frames(0)?[frame] ?? spread.value(0), channel)
  }

  /// The nearest whole number, below 2^51.
  @inline(__always) @_noLocks private static func whole(_ x: Double) -> Int64 {
    Int64(bitPattern: (x + rounding).bitPattern) &- Int64(bitPattern: rounding.bitPattern)
  }

  /// The parts of a frame; nil: the rate moves.
  @inline(__always) @_noLocks private mutating func restingStep(_ channel: Int, _ block: Block) -> Int64? {
    block.parameters[Self.rate].frames(channel) == nil ? step(channel, block) : nil
  }

  /// The parts of a frame at a rate that stays.
  @inline(__always) @_noLocks private mutating func step(_ channel: Int, _ block: Block) -> Int64 {
    let rate = block.parameters[Self.rate].value(channel)
    if known[0] != rate || known[1] != block.rate {
      let limit = block.rate * 0.5
      let frequency = limited(rate, 0 - limit, limit)
      known = SIMD2(rate, block.rate)
      knownStep = Self.whole(Double(frequency) * (Self.parts / Double(block.rate)))
    }
    return knownStep &+ voices[channel].lean
  }

  /// Writes the places of the block's frames, from the row's start on. Returns its end.
  @inline(__always) @_noLocks private mutating func write(_ row: Row, _ channel: Int, _ block: Block) -> Int64
  {
    if let rates = block.parameters[Self.rate].frames(channel) {
      return write(row, rates, Self.parts / Double(block.rate), block.rate * 0.5, block.frames)
    }
    let step = step(channel, block)
    sostenuto_write_places(
      row.start, step, 0, Int64(truncatingIfNeeded: (block.frames &+ 15) & ~15), row.places)
    return row.start &+ step &* Int64(truncatingIfNeeded: block.frames)
  }

  /// The same for a rate that moves.
  @inline(never) @_noLocks private func write(
    _ row: Row, _ rates: UnsafePointer<Float>, _ scale: Double, _ limit: Float, _ frames: Int
  ) -> Int64 {
    let (places, lean) = (row.places, row.lean)
    var (frame, next) = (0, row.start)
    while frame < frames {
      let here = places + frame
      sostenuto_write_whole_products(limited(rates.vector(frame), 0 - limit, limit), scale, here)
      // As at rest: where a block ends decides when a move that is over counts as rest.
      var lane = lean == 0 ? 16 : 0
      while lane < 16 {
        here[lane] &+= lean
        lane &+= 1
      }
      next = sostenuto_advance(here, next, here)
      frame &+= 16
    }
    return frame == frames ? next : places[frames]
  }

  // MARK: Waves

  /// Writes one channel, whose places are moved on by `more`; with a `step` they go from `more` on by it.
  private struct Wave {
    let places: UnsafeMutablePointer<Int64>
    var step: Int64?
    let more: Int64
    let high, scale, offset: Float
    let to: UnsafeMutablePointer<Float>

    @inline(__always) @_noLocks func write(_ shape: Float, _ frames: Int) {
      let high = Frames(repeating: high)
      var frame = 0
      while frame < frames {
        let parts =
          step.map { sostenuto_parts_from(more &+ $0 &* Int64(truncatingIfNeeded: frame), $0) }
          ?? sostenuto_shifted_parts(places + frame, more)
        let y = Lfo.wave(shape, parts, high)
        to.store(y * scale + offset, frame)
        frame &+= 16
      }
    }
  }

  /// Random values of a rate that stays: mostly all frames are of one cycle.
  @inline(never) @_noLocks private mutating func hold(_ block: Block) {
    var row = Row(block)
    let range = block.crossfades[Self.range].new
    let (scale, offset) = (1 - 0.5 * range, 0.5 * range)
    var channel = 0
    while channel < count {
      if let (_, _, pair) = rest(channel, block) {
        block.outputs[0][channel].fill(pair.value * scale + offset)
      } else {
        turn(&row, channel, block, isSmooth: false)
      }
      channel &+= 1
    }
  }

  /// The same, gliding from each value to the next.
  @inline(never) @_noLocks private mutating func glide(_ block: Block) {
    var row = Row(block)
    let range = block.crossfades[Self.range].new
    let (scale, offset) = (1 - 0.5 * range, 0.5 * range)
    var channel = 0
    while channel < count {
      if let (first, step, pair) = rest(channel, block) {
        let (to, distance) = (block.outputs[0][channel], pair.next - pair.value)
        var frame = 0
        while frame < block.frames {
          let parts = sostenuto_parts_from(first &+ step &* Int64(truncatingIfNeeded: frame), step)
          to.store((pair.value + distance * Self.smooth(Self.done(parts))) * scale + offset, frame)
          frame &+= 16
        }
      } else {
        turn(&row, channel, block, isSmooth: true)
      }
      channel &+= 1
    }
  }

  /// How far a channel is ahead in a block in which that stays.
  @inline(__always) @_noLocks private static func ahead(_ channel: Int, _ block: Block) -> Int64 {
    let (percent, spread) = (block.parameters[phase].value(0), block.parameters[Self.spread].value(0))
    return percent == 0 && spread == 0 ? 0 : ahead(percent, spread, channel)
  }

  /// Advances a channel by a block within one cycle, if it is: the first place, the parts of a frame, and the cycle's values.
  @inline(__always) @_noLocks private mutating func rest(_ channel: Int, _ block: Block) -> (
    first: Int64, step: Int64, pair: (value: Float, next: Float)
  )? {
    guard block.inputs[0].isSilent else { return nil }
    let step = step(channel, block)
    let first = voices[channel].place &+ Self.ahead(channel, block)
    let length = step &* Int64(truncatingIfNeeded: block.frames &- 1)
    guard first &>> 40 == (first &+ length) &>> 40 else { return nil }
    voices[channel].wasOpen = false
    voices[channel].place &+= length &+ step
    return (first, step, pair(UInt32(truncatingIfNeeded: first &>> 40), channel))
  }

  /// A block of a channel in which a cycle may begin.
  @inline(never) @_noLocks private mutating func turn(
    _ row: inout Row, _ channel: Int, _ block: Block, isSmooth: Bool
  ) {
    let range = block.crossfades[Self.range].new
    write(&row, channel, block, rises(channel, block))
    let wave = Wave(
      places: row.places, more: Self.ahead(channel, block), high: 0, scale: 1 - 0.5 * range,
      offset: 0.5 * range, to: block.outputs[0][channel])
    vary(wave, channel, isSmooth: isSmooth, block.frames)
  }

  /// The random value of a channel in a cycle, and the next one, which are calculated once a cycle.
  @inline(__always) @_noLocks private func pair(_ number: UInt32, _ channel: Int) -> (
    value: Float, next: Float
  ) {
    let voice = voices + channel
    if !voice.pointee.isKnown || voice.pointee.number != number { draw(voice, number, channel) }
    return (voice.pointee.value, voice.pointee.next)
  }

  @inline(never) @_noLocks private func draw(
    _ voice: UnsafeMutablePointer<Voice>, _ number: UInt32, _ channel: Int
  ) {
    (voice.pointee.number, voice.pointee.isKnown) = (number, true)
    (voice.pointee.value, voice.pointee.next) = (chance(number, channel), chance(number &+ 1, channel))
  }

  /// Random values of frames of several cycles.
  @inline(never) @_noLocks private func vary(_ wave: Wave, _ channel: Int, isSmooth: Bool, _ frames: Int) {
    var frame = 0
    while frame < frames {
      let places = wave.places + frame
      let numbers = unsafeBitCast(sostenuto_shifted_numbers(places, wave.more), to: SIMD16<UInt32>.self)
      var y = chance(numbers, channel)
      if isSmooth {
        let share = Self.smooth(Self.done(sostenuto_shifted_parts(places, wave.more)))
        y = y + (chance(numbers &+ 1, channel) - y) * share
      }
      wave.to.store(y * wave.scale + wave.offset, frame)
      frame &+= 16
    }
  }

  /// Sixteen frames of a shape, from their places on.
  @inline(__always) @_noLocks private func wave(
    _ shape: Float, _ places: UnsafePointer<Int64>, _ ahead: Frames, _ width: Frames, _ channel: Int
  ) -> Frames {
    let parts = sostenuto_cycle_parts(places, ahead)
    if shape < 5 { return Self.wave(shape, parts, width) }
    let numbers = unsafeBitCast(sostenuto_cycle_numbers(places, ahead), to: SIMD16<UInt32>.self)
    let held = chance(numbers, channel)
    if shape == 5 { return held }
    return held + (chance(numbers &+ 1, channel) - held) * Self.smooth(Self.done(parts))
  }

  /// Sixteen frames of a shape that is not random, from parts of the cycle on.
  @inline(__always) @_noLocks private static func wave(
    _ shape: Float, _ parts: SIMD16<Int32>, _ width: Frames
  ) -> Frames {
    if shape == 0 { return Corners.sine(parts) }
    if shape == 1 {
      // A half of the cycle in quarters: beyond the first one it turns back.
      let x = converted(parts) * (1 / 1_073_741_824)
      let size = magnitude(x)
      return copySign(sostenuto_lesser(size, 2 - size), x)
    }
    let done = done(parts)
    if shape == 2 { return done * 2 - 1 }
    if shape == 3 { return 1 - done * 2 }
    return sostenuto_where_above(width - done, 0, Frames(repeating: 1), Frames(repeating: -1))
  }

  /// Parts of the cycle, 0..<1, in as many bits as are exact.
  @inline(__always) @_noLocks private static func done(_ parts: SIMD16<Int32>) -> Frames {
    let bits = unsafeBitCast(parts, to: SIMD16<UInt32>.self) &>> 8
    return converted(unsafeBitCast(bits, to: SIMD16<Int32>.self)) * (1 / 16_777_216)
  }

  /// A course from 0 to 1 that is level at both ends.
  @inline(__always) @_noLocks private static func smooth(_ done: Frames) -> Frames {
    done * done * done * (done * (done * 6 - 15) + 10)
  }

  /// Random values of -1...1 for numbers of cycles, which wrap with their 24 bits.
  @inline(__always) @_noLocks private func chance(_ numbers: SIMD16<UInt32>, _ channel: Int) -> Frames {
    let (low, high) = salt(channel)
    let hash = Noise.mixed(Noise.mixed((numbers & 0xff_ffff) ^ low) &+ high)
    return converted(unsafeBitCast(hash, to: SIMD16<Int32>.self)) * (1 / 2_147_483_648)
  }

  @inline(__always) @_noLocks private func chance(_ number: UInt32, _ channel: Int) -> Float {
    let (low, high) = salt(channel)
    let hash = Noise.mixed(Noise.mixed((number & 0xff_ffff) ^ low) &+ high)
    return Float(Int32(bitPattern: hash)) * (1 / 2_147_483_648)
  }

  /// Numbers of the node and the channel.
  @inline(__always) @_noLocks private func salt(_ channel: Int) -> (low: UInt32, high: UInt32) {
    (
      UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9,
      UInt32(truncatingIfNeeded: seed &>> 32) ^ UInt32(truncatingIfNeeded: channel &* 0x85eb_ca6b)
    )
  }
}

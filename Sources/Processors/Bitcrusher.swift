import CVector
import Patch
import Realtime

/// Holds sound at a lower rate, in coarse steps of level.
///
/// Without antialiasing it takes the frames that are nearest, as a converter with a clock of this rate would in a machine that
/// runs at the node's rate: where the rates are no multiples, the places of steps jitter. With it a step is at its place
/// between the frames: what is held is interpolated there (`Interpolator`), and the step is rounded by the kernel that rounds
/// those of oscillators (`Corners`), so that only the images of the lower rate are left. That takes `latency` frames.
public struct Bitcrusher: Kernel {
  public static let description = KindDescription(
    name: "bitcrusher", summary: "Holds sound at a lower rate, in coarse steps of level.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .number(
        "bits", "Steps of level: 2 to this power from -1 to 1, beyond which it clips.", default: 8,
        range: 1...20),
      .number("rate", "How often it takes a level.", default: 12_000, range: 20...192_000, unit: .hertz),
      .percent("mix", "How much of it is crushed.", default: 100),
      ParameterDescription(
        "antialias",
        "On: steps lie between frames, without aliases, 12 frames late. Off: they jitter by a frame.",
        form: .toggle, default: .text("on"), smoothing: .structural),
    ], amplification: .never, cost: .init(150, perChannel: 200))

  /// Positions in `description.parameters`.
  public static var bits: Int { @_noLocks get { 0 } }
  public static var rate: Int { @_noLocks get { 1 } }
  public static var mix: Int { @_noLocks get { 2 } }
  public static var antialias: Int { @_noLocks get { 3 } }

  private let isSmooth: Bool
  private var channels: Int
  private var rows: UnsafeMutablePointer<Float>
  /// Phase of the lower rate: it takes a level where this goes over.
  private var phase: UInt32 = .max
  private var resolution = Resolution()
  private var quiet = QuietCell()
  private var quietCells = 0
  private var isAsleep = true

  /// Frames from an input to its step.
  private static var latency: Int { @_noLocks get { 12 } }
  /// Frames before a block that a row of inputs keeps, and frames behind it that a row of corrections has.
  private static var past: Int { @_noLocks get { 16 } }
  /// Floats of a channel: inputs, corrections, and what is held.
  private static var size: Int { @_noLocks get { 2 &* (past &+ blockCapacity) &+ 16 } }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    configuration.inputs[0] * size * 4
  }

  public static func latency(_ configuration: KernelConfiguration) -> Int {
    configuration.value(antialias) > 0.5 ? latency : 0
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    isSmooth = configuration.value(Self.antialias) > 0.5
    channels = configuration.inputs[0]
    rows = memory.assumingMemoryBound(to: Float.self)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    let wide = memory.assumingMemoryBound(to: Float.self)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 { copyMemory(wide + channel &* Self.size, rows + from &* Self.size, Self.size &* 4) }
      channel &+= 1
    }
    (rows, channels) = (wide, inputs)
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietCells = quiet.isQuiet ? quietCells &+ 1 : 0
    // The level that is held lasts until the next is taken.
    guard quietCells > 2 else { return false }
    var channel = 0
    while channel < channels {
      if row(channel).held.pointee != 0 { return false }
      channel &+= 1
    }
    setMemory(rows, 0, channels &* Self.size &* 4)
    isAsleep = true
    return true
  }

  /// Memory of a channel.
  private struct Row {
    let input: UnsafeMutablePointer<Float>
    let corrections: UnsafeMutablePointer<Float>
    let held: UnsafeMutablePointer<Float>
  }

  @inline(__always) @_noLocks private func row(_ channel: Int) -> Row {
    let start = rows + channel &* Self.size
    let corrections = start + (Self.past &+ blockCapacity)
    return Row(
      input: start + Self.past, corrections: corrections, held: corrections + (blockCapacity &+ Self.past))
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    let isHeard = !input.isSilent || !isAsleep
    var taken = Taken(block)
    phase = taken.fill(block, phase, &resolution, parts: isSmooth)
    guard isHeard else { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    let mix = block.parameters[Self.mix]
    var channel = 0
    while channel < channels {
      let (row, from) = (row(channel), input[channel])
      let (wet, to) = (taken.wet, block.outputs[0][channel])
      var dry = from
      if isSmooth {
        copyMemory(row.input, from, block.frames &* 4)
        dry = UnsafePointer(row.input) - Self.latency
        smooth(taken, row, block.frames)
      } else {
        hold(taken, row, from, block.frames)
      }
      var frame = 0
      while frame < block.frames {
        let m = limited(mix.vector(channel, frame) * 0.01, 0, 1)
        to.store(dry.vector(frame) * (1 - m) + wet.vector(frame) * m + 0, frame)
        frame &+= 16
      }
      if isSmooth {
        keepHistory(row.input - Self.past, Self.past, block.frames)
        slide(row.corrections, block.frames)
      }
      channel &+= 1
    }
    return .sounding
  }

  /// Levels of the nearest frames.
  @inline(__always) @_noLocks private func hold(
    _ taken: Taken, _ row: Row, _ from: UnsafePointer<Float>, _ frames: Int
  ) {
    var held = Frames(repeating: row.held.pointee)
    var frame = 0
    while frame < frames {
      let takes = UInt32(truncatingIfNeeded: taken.takes &>> UInt64(truncatingIfNeeded: frame))
      let wet = sostenuto_held(taken.crushed(from.vector(frame), frame), held, takes)
      taken.wet.store(wet, frame)
      held = sostenuto_repeat_last(wet)
      frame &+= 16
    }
    row.held.pointee = taken.wet[frames &- 1]
  }

  /// Levels between the frames, with rounded steps.
  @inline(__always) @_noLocks private func smooth(_ taken: Taken, _ row: Row, _ frames: Int) {
    var held = row.held.pointee
    var place = 0
    var takes = taken.takes
    while takes != 0 {
      let frame = takes.trailingZeroBitCount
      takes &= takes &- 1
      taken.fill(held, &place, to: frame)
      let late = taken.parts[frame]
      let neighbours = UnsafeRawPointer(row.input + (frame &- 8)).loadUnaligned(as: SIMD8<Float>.self)
      let products = Interpolator.weights(Frames(repeating: late)).lowHalf * neighbours
      let four = products.lowHalf + products.highHalf
      let two = four.evenHalf + four.oddHalf
      let level = taken.crushed(Frames(repeating: two[0] + two[1]), at: frame)
      let height = level - held
      held = level
      if height != 0 { round(row.corrections + frame, height, late) }
    }
    taken.fill(held, &place, to: frames)
    row.held.pointee = held
    var frame = 0
    while frame < frames {
      taken.wet.store(taken.wet.vector(frame) + row.corrections.vector(frame), frame)
      frame &+= 16
    }
  }

  /// Adds what a rounded step lacks of one that has been taken already: its middle is eight frames later, less `late`.
  @inline(__always) @_noLocks private func round(
    _ corrections: UnsafeMutablePointer<Float>, _ height: Float, _ late: Float
  ) {
    let places = Frames(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    let distance = places - (8 - late)
    let lack = Corners.step(magnitude(distance) * Corners.perFrame) * (0.5 / Corners.peak)
    // From 0 to 1 about the middle: half, and on the sign's side the rest that is not lacking.
    let rise = copySign(0.5 - lack, distance) + 0.5
    corrections.store(corrections.vector(0) + (rise - 1) * height, 0)
  }

  /// Brings the corrections behind a block to its front.
  @inline(__always) @_noLocks private func slide(_ corrections: UnsafeMutablePointer<Float>, _ frames: Int) {
    let rest = corrections.vector(frames)
    var frame = 0
    while frame < blockCapacity &+ Self.past {
      corrections.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
    corrections.store(rest, 0)
  }
}

/// Size of a step of level, and how many go into one, at a number of bits that stays.
private struct Resolution: BitwiseCopyable {
  private var bits = Float.nan
  private(set) var step: Float = 0
  private(set) var inverse: Float = 0

  @_noLocks init() {}

  @inline(__always) @_noLocks mutating func update(_ bits: Float) {
    if bits == self.bits { return }
    self.bits = bits
    let power = limited(Frames(repeating: bits), 1, 20) - 1
    (inverse, step) = (sostenuto_powers_of_two(power)[0], sostenuto_powers_of_two(0 - power)[0])
  }
}

/// Frames of a block in which levels are taken, the same for all channels.
private struct Taken {
  /// The frames, a bit each, and by which part of a frame the level was taken before.
  private(set) var takes: UInt64 = 0
  let parts: UnsafeMutablePointer<Float>
  /// Size of a step of level in each frame, and how many go into one.
  private let steps, inverses: UnsafeMutablePointer<Float>
  let wet: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ block: Block) {
    var arena = Arena(block.scratch)
    parts = arena.take(Float.self, blockCapacity)
    steps = arena.take(Float.self, blockCapacity)
    inverses = arena.take(Float.self, blockCapacity)
    // With room for a vector that reaches beyond a block.
    wet = arena.take(Float.self, blockCapacity &+ 16)
  }

  /// Finds those frames, and returns the phase behind the block. `parts`: fills these in too, which antialiasing needs.
  @inline(__always) @_noLocks mutating func fill(
    _ block: Block, _ start: UInt32, _ resolution: inout Resolution, parts isSmooth: Bool
  ) -> UInt32 {
    let (bits, rate) = (block.parameters[Bitcrusher.bits], block.parameters[Bitcrusher.rate])
    var frame = 0
    if bits.isSteady {
      resolution.update(bits.value(0))
      inverses.fill(resolution.inverse)
      steps.fill(resolution.step)
      frame = block.frames
    }
    while frame < block.frames {
      let power = limited(bits.vector(0, frame), 1, 20) - 1
      inverses.store(sostenuto_powers_of_two(power), frame)
      steps.store(sostenuto_powers_of_two(0 - power), frame)
      frame &+= 16
    }
    let scale = 4_294_967_296 / Double(block.rate)
    guard rate.isSteady else { return move(block, rate, start, scale) }
    let hertz = limited(rate.value(0), 0.001, block.rate)
    let step = Self.step(hertz, scale)
    let isEvery = hertz >= block.rate
    takes = (isEvery ? .max : sostenuto_wrapped_bits(start, step)) & Gates.all(block.frames)
    var left = isSmooth ? takes : 0
    while left != 0 {
      let frame = left.trailingZeroBitCount
      left &= left &- 1
      let next = start &+ step &* UInt32(truncatingIfNeeded: frame &+ 1)
      parts[frame] = isEvery ? 0 : limited(Float(next) / Float(step), 0, 1)
    }
    return start &+ step &* UInt32(truncatingIfNeeded: block.frames)
  }

  /// The same for a rate that moves.
  @inline(never) @_noLocks private mutating func move(
    _ block: Block, _ rate: ParameterStream, _ start: UInt32, _ scale: Double
  ) -> UInt32 {
    var phase = start
    var frame = 0
    while frame < block.frames {
      let hertz = limited(rate.value(0, at: frame), 0.001, block.rate)
      let step = Self.step(hertz, scale)
      let next = phase &+ step
      if next < phase || hertz >= block.rate {
        takes |= 1 &<< UInt64(truncatingIfNeeded: frame)
        parts[frame] = hertz >= block.rate ? 0 : limited(Float(next) / Float(step), 0, 1)
      }
      phase = next
      frame &+= 1
    }
    return phase
  }

  /// Phase increment of a frame.
  @inline(__always) @_noLocks private static func step(_ hertz: Float, _ scale: Double) -> UInt32 {
    let wanted = Double(hertz) * scale + 0.5
    return wanted < 4_294_967_295 ? UInt32(truncatingIfNeeded: Int64(wanted)) : .max
  }

  /// Holds a level up to a frame. Whole vectors are written: what lies behind is written next.
  @inline(__always) @_noLocks func fill(_ level: Float, _ place: inout Int, to end: Int) {
    let all = Frames(repeating: level)
    while place < end {
      wet.store(all, place)
      place &+= 16
    }
    place = end
  }

  @inline(__always) @_noLocks private static func crushed(_ x: Frames, _ step: Frames, _ inverse: Frames)
    -> Frames
  {
    // Adding a large number rounds to a whole one.
    let whole = (limited(x, -1, 1) * inverse + 12_582_912) - 12_582_912
    return whole * step
  }

  @inline(__always) @_noLocks func crushed(_ x: Frames, _ frame: Int) -> Frames {
    Self.crushed(x, steps.vector(frame), inverses.vector(frame))
  }

  @inline(__always) @_noLocks func crushed(_ x: Frames, at frame: Int) -> Float {
    Self.crushed(x, Frames(repeating: steps[frame]), Frames(repeating: inverses[frame]))[0]
  }
}

import Patch
import Realtime

/// Multiplies sound with a carrier.
///
/// The carrier is what is connected to `carrier`; without a cable there it is a sine of the kernel's own, as a
/// plug in a jack takes an internal oscillator's place. While the engine fades such a cable in or out, the
/// sine fades the other way. The sine's phase goes on while the input is silent.
public struct Ringmod: Kernel {
  public static let description = KindDescription(
    name: "ringmod", summary: "A ring modulator: multiplies sound with a sine, or with another sound.",
    category: .effect,
    inputs: [
      PortDescription("in", .flexible),
      PortDescription(
        "carrier", .flexible, "Takes the sine's place; its channels repeat where `in` has more.",
        role: .sidechain),
    ],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .frequency("freq", "Frequency of the sine.", default: 440, range: 0.1...20_000),
      .percent("mix", "How much of it is multiplied.", default: 100),
    ], cost: .init(40, perChannel: 4))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var mix: Int { @_noLocks get { 1 } }

  // Fields that most blocks need stand first.
  /// The carrier's place while nothing is connected there.
  private var own = Normalled()
  /// Phase of the sine; 2^32 is a whole cycle.
  private var phase: Int32 = 0
  /// The frequency and the rate that `step` is for.
  private var known = SIMD2<Float>(repeating: .nan)
  /// Phase increment of a frame.
  private var step: Int32 = 0
  /// Engine time that the phase has come to; negative: it stays where it is.
  private var reached: Int64 = -1
  // Memory for work within a block.
  private var moving: MovingPhases
  private var sine: UnsafeMutablePointer<Float>
  private var shares: UnsafeMutablePointer<Float>
  private var both: UnsafeMutablePointer<Float>

  public static var worksInPlace: Bool { true }
  public static var isAffine: Bool { true }
  public static var factorInput: Int? { 1 }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int { 5 * blockCapacity * 4 }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    moving = MovingPhases(&arena)
    sine = arena.take(Float.self, blockCapacity)
    shares = arena.take(Float.self, blockCapacity)
    both = arena.take(Float.self, blockCapacity)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    var arena = Arena(memory)
    moving = MovingPhases(&arena)
    sine = arena.take(Float.self, blockCapacity)
    shares = arena.take(Float.self, blockCapacity)
    both = arena.take(Float.self, blockCapacity)
  }

  /// The carrier makes the factor. What is not run here goes on with the sine's phase later.
  @_noLocks public mutating func affine(_ block: Block, _ channels: UnsafeMutablePointer<Affine>) -> Bool {
    let (freq, mix) = (block.parameters[Self.freq], block.parameters[Self.mix])
    let output = block.outputs[0]
    guard own.isReplaced, block.inputs[1].isConnected, block.inputs[0].count >= output.count,
      mix.elements == 1,
      known[0] == freq.values.pointee, known[1] == block.rate
    else { return false }
    let wet = limited(mix.values.pointee * 0.01, 0, 1)
    var channel = 0
    while channel < output.count {
      channels[channel] = Affine(factor: wet, addend: 1 - wet)
      channel &+= 1
    }
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    if reached != block.time { goOn(to: block.time) }
    reached = block.time &+ Int64(truncatingIfNeeded: block.frames)
    let (input, carrier) = (block.inputs[0], block.inputs[1])
    let (freq, mix) = (block.parameters[Self.freq], block.parameters[Self.mix])
    guard own.isReplaced, carrier.isConnected, !input.isSilent, mix.isSteady, mix.elements == 1,
      freq.isSteady, known[0] == freq.values.pointee, known[1] == block.rate
    else { return processAny(block) }
    phase &+= step &* Int32(truncatingIfNeeded: block.frames)
    multiplyAtRest(input, carrier, mix.values.pointee, block.outputs[0])
    return .sounding
  }

  /// Brings the phase over blocks in which the kernel was not run.
  @inline(never) @_noLocks private mutating func goOn(to time: Int64) {
    if reached >= 0 { phase &+= step &* Int32(truncatingIfNeeded: time &- reached) }
  }

  /// The same where the sine is heard, or something moves.
  @inline(never) @_noLocks private mutating func processAny(_ block: Block) -> Activity {
    let input = block.inputs[0]
    let carrier = block.inputs[1]
    own.follow(carrier.isConnected, block.rate)
    let hasSine = own.isHeard
    advance(block, makes: hasSine && !input.isSilent)
    let fades = own.isMoving
    if fades { own.fill(shares, frames: block.frames) }
    guard !input.isSilent else { return .silent }
    let mix = block.parameters[Self.mix]
    if !fades, mix.isSteady, mix.elements == 1 {
      multiplyAtRest(input, hasSine ? nil : carrier, mix.value(0), block.outputs[0])
    } else {
      multiply(block, carrier, fades: fades, hasSine: hasSine)
    }
    return .sounding
  }

  /// Multiplies a whole block with the carrier, or with the sine, where the mix is at rest.
  @inline(__always) @_noLocks private func multiplyAtRest(
    _ input: InputPort, _ carrier: InputPort?, _ percent: Float, _ output: OutputPort
  ) {
    let channels = output.count < input.count ? output.count : input.count
    let wet = limited(percent * 0.01, 0, 1)
    let dry = 1 - wet
    var channel = 0
    var other = 0
    while channel < channels {
      let (from, to) = (input[channel], output[channel])
      var factors = UnsafePointer(sine)
      if let carrier {
        factors = carrier[other]
        other = other &+ 1 < carrier.count ? other &+ 1 : 0
      }
      if percent >= 100 {
        multiplyWhole(from, factors, to: to)
      } else {
        let (a, b, c, d) = (from.vector(0), from.vector(16), from.vector(32), from.vector(48))
        let (e, f, g, h) = (factors.vector(0), factors.vector(16), factors.vector(32), factors.vector(48))
        to.store(a * (dry + e * wet) + 0, 0)
        to.store(b * (dry + f * wet) + 0, 16)
        to.store(c * (dry + g * wet) + 0, 32)
        to.store(d * (dry + h * wet) + 0, 48)
      }
      channel &+= 1
    }
  }

  /// The same of a partial block, or where the mix or the carrier's share moves.
  @inline(never) @_noLocks private mutating func multiply(
    _ block: Block, _ carrier: InputPort, fades: Bool, hasSine: Bool
  ) {
    let (input, output) = (block.inputs[0], block.outputs[0])
    let channels = output.count < input.count ? output.count : input.count
    var channel = 0
    var other = 0
    while channel < channels {
      var factors = UnsafePointer(sine)
      if fades {
        add(carrier, other, block.frames)
        factors = UnsafePointer(both)
      } else if !hasSine {
        factors = carrier[other]
      }
      multiply(block, channel, input[channel], factors, output[channel])
      channel &+= 1
      other = other &+ 1 < carrier.count ? other &+ 1 : 0
    }
  }

  /// The fading sine and what is connected.
  @_noLocks private mutating func add(_ carrier: InputPort, _ channel: Int, _ frames: Int) {
    var frame = 0
    while frame < frames {
      var c = sine.vector(frame) * shares.vector(frame)
      if carrier.isConnected { c += carrier[channel].vector(frame) }
      both.store(c, frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private mutating func multiply(
    _ block: Block, _ channel: Int, _ from: UnsafePointer<Float>, _ factors: UnsafePointer<Float>,
    _ to: UnsafeMutablePointer<Float>
  ) {
    let mix = block.parameters[Self.mix]
    var frame = 0
    if mix.isSteady, mix.value(channel) >= 100 {
      while frame < block.frames {
        to.store(from.vector(frame) * factors.vector(frame) + 0, frame)
        frame &+= 16
      }
    } else {
      while frame < block.frames {
        let m = limited(mix.vector(channel, frame) * 0.01, 0, 1)
        to.store(from.vector(frame) * (1 - m + factors.vector(frame) * m) + 0, frame)
        frame &+= 16
      }
    }
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    own.stretch(by: new / old)
    reached = -1
  }

  @_noLocks public mutating func isFinished() -> Bool {
    reached = -1
    return !own.isMoving
  }

  /// Advances the phase by the block, and writes the sine if that is asked for.
  @inline(__always) @_noLocks private mutating func advance(_ block: Block, makes: Bool) {
    let freq = block.parameters[Self.freq]
    guard !makes, freq.isSteady, known[0] == freq.values.pointee, known[1] == block.rate else {
      return advanceAny(block, makes: makes)
    }
    phase &+= step &* Int32(truncatingIfNeeded: block.frames)
  }

  @inline(never) @_noLocks private mutating func advanceAny(_ block: Block, makes: Bool) {
    let freq = block.parameters[Self.freq]
    let scale = 4_294_967_296 / Double(block.rate)
    // Just below half a cycle.
    let limit = block.rate * 0.499_999
    if let frequencies = freq.frames(0) {
      let (end, _) = moving.fill(frequencies, scale, limit: limit, block.frames)
      if makes { Wave(moving, from: phase, largest: 1).make(0, WaveLevel(), sine, block.frames) }
      phase &+= end
    } else {
      step = MovingPhases.step(freq.value(0), scale, limit: limit)
      known = SIMD2(freq.value(0), block.rate)
      if makes { Wave(from: phase, step: step, size: 1).make(0, WaveLevel(), sine, block.frames) }
      phase &+= step &* Int32(truncatingIfNeeded: block.frames)
    }
  }
}

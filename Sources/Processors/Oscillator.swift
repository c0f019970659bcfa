import Patch
import Realtime

/// Periodic waves. Phases are 32-bit fractions of a cycle that wrap exactly, so no rounding error builds up,
/// and any split of the frames gives the same bits.
///
/// A frequency above half the sample rate would alias, so the oscillator is silent there. It fades over the
/// last sixteenth below that limit. A negative frequency runs the wave backwards.
public struct Oscillator: Kernel {
  public static let description = KindDescription(
    name: "oscillator", summary: "Sine, and band-limited saw, square and triangle.", category: .source,
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .choice("shape", "The wave.", ["sine", "saw", "square", "triangle"]),
      .frequency(
        "freq",
        "Frequency; a list gives one a channel. Backwards where modulated below zero; silent above half the rate.",
        default: 440, range: 0...24_000, isPerChannel: true),
      .gain("level", "Its peak.", default: -12, isPerChannel: true),
      .count(
        "channels",
        "How many oscillators, one a channel; at least one for each channel of cables into parameters.",
        default: 1, smoothing: .kernel),
    ], amplification: .byModulation(of: ["level"]), cost: .init(8, perChannel: 28))

  /// Positions in `description.parameters`.
  public static var shape: Int { @_noLocks get { 0 } }
  public static var freq: Int { @_noLocks get { 1 } }
  public static var level: Int { @_noLocks get { 2 } }
  public static var channels: Int { @_noLocks get { 3 } }

  fileprivate struct Voice: BitwiseCopyable {
    var phase: Int32 = 0
    var step: Int32 = 0
    /// The frequency at rest that `step` and `size` are for.
    var frequency = Float.nan
    var size: Float = 0

    @inline(__always) @_noLocks init(phase: Int32 = 0, step: Int32 = 0) {
      self.phase = phase
      self.step = step
    }

    /// Follows a frequency at rest.
    @inline(__always) @_noLocks mutating func rest(at new: Float, _ rate: Float) {
      guard new != frequency else { return }
      let scale = MovingPhases.scale(rate)
      frequency = new
      step = MovingPhases.step(new, scale)
      size = MovingPhases.size(new, scale)
    }
  }

  private var memory: OscillatorMemory
  private var count: Int
  private var nextTime: Int64 = -1
  /// The sample rate that the voices know.
  private var rate: Float = 0
  private var isMute = false

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { OscillatorMemory(configuration.outputs[0], &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    var arena = Arena(memory)
    self.memory = OscillatorMemory(count, &arena)
    for channel in 0..<count { states[channel] = Voice() }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = OscillatorMemory(wide, &arena)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new.states[channel] = from >= 0 ? states[from] : Voice()
      channel &+= 1
    }
    self.memory = new
    count = wide
  }

  private var states: UnsafeMutablePointer<Voice> { @inline(__always) @_noLocks get { memory.states } }
  private var moving: MovingPhases { @inline(__always) @_noLocks get { memory.moving } }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    catchUp(to: block.time)
    nextTime = block.time &+ Int64(block.frames)
    let freq = block.parameters[Self.freq]
    let level = block.parameters[Self.level]
    let shape = block.crossfades[Self.shape]
    if rate != block.rate { forget(block.rate) }
    isMute = level.isZero(block)
    guard count == 1, freq.isSteady, shape.blend == nil else { return processAny(block) }
    states.pointee.rest(at: freq.values.pointee, rate)
    let voice = states.pointee
    guard voice.size <= MovingPhases.highest else { return processAny(block) }
    states.pointee.phase = voice.phase &+ voice.step &* Int32(truncatingIfNeeded: block.frames)
    guard !isMute else { return .silent }
    Wave(from: voice.phase, step: voice.step, size: voice.size)
      .make(shape.new, WaveLevel(level, 0), block.outputs[0][0], block.frames)
    return .sounding
  }

  /// Several channels, or something moves.
  @inline(never) @_noLocks private mutating func processAny(_ block: Block) -> Activity {
    let freq = block.parameters[Self.freq]
    let level = block.parameters[Self.level]
    let shape = block.crossfades[Self.shape]
    let output = block.outputs[0]
    var (end, largest): (Int32, Float) = (0, 0)
    var channel = 0
    while channel < count {
      let voice = states + channel
      let to = output[channel]
      if let frequencies = freq.frames(channel) {
        // Channels that share their frequency share the increments.
        if channel == 0 || freq.elements > 1 {
          (end, largest) = moving.fill(frequencies, MovingPhases.scale(rate), block.frames)
        }
        if !isMute {
          let wave = Wave(moving, from: voice.pointee.phase, largest: largest)
          if largest <= MovingPhases.highest {
            make(wave, shape, level, channel, to, block.frames)
          } else {
            makeFading(wave, shape, level, channel, to, block.frames, moving.sizes)
          }
        }
        voice.pointee = Voice(
          phase: voice.pointee.phase &+ end,
          step: MovingPhases.step(frequencies[block.frames &- 1], MovingPhases.scale(rate)))
      } else {
        voice.pointee.rest(at: freq.value(channel), rate)
        let (phase, step, size) = (voice.pointee.phase, voice.pointee.step, voice.pointee.size)
        voice.pointee.phase = phase &+ step &* Int32(truncatingIfNeeded: block.frames)
        if !isMute {
          let wave = Wave(from: phase, step: step, size: size)
          if size <= MovingPhases.highest {
            make(wave, shape, level, channel, to, block.frames)
          } else {
            // Same computation as for a moving frequency, to the bit.
            var frame = 0
            while frame < block.frames {
              moving.sizes.store(Frames(repeating: size), frame)
              frame &+= 16
            }
            makeFading(wave, shape, level, channel, to, block.frames, moving.sizes)
          }
        }
      }
      channel &+= 1
    }
    return isMute ? .silent : .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { isMute }

  /// Lets the voices calculate their increments anew.
  @inline(never) @_noLocks private mutating func forget(_ rate: Float) {
    self.rate = rate
    var channel = 0
    while channel < count {
      states[channel].frequency = .nan
      channel &+= 1
    }
  }

  /// One channel, with the crossfade between shapes.
  @inline(__always) @_noLocks private mutating func make(
    _ wave: Wave, _ shape: CrossfadeStream, _ level: ParameterStream, _ channel: Int,
    _ to: UnsafeMutablePointer<Float>, _ frames: Int
  ) {
    if shape.blend == nil {
      // A voice that is not heard costs nothing.
      if level.isSteady, level.value(channel) == 0 { return clear(to) }
      wave.make(shape.new, WaveLevel(level, channel), to, frames)
    } else {
      makeFading(wave, shape, level, channel, to, frames, nil)
    }
  }

  @inline(__always) @_noLocks private func clear(_ to: UnsafeMutablePointer<Float>) {
    var frame = 0
    while frame < blockCapacity {
      to.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
  }

  /// One channel while the shape changes, or near half the sample rate: there with the magnitudes of the increments.
  @inline(never) @_noLocks private mutating func makeFading(
    _ wave: Wave, _ shape: CrossfadeStream, _ level: ParameterStream, _ channel: Int,
    _ to: UnsafeMutablePointer<Float>, _ frames: Int, _ sizes: UnsafeMutablePointer<Float>?
  ) {
    wave.make(shape.new, WaveLevel(), to, frames)
    if shape.blend != nil { wave.make(shape.old, WaveLevel(), memory.other, frames) }
    var frame = 0
    while frame < frames {
      var y = to.vector(frame)
      if let blend = shape.blend {
        let b = blend.vector(frame)
        y = memory.other.vector(frame) * (1 - b) + y * b
      }
      if let sizes { y = y * MovingPhases.fade(sizes.vector(frame)) }
      to.store(y * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }

  /// Advances the phases by the time that the renderer skipped a mute oscillator.
  @inline(__always) @_noLocks private mutating func catchUp(to time: Int64) {
    guard nextTime >= 0, time > nextTime else { return }
    let gap = Int32(truncatingIfNeeded: time &- nextTime)
    var channel = 0
    while channel < count {
      states[channel].phase &+= states[channel].step &* gap
      channel &+= 1
    }
  }
}

/// Memory of an oscillator.
private struct OscillatorMemory: BitwiseCopyable {
  /// Phases of one channel in this block, for a moving frequency.
  let moving: MovingPhases
  let other: UnsafeMutablePointer<Float>
  let states: UnsafeMutablePointer<Oscillator.Voice>

  @_noLocks init(_ count: Int, _ arena: inout Arena) {
    moving = MovingPhases(&arena)
    other = arena.take(Float.self, blockCapacity)
    states = arena.reserve(count &* MemoryLayout<Oscillator.Voice>.stride)
      .assumingMemoryBound(to: Oscillator.Voice.self)
  }
}

import CVector
import Patch
import Realtime

/// Up to sixteen saws near one frequency, band-limited as those of the oscillator.
///
/// Each channel has phases of its own, so that two of them are as wide as two such synthesizers. The saws' places beside
/// the frequency are fixed and irregular (those of an even comb would beat together), so that a saw stays where it is when
/// others come.
public struct Supersaw: Kernel {
  public static let description = KindDescription(
    name: "supersaw", summary: "Many detuned saws at once, with phases of their own on each channel.",
    category: .source, outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .frequency(
        "freq", "Frequency of the first saw; a list gives one a channel.", default: 220, range: 0...24_000,
        isPerChannel: true),
      .number(
        "detune", "How far the outermost saws are from the first.", default: 20, range: 0...1200,
        unit: .cents,
        isPerChannel: true),
      .count("voices", "How many saws.", default: 7, range: 1...16, smoothing: .crossfade),
      .percent("mix", "Level of the other saws beside that of the first.", default: 100),
      .gain("level", "Loudness: that of one saw with this peak.", default: -12, isPerChannel: true),
      .count(
        "channels", "How many channels; at least one for each channel of cables into parameters.", default: 2,
        smoothing: .kernel),
    ], amplification: .byModulation(of: ["mix", "level"]), cost: .init(20, perChannel: 250))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var detune: Int { @_noLocks get { 1 } }
  public static var voices: Int { @_noLocks get { 2 } }
  public static var mix: Int { @_noLocks get { 3 } }
  public static var level: Int { @_noLocks get { 4 } }
  public static var channels: Int { @_noLocks get { 5 } }

  /// Places of the saws, in parts of `detune`.
  static var places: Frames {
    @_noLocks get {
      Frames(0, 1, -1, 0.53, -0.56, 0.27, -0.24, 0.79, -0.76, 0.41, -0.38, 0.14, -0.12, 0.66, -0.68, 0.89)
    }
  }

  private var count: Int
  private let seed: UInt64
  private var memory: SupersawMemory
  private var mute = QuietCell()

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { SupersawMemory(&$0, configuration.outputs[0]) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    seed = configuration.seed
    var arena = Arena(memory)
    self.memory = SupersawMemory(&arena, count)
    self.memory.prepare(count, seed: seed)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = SupersawMemory(&arena, wide)
    new.prepare(wide, seed: seed)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      if from >= 0 { copyMemory(new.phases + 16 &* channel, self.memory.phases + 16 &* from, 64) }
      channel &+= 1
    }
    (self.memory, count) = (new, wide)
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let isMute = block.parameters[Self.level].isZero(block)
    mute.update(block, silent: isMute)
    var room = Arena(block.scratch)
    let work = SupersawWork(&room)
    var channel = 0
    while channel < count {
      process(block, channel, isMute, work)
      channel &+= 1
    }
    return isMute ? .silent : .sounding
  }

  @inline(__always) @_noLocks private func process(
    _ block: Block, _ channel: Int, _ isMute: Bool, _ work: SupersawWork
  ) {
    let (freq, detune) = (block.parameters[Self.freq], block.parameters[Self.detune])
    let voices = block.crossfades[Self.voices]
    let scale = MovingPhases.scale(block.rate)
    let isSteady = freq.isSteady && detune.isSteady
    if isSteady { memory.rest(channel, freq.value(channel), detune.value(channel), block.rate) }
    let most = voices.old > voices.new ? voices.old : voices.new
    let (phases, steps) = (memory.phases + channel &* 16, memory.steps + channel &* 16)
    work.clear(block.frames)
    var voice = 0
    while voice < 16 {
      let start = phases[voice]
      let isHeard = !isMute && Float(voice) < most
      if isSteady {
        phases[voice] = start &+ steps[voice] &* Int32(truncatingIfNeeded: block.frames)
        let size = memory.sizes[channel &* 16 &+ voice]
        if isHeard, size < 2_147_483_648 {
          Wave(from: start, step: steps[voice], size: size).make(1, WaveLevel(), work.saw, block.frames)
          work.add(voice, block, fade: MovingPhases.fade(size))
        }
      } else {
        work.writeFrequencies(freq, detune, channel, memory.places[voice], block.frames)
        let (end, largest) = work.moving.fill(work.frequencies, scale, block.frames)
        phases[voice] = start &+ end
        if isHeard {
          Wave(work.moving, from: start, largest: largest).make(1, WaveLevel(), work.saw, block.frames)
          if largest > MovingPhases.highest { work.fade(block.frames) }
          work.add(voice, block, fade: 1)
        }
      }
      voice &+= 1
    }
    guard !isMute else { return }
    work.write(block, channel)
  }
}

/// Phases of sixteen saws for each channel, and their increments at rest.
struct SupersawMemory: BitwiseCopyable {
  let phases, steps: UnsafeMutablePointer<Int32>
  let sizes, places: UnsafeMutablePointer<Float>
  /// Frequency, detune and rate that the increments are for, of each channel.
  private let known: UnsafeMutablePointer<SIMD4<Float>>

  @_noLocks init(_ arena: inout Arena, _ channels: Int) {
    phases = arena.take(Int32.self, 16 &* channels)
    steps = arena.take(Int32.self, 16 &* channels)
    sizes = arena.take(Float.self, 16 &* channels)
    places = arena.take(Float.self, 16)
    known = arena.reserve(16 &* channels).assumingMemoryBound(to: SIMD4<Float>.self)
  }

  /// Phases of the channels at the start.
  @_noLocks func prepare(_ channels: Int, seed: UInt64) {
    places.store(Supersaw.places, 0)
    var channel = 0
    while channel < channels {
      known[channel] = SIMD4(repeating: .nan)
      var voice = 0
      while voice < 16 {
        let number = UInt32(truncatingIfNeeded: channel &* 16 &+ voice)
        let hash = Noise.mixed(
          Noise.mixed(number ^ UInt32(truncatingIfNeeded: seed)) &+ UInt32(truncatingIfNeeded: seed &>> 32))
        phases[channel &* 16 &+ voice] = Int32(bitPattern: hash)
        voice &+= 1
      }
      channel &+= 1
    }
  }

  /// Increments for a frequency and a detune at rest.
  @inline(__always) @_noLocks func rest(_ channel: Int, _ freq: Float, _ detune: Float, _ rate: Float) {
    let k = known[channel]
    if k[0] == freq, k[1] == detune, k[2] == rate { return }
    calculate(channel, freq, detune, rate)
  }

  @inline(never) @_noLocks private func calculate(
    _ channel: Int, _ freq: Float, _ detune: Float, _ rate: Float
  ) {
    known[channel] = SIMD4(freq, detune, rate, 0)
    let scale = MovingPhases.scale(rate)
    let f = SupersawWork.frequencies(
      Frames(repeating: freq), Frames(repeating: detune), UnsafePointer(places).vector(0))
    var voice = 0
    while voice < 16 {
      steps[channel &* 16 &+ voice] = MovingPhases.step(f[voice], scale)
      sizes[channel &* 16 &+ voice] = MovingPhases.size(f[voice], scale)
      voice &+= 1
    }
  }
}

/// Scratch of one channel's block.
struct SupersawWork: BitwiseCopyable {
  let saw, frequencies: UnsafeMutablePointer<Float>
  let moving: MovingPhases
  /// Sums for the old and for the new number of saws.
  private let old, new: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    saw = room.take(Float.self, blockCapacity)
    frequencies = room.take(Float.self, blockCapacity)
    moving = MovingPhases(&room)
    old = room.take(Float.self, blockCapacity)
    new = room.take(Float.self, blockCapacity)
  }

  @inline(__always) @_noLocks static func frequencies(_ freq: Frames, _ detune: Frames, _ place: Frames)
    -> Frames
  {
    freq * sostenuto_powers_of_two(limited(detune, -12_000, 12_000) * place * (1 / 1200))
  }

  @inline(__always) @_noLocks func clear(_ frames: Int) {
    var frame = 0
    while frame < frames {
      old.store(Frames(repeating: 0), frame)
      new.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks func writeFrequencies(
    _ freq: ParameterStream, _ detune: ParameterStream, _ channel: Int, _ place: Float, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      frequencies.store(
        Self.frequencies(
          freq.vector(channel, frame), detune.vector(channel, frame), Frames(repeating: place)), frame)
      frame &+= 16
    }
  }

  /// Silences what would alias.
  @inline(never) @_noLocks func fade(_ frames: Int) {
    var frame = 0
    while frame < frames {
      saw.store(saw.vector(frame) * MovingPhases.fade(moving.sizes.vector(frame)), frame)
      frame &+= 16
    }
  }

  /// Adds a saw to the sums that have it.
  @inline(__always) @_noLocks func add(_ voice: Int, _ block: Block, fade: Float) {
    let (voices, mix) = (block.crossfades[Supersaw.voices], block.parameters[Supersaw.mix])
    let isOld = voices.blend != nil && Float(voice) < voices.old
    let isNew = Float(voice) < voices.new
    var frame = 0
    while frame < block.frames {
      var y = saw.vector(frame) * fade
      if voice > 0 { y = y * (mix.vector(0, frame) * 0.01) }
      if isOld { old.store(old.vector(frame) + y, frame) }
      if isNew { new.store(new.vector(frame) + y, frame) }
      frame &+= 16
    }
  }

  /// The channel's sound: as loud for any number of saws.
  @inline(__always) @_noLocks func write(_ block: Block, _ channel: Int) {
    let (voices, mix) = (block.crossfades[Supersaw.voices], block.parameters[Supersaw.mix])
    let (level, to) = (block.parameters[Supersaw.level], block.outputs[0][channel])
    var frame = 0
    while frame < block.frames {
      let share = mix.vector(0, frame) * 0.01
      let power = share * share
      var y = new.vector(frame) / squareRoots(1 + power * (voices.new - 1))
      if let blend = voices.blend {
        let b = blend.vector(frame)
        y = old.vector(frame) / squareRoots(1 + power * (voices.old - 1)) * (1 - b) + y * b
      }
      to.store(y * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }
}

import CVector
import Patch
import Realtime

/// Sums of up to sixty-four sines, whose amplitudes follow a slope over frequency.
///
/// Sixteen frames of a partial are calculated at once. Its phase is a whole number that wraps; as long as nothing is
/// stretched, increments of partials are multiples of the first one's, and stay in phase for ever.
public struct Additive: Kernel {
  static var most: Int { @inline(__always) @_noLocks get { 64 } }

  public static let description = KindDescription(
    name: "additive", summary: "Sums of sines: with a slope, odd or even, harmonic or stretched.",
    category: .source, outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .frequency(
        "freq", "Frequency of the first partial; a list gives one a channel.", default: 220,
        range: 0...24_000,
        isPerChannel: true),
      .gain("level", "Loudness: that of a sine with this peak.", default: -12, isPerChannel: true),
      .count(
        "partials", "How many; those above half the rate are silent.", default: 16, range: 1...64,
        smoothing: .crossfade),
      .number(
        "slope", "How amplitudes go over frequency, in dB an octave; -6 is a saw's.", default: -6,
        range: -48...12, isPerChannel: true),
      .percent("even", "Amplitude of the partials with even numbers, beside the others.", default: 100),
      .number(
        "stretch", "How much wider octaves of partials are; 0 is harmonic.", default: 0, range: -1200...1200,
        unit: .cents, isPerChannel: true),
      .count(
        "channels",
        "How many voices, one a channel; at least one for each channel of cables into parameters.",
        default: 1, smoothing: .kernel),
    ], amplification: .possible, cost: .init(30, perChannel: 200))

  /// Positions in `description.parameters`.
  public static var freq: Int { @_noLocks get { 0 } }
  public static var level: Int { @_noLocks get { 1 } }
  public static var partials: Int { @_noLocks get { 2 } }
  public static var slope: Int { @_noLocks get { 3 } }
  public static var even: Int { @_noLocks get { 4 } }
  public static var stretch: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  private var count: Int
  private var memory: AdditiveMemory
  private var mute = QuietCell()

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { AdditiveMemory(&$0, configuration.outputs[0]) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    var arena = Arena(memory)
    self.memory = AdditiveMemory(&arena, count)
    self.memory.prepare()
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = AdditiveMemory(&arena, wide)
    copyMemory(new.logarithms, self.memory.logarithms, 4 &* Self.most)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      let own = new.channel(channel)
      own.known.pointee = AdditiveKnown()
      if from >= 0 { copyMemory(own.phases, self.memory.channel(from).phases, 4 &* Self.most) }
      channel &+= 1
    }
    (self.memory, count) = (new, wide)
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let isMute = block.parameters[Self.level].isZero(block)
    mute.update(block, silent: isMute)
    let partials = block.crossfades[Self.partials]
    let (old, new) = (Self.number(partials.old), Self.number(partials.new))
    let parameters = block.parameters
    let isAmplitudeSteady = parameters[Self.slope].isSteady && parameters[Self.even].isSteady
    let isSteady =
      parameters[Self.freq].isSteady && parameters[Self.stretch].isSteady && isAmplitudeSteady
      && partials.blend == nil
    var room = Arena(block.scratch)
    let work = AdditiveWork(&room)
    var channel = 0
    while channel < count {
      let own = memory.channel(channel)
      if isAmplitudeSteady {
        own.keepAmplitudes(
          parameters[Self.slope].value(channel), parameters[Self.even].value(0), memory.logarithms)
      }
      if isSteady {
        own.rest(
          parameters[Self.freq].value(channel), parameters[Self.stretch].value(channel), new, block.rate,
          memory.logarithms)
        if !isMute { own.write(block, channel, new) }
        own.advance(block.frames, new)
      } else {
        work.process(block, channel, own, memory.logarithms, old, new, isAmplitudeSteady)
      }
      channel &+= 1
    }
    return isMute ? .silent : .sounding
  }

  @inline(__always) @_noLocks private static func number(_ partials: Float) -> Int {
    Int(limited(partials, 1, Float(most)))
  }
}

/// State of every channel, and what its partials are at rest.
struct AdditiveMemory: BitwiseCopyable {
  /// Logarithms of the partials' numbers to base 2.
  let logarithms: UnsafeMutablePointer<Float>
  private let floats: UnsafeMutablePointer<Float>
  private let integers: UnsafeMutablePointer<Int32>
  private let known: UnsafeMutablePointer<AdditiveKnown>
  private let channels: Int

  @_noLocks init(_ arena: inout Arena, _ channels: Int) {
    self.channels = channels
    logarithms = arena.take(Float.self, Additive.most)
    floats = arena.take(Float.self, 2 &* Additive.most &* channels)
    integers = arena.take(Int32.self, 2 &* Additive.most &* channels)
    known = arena.reserve(MemoryLayout<AdditiveKnown>.stride &* channels)
      .assumingMemoryBound(to: AdditiveKnown.self)
  }

  /// Worker.
  func prepare() {
    for partial in 0..<Additive.most { logarithms[partial] = logarithm2(Float(partial + 1)) }
    for channel in 0..<channels { known[channel] = AdditiveKnown() }
  }

  @inline(__always) @_noLocks func channel(_ channel: Int) -> AdditiveChannel {
    let place = 2 &* Additive.most &* channel
    return AdditiveChannel(
      phases: integers + place, steps: integers + (place &+ Additive.most), amplitudes: floats + place,
      faded: floats + (place &+ Additive.most), known: known + channel)
  }
}

/// Settings for which the numbers at rest hold.
struct AdditiveKnown: BitwiseCopyable {
  var freq = Float.nan
  var stretch = Float.nan
  var rate = Float.nan
  var slope = Float.nan
  var even = Float.nan
  var partials = 0
  /// Power of as many partials.
  var power: Float = 1
}

/// Partials of one channel.
struct AdditiveChannel: BitwiseCopyable {
  let phases, steps: UnsafeMutablePointer<Int32>
  /// Amplitudes at rest, and those that do not alias.
  let amplitudes, faded: UnsafeMutablePointer<Float>
  let known: UnsafeMutablePointer<AdditiveKnown>

  /// Amplitudes of partials whose numbers have these logarithms. A steeper rise would lead the sum of their squares
  /// beyond what a float holds.
  @inline(__always) @_noLocks static func amplitude(_ logarithm: Frames, _ slope: Frames) -> Frames {
    sostenuto_powers_of_two(limited(slope, -1000, 48) * logarithm * (1 / 6.020_599_9))
  }

  /// Frequency of a stretched partial beside that of the harmonic one.
  @inline(__always) @_noLocks static func stretched(_ logarithm: Frames, _ stretch: Frames) -> Frames {
    sostenuto_powers_of_two(limited(stretch, -12_000, 12_000) * logarithm * (1 / 1200))
  }

  @inline(__always) @_noLocks func keepAmplitudes(
    _ slope: Float, _ even: Float, _ logarithms: UnsafePointer<Float>
  ) {
    if known.pointee.slope == slope, known.pointee.even == even { return }
    known.pointee.slope = slope
    known.pointee.even = even
    known.pointee.freq = .nan
    var partial = 0
    while partial < Additive.most {
      let a = Self.amplitude(logarithms.vector(partial), Frames(repeating: slope))
      // Partials with even numbers have odd places.
      var evens = Frames(repeating: 1)
      evens.oddHalf = SIMD8(repeating: even * 0.01)
      amplitudes.store(a * evens, partial)
      partial &+= 16
    }
  }

  /// Increments and amplitudes for these settings.
  @inline(__always) @_noLocks func rest(
    _ freq: Float, _ stretch: Float, _ partials: Int, _ rate: Float, _ logarithms: UnsafePointer<Float>
  ) {
    let k = known.pointee
    if k.freq == freq, k.stretch == stretch, k.rate == rate, k.partials == partials { return }
    calculate(freq, stretch, partials, rate, logarithms)
  }

  @inline(never) @_noLocks private func calculate(
    _ freq: Float, _ stretch: Float, _ partials: Int, _ rate: Float, _ logarithms: UnsafePointer<Float>
  ) {
    known.pointee.freq = freq
    known.pointee.stretch = stretch
    known.pointee.rate = rate
    known.pointee.partials = partials
    let scale = MovingPhases.scale(rate)
    let (step, size) = (MovingPhases.step(freq, scale), MovingPhases.size(freq, scale))
    var power = Frames(repeating: 0)
    var partial = 0
    while partial < Additive.most {
      let number = Float(partial &+ 1)
      let ratio = Self.stretched(
        Frames(repeating: logarithms[partial]), Frames(repeating: stretch))
      let more = AdditiveWork.more(Frames(repeating: freq), number, ratio)[0]
      steps[partial] =
        Int32(truncatingIfNeeded: partial &+ 1) &* step &+ (more == 0 ? 0 : MovingPhases.step(more, scale))
      let amplitude = Frames(repeating: amplitudes[partial])
      if partial < partials { power = addProduct(power, amplitude, amplitude) }
      faded[partial] =
        (amplitude * MovingPhases.fade(Frames(repeating: size) * (number * ratio)))[0]
      partial &+= 1
    }
    known.pointee.power = power[0]
  }

  @inline(__always) @_noLocks func advance(_ frames: Int, _ partials: Int) {
    let count = Int32(truncatingIfNeeded: frames)
    var partial = 0
    while partial < partials {
      phases[partial] &+= steps[partial] &* count
      partial &+= 1
    }
  }

  /// Writes a block at rest.
  @_noLocks func write(_ block: Block, _ channel: Int, _ partials: Int) {
    let (level, to) = (block.parameters[Additive.level], block.outputs[0][channel])
    let loudness = 1 / squareRoots(Frames(repeating: known.pointee.power))
    var frame = 0
    while frame < block.frames {
      let passed = Int32(truncatingIfNeeded: frame)
      var sum = Frames(repeating: 0)
      var partial = 0
      while partial < partials {
        let step = steps[partial]
        let phase = sostenuto_row(phases[partial] &+ step &* passed, step)
        sum = addProduct(sum, Corners.sine(phase), faded[partial])
        partial &+= 1
      }
      to.store(sum * loudness * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }
}

/// Scratch of one channel's block in which something moves.
struct AdditiveWork: BitwiseCopyable {
  private let first, further: MovingPhases
  private let sums, powers, frequencies, ratios: UnsafeMutablePointer<Float>
  /// Sums and powers of the fewer of two numbers of partials.
  private let fewer: UnsafeMutablePointer<Float>

  @inline(__always) @_noLocks init(_ room: inout Arena) {
    first = MovingPhases(&room)
    further = MovingPhases(&room)
    sums = room.take(Float.self, blockCapacity)
    powers = room.take(Float.self, blockCapacity)
    frequencies = room.take(Float.self, blockCapacity)
    ratios = room.take(Float.self, blockCapacity)
    fewer = room.take(Float.self, 2 &* blockCapacity)
  }

  /// Frequency of a stretched partial, less that of the harmonic one.
  @inline(__always) @_noLocks static func more(_ freq: Frames, _ number: Float, _ ratio: Frames) -> Frames {
    freq * ((ratio - 1) * number)
  }

  /// Writes a channel's block, and advances it.
  @inline(never) @_noLocks func process(
    _ block: Block, _ channel: Int, _ own: AdditiveChannel, _ logarithms: UnsafePointer<Float>, _ old: Int,
    _ new: Int, _ isAmplitudeSteady: Bool
  ) {
    let parameters = block.parameters
    let (freq, stretch) = (parameters[Additive.freq], parameters[Additive.stretch])
    let (slope, even) = (parameters[Additive.slope], parameters[Additive.even])
    let scale = MovingPhases.scale(block.rate)
    let isHarmonic = stretch.isSteady && stretch.value(channel) == 0
    var frame = 0
    while frame < block.frames {
      frequencies.store(freq.vector(channel, frame), frame)
      ratios.store(Frames(repeating: 1), frame)
      sums.store(Frames(repeating: 0), frame)
      powers.store(Frames(repeating: 0), frame)
      frame &+= 16
    }
    let (end, largest) = first.fill(frequencies, scale, block.frames)
    let (least, most) = old < new ? (old, new) : (new, old)
    var partial = 0
    while partial < most {
      if partial == least { keep(block.frames) }
      let number = Float(partial &+ 1)
      let times = Int32(truncatingIfNeeded: partial &+ 1)
      var moreEnd: Int32 = 0
      if !isHarmonic {
        frame = 0
        while frame < block.frames {
          let ratio = AdditiveChannel.stretched(
            Frames(repeating: logarithms[partial]), stretch.vector(channel, frame))
          ratios.store(ratio, frame)
          frequencies.store(Self.more(freq.vector(channel, frame), number, ratio), frame)
          frame &+= 16
        }
        moreEnd = further.fill(frequencies, scale, block.frames).end
      }
      let fades = !isHarmonic || largest * number > MovingPhases.highest
      let start = own.phases[partial]
      frame = 0
      while frame < block.frames {
        var phase = sostenuto_plus(first.vector(frame) &* SIMD16(repeating: times), start)
        if !isHarmonic { phase = phase &+ further.vector(frame) }
        var amplitude = Frames(repeating: own.amplitudes[partial])
        if !isAmplitudeSteady {
          amplitude = AdditiveChannel.amplitude(
            Frames(repeating: logarithms[partial]), slope.vector(channel, frame))
          if partial & 1 != 0 { amplitude = amplitude * (even.vector(0, frame) * 0.01) }
        }
        powers.store(addProduct(powers.vector(frame), amplitude, amplitude), frame)
        if fades {
          amplitude =
            amplitude * MovingPhases.fade(first.sizes.vector(frame) * (number * ratios.vector(frame)))
        }
        sums.store(addProduct(sums.vector(frame), Corners.sine(phase), amplitude), frame)
        frame &+= 16
      }
      own.phases[partial] = start &+ times &* end &+ moreEnd
      partial &+= 1
    }
    if least == most { keep(block.frames) }
    write(block, channel, isMoreNew: new == most)
  }

  @inline(__always) @_noLocks private func keep(_ frames: Int) {
    var frame = 0
    while frame < frames {
      fewer.store(sums.vector(frame), frame)
      fewer.store(powers.vector(frame), blockCapacity &+ frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private func write(_ block: Block, _ channel: Int, isMoreNew: Bool) {
    let (level, to) = (block.parameters[Additive.level], block.outputs[0][channel])
    let blend = block.crossfades[Additive.partials].blend
    var frame = 0
    while frame < block.frames {
      var y = sums.vector(frame) * (1 / squareRoots(powers.vector(frame)))
      if let blend {
        let less = fewer.vector(frame) * (1 / squareRoots(fewer.vector(blockCapacity &+ frame)))
        let share = isMoreNew ? blend.vector(frame) : 1 - blend.vector(frame)
        y = less * (1 - share) + y * share
      }
      to.store(y * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }
}

extension MovingPhases {
  /// The sixteen phases from `frame` on.
  @inline(__always) @_noLocks func vector(_ frame: Int) -> SIMD16<Int32> {
    UnsafeRawPointer(phases + frame).loadUnaligned(as: SIMD16<Int32>.self)
  }
}

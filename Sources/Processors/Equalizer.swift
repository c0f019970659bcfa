import Patch
import Realtime

/// Up to eight bands in series, each a two-pole section with the analogue responses of R. Bristow-Johnson's "Cookbook
/// formulae for audio equalizer biquad filter coefficients" (1998). A change of type fades from the old type's
/// coefficients to the new one's.
public struct Equalizer: Kernel {
  public static let maximumBands = 8

  public static let description = KindDescription(
    name: "equalizer", summary: "Up to eight parametric bands in series.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [.count("bands", "How many bands are in use.", default: 4, range: 1...8)]
      + (1...maximumBands).flatMap(band), face: .response(bands: "bands"),
    cost: .init(20, perChannel: 120))

  private static func band(_ number: Int) -> [ParameterDescription] {
    let frequencies = [100.0, 400, 1600, 6400, 200, 800, 3200, 12_800]
    let parameters: [ParameterDescription] = [
      .choice(
        "band\(number).type", "What band \(number) does.",
        ["peak", "lowshelf", "highshelf", "lowpass", "highpass", "notch", "bandpass"]),
      .frequency(
        "band\(number).freq", "Its centre or corner.", default: frequencies[number - 1]),
      .number(
        "band\(number).gain", "Its boost or cut (peak and shelves).", default: 0, range: -36...36,
        unit: .decibels),
      .number("band\(number).q", "Its narrowness.", default: 0.707, range: 0.1...40),
    ]
    return parameters.map {
      var parameter = $0
      parameter.requirement = .init("bands", atLeast: number)
      return parameter
    }
  }

  /// Positions in `description.parameters`; bands count from 0.
  public static var bands: Int { @_noLocks get { 0 } }
  @_noLocks public static func type(_ band: Int) -> Int { 1 &+ 4 &* band }
  @_noLocks public static func freq(_ band: Int) -> Int { 2 &+ 4 &* band }
  @_noLocks public static func gain(_ band: Int) -> Int { 3 &+ 4 &* band }
  @_noLocks public static func q(_ band: Int) -> Int { 4 &+ 4 &* band }

  private let count: Int
  private var channels: Int
  private var memory: EqualizerMemory
  private var groupTime: Int64 = -1
  private var quiet = QuietCell()
  private var isAsleep = true
  private var entry = Entry.ofFilter

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { EqualizerMemory(configuration.inputs[0], Int(configuration.value(Self.bands)), &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = Int(configuration.value(Self.bands))
    channels = configuration.inputs[0]
    var arena = Arena(memory)
    self.memory = EqualizerMemory(channels, count, &arena)
    for band in 0..<count {
      self.memory.sections[band] = Section(
        Self.response(configuration.value(Self.type(band))), freq: configuration.value(Self.freq(band)),
        q: configuration.value(Self.q(band)), gain: configuration.value(Self.gain(band)),
        rate: Float(configuration.rate))
    }
    for index in 0..<channels * count { self.memory.states[index] = .zero }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = EqualizerMemory(inputs, count, &arena)
    copyMemory(wide.sections, self.memory.sections, count &* MemoryLayout<Section>.stride)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 {
        wide.inputs.copy(channel, self.memory.inputs, from)
        copyMemory(wide.states + channel &* count, self.memory.states + from &* count, count &* 8)
      } else {
        wide.inputs.clear(channel)
        setMemory(wide.states + channel &* count, 0, count &* 8)
      }
      channel &+= 1
    }
    self.memory = wide
    channels = inputs
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard quiet.isQuiet else { return false }
    var band = 0
    while band < count {
      if memory.sections[band].isStale { return false }
      band &+= 1
    }
    var index = 0
    while index < channels &* count {
      let s = memory.states[index]
      if !isInaudible(s[0]) || !isInaudible(s[1]) { return false }
      index &+= 1
    }
    setMemory(memory.states, 0, channels &* count &* 8)
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { isAsleep = false }
    let output = block.outputs[0]
    let span = SectionSpan(block)
    var room = Arena(block.scratch)
    let entry = entry.follow(block, room.take(Float.self, blockCapacity))
    if span.isWhole, entry == nil, rests(block) {
      restWhole(input, output, block.frames)
      return isAsleep ? .silent : .sounding
    }
    if !span.isWhole {
      if span.lane != 0, block.time &- Int64(span.lane) != groupTime { beginMidway() }
      groupTime = block.time &- Int64(span.lane) &+ Int64(span.end & ~15)
      if entry == nil, rests(block), span.lane == 0 || restedBefore {
        restPart(input, output, span)
        return isAsleep ? .silent : .sounding
      }
    }
    let isCopied = !span.isWhole || entry != nil
    if isCopied { memory.inputs.write(input, output, span, entry) }
    var band = 0
    while band < count {
      memory.sections[band].process(
        parameters(block, band), span,
        SectionChannels(
          isCopied || band > 0 ? nil : input, output, first: 0, count: channels, memory.states + band,
          stride: count))
      band &+= 1
    }
    memory.inputs.align(output, span)
    if let entry { passBeside(input, output, entry, block.frames) }
    return isAsleep ? .silent : .sounding
  }

  /// Adds the part of the input that the entry still holds back: most bands change little, so that nothing dips.
  @inline(never) @_noLocks private mutating func passBeside(
    _ input: InputPort, _ output: OutputPort, _ entry: UnsafePointer<Float>, _ frames: Int
  ) {
    var channel = 0
    while channel < channels {
      let (from, to) = (input[channel], output[channel])
      var frame = 0
      while frame < frames {
        to.store(to.vector(frame) + from.vector(frame) * (1 - entry.vector(frame)), frame)
        frame &+= 16
      }
      channel &+= 1
    }
  }

  @inline(__always) @_noLocks private mutating func parameters(_ block: Block, _ band: Int)
    -> SectionParameters
  {
    let type = block.crossfades[Self.type(band)]
    return SectionParameters(
      freq: SectionStream(block.parameters[Self.freq(band)], 0),
      q: SectionStream(block.parameters[Self.q(band)], 0),
      gain: SectionStream(block.parameters[Self.gain(band)], 0),
      blend: type.blend.map(SectionStream.init) ?? SectionStream(1), old: Self.response(type.old),
      new: Self.response(type.new), rate: block.rate)
  }

  @inline(__always) @_noLocks private static func response(_ type: Float) -> Response {
    Response(rawValue: UInt8(type)) ?? .peak
  }

  @_noLocks private mutating func rests(_ block: Block) -> Bool {
    var band = 0
    while band < count {
      if !memory.sections[band].knows(parameters(block, band)) { return false }
      band &+= 1
    }
    return true
  }

  /// A whole block from the tables, one channel after the other.
  @_noLocks private mutating func restWhole(_ input: InputPort, _ output: OutputPort, _ frames: Int) {
    var channel = 0
    while channel < channels {
      var from = input[channel]
      var band = 0
      while band < count {
        memory.sections[band].restWhole(
          from, output[channel], memory.states + (channel &* count &+ band), frames)
        from = UnsafePointer(output[channel])
        band &+= 1
      }
      channel &+= 1
    }
  }

  private var restedBefore: Bool {
    @_noLocks mutating get {
      var band = 0
      while band < count {
        guard memory.sections[band].restedBefore else { return false }
        band &+= 1
      }
      return true
    }
  }

  /// Part of a block from the tables, one channel after the other.
  @inline(never) @_noLocks private mutating func restPart(
    _ input: InputPort, _ output: OutputPort, _ span: SectionSpan
  ) {
    var band = 0
    while band < count {
      memory.sections[band].restPart(span)
      band &+= 1
    }
    var window = Quads(repeating: 0)
    withUnsafeMutablePointer(to: &window) {
      let x = UnsafeMutableRawPointer($0).assumingMemoryBound(to: Float.self)
      var channel = 0
      while channel < channels {
        span.gather(input[channel], memory.inputs.row(channel), to: x)
        var band = 0
        while band < count {
          memory.sections[band].rest(
            UnsafePointer(x), x, memory.states + (channel &* count &+ band), complete: span.end &>> 4)
          band &+= 1
        }
        span.scatter(UnsafePointer(x), to: output[channel])
        channel &+= 1
      }
    }
  }

  /// The first block starts within a group: the frames before it were silence.
  @_noLocks private mutating func beginMidway() {
    memory.inputs.clear()
    var band = 0
    while band < count {
      memory.sections[band].begin()
      band &+= 1
    }
  }
}

/// Memory of an equalizer. Band b of channel c has the state `c * bands + b`.
private struct EqualizerMemory: BitwiseCopyable {
  let sections: UnsafeMutablePointer<Section>
  let states: UnsafeMutablePointer<SIMD2<Float>>
  let inputs: SectionInputs

  @_noLocks init(_ channels: Int, _ bands: Int, _ arena: inout Arena) {
    sections = arena.reserve(bands &* MemoryLayout<Section>.stride).assumingMemoryBound(to: Section.self)
    states = arena.reserve(channels &* bands &* 8).assumingMemoryBound(to: SIMD2<Float>.self)
    inputs = SectionInputs(channels, &arena)
  }
}

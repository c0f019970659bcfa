import Patch
import Realtime

/// A two-pole filter on every channel.
public struct Filter: Kernel {
  public static let description = KindDescription(
    name: "filter", summary: "A resonant two-pole filter, steady under audio-rate modulation.",
    category: .effect, inputs: [PortDescription("in", .flexible)],
    outputs: [PortDescription("out", .flexible)],
    parameters: [
      .choice("type", "What it lets pass.", ["lowpass", "highpass", "bandpass", "notch"]),
      .frequency(
        "freq", "Cutoff or centre; a list gives one a channel.", default: 1000, isPerChannel: true),
      .number(
        "q", "Resonance; 0.707 is flattest.", default: 0.707, range: 0.1...100, isPerChannel: true),
    ], face: .response(), cost: .init(8, perChannel: 28))

  /// Positions in `description.parameters`.
  public static var type: Int { @_noLocks get { 0 } }
  public static var freq: Int { @_noLocks get { 1 } }
  public static var q: Int { @_noLocks get { 2 } }

  private var channels: Int
  private var memory: FilterMemory
  private var groupTime: Int64 = -1
  private var quiet = QuietCell()
  private var isAsleep = true
  /// All channels use the first one's coefficients.
  private var isShared: Bool
  private var isEntering = true
  private var entry = Entry.ofFilter

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { FilterMemory(configuration.inputs[0], &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    channels = configuration.inputs[0]
    var arena = Arena(memory)
    self.memory = FilterMemory(channels, &arena)
    let freqs = configuration.values[Self.freq]
    let qs = configuration.values[Self.q]
    isShared = freqs.count == 1 && qs.count == 1
    let type = configuration.value(Self.type)
    for channel in 0..<channels {
      self.memory.sections[channel] = Section(
        Self.response(type), freq: freqs[min(channel, freqs.count - 1)], q: qs[min(channel, qs.count - 1)],
        gain: 1, rate: Float(configuration.rate))
      self.memory.states[channel] = .zero
    }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = FilterMemory(inputs, &arena)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 {
        wide.copy(channel, self.memory, from)
      } else {
        wide.copy(channel, self.memory, 0)
        wide.clear(channel)
      }
      channel &+= 1
    }
    self.memory = wide
    channels = inputs
  }

  @_noLocks public mutating func isFinished() -> Bool {
    guard quiet.isQuiet else { return false }
    var channel = 0
    while channel < channels {
      let s = memory.states[channel]
      if memory.sections[isShared ? 0 : channel].isStale { return false }
      if !isInaudible(s[0]) || !isInaudible(s[1]) { return false }
      channel &+= 1
    }
    channel = 0
    while channel < channels {
      memory.states[channel] = .zero
      channel &+= 1
    }
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { isAsleep = false }
    if isShared, !isEntering, restsAlike(block) {
      if block.isOfSixteens {
        restWhole(input, block.outputs[0], block.frames)
        return isAsleep ? .silent : .sounding
      }
      let span = SectionSpan(block)
      if goesOn(block, span) {
        restPart(input, block.outputs[0], span)
        return isAsleep ? .silent : .sounding
      }
    }
    return processAny(block, input)
  }

  @inline(never) @_noLocks private mutating func processAny(_ block: Block, _ input: InputPort) -> Activity {
    let isAlike = block.parameters[Self.freq].elements == 1 && block.parameters[Self.q].elements == 1
    let span = SectionSpan(block)
    // Within a group each channel keeps the coefficients that it had.
    if isShared, !isAlike { memory.part(channels) }
    isShared = isAlike && (isShared || span.lane == 0)
    let output = block.outputs[0]
    var room = Arena(block.scratch)
    let entry = entry.follow(block, room.take(Float.self, blockCapacity))
    isEntering = !self.entry.isOver
    if span.isWhole, entry == nil, rests(block) {
      restWhole(input, output, block.frames)
      return isAsleep ? .silent : .sounding
    }
    if !span.isWhole {
      if span.lane != 0, block.time &- Int64(span.lane) != groupTime { memory.beginMidway(channels) }
      groupTime = block.time &- Int64(span.lane) &+ Int64(span.end & ~15)
      if entry == nil, rests(block), span.lane == 0 || restedBefore {
        restPart(input, output, span)
        return isAsleep ? .silent : .sounding
      }
    }
    let isCopied = !span.isWhole || entry != nil
    if isCopied { memory.inputs.write(input, output, span, entry) }
    let from: InputPort? = isCopied ? nil : input
    var channel = 0
    while channel < channels {
      let count = isShared ? channels : 1
      memory.sections[channel].process(
        parameters(block, channel), span,
        SectionChannels(from, output, first: channel, count: count, memory.states + channel, stride: 1))
      channel &+= count
    }
    memory.inputs.align(output, span)
    return isAsleep ? .silent : .sounding
  }

  /// The table of the first channel is that of all of them in this block.
  @inline(__always) @_noLocks private mutating func restsAlike(_ block: Block) -> Bool {
    let freq = block.parameters[Self.freq]
    let q = block.parameters[Self.q]
    let type = block.crossfades[Self.type]
    // Of four comparisons in a row the compiler would make a vector, lane by lane.
    guard freq.isSteady, q.isSteady, freq.elements &* q.elements == 1, type.blend == nil else { return false }
    return memory.sections.pointee.knows(
      freq.values.pointee, q.values.pointee, 1, Self.response(type.new), block.rate)
  }

  /// True when the first channel's table also filtered the unfinished group before the block, or when there is none.
  @inline(__always) @_noLocks private mutating func goesOn(_ block: Block, _ span: SectionSpan) -> Bool {
    let start = block.time &- Int64(span.lane)
    guard span.lane == 0 || (start == groupTime && memory.sections.pointee.restedBefore) else { return false }
    groupTime = start &+ Int64(span.end & ~15)
    return true
  }

  @inline(__always) @_noLocks private mutating func rests(_ block: Block) -> Bool {
    let freq = block.parameters[Self.freq]
    let q = block.parameters[Self.q]
    let type = block.crossfades[Self.type]
    guard freq.isSteady, q.isSteady, type.blend == nil else { return false }
    let response = Self.response(type.new)
    var channel = 0
    while channel < (isShared ? 1 : channels) {
      let section = memory.sections + channel
      guard section.pointee.knows(freq.value(channel), q.value(channel), 1, response, block.rate) else {
        return false
      }
      channel &+= 1
    }
    return true
  }

  /// Whole groups from the tables.
  @inline(__always) @_noLocks private mutating func restWhole(
    _ input: InputPort, _ output: OutputPort, _ frames: Int
  ) {
    var channel = 0
    while channel < channels {
      memory.sections[isShared ? 0 : channel].restWhole(
        input[channel], output[channel], memory.states + channel, frames)
      channel &+= 1
    }
  }

  private var restedBefore: Bool {
    @inline(__always) @_noLocks mutating get {
      var channel = 0
      while channel < (isShared ? 1 : channels) {
        guard memory.sections[channel].restedBefore else { return false }
        channel &+= 1
      }
      return true
    }
  }

  /// Part of a block from the tables: an edit at an exact frame splits the block of every node, and may not cost
  /// much more than one that waits for the next.
  @inline(never) @_noLocks private mutating func restPart(
    _ input: InputPort, _ output: OutputPort, _ span: SectionSpan
  ) {
    var channel = 0
    while channel < channels {
      let section = memory.sections + (isShared ? 0 : channel)
      if channel == 0 || !isShared { section.pointee.restPart(span) }
      section.pointee.restPart(
        input[channel], output[channel], memory.states + channel, row: memory.inputs.row(channel), span)
      channel &+= 1
    }
  }

  @inline(__always) @_noLocks private mutating func parameters(_ block: Block, _ channel: Int)
    -> SectionParameters
  {
    let type = block.crossfades[Self.type]
    return SectionParameters(
      freq: SectionStream(block.parameters[Self.freq], channel),
      q: SectionStream(block.parameters[Self.q], channel), gain: SectionStream(1),
      blend: type.blend.map(SectionStream.init) ?? SectionStream(1), old: Self.response(type.old),
      new: Self.response(type.new), rate: block.rate)
  }

  @inline(__always) @_noLocks private static func response(_ type: Float) -> Response {
    type == 0 ? .low : type == 1 ? .high : type == 2 ? .band : .notch
  }
}

/// Memory of a filter.
private struct FilterMemory: BitwiseCopyable {
  let sections: UnsafeMutablePointer<Section>
  let states: UnsafeMutablePointer<SIMD2<Float>>
  let inputs: SectionInputs

  @_noLocks init(_ channels: Int, _ arena: inout Arena) {
    sections = arena.reserve(channels &* MemoryLayout<Section>.stride).assumingMemoryBound(to: Section.self)
    states = arena.reserve(channels &* 8).assumingMemoryBound(to: SIMD2<Float>.self)
    inputs = SectionInputs(channels, &arena)
  }

  /// The first block starts within a group: the frames before it were silence.
  @_noLocks func beginMidway(_ channels: Int) {
    inputs.clear()
    var channel = 0
    while channel < channels {
      sections[channel].begin()
      channel &+= 1
    }
  }

  /// Gives each channel coefficients of its own, at first copies of the first one's.
  @_noLocks func part(_ channels: Int) {
    var channel = 1
    while channel < channels {
      sections[channel] = sections[0]
      channel &+= 1
    }
  }

  @_noLocks func copy(_ channel: Int, _ other: Self, _ from: Int) {
    sections[channel] = other.sections[from]
    states[channel] = other.states[from]
    inputs.copy(channel, other.inputs, from)
  }

  /// Clears a new channel.
  @_noLocks func clear(_ channel: Int) {
    states[channel] = .zero
    inputs.clear(channel)
  }
}

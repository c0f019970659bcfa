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
      self.memory.sections[channel] = Section()
      self.memory.sections[channel].build(
        Self.coefficients(
          Frames(repeating: freqs[min(channel, freqs.count - 1)]),
          Frames(repeating: qs[min(channel, qs.count - 1)]), Float(configuration.rate),
          CrossfadeStream(old: type, new: type, blend: nil), 0))
      self.memory.states[channel] = .zero
    }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = FilterMemory(inputs, &arena)
    var channel = 0
    while channel < inputs {
      let from = Widening.source(of: channel, from: channels, to: inputs)
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
    let freq = block.parameters[Self.freq]
    let q = block.parameters[Self.q]
    var lane = Int(block.time & 15)
    // Within a group each channel keeps the coefficients that it had.
    let isAlike = freq.elements == 1 && q.elements == 1
    if isShared, !isAlike { memory.part(channels) }
    isShared = isAlike && (isShared || lane == 0)
    if lane != 0, block.time &- Int64(lane) != groupTime { memory.beginMidway(channels) }
    var frame = 0
    while frame < block.frames {
      // Fast path for whole blocks at rest.
      if frame == 0, block.frames == 64, restsWhole(block) {
        var channel = 0
        while channel < channels {
          memory.sections[isShared ? 0 : channel].rest()
          Section.rest(
            memory.sections + (isShared ? 0 : channel), input[channel], block.outputs[0][channel],
            memory.states + channel)
          channel &+= 1
        }
        break
      }
      let have = lane &+ block.frames &- frame < 16 ? lane &+ block.frames &- frame : 16
      filterGroup(block, frame, lane, have)
      groupTime = block.time &+ Int64(frame &- lane)
      frame &+= have &- lane
      lane = 0
    }
    return isAsleep ? .silent : .sounding
  }

  /// True when every table matches the parameters, and these are at rest.
  @inline(__always) @_noLocks private func restsWhole(_ block: Block) -> Bool {
    let freq = block.parameters[Self.freq]
    let q = block.parameters[Self.q]
    let type = block.crossfades[Self.type]
    guard freq.isSteady, q.isSteady, type.blend == nil else { return false }
    var channel = 0
    while channel < (isShared ? 1 : channels) {
      let parameters = SIMD4<Float>(freq.value(channel), q.value(channel), 0, type.new)
      if !memory.sections[channel].knows(parameters, block.rate) { return false }
      channel &+= 1
    }
    return true
  }

  /// Filters frames `lane..<have` of one group, on all channels; they begin at `frame` of the block.
  @_noLocks private func filterGroup(
    _ block: Block, _ frame: Int, _ lane: Int, _ have: Int
  ) {
    let input = block.inputs[0]
    let output = block.outputs[0]
    let freq = block.parameters[Self.freq]
    let q = block.parameters[Self.q]
    let type = block.crossfades[Self.type]
    let rests = freq.isSteady && q.isSteady && type.blend == nil
    var channel = 0
    while channel < channels {
      let section = memory.sections + (isShared ? 0 : channel)
      let rows = memory.rows + (isShared ? 0 : channel) &* Section.rowSize
      if channel == 0 || !isShared {
        let parameters = SIMD4<Float>(freq.value(channel), q.value(channel), 0, type.new)
        if rests, section.pointee.knows(parameters, block.rate) {
          section.pointee.setCoefficients(section.pointee.coefficients, from: lane, to: have, rows: rows)
        } else {
          let c = Self.coefficients(
            freq.vector(channel, frame), q.vector(channel, frame), block.rate, type, frame)
          section.pointee.setCoefficients(c, from: lane, to: have, rows: rows)
          if rests, section.pointee.holds(c) { section.pointee.learn(parameters, block.rate) }
        }
      }
      let x = memory.inputs.store(channel, input[channel].vector(frame), lane: lane, have: have)
      let y = section.pointee.filterGroup(x, memory.states + channel, have, rows)
      let to = output[channel] + frame
      if lane == 0 {
        to.store(y, 0)
      } else {
        var index = lane
        while index < have {
          to[index &- lane] = y[index]
          index &+= 1
        }
      }
      channel &+= 1
    }
    if have == 16 {
      channel = 0
      while channel < (isShared ? 1 : channels) {
        memory.sections[channel].settle(memory.rows + channel &* Section.rowSize)
        channel &+= 1
      }
    }
  }

  /// A change of type fades from the old type's coefficients to the new one's.
  @_noLocks private static func coefficients(
    _ freq: Frames, _ q: Frames, _ rate: Float, _ type: CrossfadeStream, _ frame: Int
  ) -> SectionCoefficients {
    let k = 1 / limited(q, 0.05, 200)
    var c = SectionCoefficients(pass(type.new), k, freq, rate)
    if let blend = type.blend {
      c.fade(from: SectionCoefficients(pass(type.old), k, freq, rate), blend.vector(frame))
    }
    return c
  }

  @inline(__always) @_noLocks private static func pass(_ type: Float) -> Pass {
    type == 0 ? .low : type == 1 ? .high : type == 2 ? .band : .notch
  }
}

/// Memory of a filter.
private struct FilterMemory: BitwiseCopyable {
  let sections: UnsafeMutablePointer<Section>
  let states: UnsafeMutablePointer<SIMD2<Float>>
  let rows: UnsafeMutablePointer<Float>
  let inputs: GroupInputs
  private let inputRows: UnsafeMutablePointer<Float>

  @_noLocks init(_ channels: Int, _ arena: inout Arena) {
    sections = arena.reserve(channels &* MemoryLayout<Section>.stride).assumingMemoryBound(to: Section.self)
    states = arena.reserve(channels &* 8).assumingMemoryBound(to: SIMD2<Float>.self)
    rows = arena.take(Float.self, channels &* Section.rowSize)
    inputRows = arena.take(Float.self, channels &* 32)
    inputs = GroupInputs(inputRows)
  }

  /// The first block starts within a group: the frames before it were silence.
  @_noLocks func beginMidway(_ channels: Int) {
    setMemory(inputRows, 0, channels &* 128)
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
      copyMemory(rows + channel &* Section.rowSize, rows, Section.rowSize &* 4)
      channel &+= 1
    }
  }

  @_noLocks func copy(_ channel: Int, _ other: Self, _ from: Int) {
    sections[channel] = other.sections[from]
    states[channel] = other.states[from]
    copyMemory(
      rows + channel &* Section.rowSize, other.rows + from &* Section.rowSize, Section.rowSize &* 4)
    copyMemory(inputRows + channel &* 32, other.inputRows + from &* 32, 128)
  }

  /// Clears a new channel.
  @_noLocks func clear(_ channel: Int) {
    states[channel] = .zero
    setMemory(inputRows + channel &* 32, 0, 128)
  }
}

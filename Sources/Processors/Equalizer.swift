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

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { EqualizerMemory(configuration.inputs[0], Int(configuration.value(Self.bands)), &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = Int(configuration.value(Self.bands))
    channels = configuration.inputs[0]
    var arena = Arena(memory)
    self.memory = EqualizerMemory(channels, count, &arena)
    for band in 0..<count {
      self.memory.sections[band] = Section()
      let type = configuration.value(Self.type(band))
      self.memory.sections[band].build(
        Self.coefficients(
          type, Frames(repeating: configuration.value(Self.freq(band))),
          Frames(repeating: configuration.value(Self.gain(band))),
          Frames(repeating: configuration.value(Self.q(band))), Float(configuration.rate)))
    }
    for index in 0..<channels * count { self.memory.states[index] = .zero }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = EqualizerMemory(inputs, count, &arena)
    copyMemory(wide.sections, self.memory.sections, count &* MemoryLayout<Section>.stride)
    copyMemory(wide.rows, self.memory.rows, count &* Section.rowSize &* 4)
    var channel = 0
    while channel < inputs {
      let from = Widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 {
        copyMemory(wide.inputRows + channel &* 32, self.memory.inputRows + from &* 32, 128)
        copyMemory(wide.states + channel &* count, self.memory.states + from &* count, count &* 8)
      } else {
        setMemory(wide.inputRows + channel &* 32, 0, 128)
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
    if block.frames == 64, restsWhole(block) {
      let output = block.outputs[0]
      var channel = 0
      while channel < channels {
        var from = input[channel]
        var band = 0
        while band < count {
          memory.sections[band].rest()
          Section.rest(
            memory.sections + band, from, output[channel], memory.states + (channel &* count &+ band))
          from = UnsafePointer(output[channel])
          band &+= 1
        }
        channel &+= 1
      }
      return isAsleep ? .silent : .sounding
    }
    var lane = Int(block.time & 15)
    if lane != 0, block.time &- Int64(lane) != groupTime { beginMidway() }
    var frame = 0
    while frame < block.frames {
      let have = lane &+ block.frames &- frame < 16 ? lane &+ block.frames &- frame : 16
      var band = 0
      while band < count {
        setBand(block, band, frame, lane, have)
        band &+= 1
      }
      filterGroup(block, frame, lane, have)
      groupTime = block.time &+ Int64(frame &- lane)
      frame &+= have &- lane
      lane = 0
    }
    return isAsleep ? .silent : .sounding
  }

  @inline(__always) @_noLocks private func rests(_ block: Block, _ band: Int) -> Bool {
    block.parameters[Self.freq(band)].isSteady && block.parameters[Self.gain(band)].isSteady
      && block.parameters[Self.q(band)].isSteady && block.crossfades[Self.type(band)].blend == nil
  }

  @inline(__always) @_noLocks private func parameters(_ block: Block, _ band: Int) -> SIMD4<Float> {
    SIMD4(
      block.parameters[Self.freq(band)].value(0), block.parameters[Self.q(band)].value(0),
      block.parameters[Self.gain(band)].value(0), block.crossfades[Self.type(band)].new)
  }

  @_noLocks private func restsWhole(_ block: Block) -> Bool {
    var band = 0
    while band < count {
      if !rests(block, band) { return false }
      if !memory.sections[band].knows(parameters(block, band), block.rate) { return false }
      band &+= 1
    }
    return true
  }

  /// The first block starts within a group: the frames before it were silence.
  @_noLocks private func beginMidway() {
    setMemory(memory.inputRows, 0, channels &* 128)
    var band = 0
    while band < count {
      memory.sections[band].begin()
      band &+= 1
    }
  }

  /// Sets a band's coefficients for frames `lane..<have` of a group.
  @_noLocks private func setBand(_ block: Block, _ band: Int, _ frame: Int, _ lane: Int, _ have: Int) {
    let section = memory.sections + band
    let rows = memory.rows + band &* Section.rowSize
    let rests = rests(block, band)
    let parameters = parameters(block, band)
    if rests, section.pointee.knows(parameters, block.rate) {
      section.pointee.setCoefficients(section.pointee.coefficients, from: lane, to: have, rows: rows)
      return
    }
    let freq = block.parameters[Self.freq(band)].vector(0, frame)
    let gain = block.parameters[Self.gain(band)].vector(0, frame)
    let q = block.parameters[Self.q(band)].vector(0, frame)
    let type = block.crossfades[Self.type(band)]
    var c = Self.coefficients(type.new, freq, gain, q, block.rate)
    if let blend = type.blend {
      let b = blend.vector(frame)
      c.fade(from: Self.coefficients(type.old, freq, gain, q, block.rate), b)
    }
    section.pointee.setCoefficients(c, from: lane, to: have, rows: rows)
    if rests, section.pointee.holds(c) { section.pointee.learn(parameters, block.rate) }
  }

  /// Filters frames `lane..<have` of one group, on all channels; they begin at `frame` of the block.
  @_noLocks private func filterGroup(_ block: Block, _ frame: Int, _ lane: Int, _ have: Int) {
    let input = block.inputs[0]
    let output = block.outputs[0]
    let inputs = GroupInputs(memory.inputRows)
    var channel = 0
    while channel < channels {
      var x = inputs.store(channel, input[channel].vector(frame), lane: lane, have: have)
      var band = 0
      while band < count {
        let y = memory.sections[band].filterGroup(
          x, memory.states + (channel &* count &+ band), have, memory.rows + band &* Section.rowSize)
        x = memory.between
        x.store(y, 0)
        // Frames still to come must not reach the next band.
        var behind = have
        while behind < 16 {
          x[behind] = 0
          behind &+= 1
        }
        band &+= 1
      }
      copyMemory(output[channel] + frame, x + lane, (have &- lane) &* 4)
      channel &+= 1
    }
    if have == 16 {
      var band = 0
      while band < count {
        memory.sections[band].settle(memory.rows + band &* Section.rowSize)
        band &+= 1
      }
    }
  }

  /// `gain` is linear.
  @_noLocks private static func coefficients(
    _ type: Float, _ freq: Frames, _ gain: Frames, _ q: Frames, _ rate: Float
  ) -> SectionCoefficients {
    let k = 1 / limited(q, 0.05, 200)
    if type > 2 {
      let pass: Pass = type == 3 ? .low : type == 4 ? .high : type == 5 ? .notch : .band
      return SectionCoefficients(pass, k, freq, rate)
    }
    return SectionCoefficients(analogue(type, gain, k), freq, rate)
  }

  /// A peak or a shelf.
  @inline(__always) @_noLocks private static func analogue(
    _ type: Float, _ gain: Frames, _ k: Frames
  ) -> Analogue {
    // Limited to 60 dB either way, whatever the modulation; `root` is the cookbook's A.
    let squared = limited(gain, 0.001, 1000)
    let root = squareRoots(squared)
    let one = Analogue.one
    if type == 0 {
      let bell = k / root
      return Analogue(over: (one, bell * squared, one), under: (one, bell, one), low: one, warp: .width)
    }
    let slope = k * squareRoots(root)
    if type == 1 {
      return Analogue(
        over: (squared, slope * root, root), under: (one, slope, root), low: squared, warp: .shelf)
    }
    return Analogue(over: (root, slope * root, squared), under: (root, slope, one), low: one, warp: .shelf)
  }
}

/// Memory of an equalizer. Band b of channel c has the state `c * bands + b`.
private struct EqualizerMemory: BitwiseCopyable {
  let sections: UnsafeMutablePointer<Section>
  let rows: UnsafeMutablePointer<Float>
  let states: UnsafeMutablePointer<SIMD2<Float>>
  let inputRows: UnsafeMutablePointer<Float>
  /// One group between two bands.
  let between: UnsafeMutablePointer<Float>

  @_noLocks init(_ channels: Int, _ bands: Int, _ arena: inout Arena) {
    sections = arena.reserve(bands &* MemoryLayout<Section>.stride).assumingMemoryBound(to: Section.self)
    rows = arena.take(Float.self, bands &* Section.rowSize)
    states = arena.reserve(channels &* bands &* 8).assumingMemoryBound(to: SIMD2<Float>.self)
    inputRows = arena.take(Float.self, channels &* 32)
    between = arena.take(Float.self, 32)
  }
}

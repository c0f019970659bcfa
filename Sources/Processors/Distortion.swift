import CVector
import Glibc
import Patch
import Realtime

/// A waveshaper on every channel.
///
/// Signal path: input * drive, upsampling (by two or four), curve (`Curve`), downsampling, tone, mix with the dry
/// input. The half-band filters have linear phase: oversampled by 2 or 4 the wet sound is `latency` frames late (32 or
/// 39, of which the curve takes 1 and a half), and the dry path is delayed by as much. Without oversampling the curve is
/// taken frame by frame: that is the cheapest, has no latency, and aliases.
public struct Distortion: Kernel {
  public static let description = KindDescription(
    name: "distortion", summary: "Drives sound through a curve, oversampled.", category: .effect,
    inputs: [PortDescription("in", .flexible)], outputs: [PortDescription("out", .flexible)],
    parameters: [
      .gain("drive", "How far into the curve.", default: 12, upTo: 60),
      .choice("shape", "The curve: soft, folding back, or clipping.", ["tanh", "fold", "hard"]),
      .number(
        "tone", "Tilts the distorted sound around 1 kHz: -1 dark, 1 bright.", default: 0, range: -1...1),
      .percent("mix", "How much of it is distorted.", default: 100),
      .count(
        "oversample", "1, 2 or 4 times the rate; 1 is cheap, has no latency, and aliases.", default: 2,
        range: 1...4),
    ], amplification: .never)

  /// Positions in `description.parameters`.
  public static var drive: Int { @_noLocks get { 0 } }
  public static var shape: Int { @_noLocks get { 1 } }
  public static var tone: Int { @_noLocks get { 2 } }
  public static var mix: Int { @_noLocks get { 3 } }
  public static var oversample: Int { @_noLocks get { 4 } }

  private let oversampling: Int
  private var channels: Int
  private(set) var memory: DistortionMemory
  /// Coefficient of the low-pass that splits the tone.
  private(set) var pole: Float
  /// Its decay over sixteen frames.
  private(set) var decay: Float
  private var quiet = QuietCell()
  private var quietCells = 0
  private var isAsleep = true
  /// It is awake, without oversampling, and the tone of no channel has been followed in this cell.
  private var isLean = false

  private static func oversampling(_ configuration: KernelConfiguration) -> Int {
    let wanted = configuration.value(Self.oversample)
    return wanted < 1.5 ? 1 : wanted < 2.5 ? 2 : 4
  }

  public static var worksInPlace: Bool { true }

  /// Latency, in frames.
  public var latency: Int { @_noLocks get { Self.latency(oversampling) } }
  @_noLocks private static func latency(_ oversampling: Int) -> Int {
    oversampling == 1 ? 0 : oversampling == 2 ? 32 : 39
  }

  public static func latency(_ configuration: KernelConfiguration) -> Int {
    latency(oversampling(configuration))
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes {
      DistortionMemory(configuration.inputs[0], oversampling: oversampling(configuration), &$0)
    }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    oversampling = Self.oversampling(configuration)
    channels = configuration.inputs[0]
    pole = 0
    decay = 0
    var arena = Arena(memory)
    self.memory = DistortionMemory(channels, oversampling: oversampling, &arena)
    self.memory.outer.design(beta: 8)
    self.memory.inner.design(beta: 10)
    tune(configuration.rate)
  }

  /// Tunes the tone's one-pole low-pass to 1 kHz, by the trapezoidal rule. Worker.
  private mutating func tune(_ rate: Double) {
    let g = tan(.pi * min(1000 / rate, 0.45))
    pole = Float(g / (1 + g))
    let remains = (1 - g) / (1 + g)
    decay = Float(pow(remains, 16))
    for frame in 0..<16 { memory.decays[frame] = Float(2 * g / (1 + g) * pow(remains, Double(15 - frame))) }
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    tune(new)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = DistortionMemory(inputs, oversampling: oversampling, &arena)
    wide.outer.copy(from: self.memory.outer)
    wide.inner.copy(from: self.memory.inner)
    copyMemory(wide.decays, self.memory.decays, 64)
    var channel = 0
    while channel < inputs {
      let from = widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 {
        copyMemory(wide.place(channel), self.memory.place(from), wide.rowSize)
      }
      channel &+= 1
    }
    self.memory = wide
    channels = inputs
    isLean = false
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietCells = quiet.isQuiet ? quietCells &+ 1 : 0
    // By then every history holds zeros, but the tone's low-pass may still ring.
    guard quietCells > 3 else { return false }
    var channel = 0
    while channel < channels {
      let state = memory.tone(channel).state
      state.pointee.settle(memory.decays[15])
      if sostenuto_magnitudes_exceed(state.pointee.summands, 1e-10) { return false }
      channel &+= 1
    }
    channel = 0
    while channel < channels {
      memory.tone(channel).state.pointee.setLow(0)
      channel &+= 1
    }
    isAsleep = true
    isLean = false
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    // Apart from all others, which need more registers and memory.
    guard isLean, !block.inputs[0].isSilent, onlyClips(block) else { return processAny(block) }
    quiet.update(block, silent: false)
    quietCells = 0
    clip(block, 0)
    if channels > 1 { clipOthers(block) }
    return .sounding
  }

  @inline(never) @_noLocks private mutating func processAny(_ block: Block) -> Activity {
    let input = block.inputs[0]
    if input.isSilent && isAsleep { return .silent }
    if oversampling == 1, !isAsleep, !isLean, !input.isSilent, onlyClips(block) {
      becomeLean()
      return process(block)
    }
    isLean = false
    if isAsleep, block.time & 63 != 0 { beginMidway() }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { quietCells = 0 }
    var channel = 0
    if oversampling == 1 {
      while channel < channels {
        processAny(block, channel)
        channel &+= 1
      }
      return .sounding
    }
    while channel < channels {
      let row = memory.row(channel)
      loadInput(block, channel, row)
      if oversampling == 2 {
        memory.outer.up(row.input, even: row.driven, block.frames)
        shape(
          block, row, row.driven, memory.outer.odd(row.input), even: row.even, odd: row.odd, doubling: 0)
        memory.outer.down(even: row.even, odd: row.odd, row.wet, block.frames)
      } else {
        fourfold(block, row)
      }
      mixOutput(block, channel, row.tone, row.wet, row.dry - latency)
      row.keep(block.frames, oversampling)
      channel &+= 1
    }
    return .sounding
  }

  @_noLocks private mutating func beginMidway() {
    var channel = 0
    while channel < channels {
      memory.tone(channel).beginMidway()
      channel &+= 1
    }
  }

  /// Stores the driven input and the dry input.
  @_noLocks private mutating func loadInput(_ block: Block, _ channel: Int, _ row: DistortionRow) {
    let input = block.inputs[0][channel]
    let drive = block.parameters[Self.drive]
    var frame = 0
    while frame < block.frames {
      let x = input.vector(frame)
      row.input.store(x * drive.vector(channel, frame), frame)
      row.dry.store(x, frame)
      frame &+= 16
    }
  }

  /// Upsamples and downsamples twice.
  @_noLocks private mutating func fourfold(_ block: Block, _ row: DistortionRow) {
    let frames = block.frames
    memory.outer.up(row.input, even: row.wet, frames)
    let odd = memory.outer.odd(row.input)
    var frame = 0
    while frame < frames {
      let both = interleaved(row.wet.vector(frame), odd.vector(frame))
      row.double.store(both.lowHalf, 2 &* frame)
      row.double.store(both.highHalf, 2 &* frame &+ 16)
      frame &+= 16
    }
    memory.inner.up(row.double, even: row.driven, 2 &* frames)
    shape(
      block, row, row.driven, memory.inner.odd(row.double), even: row.innerEven, odd: row.innerOdd,
      doubling: 1)
    memory.inner.down(even: row.innerEven, odd: row.innerOdd, row.halved, 2 &* frames)
    frame = 0
    while frame < frames {
      let both = SIMD32(
        lowHalf: row.halved.vector(2 &* frame), highHalf: row.halved.vector(2 &* frame &+ 16))
      row.even.store(both.evenHalf, frame)
      row.odd.store(both.oddHalf, frame)
      frame &+= 16
    }
    memory.outer.down(even: row.even, odd: row.odd, row.wet, frames)
  }

  /// True for a whole block without oversampling in which every channel is clipped, and nothing else.
  @inline(__always) @_noLocks private func onlyClips(_ block: Block) -> Bool {
    let (tone, mix) = (block.parameters[Self.tone], block.parameters[Self.mix])
    let (drive, shape) = (block.parameters[Self.drive], block.crossfades[Self.shape])
    // All that moves at once, and numbers by their bits: few branches.
    let moving =
      Int(bitPattern: drive.stream) | Int(bitPattern: tone.stream) | Int(bitPattern: mix.stream)
      | Int(bitPattern: shape.blend)
    guard moving == 0, tone.elements &* mix.elements == 1 else { return false }
    return block.frames == blockCapacity && shape.new.bitPattern == Float(2).bitPattern
      && tone.values.pointee.bitPattern &<< 1 == 0 && mix.values.pointee >= 100
  }

  /// A channel of such a block.
  @inline(__always) @_noLocks private mutating func clip(_ block: Block, _ channel: Int) {
    let (input, output, drive) = (block.inputs[0], block.outputs[0], block.parameters[Self.drive])
    let (a, b, c, d) = BareCurve(input[channel], drive, channel, blockCapacity).clipWhole(
      to: output[channel])
    memory.plainRow(channel).tone.state.pointee.passCell(a, b, c, d, decay: decay)
  }

  /// All channels but the first. Apart, since a loop in the caller would make it save registers for one channel too.
  @inline(never) @_noLocks private mutating func clipOthers(_ block: Block) {
    var channel = 1
    while channel < channels {
      clip(block, channel)
      channel &+= 1
    }
  }

  /// Brings the tone filters of all channels to the state in which whole cells are rendered.
  @inline(never) @_noLocks private mutating func becomeLean() {
    var channel = 0
    while channel < channels {
      let state = memory.plainRow(channel).tone.state
      state.pointee.isFollowed = false
      state.pointee.settle(memory.decays[15])
      channel &+= 1
    }
    isLean = true
  }

  @inline(never) @_noLocks private mutating func processAny(_ block: Block, _ channel: Int) {
    let row = memory.plainRow(channel)
    let input = block.inputs[0][channel]
    let curve = BareCurve(input, block.parameters[Self.drive], channel, block.frames)
    let shape = block.crossfades[Self.shape]
    // The output may be the memory of the input, and the mix still needs that.
    let wet = isWet(block, channel) ? block.outputs[0][channel] : row.wet
    if let blend = shape.blend {
      curve.run(shape.old, to: row.old)
      curve.run(shape.new, to: wet)
      Self.fade(row.old, wet, blend, 0, block.frames)
    } else {
      curve.run(shape.new, to: wet)
    }
    mixOutput(block, channel, row.tone, wet, input)
  }

  /// Applies the curve to two phases, or crossfades two curves. `doubling` is 1 when a phase has two frames for
  /// each of the block's.
  @_noLocks private mutating func shape(
    _ block: Block, _ row: DistortionRow, _ fromEven: UnsafeMutablePointer<Float>,
    _ fromOdd: UnsafeMutablePointer<Float>, even: UnsafeMutablePointer<Float>,
    odd: UnsafeMutablePointer<Float>, doubling: Int
  ) {
    let shape = block.crossfades[Self.shape]
    let frames = block.frames &<< doubling
    row.curves.apply(shape.new, fromEven, fromOdd, toEven: even, toOdd: odd, frames)
    guard let blend = shape.blend else { return }
    row.curves.apply(shape.old, fromEven, fromOdd, toEven: row.oldEven, toOdd: row.oldOdd, frames)
    Self.fade(row.oldEven, even, blend, doubling, frames)
    Self.fade(row.oldOdd, odd, blend, doubling, frames)
  }

  /// Fades from `old` to what `new` holds.
  @_noLocks private static func fade(
    _ old: UnsafeMutablePointer<Float>, _ new: UnsafeMutablePointer<Float>, _ blend: UnsafePointer<Float>,
    _ doubling: Int, _ frames: Int
  ) {
    var frame = 0
    while frame < frames {
      var b = blend.vector(frame &>> doubling)
      if doubling == 1 {
        let eight = b.lowHalf
        b.evenHalf = eight
        b.oddHalf = eight
      }
      new.store(old.vector(frame) * (1 - b) + new.vector(frame) * b, frame)
      frame &+= 16
    }
  }
}

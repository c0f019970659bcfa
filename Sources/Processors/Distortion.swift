import Glibc
import Patch
import Realtime

/// A waveshaper on every channel.
///
/// Signal path: input * drive, upsampling (by two or four), curve, downsampling, tone, mix with the dry
/// input. The half-band filters have linear phase: the wet sound is `latency` frames late (0, 31 or 39 for
/// oversampling by 1, 2, 4), and the dry path is delayed by as much.
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
      .count("oversample", "1, 2 or 4 times the rate; 3 counts as 4.", default: 2, range: 1...4),
    ])

  /// Positions in `description.parameters`.
  public static var drive: Int { @_noLocks get { 0 } }
  public static var shape: Int { @_noLocks get { 1 } }
  public static var tone: Int { @_noLocks get { 2 } }
  public static var mix: Int { @_noLocks get { 3 } }
  public static var oversample: Int { @_noLocks get { 4 } }

  private let oversampling: Int
  private var channels: Int
  private var memory: DistortionMemory
  /// Coefficient of the low-pass that splits the tone.
  private var pole: Float
  private var quiet = QuietCell()
  private var quietCells = 0
  private var isAsleep = true

  private static func oversampling(_ configuration: KernelConfiguration) -> Int {
    let wanted = configuration.value(Self.oversample)
    return wanted < 1.5 ? 1 : wanted < 2.5 ? 2 : 4
  }

  /// Latency, in frames.
  public var latency: Int { @_noLocks get { Self.latency(oversampling) } }
  @_noLocks private static func latency(_ oversampling: Int) -> Int {
    oversampling == 1 ? 0 : oversampling == 2 ? 31 : 39
  }

  public static func latency(_ configuration: KernelConfiguration) -> Int {
    latency(oversampling(configuration))
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { DistortionMemory(configuration.inputs[0], &$0) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    oversampling = Self.oversampling(configuration)
    channels = configuration.inputs[0]
    pole = Self.pole(configuration.rate)
    var arena = Arena(memory)
    self.memory = DistortionMemory(channels, &arena)
    self.memory.outer.design(beta: 8)
    self.memory.inner.design(beta: 10)
  }

  /// A one-pole low-pass at 1 kHz, by the trapezoidal rule.
  private static func pole(_ rate: Double) -> Float {
    let g = tan(.pi * min(1000 / rate, 0.45))
    return Float(g / (1 + g))
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    pole = Self.pole(new)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let inputs = widening.inputs[0]
    var arena = Arena(memory)
    let wide = DistortionMemory(inputs, &arena)
    wide.outer.copy(from: self.memory.outer)
    wide.inner.copy(from: self.memory.inner)
    var channel = 0
    while channel < inputs {
      let from = Widening.source(of: channel, from: channels, to: inputs)
      if from >= 0 {
        copyMemory(wide.row(channel).tone, self.memory.row(from).tone, DistortionRow.size)
      }
      channel &+= 1
    }
    self.memory = wide
    channels = inputs
  }

  @_noLocks public mutating func isFinished() -> Bool {
    quietCells = quiet.isQuiet ? quietCells &+ 1 : 0
    // By then every history holds zeros, but the tone's low-pass may still ring.
    guard quietCells > 3 else { return false }
    var channel = 0
    while channel < channels {
      if !isInaudible(memory.row(channel).tone[0]) { return false }
      channel &+= 1
    }
    channel = 0
    while channel < channels {
      memory.row(channel).tone[0] = 0
      channel &+= 1
    }
    isAsleep = true
    return true
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let input = block.inputs[0]
    if input.isSilent && isAsleep { return .silent }
    isAsleep = false
    quiet.update(block, silent: input.isSilent)
    if !input.isSilent { quietCells = 0 }
    var channel = 0
    while channel < channels {
      let row = memory.row(channel)
      loadInput(block, channel, row)
      if oversampling == 1 {
        shape(block, row.input, row.wet, 0, block.frames)
      } else if oversampling == 2 {
        memory.outer.up(row.input, even: row.even, odd: row.odd, block.frames)
        shape(block, row.even, row.even, 0, block.frames)
        shape(block, row.odd, row.odd, 0, block.frames)
        memory.outer.down(even: row.even, odd: row.odd, row.wet, block.frames)
      } else {
        fourfold(block, row)
      }
      mixOutput(block, channel, row)
      row.keep(block.frames)
      channel &+= 1
    }
    return .sounding
  }

  /// Stores the driven input and the dry input.
  @_noLocks private func loadInput(_ block: Block, _ channel: Int, _ row: DistortionRow) {
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

  /// Applies tone, and mixes with the dry sound.
  @_noLocks private func mixOutput(_ block: Block, _ channel: Int, _ row: DistortionRow) {
    let tone = block.parameters[Self.tone]
    let mix = block.parameters[Self.mix]
    let output = block.outputs[0][channel]
    let dry = row.dry - latency
    var state = row.tone.pointee
    var frame = 0
    while frame < block.frames {
      let v = (row.wet[frame] - state) * pole
      let low = v + state
      state = low + v
      output[frame] = low
      frame &+= 1
    }
    row.tone.pointee = state
    frame = 0
    while frame < block.frames {
      let t = limited(tone.vector(channel, frame), -1, 1)
      let high = powerOfTwo(t)
      let wet = row.wet.vector(frame)
      let y = wet * high + output.vector(frame) * (powerOfTwo(0 - t) - high)
      let m = limited(mix.vector(channel, frame) / 100, 0, 1)
      output.store(dry.vector(frame) * (1 - m) + y * m + 0, frame)
      frame &+= 16
    }
  }

  /// Upsamples and downsamples twice. One extra frame at the doubled rate makes the delay a whole number.
  @_noLocks private func fourfold(_ block: Block, _ row: DistortionRow) {
    let frames = block.frames
    memory.outer.up(row.input, even: row.wet, odd: row.odd, frames)
    var frame = 0
    while frame < frames {
      row.double[2 &* frame] = row.wet[frame]
      row.double[2 &* frame &+ 1] = row.odd[frame]
      frame &+= 1
    }
    memory.inner.up(row.double, even: row.innerEven, odd: row.innerOdd, 2 &* frames)
    shape(block, row.innerEven, row.innerEven, 1, 2 &* frames)
    shape(block, row.innerOdd, row.innerOdd, 1, 2 &* frames)
    memory.inner.down(even: row.innerEven, odd: row.innerOdd, row.halved + 1, 2 &* frames)
    frame = 0
    while frame < frames {
      row.even[frame] = row.halved[2 &* frame]
      row.odd[frame] = row.halved[2 &* frame &+ 1]
      frame &+= 1
    }
    row.halved[0] = row.halved[2 &* frames]
    memory.outer.down(even: row.even, odd: row.odd, row.wet, frames)
  }

  /// Applies the curve, or crossfades two curves. `doubling` is 1 when there are two frames for each of the
  /// block's.
  @_noLocks private func shape(
    _ block: Block, _ from: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>,
    _ doubling: Int, _ frames: Int
  ) {
    let shape = block.crossfades[Self.shape]
    var frame = 0
    while frame < frames {
      let x = from.vector(frame)
      var y = Self.curve(shape.new, x)
      if let blend = shape.blend {
        var b = blend.vector(frame &>> doubling)
        if doubling == 1 {
          let eight = b.lowHalf
          b.evenHalf = eight
          b.oddHalf = eight
        }
        y = Self.curve(shape.old, x) * (1 - b) + y * b
      }
      to.store(y, frame)
      frame &+= 16
    }
  }

  @inline(__always) @_noLocks private static func curve(_ shape: Float, _ x: Frames) -> Frames {
    if shape == 0 { return hyperbolicTangents(x) }
    if shape == 1 { return foldings(x) }
    return limited(x, -1, 1)
  }
}

/// tanh by Lambert's continued fraction to seven terms, within 0.0001, limited to -1...1.
@_noLocks func hyperbolicTangents(_ x: Frames) -> Frames {
  let held = limited(x, -5, 5)
  let s = held * held
  let above = ((s + 378) * s + 17_325) * s + 135_135
  let below = ((28 * s + 3_150) * s + 62_370) * s + 135_135
  return limited(held * above / below, -1, 1)
}

/// sin x: values beyond -1...1 fold back.
@_noLocks func foldings(_ x: Frames) -> Frames {
  let quarters = limited(x, -100_000, 100_000) * (2 / Float.pi)
  // Adding and subtracting a large number rounds to the nearest whole cycle.
  let cycles = (quarters * 0.25 + 12_582_912) - 12_582_912
  let inner = quarters - 4 * cycles
  let folded = copySign(pointwiseMin(magnitude(inner), 2 - magnitude(inner)), inner)
  return sineOfQuarters(folded)
}

/// 2^x for x in -1...1, by its Taylor series; exactly 1 at 0.
@inline(__always) @_noLocks func powerOfTwo(_ x: Frames) -> Frames {
  let y = x * 0.693_147_2
  var sum = y * 2.480_158_7e-5 + 1.984_127e-4
  sum = sum * y + 1.388_888_9e-3
  sum = sum * y + 8.333_333e-3
  sum = sum * y + 4.166_666_8e-2
  sum = sum * y + 0.166_666_67
  sum = sum * y + 0.5
  return sum * y * y + y + 1
}

/// One channel's buffers, each with room for its history before the block.
private struct DistortionRow {
  let tone: UnsafeMutablePointer<Float>
  let wet: UnsafeMutablePointer<Float>
  let dry: UnsafeMutablePointer<Float>
  let input: UnsafeMutablePointer<Float>
  let even: UnsafeMutablePointer<Float>
  let odd: UnsafeMutablePointer<Float>
  let double: UnsafeMutablePointer<Float>
  let innerEven: UnsafeMutablePointer<Float>
  let innerOdd: UnsafeMutablePointer<Float>
  let halved: UnsafeMutablePointer<Float>

  @_noLocks init(_ arena: inout Arena) {
    tone = arena.take(Float.self, 16)
    wet = arena.take(Float.self, 64)
    dry = arena.take(Float.self, 64, after: 48)
    input = arena.take(Float.self, 64, after: 32)
    even = arena.take(Float.self, 64, after: 32)
    odd = arena.take(Float.self, 64, after: 16)
    double = arena.take(Float.self, 128, after: 16)
    innerEven = arena.take(Float.self, 128, after: 16)
    innerOdd = arena.take(Float.self, 128, after: 16)
    halved = arena.take(Float.self, 1 &+ 128)
  }

  /// Bytes of a row, which begins with `tone`.
  static var size: Int {
    @_noLocks get {
      var arena = Arena(measuring: ())
      _ = Self(&arena)
      return arena.bytes
    }
  }

  @_noLocks func keep(_ frames: Int) {
    keepHistory(dry - 48, 48, frames)
    keepHistory(input - 32, 32, frames)
    keepHistory(even - 32, 32, frames)
    keepHistory(odd - 16, 16, frames)
    keepHistory(double - 16, 16, 2 &* frames)
    keepHistory(innerEven - 16, 16, 2 &* frames)
    keepHistory(innerOdd - 16, 16, 2 &* frames)
  }
}

/// Memory of a distortion.
private struct DistortionMemory: BitwiseCopyable {
  /// `outer`: 63 taps, between the node's rate and twice it. `inner`: 31 taps, between two and four times the
  /// rate.
  let outer: HalfBand
  let inner: HalfBand
  private let rows: UnsafeMutableRawPointer

  @_noLocks init(_ channels: Int, _ arena: inout Arena) {
    outer = HalfBand(half: 16, &arena)
    inner = HalfBand(half: 8, &arena)
    rows = arena.reserve(channels &* DistortionRow.size)
  }

  @_noLocks func row(_ channel: Int) -> DistortionRow {
    var arena = Arena(rows + channel &* DistortionRow.size)
    return DistortionRow(&arena)
  }
}

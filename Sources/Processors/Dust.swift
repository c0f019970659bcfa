import CVector
import Patch
import Realtime

/// Random impulses, or values that are held from one random time to the next: a Poisson process.
///
/// Chance and value of each frame are hashes of its number, as those of `Noise`, so that any split gives the same.
public struct Dust: Kernel {
  public static let description = KindDescription(
    name: "dust", summary: "Random impulses, or random values that are held.", category: .source,
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .choice(
        "shape", "Impulses of one polarity or both, of any height; or steps to random values.",
        ["impulses", "bipolar", "steps"]),
      .number(
        "density", "How many a second, in the mean; a list gives one a channel.", default: 20,
        range: 0...200_000, unit: .hertz, isPerChannel: true),
      .gain("level", "Their highest.", default: -6, isPerChannel: true),
      .count(
        "channels", "How many, one a channel; at least one for each channel of cables into parameters.",
        default: 1, smoothing: .kernel),
    ], amplification: .never, cost: .init(10, perChannel: 40))

  /// Positions in `description.parameters`.
  public static var shape: Int { @_noLocks get { 0 } }
  public static var density: Int { @_noLocks get { 1 } }
  public static var level: Int { @_noLocks get { 2 } }
  public static var channels: Int { @_noLocks get { 3 } }

  private var count: Int
  private let seed: UInt64
  private var frame: UInt32 = 0
  /// Values that are held.
  private var held: UnsafeMutablePointer<Float>
  private var mute = QuietCell()

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { $0.take(Float.self, configuration.outputs[0]) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    seed = configuration.seed
    var arena = Arena(memory)
    held = arena.take(Float.self, count)
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = arena.take(Float.self, wide)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new[channel] = from >= 0 ? held[from] : 0
      channel &+= 1
    }
    (held, count) = (new, wide)
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let (density, level) = (block.parameters[Self.density], block.parameters[Self.level])
    let shape = block.crossfades[Self.shape]
    let isMute = level.isZero(block)
    mute.update(block, silent: isMute)
    let perFrame = 1 / block.rate
    var room = Arena(block.scratch)
    let (impulses, steps) = (room.take(Float.self, blockCapacity), room.take(Float.self, blockCapacity))
    var channel = 0
    while channel < count {
      let low = UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9
      let high =
        UInt32(truncatingIfNeeded: seed &>> 32) ^ UInt32(truncatingIfNeeded: channel &* 0x85eb_ca6b)
      var index = 0
      while index < block.frames {
        let number = unsafeBitCast(
          sostenuto_row(Int32(bitPattern: frame &+ UInt32(truncatingIfNeeded: index)), 1),
          to: SIMD16<UInt32>.self)
        let hash = Noise.mixed(Noise.mixed(number ^ low) &+ high)
        // In 24 bits, which are exact.
        let chance = converted(unsafeBitCast(hash &>> 8, to: SIMD16<Int32>.self)) * (1 / 16_777_216)
        let least = density.vector(channel, index) * perFrame
        let few = block.frames &- index
        let hits = sostenuto_join(least - chance, Frames(repeating: -1), Int32(truncatingIfNeeded: few))
        var (sparks, stairs) = (Frames(repeating: 0), Frames(repeating: held[channel]))
        if sostenuto_has_above(hits, 0) {
          let value =
            converted(unsafeBitCast(Noise.mixed(hash &+ 0x9e37_79b9), to: SIMD16<Int32>.self))
            * (1 / 2_147_483_648)
          sparks = sostenuto_where_above(hits, 0, value, Frames(repeating: 0))
          impulses.store(hits, index)
          steps.store(value, index)
          var frame = index
          while frame < index &+ 16 {
            if impulses[frame] > 0 { held[channel] = steps[frame] }
            steps[frame] = held[channel]
            frame &+= 1
          }
          stairs = steps.vector(index)
        }
        impulses.store(sparks, index)
        steps.store(stairs, index)
        index &+= 16
      }
      write(block, channel, shape, level, impulses, steps)
      channel &+= 1
    }
    frame &+= UInt32(truncatingIfNeeded: block.frames)
    return isMute ? .silent : .sounding
  }

  @inline(__always) @_noLocks private func write(
    _ block: Block, _ channel: Int, _ shape: CrossfadeStream, _ level: ParameterStream,
    _ impulses: UnsafePointer<Float>, _ steps: UnsafePointer<Float>
  ) {
    @inline(__always) @_noLocks func wave(_ shape: Float, _ frame: Int) -> Frames {
      if shape == 2 { return steps.vector(frame) }
      let y = impulses.vector(frame)
      return shape == 0 ? magnitude(y) : y
    }
    let to = block.outputs[0][channel]
    var frame = 0
    while frame < block.frames {
      var y = wave(shape.new, frame)
      if let blend = shape.blend {
        let b = blend.vector(frame)
        y = wave(shape.old, frame) * (1 - b) + y * b
      }
      to.store(y * level.vector(channel, frame) + 0, frame)
      frame &+= 16
    }
  }
}

import Glibc
import Patch
import Realtime

/// White and pink noise.
public struct Noise: Kernel {
  public static let description = KindDescription(
    name: "noise", summary: "White or pink noise, another one on each channel.", category: .source,
    outputs: [PortDescription("out", .parameter("channels"))],
    parameters: [
      .choice("color", "White: all frequencies alike. Pink: each octave alike.", ["white", "pink"]),
      .gain("level", "White: its peak; pink: as loud (RMS) as such white noise.", default: -12),
      .count("channels", "How many channels.", default: 1),
    ], amplification: .never, cost: .init(8, perChannel: 28))

  /// Positions in `description.parameters`.
  public static var color: Int { @_noLocks get { 0 } }
  public static var level: Int { @_noLocks get { 1 } }
  public static var channels: Int { @_noLocks get { 2 } }

  private let count: Int
  private let seed: UInt64
  private var frame: UInt32 = 0
  private var mute = QuietCell()
  private var pink: PinkFilter
  /// Eight poles per channel.
  private let states: UnsafeMutablePointer<SIMD8<Float>>
  private let white: UnsafeMutablePointer<Float>
  private let filtered: UnsafeMutablePointer<Float>

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    2 * blockCapacity * 4 + configuration.outputs[0] * MemoryLayout<SIMD8<Float>>.stride
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    seed = configuration.seed
    pink = PinkFilter(rate: configuration.rate)
    var arena = Arena(memory)
    white = arena.take(Float.self, blockCapacity)
    filtered = arena.take(Float.self, blockCapacity)
    states = arena.take(SIMD8<Float>.self, count)
    for channel in 0..<count { states[channel] = .zero }
  }

  public mutating func retune(from old: Double, to new: Double, memory: UnsafeMutableRawPointer?) {
    pink = PinkFilter(rate: new)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let level = block.parameters[Self.level]
    let color = block.crossfades[Self.color]
    // The noise and its filters go on while it is mute, until it sleeps at the end of a whole mute cell: where blocks end
    // within the cell, at which the level falls to zero, depends on the period.
    let isMute = level.isSteady && level.value(0) == 0
    mute.update(block, silent: isMute)
    let output = block.outputs[0]
    let isPink = color.old == 1 || color.new == 1
    var channel = 0
    while channel < count {
      makeWhite(channel, block.frames)
      if isPink { makePink(channel, block.frames) }
      let old = UnsafePointer(color.old == 1 ? filtered : white)
      let new = UnsafePointer(color.new == 1 ? filtered : white)
      var index = 0
      while index < block.frames {
        var y = new.vector(index)
        if let blend = color.blend {
          let b = blend.vector(index)
          y = old.vector(index) * (1 - b) + y * b
        }
        output[channel].store(y * level.vector(0, index) + 0, index)
        index &+= 16
      }
      channel &+= 1
    }
    frame &+= UInt32(truncatingIfNeeded: block.frames)
    return isMute ? .silent : .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  /// Each frame is a hash of its own number, so that any split gives the same noise. The hash is the mixer
  /// from M. O'Neill's and C. Wellons' searches for 32-bit hashes with low bias, used twice with two keys.
  @_noLocks private func makeWhite(_ channel: Int, _ frames: Int) {
    let low = UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9
    let high = UInt32(truncatingIfNeeded: seed &>> 32) ^ UInt32(truncatingIfNeeded: channel &* 0x85eb_ca6b)
    let lanes = SIMD16<UInt32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    var index = 0
    while index < frames {
      var h = lanes &+ (frame &+ UInt32(truncatingIfNeeded: index))
      h = Self.mixed(h ^ low)
      h = Self.mixed(h &+ high)
      let signed = SIMD16<Int32>(truncatingIfNeeded: h)
      white.store(converted(signed) * (1 / 2_147_483_648), index)
      index &+= 16
    }
  }

  @inline(__always) @_noLocks private static func mixed(_ value: SIMD16<UInt32>) -> SIMD16<UInt32> {
    var h = value
    h ^= h &>> 16
    h = h &* 0x7feb_352d
    h ^= h &>> 15
    h = h &* 0x846c_a68b
    h ^= h &>> 16
    return h
  }

  @_noLocks private func makePink(_ channel: Int, _ frames: Int) {
    var state = states[channel]
    var index = 0
    while index < frames {
      let x = white[index]
      state = state * pink.poles + x
      let parts = state * pink.gains
      filtered[index] = parts.sum() + x * pink.direct
      index &+= 1
    }
    states[channel] = state
  }
}

/// -3 dB per octave: poles and zeros alternate at equal distances on a logarithmic scale (J. O. Smith and H.
/// F. Smith, "Closed form fractional integration and differentiation via real exponentially spaced pole-zero
/// pairs", 2016). Realised as a sum of one-pole filters.
struct PinkFilter {
  private(set) var poles: SIMD8<Float>
  private(set) var gains: SIMD8<Float>
  private(set) var direct: Float

  /// Worker.
  init(rate: Double) {
    // From 5 Hz to the Nyquist frequency; each zero lies halfway to the next pole.
    let lowest = 5.0
    let ratio = pow(rate / 2 / lowest, 1.0 / 8)
    let p = (0..<8).map { exp(-2 * .pi * lowest * pow(ratio, Double($0)) / rate) }
    let z = (0..<8).map { exp(-2 * .pi * lowest * pow(ratio, Double($0) + 0.5) / rate) }
    // Partial fractions in the delay d: product of (1 - z d) / (1 - p d) = k + sum of r / (1 - p d).
    var k = 1.0
    var r = [Double](repeating: 1, count: 8)
    for i in 0..<8 {
      k *= z[i] / p[i]
      for j in 0..<8 {
        r[i] *= 1 - z[j] / p[i]
        if j != i { r[i] /= 1 - p[j] / p[i] }
      }
    }
    // Normalised by the energy of the impulse response, so that the loudness equals that of white noise.
    var energy = k * k
    for i in 0..<8 {
      energy += 2 * k * r[i]
      for j in 0..<8 { energy += r[i] * r[j] / (1 - p[i] * p[j]) }
    }
    let scale = 1 / energy.squareRoot()
    poles = .zero
    gains = .zero
    for i in 0..<8 {
      poles[i] = Float(p[i])
      gains[i] = Float(r[i] * scale)
    }
    direct = Float(k * scale)
  }
}

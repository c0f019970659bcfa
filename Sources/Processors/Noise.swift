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
      .gain(
        "level", "White: its peak; pink: as loud (RMS) as such white noise.", default: -12, isPerChannel: true
      ),
      .count(
        "channels", "How many channels; at least one for each channel of cables into `level`.", default: 1,
        smoothing: .kernel),
    ], amplification: .byModulation(of: ["level"]), cost: .init(8, perChannel: 28))

  /// Positions in `description.parameters`.
  public static var color: Int { @_noLocks get { 0 } }
  public static var level: Int { @_noLocks get { 1 } }
  public static var channels: Int { @_noLocks get { 2 } }

  private var count: Int
  private let seed: UInt64
  private var frame: UInt32 = 0
  private var mute = QuietCell()
  private var layout: Layout

  /// Frames of a block, and those of sixteen that it begins and ends in.
  private static var span: Int { @inline(__always) @_noLocks get { blockCapacity &+ 32 } }

  private struct Layout: BitwiseCopyable {
    let white, filtered: UnsafeMutablePointer<Float>
    let pink: PinkFilter
    /// Filters' states, eight a channel, at the start of the present sixteen frames.
    let states: UnsafeMutablePointer<SIMD8<Float>>

    @_noLocks init(_ arena: inout Arena, channels: Int) {
      white = arena.take(Float.self, Noise.span)
      filtered = arena.take(Float.self, Noise.span)
      pink = PinkFilter(&arena)
      states = arena.reserve(channels &* MemoryLayout<SIMD8<Float>>.stride)
        .assumingMemoryBound(to: SIMD8<Float>.self)
    }
  }

  public static func memorySize(_ configuration: KernelConfiguration) -> Int {
    Arena.bytes { Layout(&$0, channels: configuration.outputs[0]) }
  }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    count = configuration.outputs[0]
    seed = configuration.seed
    var arena = Arena(memory)
    layout = Layout(&arena, channels: count)
    layout.pink.prepare()
    for channel in 0..<count { layout.states[channel] = .zero }
  }

  @_noLocks public mutating func widen(_ widening: Widening, memory: UnsafeMutableRawPointer) {
    let wide = widening.outputs[0]
    var arena = Arena(memory)
    let new = Layout(&arena, channels: wide)
    new.pink.copy(layout.pink)
    var channel = 0
    while channel < wide {
      let from = widening.source(of: channel, from: count, to: wide)
      new.states[channel] = from >= 0 ? layout.states[from] : SIMD8(repeating: 0)
      channel &+= 1
    }
    (layout, count) = (new, wide)
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let level = block.parameters[Self.level]
    let color = block.crossfades[Self.color]
    // The noise and its filters go on while it is mute, until it sleeps at the end of a whole mute cell: where blocks end
    // within the cell, at which the level falls to zero, depends on the period.
    let isMute = level.isZero(block)
    mute.update(block, silent: isMute)
    let output = block.outputs[0]
    let (white, filtered) = (layout.white, layout.filtered)
    let isPink = color.old == 1 || color.new == 1
    // Whole groups of sixteen frames by the noise's own count, so that any split gives the same bits.
    let start = isPink ? Int(frame & 15) : 0
    var channel = 0
    while channel < count {
      let (steady, moving) = (level.value(channel), level.frames(channel))
      let to = output[channel]
      // A channel that is not heard costs nothing, but for filters that go on.
      if !isPink, moving == nil, steady == 0 {
        to.fill(0)
        channel &+= 1
        continue
      }
      makeWhite(channel, from: frame &- UInt32(truncatingIfNeeded: start), start &+ block.frames)
      if isPink {
        layout.states[channel] = layout.pink.filter(
          white, filtered, start &+ block.frames, layout.states[channel])
      }
      var from = UnsafePointer(color.new == 1 ? filtered : white) + start
      var index = 0
      if let blend = color.blend {
        let old = UnsafePointer(color.old == 1 ? filtered : white) + start
        while index < block.frames {
          let b = blend.vector(index)
          to.store(old.vector(index) * (1 - b) + from.vector(index) * b, index)
          index &+= 16
        }
        from = UnsafePointer(to)
      }
      index = 0
      if let moving {
        while index < block.frames {
          to.store(from.vector(index) * moving.vector(index) + 0, index)
          index &+= 16
        }
      } else {
        while index < block.frames {
          to.store(from.vector(index) * steady + 0, index)
          index &+= 16
        }
      }
      channel &+= 1
    }
    frame &+= UInt32(truncatingIfNeeded: block.frames)
    return isMute ? .silent : .sounding
  }

  @_noLocks public mutating func isFinished() -> Bool { mute.isQuiet }

  /// Each frame is a hash of its own number, so that any split gives the same noise. The hash is the mixer
  /// from M. O'Neill's and C. Wellons' searches for 32-bit hashes with low bias, used twice with two keys.
  @_noLocks private mutating func makeWhite(_ channel: Int, from frame: UInt32, _ frames: Int) {
    let low = UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9
    let high = UInt32(truncatingIfNeeded: seed &>> 32) ^ UInt32(truncatingIfNeeded: channel &* 0x85eb_ca6b)
    var number =
      SIMD16<UInt32>(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) &+ SIMD16(repeating: frame)
    var index = 0
    while index < frames {
      var h = Self.mixed(number ^ low)
      h = Self.mixed(h &+ high)
      let signed = SIMD16<Int32>(truncatingIfNeeded: h)
      layout.white.store(converted(signed) * (1 / 2_147_483_648), index)
      number = number &+ SIMD16(repeating: 16)
      index &+= 16
    }
  }

  /// The hash of one number.
  @inline(__always) @_noLocks static func mixed(_ value: UInt32) -> UInt32 {
    var h = value
    h ^= h &>> 16
    h = h &* 0x7feb_352d
    h ^= h &>> 15
    h = h &* 0x846c_a68b
    h ^= h &>> 16
    return h
  }

  @inline(__always) @_noLocks static func mixed(_ value: SIMD16<UInt32>) -> SIMD16<UInt32> {
    var h = value
    h ^= h &>> 16
    h = h &* 0x7feb_352d
    h ^= h &>> 15
    h = h &* 0x846c_a68b
    h ^= h &>> 16
    return h
  }
}

/// -3 dB per octave: poles and zeros alternate (J. O. Smith and H. F. Smith, "Closed form fractional integration and
/// differentiation via real exponentially spaced pole-zero pairs", 2016), here placed by least squares: within 0.03 dB
/// from 1/20000 of the sample rate to 0.47 of it. Realised as a sum of one-pole filters, as loud (RMS) as what comes in.
///
/// Sixteen frames at a time, since each frame of a recursion waits for the one before: what the poles hold decays over
/// the frames, and the frames pass through the first sixteen numbers of the impulse response.
struct PinkFilter: BitwiseCopyable {
  private static let poles: [Double] = [
    -0.463_791_797_3, 0.338_614_433_3, 0.768_379_234_3, 0.933_560_376_7, 0.982_131_507_5, 0.995_287_175_1,
    0.998_784_886_6, 0.999_762_228_4,
  ]
  private static let gains: [Double] = [
    -0.027_629_416_2, 0.227_387_051, 0.113_120_347, 0.059_368_738_2, 0.030_745_798_4, 0.015_953_034_2,
    0.008_675_314_87, 0.007_460_827_59,
  ]
  private static let direct = 0.065_481_762

  /// Sixteen zeros, then the impulse response.
  private let response: UnsafeMutablePointer<Float>
  /// Sixteen frames of the decay of each pole.
  private let decays: UnsafeMutablePointer<Float>
  /// Each pole to the power of 15, 14 … 0, and to the power of 16.
  private let powers: UnsafeMutablePointer<SIMD8<Float>>

  @_noLocks init(_ arena: inout Arena) {
    response = arena.take(Float.self, 32)
    decays = arena.take(Float.self, 8 &* 16)
    powers = arena.reserve(17 &* MemoryLayout<SIMD8<Float>>.stride).assumingMemoryBound(to: SIMD8<Float>.self)
  }

  /// Takes over the numbers of another one. Audio thread.
  @_noLocks func copy(_ other: Self) {
    copyMemory(response, other.response, 32 &* 4)
    copyMemory(decays, other.decays, 8 &* 16 &* 4)
    copyMemory(powers, other.powers, 17 &* MemoryLayout<SIMD8<Float>>.stride)
  }

  /// Worker.
  func prepare() {
    for frame in 0..<16 {
      var sum = frame == 0 ? Self.direct : 0
      var row = SIMD8<Float>(repeating: 0)
      for pole in 0..<8 {
        let decayed = pow(Self.poles[pole], Double(frame))
        sum += Self.gains[pole] * decayed
        decays[pole * 16 + frame] = Float(Self.gains[pole] * decayed * Self.poles[pole])
        row[pole] = Float(decayed)
      }
      response[frame] = 0
      response[16 + frame] = Float(sum)
      powers[15 - frame] = row
    }
    for pole in 0..<8 { powers[16][pole] = Float(pow(Self.poles[pole], 16)) }
  }

  /// Filters groups of sixteen frames up to `end`. Returns the state after the last whole group. Audio thread.
  @_noLocks func filter(
    _ from: UnsafeMutablePointer<Float>, _ to: UnsafeMutablePointer<Float>, _ end: Int, _ state: SIMD8<Float>
  ) -> SIMD8<Float> {
    var state = state
    var group = 0
    while group < end {
      let x = from + group
      var (y, z) = (Frames(repeating: 0), Frames(repeating: 0))
      var frame = 0
      while frame < 16 {
        y += response.vector(16 &- frame) * x[frame]
        z += response.vector(15 &- frame) * x[frame &+ 1]
        frame &+= 2
      }
      y += decays.vector(0) * state[0]
      z += decays.vector(16) * state[1]
      y += decays.vector(32) * state[2]
      z += decays.vector(48) * state[3]
      y += decays.vector(64) * state[4]
      z += decays.vector(80) * state[5]
      y += decays.vector(96) * state[6]
      z += decays.vector(112) * state[7]
      to.store(y + z, group)
      group &+= 16
      if group > end { break }
      var (a, b) = (state * powers[16], SIMD8<Float>(repeating: 0))
      frame = 0
      while frame < 16 {
        a += powers[frame] * x[frame]
        b += powers[frame &+ 1] * x[frame &+ 1]
        frame &+= 2
      }
      state = a + b
    }
    return state
  }
}

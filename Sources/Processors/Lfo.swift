import CVector
import Patch
import Realtime

/// A slow wave that moves parameters.
///
/// Its place is a whole number that wraps, 40 bits a cycle (`Cycles.h`): no error builds up, and any split of the frames
/// gives the same bits. Random values are hashes of the cycle's number, by the node's seed.
public struct Lfo: Kernel {
  public static let description = KindDescription(
    name: "lfo", summary: "A slow wave that moves parameters of other nodes.", category: .modulation,
    outputs: [
      PortDescription(
        "out", .parameter("channels"), "From -1 to 1 (bipolar) or from 0 to 1 (unipolar), as `range` says.")
    ],
    parameters: [
      .choice(
        "shape",
        "The wave. Saws go up or down; random takes a new value in each cycle (sample and hold), wander goes on to it.",
        ["sine", "triangle", "up", "down", "square", "random", "wander"]),
      .frequency(
        "rate", "Cycles a second; backwards where a cable brings it below zero.", default: 1, range: 0...1000),
      .number(
        "phase", "How far it is ahead; 100 % is a cycle.", default: 0, range: -100...100, unit: .percent),
      .percent("width", "Part of the cycle in which a square is high.", default: 50),
      .choice("range", "Bipolar: from -1 to 1. Unipolar: from 0 to 1.", ["bipolar", "unipolar"]),
      .percent(
        "spread", "How far channels are apart in the cycle; 100 %: two go against each other.", default: 0),
      .count("channels", "How many waves, one a channel.", default: 1),
    ], face: .level, amplification: .never, cost: .init(8, perChannel: 12))

  /// Positions in `description.parameters`.
  public static var shape: Int { @_noLocks get { 0 } }
  public static var rate: Int { @_noLocks get { 1 } }
  public static var phase: Int { @_noLocks get { 2 } }
  public static var width: Int { @_noLocks get { 3 } }
  public static var range: Int { @_noLocks get { 4 } }
  public static var spread: Int { @_noLocks get { 5 } }
  public static var channels: Int { @_noLocks get { 6 } }

  private let seed: UInt64
  /// Place of the next frame, in parts of a cycle.
  private var place: Int64 = 0

  /// Parts of a cycle.
  private static var parts: Double { @inline(__always) @_noLocks get { 1_099_511_627_776 } }
  /// Added to a double, it leaves the nearest whole number in the low bits.
  private static var rounding: Double { @inline(__always) @_noLocks get { 6_755_399_441_055_744 } }

  public init(_ configuration: KernelConfiguration, memory: UnsafeMutableRawPointer) {
    seed = configuration.seed
  }

  @_noLocks public mutating func process(_ block: Block) -> Activity {
    let places = block.scratch.assumingMemoryBound(to: Int64.self)
    write(block, to: places)
    let (shape, range) = (block.crossfades[Self.shape], block.crossfades[Self.range])
    let (ahead, width) = (block.parameters[Self.phase], block.parameters[Self.width])
    let (spread, output) = (block.parameters[Self.spread], block.outputs[0])
    var channel = 0
    while channel < output.count {
      let (to, part) = (output[channel], Sweep.part(channel) * 0.01)
      var frame = 0
      while frame < block.frames {
        // Within what `sostenuto_moved_on` rounds exactly.
        let cycles =
          limited(ahead.vector(0, frame) * 0.01, -1000, 1000)
          + limited(spread.vector(0, frame), 0, 100) * part
        let high = width.vector(0, frame) * 0.01
        var y = wave(shape.new, places + frame, cycles, high, channel)
        if let blend = shape.blend {
          let share = blend.vector(frame)
          y = wave(shape.old, places + frame, cycles, high, channel) * (1 - share) + y * share
        }
        if range.new != 0 || range.blend != nil {
          var share = Frames(repeating: range.new)
          if let blend = range.blend {
            share = blend.vector(frame) * range.new + (1 - blend.vector(frame)) * range.old
          }
          y = y * (1 - 0.5 * share) + 0.5 * share
        }
        to.store(y + 0, frame)
        frame &+= 16
      }
      channel &+= 1
    }
    return .sounding
  }

  /// Writes the places of the block's frames, and advances.
  @inline(__always) @_noLocks private mutating func write(
    _ block: Block, to places: UnsafeMutablePointer<Int64>
  ) {
    let rate = block.parameters[Self.rate]
    let (scale, limit) = (Self.parts / Double(block.rate), block.rate * 0.5)
    if let rates = rate.frames(0) { return write(rates, scale, limit, block.frames, to: places) }
    let frequency = Double(limited(rate.value(0), 0 - limit, limit))
    let step =
      Int64(bitPattern: (frequency * scale + Self.rounding).bitPattern)
      &- Int64(bitPattern: Self.rounding.bitPattern)
    sostenuto_write_places(place, step, 0, Int64(truncatingIfNeeded: (block.frames &+ 15) & ~15), places)
    place &+= step &* Int64(truncatingIfNeeded: block.frames)
  }

  /// The same for a rate that moves.
  @inline(never) @_noLocks private mutating func write(
    _ rates: UnsafePointer<Float>, _ scale: Double, _ limit: Float, _ frames: Int,
    to places: UnsafeMutablePointer<Int64>
  ) {
    var (frame, next) = (0, place)
    while frame < frames {
      let here = places + frame
      sostenuto_write_whole_products(limited(rates.vector(frame), 0 - limit, limit), scale, here)
      next = sostenuto_advance(here, next, here)
      frame &+= 16
    }
    place = frame == frames ? next : places[frames]
  }

  /// Sixteen frames of a shape, from their places on.
  @inline(__always) @_noLocks private func wave(
    _ shape: Float, _ places: UnsafePointer<Int64>, _ ahead: Frames, _ width: Frames, _ channel: Int
  ) -> Frames {
    let parts = sostenuto_cycle_parts(places, ahead)
    if shape == 0 { return Corners.sine(parts) }
    if shape == 1 {
      // A half of the cycle in quarters: beyond the first one it turns back.
      let x = converted(parts) * (1 / 1_073_741_824)
      let size = magnitude(x)
      return copySign(sostenuto_lesser(size, 2 - size), x)
    }
    // Parts of the cycle, 0..<1, in as many bits as are exact.
    let bits = unsafeBitCast(parts, to: SIMD16<UInt32>.self) &>> 8
    let done = converted(unsafeBitCast(bits, to: SIMD16<Int32>.self)) * (1 / 16_777_216)
    if shape == 2 { return done * 2 - 1 }
    if shape == 3 { return 1 - done * 2 }
    if shape == 4 {
      return sostenuto_where_above(
        width - done, 0, Frames(repeating: 1), Frames(repeating: -1))
    }
    let numbers = unsafeBitCast(sostenuto_cycle_numbers(places, ahead), to: SIMD16<UInt32>.self)
    let held = chance(numbers, channel)
    if shape == 5 { return held }
    let share = done * done * done * (done * (done * 6 - 15) + 10)
    // The numbers wrap with the 24 bits of their cycles.
    return held + (chance(numbers &+ 1, channel) - held) * share
  }

  /// Random values of -1...1 for numbers of cycles.
  @inline(__always) @_noLocks private func chance(_ numbers: SIMD16<UInt32>, _ channel: Int) -> Frames {
    let low = UInt32(truncatingIfNeeded: seed) &+ UInt32(truncatingIfNeeded: channel) &* 0x9e37_79b9
    let high = UInt32(truncatingIfNeeded: seed &>> 32) ^ UInt32(truncatingIfNeeded: channel &* 0x85eb_ca6b)
    let hash = Noise.mixed(Noise.mixed((numbers & 0xff_ffff) ^ low) &+ high)
    return converted(unsafeBitCast(hash, to: SIMD16<Int32>.self)) * (1 / 2_147_483_648)
  }
}

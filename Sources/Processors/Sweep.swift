import CVector
import Realtime

/// Slow sine of a chorus, flanger or phaser: one for each channel, of which those of different channels are apart.
struct Sweep: BitwiseCopyable {
  /// Phase of the first channel at the start of the block; 2^32 is a whole cycle.
  private var phase: Int32 = 0
  /// That at its end.
  private var next: Int32 = 0
  private let moving: MovingPhases

  @_noLocks init(_ arena: inout Arena) { moving = MovingPhases(&arena) }

  /// Continues another one in its own memory. Audio thread.
  @_noLocks mutating func go(on other: Sweep) { next = other.next }

  /// Calculates the first channel's phases in a block, for a frequency in Hz. Audio thread.
  @inline(__always) @_noLocks mutating func begin(_ rate: ParameterStream, _ block: Block) {
    phase = next
    let scale = 4_294_967_296 / Double(block.rate)
    let limit = block.rate * 0.499_999
    if let frequencies = rate.frames(0) {
      next = phase &+ moving.fill(frequencies, scale, limit: limit, block.frames).end
    } else {
      let step = MovingPhases.step(rate.value(0), scale, limit: limit)
      var frame = 0
      while frame < block.frames {
        let phases = sostenuto_row(Int32(truncatingIfNeeded: frame) &* step, step)
        UnsafeMutableRawPointer(moving.phases + frame).storeBytes(of: phases, as: SIMD16<Int32>.self)
        frame &+= 16
      }
      next = phase &+ step &* Int32(truncatingIfNeeded: block.frames)
    }
  }

  /// Part of a cycle by which a channel is later, 0..<1: a half, then quarters, so that it is the same however many channels
  /// there are.
  @inline(__always) @_noLocks static func part(_ channel: Int) -> Float {
    var (bits, part, place) = (channel, Float(0), Float(0.5))
    while bits != 0 {
      if bits & 1 != 0 { part += place }
      bits &>>= 1
      place *= 0.5
    }
    return part
  }

  /// Sines of sixteen frames, -1...1, of a channel that is later by `cycles`, less than one.
  @inline(__always) @_noLocks func sines(_ frame: Int, _ cycles: Frames) -> Frames {
    let later = sostenuto_low_bits(cycles, 4_294_967_296, 6_755_399_441_055_744)
    let phases = UnsafeRawPointer(moving.phases + frame).loadUnaligned(as: SIMD16<Int32>.self)
    let x = converted(phases &+ later &+ phase) * (1 / 1_073_741_824)
    // A half of the cycle in quarters: beyond the first one it turns back.
    let size = magnitude(x)
    return sineOfQuarters(copySign(sostenuto_lesser(size, 2 - size), x))
  }
}

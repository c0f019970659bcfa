import CThread
import CVector
import Realtime

/// Fast path for positions close together. The neighbours of sixteen positions are picked from 32 successive
/// frames: of a 16-bit sample with one load and two permutations instead of sixteen loads, of floats with two and
/// four. The bits are the same.
///
/// It works in three passes over up to 64 frames, so that the latency of one group of sixteen is hidden by
/// the next.
struct SampleWindow {
  /// 0...15, and the factors n (n - 1) / 2 of the changes. (In memory, since the compiler handles known
  /// constants worse.)
  private let counts: UnsafeMutablePointer<UInt64>
  private let starts: UnsafeMutablePointer<Int64>
  private let fractionals: UnsafeMutablePointer<Float>
  /// Indices to pick, and picked frames: 32 pairs for each sixteen positions.
  private let indices: UnsafeMutableRawPointer
  private let picked: UnsafeMutableRawPointer

  /// True when the processor has the instructions.
  static var isAtHand: Bool { @_noLocks @inline(__always) get { sostenuto_permutes_words != 0 } }
  /// Upper limit of the increment (32.32 fixed point): the last of sixteen positions must lie at most 28
  /// frames after the first.
  static var largestStep: Int64 { @_noLocks @inline(__always) get { (28 &<< 32) / 15 } }
  /// Maximum number of frames read from the last position on.
  static var reach: Int { @_noLocks @inline(__always) get { SamplePlane.window &- 1 } }

  /// `open` completes it. Worker.
  init(_ arena: inout Arena) {
    counts = arena.take(UInt64.self, 32)
    starts = arena.take(Int64.self, 4)
    fractionals = arena.take(Float.self, 64)
    indices = arena.reserve(512)
    picked = arena.reserve(512)
  }

  /// Writes the constants. Worker.
  func open() {
    for n in 0..<16 {
      counts[n] = UInt64(n)
      counts[16 + n] = UInt64(n * (n - 1) / 2)
    }
  }

  /// Computes `sixteens` times sixteen positions from `position` on, `increment` apart; the increment itself
  /// grows by `change` per position. Audio thread.
  @_noLocks func place(_ sixteens: Int, _ position: Int64, _ increment: Int64, _ change: Int64) {
    var (position, increment) = (position, increment)
    var (near, far) = positions(position, increment, change)
    let stride = SIMD8(repeating: UInt64(bitPattern: increment &* 16))
    for sixteen in 0..<sixteens {
      keep(near, far, start: Int(position >> 32), sixteen)
      position = position &+ increment &* 16 &+ change &* 120
      if change == 0 {
        // Additions have a lower latency than multiplications.
        near &+= stride
        far &+= stride
      } else {
        increment = increment &+ change &* 16
        (near, far) = positions(position, increment, change)
      }
    }
  }

  /// Sixteen positions.
  @_noLocks @inline(__always) private func positions(
    _ position: Int64, _ increment: Int64, _ change: Int64
  ) -> (SIMD8<UInt64>, SIMD8<UInt64>) {
    let raw = UnsafeRawPointer(counts)
    let step = SIMD8(repeating: UInt64(bitPattern: increment))
    let start = SIMD8(repeating: UInt64(bitPattern: position))
    var near = raw.loadUnaligned(as: SIMD8<UInt64>.self) &* step &+ start
    var far = raw.loadUnaligned(fromByteOffset: 64, as: SIMD8<UInt64>.self) &* step &+ start
    if change != 0 {
      let growth = SIMD8(repeating: UInt64(bitPattern: change))
      near &+= raw.loadUnaligned(fromByteOffset: 128, as: SIMD8<UInt64>.self) &* growth
      far &+= raw.loadUnaligned(fromByteOffset: 192, as: SIMD8<UInt64>.self) &* growth
    }
    return (near, far)
  }

  /// Stores the fractions of sixteen positions, and the indices to pick relative to the frame before `start`.
  @_noLocks @inline(__always) private func keep(
    _ near: SIMD8<UInt64>, _ far: SIMD8<UInt64>, start: Int, _ sixteen: Int
  ) {
    let first = unsafeBitCast(near, to: SIMD16<Float>.self)
    let second = unsafeBitCast(far, to: SIMD16<Float>.self)
    let low = unsafeBitCast(evens(first, second), to: SIMD16<UInt32>.self)
    let high = unsafeBitCast(odds(first, second), to: SIMD16<UInt32>.self)
    store(fractions(low), fractionals + 16 &* sixteen)
    let places = high &- UInt32(truncatingIfNeeded: start)
    // The frames before and at a position, as halves of an integer; then the two frames after.
    let words = ((places &<< 16) | places) &+ 0x10000
    let room = indices + 128 &* sixteen
    room.storeBytes(of: words, as: SIMD16<UInt32>.self)
    room.storeBytes(of: words &+ 0x20002, toByteOffset: 64, as: SIMD16<UInt32>.self)
    starts[sixteen] = Int64(start &- 1)
  }

  /// Interpolated values at the positions, times `scale` if they are floats. Audio thread.
  @_noLocks func read(
    _ plane: SamplePlane, _ sixteens: Int, scale: Float, to row: UnsafeMutablePointer<Float>
  ) {
    if plane.isShort {
      readWords(plane, sixteens, to: row)
    } else {
      readFloats(plane, sixteens, scale, to: row)
    }
  }

  @_noLocks @inline(__always) private func readWords(
    _ plane: SamplePlane, _ sixteens: Int, to row: UnsafeMutablePointer<Float>
  ) {
    pickWords(plane.base, starts, indices, picked, sixteens)
    for sixteen in 0..<sixteens {
      let room = picked + 128 &* sixteen
      let taps = Taps(
        first: room.loadUnaligned(as: SIMD16<UInt32>.self),
        last: room.loadUnaligned(fromByteOffset: 64, as: SIMD16<UInt32>.self))
      store(taps.interpolated(vector(fractionals + 16 &* sixteen)), row + 16 &* sixteen)
    }
  }

  @_noLocks @inline(__always) private func readFloats(
    _ plane: SamplePlane, _ sixteens: Int, _ scale: Float, to row: UnsafeMutablePointer<Float>
  ) {
    for sixteen in 0..<sixteens {
      let numbers = plane.base.assumingMemoryBound(to: Float.self) + Int(starts[sixteen])
      // The lower halves of the words that pick frames of 16 bits.
      let places = (indices + 128 &* sixteen).loadUnaligned(as: SIMD16<UInt32>.self) & 0xFFFF
      let taps = Taps(
        before: sostenuto_pick(numbers, places), at: sostenuto_pick(numbers, places &+ 1),
        after: sostenuto_pick(numbers, places &+ 2), second: sostenuto_pick(numbers, places &+ 3))
      store(taps.interpolated(vector(fractionals + 16 &* sixteen)) * scale, row + 16 &* sixteen)
    }
  }
}

import CVector
import Glibc
import Realtime

/// Transform of blocks for convolution (Convolve.h): of `size` frames each, a power of two from 64 on.
struct BlockTransform: BitwiseCopyable {
  let size: Int
  /// Powers of a root of one: real parts, imaginary parts.
  private let weights: UnsafeMutablePointer<Float>
  /// Turns of each step between places that are at least sixteen apart, from far to near.
  private let turns: UnsafeMutablePointer<Float>
  /// Turns of the last four steps.
  private let laneTurns: UnsafeMutablePointer<Float>

  /// Floats of a spectrum.
  var spectrum: Int { @inline(__always) @_noLocks get { 2 &* size } }

  @_noLocks init(_ size: Int, _ arena: inout Arena) {
    self.size = size
    weights = arena.take(Float.self, 2 &* size)
    turns = arena.take(Float.self, 2 &* size)
    laneTurns = arena.take(Float.self, 128)
  }

  /// Calculates the tables. Worker.
  func design() {
    func write(_ place: UnsafeMutablePointer<Float>, _ imaginary: Int, _ index: Int, _ cycles: Double) {
      place[index] = Float(cos(2 * Double.pi * cycles))
      place[imaginary + index] = Float(sin(2 * Double.pi * cycles))
    }
    for index in 0..<size { write(weights, size, index, Double(index) / Double(4 * size)) }
    var place = turns
    var half = size / 2
    while half >= 16 {
      for index in 0..<half { write(place, half, index, -Double(index) / Double(2 * half)) }
      place += 2 * half
      half /= 2
    }
    for step in 0..<4 {
      let distance = 8 >> step
      for lane in 0..<16 {
        write(laneTurns + 32 * step, 16, lane, -Double(lane % distance) / Double(2 * distance))
      }
    }
  }

  /// Spectrum of a block, and of the one before it. Audio thread.
  @inline(never) @_noLocks func forward(
    _ older: UnsafePointer<Float>, _ newer: UnsafePointer<Float>, to spectrum: UnsafeMutablePointer<Float>
  ) {
    let (re, im) = (spectrum, spectrum + size)
    var frame = 0
    while frame < size {
      let (a, b) = (older.vector(frame), newer.vector(frame))
      let (c, s) = (weights.vector(frame), weights.vector(size &+ frame))
      re.store(a * c - b * s, frame)
      im.store(a * s + b * c, frame)
      frame &+= 16
    }
    let n = Int64(truncatingIfNeeded: size)
    var (place, half) = (turns, n &>> 1)
    while half >= 16 {
      sostenuto_halves_apart(re, im, place, half, n)
      place += 2 &* Int(half)
      half &>>= 1
    }
    sostenuto_lanes_apart(re, im, laneTurns, n)
  }

  /// The newer half of the sound of a spectrum, `size` times as loud; the spectrum is lost. Audio thread.
  @inline(never) @_noLocks func inverse(
    _ spectrum: UnsafeMutablePointer<Float>, to frames: UnsafeMutablePointer<Float>
  ) {
    let (re, im) = (spectrum, spectrum + size)
    let n = Int64(truncatingIfNeeded: size)
    sostenuto_lanes_joined(re, im, laneTurns, n)
    var (place, half) = (turns + (2 &* size &- 64), Int64(16))
    while half < n {
      sostenuto_halves_joined(re, im, place, half, n)
      half &<<= 1
      place -= 2 &* Int(half)
    }
    var frame = 0
    while frame < size {
      let (c, s) = (weights.vector(frame), weights.vector(size &+ frame))
      frames.store(im.vector(frame) * c - re.vector(frame) * s, frame)
      frame &+= 16
    }
  }
}

import CFakeAlsa
import Engine
import Foundation
import Patch
import Realtime
import Synchronization
import Testing

@testable import Drivers

/// An engine that plays a sine into a card's line, or hears one from it, in the time of a fake card. The fake card's
/// thread calls it.
final class CardRig: @unchecked Sendable {
  let rate: Double
  let period: Int
  /// Largest delay of the engine's thread, in seconds.
  let jitter: Double
  let frequency: Double
  let line: CardLine
  private(set) var begin: Int64 = 0
  private var next: Int64?
  private var position = 0
  private var random: UInt64 = 88_172_645_463_325_252
  private let plane: UnsafeMutablePointer<Float>
  private let inputs: UnsafeMutablePointer<UnsafePointer<Float>?>
  private let outputs: UnsafeMutablePointer<UnsafeMutablePointer<Float>?>
  /// What it hears from `heardFrom` on.
  var heardFrom = 0
  private var heardFrames: [Float] = []
  /// The engine stands still from the first to the second time of each, in seconds of its sound.
  var pauses: [ClosedRange<Double>] = []
  /// Its thread sleeps from the first to the second time of each, in seconds after its begin, and then makes up for it.
  var lateness: [ClosedRange<Double>] = []

  nonisolated(unsafe) static var present: CardRig?

  init(_ line: CardLine, rate: Double, period: Int, jitter: Double = 0, frequency: Double = 997) {
    (self.line, self.rate, self.period, self.jitter) = (line, rate, period, jitter)
    self.frequency = frequency
    plane = .allocate(capacity: 8192)
    plane.initialize(repeating: 0, count: 8192)
    inputs = .allocate(capacity: channelCapacity)
    inputs.initialize(repeating: nil, count: channelCapacity)
    outputs = .allocate(capacity: channelCapacity)
    outputs.initialize(repeating: nil, count: channelCapacity)
    heardFrames.reserveCapacity(65536)
  }

  deinit {
    plane.deallocate()
    inputs.deallocate()
    outputs.deallocate()
  }

  /// Renders the periods that are due.
  func go(to time: Int64) {
    if begin == 0 { (begin, next) = (time, time) }
    while let due = next.map(wakeup), due <= time {
      render(at: due)
      var length = Double(position) / rate
      for pause in pauses where length >= pause.lowerBound { length += pause.upperBound - pause.lowerBound }
      random ^= random << 13
      random ^= random >> 7
      random ^= random << 17
      length += jitter * Double(random % 1000) / 1000
      next = begin + Int64(length * 1e9)
    }
  }

  /// When its thread wakes that is to wake at `due`.
  private func wakeup(_ due: Int64) -> Int64 {
    let place = Double(due - begin) * 1e-9
    guard let sleep = lateness.first(where: { $0.contains(place) }) else { return due }
    return begin + Int64(sleep.upperBound * 1e9)
  }

  private func render(at time: Int64) {
    line.lend(inputs, outputs, frames: period)
    for channel in 0..<channelCapacity {
      guard let output = outputs[channel] else { continue }
      for frame in 0..<period {
        let turns = (Double(position + frame) * frequency / rate).truncatingRemainder(dividingBy: 1)
        output[frame] = 0.5 * Float(sin(2 * .pi * turns))
      }
    }
    if let input = inputs[0] {
      for frame in 0..<period where position + frame >= heardFrom && heardFrames.count < 65536 {
        heardFrames.append(input[frame])
      }
    }
    line.take(inputs, outputs, frames: period, time: time)
    position += period
  }

  /// Call this when the card has stopped.
  var heard: [Float] { heardFrames }
}

/// A sine found in sound by least squares.
struct FoundSine {
  /// Turns per frame, and phase in turns at the first frame.
  var frequency: Double
  var phase: Double
  var level: Double
  /// What is not the sine, in dB below it.
  var noise: Double
  /// The largest sample that is not the sine.
  var worst: Double

  /// `near`: its frequency in turns per frame, approximately.
  init(_ sound: ArraySlice<Float>, near: Double) {
    let sound = sound.map(Double.init)
    frequency = near
    (phase, level, noise, worst) = (0, 0, 0, 0)
    for _ in 0..<6 {
      let half = sound.count / 2
      let (one, two) = (Self.phasor(sound[..<half], frequency), Self.phasor(sound[half...], frequency))
      var step = (two.phase - one.phase).truncatingRemainder(dividingBy: 1)
      if step > 0.5 { step -= 1 }
      if step < -0.5 { step += 1 }
      frequency += step / Double(half)
    }
    let all = Self.phasor(sound[...], frequency)
    (phase, level) = (all.phase, all.level)
    var sum = 0.0
    for (frame, sample) in sound.enumerated() {
      let error = sample - level * sin(2 * .pi * (frequency * Double(frame) + phase))
      sum += error * error
      worst = max(worst, abs(error))
    }
    noise = -10 * log10(max(sum / Double(sound.count), 1e-30) / (level * level / 2))
  }

  /// The phase, at the whole sound's first frame, and the level of a part.
  private static func phasor(_ part: ArraySlice<Double>, _ frequency: Double) -> (
    phase: Double, level: Double
  ) {
    var (a, b, c, p, q) = (0.0, 0.0, 0.0, 0.0, 0.0)
    for frame in part.indices {
      let angle = 2 * .pi * (frequency * Double(frame)).truncatingRemainder(dividingBy: 1)
      let (s, k) = (sin(angle), cos(angle))
      a += s * s
      b += s * k
      c += k * k
      p += part[frame] * s
      q += part[frame] * k
    }
    let determinant = a * c - b * b
    let (x, y) = ((p * c - q * b) / determinant, (q * a - p * b) / determinant)
    return (atan2(y, x) / (2 * .pi), (x * x + y * y).squareRoot())
  }
}

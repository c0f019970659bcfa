import Analysis
import Glibc

/// Sounds of known frequency and level.
enum Sounds {
  /// A sine whose peaks are at `decibels` below full scale.
  static func sine(
    _ frequency: Double, _ decibels: Double = 0, rate: Double, seconds: Double, phase: Double = 0
  ) -> [Float] {
    let amplitude = pow(10, decibels / 20)
    return (0..<Int((seconds * rate).rounded())).map {
      Float(amplitude * sin(2 * .pi * (frequency * Double($0) / rate + phase)))
    }
  }

  /// A history of these channels.
  static func history(_ channels: [Float]..., rate: Double) -> SoundHistory {
    var history = SoundHistory(channels: channels.count, rate: rate, seconds: 1)
    // In pieces, as a driver brings them.
    let count = channels[0].count
    for first in stride(from: 0, to: count, by: 577) {
      let end = min(count, first + 577)
      history.append(channels.map { Array($0[first..<end]) }, frames: end - first)
    }
    return history
  }
}

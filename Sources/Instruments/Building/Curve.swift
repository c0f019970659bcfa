import Glibc

/// Curve of a source, before it is tabulated.
enum Curve: Hashable, Sendable {
  /// 0...1; 1...0; -1...1 with 64 in the middle.
  case linear, falling, bipolar
  /// The square of `linear`.
  case square
  /// A controller's curve: type (0 linear, 1 concave, 2 convex, 3 switch), direction and polarity.
  case controller(type: UInt8, isNegative: Bool, isBipolar: Bool)
  case custom([Float])

  /// 128 values.
  var values: [Float] {
    switch self {
    case .linear: (0..<128).map { Float($0) / 127 }
    case .falling: (0..<128).map { 1 - Float($0) / 127 }
    case .bipolar: (0..<128).map { Float($0 - 64) / ($0 < 64 ? 64 : 63) }
    case .controller(let type, let isNegative, let isBipolar):
      (0..<128).map { Self.controllerValue(isNegative ? 127 - $0 : $0, type, isNegative, isBipolar) }
    case .square: (0..<128).map { Float($0 * $0) / (127 * 127) }
    case .custom(let values): values
    }
  }

  /// "SoundFont Technical Specification" 2.04, chapter 9.5.3; curves in decibels over 96 dB.
  private static func controllerValue(
    _ place: Int, _ type: UInt8, _ isNegative: Bool, _ isBipolar: Bool
  ) -> Float {
    // A switch is on from 64 on, or up to 63.
    if type == 3 { return place >= 64 ? 1 : isBipolar ? -1 : 0 }
    if isBipolar {
      // 64 is the middle in both directions.
      let middle = isNegative ? 63 : 64
      let distance = place - middle
      let t = Float(abs(distance)) / Float(distance < 0 ? middle : 127 - middle)
      return (distance < 0 ? -1 : 1) * shaped(t, type)
    }
    // A controller's 128 values are 0...127/128, or in the negative direction 1...1/128.
    let t = isNegative ? Float(place + 1) / 128 : Float(place) / 128
    return shaped(t, type)
  }

  private static func shaped(_ t: Float, _ type: UInt8) -> Float {
    switch type {
    case 1: t >= 1 ? 1 : min(1, -400 / 960 * log10f(1 - t))
    case 2: t <= 0 ? 0 : max(0, 1 + 400 / 960 * log10f(t))
    default: t
    }
  }
}

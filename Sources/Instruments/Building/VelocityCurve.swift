/// Gain by velocity: by default the square of velocity/127 (40 dB over the range), or points with linear
/// interpolation; `tracking` (-1...1) is its weight.
struct VelocityCurve: Hashable {
  var tracking: Double = 1
  /// Gains by velocity; 0 at 0 and 1 at 127 unless stated.
  var points: [Int: Double] = [:]

  /// 128 gains, at full weight.
  var gains: [Float] {
    (0..<128).map {
      Float(points.isEmpty ? Double($0 * $0) / (127 * 127) : interpolated($0))
    }
  }

  private func interpolated(_ velocity: Int) -> Double {
    var stated = points
    if stated[0] == nil { stated[0] = 0 }
    if stated[127] == nil { stated[127] = 1 }
    let below = stated.keys.filter { $0 <= velocity }.max()!
    let above = stated.keys.filter { $0 >= velocity }.min()!
    guard above > below else { return stated[below]! }
    let t = Double(velocity - below) / Double(above - below)
    return stated[below]! * (1 - t) + stated[above]! * t
  }
}

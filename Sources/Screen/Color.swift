/// A 24-bit colour.
public struct Color: Hashable, Sendable {
  /// 0...255.
  public var red: UInt8
  /// 0...255.
  public var green: UInt8
  /// 0...255.
  public var blue: UInt8

  /// A colour of three components.
  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// 0xRRGGBB.
  public init(_ value: UInt32) {
    self.init(
      red: UInt8(value >> 16 & 255), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
  }

  /// `#rrggbb`.
  public init?(_ text: some StringProtocol) {
    let digits = text.dropFirst()
    guard text.hasPrefix("#"), digits.utf8.count == 6, !digits.hasPrefix("+"), !digits.hasPrefix("-"),
      let value = UInt32(digits, radix: 16)
    else { return nil }
    self.init(value)
  }

  /// 0xRRGGBB.
  public var value: UInt32 { UInt32(red) << 16 | UInt32(green) << 8 | UInt32(blue) }

  /// `#rrggbb`.
  public var description: String {
    let digits = String(value, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.utf8.count) + digits
  }

  /// The nearest of a terminal's 256 colours, without the 16 that users redefine: 16…255.
  public var index256: Int {
    let steps = [0, 95, 135, 175, 215, 255]
    func nearest(_ value: UInt8) -> Int {
      steps.indices.min { abs(steps[$0] - Int(value)) < abs(steps[$1] - Int(value)) } ?? 0
    }
    let (r, g, b) = (nearest(red), nearest(green), nearest(blue))
    let cube = distance(steps[r], steps[g], steps[b])
    let grey = max(0, min(23, (Int(red) + Int(green) + Int(blue) - 24 + 15) / 30))
    let level = 8 + 10 * grey
    return distance(level, level, level) < cube ? 232 + grey : 16 + 36 * r + 6 * g + b
  }

  /// The most similar of the eight classic colours: black, red, green, yellow, blue, magenta, cyan, white.
  /// Hue counts more than brightness: a dark red becomes red, not black.
  public var index8: Int {
    let high = Int(max(red, green, blue))
    let low = Int(min(red, green, blue))
    if high < 48 { return 0 }
    if (high - low) * 4 < high { return high >= 112 ? 7 : 0 }
    let threshold = (high + low) / 2
    return (Int(red) > threshold ? 1 : 0) | (Int(green) > threshold ? 2 : 0) | (Int(blue) > threshold ? 4 : 0)
  }

  private func distance(_ r: Int, _ g: Int, _ b: Int) -> Int {
    let (dr, dg, db) = (Int(red) - r, Int(green) - g, Int(blue) - b)
    return dr * dr + dg * dg + db * db
  }
}

/// Number of colours of a terminal.
public enum ColorDepth: Int, Hashable, Sendable, Comparable {
  /// None, the eight of ANSI, the palette of xterm, or 24 bits.
  case monochrome, colors8, colors256, trueColor

  /// Fewer colours first.
  public static func < (a: ColorDepth, b: ColorDepth) -> Bool { a.rawValue < b.rawValue }
}

/// The lines from a cell's centre to its four edges, each with a weight: the shape of a box-drawing
/// character.
public struct Arms: Hashable, Sendable {
  /// Weight of one line.
  public enum Weight: UInt8, Hashable, Sendable, Comparable {
    /// No line, or the weight of one as Unicode's box characters have it.
    case none, light, heavy, double

    /// Lighter first.
    public static func < (a: Weight, b: Weight) -> Bool { a.rawValue < b.rawValue }
  }

  /// Line to the upper edge.
  public var up: Weight
  /// Line to the right edge.
  public var right: Weight
  /// Line to the lower edge.
  public var down: Weight
  /// Line to the left edge.
  public var left: Weight

  /// Arms of the given weights.
  public init(up: Weight = .none, right: Weight = .none, down: Weight = .none, left: Weight = .none) {
    self.up = up
    self.right = right
    self.down = down
    self.left = left
  }

  /// True when there are no arms.
  public var isEmpty: Bool { self == Arms() }

  /// Number of arms, 0…4.
  public var count: Int {
    (up == .none ? 0 : 1) + (right == .none ? 0 : 1) + (down == .none ? 0 : 1) + (left == .none ? 0 : 1)
  }

  /// The union; where both have an arm, `other` (drawn later) wins.
  public func joined(_ other: Arms) -> Arms {
    Arms(
      up: other.up == .none ? up : other.up, right: other.right == .none ? right : other.right,
      down: other.down == .none ? down : other.down, left: other.left == .none ? left : other.left)
  }

  /// The arms of a box-drawing character, dashed and rounded ones included; nil for any other character.
  public init?(_ glyph: Glyph) {
    guard let value = glyph.scalar?.value, BoxTable.range.contains(value),
      let arms = BoxTable.arms[Int(value - BoxTable.range.lowerBound)]
    else { return nil }
    self = arms
  }

  /// The character with these arms. A corner of two light arms is rounded on request. Unicode lacks mixes
  /// with double lines at some corners; those are drawn heavy.
  public func character(rounded: Bool = false, dotted: Bool = false) -> Glyph {
    if dotted {
      if self == Arms(right: .light, left: .light) { return "┈" }
      if self == Arms(up: .light, down: .light) { return "┊" }
    }
    if rounded || dotted, let corner = BoxTable.roundedCorners[place] { return corner }
    if let character = BoxTable.characters[place] { return character }
    func lowered(_ weight: Weight) -> Weight { weight == .double ? .heavy : weight }
    let plain = Arms(up: lowered(up), right: lowered(right), down: lowered(down), left: lowered(left))
    return BoxTable.characters[plain.place] ?? " "
  }

  /// Place in tables of all combinations, 0…255.
  fileprivate var place: Int {
    Int(up.rawValue) << 6 | Int(right.rawValue) << 4 | Int(down.rawValue) << 2 | Int(left.rawValue)
  }
}

/// Style of a line.
public enum Stroke: Hashable, Sendable {
  /// Solid: ─, ━ and ═.
  case light, heavy, double
  /// Light and dotted: ┈ and ┊.
  case dotted

  /// Weight of its arms.
  public var weight: Arms.Weight {
    switch self {
    case .light, .dotted: .light
    case .heavy: .heavy
    case .double: .double
    }
  }
}

private enum BoxTable {
  /// Weights up, right, down, left (0 none, 1 light, 2 heavy, 3 double), then the character.
  static let listing = """
    0001╴ 0002╸ 0010╷ 0011┐ 0012┑ 0013╕ 0020╻ 0021┒ 0022┓ 0031╖ 0033╗ 0100╶ 0101─ 0102╾ 0110┌ 0111┬
    0112┭ 0120┎ 0121┰ 0122┱ 0130╓ 0131╥ 0200╺ 0201╼ 0202━ 0210┍ 0211┮ 0212┯ 0220┏ 0221┲ 0222┳ 0303═
    0310╒ 0313╤ 0330╔ 0333╦ 1000╵ 1001┘ 1002┙ 1003╛ 1010│ 1011┤ 1012┥ 1013╡ 1020╽ 1021┧ 1022┪ 1100└
    1101┴ 1102┵ 1110├ 1111┼ 1112┽ 1120┟ 1121╁ 1122╅ 1200┕ 1201┶ 1202┷ 1210┝ 1211┾ 1212┿ 1220┢ 1221╆
    1222╈ 1300╘ 1303╧ 1310╞ 1313╪ 2000╹ 2001┚ 2002┛ 2010╿ 2011┦ 2012┩ 2020┃ 2021┨ 2022┫ 2100┖ 2101┸
    2102┹ 2110┞ 2111╀ 2112╃ 2120┠ 2121╂ 2122╉ 2200┗ 2201┺ 2202┻ 2210┡ 2211╄ 2212╇ 2220┣ 2221╊ 2222╋
    3001╜ 3003╝ 3030║ 3031╢ 3033╣ 3100╙ 3101╨ 3130╟ 3131╫ 3300╚ 3303╩ 3330╠ 3333╬
    """
  /// Variants with the same arms, never chosen by arms alone.
  static let variants =
    "0110╭ 0011╮ 1001╯ 1100╰ 0101┈ 1010┊ 0101┄ 1010┆ 0101╌ 1010╎ 0202┅ 2020┇ 0202┉ 2020┋ 0202╍ 2020╏"

  /// The characters of Unicode's block of lines.
  static let range: ClosedRange<UInt32> = 0x2500...0x257F
  /// By the arms' places.
  static let characters: [Glyph?] = table(parsed(listing))
  /// By the arms' places.
  static let roundedCorners: [Glyph?] = table(parsed(variants).prefix(4))
  /// By the place in the range.
  static let arms: [Arms?] = {
    var arms = [Arms?](repeating: nil, count: range.count)
    for (shape, scalar) in parsed(listing) + parsed(variants) {
      arms[Int(scalar.value - range.lowerBound)] = shape
    }
    return arms
  }()

  private static func table(_ entries: some Sequence<(Arms, Unicode.Scalar)>) -> [Glyph?] {
    var table = [Glyph?](repeating: nil, count: 256)
    for (shape, scalar) in entries { table[shape.place] = Glyph(scalar) }
    return table
  }

  private static func parsed(_ text: String) -> [(Arms, Unicode.Scalar)] {
    text.split(whereSeparator: \.isWhitespace).map { entry in
      let weights = entry.prefix(4).map { Arms.Weight(rawValue: UInt8($0.wholeNumberValue ?? 0)) ?? .none }
      return (
        Arms(up: weights[0], right: weights[1], down: weights[2], left: weights[3]),
        entry.unicodeScalars[entry.unicodeScalars.index(entry.unicodeScalars.startIndex, offsetBy: 4)]
      )
    }
  }
}

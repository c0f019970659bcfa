import Synchronization

/// Contents of a cell as four bytes: a scalar, or a base with combining marks.
///
/// Drawing a screen copies and compares thousands of them, which strings and characters would make many times dearer.
public struct Glyph: Hashable, Sendable, ExpressibleByUnicodeScalarLiteral {
  /// A scalar's value, or `Clusters.first` plus the place of a base with marks.
  private let code: UInt32

  /// A scalar that stands alone.
  public init(_ scalar: Unicode.Scalar) { code = scalar.value }

  /// A literal of one scalar: `"─"`.
  public init(unicodeScalarLiteral scalar: Unicode.Scalar) { self.init(scalar) }

  /// A character as every terminal can show it (`DisplayWidth`).
  public init(_ character: Character) { self = DisplayWidth.shown(character).glyph }

  /// A base and its marks. With more different ones than a screen will ever show the base stands alone.
  init(_ base: Unicode.Scalar, marks: [Unicode.Scalar]) {
    code = marks.isEmpty ? base.value : Clusters.code(of: [base] + marks) ?? base.value
  }

  /// The base, then its marks.
  public var scalars: [Unicode.Scalar] {
    Unicode.Scalar(code).map { [$0] } ?? Clusters.scalars(of: code)
  }

  /// The scalar, if it stands alone.
  public var scalar: Unicode.Scalar? { Unicode.Scalar(code) }

  /// The same as a character.
  public var character: Character {
    scalar.map(Character.init) ?? Character(String(String.UnicodeScalarView(scalars)))
  }
}

/// Numbers of bases with marks, beyond those of all scalars.
private enum Clusters {
  private static let first: UInt32 = 0x110000
  private static let most = 65536
  private static let known = Mutex<(list: [[Unicode.Scalar]], places: [[Unicode.Scalar]: Int])>(([], [:]))

  static func code(of scalars: [Unicode.Scalar]) -> UInt32? {
    known.withLock { known in
      if let place = known.places[scalars] { return first + UInt32(place) }
      guard known.list.count < most else { return nil }
      known.list.append(scalars)
      known.places[scalars] = known.list.count - 1
      return first + UInt32(known.list.count - 1)
    }
  }

  static func scalars(of code: UInt32) -> [Unicode.Scalar] { known.withLock { $0.list[Int(code - first)] } }
}

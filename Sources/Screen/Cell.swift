/// How a cell looks, named by what it says: the theme turns it into colours.
public struct Style: Hashable, Sendable {
  public struct Attributes: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let bold = Attributes(rawValue: 1)
    public static let underline = Attributes(rawValue: 2)
    public static let reverse = Attributes(rawValue: 4)
    public static let dim = Attributes(rawValue: 8)
  }

  public var key: ThemeKey
  /// Takes the background of this key instead of `key`'s own: text on a selected row, say.
  public var ground: ThemeKey?
  /// Added to the attributes that the theme gives.
  public var attributes: Attributes

  public init(_ key: ThemeKey, on ground: ThemeKey? = nil, _ attributes: Attributes = []) {
    self.key = key
    self.ground = ground
    self.attributes = attributes
  }

  public static let text = Style(.text)
}

/// One place of a canvas.
public struct Cell: Hashable, Sendable {
  /// What stands here; a space in the right half of a wide character.
  public var character: Character
  public var style: Style
  /// 1, 2 for the left half of a wide character, 0 for its right half.
  public var width: UInt8

  public init(_ character: Character, _ style: Style = .text, width: UInt8 = 1) {
    self.character = character
    self.style = style
    self.width = width
  }

  public static let blank = Cell(" ", Style(.background))
}

/// Appearance of a cell by meaning; the theme turns it into colours.
public struct Style: Hashable, Sendable {
  /// Text attributes of a terminal.
  public struct Attributes: OptionSet, Hashable, Sendable {
    /// Bit mask.
    public var rawValue: UInt8
    /// Attributes of a bit mask.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Bold.
    public static let bold = Attributes(rawValue: 1)
    /// Underlined.
    public static let underline = Attributes(rawValue: 2)
    /// Foreground and background exchanged.
    public static let reverse = Attributes(rawValue: 4)
    /// Dim.
    public static let dim = Attributes(rawValue: 8)
  }

  /// Meaning that the theme colours.
  public var key: ThemeKey
  /// Uses the background of this key instead of `key`'s own: text on a selected row, for example.
  public var ground: ThemeKey?
  /// Added to the theme's attributes.
  public var attributes: Attributes

  /// The style of a key.
  public init(_ key: ThemeKey, on ground: ThemeKey? = nil, _ attributes: Attributes = []) {
    self.key = key
    self.ground = ground
    self.attributes = attributes
  }

  /// Plain text.
  public static let text = Style(.text)
}

/// One cell of a canvas.
public struct Cell: Hashable, Sendable {
  /// Its contents; a space in the right half of a wide character.
  public var glyph: Glyph
  /// Its style.
  public var style: Style
  /// 1, 2 for the left half of a wide character, 0 for its right half.
  public var width: UInt8

  /// A cell of one column by default.
  public init(_ glyph: Glyph, _ style: Style = .text, width: UInt8 = 1) {
    self.glyph = glyph
    self.style = style
    self.width = width
  }

  /// Its contents as a character.
  public var character: Character { glyph.character }

  /// A space on the background.
  public static let blank = Cell(" ", Style(.background))
}

/// Colours and attributes of one theme key. Missing colours come from `text` and `background`, and otherwise
/// from the terminal's own colours.
public struct Paint: Hashable, Sendable {
  /// Foreground; nil: that of `text`.
  public var foreground: Color?
  /// Background; nil: that of `background`.
  public var background: Color?
  /// Text attributes.
  public var attributes: Style.Attributes

  /// Colours and attributes; nil for inherited ones.
  public init(_ foreground: Color? = nil, on background: Color? = nil, _ attributes: Style.Attributes = []) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

/// Colours and attributes for every theme key.
public struct Theme: Hashable, Sendable {
  /// Name of the theme.
  public var name: String
  /// Every key is present.
  public private(set) var paints: [ThemeKey: Paint]

  /// Missing keys look like plain text.
  public init(name: String, paints: [ThemeKey: Paint]) {
    self.name = name
    self.paints = paints
    for key in ThemeKey.allCases where paints[key] == nil { self.paints[key] = Paint() }
  }

  /// Appearance of a key.
  public subscript(key: ThemeKey) -> Paint {
    get { paints[key] ?? Paint() }
    set { paints[key] = newValue }
  }

  /// Appearance of a style on a terminal of this colour depth. Without colours the monochrome theme applies,
  /// so that no meaning depends on colour alone.
  public func paint(for style: Style, depth: ColorDepth = .trueColor) -> Paint {
    if depth == .monochrome && !isMonochrome { return Theme.monochrome.paint(for: style, depth: depth) }
    let own = self[style.key]
    let ground = style.ground.map { self[$0] }
    return Paint(
      own.foreground ?? self[.text].foreground,
      on: ground?.background ?? own.background ?? self[.background].background,
      own.attributes.union(style.attributes)
        // A background shown by reversing or underlining is kept.
        .union(ground?.attributes.intersection([.reverse, .underline]) ?? []))
  }

  /// True when it has no colours at all.
  public var isMonochrome: Bool {
    paints.values.allSatisfy { $0.foreground == nil && $0.background == nil }
  }

  /// The themes that need no file.
  public static let builtIn: [Theme] = [
    .dark, .light, .nord, .gruvbox, .solarized, .dawn, .amber, .contrast, .monochrome,
  ]

  /// The built-in theme of that name.
  public static func builtIn(named name: String) -> Theme? { builtIn.first { $0.name == name } }
}

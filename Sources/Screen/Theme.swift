/// What a theme gives for one key; what it leaves out comes from `text` and `background`, and what
/// those leave out from the terminal's own colours.
public struct Paint: Hashable, Sendable {
  public var foreground: Color?
  public var background: Color?
  public var attributes: Style.Attributes

  public init(_ foreground: Color? = nil, on background: Color? = nil, _ attributes: Style.Attributes = []) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }
}

/// Colours and attributes for every theme key.
public struct Theme: Hashable, Sendable {
  public var name: String
  /// Every key is present.
  public private(set) var paints: [ThemeKey: Paint]

  /// Keys that `paints` lacks look like plain text.
  public init(name: String, paints: [ThemeKey: Paint]) {
    self.name = name
    self.paints = paints
    for key in ThemeKey.allCases where paints[key] == nil { self.paints[key] = Paint() }
  }

  public subscript(key: ThemeKey) -> Paint {
    get { paints[key] ?? Paint() }
    set { paints[key] = newValue }
  }

  /// What a style looks like on a terminal with so many colours. Without colours the monochrome theme
  /// speaks, so that nothing is said by colour alone.
  public func paint(for style: Style, depth: ColorDepth = .trueColor) -> Paint {
    if depth == .monochrome && !isMonochrome { return Theme.monochrome.paint(for: style, depth: depth) }
    let own = self[style.key]
    let ground = style.ground.map { self[$0] }
    return Paint(
      own.foreground ?? self[.text].foreground,
      on: ground?.background ?? own.background ?? self[.background].background,
      own.attributes.union(style.attributes)
        // A ground that shows by being reversed or underlined still does.
        .union(ground?.attributes.intersection([.reverse, .underline]) ?? []))
  }

  /// Whether it has no colours at all.
  public var isMonochrome: Bool {
    paints.values.allSatisfy { $0.foreground == nil && $0.background == nil }
  }

  /// The themes that need no file.
  public static let builtIn: [Theme] = [.dark, .light, .monochrome]

  public static func builtIn(named name: String) -> Theme? { builtIn.first { $0.name == name } }
}

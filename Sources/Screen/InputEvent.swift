/// What comes in from the terminal.
public enum InputEvent: Hashable, Sendable {
  case key(KeyStroke)
  /// Bracketed paste: text that was not typed; line ends are line feeds.
  case paste(String)
  case mouse(MouseEvent)
  /// The terminal has another size, or its content must be drawn anew.
  case resize(columns: Int, rows: Int)
  /// The terminal's window gained or lost the keyboard.
  case focus(Bool)
  /// SIGTERM, SIGINT, SIGHUP or SIGQUIT asks the program to end; if it has not ended the terminal's
  /// session 0.65 s later, or a second signal comes, it is ended.
  case terminate(signal: Int32)
}

/// A key going down, repeating or coming up.
public struct KeyStroke: Hashable, Sendable {
  public enum Action: Hashable, Sendable { case press, `repeat`, release }

  public var key: Key
  public var action: Action
  /// The key's place, as the character that it types unshifted on a US layout, if the terminal tells;
  /// otherwise that of the user's own layout. A release has the same as its press, whatever modifiers
  /// changed meanwhile.
  public var place: Character?

  public init(_ key: Key, _ action: Action = .press, place: Character? = nil) {
    self.key = key
    self.action = action
    self.place = place
    if place == nil, case .character(let character) = key.code {
      self.place = character.lowercased().first
    }
  }
}

/// A button, a movement with a button down, or the wheel, at a cell.
public struct MouseEvent: Hashable, Sendable {
  public enum Action: Hashable, Sendable { case press, release, drag, move, wheel }
  public enum Button: Hashable, Sendable { case none, left, middle, right, other(Int) }

  public var action: Action
  public var button: Button
  public var point: Point
  /// The wheel: -1 up or left, 1 down or right; 0 otherwise.
  public var wheelRows: Int
  public var wheelColumns: Int
  public var modifiers: Key.Modifiers

  public init(
    _ action: Action, _ button: Button = .none, at point: Point, wheelRows: Int = 0, wheelColumns: Int = 0,
    modifiers: Key.Modifiers = []
  ) {
    self.action = action
    self.button = button
    self.point = point
    self.wheelRows = wheelRows
    self.wheelColumns = wheelColumns
    self.modifiers = modifiers
  }
}

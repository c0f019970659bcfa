/// An input event from the terminal.
public enum InputEvent: Hashable, Sendable {
  /// A key was pressed, repeated or released.
  case key(KeyStroke)
  /// Bracketed paste: text that was not typed; line ends are line feeds.
  case paste(String)
  /// A button, the wheel or a movement.
  case mouse(MouseEvent)
  /// The terminal was resized, or must be redrawn.
  case resize(columns: Int, rows: Int)
  /// The terminal's window gained or lost the keyboard focus.
  case focus(Bool)
  /// SIGTERM, SIGINT, SIGHUP or SIGQUIT asks the program to end. If it has not closed the terminal after 0.65
  /// s, or on a second signal, it is killed.
  case terminate(signal: Int32)
}

/// A key press, repeat or release.
public struct KeyStroke: Hashable, Sendable {
  /// Kind of key event.
  public enum Action: Hashable, Sendable {
    /// Begin, repetition or end of a stroke.
    case press, `repeat`, release
  }

  /// The key with its modifiers.
  public var key: Key
  /// Press, repeat or release.
  public var action: Action
  /// Physical position of the key, as the unshifted character on a US layout if the terminal reports it;
  /// otherwise on the user's own layout. A release has the same value as its press, even if modifiers changed
  /// meanwhile.
  public var place: Character?

  /// Without `place`, the key's own character counts.
  public init(_ key: Key, _ action: Action = .press, place: Character? = nil) {
    self.key = key
    self.action = action
    self.place = place
    if place == nil, case .character(let character) = key.code {
      self.place = character.lowercased().first
    }
  }
}

/// A mouse button, a drag, a movement, or the wheel, at a cell.
public struct MouseEvent: Hashable, Sendable {
  /// Kind of mouse event.
  public enum Action: Hashable, Sendable {
    /// A drag is a movement with a button down.
    case press, release, drag, move, wheel
  }
  /// A mouse button.
  public enum Button: Hashable, Sendable {
    /// The number of another button is the terminal's; `none` in a movement.
    case none, left, middle, right, other(Int)
  }

  /// Kind of the event.
  public var action: Action
  /// Button concerned.
  public var button: Button
  /// Cell of the pointer.
  public var point: Point
  /// Wheel: -1 up or left, 1 down or right; 0 otherwise.
  public var wheelRows: Int
  /// Horizontal wheel, likewise.
  public var wheelColumns: Int
  /// Modifier keys held.
  public var modifiers: Key.Modifiers

  /// A mouse event at a cell.
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

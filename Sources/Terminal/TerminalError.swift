/// Reason why the terminal cannot be used, with a suggestion.
public enum TerminalError: Error, Hashable, CustomStringConvertible {
  /// Standard input or output is a file or a pipe.
  case notATerminal(String)
  /// `$TERM` is not a known terminal.
  case unknownTerminal(String)
  /// The terminal cannot move its cursor.
  case tooSimple(String)
  case system(String)

  public var description: String {
    switch self {
    case .notATerminal(let stream):
      "\(stream) is not a terminal; the front end needs one, and `render`, `print` and `play` do not"
    case .unknownTerminal(let name):
      name.isEmpty
        ? "TERM is not set, so it is unknown how to draw here; try TERM=xterm-256color"
        : "no description of the terminal `\(name)` (TERM) is installed; try TERM=xterm-256color"
    case .tooSimple(let name):
      "the terminal `\(name)` (TERM) cannot place its cursor, which the front end needs; "
        + "try TERM=xterm-256color"
    case .system(let message): "the terminal cannot be set up: \(message)"
    }
  }
}

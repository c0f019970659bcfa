import Screen

extension Printout {
  /// Columns of a text on a terminal: a wide character has two, a combining mark none.
  package static func columns(_ text: String) -> Int { DisplayWidth.of(text) }

  /// Columns of the widest one.
  static func columns(_ texts: some Sequence<String>) -> Int { texts.map { columns($0) }.max() ?? 0 }

  /// The text with blanks behind it, so that what follows stands in one column.
  package static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - columns(text)))
  }
}

/// Edits as messages tell them: whole while they are few, otherwise their number and the first one.
enum EditWords {
  /// More edits than these are counted.
  private static let most = 3
  /// Characters of a line that is told whole, unless it is one edit.
  private static let longest = 160
  /// Words that stand before a line of the language.
  private static let labels = ["undone: ", "redone: ", "pasted as one edit: ", "copied: "]

  /// `undone: 300 edits (node n0 delay, …)`
  static func short(_ text: String) -> String {
    let label = labels.first(where: text.hasPrefix) ?? ""
    let edits = edits(text.dropFirst(label.count))
    guard edits.count > most || edits.count > 1 && text.count > longest else { return text }
    return "\(label)\(edits.count) edits (\(edits[0]), …)"
  }

  /// The edits of a line, as far as `;` between blanks separates them; what is quoted stays whole.
  private static func edits(_ line: Substring) -> [Substring] {
    var edits: [Substring] = []
    var start = line.startIndex
    var isQuoted = false
    for index in line.indices {
      if line[index] == "\"" { isQuoted.toggle() }
      guard !isQuoted, line[index...].hasPrefix(" ; "), start <= index else { continue }
      edits.append(line[start..<index])
      start = line.index(index, offsetBy: 3)
    }
    return edits + [line[start...]]
  }
}

import Patch
import Screen

/// Wraps text that must not be cut; the lines take rows from the view above.
enum Wrapping {
  /// The words of a text, each a group of its own; a number stays with its unit.
  static func words(_ text: String, _ key: ThemeKey) -> [[Span]] {
    var words: [String] = []
    for word in text.split(separator: " ") {
      if let number = words.last, isQuantity(number, word) {
        words[words.count - 1] += " " + word
      } else {
        words.append(String(word))
      }
    }
    return words.map { [Span($0, key)] }
  }

  /// `4.0` and `ms,`
  private static func isQuantity(_ number: String, _ word: Substring) -> Bool {
    guard number.utf8.last.map({ (48...57).contains($0) }) == true else { return false }
    let unit = word.prefix { !",.;:)".contains($0) }
    guard case .number(_, let found)? = Value(number: number + unit) else { return false }
    return found != .none
  }

  /// A name shortened in the middle, to leave room for other text.
  static func shortened(_ name: String, to columns: Int = 36) -> String {
    guard DisplayWidth.of(name) > columns else { return name }
    let half = columns / 2
    var end = name.suffix(half)
    while DisplayWidth.of(end) > columns - half { end = end.dropFirst() }
    return DisplayWidth.truncated(name, to: half) + end
  }

  /// `open /home/me/song.patch` as `open …/song.patch`: a path is shortened at its left, since its end tells it from others.
  static func shortened(path text: String, to columns: Int) -> String {
    guard DisplayWidth.of(text) > columns, let slash = text.firstIndex(of: "/") else { return text }
    let label = text[..<slash]
    let room = columns - DisplayWidth.of(String(label)) - 1
    var end = text[slash...]
    while DisplayWidth.of(String(end)) > room, end.count > 1 { end = end.dropFirst() }
    // Whole folders, where the file's name has room.
    if let whole = end.firstIndex(of: "/") { end = end[whole...] }
    return DisplayWidth.truncated(label + "…" + end, to: columns)
  }

  /// A name of a node's part, such as `dist.drive` or `main[0,1]`, of which the node is shortened: the part tells it from its
  /// neighbours.
  static func shortened(part name: String, to columns: Int) -> String {
    guard DisplayWidth.of(name) > columns, let start = name.lastIndex(where: { $0 == "." || $0 == "[" })
    else { return DisplayWidth.truncated(name, to: columns) }
    let part = String(name[start...])
    let room = columns - DisplayWidth.of(part)
    guard room >= 2 else { return "…" + DisplayWidth.truncated(part, to: columns - 1) }
    return DisplayWidth.truncated(String(name[..<start]), to: room) + part
  }

  /// Wraps groups into lines. Groups of the first part are one blank apart, further parts `gap`. A group
  /// wider than a line is cut.
  static func lines(_ parts: [[[Span]]], columns: Int, gap: Int) -> [[Span]] {
    let columns = max(1, columns)
    var lines: [[Span]] = [[]]
    for (index, part) in parts.enumerated() {
      let blanks = Span(String(repeating: " ", count: index == 0 ? 1 : gap))
      for group in part.flatMap({ pieces($0, columns: columns) }) {
        let line = lines[lines.count - 1]
        if line.isEmpty {
          lines[lines.count - 1] = group
        } else if line.width + blanks.width + group.width <= columns {
          lines[lines.count - 1] = line + [blanks] + group
        } else {
          lines.append(group)
        }
      }
    }
    return lines
  }

  /// A group that is wider than a line in pieces. Each character is measured once, since a pasted word has thousands.
  private static func pieces(_ group: [Span], columns: Int) -> [[Span]] {
    if group.width <= columns { return [group] }
    var pieces: [[Span]] = []
    for span in group {
      var piece = span
      piece.text = ""
      var used = 0
      for character in span.text {
        let width = DisplayWidth.shown(character).width
        if used > 0, used + width > columns {
          pieces.append([piece])
          (piece.text, used) = ("", 0)
        }
        piece.text.append(character)
        used += width
      }
      if !piece.text.isEmpty { pieces.append([piece]) }
    }
    return pieces
  }

  /// As many of the lines: the first ones, which name the danger, a sign of what is left out, and the last one.
  static func bounded(_ lines: [[Span]], to rows: Int, columns: Int) -> [[Span]] {
    guard lines.count > rows, rows > 0 else { return lines }
    return beginning(of: lines, in: rows - 1, columns: columns) + lines.suffix(1)
  }

  /// The first lines, with a sign at their end where others follow.
  static func beginning(of lines: [[Span]], in rows: Int, columns: Int) -> [[Span]] {
    var first = Array(lines.prefix(max(0, rows)))
    guard lines.count > rows, var cut = first.popLast() else { return first }
    while cut.count > 1, cut.width + 2 > columns || cut.last?.text.allSatisfy(\.isWhitespace) == true {
      cut.removeLast()
    }
    return first + [cut + [Span(" …", .dim)]]
  }

  /// Draws lines, the last one at `row`. Of too many some are left out. Returns the position after the last one.
  @discardableResult static func draw(_ lines: [[Span]], endingAt row: Int, on canvas: inout Canvas) -> Point
  {
    let lines = bounded(lines, to: row + 1, columns: canvas.columns - 2)
    let first = row - lines.count + 1
    for (index, line) in lines.enumerated() {
      canvas.fill(Rect(column: 0, row: first + index, columns: canvas.columns, rows: 1))
      canvas.put(
        line, at: Point(min(1, canvas.columns - 1), first + index), columns: max(1, canvas.columns - 2))
    }
    return Point(min(canvas.columns - 1, 2 + (lines.last?.width ?? 0)), row)
  }
}

/// State of a line editor with history: the prompt without its appearance. An edit costs what is around the cursor, beside a
/// copy of bytes: a terminal without bracketed paste types thousands of letters one by one.
public struct LineEditor: Hashable, Sendable {
  private var line = ""
  /// Bytes before the cursor, which is never within a character.
  private var offset = 0
  /// Lines entered before, oldest first, without adjacent duplicates.
  public private(set) var history: [String]
  /// Maximum number of history entries.
  public var historyLimit = 1000

  /// Index of the history entry shown; nil: the new line.
  private var place: Int?
  /// The new line, while a history entry is shown.
  private var draft = ""
  /// Text deleted last by word or to an end of the line.
  private var killed = ""

  /// An editor with this text.
  public init(_ text: String = "", history: [String] = []) {
    self.history = history
    self.text = text
  }

  /// Setting it moves the cursor to the end.
  public var text: String {
    get { line }
    set {
      line = newValue.filter { !$0.isNewline }
      offset = line.utf8.count
      place = nil
    }
  }

  /// True when there is no text.
  public var isEmpty: Bool { line.isEmpty }
  /// The text before the cursor.
  public var textBeforeCursor: String { String(line[..<index]) }
  /// Number of characters before the cursor; counts them.
  public var cursor: Int { line[..<index].count }

  private var index: String.Index { line.utf8.index(line.startIndex, offsetBy: offset) }
  private func bytes(before index: String.Index) -> Int {
    line.utf8.distance(from: line.startIndex, to: index)
  }

  // MARK: Editing

  /// Inserts at the cursor; line ends become spaces.
  public mutating func insert(_ text: String) {
    let added = String(text.map { $0.isNewline ? " " : $0 })
    line.insert(contentsOf: added, at: index)
    settle(offset + added.utf8.count)
  }

  /// Puts the cursor behind so many bytes. Where what is before and behind has become one character, as a letter and a mark
  /// that combines with it, it goes behind that.
  private mutating func settle(_ bytes: Int) {
    offset = bytes
    guard bytes > 0, bytes < line.utf8.count else { return }
    let end = line.index(after: index)
    if line.index(before: end) != index { offset = self.bytes(before: end) }
  }

  /// Replaces the last `count` characters before the cursor: a completion.
  public mutating func replaceBeforeCursor(_ count: Int, with text: String) {
    let start = line.index(index, offsetBy: -max(0, count), limitedBy: line.startIndex) ?? line.startIndex
    let bytes = bytes(before: start)
    line.removeSubrange(start..<index)
    offset = bytes
    insert(text)
  }

  /// Deletes the character before the cursor.
  public mutating func deleteBackward() {
    guard offset > 0 else { return }
    remove(line.index(before: index)..<index)
  }

  /// Deletes the character at the cursor.
  public mutating func deleteForward() {
    guard offset < line.utf8.count else { return }
    remove(index..<line.index(after: index))
  }

  private mutating func remove(_ range: Range<String.Index>) {
    let bytes = bytes(before: range.lowerBound)
    line.removeSubrange(range)
    settle(bytes)
  }

  /// Deletes to the start of the word.
  public mutating func deleteWordBackward() { kill(wordStart..<index) }
  /// Deletes to the end of the word.
  public mutating func deleteWordForward() { kill(index..<wordEnd) }
  /// Deletes to the start of the line.
  public mutating func deleteToStart() { kill(line.startIndex..<index) }
  /// Deletes to the end of the line.
  public mutating func deleteToEnd() { kill(index..<line.endIndex) }

  /// Inserts the text deleted last by word or to an end.
  public mutating func yank() { insert(killed) }

  /// Swaps the two characters around the cursor.
  public mutating func transpose() {
    guard offset > 0 else { return }
    let middle = offset == line.utf8.count ? line.index(before: index) : index
    guard middle > line.startIndex else { return }
    let (start, end) = (line.index(before: middle), line.index(after: middle))
    let swapped = String(line[middle..<end]) + String(line[start..<middle])
    let bytes = bytes(before: end)
    line.replaceSubrange(start..<end, with: swapped)
    settle(bytes)
  }

  private mutating func kill(_ range: Range<String.Index>) {
    guard !range.isEmpty else { return }
    killed = String(line[range])
    remove(range)
  }

  // MARK: Moving

  /// Moves the cursor one character left.
  public mutating func moveLeft() {
    if offset > 0 { offset = bytes(before: line.index(before: index)) }
  }
  /// Moves the cursor one character right.
  public mutating func moveRight() {
    if offset < line.utf8.count { offset = bytes(before: line.index(after: index)) }
  }
  /// Moves the cursor to the start.
  public mutating func moveToStart() { offset = 0 }
  /// Moves the cursor to the end.
  public mutating func moveToEnd() { offset = line.utf8.count }
  /// Moves the cursor to the start of the word.
  public mutating func moveWordLeft() { offset = bytes(before: wordStart) }
  /// Moves the cursor to the end of the word.
  public mutating func moveWordRight() { offset = bytes(before: wordEnd) }

  private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

  private var wordStart: String.Index {
    let before = line[..<index]
    let end = before.lastIndex(where: Self.isWord) ?? before.startIndex
    let start = before[..<end].lastIndex { !Self.isWord($0) }
    return start.map(before.index(after:)) ?? before.startIndex
  }

  private var wordEnd: String.Index {
    let behind = line[index...]
    let start = behind.firstIndex(where: Self.isWord) ?? behind.endIndex
    return behind[start...].firstIndex { !Self.isWord($0) } ?? behind.endIndex
  }

  // MARK: History

  /// Shows the next older line with the prefix typed so far.
  public mutating func historyUp() {
    if place == nil { draft = line }
    guard let found = history[..<(place ?? history.count)].lastIndex(where: { $0.hasPrefix(draft) })
    else { return }
    show(found)
  }

  /// Shows the next newer such line, and finally the new line.
  public mutating func historyDown() {
    guard let place else { return }
    show(history[(place + 1)...].firstIndex { $0.hasPrefix(draft) })
  }

  private mutating func show(_ index: Int?) {
    line = index.map { history[$0] } ?? draft
    offset = line.utf8.count
    place = index
  }

  /// Ends the line: it goes into the history and the editor is empty. Returns the line.
  public mutating func submit() -> String {
    let line = text
    if line.contains(where: { !$0.isWhitespace }), history.last != line {
      history.append(line)
      history.removeFirst(max(0, history.count - historyLimit))
    }
    text = ""
    draft = ""
    return line
  }

  // MARK: Input

  /// Handles the usual editing keys; false for other events. Enter, tab and escape are left to the caller.
  @discardableResult
  public mutating func handle(_ event: InputEvent) -> Bool {
    switch event {
    case .paste(let text):
      edited { $0.insert(text) }
      return true
    case .key(let stroke):
      guard stroke.action != .release else { return false }
      return handle(stroke.key)
    default: return false
    }
  }

  private mutating func handle(_ key: Key) -> Bool {
    if let character = key.text {
      edited { $0.insert(String(character)) }
      return true
    }
    switch key {
    case "left", "ctrl-b": moveLeft()
    case "right", "ctrl-f": moveRight()
    case "home", "ctrl-a": moveToStart()
    case "end", "ctrl-e": moveToEnd()
    case "ctrl-left", "alt-left", "alt-b": moveWordLeft()
    case "ctrl-right", "alt-right", "alt-f": moveWordRight()
    case "up", "ctrl-p": historyUp()
    case "down", "ctrl-n": historyDown()
    case "backspace", "shift-backspace", "ctrl-h": edited { $0.deleteBackward() }
    case "delete", "ctrl-d": edited { $0.deleteForward() }
    case "ctrl-w", "alt-backspace", "ctrl-backspace": edited { $0.deleteWordBackward() }
    case "alt-d", "ctrl-delete": edited { $0.deleteWordForward() }
    case "ctrl-u": edited { $0.deleteToStart() }
    case "ctrl-k": edited { $0.deleteToEnd() }
    case "ctrl-y": edited { $0.yank() }
    case "ctrl-t": edited { $0.transpose() }
    default: return false
    }
    return true
  }

  /// An edited history entry becomes the new line.
  private mutating func edited(_ change: (inout LineEditor) -> Void) {
    change(&self)
    place = nil
  }

  // MARK: Appearance

  /// The part of the line that fits this width, and the cursor's column in it, 0..<columns. `place`: a character, counted from
  /// 0, that is seen although the cursor may then be beyond the part's end, where its column is the last one.
  public func window(columns: Int, showing place: Int? = nil) -> (text: String, cursor: Int) {
    guard columns > 0 else { return ("", 0) }
    var start = index
    var before = 0
    while start > line.startIndex {
      let previous = line.index(before: start)
      let width = DisplayWidth.shown(line[previous]).width
      if before + width > columns - 1 { break }
      before += width
      start = previous
    }
    if let place, place >= 0,
      let seen = line.index(line.startIndex, offsetBy: place, limitedBy: start), seen < start
    {
      before = columns - 1
      start = seen
    }
    var shown = ""
    var used = 0
    for character in line[start...] {
      let width = DisplayWidth.shown(character).width
      if used + width > columns { break }
      used += width
      shown.append(character)
    }
    return (shown, before)
  }
}

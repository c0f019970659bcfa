/// State of a line editor with history: the prompt without its appearance.
public struct LineEditor: Hashable, Sendable {
  /// The text, character by character.
  public private(set) var characters: [Character] = []
  /// Number of characters before the cursor, 0…count.
  public private(set) var cursor = 0
  /// Lines entered before, oldest first, without adjacent duplicates.
  public private(set) var history: [String]
  /// Maximum number of history entries.
  public var historyLimit = 1000

  /// Index of the history entry shown; nil: the new line.
  private var place: Int?
  /// The new line, while a history entry is shown.
  private var draft: [Character] = []
  /// Text deleted last by word or to an end of the line.
  private var killed: [Character] = []

  /// An editor with this text.
  public init(_ text: String = "", history: [String] = []) {
    self.history = history
    self.text = text
  }

  /// Setting it moves the cursor to the end.
  public var text: String {
    get { String(characters) }
    set {
      characters = newValue.filter { !$0.isNewline }
      cursor = characters.count
      place = nil
    }
  }

  /// True when there is no text.
  public var isEmpty: Bool { characters.isEmpty }
  /// The text before the cursor.
  public var textBeforeCursor: String { String(characters[..<cursor]) }

  // MARK: Editing

  /// Inserts at the cursor; line ends become spaces.
  public mutating func insert(_ text: String) {
    let added = text.map { $0.isNewline ? " " : $0 }
    characters.insert(contentsOf: added, at: cursor)
    cursor += added.count
    rejoin()
  }

  /// A combining mark inserted after a base joins it as one character.
  private mutating func rejoin() {
    let whole = Array(String(characters))
    guard whole.count != characters.count else { return }
    cursor = min(String(characters[..<cursor]).count, whole.count)
    characters = whole
  }

  /// Replaces the last `count` characters before the cursor: a completion.
  public mutating func replaceBeforeCursor(_ count: Int, with text: String) {
    let start = max(0, cursor - max(0, count))
    characters.removeSubrange(start..<cursor)
    cursor = start
    insert(text)
  }

  /// Deletes the character before the cursor.
  public mutating func deleteBackward() {
    guard cursor > 0 else { return }
    cursor -= 1
    characters.remove(at: cursor)
    rejoin()
  }

  /// Deletes the character at the cursor.
  public mutating func deleteForward() {
    guard cursor < characters.count else { return }
    characters.remove(at: cursor)
    rejoin()
  }

  /// Deletes to the start of the word.
  public mutating func deleteWordBackward() { kill(wordStart..<cursor) }
  /// Deletes to the end of the word.
  public mutating func deleteWordForward() { kill(cursor..<wordEnd) }
  /// Deletes to the start of the line.
  public mutating func deleteToStart() { kill(0..<cursor) }
  /// Deletes to the end of the line.
  public mutating func deleteToEnd() { kill(cursor..<characters.count) }

  /// Inserts the text deleted last by word or to an end.
  public mutating func yank() { insert(String(killed)) }

  /// Swaps the two characters around the cursor.
  public mutating func transpose() {
    guard cursor > 0, characters.count > 1 else { return }
    if cursor == characters.count { cursor -= 1 }
    characters.swapAt(cursor - 1, cursor)
    cursor += 1
    rejoin()
  }

  private mutating func kill(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    killed = Array(characters[range])
    characters.removeSubrange(range)
    cursor = range.lowerBound
    rejoin()
  }

  // MARK: Moving

  /// Moves the cursor one character left.
  public mutating func moveLeft() { cursor = max(0, cursor - 1) }
  /// Moves the cursor one character right.
  public mutating func moveRight() { cursor = min(characters.count, cursor + 1) }
  /// Moves the cursor to the start.
  public mutating func moveToStart() { cursor = 0 }
  /// Moves the cursor to the end.
  public mutating func moveToEnd() { cursor = characters.count }
  /// Moves the cursor to the start of the word.
  public mutating func moveWordLeft() { cursor = wordStart }
  /// Moves the cursor to the end of the word.
  public mutating func moveWordRight() { cursor = wordEnd }

  private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

  private var wordStart: Int {
    var index = cursor
    while index > 0, !LineEditor.isWord(characters[index - 1]) { index -= 1 }
    while index > 0, LineEditor.isWord(characters[index - 1]) { index -= 1 }
    return index
  }

  private var wordEnd: Int {
    var index = cursor
    while index < characters.count, !LineEditor.isWord(characters[index]) { index += 1 }
    while index < characters.count, LineEditor.isWord(characters[index]) { index += 1 }
    return index
  }

  // MARK: History

  /// Shows the next older line with the prefix typed so far.
  public mutating func historyUp() {
    if place == nil { draft = characters }
    let prefix = String(draft)
    guard let found = history[..<(place ?? history.count)].lastIndex(where: { $0.hasPrefix(prefix) })
    else { return }
    show(found)
  }

  /// Shows the next newer such line, and finally the new line.
  public mutating func historyDown() {
    guard let place else { return }
    let prefix = String(draft)
    show(history[(place + 1)...].firstIndex { $0.hasPrefix(prefix) })
  }

  private mutating func show(_ index: Int?) {
    characters = index.map { Array(history[$0]) } ?? draft
    cursor = characters.count
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
    draft = []
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
    var start = cursor
    var before = 0
    while start > 0 {
      let width = DisplayWidth.shown(characters[start - 1]).width
      if before + width > columns - 1 { break }
      before += width
      start -= 1
    }
    if let place, place >= 0, place < start {
      before = columns - 1
      start = place
    }
    var shown = ""
    var used = 0
    for character in characters[start...] {
      let width = DisplayWidth.shown(character).width
      if used + width > columns { break }
      used += width
      shown.append(character)
    }
    return (shown, before)
  }
}

import Screen
import Testing

@Suite struct LineEditorTests {
  /// Types keys by name, separated by spaces; `|` in the result is the cursor.
  private func edited(_ start: String, _ keys: String, history: [String] = []) -> String {
    var editor = LineEditor(start, history: history)
    for name in keys.split(separator: " ") {
      guard let key = Key(name: name) else {
        Issue.record("no key \(name)")
        continue
      }
      editor.handle(.key(KeyStroke(key)))
    }
    return shown(editor)
  }

  private func shown(_ editor: LineEditor) -> String {
    editor.textBeforeCursor + "|" + editor.text.dropFirst(editor.textBeforeCursor.count)
  }

  @Test(arguments: [
    ("", "a b c", "abc|"), ("abc", "left x", "abx|c"), ("abc", "home x", "x|abc"),
    ("abc", "home delete", "|bc"),
    ("abc", "backspace", "ab|"), ("abc", "ctrl-a ctrl-d end d", "bcd|"),
    ("set dist.drive", "ctrl-w", "set dist.|"),
    ("set dist.drive", "ctrl-w ctrl-w", "set |"), ("set dist", "alt-b alt-b", "|set dist"),
    ("set dist", "home alt-f", "set| dist"), ("set dist", "home alt-d", "| dist"),
    ("abc def", "alt-b ctrl-u", "|def"),
    ("abc def", "alt-b ctrl-k", "abc |"), ("abc def", "ctrl-w home ctrl-y", "def|abc "),
    ("ab", "ctrl-t", "ba|"),
    ("abc", "left left ctrl-t", "ba|c"), ("", "backspace delete left right ctrl-w ctrl-t", "|"),
    ("日本", "left x", "日x|本"), ("e", "home right backspace é", "é|"), ("a", "space b", "a b|"),
  ])
  func keys(_ start: String, _ keys: String, _ result: String) {
    #expect(edited(start, keys) == result)
  }

  @Test func historyGoesUpAndComesBack() {
    let history = ["connect a -> b", "set x 1", "connect c -> d"]
    #expect(edited("", "up", history: history) == "connect c -> d|")
    #expect(edited("", "up up up up", history: history) == "connect a -> b|")
    #expect(edited("", "up up down", history: history) == "connect c -> d|")
    #expect(edited("", "up down", history: history) == "|")
    // The typed text is the prefix to search for, and returns below the newest entry.
    #expect(edited("con", "up up", history: history) == "connect a -> b|")
    #expect(edited("con", "up up down down", history: history) == "con|")
    // A changed history line becomes the line being typed.
    #expect(edited("", "up backspace down", history: history) == "connect c -> |")
  }

  @Test func submittingKeepsWhatIsNewAndNotBlank() {
    var editor = LineEditor("undo")
    let line = editor.submit()
    #expect(line == "undo")
    #expect(editor.isEmpty)
    editor.text = "undo"
    _ = editor.submit()
    editor.text = "  "
    let blank = editor.submit()
    #expect(blank == "  ")
    #expect(editor.history == ["undo"])
    editor.historyLimit = 2
    for line in ["a", "b", "c"] {
      editor.text = line
      _ = editor.submit()
    }
    #expect(editor.history == ["b", "c"])
  }

  @Test func pasteStaysOnTheLine() {
    var editor = LineEditor("ab")
    editor.moveLeft()
    let isTaken = editor.handle(.paste("1\n2"))
    #expect(isTaken)
    #expect(shown(editor) == "a1 2|b")
  }

  @Test func aMarkTypedLaterJoinsItsBase() {
    var editor = LineEditor("xe")
    editor.insert("\u{301}")
    #expect(shown(editor) == "xe\u{301}|")
    editor.deleteBackward()
    #expect(shown(editor) == "x|")
  }

  @Test func completionReplacesWhatWasTyped() {
    var editor = LineEditor("connect pi -> out")
    for _ in 0..<7 { editor.moveLeft() }
    editor.replaceBeforeCursor(2, with: "piano")
    #expect(shown(editor) == "connect piano| -> out")
    editor.replaceBeforeCursor(99, with: "")
    #expect(shown(editor) == "| -> out")
  }

  @Test func releasesAndStrangeKeysAreNotForIt() {
    var editor = LineEditor("a")
    let events: [InputEvent] = [
      .key(KeyStroke("b", .release)), .key(KeyStroke("F5")), .key(KeyStroke("enter")),
      .resize(columns: 1, rows: 1),
    ]
    for event in events {
      let isTaken = editor.handle(event)
      #expect(!isTaken)
    }
    #expect(editor.text == "a")
  }

  @Test func theWindowFollowsTheCursor() {
    var editor = LineEditor("0123456789")
    #expect(editor.window(columns: 20) == ("0123456789", 10))
    #expect(editor.window(columns: 5) == ("6789", 4))
    editor.moveToStart()
    #expect(editor.window(columns: 5) == ("01234", 0))
    editor = LineEditor("日本語")
    #expect(editor.window(columns: 4) == ("語", 2))
    #expect(editor.window(columns: 1) == ("", 0))
    #expect(editor.window(columns: 0) == ("", 0))
  }

  @Test func anyKeysLeaveTheCursorInTheLine() {
    let keys = [
      "a", "é", "space", "left", "right", "home", "end", "up", "down", "backspace", "delete", "ctrl-w",
      "ctrl-k",
      "ctrl-u", "ctrl-y", "ctrl-t", "alt-b", "alt-f", "alt-d",
    ].compactMap { Key(name: $0) }
    for seed in UInt64(1)...50 {
      var random = SeededGenerator(seed: seed)
      var editor = LineEditor(history: ["one two", "three"])
      for _ in 0..<200 {
        guard let key = keys.randomElement(using: &random) else { continue }
        editor.handle(.key(KeyStroke(key)))
        if Int.random(in: 0..<20, using: &random) == 0 { editor.insert("\u{301}") }
        #expect((0...editor.text.count).contains(editor.cursor), "seed \(seed)")
        #expect(editor.textBeforeCursor.count == editor.cursor, "seed \(seed)")
        #expect(editor.text.hasPrefix(editor.textBeforeCursor), "seed \(seed)")
      }
    }
  }

  /// Marks, joined emoji, flags and syllables come together and apart wherever something is typed or deleted between them.
  @Test func aLineOfAnyCharactersIsEditedAsIfItWereReadAnewEachTime() {
    let pieces = [
      "a", "b7", " ", ".", "é", "e\u{301}", "\u{301}", "\u{308}", "\u{200D}", "👩", "🚀", "👩\u{200D}🚀",
      "\u{1F3FD}", "\u{1F1E6}", "\u{1F1E7}\u{1F1E8}", "\u{1F1E9}", "한", "\u{1100}", "\u{1161}", "\u{11A8}",
      "\u{915}\u{94D}", "\u{937}", "日本", "\u{FE0F}", "\r\n", "\u{600}",
    ]
    typealias Step = (name: String, edit: (inout LineEditor) -> Void, whole: (inout WholeLine) -> Void)
    let steps: [Step] = [
      ("left", { $0.moveLeft() }, { $0.cursor = max(0, $0.cursor - 1) }),
      ("right", { $0.moveRight() }, { $0.cursor = min($0.characters.count, $0.cursor + 1) }),
      ("home", { $0.moveToStart() }, { $0.cursor = 0 }),
      ("end", { $0.moveToEnd() }, { $0.cursor = $0.characters.count }),
      ("word left", { $0.moveWordLeft() }, { $0.cursor = $0.wordStart }),
      ("word right", { $0.moveWordRight() }, { $0.cursor = $0.wordEnd }),
      ("backspace", { $0.deleteBackward() }, { $0.remove(max(0, $0.cursor - 1)..<$0.cursor) }),
      ("delete", { $0.deleteForward() }, { $0.remove($0.cursor..<min($0.characters.count, $0.cursor + 1)) }),
      ("kill a word", { $0.deleteWordBackward() }, { $0.kill($0.wordStart..<$0.cursor) }),
      ("kill the next word", { $0.deleteWordForward() }, { $0.kill($0.cursor..<$0.wordEnd) }),
      ("kill to the end", { $0.deleteToEnd() }, { $0.kill($0.cursor..<$0.characters.count) }),
      ("yank", { $0.yank() }, { $0.insert(String($0.killed)) }),
      ("transpose", { $0.transpose() }, { $0.transpose() }),
    ]
    for seed in UInt64(1)...200 {
      var random = SeededGenerator(seed: seed)
      var (editor, whole) = (LineEditor(), WholeLine())
      var done: [String] = []
      for _ in 0..<80 {
        let piece = pieces.randomElement(using: &random)!
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<5:
          editor.insert(piece)
          whole.insert(piece)
          done.append("insert \(piece.unicodeScalars.map { String($0.value, radix: 16) })")
        case 5:
          let count = Int.random(in: 0...3, using: &random)
          editor.replaceBeforeCursor(count, with: piece)
          whole.replaceBeforeCursor(count, with: piece)
          done.append("replace \(count)")
        default:
          let step = steps.randomElement(using: &random)!
          step.edit(&editor)
          step.whole(&whole)
          done.append(step.name)
        }
        // Equal to the scalar: texts are equal also when they only look so.
        let isSame =
          editor.text.unicodeScalars.elementsEqual(String(whole.characters).unicodeScalars)
          && editor.cursor == whole.cursor
          && editor.textBeforeCursor.unicodeScalars.elementsEqual(
            String(whole.characters[..<whole.cursor]).unicodeScalars)
        #expect(isSame, "seed \(seed): \(done)")
        if !isSame { return }
      }
    }
  }

  /// The simplest editor: characters, which are found anew in the whole text after each edit.
  private struct WholeLine {
    var characters: [Character] = []
    var cursor = 0
    var killed: [Character] = []

    mutating func insert(_ text: String) {
      let added = text.map { $0.isNewline ? " " : $0 }
      characters.insert(contentsOf: added, at: cursor)
      cursor += added.count
      rejoin()
    }

    mutating func replaceBeforeCursor(_ count: Int, with text: String) {
      let start = max(0, cursor - count)
      characters.removeSubrange(start..<cursor)
      cursor = start
      insert(text)
    }

    mutating func remove(_ range: Range<Int>) {
      characters.removeSubrange(range)
      cursor = range.lowerBound
      rejoin()
    }

    mutating func kill(_ range: Range<Int>) {
      if range.isEmpty { return }
      killed = Array(characters[range])
      remove(range)
    }

    mutating func transpose() {
      guard cursor > 0, characters.count > 1 else { return }
      if cursor == characters.count { cursor -= 1 }
      characters.swapAt(cursor - 1, cursor)
      cursor += 1
      rejoin()
    }

    private mutating func rejoin() {
      let before = String(characters[..<cursor]).count
      characters = Array(String(characters))
      cursor = min(before, characters.count)
    }

    private func isWord(_ index: Int) -> Bool { characters[index].isLetter || characters[index].isNumber }

    var wordStart: Int {
      var index = cursor
      while index > 0, !isWord(index - 1) { index -= 1 }
      while index > 0, isWord(index - 1) { index -= 1 }
      return index
    }

    var wordEnd: Int {
      var index = cursor
      while index < characters.count, !isWord(index) { index += 1 }
      while index < characters.count, isWord(index) { index += 1 }
      return index
    }
  }
}

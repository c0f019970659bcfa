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
        #expect((0...editor.characters.count).contains(editor.cursor), "seed \(seed)")
        #expect(Array(editor.text) == editor.characters, "seed \(seed)")
      }
    }
  }
}

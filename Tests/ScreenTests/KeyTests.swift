import Screen
import Testing

@Suite struct KeyTests {
  @Test(arguments: [
    "a", "A", "é", "?", ":", "[", "minus", "space", "ctrl-r", "ctrl-shift-r", "ctrl-space", "alt-x", "alt-X",
    "F2",
    "F35", "shift-F3", "esc", "enter", "tab", "shift-tab", "backspace", "up", "ctrl-left", "alt-shift-down",
    "pageup", "delete", "super-a", "super-ctrl-alt-shift-home", "ctrl-minus",
  ])
  func namesReadBack(_ name: String) {
    #expect(Key(name: name)?.description == name)
  }

  @Test(arguments: [
    ("Ctrl-R", "ctrl-r"), ("CTRL-r", "ctrl-r"), ("shift-a", "A"), ("Escape", "esc"), ("Return", "enter"),
    ("f1", "F1"),
    ("pgup", "pageup"), ("-", "minus"), ("ctrl--", "ctrl-minus"), ("Del", "delete"), ("meta-x", "alt-x"),
    (" ", "space"),
  ])
  func otherSpellings(_ name: String, _ canonical: String) {
    #expect(Key(name: name)?.description == canonical)
  }

  @Test(arguments: ["", "ab", "hyper-x", "F0", "F36", "f01", "ctrl-", "ctrl-ab", "-a", "ctrl-shift-"])
  func unknownNames(_ name: String) {
    #expect(Key(name: name) == nil)
  }

  @Test func shiftBelongsToTheCharacter() {
    #expect(Key(.character("a"), .shift) == Key(.character("A")))
    #expect(Key(.character("A"), .ctrl) == Key(.character("a"), .ctrl))
    #expect(Key(.character("ß"), .shift) == Key(.character("ß")))
    #expect(
      Key("A").text == "A" && Key("ctrl-a").text == nil && Key("alt-a").text == nil && Key("up").text == nil)
  }

  @Test func aKeysPlaceIsTheSameWithAndWithoutShift() {
    #expect(KeyStroke("Z").place == "z")
    #expect(KeyStroke("z", .release).place == "z")
    #expect(KeyStroke("up").place == nil)
  }
}

import Screen
import Terminal
import Testing

@Suite struct InputParserTests {
  /// Meaning of bytes that nothing follows, as words.
  private func meaning(_ bytes: [UInt8]) -> String {
    var parser = InputParser()
    let items = parser.feed(bytes) + parser.flush()
    #expect(!parser.isPending)
    return items.map(words).joined(separator: " ")
  }

  private func words(_ item: InputParser.Item) -> String {
    switch item {
    case .event(.key(let stroke)):
      let action =
        switch stroke.action {
        case .press: ""
        case .repeat: "+"
        case .release: "^"
        }
      return stroke.key.description + action
    case .event(.paste(let text)): return "paste(\(text))"
    case .event(.focus(let isIn)): return isIn ? "in" : "out"
    case .event(.mouse(let mouse)):
      let keys = mouse.modifiers.isEmpty ? "" : "\(mouse.modifiers.rawValue)"
      let wheel = mouse.action == .wheel ? "\(mouse.wheelColumns),\(mouse.wheelRows)" : ""
      return "\(mouse.action)\(wheel)-\(mouse.button)\(keys)@\(mouse.point.column),\(mouse.point.row)"
    case .event(let event): return "\(event)"
    case .keyboardFlags(let flags): return "flags(\(flags))"
    case .deviceAttributes: return "attributes"
    case .mode(let mode, let status): return "mode(\(mode),\(status))"
    }
  }

  @Test(arguments: [
    ("a", "a"), ("Q", "Q"), (" ", "space"), ("-", "minus"), ("é", "é"), ("日", "日"), ("😀", "😀"),
    ("abc", "a b c"),
    ("\u{1}", "ctrl-a"), ("\u{12}", "ctrl-r"), ("\u{1A}", "ctrl-z"), ("\u{0}", "ctrl-space"),
    ("\u{1C}", "ctrl-\\"),
    ("\u{1F}", "ctrl-_"), ("\r", "enter"), ("\n", "enter"), ("\t", "tab"), ("\u{7F}", "backspace"),
    ("\u{8}", "backspace"),
    ("\u{1B}", "esc"), ("\u{1B}\u{1B}", "esc esc"), ("\u{1B}a", "alt-a"), ("\u{1B}A", "alt-A"),
    ("\u{1B}é", "alt-é"),
    ("\u{1B}\r", "alt-enter"), ("\u{1B}\u{1}", "ctrl-alt-a"), ("\u{1B}\u{7F}", "alt-backspace"),
    ("\u{1B}[", "alt-["), ("\u{1B}O", "alt-O"), ("\u{1B}P", "alt-P"), ("\u{1B}]", "alt-]"),
  ])
  func characters(_ bytes: String, _ expected: String) {
    #expect(meaning(Array(bytes.utf8)) == expected)
  }

  @Test(arguments: [
    ("[A", "up"), ("[B", "down"), ("[C", "right"), ("[D", "left"), ("[H", "home"), ("[F", "end"),
    ("[Z", "shift-tab"),
    ("OA", "up"), ("OP", "F1"), ("OS", "F4"), ("[1~", "home"), ("[4~", "end"), ("[2~", "insert"),
    ("[3~", "delete"),
    ("[5~", "pageup"), ("[6~", "pagedown"), ("[11~", "F1"), ("[15~", "F5"), ("[17~", "F6"), ("[21~", "F10"),
    ("[23~", "F11"), ("[24~", "F12"), ("[[A", "F1"), ("[[E", "F5"), ("[1;2A", "shift-up"),
    ("[1;5C", "ctrl-right"),
    ("[1;3D", "alt-left"), ("[1;8H", "ctrl-alt-shift-home"), ("[3;5~", "ctrl-delete"), ("[1;5P", "ctrl-F1"),
    ("O5A", "ctrl-up"), ("[5^", "ctrl-pageup"), ("Oj", "*"), ("Oy", "9"), ("OM", "enter"), ("[a", "shift-up"),
    ("Oa", "ctrl-up"), ("[27;5;13~", "ctrl-enter"), ("[27;6;65~", "ctrl-shift-a"), ("\u{1B}[A", "alt-up"),
    ("\u{1B}OP", "alt-F1"), ("[I", "in"), ("[O", "out"),
  ])
  func sequences(_ rest: String, _ expected: String) {
    #expect(meaning(Array("\u{1B}\(rest)".utf8)) == expected)
  }

  @Test(arguments: [
    ("[97u", "a"), ("[97;1:2u", "a+"), ("[97;1:3u", "a^"), ("[97;5u", "ctrl-a"), ("[97;6u", "ctrl-shift-a"),
    ("[97;2u", "A"), ("[97:65;2u", "A"), ("[97:65;2;65u", "A"), ("[50:64;2;64u", "@"), ("[50;2;34u", "\""),
    ("[97;3u", "alt-a"), ("[97:65;4;65u", "alt-A"), ("[97;9u", "super-a"), ("[97;65u", "a"),
    ("[97;129;97u", "a"),
    ("[27u", "esc"), ("[27;1:3u", "esc^"), ("[13u", "enter"), ("[9u", "tab"), ("[9;2u", "shift-tab"),
    ("[127u", "backspace"), ("[32;;32u", "space"), ("[32;1:3u", "space^"), ("[57376u", "F13"),
    ("[57399u", "0"),
    ("[57414u", "enter"), ("[57419u", "up"), ("[57441;2u", ""), ("[57441;1:3u", ""), ("[1;1:3A", "up^"),
    ("[1;1:3P", "F1^"), ("[13;1:3~", "F3^"), ("[5;1:2~", "pageup+"), ("[?11u", "flags(11)"),
    ("[?62;22c", "attributes"),
    ("[?2026;2$y", "mode(2026,2)"), ("[1092::97;;1092u", "ф"), ("[0u", ""), ("[u", ""),
    ("[99999999999999999999u", ""),
    ("[233;1;233u", "é"),
  ])
  func kittyProtocol(_ rest: String, _ expected: String) {
    #expect(meaning(Array("\u{1B}\(rest)".utf8)) == expected)
  }

  @Test func releasesHaveThePlaceOfTheirPress() {
    var parser = InputParser()
    // z down, shift down, z up: the release reports shift, at the same key position.
    let items = parser.feed(Array("\u{1B}[122;1;122u\u{1B}[122:90;2:3u\u{1B}[1103::122;1:3u".utf8))
    let places = items.map { item -> Character? in
      if case .event(.key(let stroke)) = item { stroke.place } else { nil }
    }
    #expect(places == ["z", "z", "z"])
  }

  @Test(arguments: [
    ("[<0;1;1M", "press-left@0,0"), ("[<0;300;120m", "release-left@299,119"), ("[<2;5;6M", "press-right@4,5"),
    ("[<1;5;6M", "press-middle@4,5"), ("[<32;5;6M", "drag-left@4,5"), ("[<35;5;6M", "move-none@4,5"),
    ("[<64;5;6M", "wheel0,-1-none@4,5"), ("[<65;5;6M", "wheel0,1-none@4,5"),
    ("[<66;5;6M", "wheel-1,0-none@4,5"),
    ("[<67;5;6M", "wheel1,0-none@4,5"), ("[<65;5;6m", ""), ("[<20;5;6M", "press-left5@4,5"),
    ("[<128;5;6M", "press-other(8)@4,5"), ("[<0;0;1M", ""), ("[<0;1M", ""), ("[M !!", "press-left@0,0"),
    ("[M#!!", "release-none@0,0"), ("[M`!!", "wheel0,-1-none@0,0"), ("[32;5;6M", "press-left@4,5"),
  ])
  func mouse(_ rest: String, _ expected: String) {
    #expect(meaning(Array("\u{1B}\(rest)".utf8)) == expected)
  }

  @Test(arguments: [
    // Unrequested answers, and noise.
    ("\u{1B}]11;rgb:0000/0000/0000\u{7}a", "a"), ("\u{1B}]11;x\u{1B}\\a", "a"),
    ("\u{1B}P1$r0m\u{1B}\\a", "a"),
    ("\u{1B}_Gi=1;OK\u{1B}\\a", "a"), ("\u{1B}[12;34R", ""), ("\u{1B}[99~a", "a"),
    ("\u{1B}[?1;2;3$za", "a"),
    ("\u{1B}[1\u{1}a", "ctrl-a a"), ("\u{1B}[1\u{1B}[A", "up"), ("\u{1B}]ab\u{1B}[A", "up"),
  ])
  func noise(_ bytes: String, _ expected: String) {
    #expect(meaning(Array(bytes.utf8)) == expected)
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC3, 0x28], [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xF5, 0x80], [0xC0, 0x80],
      [0x80, 0xBF], [0xC2, 0x9B],
    ] as [[UInt8]])
  func brokenText(_ bytes: [UInt8]) {
    #expect(["", "("].contains(meaning(bytes)))
    #expect(meaning(bytes + Array("ab".utf8)).hasSuffix("b"))
  }

  @Test func pasteIsTextAndNotKeys() {
    #expect(
      meaning(Array("x\u{1B}[200~node a\r\nnode b\rc\u{1B}[A\u{3}\u{1B}[201~y".utf8))
        == "x paste(node a\nnode b\nc[A) y")
    #expect(meaning(Array("\u{1B}[200~\u{1B}[201~".utf8)) == "")
  }

  @Test func aPasteWithoutAnEndEndsWhenAskedTo() {
    var parser = InputParser()
    let early = parser.feed(Array("\u{1B}[200~abc\u{1B}[20".utf8)) + parser.flush()
    #expect(early.isEmpty)
    #expect(parser.isPasting)
    let items = parser.flush(endingPaste: true) + parser.feed(Array("q".utf8))
    #expect(items.map(words) == ["paste(abc[20)", "q"])
  }

  @Test func aHugePasteComesInPieces() {
    var parser = InputParser()
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
    var total = 0
    func count(_ items: [InputParser.Item]) {
      for case .event(.paste(let text)) in items { total += text.utf8.count }
    }
    count(parser.feed(Array("\u{1B}[200~".utf8)))
    for _ in 0..<25 { count(parser.feed(piece)) }
    #expect(total > 1_000_000)
    count(parser.feed(Array("\u{1B}[201~".utf8)))
    #expect(total == 2_500_000)
  }

  /// A key stream cut at any byte yields the same keys.
  @Test func anyCutGivesTheSame() {
    let stream = Array(
      ("aé日😀\u{1B}[A\u{1B}[1;5C\u{1B}OP\u{1B}[97;1:3u\u{1B}[<0;10;10M\u{1B}[<0;10;10m\u{1B}[M !!\u{1B}[200~x\u{1B}[20"
        + "y\u{1B}[201~\u{1B}[?2026;2$y\u{1B}]1;2\u{7}\u{1B}x\u{1B}\u{1B}[B\u{1B}[[Cz").utf8)
    var whole = InputParser()
    let expected = whole.feed(stream)
    #expect(expected.count == 17)
    for cut in 0...stream.count {
      for second in stride(from: cut, through: stream.count, by: 3) {
        var parser = InputParser()
        let items =
          parser.feed(stream[..<cut]) + parser.feed(stream[cut..<second]) + parser.feed(stream[second...])
        #expect(items == expected, "cut at \(cut) and \(second)")
      }
    }
  }

  /// Random bytes, and sequences with random changes, in random pieces: no crash, and nothing stays pending.
  @Test func anyBytesAreLegal() {
    let seeds = [
      "\u{1B}[97:65:97;2:1;65u", "\u{1B}[<32;10;10M", "\u{1B}[200~paste\u{1B}[201~", "\u{1B}[?2026;1$y",
      "\u{1B}OP",
      "\u{1B}[M !!", "\u{1B}]0;title\u{1B}\\", "日本\u{1B}[[A", "\u{1B}[1;5~",
    ].map { Array($0.utf8) }
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      var parser = InputParser()
      for _ in 0..<30 {
        var bytes: [UInt8]
        if Bool.random(using: &random) {
          bytes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
          }
        } else {
          bytes = seeds.randomElement(using: &random) ?? []
          for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
          }
        }
        while !bytes.isEmpty {
          let count = Int.random(in: 1...bytes.count, using: &random)
          _ = parser.feed(bytes[..<count])
          bytes.removeFirst(count)
        }
        if Int.random(in: 0..<4, using: &random) == 0 {
          _ = parser.flush(endingPaste: true)
          #expect(!parser.isPending && !parser.isPasting, "seed \(seed)")
        }
      }
      _ = parser.flush(endingPaste: true)
      // Keys typed afterwards are read as keys.
      let items = parser.feed(Array("ok".utf8))
      #expect(items.map(words) == ["o", "k"], "seed \(seed)")
    }
  }

  @Test func nothingEndlessIsHeld() {
    for start in ["\u{1B}[", "\u{1B}]", "\u{1B}P", "\u{1B}[<", "\u{1B}O"] {
      var parser = InputParser()
      _ = parser.feed(Array(start.utf8))
      for _ in 0..<100 { _ = parser.feed(Array("1;2;3;4;5;".utf8)) }
      let items = parser.flush() + parser.feed(Array("q".utf8))
      #expect(items.last.map(words) == "q", "\(start)")
    }
  }
}

import Screen
import Testing

@Suite struct CanvasTests {
  @Test func aCableJoinsTheBoxThatItLeaves() {
    expectDrawn(
      20, 3,
      """
      ╭──────╮
      │      ├────────────
      ╰──────╯

      """
    ) { canvas in
      canvas.box(Rect(column: 0, row: 0, columns: 8, rows: 3), rounded: true)
      canvas.path([Point(7, 1), Point(19, 1)])
    }
  }

  @Test func linesThatMeetAndCrossJoin() {
    expectDrawn(
      13, 5,
      """
      ┌───┬───────┐
      │   │       │
      ├───┼───┬───┤
      │   │   │   │
      └───┴───┴───┘

      """
    ) { canvas in
      canvas.box(Rect(column: 0, row: 0, columns: 13, rows: 5))
      canvas.path([Point(0, 2), Point(12, 2)])
      canvas.path([Point(4, 0), Point(4, 4)])
      canvas.path([Point(8, 2), Point(8, 4)])
    }
  }

  @Test func weightsMixWhereTheyMeet() {
    expectDrawn(
      9, 5,
      """
      ┏━━━┳━━━┓
      ┃   ┃   ┃
      ┠───╂───┨
      ┃   ┃   ┃
      ┗━━━┻━━━┛

      """
    ) { canvas in
      canvas.box(Rect(column: 0, row: 0, columns: 9, rows: 5), stroke: .heavy)
      canvas.path([Point(0, 2), Point(8, 2)])
      canvas.path([Point(4, 0), Point(4, 4)], stroke: .heavy)
    }
  }

  @Test func aDottedPathTurnsRoundCorners() {
    expectDrawn(
      9, 4,
      """
      ┈┈┈┈╮
          ┊
          ┊
          ╰┈┈┈┈

      """
    ) { canvas in
      canvas.path([Point(0, 0), Point(4, 0), Point(4, 3), Point(8, 3)], stroke: .dotted)
    }
  }

  @Test func aSlantingStepGoesAcrossFirst() {
    expectDrawn(4, 3, "───╮\n   │\n   │\n") { $0.path([Point(0, 0), Point(3, 2)]) }
  }

  @Test func boxesOverOneAnotherCoverOrJoin() {
    let over = Rect(column: 3, row: 1, columns: 5, rows: 3)
    let under = Rect(column: 0, row: 0, columns: 6, rows: 3)
    expectDrawn(
      8, 4, "┌────┐\n│  ┌───┐\n└──│   │\n   └───┘\n"
    ) { canvas in
      canvas.box(under)
      canvas.box(over)
    }
    expectDrawn(
      8, 4, "┌────┐\n│  ┌─┼─┐\n└──┼─┘ │\n   └───┘\n"
    ) { canvas in
      canvas.box(under)
      canvas.box(over, joining: true, filled: false)
    }
  }

  @Test func boxesShrinkToLinesAndToNothing() {
    expectDrawn(4, 2, "────\n\n") { $0.box(Rect(column: 0, row: 0, columns: 4, rows: 1)) }
    expectDrawn(2, 3, " │\n │\n │\n") { $0.box(Rect(column: 1, row: 0, columns: 1, rows: 3)) }
    expectDrawn(2, 1, "\n") { $0.box(Rect(column: 0, row: 0, columns: 0, rows: 5)) }
  }

  @Test func wideCharactersKeepTheColumns() {
    expectDrawn(8, 1, "日本x\n") { $0.put("日本x", at: .zero) }
    // Overwriting one half of a wide character turns the other half into a space.
    expectDrawn(8, 1, " ab\n") { canvas in
      canvas.put("日本", at: .zero)
      canvas.put("a", at: Point(1, 0))
      canvas.put("b", at: Point(2, 0))
    }
    // Cut off at either edge.
    expectDrawn(3, 1, "日\n") { $0.put("日本", at: .zero) }
    expectDrawn(4, 1, " 本\n") { $0.put("日本", at: Point(-1, 0)) }
    var canvas = Canvas(columns: 6, rows: 1)
    let used = canvas.put("日本", at: .zero)
    #expect(used == 4)
    #expect(canvas.cells.map(\.width) == [2, 0, 2, 0, 1, 1])
  }

  @Test func marksStandOnTheirBaseAndControlsAreVisible() {
    var canvas = Canvas(columns: 6, rows: 1)
    let used = canvas.put("e\u{301}\u{7}x", at: .zero)
    #expect(used == 3)
    #expect(canvas.text == "é\u{FFFD}x\n")
  }

  @Test func aRegionClipsAndHasItsOwnOrigin() {
    expectDrawn(
      8, 4, "\n  bcde\n    xy\n\n"
    ) { canvas in
      canvas.draw(in: Rect(column: 2, row: 1, columns: 4, rows: 2)) { region in
        #expect(region.bounds == Rect(column: 0, row: 0, columns: 4, rows: 2))
        region.put("abcdefgh", at: Point(-1, 0))
        region.put("far", at: Point(0, 2))
        region.draw(in: Rect(column: 2, row: 1, columns: 9, rows: 9)) { $0.put("xyz", at: .zero) }
      }
    }
  }

  @Test func aScrolledRegionShowsItsContentFromThere() {
    expectDrawn(
      4, 2, "cdef\ncdef\n"
    ) { canvas in
      canvas.draw(in: canvas.bounds, scrolled: Point(2, 1)) { region in
        #expect(region.visible == Rect(column: 2, row: 1, columns: 4, rows: 2))
        for row in 0..<4 { region.put("\(row)bcdefg", at: Point(0, row)) }
      }
    }
  }

  @Test func theCursorHidesWhereItCannotBeSeen() {
    var canvas = Canvas(columns: 8, rows: 4)
    canvas.draw(in: Rect(column: 2, row: 1, columns: 2, rows: 2)) { $0.placeCursor(at: Point(1, 1)) }
    #expect(canvas.cursor == Point(3, 2))
    canvas.draw(in: Rect(column: 2, row: 1, columns: 2, rows: 2)) { $0.placeCursor(at: Point(2, 0)) }
    #expect(canvas.cursor == nil)
  }

  @Test func anythingAnywhereOnAnySizeIsSafe() {
    for seed in UInt64(1)...60 {
      var random = SeededGenerator(seed: seed)
      var canvas = Canvas(
        columns: .random(in: -1...12, using: &random), rows: .random(in: 0...6, using: &random))
      func point() -> Point {
        Point(.random(in: -2000...2000, using: &random) / 100, .random(in: -900...900, using: &random) / 100)
      }
      for _ in 0..<40 {
        let rect = Rect(
          column: point().column, row: point().row, columns: point().column, rows: point().row)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: canvas.put("日a本\u{301}─│😀👨‍👩‍👧🇩🇪", at: point())
        case 1: canvas.box(rect, stroke: .heavy, joining: Bool.random(using: &random))
        case 2: canvas.path([point(), point(), point()], stroke: .dotted)
        case 3: canvas.fill(rect, "─")
        case 4: canvas.draw(in: rect, scrolled: point()) { $0.box($0.bounds) }
        default: canvas.restyle(rect) { $0.attributes.insert(.reverse) }
        }
        // A wide character always has both halves.
        for row in 0..<canvas.rows {
          let cells = canvas.cells[row * canvas.columns..<(row + 1) * canvas.columns]
          let widths = cells.map(\.width)
          #expect(
            widths.enumerated().allSatisfy { ($1 == 0) == ($0 > 0 && widths[$0 - 1] == 2) }, "seed \(seed)")
          #expect(widths.last != 2, "seed \(seed)")
        }
      }
    }
  }

  @Test func hugeShapesCostOnlyWhatIsSeen() {
    var canvas = Canvas(columns: 10, rows: 3)
    canvas.box(Rect(column: -1_000_000_000, row: 1, columns: 2_000_000_000, rows: 1_000_000_000))
    canvas.path([Point(4, -1_000_000_000), Point(4, 1_000_000_000)])
    #expect(canvas.text == "    │\n────┼─────\n    │\n")
  }
}

@Suite struct BoxCharacterTests {
  @Test func everyCharacterSaysItsArmsAndBack() {
    for weights in 0..<256 {
      func weight(_ shift: Int) -> Arms.Weight { Arms.Weight(rawValue: UInt8(weights >> shift & 3)) ?? .none }
      let arms = Arms(up: weight(6), right: weight(4), down: weight(2), left: weight(0))
      let character = arms.character()
      if arms.isEmpty {
        #expect(character == " ")
        continue
      }
      // Where Unicode lacks the mixed character, the arms are the same, but double ones are drawn heavy.
      let said = Arms(character)
      #expect(said?.count == arms.count, "\(arms) \(character)")
      let hasDouble = [arms.up, arms.right, arms.down, arms.left].contains(.double)
      if !hasDouble { #expect(said == arms, "\(arms) \(character)") }
    }
  }

  @Test func knownCharacters() {
    #expect(Arms("┼") == Arms(up: .light, right: .light, down: .light, left: .light))
    #expect(Arms("╭") == Arms(right: .light, down: .light))
    #expect(Arms("┊") == Arms(up: .light, down: .light))
    #expect(Arms("┡") == Arms(up: .heavy, right: .heavy, down: .light))
    #expect(Arms("╟") == Arms(up: .double, right: .light, down: .double))
    #expect(Arms("x") == nil)
    #expect(Arms(up: .light, left: .light).character(rounded: true) == "╯")
    #expect(Arms(up: .double, left: .heavy).character() == "┛")
  }
}

@Suite struct DisplayWidthTests {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("e\u{301}", 1), ("日本", 4), ("한", 2), ("\u{1112}\u{1161}\u{11AB}", 2),
    ("😀", 2), ("👨‍👩‍👧", 2), ("🇩🇪", 1), ("❤️", 1), ("─", 1), ("ﾊ", 1), ("Ａ", 2), ("\t", 1), ("\u{301}", 1),
    ("\u{200B}", 1), ("▇", 1), ("↺", 1), ("⇄", 1), ("\u{AD}", 1),
  ])
  func columns(_ text: String, _ width: Int) {
    #expect(DisplayWidth.of(text) == width)
  }

  @Test func shortenedTextSaysSo() {
    #expect(DisplayWidth.truncated("upright.sfz", to: 11) == "upright.sfz")
    #expect(DisplayWidth.truncated("upright.sfz", to: 6) == "uprig…")
    #expect(DisplayWidth.truncated("日本語", to: 4) == "日…")
    #expect(DisplayWidth.truncated("日本語", to: 1) == "…")
    #expect(DisplayWidth.truncated("x", to: 0) == "")
    #expect(DisplayWidth.padded("ab", to: 4) == "ab  ")
    #expect(DisplayWidth.padded("ab", to: 4, right: true) == "  ab")
    #expect(DisplayWidth.of(DisplayWidth.padded("日本語", to: 4)) == 4)
  }
}

import Testing

@testable import Screen

@Suite struct GlyphTests {
  @Test func aBaseKeepsItsMarksAndFourBytes() {
    let glyph = Glyph("e\u{301}\u{323}")
    #expect(glyph.character == "e\u{301}\u{323}")
    #expect(glyph == Glyph("e\u{301}\u{323}") && glyph != Glyph("e\u{301}"))
    #expect(glyph.scalar == nil && Glyph("é").scalar == "é")
    #expect(MemoryLayout<Glyph>.size == 4 && MemoryLayout<Cell>.size <= 8)
  }

  /// The short way for plain text leads to the same cells as the way through characters.
  @Test func plainTextHasTheCellsOfItsCharacters() {
    let scalars = DisplayWidth.plainRanges.joined().compactMap(Unicode.Scalar.init)
    #expect(scalars.count > 1500)
    for scalar in scalars {
      let shown = DisplayWidth.shown(Character(scalar))
      #expect(shown.glyph == Glyph(scalar) && shown.width == 1, "U+\(String(scalar.value, radix: 16))")
    }
    for seed in UInt64(1)...40 {
      var random = SeededGenerator(seed: seed)
      var text = String.UnicodeScalarView()
      for _ in 0..<50 { text.append(scalars.randomElement(using: &random)!) }
      // Sometimes something that is not plain, which the whole text then goes another way for.
      if seed.isMultiple(of: 2) { text.append(contentsOf: "日e\u{301}👩‍🚀\t".unicodeScalars) }
      var cells: [Glyph] = []
      DisplayWidth.forEach(in: String(text)) { glyph, _ in cells.append(glyph) }
      #expect(cells == String(text).map { DisplayWidth.shown($0).glyph }, "seed \(seed)")
      #expect(DisplayWidth.of(String(text)) == String(text).reduce(0) { $0 + DisplayWidth.shown($1).width })
    }
  }

  @Test func onlyChangedCellsAreHandedOver() {
    let old = Canvas(columns: 10, rows: 3)
    var new = old
    new.put("ab", at: Point(4, 1))
    new.restyle(Rect(column: 0, row: 2, columns: 1, rows: 1)) { $0.attributes.insert(.bold) }
    var places: [Point] = []
    new.forEachChange(since: old) { _, column, row in places.append(Point(column, row)) }
    #expect(places == [Point(4, 1), Point(5, 1), Point(0, 2)])
    places = []
    new.forEachChange(since: nil) { _, column, row in places.append(Point(column, row)) }
    #expect(places.count == 30)
  }
}

import Foundation
import Testing

@testable import Screen

/// Screens for terminals without Unicode.
@Suite struct PlainTests {
  private func plain(_ canvas: Canvas) -> String {
    canvas.lines.map {
      String(String.UnicodeScalarView($0.unicodeScalars.map { Glyph($0).plain.scalar! })) + "\n"
    }
    .joined()
  }

  @Test func boxesCablesAndMetersKeepTheirMeaning() {
    var canvas = Canvas(columns: 22, rows: 3)
    canvas.box(Rect(column: 0, row: 0, columns: 8, rows: 3), rounded: true)
    canvas.box(Rect(column: 14, row: 0, columns: 8, rows: 3), stroke: .heavy)
    canvas.path([Point(7, 1), Point(14, 1)])
    canvas.put("▇▇▃", at: Point(2, 1))
    canvas.put("Größe", at: Point(15, 1))
    #expect(plain(canvas) == "+------+      #======#\n| ##-  +------#Grose #\n+------+      #======#\n")
  }

  @Test func textIsReadAsItIs() {
    #expect(
      "crosspoint 0 → 1   listening… 4 × 2, −3 dB".plain == "crosspoint 0 > 1   listening... 4 x 2, -3 dB")
  }

  @Test func longTextGoesOnInTheNextRowWithAWholeWord() {
    #expect(DisplayWidth.rows(of: "one two  three", columns: 20) == ["one two  three"])
    #expect(DisplayWidth.rows(of: "one two  three", columns: 9) == ["one two", "three"])
    #expect(DisplayWidth.rows(of: "abcdefghij k", columns: 4) == ["abcd", "efgh", "ij k"])
    for columns in 1...40 {
      let rows = DisplayWidth.rows(
        of: "lines for who listens: größer, 音 and ever so longwindedwordsindeed", columns: columns)
      #expect(rows.allSatisfy { DisplayWidth.of($0) <= max(2, columns) }, "\(columns): \(rows)")
    }
  }

  @Test func everySignOfTheProgramHasOne() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    var seen: Set<Unicode.Scalar> = []
    for folder in ["Interface", "Screen", "Session", "Terminal"] {
      let files = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
      while let file = files?.nextObject() as? String {
        guard file.hasSuffix(".swift") else { continue }
        let text = try String(
          contentsOf: root.appendingPathComponent(folder).appendingPathComponent(file), encoding: .utf8)
        // Comments are not shown, nor are the widths of wide characters.
        let lines = text.split(separator: "\n").filter { !$0.contains("//") }
        for line in lines { seen.formUnion(line.unicodeScalars.filter { !$0.isASCII }) }
      }
    }
    #expect(seen.count > 100)
    for scalar in seen {
      let plain = Glyph(scalar).plain
      #expect(
        plain != "?" && plain.scalar?.isASCII == true, "\(scalar), U+\(String(scalar.value, radix: 16))")
    }
  }

  @Test func whatHasNoneIsAQuestionMark() {
    #expect(Glyph("日").plain == "?" && Glyph("a").plain == "a" && Glyph("e\u{301}").plain == "e")
  }
}

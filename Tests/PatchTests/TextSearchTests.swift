import Patch
import Testing

/// Search within texts gives what Swift's own functions give.
@Suite struct TextSearchTests {
  private static let texts = [
    "", "a", "aa", "aab", "abab", "a.b.c", "..", "0..7", "aaab aab", "größe ×", "×× × ×",
  ]
  private static let parts = ["a", "aa", "ab", "..", ".", "aab", "×", " × ", "ö", "none"]

  @Test func textsAreFoundAndReplaced() {
    for text in Self.texts {
      for part in Self.parts {
        let place = text.place(of: part)
        #expect(place == text.firstRange(of: part), "\(part) in \(text)")
        #expect(text.includes(part) == text.contains(part), "\(part) in \(text)")
        #expect(text.dropFirst().place(of: part) == text.dropFirst().firstRange(of: part))
        for new in ["", "x", part + part] {
          #expect(text.substituting(part, with: new) == text.replacing(part, with: new), "\(part) in \(text)")
        }
      }
      #expect(text.includes("") && text.place(of: "") == nil && text.substituting("", with: "x") == text)
    }
  }
}

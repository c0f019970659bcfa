/// Search for the word that the user probably meant.
public enum Nearest {
  private static let longest = 128

  /// "did you mean `piano`?", if one of `candidates` is near.
  public static func hint(for word: String, among candidates: some Sequence<String>) -> String? {
    match(for: word, among: candidates).map(question)
  }

  /// "did you mean `piano`?"
  package static func question(_ word: String) -> String { "did you mean `\(word)`?" }

  /// The candidate with the smallest edit distance, the first of equals; nil if none is near.
  public static func match(for word: String, among candidates: some Sequence<String>) -> String? {
    // Nobody mistypes a word of this length, and a comparison costs the product of both lengths.
    guard word.utf8.count <= longest else { return nil }
    let limit = max(1, word.count / 3 + 1)
    let letters = Array(word.lowercased().unicodeScalars)
    var best: String?
    var bestDistance = limit + 1
    for candidate in candidates where candidate != word && !candidate.isEmpty {
      let other = Array(candidate.lowercased().unicodeScalars)
      // An unfinished word counts as near, however much is missing.
      let isBegun = letters.count >= 2 && other.starts(with: letters)
      guard isBegun || abs(other.count - letters.count) < bestDistance else { continue }
      let effective = isBegun ? 1 : distance(letters, other)
      if effective < bestDistance, effective < max(other.count, letters.count) {
        best = candidate
        bestDistance = effective
      }
    }
    return best
  }

  /// Edit distance of two words: insertions, deletions, changes, and swaps of neighbours (optimal string
  /// alignment: Damerau, "A technique for computer detection and correction of spelling errors", 1964).
  static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
    if a.isEmpty { return b.count }
    if b.isEmpty { return a.count }
    var beforeLast = [Int](repeating: 0, count: b.count + 1)
    var last = Array(0...b.count)
    var row = last
    for i in 1...a.count {
      row[0] = i
      for j in 1...b.count {
        let change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
        row[j] = min(change, last[j] + 1, row[j - 1] + 1)
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
          row[j] = min(row[j], beforeLast[j - 2] + 1)
        }
      }
      (beforeLast, last, row) = (last, row, beforeLast)
    }
    return last[b.count]
  }
}

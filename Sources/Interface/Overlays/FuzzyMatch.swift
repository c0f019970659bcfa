/// Search in names by some of their letters in order, the best first: `dd` finds `dist.drive`.
enum FuzzyMatch {
  /// Letters from which on details are searched, too: fewer are in most of them.
  private static let leastInDetails = 3

  /// Indices of the texts that have the letters, the best first, equal ones in their order. `details` may have the letters
  /// as a whole, behind all names that have them.
  static func ranked(_ letters: String, names: [String], details: [String]) -> [Int] {
    let wanted = letters.lowercased()
    guard !wanted.isEmpty else { return Array(names.indices) }
    var found: [(index: Int, score: Int)] = []
    for index in names.indices {
      if let score = score(Array(wanted.unicodeScalars), in: Array(names[index].lowercased().unicodeScalars))
      {
        found.append((index, score))
      } else if wanted.count >= leastInDetails, details[index].lowercased().includes(wanted) {
        found.append((index, Int.min))
      }
    }
    return found.sorted { ($1.score, $0.index) < ($0.score, $1.index) }.map(\.index)
  }

  /// The quality of a match, greater for letters side by side and at the beginnings of words, and for a whole name; nil:
  /// no match.
  static func score(_ letters: [Unicode.Scalar], in name: [Unicode.Scalar]) -> Int? {
    if letters.count > name.count { return nil }
    // The best place of the letters so far whose last one stands at each position.
    var best = [Int?](repeating: nil, count: name.count)
    for (number, letter) in letters.enumerated() {
      var next = [Int?](repeating: nil, count: name.count)
      var before: Int?
      for index in name.indices {
        if index > 0, let earlier = best[index - 1] { before = max(before ?? .min, earlier) }
        guard name[index] == letter else { continue }
        let isStart = index == 0 || !isLetter(name[index - 1])
        var options: [Int] = []
        if number == 0 { options.append(0) }
        if number > 0, let before { options.append(before - 3) }
        if number > 0, index > 0, let adjacent = best[index - 1] { options.append(adjacent + 8) }
        next[index] = options.max().map { $0 + (isStart ? 10 : 0) }
      }
      best = next
    }
    return best.compactMap(\.self).max().map { $0 + (name.count == letters.count ? 5 : 0) }
  }

  private static func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || scalar.properties.numericType != nil
  }
}

/// A name, or a pattern of names: `*` stands for any letters, also none, and `?` for one. All other signs stand for
/// themselves, brackets and backslashes too, since names of ports have them: `a2j:Launchkey [20] (capture): 0`.
public struct NamePattern: Sendable, Hashable {
  /// The name, or pattern.
  public let text: String
  /// True where it stands for several names.
  public let isPattern: Bool

  /// A name or pattern as it was written.
  public init(_ text: String) {
    self.text = text
    isPattern = text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
  }

  /// True for a name that it stands for. A name stands for itself, also one with a star in it.
  public func fits(_ name: String) -> Bool { text == name || isPattern && Self.matches(text, name) }

  /// True for a text that the pattern fits, or that has the plain name as a part.
  public func occurs(in name: String) -> Bool { isPattern ? fits(name) : name.includes(text) }

  private static func matches(_ pattern: String, _ name: String) -> Bool {
    let (pattern, name) = (Array(pattern.utf8), Array(name.utf8))
    var (place, index) = (0, 0)
    /// The byte after the letter at a place of the name: a letter may have several.
    func afterLetter(_ index: Int) -> Int {
      var next = index + 1
      while next < name.count, name[next] & 0xC0 == 0x80 { next += 1 }
      return next
    }
    // After a star: where it stands, and up to where it has taken letters.
    var star: (place: Int, index: Int)?
    while index < name.count {
      if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
        star = (place, index)
        place += 1
      } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") {
        (place, index) = (place + 1, afterLetter(index))
      } else if place < pattern.count, pattern[place] == name[index] {
        (place, index) = (place + 1, index + 1)
      } else if let last = star {
        star = (last.place, afterLetter(last.index))
        (place, index) = (last.place + 1, afterLetter(last.index))
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
  }
}

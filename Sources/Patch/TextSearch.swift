/// Search and replacement of texts within texts. The functions of this kind that Swift has come with its regular
/// expressions, which are a megabyte of the program.
extension StringProtocol {
  /// Place of the first occurrence of `text`; nil if there is none. An empty text is nowhere.
  public func place(of text: String) -> Range<Index>? {
    let (bytes, wanted) = (utf8, text.utf8)
    guard let head = wanted.first else { return nil }
    var start = bytes.startIndex
    while let next = bytes[start...].firstIndex(of: head) {
      var (end, rest) = (next, wanted[...])
      while let byte = rest.first, end < bytes.endIndex, bytes[end] == byte {
        rest.removeFirst()
        end = bytes.index(after: end)
      }
      if rest.isEmpty { return next..<end }
      start = bytes.index(after: next)
    }
    return nil
  }

  /// True if `text` occurs in it; an empty one always does.
  public func includes(_ text: String) -> Bool { text.isEmpty || place(of: text) != nil }

  /// A copy with `new` in the place of each `old`.
  public func substituting(_ old: String, with new: String) -> String {
    var result = ""
    var rest = self[...]
    while let place = rest.place(of: old) {
      result += rest[..<place.lowerBound]
      result += new
      rest = rest[place.upperBound...]
    }
    return result + rest
  }
}

/// Width of text on a terminal, in columns.
///
/// Terminals agree on base characters and combining marks, and on little else. Text is therefore reduced to
/// these, so that no terminal and no version of one puts later text in the wrong column. Joiners, variation
/// selectors and emoji modifiers are dropped, and control characters become visible.
public enum DisplayWidth {
  /// The character as every terminal can show it, and its width: 1 or 2.
  public static func shown(_ character: Character) -> (glyph: Glyph, width: Int) {
    if let ascii = character.asciiValue {
      if ascii == 9 || ascii == 10 || ascii == 13 { return (" ", 1) }
      return (ascii >= 32 && ascii < 127 ? Glyph(Unicode.Scalar(ascii)) : "\u{FFFD}", 1)
    }
    let scalars = character.unicodeScalars
    let first = scalars.first!
    // A combining mark without a base gets a space.
    if isZeroWidth(first) {
      return (isMark(first) ? Glyph(" ", marks: [first]) : "\u{FFFD}", 1)
    }
    let category = first.properties.generalCategory
    if category == .control || category == .surrogate || category == .lineSeparator
      || category == .paragraphSeparator
    {
      return ("\u{FFFD}", 1)
    }
    let width = isWide(first) ? 2 : 1
    // ncurses keeps a base and at most four marks in a cell.
    return (Glyph(first, marks: Array(scalars.dropFirst().prefix(while: isMark).prefix(4))), width)
  }

  /// Columns that `Canvas.put` uses for the text.
  public static func of(_ text: String) -> Int {
    var columns = 0
    forEach(in: text) { columns += $1 }
    return columns
  }

  /// The same for a part of a text.
  public static func of(_ text: Substring) -> Int { of(String(text)) }

  /// Calls with each character as terminals show it, and its width.
  @inline(__always)
  static func forEach(in text: String, _ body: (Glyph, Int) -> Void) {
    var text = text
    let isDone = text.withUTF8 { bytes in
      guard isPlain(bytes) else { return false }
      var place = 0
      while place < bytes.count { body(Glyph(scalar(bytes, &place)), 1) }
      return true
    }
    if isDone { return }
    for character in text {
      let shown = shown(character)
      body(shown.glyph, shown.width)
    }
  }

  /// True when each scalar is a character of its own with one column: most of what is ever drawn. Finding characters in
  /// general text takes many times as long.
  private static func isPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var place = 0
    while place < bytes.count {
      let byte = bytes[place]
      if byte >= 0x20, byte < 0x7F {
        place += 1
        continue
      }
      guard byte >= 0xC2, byte < 0xF0 else { return false }
      let value = scalar(bytes, &place).value
      guard plainRanges.contains(where: { $0.contains(value) }) else { return false }
    }
    return true
  }

  /// The scalar of up to three bytes at a place, which moves behind it.
  @inline(__always)
  private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Unicode.Scalar {
    let byte = UInt32(bytes[place])
    var value = byte
    if byte < 0x80 {
      place += 1
    } else if byte < 0xE0 {
      value = (byte & 0x1F) << 6 | UInt32(bytes[place + 1] & 0x3F)
      place += 2
    } else {
      value = (byte & 0x0F) << 12 | UInt32(bytes[place + 1] & 0x3F) << 6 | UInt32(bytes[place + 2] & 0x3F)
      place += 3
    }
    return Unicode.Scalar(value) ?? "\u{FFFD}"
  }

  /// Scalars of one column that join with none of these: lines, blocks, braille, arrows and signs; Latin, Greek and
  /// Cyrillic letters.
  static let plainRanges: [ClosedRange<UInt32>] = [
    0x2500...0x25FC, 0x2800...0x28FF, 0xA0...0xAC, 0xAE...0x2FF, 0x2010...0x2027, 0x2030...0x205E,
    0x2190...0x2319, 0x370...0x482, 0x48A...0x52F, 0x20A0...0x20BF, 0x2100...0x218B,
  ]

  /// The longest prefix of `text` that fits, with `…` as its last column if it had to be cut.
  public static func truncated(_ text: String, to columns: Int) -> String {
    guard columns > 0 else { return "" }
    var used = 0
    var result = ""
    var lastFitting = ""
    for character in text {
      let width = shown(character).width
      if used + width > columns { return lastFitting + "…" }
      used += width
      result.append(character)
      if used <= columns - 1 { lastFitting = result }
    }
    return result
  }

  /// `text` cut or padded with spaces to exactly this width.
  public static func padded(_ text: String, to columns: Int, right: Bool = false) -> String {
    let cut = truncated(text, to: columns)
    let fill = String(repeating: " ", count: max(0, columns - of(cut)))
    return right ? fill + cut : cut + fill
  }

  /// A text in rows of at most so many columns, cut between words; a word that is wider is cut, too.
  public static func rows(of text: String, columns: Int) -> [String] {
    guard columns > 0, of(text) > columns else { return [text] }
    var rows: [String] = []
    var row = ""
    for (index, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
      let longer = index == 0 ? String(word) : row + " " + word
      if of(longer) <= columns {
        row = longer
        continue
      }
      while row.last == " " { row.removeLast() }
      if !row.isEmpty { rows.append(row) }
      row = ""
      for character in word {
        if !row.isEmpty, of(row + String(character)) > columns {
          rows.append(row)
          row = ""
        }
        row.append(character)
      }
    }
    return rows + [row]
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value >= 0xFE00 && scalar.value <= 0xFE0F { return false }  // variation selectors
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return true
    // Vowels and finals of decomposed Hangul combine with their wide first consonant.
    default: return scalar.value >= 0x1160 && scalar.value <= 0x11FF
    }
  }

  private static func isZeroWidth(_ scalar: Unicode.Scalar) -> Bool {
    isMark(scalar) || (scalar.properties.generalCategory == .format && scalar.value != 0xAD)
      || (scalar.value >= 0xFE00 && scalar.value <= 0xFE0F)
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    let value = scalar.value
    if value < 0x1100 { return false }
    var low = 0
    var high = wideRanges.count
    while low < high {
      let middle = (low + high) / 2
      if wideRanges[middle].upperBound < value { low = middle + 1 } else { high = middle }
    }
    return low < wideRanges.count && wideRanges[low].contains(value)
  }

  /// Scalars with East_Asian_Width W or F (Unicode 15), with gaps of unassigned ones closed.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
    0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
    0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
    0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
    0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
    0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
    0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAD9,
    0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FB,
    0x1F004...0x1F004, 0x1F0CF...0x1F0CF, 0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320,
    0x1F32D...0x1F335, 0x1F337...0x1F37C, 0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3,
    0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4, 0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC,
    0x1F4FF...0x1F53D, 0x1F54B...0x1F54E, 0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596,
    0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F, 0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2,
    0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC, 0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A,
    0x1F93C...0x1F945, 0x1F947...0x1F9FF, 0x1FA70...0x1FAF6, 0x20000...0x3FFFD,
  ]
}

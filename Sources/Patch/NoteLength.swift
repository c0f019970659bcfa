/// Lengths of notes, as the language writes them: `1/8`, dotted `1/8d` (or `1/8.`), of a triplet `1/8t`. The number is that
/// of whole notes.
enum NoteLength {
  /// The shortest note, as a part of a whole one.
  private static let finest = 128
  /// Most notes of a length. Of dotted ones it is a third, since they may be written as three times as many.
  private static let most = 2997

  /// The length that bytes name from `start` on; nil: none.
  static func parsed(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Double? {
    var position = start
    func number() -> Int? {
      let first = position
      var number = 0
      while position < bytes.count, bytes[position] &- 48 < 10, position - first < 4 {
        number = number * 10 + Int(bytes[position] - 48)
        position += 1
      }
      return position > first ? number : nil
    }
    guard let count = number(), (1...most).contains(count), position < bytes.count,
      bytes[position] == UInt8(ascii: "/")
    else { return nil }
    position += 1
    guard let part = number(), part > 0, part <= finest, part & (part - 1) == 0 else { return nil }
    let plain = Double(count) / Double(part)
    switch bytes.count - position {
    case 0: return plain
    case 1:
      switch bytes[position] | 0x20 {
      case UInt8(ascii: "d"), UInt8(ascii: "."): return count <= most / 3 ? plain * 1.5 : nil
      case UInt8(ascii: "t"): return triplet(plain)
      default: return nil
      }
    default: return nil
    }
  }

  private static func triplet(_ plain: Double) -> Double { plain * 2 / 3 }

  /// The length in the language: with as few notes as possible, hence dotted rather than three of a kind; nil: there is no
  /// such note.
  static func line(_ length: Double) -> String? {
    guard length > 0, length <= Double(most) else { return nil }
    if let (count, part) = fraction(length) {
      guard count <= most else { return nil }
      if count == 3, part > 1 { return "1/\(part / 2)d" }
      if part == finest * 2 { return count % 3 == 0 ? "\(count / 3)/\(finest)d" : nil }
      return "\(count)/\(part)"
    }
    let plain = length * 1.5
    guard let (count, part) = fraction((plain * Double(finest)).rounded() / Double(finest)), part <= finest,
      count <= most, triplet(Double(count) / Double(part)) == length
    else { return nil }
    return "\(count)/\(part)t"
  }

  /// A number of notes of one kind, as few as possible. A dotted note may have half of the finest one's length more.
  private static func fraction(_ length: Double) -> (count: Int, part: Int)? {
    var part = 1
    while part <= finest * 2 {
      if let count = Int(exactly: length * Double(part)) { return (count, part) }
      part *= 2
    }
    return nil
  }

  /// Lengths among which a key steps, from short to long.
  static let steps: [Double] = [
    "1/64", "1/32t", "1/32", "1/16t", "1/32d", "1/16", "1/8t", "1/16d", "1/8", "1/4t", "1/8d", "1/4", "1/2t",
    "1/4d",
    "1/2", "1/2d", "1/1", "2/1", "4/1", "8/1", "16/1",
  ].compactMap { if case .number(let length, .notes)? = Value(number: $0) { length } else { nil } }
}

extension ParameterDescription {
  /// True where a value may be the length of a note: a time that can change while a node lives, and a frequency that can be
  /// as low as those of beats, which is then that of cycles of this length.
  public var takesNotes: Bool {
    guard form == .continuous, smoothing == .ramp || smoothing == .crossfade, dimensions.isEmpty else {
      return false
    }
    return unit == .seconds || unit == .hertz && range.lowerBound < 1
  }

  /// A number in the parameter's unit for the length of a note, within the range. `wholeNote`: seconds.
  public func number(ofNotes length: Double, wholeNote: Double) -> Double {
    let seconds = length * wholeNote
    return min(max(unit == .hertz ? 1 / seconds : seconds, range.lowerBound), range.upperBound)
  }

  /// The value with lengths of notes as what they are at present; `wholeNote`: seconds.
  public func timed(_ value: Value, wholeNote: Double) -> Value {
    switch value {
    case .number(let length, .notes): .number(number(ofNotes: length, wholeNote: wholeNote), unit)
    case .list(let values): .list(values.map { timed($0, wholeNote: wholeNote) })
    default: value
    }
  }

  /// True for a length of a note that lies outside of the range at present, and is held at its end.
  public func holds(_ value: Value, wholeNote: Double) -> Bool {
    switch value {
    case .number(let length, .notes):
      let seconds = length * wholeNote
      return !range.contains(unit == .hertz ? 1 / seconds : seconds)
    case .list(let values): return values.contains { holds($0, wholeNote: wholeNote) }
    default: return false
    }
  }
}

extension Value {
  /// True for the length of a note, or a list with one.
  public var hasNotes: Bool {
    switch self {
    case .number(_, .notes): true
    case .list(let values): values.contains(where: \.hasNotes)
    default: false
    }
  }

  /// The next length among the usual ones that is longer, or shorter for negative steps; nil: it is none.
  public func steppedNote(by steps: Int) -> Value? {
    guard case .number(let length, .notes) = self else { return nil }
    let usual = NoteLength.steps
    let above = usual.firstIndex { $0 > length } ?? usual.count
    let below = usual.lastIndex { $0 < length } ?? -1
    let index = steps > 0 ? above + steps - 1 : below + steps + 1
    guard steps != 0, !(steps > 0 && above == usual.count), !(steps < 0 && below < 0) else { return self }
    return .number(usual[min(max(index, 0), usual.count - 1)], .notes)
  }

  /// The usual length of a note that is nearest to a number of seconds, by ratio.
  public static func note(nearest seconds: Double, wholeNote: Double) -> Value {
    func distance(_ length: Double) -> Double {
      let ratio = length * wholeNote / max(seconds, 1e-9)
      return max(ratio, 1 / ratio)
    }
    return .number(NoteLength.steps.min { distance($0) < distance($1) } ?? 0.25, .notes)
  }
}

extension PatchSettings {
  /// Seconds of a whole note. The tempo counts beats, whose length the meter says.
  public var wholeNote: Double { Self.wholeNote(tempo: tempo, unit: meter.unit) }

  /// Seconds of a whole note. `unit`: note value of a beat.
  public static func wholeNote(tempo: Double, unit: Int) -> Double { 60 / tempo * Double(unit) }
}

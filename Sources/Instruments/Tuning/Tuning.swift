import Glibc
import Realtime

/// A scale in the Scala archive's format (`.scl`): the pitches of one period above its first degree, in
/// cents. https://www.huygens-fokker.org/scala/scl_format.html
public struct Scale: Sendable, Equatable {
  /// The last one is the period; there is at least one.
  public var cents: [Double]

  /// Throws the error and its line. Worker.
  public init(path: String) throws(LoadError) {
    var lines = ScalaLines(path: path, text: try TextFile.read(path))
    _ = try lines.next("a line that describes the scale")
    let count = try lines.count("how many notes the scale has", 1...ScalaLines.mostNotes)
    var cents: [Double] = []
    for number in 1...count {
      let text = try lines.next("note \(number) of \(count)")
      let word = String(text.split(whereSeparator: \.isWhitespace).first ?? "")
      guard let value = Self.cents(of: word) else {
        throw lines.fault(.noInterval(String(word)))
      }
      cents.append(value)
    }
    self.cents = cents
  }

  /// Twelve-tone equal temperament.
  static let twelve = Scale(cents: (1...12).map { Double($0) * 100 })

  init(cents: [Double]) { self.cents = cents }

  private static func cents(of word: String) -> Double? {
    if word.contains(".") { return Double(word).flatMap { $0.isFinite && abs($0) < 1e6 ? $0 : nil } }
    let parts = word.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard (1...2).contains(parts.count), let over = parts[0], let under = parts.count > 1 ? parts[1] : 1,
      over > 0, under > 0
    else { return nil }
    return 1200 * log2(Double(over) / Double(under))
  }

  /// Cents of a degree, in any period.
  func pitch(_ degree: Int) -> Double {
    let period = Int((Double(degree) / Double(cents.count)).rounded(.down))
    let place = degree - period * cents.count
    return Double(period) * cents[cents.count - 1] + (place == 0 ? 0 : cents[place - 1])
  }
}

/// A keyboard mapping (`.kbm`): the degree of each key, and a reference frequency.
/// https://www.huygens-fokker.org/scala/help.htm#mappings
public struct KeyMap: Sendable, Equatable {
  /// Keys outside keep their tuning.
  var keys = 0...127
  /// The key of degree 0, where the pattern begins.
  var middle = 60
  var reference = 60
  var hertz = 261.625_565_300_6
  /// Degrees from one pattern to the next; for an empty pattern, the scale's own.
  var period = 0
  /// Degrees from the middle key on; nil is a silent key. Empty: successive keys have successive degrees.
  var pattern: [Int?] = []

  /// C4 has the scale's first degree.
  init() {}

  /// Throws the error and its line. Worker.
  public init(path: String) throws(LoadError) {
    var lines = ScalaLines(path: path, text: try TextFile.read(path))
    let size = try lines.count("the size of the pattern", 0...ScalaLines.mostNotes)
    let first = try lines.count("the first key", 0...127)
    let last = try lines.count("the last key", 0...127)
    guard first <= last else { throw lines.fault(.keyOrder(first: first, last: last)) }
    keys = first...last
    middle = try lines.count("the middle key", 0...127)
    reference = try lines.count("the key of which the frequency is given", 0...127)
    let text = try lines.next("the frequency")
    guard let value = text.split(whereSeparator: \.isWhitespace).first.flatMap({ Double($0) }),
      value >= 0.001,
      value < 1e6
    else { throw lines.fault(.noFrequency(text)) }
    hertz = value
    period = try lines.count("the degree of the octave", 0...ScalaLines.mostNotes)
    for number in 0..<size {
      // Keys missing at the end are silent.
      guard let text = lines.nextIfAny() else {
        pattern += [Int?](repeating: nil, count: size - number)
        break
      }
      let word = text.split(whereSeparator: \.isWhitespace).first ?? ""
      if word.lowercased() == "x" {
        pattern.append(nil)
      } else if let degree = Int(word), degree.magnitude <= ScalaLines.mostNotes {
        pattern.append(degree)
      } else {
        throw lines.fault(.noDegree(String(word)))
      }
    }
    if pitch(reference, .twelve) == nil {
      throw LoadError(path: path, .silentReference(key: reference))
    }
  }

  /// Cents above degree 0; nil for a silent key.
  func pitch(_ key: Int, _ scale: Scale) -> Double? {
    let distance = key - middle
    guard !pattern.isEmpty else { return scale.pitch(distance) }
    let turn = Int((Double(distance) / Double(pattern.count)).rounded(.down))
    return pattern[distance - turn * pattern.count].map {
      Double(turn) * scale.pitch(period) + scale.pitch($0)
    }
  }
}

/// Deviation of each key from twelve-tone equal temperament with A4 at 440 Hz.
public struct Tuning: Sendable, Equatable {
  /// Cents; NaN for silent keys.
  let offsets: [Float]

  init(_ scale: Scale, _ map: KeyMap) {
    // 8.176 Hz is key 0.
    let reference = 1200 * log2(map.hertz / 8.175_798_915_643_7) - (map.pitch(map.reference, scale) ?? 0)
    offsets = (0..<128).map { key in
      guard map.keys.contains(key) else { return 0 }
      guard let pitch = map.pitch(key, scale) else { return .nan }
      let offset = reference + pitch - 100 * Double(key)
      // Rounding errors do not count.
      return abs(offset) < 0.001 ? 0 : Float(offset)
    }
  }

  /// The tuning for kernels that only need pitches. Worker.
  public var table: Resource { TuningTable.resource(offsets, name: "tuning") }

  /// A tuning from a scale file and a key map file; one may be missing. Worker.
  public init(scale: String?, keyMap: String?) throws(LoadError) {
    self.init(
      scale == nil ? .twelve : try Scale(path: scale!), keyMap == nil ? KeyMap() : try KeyMap(path: keyMap!))
  }
}

/// The lines of a Scala file without its comments.
private struct ScalaLines {
  static let mostNotes = 4096

  let path: String
  private let lines: [Substring]
  /// Number of lines read, and so the number of the last one.
  private var line = 0

  init(path: String, text: String) {
    self.path = path
    lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
  }

  mutating func nextIfAny() -> String? {
    while line < lines.count {
      line += 1
      if !lines[line - 1].hasPrefix("!") {
        // An empty last line does not count.
        if line == lines.count, lines[line - 1].isEmpty { return nil }
        return lines[line - 1].trimmed
      }
    }
    return nil
  }

  mutating func next(_ wanted: String) throws(LoadError) -> String {
    guard let text = nextIfAny() else {
      throw LoadError(path: path, line: max(1, lines.count), .missing(wanted))
    }
    return text
  }

  mutating func count(_ wanted: String, _ range: ClosedRange<Int>) throws(LoadError) -> Int {
    let text = try next(wanted)
    guard let number = text.split(whereSeparator: \.isWhitespace).first.flatMap({ Int($0) }),
      range.contains(number)
    else { throw fault(.notInRange(text, wanted, range)) }
    return number
  }

  func fault(_ reason: LoadError.Reason) -> LoadError { LoadError(path: path, line: line, reason) }
}

extension Substring {
  fileprivate var trimmed: String {
    String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
  }
}

import Glibc
import Patch
import Realtime

/// A scale as the kernels have it: its period and its degrees, in octaves.
///
/// The text is the name of a known scale, or its degrees above the root: semitones (`0 2 3.5 7`), cents (`0 204cents`) or
/// ratios (`1/1 9/8 5/4`). A last one of an octave or more is the period.
struct Degrees {
  /// Most degrees of a period.
  static var most: Int { @_noLocks get { 64 } }
  /// Numbers of a scale: how many degrees, the period, and the degrees.
  static var count: Int { most + 2 }

  static let names: KeyValuePairs = [
    "chromatic": "0 1 2 3 4 5 6 7 8 9 10 11", "major": "0 2 4 5 7 9 11", "minor": "0 2 3 5 7 8 10",
    "harmonic": "0 2 3 5 7 8 11", "melodic": "0 2 3 5 7 9 11", "dorian": "0 2 3 5 7 9 10",
    "phrygian": "0 1 3 5 7 8 10", "lydian": "0 2 4 6 7 9 11", "mixolydian": "0 2 4 5 7 9 10",
    "locrian": "0 1 3 5 6 8 10", "pentatonic": "0 2 4 7 9", "minorpentatonic": "0 3 5 7 10",
    "blues": "0 3 5 6 7 10", "wholetone": "0 2 4 6 8 10", "octatonic": "0 2 3 5 6 8 9 11",
    "japanese": "0 1 5 7 8", "just": "1/1 9/8 5/4 4/3 3/2 5/3 15/8", "octaves": "0", "fifths": "0 7",
  ]

  /// The parameter of kinds that have a scale.
  static let scale = ParameterDescription(
    "scale",
    "A name (\(names.map(\.key).joined(separator: ", "))), or degrees above the root in semitones, cents or ratios: \"0 2 3.5 7\", \"0 204cents\", \"1/1 9/8 5/4\". A last one of an octave or more is the period.",
    form: .text, default: .text("chromatic"), smoothing: .kernel, reader: TextReader(read))

  static let root = ParameterDescription(
    "root", "The note on which the scale begins.",
    form: .choice(["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]), range: 0...11,
    default: .text("C"), smoothing: .kernel)

  @Sendable static func read(_ text: String) throws(TextReader.Fault) -> [Float] {
    let known = names.first { $0.key == text.lowercased() }
    var degrees: [Double] = []
    for word in Words(known?.value ?? text) {
      guard let octaves = octaves(word.text) else {
        throw .init(
          word.column,
          degrees.isEmpty && word.column == 1
            ? "is neither a known scale (\(names.map(\.key).joined(separator: ", "))) nor degrees, such as `0 2 3.5 7`"
            : "expects semitones, cents (`204cents`) or a ratio (`9/8`)")
      }
      guard octaves.isFinite, abs(octaves) <= 20 else { throw .init(word.column, "is beyond twenty octaves") }
      degrees.append(octaves)
    }
    guard !degrees.isEmpty else { throw .init(1, "has no degrees") }
    var period = 1.0
    if let last = degrees.max(), last >= 1 - 1e-9 {
      period = last
      degrees.removeAll { $0 == last }
      if degrees.isEmpty { degrees = [0] }
    }
    let within = Set(degrees.map { $0 - (($0 / period).rounded(.down)) * period }).sorted()
    guard within.count <= most else { throw .init(1, "has more than \(most) degrees") }
    var numbers = [Float(within.count), Float(period)] + within.map { Float($0) }
    numbers += [Float](repeating: 0, count: count - numbers.count)
    return numbers
  }

  private static func octaves(_ word: String) -> Double? {
    let parts = word.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let over = Double(parts[0]), let under = Double(parts[1]), over > 0, under > 0 {
      return log2(over / under)
    }
    switch Value(number: word) {
    case .number(let semitones, .none), .number(let semitones, .semitones): return semitones / 12
    case .number(let cents, .cents): return cents / 1200
    case .number(let octaves, .octaves): return octaves
    default: return nil
    }
  }
}

/// Words of a text between spaces, with their columns.
struct Words: Sequence, IteratorProtocol {
  private let characters: [Character]
  private var place = 0

  init(_ text: String) { characters = Array(text) }

  mutating func next() -> (text: String, column: Int)? {
    while place < characters.count, characters[place].isWhitespace || characters[place] == "|" { place += 1 }
    guard place < characters.count else { return nil }
    let start = place
    while place < characters.count, !characters[place].isWhitespace, characters[place] != "|" { place += 1 }
    return (String(characters[start..<place]), start + 1)
  }
}

/// A scale in a kernel's memory.
struct Scaled: BitwiseCopyable {
  private let numbers: UnsafeMutablePointer<Float>

  static var size: Int { Degrees.count * 4 }

  init(_ values: [Float], _ memory: UnsafeMutableRawPointer) {
    numbers = memory.bindMemory(to: Float.self, capacity: Degrees.count)
    for index in 0..<Degrees.count { numbers[index] = index < values.count ? values[index] : 0 }
  }

  @_noLocks private init(_ numbers: UnsafeMutablePointer<Float>) { self.numbers = numbers }

  /// The same in other memory. Audio thread.
  @_noLocks func moved(to memory: UnsafeMutableRawPointer) -> Self {
    copyMemory(memory, numbers, Self.size)
    return Self(memory.assumingMemoryBound(to: Float.self))
  }

  /// Changes a number of the text. Audio thread.
  @_noLocks func set(_ element: Int, _ value: Float) {
    if element >= 0, element < Degrees.most &+ 2 { numbers[element] = value }
  }

  var count: Int {
    @inline(__always) @_noLocks get {
      let count = numbers[0]
      return count >= 1 && count <= 64 ? Int(count) : 0
    }
  }

  /// Octaves after which the degrees repeat.
  var period: Float { @inline(__always) @_noLocks get { numbers[1] > 0.001 ? numbers[1] : 1 } }

  @inline(__always) @_noLocks subscript(_ degree: Int) -> Float { numbers[degree &+ 2] }
}

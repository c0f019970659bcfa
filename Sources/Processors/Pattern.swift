import Glibc
import Patch
import Realtime

/// Steps of a sequence as a text.
///
/// Words between spaces are steps, and bars (`|`) may part them: a note (`C4`, or 7st above A4), `x` for the pitch before,
/// `X` for the same with an accent, `.` for a rest, `~` to hold on. A word of these signs alone is several steps: `x..x..x.`.
/// Behind a note or an x may stand a velocity (`C4:90`) and a chance in percent (`C4?50`, `x:90?50`).
enum Pattern {
  /// Most steps.
  static var most: Int { @_noLocks get { 64 } }
  /// Numbers of a step: pitch in octaves above A4, velocity 0...1, chance 0...1.
  static var fields: Int { @_noLocks get { 3 } }
  static var count: Int { 1 + most * fields }

  /// Pitch of a step that keeps the one before.
  static var same: Float { @_noLocks get { -1000 } }
  /// Velocities of a rest, and of a step that holds on.
  static var rest: Float { @_noLocks get { 0 } }
  static var tie: Float { @_noLocks get { -1 } }

  /// Velocities of plain steps and of accents.
  private static let plain = Float(100) / 127
  private static let accent = Float(1)

  static let steps = ParameterDescription(
    "steps",
    "The steps: notes (C4), x for a hit at the same pitch, X with an accent, . for a rest, ~ to hold on; several signs in one word are several steps (x..x..x.). Behind one a velocity (C4:90) and a chance (C4?50). At most 64.",
    form: .text, default: .text("x..."), smoothing: .kernel, reader: TextReader(read))

  @Sendable static func read(_ text: String) throws(TextReader.Fault) -> [Float] {
    var steps: [[Float]] = []
    for word in Words(text) {
      if word.text.allSatisfy({ "xX.-~_".contains($0) }) {
        for sign in word.text {
          switch sign {
          case "x": steps.append([same, plain, 1])
          case "X": steps.append([same, accent, 1])
          case "~", "_": steps.append([same, tie, 1])
          default: steps.append([same, rest, 1])
          }
        }
      } else {
        steps.append(try step(word.text, word.column))
      }
      guard steps.count <= most else {
        throw .init(word.column, "is step \(most + 1) or more; \(most) are possible")
      }
    }
    let numbers = [Float(steps.count)] + steps.joined()
    return numbers + [Float](repeating: 0, count: count - numbers.count)
  }

  private static func step(_ word: String, _ column: Int) throws(TextReader.Fault) -> [Float] {
    let name = word.prefix { $0 != ":" && $0 != "?" }
    var step = [try pitch(String(name), column), name == "X" ? accent : plain, 1]
    var rest = word[name.endIndex...]
    while let sign = rest.first {
      let place = column + word.distance(from: word.startIndex, to: rest.startIndex)
      let digits = rest.dropFirst().prefix { $0 != ":" && $0 != "?" }
      let (most, least) = sign == ":" ? (127.0, 1.0) : (100, 0)
      guard let number = Double(digits), number >= least, number <= most else {
        throw .init(
          place + 1, "expects a \(sign == ":" ? "velocity, 1 to 127" : "chance in percent, 0 to 100")")
      }
      if sign == ":" { step[1] = Float(number / 127) } else { step[2] = Float(number / 100) }
      rest = rest.dropFirst(1 + digits.count)
    }
    return step
  }

  private static func pitch(_ name: String, _ column: Int) throws(TextReader.Fault) -> Float {
    if name == "x" || name == "X" { return same }
    switch Value(number: name) {
    case .number(let key, .key): return Float((key - 69) / 12)
    case .number(let semitones, .semitones): return Float(semitones / 12)
    case .number(let octaves, .octaves): return Float(octaves)
    case .number(let hertz, .hertz) where hertz > 1: return Float(log2(hertz / 440))
    default: throw .init(column, "expects a note (`C4`), `x`, `.` or `~`, not `\(name)`")
    }
  }
}

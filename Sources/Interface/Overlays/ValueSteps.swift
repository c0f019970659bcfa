import Glibc
import Patch

/// Steps of values by key: how far one step goes in each unit.
enum ValueSteps {
  /// The value this many steps away, within the range; a list steps as a whole. nil if there is none.
  static func stepped(_ value: Value, _ parameter: ParameterDescription, by steps: Int) -> Value? {
    switch (parameter.form, value) {
    // Up is a longer note, and a slower rate.
    case (_, .number(_, .notes)): return value.steppedNote(by: steps)
    case (.choice(let words), .text(let word)):
      guard let index = words.firstIndex(of: word), !words.isEmpty else { return nil }
      return .text(words[((index + steps.signum()) % words.count + words.count) % words.count])
    case (.toggle, .text(let word)): return .text(word == "on" ? "off" : "on")
    case (_, .list(let values)): return .list(values.map { stepped($0, parameter, by: steps) ?? $0 })
    case (.integer, .number(let number, let unit)):
      return .number(clamped(number + Double(steps), parameter.range), unit)
    case (.continuous, .number(let number, let unit)):
      return .number(clamped(next(number, parameter, steps), parameter.range), unit)
    default: return nil
    }
  }

  private static func next(_ number: Double, _ parameter: ParameterDescription, _ steps: Int) -> Double {
    let count = Double(steps)
    switch parameter.unit {
    case .decibels: return decibels(number, by: count, low: parameter.range.lowerBound)
    case .hertz:
      // A quarter of an octave, on a grid through 440 Hz; near zero in hertz.
      let low = max(parameter.range.lowerBound, 0.01)
      return rounded(max(number, low) * pow(2, count / 12), digits: 4)
    case .seconds: return rounded(max(number, 0.001) * pow(10, count / 20), digits: 3)
    case .percent: return number + count * 5
    case .cents: return number + count * 5
    case .semitones, .key: return number + count
    case .octaves, .notes: return number + count / 12
    case .none:
      let width = parameter.range.upperBound - parameter.range.lowerBound
      return width.isFinite && width <= 4
        ? rounded(number + count * width / 40, digits: 3) : number * pow(10, count / 20)
    }
  }

  /// Whole steps of 1 dB; below -60 dB comes silence, if the range has it.
  static func decibels(_ number: Double, by steps: Double, low: Double = -.infinity) -> Double {
    if number == -.infinity { return steps > 0 ? max(-60, low) : number }
    let next = (number + steps).rounded(.toNearestOrEven)
    return next < -60 && low < -60 ? -.infinity : next
  }

  private static func rounded(_ number: Double, digits: Int) -> Double {
    guard number != 0, number.isFinite else { return number }
    let scale = pow(10, Double(digits) - 1 - log10(abs(number)).rounded(.down))
    return (number * scale).rounded() / scale
  }

  private static func clamped(_ number: Double, _ range: ClosedRange<Double>) -> Double {
    number == -.infinity ? number : min(max(number, range.lowerBound), range.upperBound)
  }
}

import Glibc

/// The way from a controller's position to a value. What is nil was left open, and is as `MapScale` has it.
public struct MapCourse: Hashable, Sendable {
  /// Ends of a range as they are written, in the unit of the target; the first one may be the larger one.
  public struct Ends: Hashable, Sendable {
    /// Value at the controller's lowest position, and at its highest one.
    public var low, high: String

    /// The range `low..high`.
    public init(_ low: String, _ high: String) { (self.low, self.high) = (low, high) }

    /// The range in the language.
    public var line: String { "\(low)..\(high)" }
  }

  /// Shape of the way between the ends.
  public enum Curve: String, CaseIterable, Sendable {
    /// Evenly in the unit; in equal ratios; slow, fast at the low end; slow at both ends.
    case linear, log, square, root, s
  }

  /// Behaviour of a controller that stands elsewhere than the value.
  public enum Takeover: String, CaseIterable, Sendable {
    /// It waits until it passes the value; it takes the value along at once.
    case soft, jump
  }

  /// Meaning of a controller's numbers.
  public enum Mode: String, CaseIterable, Sendable {
    /// Positions.
    case absolute
    /// A press, from the upper half on, changes between both ends of the range.
    case toggle
    /// Steps as a two's complement: 1 up, 127 down.
    case relative
    /// Steps around 64: 65 up, 63 down.
    case offset
    /// Steps with a sign bit: 1 up, 65 down.
    case sign

    /// True where the numbers are steps.
    public var isRelative: Bool { self == .relative || self == .offset || self == .sign }
  }

  /// Ends of the range; nil: the target's own range.
  public var ends: Ends?
  /// Shape between them.
  public var curve: Curve?
  /// Meaning of the numbers.
  public var mode: Mode?
  /// Behaviour while controller and value are at different places.
  public var takeover: Takeover?
  /// Name of the `midiout` node through which the controller is told of values that it did not set.
  public var echo: String?

  /// The target's own range, with everything else left open.
  public init() {}

  /// The words behind the map's name; empty where all is left open.
  public var line: String {
    var words: [String] = []
    if let ends { words.append(ends.line) }
    if let curve { words.append("curve=\(curve.rawValue)") }
    if let mode { words.append("mode=\(mode.rawValue)") }
    if let takeover { words.append("takeover=\(takeover.rawValue)") }
    if let echo { words.append("echo=\(echo)") }
    return words.joined(separator: " ")
  }

  /// The same with other names of nodes.
  func renaming(_ newName: (String) -> String) -> Self {
    var course = self
    course.echo = echo.map(newName)
    return course
  }
}

/// The positions of a map's controller and the values at them, all questions answered that its line left open.
///
/// A position of a controller is a number of its 7 or 14 bits. As controllers have it, the number in the middle (64 of
/// 127) is the middle of the way, so that a wheel at rest or a knob at its notch gives the very centre of a range.
public struct MapScale: Sendable {
  /// Meaning of the numbers.
  public let mode: MapCourse.Mode
  /// True for a controller that must pass the value before it moves it.
  public let waits: Bool
  /// Highest position: 127 or 16383.
  public let most: Int
  private let parameter: ParameterDescription
  private let curve: MapCourse.Curve
  /// Numbers, or the places of words among those that the parameter knows.
  private let low, high: Double

  /// Lowest level of the way to silence, in decibels.
  private static let quietest = -60.0
  /// Level where a map without a range ends, in decibels.
  private static let loudest = 6.0

  /// The scale of a map; throws the reason if the target does not take its range.
  init(
    _ course: MapCourse, of name: MapName, parameter: ParameterDescription
  ) throws(EditError) {
    let (node, path) = name.target.place
    let sender = name.source.sender
    func number(_ text: String) throws(EditError) -> Double {
      switch try parameter.checked(.text(text), of: node, at: path) {
      case .number(_, .notes):
        throw .invalidValue(
          .text(text), SettingName(node, path),
          .isInUnit(.notes, wanted: parameter.unit, range: parameter.rangeWords))
      case .number(let number, _): return number
      case let word: return Double(parameter.engineValue(of: word))
      }
    }
    self.parameter = parameter
    var isNote = false
    if case .note = sender { isNote = true }
    mode = course.mode ?? (isNote ? .toggle : .absolute)
    most = mode.isRelative ? 127 : (1 << sender.bits) - 1
    if let ends = course.ends {
      low = try number(ends.low)
      high = try number(ends.high)
    } else {
      (low, high) = Self.ownRange(of: parameter)
    }
    let steps: Bool =
      switch parameter.form {
      case .toggle, .choice: true
      default: false
      }
    waits =
      mode == .absolute && (course.takeover ?? (steps || sender.springsBack ? .jump : .soft)) == .soft
    if low == .infinity || high == .infinity { throw .needsRange(name) }
    let isPositive = min(low, high) > 0 && max(low, high).isFinite && !steps
    if course.curve == .log, !isPositive { throw .noRatio(name) }
    let isEven = parameter.unit == .hertz || parameter.unit == .seconds
    curve = course.curve ?? (isEven && isPositive ? .log : .linear)
  }

  /// The whole range; of a level, which may be silent and is not meant to be above 0 dB, from there to 6 dB at most.
  private static func ownRange(of parameter: ParameterDescription) -> (Double, Double) {
    switch parameter.form {
    case .toggle: return (0, 1)
    case .choice(let words): return (0, Double(max(0, words.count - 1)))
    default:
      let range = parameter.range
      guard parameter.unit == .decibels, range.lowerBound <= Self.quietest else {
        return (range.lowerBound, range.upperBound)
      }
      guard case .number(let usual, _) = parameter.defaultValue, usual > 0 else {
        return (-.infinity, min(range.upperBound, Self.loudest))
      }
      return (-.infinity, range.upperBound)
    }
  }

  /// Way of a position through the range, 0...1.
  private func way(_ position: Int) -> Double {
    let middle = (most + 1) / 2
    let place = min(max(position, 0), most)
    return place <= middle
      ? Double(place) / Double(2 * middle) : 0.5 + Double(place - middle) / Double(2 * (most - middle))
  }

  /// The value at a position, 0...`most`, with five digits.
  public func value(at position: Int) -> Value {
    let way = way(position)
    switch parameter.form {
    case .toggle: return .text((way >= 0.5 ? high : low) >= 0.5 ? "on" : "off")
    case .choice(let words):
      // Each word has a stretch of the same length.
      let count = abs(high - low) + 1
      let step = min((way * count).rounded(.down), count - 1)
      let index = Int(limited: low <= high ? low + step : low - step)
      return .text(words.indices.contains(index) ? words[index] : "")
    default:
      let number = way <= 0 ? low : way >= 1 ? high : between(way)
      return .number(number == 0 ? 0 : number, parameter.unit)
    }
  }

  private func between(_ way: Double) -> Double {
    // Silence is the end itself; the way there goes to where nobody hears it.
    let isLevel = parameter.unit == .decibels
    let from = isLevel ? max(low, min(Self.quietest, high.isFinite ? high : Self.quietest)) : low
    let to = isLevel ? max(high, min(Self.quietest, low.isFinite ? low : Self.quietest)) : high
    let number =
      switch curve {
      case .linear: from + (to - from) * way
      case .log: from * pow(to / from, way)
      case .square: from + (to - from) * way * way
      case .root: from + (to - from) * way.squareRoot()
      case .s: from + (to - from) * way * way * (3 - 2 * way)
      }
    let rounded = parameter.form == .integer ? number.rounded() : Self.rounded(number)
    return min(max(rounded, min(from, to)), max(from, to))
  }

  /// The nearest number of five digits, as people would write it.
  private static func rounded(_ number: Double) -> Double {
    guard number != 0, number.isFinite else { return 0 }
    let shift = 4 - Int(limited: log10(abs(number)).rounded(.down))
    if shift >= 0 {
      let scale = pow(10, Double(min(shift, 12)))
      return (number * scale).rounded() / scale
    }
    let scale = pow(10, Double(-shift))
    return (number / scale).rounded() * scale
  }

  /// The position whose value is nearest, 0...`most`; nil for a list or a word that the parameter does not know.
  public func position(of value: Value) -> Int? {
    func plain(_ value: Value) -> Double? {
      switch value {
      // Where it stands depends on the tempo.
      case .number(_, .notes): nil
      case .number(let number, _): number
      case .text: Double(parameter.engineValue(of: value))
      case .list: nil
      }
    }
    guard let wanted = plain(value), let first = plain(self.value(at: 0)),
      let last = plain(self.value(at: most))
    else { return nil }
    // Values go one way only.
    var (low, high) = (0, most)
    while low < high {
      let middle = (low + high) / 2
      let here = plain(self.value(at: middle)) ?? 0
      if first <= last ? here < wanted : here > wanted { low = middle + 1 } else { high = middle }
    }
    guard low > 0, let here = plain(self.value(at: low)), let before = plain(self.value(at: low - 1)) else {
      return low
    }
    return abs(before - wanted) < abs(here - wanted) ? low - 1 : low
  }
}

extension Patch {
  /// The scale of one of its maps; throws the reason why it moves nothing.
  public func scale(
    of name: MapName, _ course: MapCourse, catalogue: KindCatalogue
  ) throws(EditError) -> MapScale {
    let source = try node(named: name.source.node)
    guard let kind = catalogue[source.kind] else {
      throw .noKind(source.kind, near: catalogue.nearest(source.kind))
    }
    guard kind.outputs.contains(where: \.isEvents) else {
      throw .handsOutNothing(source.name, kind: kind.name)
    }
    let parameter = try controlled(name.target, catalogue: catalogue).parameter
    if let echo = course.echo {
      let node = try node(named: echo)
      guard catalogue[node.kind]?.endpoint == .midiOutput else { throw .noEcho(echo, kind: node.kind) }
    }
    return try MapScale(course, of: name, parameter: parameter)
  }

  /// The course with its range in the target's unit, as far as that is known.
  func canonical(_ course: MapCourse, of name: MapName, catalogue: KindCatalogue) -> MapCourse {
    guard let ends = course.ends, let parameter = try? controlled(name.target, catalogue: catalogue).parameter
    else { return course }
    let (node, path) = name.target.place
    func canonical(_ text: String) -> String {
      (try? parameter.checked(.text(text), of: node, at: path))?.line ?? text
    }
    var course = course
    course.ends = MapCourse.Ends(canonical(ends.low), canonical(ends.high))
    return course
  }
}

extension ControlTarget {
  /// Node and setting, for refusals of values; a cable is known by its destination and its `gain`.
  var place: (node: String, path: ParameterPath) {
    switch self {
    case .setting(let name, let path): (name, path)
    case .gain(let name): (name.description, ParameterPath("gain"))
    case .morph: (description, ParameterPath("morph"))
    }
  }
}

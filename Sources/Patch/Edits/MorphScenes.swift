import Glibc

/// `morph 1 2 40%`, `morph 1 2 100% over 5s`: the values that two scenes have in common, at a place between the two. What
/// only one of them has stays as it is: nodes, cables, choices, files.
struct MorphScenes: EditMacro {
  var morph: Morph
  /// Place between the two, 0...100.
  var percent: Double
  /// Seconds.
  var over: Double?

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    guard (0...100).contains(percent) else { throw .morphOutOfRange(percent) }
    try SetParameter.check(over: over)
    var edits: [Edit] = []
    for travel in try draft.patch.travels(of: morph, catalogue: draft.catalogue) {
      let value = travel.value(at: percent / 100)
      switch travel.target {
      case .setting(let name, let path): edits.append(.set(name, path, value, over: over))
      case .gain(let name):
        guard case .number(let gain, _) = value,
          let cable = try? draft.patch.existing(name, catalogue: draft.catalogue)
        else { continue }
        edits.append(.connect(name, cable.settings.with(gain: gain)))
      case .morph: break
      }
    }
    // Scenes in a file may differ in what sub-patches of one file have inside.
    let files = draft.patch.sharing(draft.catalogue).map(\.place)
    if Set(files).count < files.count { edits += edits.flatMap { draft.mirrored($0, among: []) } }
    if let over, over > RecallScene.shortest { edits.insert(.fade(over), at: 0) }
    return .joined(edits)
  }

  func describe() -> String {
    "\(morph) \(Value.number(percent, .percent).line)"
      + (over.map { " over \(Value.number($0, .seconds).line)" } ?? "")
  }
}

/// Two scenes between which values travel.
public struct Morph: Hashable, Sendable, CustomStringConvertible {
  /// Number of the scene at 0 %.
  public var from: Int
  /// Number of the scene at 100 %.
  public var to: Int

  /// A way from one scene to another.
  public init(_ from: Int, _ to: Int) {
    self.from = from
    self.to = to
  }

  /// The first words of its line.
  public var description: String { "morph \(from) \(to)" }

  /// Its place as a control shows it.
  static let description = ParameterDescription(
    "morph", "Place between two scenes.", unit: .percent, range: 0...100, default: .number(0, .percent))
}

/// A value on its way between two scenes: evenly in decibels above -80, in octaves, and otherwise in its unit.
struct MorphTravel {
  var target: ControlTarget
  var unit: Unit
  var from: [Double]
  var to: [Double]
  var isList: Bool
  /// The values at both ends as the scenes have them.
  private var ends: (first: Value, last: Value)

  /// Level that silence counts as, in decibels; as with parameters that move over a time.
  private static let silence = -80.0

  /// nil: the two are equal, or nothing lies between them.
  /// Between lengths of notes lie times and frequencies: `timed` makes them of values.
  init?(
    _ target: ControlTarget, _ from: Value, _ to: Value, unit: Unit, timed: (Value) -> Value = { $0 }
  ) {
    func numbers(_ value: Value) -> [Double]? {
      switch value {
      case .number(let number, _): return [number]
      case .list(let values):
        let numbers = values.compactMap { if case .number(let number, _) = $0 { number } else { nil } }
        return numbers.count == values.count ? numbers : nil
      case .text: return nil
      }
    }
    guard from != to, let first = numbers(timed(from)), let last = numbers(timed(to)),
      first.count == last.count
    else { return nil }
    ends = (from, to)
    (self.target, self.unit, self.from, self.to) = (target, unit, first, last)
    if case .list = from { isList = true } else { isList = false }
  }

  /// `place`: 0...1.
  func value(at place: Double) -> Value {
    if place <= 0 { return ends.first }
    if place >= 1 { return ends.last }
    let values = zip(from, to).map { Value.number(between($0, $1, at: place), unit) }
    return isList ? .list(values) : values[0]
  }

  /// The place of a value, 0...1; nil where it says nothing.
  func place(of value: Value) -> Double? {
    guard !isList, case .number(let number, _) = value, let low = even(from[0]), let high = even(to[0]),
      let here = even(number), low != high
    else { return nil }
    return min(1, max(0, (here - low) / (high - low)))
  }

  private var isInOctaves: Bool { unit == .hertz && (from + to).allSatisfy { $0 > 0 } }

  private func even(_ number: Double) -> Double? {
    if unit == .decibels { return max(number, Self.silence) }
    if isInOctaves { return number > 0 ? log2(number) : nil }
    return number
  }

  private func between(_ first: Double, _ last: Double, at place: Double) -> Double {
    if place <= 0 || first == last { return first }
    if place >= 1 { return last }
    if unit == .decibels {
      let (low, high) = (max(first, Self.silence), max(last, Self.silence))
      return low + (high - low) * place
    }
    return isInOctaves ? first * pow(last / first, place) : first + (last - first) * place
  }
}

extension Patch {
  /// The values between which a morph moves, in file order; throws for a scene that is missing.
  func travels(of morph: Morph, catalogue: KindCatalogue) throws(EditError) -> [MorphTravel] {
    let (first, last) = (try scene(morph.from).state, try scene(morph.to).state)
    var travels: [MorphTravel] = []
    for node in nodes.values {
      guard let kind = catalogue[node.kind], let one = first[named: node.name], one.kind == node.kind,
        let other = last[named: node.name], other.kind == node.kind, one.settings != other.settings
      else { continue }
      for path in Set(one.settings.keys).union(other.settings.keys).sorted() {
        guard let parameter = try? kind.parameter(at: path, of: node), parameter.form == .continuous,
          parameter.smoothing != .structural, parameter.smoothing != .none
        else { continue }
        let standard = parameter.defaultValue(at: path)
        if let travel = MorphTravel(
          .setting(node.name, path), one.settings[path] ?? standard, other.settings[path] ?? standard,
          unit: parameter.unit, timed: { parameter.timed($0, wholeNote: settings.wholeNote) })
        {
          travels.append(travel)
        }
      }
    }
    for cable in orderedCables(catalogue: catalogue) where !isOutside(cable.ends, catalogue: catalogue) {
      let name = self.name(of: cable.ends)
      guard let one = try? first.existing(name, catalogue: catalogue),
        let other = try? last.existing(name, catalogue: catalogue),
        let travel = MorphTravel(
          .gain(name), .number(one.gain, .decibels), .number(other.gain, .decibels), unit: .decibels)
      else { continue }
      travels.append(travel)
    }
    return travels
  }

  /// The place of the patch between two scenes, 0...100, by the first value that tells; throws if none does.
  func percent(of morph: Morph, catalogue: KindCatalogue) throws(EditError) -> Double {
    for travel in try travels(of: morph, catalogue: catalogue) {
      guard let (value, parameter) = try? controlled(travel.target, catalogue: catalogue),
        let place = travel.place(of: parameter.timed(value, wholeNote: settings.wholeNote))
      else { continue }
      // A value that the steps of a control give comes back as it was.
      return (place * 100_000).rounded() / 1000
    }
    throw .nothingBetween(morph)
  }
}

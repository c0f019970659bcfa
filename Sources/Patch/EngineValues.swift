import Glibc

/// A node's parameter values for kernels: settings, or else defaults, in the engine's units.
///
/// Decibels become linear gains (-inf is 0). Percent, keys, cents, semitones, hertz and seconds keep their
/// unit, so that a cable into a parameter's port is in the same unit. The length of a note becomes a time or a frequency, by
/// the seconds of a whole note (`wholeNote`). A toggle is 0 or 1, a choice its index;
/// a file has no value, and a text what its reader makes of it.
public struct EngineValues: Sendable {
  /// Values in the order of the kind's parameters. One value for a plain parameter, one per channel for a
  /// list, row by row for one with dimensions (the crosspoint of input i and output j at `i * outputs + j`).
  public let values: [[Float]]

  /// All parameter values of a node.
  public init(of node: Node, description: KindDescription, wholeNote: Double = PatchSettings().wholeNote) {
    values = description.parameters.map {
      Self.values(of: $0, of: node, description: description, wholeNote: wholeNote)
    }
  }

  /// The values of one parameter.
  public static func values(
    of parameter: ParameterDescription, of node: Node, description: KindDescription,
    wholeNote: Double = PatchSettings().wholeNote
  ) -> [Float] {
    if parameter.dimensions.isEmpty {
      let value = node.settings.isEmpty ? nil : node.settings[ParameterPath(parameter.name)]
      return parameter.engineValues(
        of: parameter.timed(value ?? parameter.defaultValue, wholeNote: wholeNote))
    }
    if parameter.smoothing == .gain || parameter.form == .text { return [] }
    var values = plain(of: parameter, of: node, description: description)
    let sizes = parameter.dimensions.map { description.count($0, of: node) }
    if let switches = parameter.switches { switches.act(on: &values, of: node, sizes: sizes) }
    return values
  }

  /// The values of a parameter with dimensions, row by row, without its switches.
  private static func plain(
    of parameter: ParameterDescription, of node: Node, description: KindDescription
  ) -> [Float] {
    let sizes = parameter.dimensions.map { description.count($0, of: node) }
    var values = [Float](
      repeating: parameter.engineValue(of: parameter.defaultValue), count: sizes.reduce(1, *))
    if let diagonal = parameter.diagonalValue, sizes.count == 2 {
      let value = parameter.engineValue(of: diagonal)
      for index in 0..<min(sizes[0], sizes[1]) { values[index * sizes[1] + index] = value }
    }
    for (path, value) in node.settings where path.name == parameter.name {
      if let index = Self.place(of: path, sizes) { values[index] = parameter.engineValue(of: value) }
    }
    return values
  }

  /// The values of one parameter without its switches, and the places at which switches are on.
  package static func parts(
    of parameter: ParameterDescription, of node: Node, description: KindDescription, wholeNote: Double
  ) -> (values: [Float], on: [(name: String, place: Int)]) {
    if parameter.dimensions.isEmpty {
      return (values(of: parameter, of: node, description: description, wholeNote: wholeNote), [])
    }
    let values = plain(of: parameter, of: node, description: description)
    guard let switches = parameter.switches else { return (values, []) }
    let sizes = parameter.dimensions.map { description.count($0, of: node) }
    return (values, switches.on(of: node, sizes: sizes))
  }

  /// Index of an element, row by row; nil: out of bounds.
  package static func place(of path: ParameterPath, _ sizes: [Int]) -> Int? {
    guard path.indices.count == sizes.count else { return nil }
    var place = 0
    for (index, size) in zip(path.indices, sizes) {
      guard index >= 0, index < size else { return nil }
      place = place * size + index
    }
    return place
  }

  /// Linear gain of a level in decibels.
  public static func gain(decibels: Double) -> Float {
    decibels == -.infinity ? 0 : decibels == 0 ? 1 : Float(pow(10, decibels / 20))
  }
}

extension ParameterDescription {
  /// One value, or one per channel; of a text the numbers of its reader; empty for files.
  public func engineValues(of value: Value) -> [Float] {
    switch form {
    case .file: return []
    case .text:
      guard let reader, case .text(let text) = value else { return [] }
      return (try? reader.numbers(text)) ?? []
    default:
      if case .list(let values) = value { return values.map(engineValue) }
      return [engineValue(of: value)]
    }
  }

  /// One number in the engine's unit.
  public func engineValue(of value: Value) -> Float {
    switch value {
    case .number(let number, .decibels): return EngineValues.gain(decibels: number)
    case .number(let number, _): return Float(number)
    case .text(let word):
      if case .choice(let words) = form { return Float(words.firstIndex(of: word) ?? 0) }
      return word == "on" ? 1 : 0
    case .list(let values): return values.first.map(engineValue) ?? 0
    }
  }
}

extension Patch {
  /// A setting, or else its kind's default; nil if the node or its parameter is unknown.
  public func value(of node: String, _ path: ParameterPath, catalogue: KindCatalogue) -> Value? {
    self[named: node].flatMap { $0.value(at: path, description: catalogue[$0.kind]) }
  }
}

extension Node {
  /// A setting, or else the kind's default.
  public func value(at path: ParameterPath, description: KindDescription?) -> Value? {
    settings[path] ?? description?[parameter: path.name]?.defaultValue(at: path)
  }
}

extension Node {
  /// Parameters with lengths of notes: by position, a length in whole notes for each element, nil for a value of another
  /// unit.
  package func noteLengths(_ description: KindDescription) -> [Int: [Double?]] {
    var found: [Int: [Double?]] = [:]
    for (path, value) in settings where value.hasNotes {
      guard let index = description.parameters.firstIndex(where: { $0.name == path.name }) else { continue }
      let values = if case .list(let values) = value { values } else { [value] }
      found[index] = values.map { if case .number(let length, .notes) = $0 { length } else { nil } }
    }
    return found
  }
}

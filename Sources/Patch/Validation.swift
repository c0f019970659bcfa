import Glibc

/// Checks of settings against a kind's parameters.
extension KindDescription {
  /// The parameter that `path` names on `node`, with its indices within bounds.
  package func parameter(at path: ParameterPath, of node: Node) throws(EditError) -> ParameterDescription {
    guard let parameter = self[parameter: path.name] else {
      throw .noParameter(
        SettingName(node.name, path), kind: name, known: parameters.map(\.name).filter { !$0.isEmpty })
    }
    guard parameter.dimensions.count == path.indices.count else {
      let example = ParameterPath(path.name, parameter.dimensions.map { _ in 0 })
      throw .indexCount(SettingName(node.name, path), example: SettingName(node.name, example))
    }
    for (index, dimension) in zip(path.indices, parameter.dimensions) {
      let count = count(dimension, of: node)
      if index < 0 || index >= count {
        throw .indexOutOfRange(SettingName(node.name, path), dimension: dimension, count: count)
      }
    }
    return parameter
  }

  /// Value of an integer parameter of `node` (the size of a dimension).
  public func count(_ parameter: String, of node: Node) -> Int {
    let path = ParameterPath(parameter)
    guard let value = node.settings[path] ?? self[parameter: parameter]?.defaultValue,
      case .number(let number, _) = value, number.isFinite
    else { return 0 }
    return Int(min(max(number, 0), 65536))
  }

  /// The valid settings in stored form, and an error for each of the others.
  package func checked(_ node: Node) -> (settings: [ParameterPath: Value], refusals: [EditError]) {
    if node.settings.isEmpty { return ([:], []) }
    var plain = node
    plain.settings = [:]
    var refusals: [EditError] = []
    // Sizes first: indices are checked against them.
    for isIndexed in [false, true] {
      for path in node.settings.keys.sorted() where path.indices.isEmpty != isIndexed {
        guard let value = node.settings[path] else { continue }
        do throws(EditError) {
          let parameter = try parameter(at: path, of: plain)
          let checked = try parameter.checked(value, of: node.name, at: path)
          if checked != parameter.defaultValue(at: path) || node.lineComments[.setting(path)] != nil {
            plain.settings[path] = checked
          }
        } catch {
          refusals.append(error)
        }
      }
    }
    return (plain.settings, refusals)
  }
}

extension Value {
  /// The form in which a placeholder keeps it: the text as written, since its meaning is unknown.
  package var unread: Value {
    switch self {
    case .text: self
    case .number: .text(line)
    case .list(let values): .list(values.map(\.unread))
    }
  }
}

extension ParameterDescription {
  /// The default of one element.
  public func defaultValue(at path: ParameterPath) -> Value { defaultValue(at: path.indices) }

  /// `value` in stored form (in `unit`, a choice as its word); throws the reason if it is invalid.
  package func checked(_ value: Value, of node: String, at path: ParameterPath) throws(EditError) -> Value {
    func refusal(_ fault: EditError.ValueFault) -> EditError {
      .invalidValue(value, SettingName(node, path), fault)
    }
    switch form {
    case .continuous:
      if case .list(let values) = value {
        guard isPerChannel else { throw refusal(.isList) }
        guard (1...64).contains(values.count) else { throw refusal(.isListTooLong) }
        var checked: [Value] = []
        checked.reserveCapacity(values.count)
        for value in values { checked.append(try number(value, of: node, at: path)) }
        return .list(checked)
      }
      return try number(value, of: node, at: path)
    case .integer:
      let checked = try number(value, of: node, at: path)
      if case .number(let number, _) = checked, number != number.rounded() {
        throw refusal(.isFraction)
      }
      return checked
    case .toggle:
      switch value {
      case .text("on"), .text("yes"), .text("true"), .text("1"), .number(1, .none): return .text("on")
      case .text("off"), .text("no"), .text("false"), .text("0"), .number(0, .none): return .text("off")
      default: throw refusal(.isNoToggle)
      }
    case .choice(let words):
      // `channel=1`: a word may look like a number.
      var word = ""
      if case .text(let text) = value { word = text } else if case .number = value { word = value.line }
      if !word.isEmpty {
        if words.contains(word) { return .text(word) }
        if let same = words.first(where: { $0.lowercased() == word.lowercased() }) { return .text(same) }
        // The length of a note may be written in other ways: `1/8.` for `1/8d`.
        if case .number(_, .notes)? = Value(number: word), let line = Value(number: word)?.line,
          words.contains(line)
        {
          return .text(line)
        }
      }
      throw refusal(.isNoChoice(words))
    case .file, .text:
      let text: String
      switch value {
      case .text(let written): text = written
      case .number: text = value.line
      case .list: throw refusal(.isTextList)
      }
      do throws(TextReader.Fault) { _ = try reader?.numbers(text) } catch {
        throw refusal(.isUnreadable(error))
      }
      return .text(text)
    }
  }

  private func number(_ value: Value, of node: String, at path: ParameterPath) throws(EditError) -> Value {
    func refusal(_ fault: EditError.ValueFault) -> EditError {
      .invalidValue(value, SettingName(node, path), fault)
    }
    var read = value
    if case .text(let text) = value {
      guard let number = Value(number: text) else { throw refusal(.isNoNumber(unit)) }
      read = number
    }
    guard case .number(let written, let writtenUnit) = read, !written.isNaN else {
      throw refusal(.isNoNumber(unit))
    }
    if writtenUnit == .notes, takesNotes { return read }
    guard let number = converted(written, from: writtenUnit) else {
      throw refusal(.isInUnit(writtenUnit, wanted: unit, range: rangeWords))
    }
    let isSilence = number == -.infinity && unit == .decibels && range.lowerBound <= -60
    guard range.contains(number) || isSilence, number.isFinite || isSilence else {
      throw refusal(.isOutOfRange(rangeWords))
    }
    return .number(number == 0 ? 0 : number, unit)
  }

  private func converted(_ number: Double, from written: Unit) -> Double? {
    if written == unit || written == .none { return number }
    // A bare `-inf` is parsed as decibels; it is invalid for other units.
    switch (written, unit) {
    case (.key, .hertz): return 440 * exp2((number - 69) / 12)
    case (.semitones, .cents): return number * 100
    case (.cents, .semitones): return number / 100
    case (.percent, .decibels): return number <= 0 ? -.infinity : 20 * log10(number / 100)
    case (.percent, .none): return number / 100
    default: return nil
    }
  }

  /// `0dB to 40dB`; `0s to 4s or a note such as 1/8`.
  public var rangeWords: String { boundWords + (takesNotes ? " or a note such as 1/8" : "") }

  /// `0s to 4s`.
  var boundWords: String {
    let low = Value.number(range.lowerBound, unit).line
    let high = range.upperBound.isFinite ? Value.number(range.upperBound, unit).line : "any"
    return "\(low) to \(high)"
  }
}

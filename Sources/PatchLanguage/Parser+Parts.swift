import Patch

/// Arguments of edits.
extension Parser {
  // MARK: Cables

  mutating func cable(_ verb: Verb) throws(Fault) -> CableName {
    let from = try word("a node or port", verb)
    guard position < end, tokens[position].kind == .arrow else { throw missing("`->`", verb) }
    _ = advance()
    let to = try word("a node or port", verb)
    return CableName(try port(from.range), try port(to.range))
  }

  private mutating func port(_ range: Range<Int>) throws(Fault) -> PortName {
    let port = try Reference.port(source, range)
    mark(.node(port.node), range.lowerBound)
    mark(.port(port), range.lowerBound)
    if isMarking, let path = port.port.flatMap(ParameterPath.init(line:)) {
      mark(.setting(SettingName(port.node, path)), range.lowerBound)
      mark(.parameter(path.name), range.lowerBound)
    }
    return port
  }

  /// `by 2oct offset=1oct curve=log gain=-3dB map=[0,1] mix=discrete`
  mutating func attributes(_ verb: Verb, into settings: inout CableSettings) throws(Fault) {
    if accept(Word.by.text) {
      let token = try word("how far, as in `2oct`", verb)
      settings.modulation = Modulation(try quantity(token.range, "a depth"))
    }
    while position < end, tokens[position].equals > 0 {
      let token = advance()
      let key = source.string(token.start..<token.equals)
      let range = token.equals + 1..<token.end
      switch key {
      case Attribute.offset.name, Attribute.curve.name:
        guard var modulation = settings.modulation else { throw Fault(token.start, .needsDepth(key)) }
        if key == Attribute.offset.name {
          modulation.offset = try quantity(range, "an offset")
        } else {
          let word = source.string(range)
          guard let curve = Modulation.Curve(rawValue: word) else {
            throw Fault(range.lowerBound, .noCurve(word))
          }
          modulation.curve = curve
        }
        settings.modulation = modulation
      case "gain":
        mark(.gain, range.lowerBound)
        settings.gain = try number(range, in: .decibels, "a gain in dB")
      case "map": settings.map = ChannelMap(try integers(range))
      case "mix":
        let word = source.string(range)
        guard let mixing = ChannelMixing(rawValue: word) else {
          throw Fault(range.lowerBound, .noMixing(word))
        }
        settings.mixing = mixing
      default: throw Fault(token.start, .noAttribute(key))
      }
    }
  }

  /// A number with its unit.
  private mutating func quantity(_ range: Range<Int>, _ noun: String) throws(Fault) -> Value {
    guard let value = Value(number: try Words.text(source, range)) else {
      throw Fault(range.lowerBound, .notNumber(source.string(range), noun))
    }
    mark(.value(value.line), range.lowerBound)
    return value
  }

  // MARK: Nodes and settings

  mutating func kind(_ verb: Verb) throws(Fault) -> String {
    let token = try word("a kind", verb)
    let kind = try Reference.plain(source, token.range, "a kind")
    mark(.kind(kind), token.start)
    return kind
  }

  /// `key=value…`
  mutating func settings(of name: String) throws(Fault) -> [ParameterPath: Value] {
    var settings: [ParameterPath: Value] = [:]
    while position < end, tokens[position].kind == .word, tokens[position].equals > 0 {
      let token = tokens[position]
      let value = try self.value(token.equals + 1..<token.end)
      for path in try Reference.paths(source, token.start..<token.equals) {
        mark(.setting(SettingName(name, path)), token.start)
        mark(.parameter(path.name), token.start)
        mark(.valueOf(SettingName(name, path)), token.equals + 1)
        if settings.updateValue(value, forKey: path) != nil {
          throw Fault(token.start, .setTwice(path))
        }
      }
      _ = advance()
    }
    return settings
  }

  /// The target of `set`. `set dist.drive=18dB` means the same as with a blank.
  mutating func setting(_ verb: Verb, into arguments: inout Arguments) throws(Fault) {
    let token = try word("what to set", verb)
    (arguments.name, arguments.range) = try setting(
      token.equals > 0 ? token.start..<token.equals : token.range)
    guard token.equals > 0 else { return }
    arguments.value = try value(token.equals + 1..<token.end)
    mark(.valueOf(SettingName(arguments.name, arguments.range)), token.equals + 1)
    arguments.hasValue = true
  }

  /// The value of `set`; nil for `default`.
  mutating func value(_ verb: Verb, into arguments: inout Arguments) throws(Fault) {
    if arguments.hasValue { return }
    let range = try word("a value", verb).range
    if source.string(range) != Word.default.text { arguments.value = try value(range) }
    mark(.valueOf(SettingName(arguments.name, arguments.range)), range.lowerBound)
  }

  /// `node.parameter`
  mutating func setting(_ range: Range<Int>) throws(Fault) -> (String, ParameterRange) {
    let (name, settings) = try Reference.settings(source, range)
    mark(.node(name), range.lowerBound)
    mark(.setting(SettingName(name, settings)), range.lowerBound)
    let split = range.lowerBound + name.utf8.count
    mark(.parameter(settings.name), source.bytes[split] == UInt8(ascii: ".") ? split + 1 : split)
    return (name, settings)
  }

  private mutating func value(_ range: Range<Int>) throws(Fault) -> Value {
    let value = try Words.value(source, range)
    mark(.value(value.line), range.lowerBound)
    if isMarking, case .list(let values) = value {
      for (value, place) in zip(values, try Words.elements(source, range)) {
        mark(.value(value.line), place.lowerBound)
      }
    }
    return value
  }

  // MARK: Matrices

  mutating func index(_ verb: Verb, _ noun: String) throws(Fault) -> Int {
    let token = try word(noun, verb)
    guard let index = Int(source.string(token.range)), index.magnitude < Reference.mostPaths else {
      throw Fault(token.start, .notIndex(source.string(token.range), .matrix(noun)))
    }
    mark(.number(index), token.start)
    return index
  }

  mutating func span(_ verb: Verb) throws(Fault) -> ParameterRange.Span {
    let token = try word("where to", verb)
    guard let span = Reference.span(source.string(token.range)) else {
      throw Fault(token.start, .notIndex(source.string(token.range), .span))
    }
    mark(.number(span.first), token.start)
    if let last = span.last { mark(.number(last), token.end - String(last).utf8.count) }
    return span
  }

  // MARK: Numbers

  func number(_ range: Range<Int>, in unit: Unit, _ noun: String) throws(Fault) -> Double {
    let text = try Words.text(source, range)
    guard let value = Value(number: text), case .number(let number, let written) = value,
      written == unit || written == .none
    else { throw Fault(range.lowerBound, .notNumber(text, noun)) }
    return number
  }

  mutating func integers(_ range: Range<Int>) throws(Fault) -> [Int] {
    mark(.map, range.lowerBound)
    guard case .list(let values) = try Words.value(source, range) else {
      throw Fault(range.lowerBound, .noMap)
    }
    let places = try Words.elements(source, range)
    var result: [Int] = []
    for (value, place) in zip(values, places) {
      guard case .text(let text) = value, let number = Int(text) else {
        throw Fault(place.lowerBound, .noChannel(value))
      }
      mark(.number(number), place.lowerBound)
      result.append(number)
    }
    return result
  }

  /// The time of `over`.
  mutating func duration(_ verb: Verb) throws(Fault) -> Double {
    guard position < end else { throw missing("a time", verb) }
    let token = advance()
    mark(.duration, token.start)
    return try number(token.range, in: .seconds, "a time")
  }

  /// `COLUMN,ROW`; nil for `auto`.
  mutating func place(_ verb: Verb) throws(Fault) -> Place? {
    if accept(Word.auto.text) { return nil }
    var numbers: [Int] = []
    if position < end { mark(.place, tokens[position].start) }
    while position < end, numbers.count < 2 {
      let token = advance()
      for part in source.bytes[token.range].split(separator: UInt8(ascii: ",")) {
        guard let number = Int(source.string(part.startIndex..<part.endIndex)) else {
          throw Fault(part.startIndex, .noPlace(source.string(token.range)))
        }
        numbers.append(number)
      }
    }
    guard numbers.count == 2 else { throw missing("`COLUMN,ROW`", verb) }
    return Place(column: numbers[0], row: numbers[1])
  }

  // MARK: Comments

  /// Subjects of a comment: several settings if its range has several.
  mutating func subjects(_ verb: Verb) throws(Fault) -> [Subject] {
    guard position < end else { throw missing("what it is about", verb) }
    if position + 1 < end, peek("layout"), tokens[position + 1].kind == .word,
      source.bytes[tokens[position + 1].start] != UInt8(ascii: "\"")
    {
      _ = advance()
      return [.layout(try name(verb, "a node"))]
    }
    if let name = try patchSetting(verb) { return [.patchSetting(name)] }
    if position + 1 < end, peek("scene"), Int(source.string(tokens[position + 1].range)) != nil {
      _ = advance()
      return [.scene(try sceneNumber(verb))]
    }
    if position + 1 < end, tokens[position + 1].kind == .arrow { return [.cable(try cable(verb))] }
    let range = advance().range
    if source.bytes[range].contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) {
      let (name, settings) = try setting(range)
      guard settings.spans.allSatisfy({ $0.last != nil }) else {
        throw Fault(range.lowerBound, .commentOfRange)
      }
      return settings.closedPaths.map { .setting(name, $0) }
    }
    let name = try Words.text(source, range)
    mark(.node(name), range.lowerBound)
    return [.node(name)]
  }

  /// `tempo`, `control 3`, `map in.cc74 -> filter.freq`: a line at the head of the file.
  private mutating func patchSetting(_ verb: Verb) throws(Fault) -> PatchSetting.Name? {
    guard position + 1 == end || tokens[position + 1].kind == .word else { return nil }
    switch source.string(tokens[position].range) {
    case "map":
      guard position + 2 < end, tokens[position + 2].kind == .arrow else { return nil }
      _ = advance()
      return .map(try mapName(verb))
    case "control":
      guard position + 1 < end, let number = Int(source.string(tokens[position + 1].range)) else {
        return nil
      }
      _ = advance()
      let token = advance()
      mark(.number(number), token.start)
      return .control(number)
    case "publish":
      guard position + 1 < end, tokens[position + 1].kind == .word,
        source.bytes[tokens[position + 1].start] != UInt8(ascii: "\"")
      else { return nil }
      _ = advance()
      return .publish(source.string(advance().range))
    case let word:
      guard let name = PatchSetting.Name.fixed.first(where: { $0.line == word }) else { return nil }
      _ = advance()
      return name
    }
  }

  mutating func comments(_ verb: Verb) throws(Fault) -> Comments {
    var comments = Comments()
    while position < end, tokens[position].kind == .word {
      let isLast = peek("after")
      if isLast {
        _ = advance()
        guard position < end else { throw missing("a text after `after`", verb) }
      }
      let text = try Words.text(source, tokens[position].range)
      _ = advance()
      if isLast {
        comments.after = text
        break
      }
      comments.before.append(text)
    }
    return comments
  }
}

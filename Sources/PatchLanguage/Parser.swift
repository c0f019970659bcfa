import Patch

/// Parses one statement from the words between two `;`.
struct Parser {
  let source: Source
  let tokens: [Token]
  private(set) var position: Int
  let end: Int
  /// Places of the statement's parts, in their order; nil: not wanted.
  private(set) var marks: [Mark]?

  /// Place of a part, as an offset.
  typealias Mark = (part: EditError.Part, offset: Int)

  init(_ source: Source, _ tokens: [Token], _ range: Range<Int>, isMarking: Bool = false) {
    self.source = source
    self.tokens = tokens
    position = range.lowerBound
    end = range.upperBound
    marks = isMarking ? [] : nil
  }

  /// The verb and its statement. Values are still texts: their meaning depends on the kind.
  mutating func statement() throws(Fault) -> (verb: Verb, statement: Statement) {
    let first = try word("a verb")
    let name = source.string(first.range)
    guard let verb = Verb(rawValue: name) else {
      if name.count >= 7, let mark = name.first, "<=>|".contains(mark), name.allSatisfy({ $0 == mark }) {
        throw Fault(
          first.start, "a conflict of two versions begins, ends or divides here",
          hint: "keep what is right of it, and take the marks away")
      }
      throw Fault(
        first.start, "no verb `\(name)`",
        hint: Nearest.hint(for: name, among: Verb.allCases.lazy.map(\.rawValue)))
    }
    mark(.word(name), first.start)
    let statement = try body(of: verb)
    if position < end {
      throw Fault(
        tokens[position].start, "`\(source.string(tokens[position].range))` is too much",
        hint: "write `\(verb.usage)`")
    }
    return (verb, statement)
  }

  private mutating func body(of verb: Verb) throws(Fault) -> Statement {
    switch verb {
    case .node: return .edit(try node())
    case .connect: return .edit(try connect())
    case .set: return .edit(try set())
    case .matrix: return .edit(try matrix())
    case .layout: return .edit(try layout())
    case .disconnect: return .edit(.disconnect(try cable(verb)))
    case .remove:
      let name = try self.name(verb, "a node")
      let bridge = accept("bridge")
      return .edit(.remove(name, bridge: bridge, tail: accept("tail")))
    case .replace:
      let name = try self.name(verb, "a node")
      let kind = try kind(verb)
      return .edit(.replace(name, with: Node(name: name, kind: kind, settings: try settings(of: name))))
    case .insert:
      let name = try self.name(verb, "a name")
      let kind = try kind(verb)
      let settings = try settings(of: name)
      guard accept("into") else { throw missing(verb, "`into`") }
      return .edit(.insert(Node(name: name, kind: kind, settings: settings), into: try cable(verb)))
    case .rename:
      let name = try self.name(verb, "a node")
      return .edit(.rename(name, to: try self.name(verb, "a new name")))
    case .move:
      let name = try self.name(verb, "a node")
      if accept("last") { return .edit(.move(name, before: nil)) }
      guard accept("before") else { throw missing(verb, "`before` or `last`") }
      return .edit(.move(name, before: try self.name(verb, "the node that follows")))
    case .comment: return .edit(try comment())
    case .header: return .edit(.comment(.header, try commentText()))
    case .footer: return .edit(.comment(.footer, try commentText()))
    case .note, .pedal, .control, .bend, .play, .stop, .cue: return .perform(try performance(verb))
    case .panic: return .panic
    case .undo: return .undo
    case .redo: return .redo
    }
  }

  // MARK: Statements

  private mutating func node() throws(Fault) -> Edit {
    let name = try self.name(.node, "a name")
    let kind = try kind(.node)
    let settings = try settings(of: name)
    let before = accept("before") ? try self.name(.node, "the node that follows") : nil
    return .add(Node(name: name, kind: kind, settings: settings), before: before)
  }

  private mutating func connect() throws(Fault) -> Edit {
    let name = try cable(.connect)
    var gain = 0.0
    var map: ChannelMap?
    var mixing = ChannelMixing.speakers
    while position < end, tokens[position].equals > 0 {
      let token = tokens[position]
      position += 1
      let key = source.string(token.start..<token.equals)
      let range = token.equals + 1..<token.end
      switch key {
      case "gain":
        mark(.gain, range.lowerBound)
        gain = try number(range, in: .decibels, "a gain in dB")
      case "map": map = ChannelMap(try integers(range))
      case "mix":
        let word = source.string(range)
        guard let read = ChannelMixing(rawValue: word) else {
          throw Fault(range.lowerBound, "`mix` is `speakers` or `discrete`, not `\(word)`")
        }
        mixing = read
      default:
        throw Fault(
          token.start, "a cable has no `\(key)`",
          hint: Nearest.hint(for: key, among: ["gain", "map", "mix"]) ?? "it has gain, map and mix")
      }
    }
    return .connect(name, gain: gain, map: map, mixing: mixing)
  }

  private mutating func set() throws(Fault) -> Edit {
    guard position < end, tokens[position].kind == .word else { throw missing(.set, "what to set") }
    let token = tokens[position]
    position += 1
    // `set dist.drive=18dB` means the same as with a blank.
    let target = token.equals > 0 ? token.start..<token.equals : token.range
    let (name, range) = try setting(target)
    var value: Value?
    if token.equals > 0 {
      value = try self.value(token.equals + 1..<token.end)
    } else {
      guard position < end, tokens[position].kind == .word else { throw missing(.set, "a value") }
      let range = tokens[position].range
      position += 1
      if source.string(range) != "default" { value = try self.value(range) }
    }
    let over = try duration(.set)
    if let path = range.single { return .set(name, path, value, over: over) }
    return .setRange(name, range, value, over: over)
  }

  /// An optional `over 2s`.
  private mutating func duration(_ verb: Verb) throws(Fault) -> Double? {
    guard accept("over") else { return nil }
    guard position < end else { throw missing(verb, "a time") }
    defer { position += 1 }
    mark(.duration, tokens[position].start)
    return try number(tokens[position].range, in: .seconds, "a time")
  }

  private mutating func matrix() throws(Fault) -> Edit {
    let name = try self.name(.matrix, "a matrix")
    let token = try word(.matrix, "what it is to do")
    let change: MatrixChange
    switch source.string(token.range) {
    case "identity": change = .identity
    case "clear": change = .clear
    case "fold": change = .fold
    case "spread": change = .spread
    case "diagonal":
      let offset = try index("a diagonal")
      change = offset == 0 ? .identity : .diagonal(offset)
    case "map": change = .map(ChannelMap(try integers(try word(.matrix, "a map such as `[0,1]`").range)))
    case "swap": change = .swap(side(), try index("an input or output"), try index("another"))
    case "copy":
      let side = side()
      let from = try index("an input or output")
      let to = try word(.matrix, "where to")
      guard let span = Reference.span(source.string(to.range)) else {
        throw Fault(to.start, "`\(source.string(to.range))` is not an index", hint: "write `3` or `0..3`")
      }
      mark(.number(span.first), to.start)
      if let last = span.last { mark(.number(last), to.end - String(last).utf8.count) }
      change = .copy(side, from, to: span)
    case let other:
      throw Fault(
        token.start, "a matrix has no preset `\(other)`",
        hint: Nearest.hint(for: other, among: MatrixChange.words)
          ?? "there are \(MatrixChange.words.joined(separator: ", "))")
    }
    return .matrix(name, change, over: try duration(.matrix))
  }

  /// `in` or `out`; outputs by default.
  private mutating func side() -> MatrixChange.Side {
    if accept("in") { return .in }
    _ = accept("out")
    return .out
  }

  private mutating func index(_ what: String) throws(Fault) -> Int {
    let token = try word(.matrix, what)
    guard let index = Int(source.string(token.range)), index.magnitude < Reference.mostPaths else {
      throw Fault(token.start, "`\(source.string(token.range))` is not \(what)", hint: "they count from 0")
    }
    mark(.number(index), token.start)
    return index
  }

  private mutating func layout() throws(Fault) -> Edit {
    let name = try self.name(.layout, "a node")
    if accept("auto") { return .place(name, nil) }
    var numbers: [Int] = []
    if position < end { mark(.place, tokens[position].start) }
    while position < end, numbers.count < 2 {
      for part in source.bytes[tokens[position].range].split(separator: UInt8(ascii: ",")) {
        guard let number = Int(source.string(part.startIndex..<part.endIndex)) else {
          throw Fault(
            part.startIndex, "a place is `COLUMN,ROW`, not `\(source.string(tokens[position].range))`")
        }
        numbers.append(number)
      }
      position += 1
    }
    guard numbers.count == 2 else { throw missing(.layout, "`COLUMN,ROW`") }
    return .place(name, Place(column: numbers[0], row: numbers[1]))
  }

  private mutating func comment() throws(Fault) -> Edit {
    guard position < end else { throw missing(.comment, "what it is about") }
    if position + 1 < end, peek("layout"), tokens[position + 1].kind == .word,
      source.bytes[tokens[position + 1].start] != UInt8(ascii: "\"")
    {
      position += 1
      let name = try self.name(.comment, "a node")
      return .comment(.layout(name), try commentText())
    }
    if position + 1 < end, tokens[position + 1].kind == .arrow {
      let name = try cable(.comment)
      return .comment(.cable(name), try commentText())
    }
    let range = tokens[position].range
    position += 1
    if source.bytes[range].contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) {
      let (name, settings) = try setting(range)
      guard settings.spans.allSatisfy({ $0.last != nil }) else {
        throw Fault(range.lowerBound, "a comment is about one line")
      }
      let text = try commentText()
      let paths = settings.closedPaths
      return paths.count == 1
        ? .comment(.setting(name, paths[0]), text) : .all(paths.map { .comment(.setting(name, $0), text) })
    }
    let name = try Words.text(source, range)
    mark(.node(name), range.lowerBound)
    return .comment(.node(name), try commentText())
  }

  private mutating func commentText() throws(Fault) -> Comments {
    var comments = Comments()
    while position < end, tokens[position].kind == .word {
      if peek("after") {
        position += 1
        guard position < end else { throw missing(.comment, "a text after `after`") }
        comments.after = try Words.text(source, tokens[position].range)
        position += 1
        break
      }
      comments.before.append(try Words.text(source, tokens[position].range))
      position += 1
    }
    return comments
  }

  // MARK: Parts

  mutating func cable(_ verb: Verb) throws(Fault) -> CableName {
    let from = try word(verb, "a node or port")
    guard position < end, tokens[position].kind == .arrow else { throw missing(verb, "`->`") }
    position += 1
    let to = try word(verb, "a node or port")
    return CableName(try port(from.range), try port(to.range))
  }

  private mutating func port(_ range: Range<Int>) throws(Fault) -> PortName {
    let port = try Reference.port(source, range)
    mark(.node(port.node), range.lowerBound)
    mark(.port(port), range.lowerBound)
    return port
  }

  /// `node.parameter`
  private mutating func setting(_ range: Range<Int>) throws(Fault) -> (String, ParameterRange) {
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
    if marks != nil, case .list(let values) = value {
      for (value, place) in zip(values, try Words.elements(source, range)) {
        mark(.value(value.line), place.lowerBound)
      }
    }
    return value
  }

  private mutating func mark(_ part: @autoclosure () -> EditError.Part, _ offset: Int) {
    if marks != nil { marks?.append((part(), offset)) }
  }

  /// `key=value…`
  private mutating func settings(of name: String) throws(Fault) -> [ParameterPath: Value] {
    var settings: [ParameterPath: Value] = [:]
    while position < end, tokens[position].kind == .word, tokens[position].equals > 0 {
      let token = tokens[position]
      let value = try self.value(token.equals + 1..<token.end)
      for path in try Reference.paths(source, token.start..<token.equals) {
        mark(.setting(SettingName(name, path)), token.start)
        mark(.parameter(path.name), token.start)
        if settings.updateValue(value, forKey: path) != nil {
          throw Fault(token.start, "`\(path.line)` is set twice")
        }
      }
      position += 1
    }
    return settings
  }

  mutating func number(_ range: Range<Int>, in unit: Unit, _ what: String) throws(Fault) -> Double {
    let text = try Words.text(source, range)
    guard let value = Value(number: text), case .number(let number, let written) = value,
      written == unit || written == .none
    else { throw Fault(range.lowerBound, "`\(text)` is not \(what)") }
    return number
  }

  private mutating func integers(_ range: Range<Int>) throws(Fault) -> [Int] {
    mark(.map, range.lowerBound)
    guard case .list(let values) = try Words.value(source, range) else {
      throw Fault(range.lowerBound, "a map is a list such as `[0,1]`")
    }
    let places = try Words.elements(source, range)
    var result: [Int] = []
    for (value, place) in zip(values, places) {
      guard case .text(let text) = value, let number = Int(text) else {
        throw Fault(place.lowerBound, "a map holds channel numbers and -1, not `\(value.line)`")
      }
      mark(.number(number), place.lowerBound)
      result.append(number)
    }
    return result
  }

  private mutating func kind(_ verb: Verb) throws(Fault) -> String {
    let token = try word(verb, "a kind")
    let kind = try Reference.plain(source, token.range, "a kind")
    mark(.kind(kind), token.start)
    return kind
  }

  /// Name of a node.
  mutating func name(_ verb: Verb, _ what: String) throws(Fault) -> String {
    let token = try word(verb, what)
    let name = source.string(token.range)
    mark(.node(name), token.start)
    return name
  }

  mutating func word(_ verb: Verb, _ what: String) throws(Fault) -> Token {
    guard position < end, tokens[position].kind == .word else { throw missing(verb, what) }
    return try word(what)
  }

  private mutating func word(_ what: String) throws(Fault) -> Token {
    guard position < end, tokens[position].kind == .word else {
      let place = position < end ? tokens[position].start : tokens.last?.end ?? 0
      throw Fault(place, "\(what) is missing")
    }
    defer { position += 1 }
    return tokens[position]
  }

  /// The next word, if any; for optional parts.
  mutating func next() -> Token? {
    guard position < end, tokens[position].kind == .word else { return nil }
    defer { position += 1 }
    return tokens[position]
  }

  func peek(_ word: String) -> Bool {
    guard position < end, tokens[position].kind == .word else { return false }
    return source.bytes[tokens[position].range].elementsEqual(word.utf8)
  }

  mutating func accept(_ word: String) -> Bool {
    guard peek(word) else { return false }
    mark(.word(word), tokens[position].start)
    position += 1
    return true
  }

  func missing(_ verb: Verb, _ what: String) -> Fault {
    let place = position < end ? tokens[position].start : end > 0 ? tokens[end - 1].end : 0
    return Fault(place, "\(what) is missing", hint: "write `\(verb.usage)`")
  }
}

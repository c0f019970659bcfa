import Patch

/// Parses one statement from the words between two `;`, along the form of its verb.
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
    let first = try word("a verb", nil)
    let name = source.string(first.range)
    guard let verb = Verb.named(name) else {
      if name.count >= 7, let mark = name.first, "<=>|".contains(mark), name.allSatisfy({ $0 == mark }) {
        throw Fault(first.start, .conflictMarker)
      }
      throw Fault(first.start, .noVerb(name))
    }
    mark(.word(name), first.start)
    var arguments = Arguments()
    for part in verb.form { try parse(part, of: verb, into: &arguments) }
    if position < end {
      throw Fault(tokens[position].start, .surplus(source.string(tokens[position].range), verb))
    }
    return (verb, verb.statement(arguments))
  }

  private mutating func parse(_ part: Part, of verb: Verb, into arguments: inout Arguments) throws(Fault) {
    switch part {
    case .node(_, let noun), .newName(let noun): arguments.take(name: try name(verb, noun))
    case .nodes:
      arguments.names = [try name(verb, "a node")]
      while position < end, !peek(Word.together.text) { arguments.names.append(try name(verb, "a node")) }
    case .publication: arguments.publication = try publication(verb)
    case .kind: arguments.kind = try kind(verb)
    case .settings: arguments.settings = try settings(of: arguments.name)
    case .cable: arguments.cable = try cable(verb)
    case .cables:
      if position + 1 == end, !source.bytes[tokens[position].range].contains(UInt8(ascii: "\"")) {
        arguments.take(name: try name(verb, "a node"))
      } else {
        arguments.cable = try cable(verb)
      }
    case .attributes: try attributes(verb, into: &arguments.cableSettings)
    case .setting: try setting(verb, into: &arguments)
    case .value: try value(verb, into: &arguments)
    case .duration: arguments.seconds = try duration(verb)
    case .position: arguments.seconds = try filePosition(verb)
    case .side:
      if accept("in") { arguments.side = .in } else { _ = accept("out") }
    case .index(let noun, _): arguments.numbers.append(try index(verb, noun))
    case .span: arguments.span = try span(verb)
    case .map:
      arguments.map = ChannelMap(try integers(try word("a map such as `[0,1]`", verb).range))
    case .place: arguments.place = try place(verb)
    case .subject: arguments.subjects = try subjects(verb)
    case .texts: arguments.comments = try comments(verb)
    case .key: arguments.numbers.append(try key(verb))
    case .velocity:
      if let token = next() {
        arguments.velocity = try integer(token, 1...127, "a velocity")
      }
    case .number(let noun, _):
      arguments.numbers.append(try integer(try word(noun, verb), 0...127, noun))
    case .bend: arguments.bend = try bend(verb)
    case .source: arguments.port = try source(verb)
    case .soundFile(let mayEnd):
      arguments.isOn = !(mayEnd && accept(Word.off.text))
      if arguments.isOn, position < end || !mayEnd { arguments.file = try soundFile(verb) }
    case .past: arguments.seconds = try past(verb)
    case .tempo: arguments.tempo = try tempo(verb)
    case .meter: arguments.meter = try meter(verb)
    case .moment:
      if accept(Word.bar.text) {
        arguments.bar = try bar(try word("a bar", verb))
      } else {
        arguments.seconds = try moment(verb)
      }
    case .control(let performance):
      arguments.control = try control(verb)
      if arguments.control == nil {
        for part in performance { try parse(part, of: verb, into: &arguments) }
      }
    case .controllerMap: arguments.controllerMap = try controllerMap(verb)
    case .scene: arguments.scene = try sceneNumber(verb)
    case .morph: arguments.morph = try morph(verb)
    case .percent: arguments.percent = try percent(verb)
    case .sceneChange: arguments.sceneChange = try sceneChange(verb)
    case .word(let word):
      guard accept(word.text) else { throw missing("`\(word.text)`", verb) }
    case .option(let word, let form):
      guard accept(word.text) else { return }
      arguments.take(option: word)
      for part in form { try parse(part, of: verb, into: &arguments) }
    case .either(let choice):
      let branch = try self.branch(of: choice, verb)
      for part in branch.form { try parse(part, of: verb, into: &arguments) }
      branch.finish(&arguments)
    }
  }

  private mutating func branch(of choice: Choice, _ verb: Verb) throws(Fault) -> Choice.Branch {
    guard position < end, tokens[position].kind == .word else { throw missing(choice.noun, verb) }
    for branch in choice.branches where accept(branch.word.text) { return branch }
    guard choice.refusal != nil else { throw missing(choice.noun, verb) }
    throw Fault(tokens[position].start, .noChoice(source.string(tokens[position].range), choice))
  }

  // MARK: Words

  /// Name of a node.
  mutating func name(_ verb: Verb, _ noun: String) throws(Fault) -> String {
    let token = try word(noun, verb)
    let name = source.string(token.range)
    mark(.node(name), token.start)
    return name
  }

  /// The next word; `noun`: its name when it is missing.
  mutating func word(_ noun: String, _ verb: Verb?) throws(Fault) -> Token {
    guard let token = next() else { throw missing(noun, verb) }
    return token
  }

  /// The next word, if any; for optional parts.
  mutating func next() -> Token? {
    guard position < end, tokens[position].kind == .word else { return nil }
    return advance()
  }

  /// The next token, which must exist.
  mutating func advance() -> Token {
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

  func missing(_ noun: String, _ verb: Verb?) -> Fault {
    let place = position < end ? tokens[position].start : end > 0 ? tokens[end - 1].end : 0
    return Fault(place, .missing(noun, verb))
  }

  var isMarking: Bool { marks != nil }

  mutating func mark(_ part: @autoclosure () -> EditError.Part, _ offset: Int) {
    if marks != nil { marks?.append((part(), offset)) }
  }
}

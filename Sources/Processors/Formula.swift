import Patch

/// A formula as steps for `FormulaMachine`: an operation and a number each, in postfix order.
struct Formula {
  enum Operation: Int {
    case number, input, parameter, rate
    case negate = 10, not, sin, cos, tan, tanh, exp, log, log2, log10, sqrt, abs, sign, floor, ceil, round,
      frac, db
    case oct, square
    case add = 40, subtract, multiply, divide, modulo, power, less, notMore, more, notLess, equal, unequal
    case and, or, min, max
    case select = 70, clip, mix
  }

  /// Added to an operation of two values, of which the second one is its number, or an input or a parameter of that number.
  static var withNumber: Int { @_noLocks get { 100 } }
  static var withInput: Int { @_noLocks get { 200 } }
  static var withParameter: Int { @_noLocks get { 300 } }

  /// Most values that wait at once, and most steps.
  static let deepest = 24
  static let longest = 256

  private static let functions: [String: (Operation, Int)] = [
    "sin": (.sin, 1), "cos": (.cos, 1), "tan": (.tan, 1), "tanh": (.tanh, 1), "exp": (.exp, 1),
    "log": (.log, 1),
    "log2": (.log2, 1), "log10": (.log10, 1), "sqrt": (.sqrt, 1), "abs": (.abs, 1), "sign": (.sign, 1),
    "floor": (.floor, 1), "ceil": (.ceil, 1), "round": (.round, 1), "frac": (.frac, 1), "db": (.db, 1),
    "oct": (.oct, 1), "pow": (.power, 2), "min": (.min, 2), "max": (.max, 2), "clip": (.clip, 3),
    "mix": (.mix, 3),
  ]
  private static let names: [String: (Operation, Float)] = [
    "pi": (.number, .pi), "a": (.input, 0), "b": (.input, 1), "c": (.input, 2), "d": (.input, 3),
    "x": (.parameter, 1), "y": (.parameter, 2), "z": (.parameter, 3), "rate": (.rate, 0),
  ]
  /// Operators of two values by how tightly they bind, the loosest first.
  private static let operators: [[(sign: String, operation: Operation)]] = [
    [("||", .or)], [("&&", .and)],
    [("==", .equal), ("!=", .unequal)],
    [("<=", .notMore), (">=", .notLess), ("<", .less), (">", .more)],
    [("+", .add), ("-", .subtract)], [("*", .multiply), ("/", .divide), ("%", .modulo)],
  ]

  private let text: [Character]
  private var place = 0
  private var steps: [(operation: Int, number: Float)] = []
  private var depth = 0
  private var most = 0
  /// Brackets and signs around what is read, whose number a stack of calls limits.
  private var nesting = 0

  private init(_ text: String) { self.text = Array(text) }

  /// The steps of a text, in turns an operation and its number.
  @Sendable static func read(_ text: String) throws(TextReader.Fault) -> [Float] {
    var formula = Formula(text)
    try formula.choice()
    formula.skip()
    if formula.place < formula.text.count {
      throw formula.fault("expects an operator, not `\(formula.text[formula.place])`")
    }
    guard formula.steps.count <= longest else { throw .init(1, "has more than \(longest) operations") }
    guard formula.most <= deepest else { throw .init(1, "is nested too deeply") }
    return formula.steps.flatMap { [Float($0.operation), $0.number] }
  }

  private func fault(_ reason: String) -> TextReader.Fault { .init(place + 1, reason) }

  private mutating func skip() {
    while place < text.count, text[place].isWhitespace { place += 1 }
  }

  private mutating func take(_ sign: String) -> Bool {
    skip()
    guard text[place...].starts(with: sign) else { return false }
    // `<` is not the beginning of `<=`; `!` not of `!=`.
    if sign == "!", place + 1 < text.count, text[place + 1] == "=" { return false }
    place += sign.count
    return true
  }

  private mutating func expect(_ sign: String) throws(TextReader.Fault) {
    guard take(sign) else {
      throw fault(place < text.count ? "expects `\(sign)`, not `\(text[place])`" : "ends before a `\(sign)`")
    }
  }

  // MARK: Steps

  private mutating func push(_ operation: Operation, _ number: Float) {
    steps.append((operation.rawValue, number))
    depth += 1
    most = max(most, depth)
  }

  /// Adds an operation of `count` values. A second value that is plain becomes a part of it.
  private mutating func apply(_ operation: Operation, _ count: Int) {
    depth -= count - 1
    guard count == 2, let last = steps.last else { return steps.append((operation.rawValue, 0)) }
    let more: Int
    switch Operation(rawValue: last.operation) {
    case .number?: more = Self.withNumber
    case .input?: more = Self.withInput
    case .parameter?: more = Self.withParameter
    default: return steps.append((operation.rawValue, 0))
    }
    steps.removeLast()
    if operation == .power, more == Self.withNumber, last.number == 2 {
      steps.append((Operation.square.rawValue, 0))
    } else {
      steps.append((operation.rawValue + more, last.number))
    }
  }

  // MARK: Grammar

  private mutating func choice() throws(TextReader.Fault) {
    nesting += 1
    defer { nesting -= 1 }
    guard nesting <= 64 else { throw fault("is nested too deeply") }
    try level(0)
    guard take("?") else { return }
    try choice()
    try expect(":")
    try choice()
    apply(.select, 3)
  }

  private mutating func level(_ level: Int) throws(TextReader.Fault) {
    guard level < Self.operators.count else { return try sign() }
    try self.level(level + 1)
    while let found = Self.operators[level].first(where: { take($0.sign) }) {
      try self.level(level + 1)
      apply(found.operation, 2)
    }
  }

  private mutating func sign() throws(TextReader.Fault) {
    nesting += 1
    defer { nesting -= 1 }
    guard nesting <= 64 else { throw fault("is nested too deeply") }
    if take("-") {
      try sign()
      if steps.last?.operation == Operation.number.rawValue {
        steps[steps.count - 1].number.negate()
      } else {
        apply(.negate, 1)
      }
    } else if take("!") {
      try sign()
      apply(.not, 1)
    } else {
      try power()
    }
  }

  private mutating func power() throws(TextReader.Fault) {
    try value()
    guard take("^") else { return }
    // To the right: 2^3^2 is 2^9. A sign may follow: 2^-1.
    try sign()
    apply(.power, 2)
  }

  private mutating func value() throws(TextReader.Fault) {
    skip()
    guard place < text.count else { throw fault("ends where a value is expected") }
    let first = text[place]
    if first == "(" {
      place += 1
      try choice()
      return try expect(")")
    }
    if first.isNumber || first == "." { return try number() }
    guard first.isLetter else { throw fault("expects a value, not `\(first)`") }
    let start = place
    while place < text.count, text[place].isLetter || text[place].isNumber || text[place] == "_" {
      place += 1
    }
    let name = String(text[start..<place]).lowercased()
    if let (operation, number) = Self.names[name] { return push(operation, number) }
    guard let (operation, count) = Self.functions[name] else {
      place = start
      let known = (Self.names.keys.sorted() + Self.functions.keys.sorted()).joined(separator: " ")
      throw fault("knows no `\(name)`, but \(known)")
    }
    try expect("(")
    for argument in 0..<count {
      if argument > 0 { try expect(",") }
      try choice()
    }
    try expect(")")
    apply(operation, count)
  }

  private mutating func number() throws(TextReader.Fault) {
    let start = place
    while place < text.count, text[place].isNumber || text[place] == "." { place += 1 }
    if place < text.count, text[place] == "e" || text[place] == "E" {
      var end = place + 1
      if end < text.count, text[end] == "-" || text[end] == "+" { end += 1 }
      if end < text.count, text[end].isNumber {
        while end < text.count, text[end].isNumber { end += 1 }
        place = end
      }
    }
    guard let number = Float(String(text[start..<place])), number.isFinite else {
      defer { place = start }
      throw .init(start + 1, "expects a number, not `\(String(text[start..<place]))`")
    }
    push(.number, number)
  }
}

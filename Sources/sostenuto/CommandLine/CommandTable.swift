/// A command: a value whose properties are its options and arguments, with their defaults at first.
protocol Command: ParameterGroup {
  /// Everything about the command but what it does. Parsing, checks of values, help, the manual page and completions
  /// all come from it.
  static var table: CommandTable<Self> { get }
  /// Checks values against each other; a single value is checked by its row's limit.
  func validate() throws
  func run() throws
}

extension Command {
  static var description: CommandDescription { table.description }
  static var rows: [CommandRow<Self>] { table.rows }
  func validate() throws {}
}

/// Options that several commands have.
protocol ParameterGroup: Sendable {
  /// With the defaults.
  init()
  static var rows: [CommandRow<Self>] { get }
}

/// A command's name, help, options and arguments.
struct CommandTable<Target: ParameterGroup>: Sendable {
  let description: CommandDescription
  let rows: [CommandRow<Target>]

  init(
    _ name: String, _ abstract: String, discussion: String = "", isHidden: Bool = false,
    _ rows: [CommandRow<Target>]
  ) {
    self.rows = rows
    description = CommandDescription(
      name: name, abstract: abstract, discussion: discussion, isHidden: isHidden,
      parameters: rows.flatMap { $0.entries.map(\.parameter) })
  }
}

/// A line of a command's table: a parameter, or those of a group.
struct CommandRow<Target: ParameterGroup>: Sendable {
  /// A parameter, and how its value gets into the command.
  struct Entry: Sendable {
    let parameter: Parameter
    /// Returns the reason if the value is refused.
    let set: @Sendable (inout Target, String) -> Refusal?
  }

  let entries: [Entry]

  typealias Path<Value> = WritableKeyPath<Target, Value> & Sendable

  private init(_ parameter: Parameter, set: @escaping @Sendable (inout Target, String) -> Refusal?) {
    entries = [Entry(parameter: parameter, set: set)]
  }

  private init(group entries: [Entry]) { self.entries = entries }

  /// A value by its place, which may not be left out.
  static func argument<Value: ParameterValue>(
    _ name: String, _ path: Path<Value>, completion: Parameter.Completion = .nothing, _ help: String
  ) -> Self {
    Self(
      describe(.argument, name, Value.self, completion: completion, help, isRequired: true),
      set: { target, word in read(word) { target[keyPath: path] = $0 } })
  }

  /// A value by its place, which may be left out.
  static func argument<Value: ParameterValue>(
    _ name: String, _ path: Path<Value?>, completion: Parameter.Completion = .nothing, _ help: String
  ) -> Self {
    Self(
      describe(.argument, name, Value.self, completion: completion, help),
      set: { target, word in read(word) { target[keyPath: path] = $0 } })
  }

  /// One or more values, the last of the command line.
  static func arguments(
    _ name: String, _ path: Path<[String]>, completion: Parameter.Completion = .nothing, _ help: String
  ) -> Self {
    Self(
      describe(
        .argument, name, String.self, completion: completion, help, isRequired: true, isRepeated: true),
      set: { target, word in read(word) { target[keyPath: path].append($0) } })
  }

  /// An option with a default. `value`: its word in the help.
  static func option<Value: ParameterValue>(
    _ name: String, short: Character? = nil, _ path: Path<Value>, _ value: String, limit: Limit<Value>? = nil,
    completion: Parameter.Completion = .nothing, _ help: String
  ) -> Self {
    Self(
      describe(
        .option, name, short: short, Value.self, value, completion: completion, help,
        standard: Target()[keyPath: path].word),
      set: { target, word in read(word, limit) { target[keyPath: path] = $0 } })
  }

  /// An option that may be left out.
  static func option<Value: ParameterValue>(
    _ name: String, short: Character? = nil, _ path: Path<Value?>, _ value: String,
    limit: Limit<Value>? = nil, completion: Parameter.Completion = .nothing, _ help: String
  ) -> Self {
    Self(
      describe(.option, name, short: short, Value.self, value, completion: completion, help),
      set: { target, word in read(word, limit) { target[keyPath: path] = $0 } })
  }

  /// An option that may be given several times.
  static func options(
    _ name: String, _ path: Path<[String]>, _ value: String, limit: Limit<String>? = nil, _ help: String
  ) -> Self {
    Self(
      describe(.option, name, String.self, value, help, isRepeated: true),
      set: { target, word in read(word, limit) { target[keyPath: path].append($0) } })
  }

  /// An option without a value.
  static func flag(_ name: String, short: Character? = nil, _ path: Path<Bool>, _ help: String) -> Self {
    Self(
      describe(.flag, name, short: short, String.self, "", help),
      set: { target, _ in
        target[keyPath: path] = true
        return nil
      })
  }

  /// The rows of a group.
  static func group<Group: ParameterGroup>(_ path: Path<Group>) -> Self {
    Self(
      group: Group.rows.flatMap(\.entries).map { entry in
        Entry(parameter: entry.parameter, set: { entry.set(&$0[keyPath: path], $1) })
      })
  }

  /// Keeps the word's value if it is one that is allowed.
  private static func read<Value: ParameterValue>(
    _ word: String, _ limit: Limit<Value>? = nil, keep: (Value) -> Void
  ) -> Refusal? {
    guard let value = Value(word: word) else { return .unreadable }
    if let limit, !limit.contains(value) { return .outside(limit.words) }
    keep(value)
    return nil
  }

  private static func describe<Value: ParameterValue>(
    _ form: Parameter.Form, _ name: String, short: Character? = nil, _ type: Value.Type, _ value: String = "",
    completion: Parameter.Completion = .nothing, _ help: String, standard: String? = nil,
    isRequired: Bool = false, isRepeated: Bool = false
  ) -> Parameter {
    Parameter(
      form: form, name: name, short: short, value: value, help: help, standard: standard,
      choices: Value.choices, isRequired: isRequired, isRepeated: isRepeated,
      completion: Value.choices.isEmpty ? completion : .words(Value.choices))
  }
}

import Patch

extension Command {
  /// The command that the words after its name ask for.
  static func parse(_ words: [String]) throws -> Self {
    let (table, description) = (table, table.description)
    do {
      var command = Self()
      let entries = table.rows.flatMap(\.entries)
      for (index, word) in try description.assigned(words) {
        let parameter = entries[index].parameter
        if let refusal = entries[index].set(&command, word) {
          throw parameter.error(refusal, for: word)
        }
      }
      try command.validate()
      return command
    } catch let error as UsageError {
      throw error.of(description)
    }
  }
}

extension CommandDescription {
  /// The words' values, each with the index of its parameter. What `getopt_long` takes is taken: `--name value`,
  /// `--name=value`, `-n value`, `-nvalue`, flags joined as in `-ij`, options among the arguments, `--` before
  /// arguments that begin with a dash; but names in full, and no value that looks like an option.
  func assigned(_ words: [String]) throws(UsageError) -> [(index: Int, value: String)] {
    var values: [(index: Int, value: String)] = []
    var places = parameters.indices.filter { parameters[$0].form == .argument }[...]
    var filled: Set<Int> = []
    var rest = words[...]
    var isPlain = false
    while let word = rest.popFirst() {
      if !isPlain, word == "--" {
        isPlain = true
      } else if !isPlain, word.hasPrefix("--") {
        try values.append(long(word, &rest))
      } else if !isPlain, word.hasPrefix("-"), word != "-" {
        try values.append(contentsOf: short(word, &rest))
      } else {
        guard let place = places.first else { throw UsageError("Unexpected argument '\(word)'") }
        if !parameters[place].isRepeated { places.removeFirst() }
        filled.insert(place)
        values.append((place, word))
      }
    }
    if let missing = places.first(where: { parameters[$0].isRequired && !filled.contains($0) }) {
      let parameter = parameters[missing]
      throw UsageError("Missing expected argument '\(parameter.usage)'", about: parameter)
    }
    return values
  }

  /// `--name`, `--name=value`, or `--name` and the next word.
  private func long(
    _ word: String, _ rest: inout ArraySlice<String>
  ) throws(UsageError) -> (index: Int, value: String) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let index = parameters.firstIndex(where: { $0.form != .argument && $0.spelling == parts[0] }) else {
      throw unknown(parts[0])
    }
    let parameter = parameters[index]
    if parameter.form == .option {
      return (index, parts.count > 1 ? parts[1] : try next(parameter, &rest))
    }
    guard parts.count == 1 else {
      throw UsageError("The option '\(parts[0])' does not take any value, but '\(parts[1])' was specified.")
    }
    return (index, "")
  }

  /// `-n`, `-nvalue`, `-n=value`, `-n` and the next word, or several flags behind one dash.
  private func short(
    _ word: String, _ rest: inout ArraySlice<String>
  ) throws(UsageError) -> [(index: Int, value: String)] {
    var values: [(index: Int, value: String)] = []
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let index = parameters.firstIndex(where: { $0.short == letter }) else {
        throw unknown(word.count == 2 ? word : "-\(letter)", in: word)
      }
      guard parameters[index].form == .option else {
        values.append((index, ""))
        continue
      }
      let value = letters.first == "=" ? letters.dropFirst() : letters
      values.append((index, letters.isEmpty ? try next(parameters[index], &rest) : String(value)))
      break
    }
    return values
  }

  /// The next word as an option's value.
  private func next(_ parameter: Parameter, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
    if let word = rest.first, !word.hasPrefix("-") || word == "-" {
      rest.removeFirst()
      return word
    }
    let wayOut = rest.first.flatMap {
      $0 == "--" ? nil : "; a value like this is written \(parameter.spelling)=\($0)"
    }
    throw UsageError("Missing value for '\(parameter.spellingWithValue)'\(wayOut ?? "")", about: parameter)
  }

  private func unknown(_ option: String, in word: String? = nil) -> UsageError {
    let known = (options + Parameter.general).flatMap(\.spellings)
    // One letter is near to every other.
    let near = option.count > 2 ? Nearest.match(for: option, among: known) : nil
    let place = word.flatMap { $0 == option ? nil : " in '\($0)'" } ?? ""
    return UsageError("Unknown option '\(option)'\(place)" + (near.map { ". Did you mean '\($0)'?" } ?? ""))
  }
}

extension Parameter {
  /// The error for a value that is refused.
  fileprivate func error(_ refusal: Refusal, for word: String) -> UsageError {
    switch refusal {
    case .outside(let words): return UsageError("\(spelling) is \(words), and not '\(word)'", about: self)
    case .unreadable:
      var message = "The value '\(word)' is invalid for '\(spellingWithValue)'"
      if let last = choices.last {
        let list = choices.map { "'\($0)'" }
        message +=
          ". Please provide one of \(list.dropLast().joined(separator: ", ")) or '\(last)'."
        if let near = Nearest.match(for: word, among: choices) { message += " Did you mean '\(near)'?" }
      }
      return UsageError(message, about: self)
    }
  }
}

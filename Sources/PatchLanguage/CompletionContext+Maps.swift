import Patch

/// Completion of `map`.
extension CompletionContext {
  /// Source, arrow, target, range and options.
  mutating func map() -> Step {
    guard !isAtCursor else {
      candidates += senders()
      return .end
    }
    position += 1
    guard !isAtCursor else {
      candidates.append(Candidate("->"))
      return .end
    }
    guard words[position] == "->" else { return .end }
    position += 1
    guard !isAtCursor else {
      candidates += targets()
      return word.isEmpty ? cable(isNew: false) : .end
    }
    if position + 1 < words.count, words[position + 1] == "->" || !words[position].contains(where: isSplit) {
      if case .end = cable(isNew: false) { return .end }
    } else if !words[position].contains(where: isSplit) {
      return cable(isNew: false)
    } else {
      choose(words[position])
      position += 1
    }
    options()
    return .end
  }

  private func isSplit(_ character: Character) -> Bool { character == "." || character == "[" }

  /// Nodes that hand out events, or behind a point what they may send.
  private func senders() -> [Candidate] {
    let nodes = patch.nodes.values.filter { catalogue[$0.kind]?.outputs.contains(where: \.isEvents) == true }
    guard let point = word.firstIndex(of: ".") else { return nodes.map { Candidate($0.name + ".", $0.kind) } }
    let name = word[..<point]
    guard nodes.contains(where: { $0.name == name }) else { return [] }
    return MapSource.Sender.examples.map { Candidate("\(name).\($0)") }
  }

  /// A range and the options that the line does not have yet.
  private mutating func options() {
    let done = words[position...]
    position = words.count
    if done.isEmpty {
      candidates.append(Candidate(Word.gone.text, Word.gone.help))
      if let parameter, parameter.form == .continuous || parameter.form == .integer {
        let range = [parameter.range.lowerBound, parameter.range.upperBound].map {
          Value.number($0, parameter.unit).line
        }
        candidates.append(Candidate(range.joined(separator: ".."), Self.detail(parameter)))
      }
    }
    let taken = Set(done.map { String($0.prefix { $0 != "=" }) })
    for option in MapOption.all where !taken.contains(option.name) {
      let stem = option.name + "="
      guard word.hasPrefix(stem) else {
        candidates.append(Candidate(stem, option.help))
        continue
      }
      let choices =
        option.choices.isEmpty
        ? patch.nodes.values.filter { catalogue[$0.kind]?.endpoint == .midiOutput }.map(\.name)
        : option.choices
      candidates += choices.map { Candidate(stem + $0) }
    }
  }
}

import Patch

/// The way along a verb's form to the word at the cursor.
struct CompletionContext {
  typealias Candidate = Completion.Candidate

  /// The finished words of the statement, the verb first.
  let words: [String]
  /// The unfinished word.
  let word: String
  let patch: Patch
  let catalogue: KindCatalogue

  /// Index of the next finished word.
  var position = 1
  var candidates: [Candidate] = []
  /// A file is named at the cursor.
  private(set) var filePlace: Completion.FilePlace?
  /// Characters of its path in the unfinished word, quotes included.
  private(set) var pathLength = 0
  /// Facts from the finished words, on which later parts depend.
  private var node: Node?
  private var kind: KindDescription?
  var parameter: ParameterDescription?
  private var side = MatrixChange.Side.out

  init(words: [String], word: String, patch: Patch, catalogue: KindCatalogue) {
    self.words = words
    self.word = word
    self.patch = patch
    self.catalogue = catalogue
  }

  mutating func all() -> [Candidate] {
    guard let first = words.first else { return Verb.all.map { Candidate($0.name, $0.usage) } }
    guard let verb = Verb.named(first) else { return [] }
    _ = follow(verb.form)
    return candidates
  }

  /// State after a part.
  enum Step {
    /// The finished words go on behind it, or the cursor may be behind it too.
    case on
    /// The cursor is here, or the words fit no form.
    case end
  }

  var isAtCursor: Bool { position >= words.count }

  private mutating func follow(_ form: [Part]) -> Step {
    for part in form {
      if case .end = step(part) { return .end }
    }
    return .on
  }

  private mutating func step(_ part: Part) -> Step {
    switch part {
    case .node(let nodes, _):
      return take {
        $0.names(nodes)
      } then: { context, name in
        context.node = context.patch[named: name]
        context.kind = context.node.flatMap { context.catalogue[$0.kind] }
      }
    case .tempo:
      return take {
        [Candidate(Value.number($0.patch.settings.tempo, .none).line, "5 to 999 beats a minute")]
      }
    case .meter: return take { [Candidate($0.patch.settings.meter.description, "beats of a bar")] }
    case .moment:
      if isAtCursor { return offer([.bar]) }
      if words[position] == Word.bar.text { position += 1 }
      return take { _ in [] }
    case .control(let performance): return control(performance)
    case .controllerMap: return map()
    case .scene: return scene()
    case .sceneChange: return sceneChange()
    case .morph:
      guard case .on = scene() else { return .end }
      return scene()
    case .percent: return take { _ in [Candidate("50%", "0% is the first scene, 100% the second")] }
    case .nodes:
      if isAtCursor { candidates += names(.all) }
      while !isAtCursor, words[position] != Word.together.text { position += 1 }
      if isAtCursor, words.count > 1 { candidates.append(Candidate(Word.together.text, Word.together.help)) }
      return isAtCursor ? .end : .on
    case .publication:
      if isAtCursor { return take { $0.targets() } }
      position += 1
      return offer([.published, .unpublished])
    case .newName, .key, .bend, .number, .duration, .position, .past: return take { _ in [] }
    case .source:
      return take { context in
        context.names(.all)
      } then: { context, name in
        context.node = context.patch[named: name]
      }
    case .soundFile(let mayEnd):
      if isAtCursor { names(file: word, .recording) }
      if mayEnd, isAtCursor { return offer([.off]) }
      return take { _ in [] }
    case .kind:
      return take { context in
        context.catalogue.kinds.map { Candidate($0.name, $0.summary) }
          + (context.catalogue.definitions?.library ?? []).map { Candidate($0.name, $0.summary) }
      } then: {
        $0.kind = $0.catalogue[$1]
      }
    case .settings: return settings()
    case .cable(let isNew): return cable(isNew: isNew)
    case .cables:
      if isAtCursor { candidates += connected() }
      return cable(isNew: false)
    case .attributes: return attributes()
    case .setting:
      return take {
        $0.targets()
      } then: {
        $0.choose($1)
      }
    case .value:
      if words[position - 1].contains("=") { return .on }
      if isAtCursor, node != nil, let type = parameter?.fileType { names(file: word, .parameter(type)) }
      return take { context in
        context.node == nil
          ? [] : context.values(of: context.parameter) + [Candidate(Word.default.text, Word.default.help)]
      }
    case .side:
      if isAtCursor {
        candidates += [Candidate("in", "rows"), Candidate("out", "columns")]
      } else if let side = MatrixChange.Side(rawValue: words[position]) {
        self.side = side
        position += 1
      }
      return .on
    case .index, .span: return take { $0.indices() }
    case .map: return take { _ in [Candidate("[", "an input for each output, -1 for none")] }
    case .place: return take { _ in [Candidate(Word.auto.text, Word.auto.help)] }
    case .subject: return subject()
    case .texts:
      position = words.count
      return .on
    case .velocity:
      if !isAtCursor { position += 1 }
      return .on
    case .word(let word):
      guard !isAtCursor, words[position] == word.text else { return offer([word]) }
      position += 1
      return .on
    case .option(let word, let form):
      if isAtCursor {
        if !self.word.contains("=") { candidates.append(Candidate(word.text, word.help)) }
        return .on
      }
      guard words[position] == word.text else { return .on }
      position += 1
      return follow(form)
    case .either(let choice):
      guard !isAtCursor, let branch = choice.branches.first(where: { $0.word.text == words[position] }) else {
        return offer(choice.branches.map(\.word))
      }
      position += 1
      return follow(branch.form)
    }
  }

  /// Offers the words if the cursor is here.
  private mutating func offer(_ words: [Word]) -> Step {
    if isAtCursor, !word.contains("=") { candidates += words.map { Candidate($0.text, $0.help) } }
    return .end
  }

  /// Notes that a file is named at the cursor.
  private mutating func names(file path: String, _ purpose: Completion.FilePlace.Purpose) {
    filePlace = Completion.FilePlace(String(path.drop { $0 == "\"" }), purpose)
    pathLength = path.count
  }

  /// Skips a finished word, or offers candidates for the unfinished one.
  private mutating func take(
    _ offers: (Self) -> [Candidate], then finish: (inout Self, String) -> Void = { _, _ in }
  ) -> Step {
    guard !isAtCursor else {
      candidates += offers(self)
      return .end
    }
    finish(&self, words[position])
    position += 1
    return .on
  }

  /// The number of a control and what it is to turn, or the words of a performance.
  private mutating func control(_ performance: [Part]) -> Step {
    if isAtCursor {
      candidates += ControlTarget.numbers.map { number in
        Candidate("\(number)", patch.settings.controls[number]?.description ?? "a free control")
      }
      return follow(performance)
    }
    guard Int(words[position]) != nil, patch[named: words[position]] == nil else {
      return follow(performance)
    }
    position += 1
    if isAtCursor {
      candidates += targets() + [Word.morph, .none].map { Candidate($0.text, $0.help) }
      if word.isEmpty { return cable(isNew: false) }
    } else if position + 1 < words.count || !words[position].contains(where: { $0 == "." || $0 == "[" }) {
      if words[position] == Word.morph.text, patch[named: Word.morph.text] == nil {
        position += 1
        return step(.morph)
      }
      return cable(isNew: false)
    }
    return .end
  }

  /// The scenes that there are, and the next free number.
  private mutating func scene() -> Step {
    take { context in
      let scenes = context.patch.scenes
      let known = scenes.sorted { $0.key < $1.key }.map { Candidate("\($0.key)", $0.value.name) }
      let free = PatchScene.numbers.first { scenes[$0] == nil }
      return known
        + (context.words.first == "scene" ? free.map { [Candidate("\($0)", "a free one")] } ?? [] : [])
    }
  }

  /// `off`, or an edit of the scene.
  private mutating func sceneChange() -> Step {
    if isAtCursor, !word.contains("=") { candidates.append(Candidate(Word.dropped.text, Word.dropped.help)) }
    if words.count > 2, words[2] == Word.dropped.text { return .end }
    let state = Int(words.count > 1 ? words[1] : "").flatMap { patch.scenes[$0]?.state }
    var inner = CompletionContext(
      words: Array(words.dropFirst(2)), word: word, patch: state ?? patch, catalogue: catalogue)
    candidates += inner.all().filter { candidate in
      words.count > 2 || Verb.named(candidate.text)?.isSceneEdit ?? false
    }
    return .end
  }

  private mutating func subject() -> Step {
    guard !isAtCursor else { return take { $0.names(.all) } }
    if position + 1 < words.count, words[position + 1] == "->" { return cable(isNew: false) }
    position += 1
    return .on
  }

  // MARK: Nodes

  func names(_ nodes: Part.Nodes) -> [Candidate] {
    patch.nodes.values.filter { isAmong(nodes, catalogue[$0.kind]) }.map { Candidate($0.name, $0.kind) }
  }

  private func isAmong(_ nodes: Part.Nodes, _ kind: KindDescription?) -> Bool {
    switch nodes {
    case .all: true
    case .subPatches: kind?.isContainer == true
    case .matrices: kind?.crosspoints != nil
    case .transports: kind.map { $0[parameter: "file"] != nil } ?? true
    case .players:
      kind.map { $0.inputs.contains(where: \.isEvents) || $0.outputs.contains(where: \.isEvents) } ?? true
    }
  }

  private func indices() -> [Candidate] {
    guard let node, let kind, let gain = kind.crosspoints else { return [] }
    return (0..<kind.count(gain.dimensions[side == .in ? 0 : 1], of: node)).map { Candidate("\($0)") }
  }

  // MARK: Settings

  private mutating func settings() -> Step {
    let start = position
    while !isAtCursor, words[position].contains("=") { position += 1 }
    guard isAtCursor, let kind else { return .on }
    if let equals = word.firstIndex(of: "=") {
      let key = word[..<equals]
      if let type = kind[parameter: String(key)]?.fileType {
        names(file: String(word[word.index(after: equals)...]), .parameter(type))
      }
      candidates += values(of: kind[parameter: String(key.prefix { $0 != "[" })]).map {
        Candidate("\(key)=\($0.text)", $0.detail)
      }
    } else {
      let taken = Set(words[start...].map { String($0.prefix { $0 != "=" }) })
      candidates += kind.parameters.filter { !taken.contains($0.name) }.map {
        Candidate($0.name + ($0.dimensions.isEmpty ? "=" : "["), Self.detail($0))
      }
    }
    return .on
  }

  /// Notes node and parameter of a finished target of `set`.
  mutating func choose(_ target: String) {
    guard let split = target.firstIndex(where: { $0 == "." || $0 == "[" }) else { return }
    node = patch[named: String(target[..<split])]
    kind = node.flatMap { patch.withPublished($0, catalogue: catalogue).kind }
    if kind == nil { node = nil }
    let rest = target[split] == "." ? target[target.index(after: split)...] : target[split...]
    parameter = kind?[parameter: String(rest.prefix { $0 != "[" && $0 != "=" })]
  }

  /// Settings of the node in the unfinished word, or nodes with a following `.` or, for crosspoints, `[`.
  func targets() -> [Candidate] {
    guard let split = word.firstIndex(where: { $0 == "." || $0 == "[" }) else {
      return patch.nodes.values.flatMap { node -> [Candidate] in
        let parameters = catalogue[node.kind]?.parameters ?? []
        let isPlain = parameters.isEmpty || parameters.contains { !$0.name.isEmpty }
        return (parameters.contains { $0.name.isEmpty } ? [Candidate(node.name + "[", node.kind)] : [])
          + (isPlain ? [Candidate(node.name + ".", node.kind)] : [])
      }
    }
    let name = String(word[..<split])
    guard let node = patch[named: name],
      let kind = patch.withPublished(node, catalogue: catalogue).kind
    else { return [] }
    return kind.parameters.flatMap { parameter -> [Candidate] in
      let stem = name + ParameterPath(parameter.name).suffix
      let detail = Self.detail(parameter)
      guard !parameter.dimensions.isEmpty else { return [Candidate(stem, detail)] }
      let base = parameter.name.isEmpty ? name : stem
      guard word.hasPrefix(base + "[") else { return [Candidate(base + "[", detail)] }
      return indexed(base, parameter, node, kind).map { Candidate($0, detail) }
    }
  }

  /// `main.in[0]`, `main[0,1]`: proposes the next index.
  func indexed(
    _ base: String, _ parameter: ParameterDescription, _ node: Node, _ kind: KindDescription
  ) -> [String] {
    let written = word.dropFirst(base.count + 1)
    let done = written.split(separator: ",", omittingEmptySubsequences: false).dropLast()
    guard done.count < parameter.dimensions.count else { return [] }
    let size = kind.count(parameter.dimensions[done.count], of: node)
    let head = base + "[" + done.map { $0 + "," }.joined()
    return ((0..<size).map { "\($0)" } + [".."]).map {
      head + $0 + (done.count + 1 == parameter.dimensions.count ? "]" : ",")
    }
  }

  private func values(of parameter: ParameterDescription?) -> [Candidate] {
    guard let parameter else { return [] }
    switch parameter.form {
    case .choice(let choices): return choices.map { Candidate($0) }
    case .toggle: return [Candidate("on"), Candidate("off")]
    case .continuous, .integer:
      return [Candidate(parameter.defaultValue.line, Self.detail(parameter))] + notes(for: parameter)
    case .file, .text: return []
    }
  }

  /// Lengths of notes, with what they are at the patch's tempo.
  private func notes(for parameter: ParameterDescription) -> [Candidate] {
    guard parameter.takesNotes else { return [] }
    return ["1/4", "1/8", "1/8d", "1/8t", "1/16", "1/1"].compactMap { Value(number: $0) }
      .filter { !parameter.holds($0, wholeNote: patch.settings.wholeNote) }
      .map { Candidate($0.line, parameter.timed($0, wholeNote: patch.settings.wholeNote).display) }
  }

  static func detail(_ parameter: ParameterDescription) -> String {
    switch parameter.form {
    case .continuous, .integer: "\(parameter.summary), \(parameter.rangeWords)"
    case .choice(let words): "\(parameter.summary): \(words.joined(separator: ", "))"
    default: parameter.summary
    }
  }
}

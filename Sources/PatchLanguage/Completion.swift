import Patch

/// Completions at the cursor of a prompt.
public struct Completion: Sendable {
  /// One completion.
  public struct Candidate: Hashable, Sendable {
    /// Text to insert.
    public var text: String
    /// Description: a summary, a range, a kind.
    public var detail: String

    /// A completion with its description.
    public init(_ text: String, _ detail: String = "") {
      self.text = text
      self.detail = detail
    }
  }

  /// The characters of the line that a candidate replaces, counted from 0.
  public var range: Range<Int>
  /// Candidates that begin with the word; if there are none, candidates that contain it.
  public var candidates: [Candidate]

  private static let longestWord = 1000

  /// Candidates for the word at the cursor. `cursor`: number of characters before it.
  public static func candidates(
    _ line: String, cursor: Int, patch: Patch, catalogue: KindCatalogue
  ) -> Completion {
    let before = Array(line.prefix(max(0, cursor)))
    let (words, start) = split(before)
    let word = String(before[start...])
    // No candidate has this length, and each comparison would cost the word's length.
    guard word.utf8.count <= longestWord else {
      return Completion(range: start..<before.count, candidates: [])
    }
    var context = CompletionContext(words: words, word: word, patch: patch, catalogue: catalogue)
    let all = context.candidates()
    let lowered = word.lowercased()
    var fitting = all.filter { $0.text.lowercased().hasPrefix(lowered) }
    if fitting.isEmpty { fitting = all.filter { $0.text.lowercased().includes(lowered) } }
    if fitting.count == 1, fitting[0].text == word { fitting = [] }
    return Completion(range: start..<before.count, candidates: fitting)
  }

  /// The finished words of the statement at the cursor, and the start of the unfinished word. Accepts any
  /// text: an unfinished line is no error.
  private static func split(_ line: [Character]) -> (words: [String], start: Int) {
    var words: [String] = []
    var start = 0
    var isQuoted = false
    var openBrackets = 0
    for (index, character) in line.enumerated() {
      switch character {
      case "\"": isQuoted.toggle()
      case _ where isQuoted: break
      case "[": openBrackets += 1
      case "]": openBrackets -= 1
      case ";":
        words = []
        start = index + 1
        openBrackets = 0
      case " " where openBrackets <= 0, "\t" where openBrackets <= 0:
        if index > start { words.append(String(line[start..<index])) }
        start = index + 1
      case ">" where index > 0 && line[index - 1] == "-" && openBrackets <= 0:
        if index - 1 > start { words.append(String(line[start..<index - 1])) }
        words.append("->")
        start = index + 1
      default: break
      }
    }
    return (words, start)
  }
}

/// The grammar in terms of possible next words.
struct CompletionContext {
  typealias Candidate = Completion.Candidate

  /// The finished words of the statement, the verb first.
  let words: [String]
  /// The unfinished word.
  let word: String
  let patch: Patch
  let catalogue: KindCatalogue

  mutating func candidates() -> [Candidate] {
    guard let first = words.first else { return Verb.allCases.map { Candidate($0.rawValue, $0.usage) } }
    guard let verb = Verb(rawValue: first) else { return [] }
    let count = words.count
    switch verb {
    case .node: return node(kindAt: 2)
    case .replace: return count == 1 ? names() : node(kindAt: 2)
    case .insert:
      if let into = words.firstIndex(of: "into") { return existingCable(from: into + 1) }
      return node(kindAt: 2)
        + (count >= 3 && !word.contains("=") ? [Candidate("into", "the cable to stand in")] : [])
    case .connect: return connect()
    case .disconnect: return existingCable(from: 1)
    case .set: return set()
    case .matrix: return matrix()
    case .remove: return count == 1 ? names() : endings()
    case .rename, .comment: return count == 1 ? names() : []
    case .move:
      if count == 2 {
        return [Candidate("before", "the node that follows"), Candidate("last", "to the end")]
      }
      return count == 1 || words[2] == "before" && count == 3 ? names() : []
    case .layout:
      return count == 1 ? names() : count == 2 ? [Candidate("auto", "where the layout puts it")] : []
    case .note: return count == 1 ? players() : count == 2 ? switches : []
    case .pedal:
      if count == 1 { return players() }
      return count == 2
        ? Performance.Pedal.allCases.map { Candidate($0.rawValue) } : count == 3 ? switches : []
    case .control, .bend: return count == 1 ? players() : []
    case .play:
      return count == 1 ? transports() : count == 2 ? [Candidate("at", "a position in seconds")] : []
    case .stop, .cue: return count == 1 ? transports() : []
    case .header, .footer, .panic, .undo, .redo: return []
    }
  }

  /// Options of `remove`.
  private func endings() -> [Candidate] {
    let tail = Candidate("tail", "let it ring out")
    if words.count == 2 { return [Candidate("bridge", "join its neighbours"), tail] }
    return words.count == 3 && words[2] == "bridge" ? [tail] : []
  }

  private var switches: [Candidate] { [Candidate("on"), Candidate("off")] }

  private func names(where fits: (Node) -> Bool = { _ in true }) -> [Candidate] {
    patch.nodes.values.filter(fits).map { Candidate($0.name, $0.kind) }
  }

  private func players() -> [Candidate] {
    names { node in
      guard let kind = catalogue[node.kind] else { return true }
      return kind.inputs.contains(where: \.isEvents) || kind.outputs.contains(where: \.isEvents)
    }
  }

  private func transports() -> [Candidate] {
    names { catalogue[$0.kind].map { $0[parameter: "file"] != nil } ?? true }
  }

  // MARK: Nodes and settings

  private func node(kindAt position: Int) -> [Candidate] {
    if words.count < position { return [] }
    if words.count == position { return catalogue.kinds.map { Candidate($0.name, $0.summary) } }
    guard let kind = catalogue[words[position]] else { return [] }
    if words.last == "before" { return names() }
    if let equals = word.firstIndex(of: "=") {
      let key = word[..<equals]
      let parameter = kind[parameter: String(key.prefix { $0 != "[" })]
      return values(of: parameter).map { Candidate("\(key)=\($0.text)", $0.detail) }
    }
    let taken = Set(words.dropFirst(position + 1).map { String($0.prefix { $0 != "=" }) })
    return kind.parameters.filter { !taken.contains($0.name) }.map {
      Candidate($0.name + ($0.dimensions.isEmpty ? "=" : "["), Self.detail($0))
    }
  }

  private func set() -> [Candidate] {
    let split = (words.count > 1 ? words[1] : word).firstIndex { $0 == "." || $0 == "[" }
    if words.count == 1 {
      guard let split else { return nodesToSet() }
      let name = String(word[..<split])
      guard let node = patch[named: name], let kind = catalogue[node.kind] else { return [] }
      return kind.parameters.flatMap { parameter -> [Candidate] in
        let stem = name + ParameterPath(parameter.name).suffix
        let detail = Self.detail(parameter)
        guard !parameter.dimensions.isEmpty else { return [Candidate(stem, detail)] }
        let base = parameter.name.isEmpty ? name : stem
        guard word.hasPrefix(base + "[") else { return [Candidate(base + "[", detail)] }
        return indexed(base, parameter, node, kind).map { Candidate($0, detail) }
      }
    }
    guard let split, words.count == 2 else {
      return words.count == 3 ? [Candidate("over", "how long it takes")] : []
    }
    let target = words[1]
    guard let node = patch[named: String(target[..<split])], let kind = catalogue[node.kind] else {
      return []
    }
    let rest = target[split] == "." ? target[target.index(after: split)...] : target[split...]
    return values(of: kind[parameter: String(rest.prefix { $0 != "[" })]) + [
      Candidate("default", "as the kind has it")
    ]
  }

  /// Node names with a following `.` or, for crosspoints, `[`.
  private func nodesToSet() -> [Candidate] {
    patch.nodes.values.flatMap { node -> [Candidate] in
      let parameters = catalogue[node.kind]?.parameters ?? []
      let isPlain = parameters.isEmpty || parameters.contains { !$0.name.isEmpty }
      return (parameters.contains { $0.name.isEmpty } ? [Candidate(node.name + "[", node.kind)] : [])
        + (isPlain ? [Candidate(node.name + ".", node.kind)] : [])
    }
  }

  /// `main.in[0]`, `main[0,1]`: proposes the next index.
  private func indexed(
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

  /// `matrix main swap in 0 1`
  private func matrix() -> [Candidate] {
    if words.count == 1 { return names { catalogue[$0.kind]?.crosspoints != nil } }
    let presets = [
      Candidate("identity", "input i to output i"), Candidate("clear", "nothing to nowhere"),
      Candidate("fold", "mono: the mean of the inputs to every output"),
      Candidate("spread", "an input to every output, in turn"),
      Candidate("diagonal", "input i to output i + n"), Candidate("map", "which input each output gets"),
      Candidate("swap", "two inputs or outputs change places"),
      Candidate("copy", "the crosspoints of one to others"),
    ]
    if words.count == 2 { return presets }
    let over = Candidate("over", "how long it takes")
    guard let node = patch[named: words[1]], let kind = catalogue[node.kind], let gain = kind.crosspoints
    else { return [] }
    let arguments = words.dropFirst(3)
    func indices(_ place: Int) -> [Candidate] {
      (0..<kind.count(gain.dimensions[place], of: node)).map { Candidate("\($0)") }
    }
    switch words[2] {
    case "identity", "clear", "fold", "spread": return arguments.isEmpty ? [over] : []
    case "map": return arguments.isEmpty ? [Candidate("[", "an input for each output, -1 for none")] : [over]
    case "diagonal": return arguments.count == 1 ? [over] : []
    case "swap", "copy":
      let side = arguments.first.flatMap(MatrixChange.Side.init)
      let numbers = arguments.count - (side == nil ? 0 : 1)
      if arguments.isEmpty { return [Candidate("in", "rows"), Candidate("out", "columns")] + indices(1) }
      return numbers < 2 ? indices(side == .in ? 0 : 1) : numbers == 2 ? [over] : []
    default: return []
    }
  }

  private func values(of parameter: ParameterDescription?) -> [Candidate] {
    guard let parameter else { return [] }
    switch parameter.form {
    case .choice(let choices): return choices.map { Candidate($0) }
    case .toggle: return switches
    case .continuous, .integer: return [Candidate(parameter.defaultValue.line, Self.detail(parameter))]
    case .file, .text: return []
    }
  }

  private static func detail(_ parameter: ParameterDescription) -> String {
    switch parameter.form {
    case .continuous, .integer: "\(parameter.summary), \(parameter.rangeWords)"
    case .choice(let words): "\(parameter.summary): \(words.joined(separator: ", "))"
    default: parameter.summary
    }
  }

  // MARK: Cables

  private func connect() -> [Candidate] {
    if words.count == 1 { return ports(isInput: false, source: nil) }
    if words.count == 2 { return [Candidate("->")] }
    guard words[2] == "->" else { return [] }
    if words.count == 3 { return ports(isInput: true, source: words[1]) }
    if word.hasPrefix("mix=") { return [Candidate("mix=speakers"), Candidate("mix=discrete")] }
    let taken = Set(words.dropFirst(4).map { String($0.prefix { $0 != "=" }) })
    let attributes = [
      Candidate("gain=", "decibels, -inf to 60dB"),
      Candidate("map=[", "a source channel for each channel, -1 for none"),
      Candidate("mix=", "speakers or discrete"),
    ]
    return attributes.filter { !taken.contains(String($0.text.prefix { $0 != "=" })) }
  }

  /// Nodes, or after a `.` their ports. For inputs: those that fit the output `source`.
  private func ports(isInput: Bool, source: String?) -> [Candidate] {
    if let dot = word.firstIndex(of: ".") {
      guard let node = patch[named: String(word[..<dot])], let kind = catalogue[node.kind] else { return [] }
      return (isInput ? kind.inputNames : kind.outputNames)
        .filter { !isInput || fits(source, "\(node.name).\($0)") }
        .map { Candidate("\(node.name).\($0)", kind.name) }
    }
    return names { node in
      guard let kind = catalogue[node.kind] else { return true }
      guard isInput else { return !kind.outputs.isEmpty }
      return fits(source, node.name) || kind.inputNames.contains { fits(source, "\(node.name).\($0)") }
    }
  }

  private func fits(_ source: String?, _ destination: String) -> Bool {
    guard let source else { return true }
    return (try? patch.fitting(CableName(Self.port(source), Self.port(destination)), catalogue: catalogue))
      != nil
  }

  private static func port(_ text: String) -> PortName {
    guard let dot = text.firstIndex(of: ".") else { return PortName(text) }
    return PortName(String(text[..<dot]), String(text[text.index(after: dot)...]))
  }

  /// Ends of existing cables; the words of the cable begin at `position`.
  private func existingCable(from position: Int) -> [Candidate] {
    let cables = patch.orderedCables(catalogue: catalogue).map {
      patch.shortName(of: $0.ends, catalogue: catalogue)
    }
    var seen: Set<String> = []
    switch words.count - position {
    case 0:
      let sources = cables.map(\.source.description).filter { seen.insert($0).inserted }
      return sources.map { Candidate($0, "source") }
    case 1: return [Candidate("->")]
    case 2:
      let source = words[position]
      let matching = cables.filter { $0.source.description == source || $0.source.node == source }
      return matching.map(\.destination.description).filter { seen.insert($0).inserted }.map {
        Candidate($0, "destination")
      }
    default: return []
    }
  }
}

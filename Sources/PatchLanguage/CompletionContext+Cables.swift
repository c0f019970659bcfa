import Patch

/// Ports and cables.
extension CompletionContext {
  /// Source, arrow and destination.
  mutating func cable(isNew: Bool) -> Step {
    let rest = words.dropFirst(position)
    if rest.count > 1, rest[rest.startIndex + 1] != "->" { return .end }
    switch rest.count {
    case 0: candidates += isNew ? ports(isInput: false, source: nil) : sources()
    case 1: candidates.append(Candidate("->"))
    case 2:
      let source = words[position]
      candidates += isNew ? ports(isInput: true, source: source) : destinations(of: source)
    default:
      position += 3
      return .on
    }
    return .end
  }

  mutating func attributes() -> Step {
    let parameter = position > 0 ? modulated(at: words[position - 1]) : nil
    if !isAtCursor, words[position] == Word.by.text {
      position += 1
      if isAtCursor {
        candidates += (parameter?.depthUnits ?? []).map { Candidate($0.depthExample.line) }
        return .end
      }
      position += 1
    } else if isAtCursor, parameter != nil {
      candidates.append(Candidate(Word.by.text, Word.by.help))
    }
    let start = position
    let isModulation = start > 1 && words[start - 2] == Word.by.text
    while !isAtCursor, words[position].contains("=") { position += 1 }
    guard isAtCursor else { return .on }
    let taken = Set(words[start...].map { String($0.prefix { $0 != "=" }) })
    for attribute in (isModulation ? Attribute.ofModulations : []) + Attribute.all
    where !taken.contains(attribute.name) {
      let stem = attribute.name + "="
      if word.hasPrefix(stem), !attribute.choices.isEmpty {
        candidates += attribute.choices.map { Candidate(stem + $0) }
      } else {
        candidates.append(Candidate(stem + attribute.opening, attribute.help))
      }
    }
    return .on
  }

  /// The parameter that a port as it is written modulates.
  private func modulated(at port: String) -> ParameterDescription? {
    let name = Self.port(port)
    guard let port = name.port, let node = patch[named: name.node] else { return nil }
    return catalogue[node.kind]?.modulated(at: port)
  }

  /// Nodes, or after a `.` their ports. For inputs: those that fit the output `source`.
  private func ports(isInput: Bool, source: String?) -> [Candidate] {
    if let split = word.firstIndex(where: { $0 == "." || $0 == "[" }) {
      guard let node = patch[named: String(word[..<split])], let kind = catalogue[node.kind] else {
        return []
      }
      // A program's ports are those that cables name.
      let names =
        kind.isClient
        ? Set(
          patch.cables(at: node.id).compactMap { ends in
            let end = isInput ? ends.destination : ends.source
            return end.node == node.id ? PortName(node.name, end.port).description : nil
          }
        ).sorted().map { String($0.dropFirst(node.name.count + 1)) }
        : isInput ? kind.inputWords : kind.outputNames
      return
        names
        .filter { !isInput || fits(source, "\(node.name).\($0)") }
        .map { Candidate("\(node.name).\($0)", kind.name) }
        + (isInput ? elements(of: node, kind, source) : [])
    }
    let hasClients = patch.hasClients(catalogue: catalogue)
    return patch.nodes.values.filter { node in
      guard let kind = catalogue[node.kind] else { return true }
      guard isInput else {
        return !kind.outputs.isEmpty || kind.isClient || hasClients && kind.endpoint?.isOutput == true
      }
      return fits(source, node.name) || kind.inputNames.contains { fits(source, "\(node.name).\($0)") }
    }
    .flatMap { node in
      let kind = catalogue[node.kind]
      let hasCrosspoints = isInput && kind?.crosspoints?.isModulatedByKernel == true
      return [Candidate(node.name, node.kind)]
        + (hasCrosspoints ? [Candidate(node.name + "[", node.kind)] : [])
    }
  }

  /// The ports of a node's gains, one for each channel or crosspoint: `main[`, then `main[0,`, then `main[0,1]`.
  private func elements(of node: Node, _ kind: KindDescription, _ source: String?) -> [Candidate] {
    kind.parameters.filter { KindDescription.isPort($0) && !$0.dimensions.isEmpty }.flatMap { parameter in
      let base = node.name + ParameterPath(parameter.name).suffix
      let stem = parameter.name.isEmpty ? node.name : base
      let first = ParameterPath(parameter.name, parameter.dimensions.map { _ in 0 })
      guard fits(source, node.name + first.suffix) else { return [Candidate]() }
      let words =
        word.hasPrefix(stem + "[")
        ? indexed(stem, parameter, node, kind).filter { !$0.includes("..") } : [stem + "["]
      return words.map { Candidate($0, parameter.summary) }
    }
  }

  private func fits(_ source: String?, _ destination: String) -> Bool {
    guard let source else { return true }
    return (try? patch.fitting(CableName(Self.port(source), Self.port(destination)), catalogue: catalogue))
      != nil
  }

  private static func port(_ text: String) -> PortName {
    guard let split = text.firstIndex(where: { $0 == "." || $0 == "[" }) else { return PortName(text) }
    let rest = text[split] == "." ? text[text.index(after: split)...] : text[split...]
    return PortName(String(text[..<split]), String(rest))
  }

  /// Short names of the cables that exist.
  private var cables: [CableName] {
    patch.orderedCables(catalogue: catalogue).map { patch.shortName(of: $0.ends, catalogue: catalogue) }
  }

  private func sources() -> [Candidate] {
    var seen: Set<String> = []
    return cables.map(\.source.description).filter { seen.insert($0).inserted }
      .map { Candidate($0, "source") }
  }

  /// Nodes that only cables lead to; the others are among the sources.
  func connected() -> [Candidate] {
    let sources = Set(cables.map(\.source.description))
    let nodes = Set(patch.cables.keys.map(\.destination.node))
    return patch.nodes.values.filter { nodes.contains($0.id) && !sources.contains($0.name) }
      .map { Candidate($0.name, "all its cables") }
  }

  private func destinations(of source: String) -> [Candidate] {
    var seen: Set<String> = []
    return cables.filter { $0.source.description == source || $0.source.node == source }
      .map(\.destination.description).filter { seen.insert($0).inserted }
      .map { Candidate($0, "destination") }
  }
}

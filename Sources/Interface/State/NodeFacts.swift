import Engine
import Patch

/// Displayed facts about a node's settings.
struct NodeFacts {
  let node: Node
  let kind: KindDescription?

  init(_ node: Node, _ catalogue: KindCatalogue) {
    self.node = node
    kind = catalogue[node.kind]
  }

  /// A sub-patch has the parameters that it publishes too.
  init(_ node: Node, _ scene: Scene) {
    (self.node, kind) = scene.patch.withPublished(node, catalogue: scene.catalogue)
  }

  /// A whole number from a setting or its default.
  func count(_ name: String) -> Int {
    guard case .number(let number, _)? = node.value(at: ParameterPath(name), description: kind),
      number.isFinite
    else { return 0 }
    return Int(min(64, max(0, number)))
  }

  /// Channels of the first input, or of the first output where there is no input, as the settings say.
  var firstPortChannels: Int {
    switch (kind?.inputs.first ?? kind?.outputs.first)?.format {
    case .parameter(let name): count(name)
    case .channels(let count): count
    case .events, .flexible, nil: 0
    }
  }

  /// A number from a setting or its default.
  func number(_ path: ParameterPath) -> Double? {
    guard case .number(let number, _)? = node.value(at: path, description: kind) else { return nil }
    return number
  }

  /// Labels of a side's channels, if there are any.
  func labels(_ name: String) -> [String] {
    guard let dimension = kind?[parameter: name]?.dimensions.first,
      node.settings.keys.contains(where: { $0.name == name })
    else { return [] }
    return (0..<count(dimension)).map {
      if case .text(let label)? = node.settings[ParameterPath(name, [$0])] { label } else { "" }
    }
  }

  /// `matrix 4 × 2`, `sampler`.
  var kindText: String {
    guard let sides = kind?.crosspoints?.dimensions else { return node.kind }
    return "\(node.kind) \(sides.map { "\(count($0))" }.joined(separator: " × "))"
  }

  /// The most informative settings: those that differ from the defaults, in the kind's order, then the first
  /// of the others.
  func values(_ most: Int) -> [(path: ParameterPath, value: Value)] {
    guard let kind else {
      return node.settings.sorted { $0.key < $1.key }.prefix(most).map { ($0.key, $0.value) }
    }
    let plain = kind.parameters.filter {
      $0.dimensions.isEmpty && !Self.isSaidElsewhere($0) && isUsed($0)
    }
    let changed = plain.filter { node.settings[ParameterPath($0.name)] != nil }
    let names = (changed + plain.filter { node.settings[ParameterPath($0.name)] == nil }).prefix(most)
      .map(\.name)
    return names.compactMap { name in
      let path = ParameterPath(name)
      return node.value(at: path, description: kind).map { (path, $0) }
    }
  }

  /// Lines of the parameter panel: plain parameters, then the elements of a matrix's sides. Crosspoints are
  /// edited in the matrix view.
  var lines: [ParameterPath] {
    guard let kind else { return node.settings.keys.sorted() }
    var lines: [ParameterPath] = []
    for parameter in kind.parameters {
      switch parameter.dimensions.count {
      case 0 where isUsed(parameter): lines.append(ParameterPath(parameter.name))
      case 1:
        for index in 0..<count(parameter.dimensions[0]) {
          lines.append(ParameterPath(parameter.name, [index]))
        }
      default: break
      }
    }
    return lines
  }

  /// True for settings already shown by the kind's name, the file's name or the meters.
  private static func isSaidElsewhere(_ parameter: ParameterDescription) -> Bool {
    if parameter.fileType != nil { return true }
    return ["inputs", "outputs", "channels", "polyphony"].contains(parameter.name)
  }

  /// `band3.gain` is used if there are three bands or more.
  private func isUsed(_ parameter: ParameterDescription) -> Bool {
    guard let requirement = parameter.requirement else { return true }
    return count(requirement.parameter) >= requirement.least
  }
}

extension KindDescription {
  /// Its signals move others: they have no level that is too high.
  var movesOthers: Bool {
    if category == .modulation || category == .control { return true }
    let signals = outputs.filter { !$0.isEvents }
    return !signals.isEmpty && signals.allSatisfy { $0.swing != nil }
  }
}

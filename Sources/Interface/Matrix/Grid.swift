import Engine
import Glibc
import Patch

/// Contents of the matrix screen: the gains of a matrix, or a cable's channel mapping, which is a matrix too.
struct Grid {
  enum Subject {
    case matrix(Node)
    /// A cable, and its name in edits.
    case cable(Cable, CableName)
  }

  let subject: Subject
  let rows: Int
  let columns: Int
  /// `main`, `piano -> dist`.
  let name: String
  /// `matrix 4 × 2`, `cable 1 → 2`.
  let kindText: String
  /// Peak and RMS level of each row and column; empty if not measured.
  let rowLevels: GridLevels
  let columnLevels: GridLevels
  /// Labels of the channels, by row and by column; empty if there are none.
  let rowLabels: [String]
  let columnLabels: [String]
  /// Gains of a matrix with their switches, by group.
  private let gains: Gains?
  /// Outputs whose cables move a gain, by the gain's port.
  private let movers: [String: [String]]
  /// Factors of a cable from each row to each column, row by row.
  private let factors: [Float]
  /// The engine's name of the cable's conversion, if it has no map.
  let conversion: String?

  private struct Gains {
    var inputs, outputs, crosspoints, master: SwitchedGains
  }

  /// The grid for the view state: a cable, or the matrix that is chosen, focused or first.
  init?(_ scene: Scene, _ state: ViewState) {
    if let ends = state.matrix.cable, let cable = scene.patch.cables[ends] {
      self.init(cable, scene)
    } else if let id = Self.matrix(scene, state), let node = scene.patch[id],
      let kind = scene.catalogue[node.kind]
    {
      self.init(node, kind, scene)
    } else {
      return nil
    }
  }

  static func matrix(_ scene: Scene, _ state: ViewState) -> NodeID? {
    for id in [state.matrix.node, state.focus] {
      if let id, let node = scene.patch[id], scene.isMatrix(node) { return id }
    }
    return scene.patch.nodes.values.first { scene.isMatrix($0) }?.id
  }

  private init?(_ node: Node, _ kind: KindDescription, _ scene: Scene) {
    guard let crosspoints = SwitchedGains("", of: node, description: kind),
      let inputs = SwitchedGains("in", of: node, description: kind),
      let outputs = SwitchedGains("out", of: node, description: kind),
      let master = SwitchedGains("master", of: node, description: kind)
    else { return nil }
    gains = Gains(inputs: inputs, outputs: outputs, crosspoints: crosspoints, master: master)
    movers = Dictionary(
      grouping: scene.patch.cables(into: node.id, catalogue: scene.catalogue).filter {
        kind.modulated(at: $0.ends.destination.port) != nil
      }, by: \.ends.destination.port
    ).mapValues { cables in
      cables.map { "\(scene.patch.shortName(of: $0.ends, catalogue: scene.catalogue).source)" }
    }
    subject = .matrix(node)
    name = node.name
    let facts = NodeFacts(node, scene.catalogue)
    rows = facts.count("inputs")
    columns = facts.count("outputs")
    kindText = facts.kindText
    factors = []
    conversion = nil
    rowLabels = facts.labels("label.in")
    columnLabels = facts.labels("label.out")
    let report = scene.report.nodes.first { $0.id == node.id }
    rowLevels = report?.inputs.first { !$0.isEvents }.map(scene.levels) ?? GridLevels()
    columnLevels = report?.outputs.first { !$0.isEvents }.map(GridLevels.init(output:)) ?? GridLevels()
  }

  private init(_ cable: Cable, _ scene: Scene) {
    let cableName = scene.patch.shortName(of: cable.ends, catalogue: scene.catalogue)
    subject = .cable(cable, cableName)
    gains = nil
    movers = [:]
    name = cableName.description
    let source = cable.ends.source
    let destination = cable.ends.destination
    let output = scene.report.nodes.first { $0.id == source.node }?.outputs.first { $0.name == source.port }
    let input = scene.report.nodes.first { $0.id == destination.node }?.inputs
      .first { $0.name == destination.port }
    // Until the engine reports channel counts, a cable is as wide as its map.
    let map = cable.map?.sources ?? []
    let from = max(1, output?.channels ?? 0, (map.max() ?? -1) + 1)
    let to = max(1, input?.channels ?? 0, map.count)
    rows = from
    columns = to
    let rule = ChannelConversion(from: from, to: to, map: cable.map, mixing: cable.settings.mixing)
    var factors = [Float](repeating: 0, count: from * to)
    for entry in rule.gains where entry.source < from && entry.destination < to {
      factors[entry.source * to + entry.destination] = entry.gain
    }
    self.factors = factors
    conversion = rule.name
    kindText = "cable \(from) → \(to)"
    func labels(_ name: String, _ id: NodeID) -> [String] {
      scene.patch[id].map { NodeFacts($0, scene.catalogue).labels(name) } ?? []
    }
    rowLabels = labels("label.out", source.node)
    columnLabels = labels("label.in", destination.node)
    rowLevels = output.map(GridLevels.init(output:)) ?? GridLevels()
    columnLevels = GridLevels(
      from: rowLevels, factors, columns: to, gain: EngineValues.gain(decibels: cable.gain))
  }

  /// Levels for the meters.
  var measurement: GridMeasurement {
    GridMeasurement(
      name: name, rows: rows, columns: columns, rowLevels: rowLevels, columnLevels: columnLevels)
  }

  var cable: Cable? {
    if case .cable(let cable, _) = subject { cable } else { nil }
  }

  var node: Node? {
    if case .matrix(let node) = subject { node } else { nil }
  }

  // MARK: Gains

  /// Gain in decibels, without switches; -infinity for silence. For a cable, the master is its gain and there
  /// are no side gains.
  func gain(_ cell: GridCell) -> Double {
    if let element = element(cell) { return element.decibels }
    guard cell.isCrosspoint else { return cable?.gain ?? 0 }
    let factor = factors[cell.row * columns + cell.column]
    // As precise as the engine's own factor.
    return factor > 0 ? (20 * log10(Double(factor)) * 10000).rounded() / 10000 : -.infinity
  }

  /// The gain of a matrix with its switches; nil for a cable.
  func element(_ cell: GridCell) -> SwitchedGains.Element? {
    guard let gains else { return nil }
    switch (cell.row, cell.column) {
    case (..<0, ..<0): return gains.master[]
    case (..<0, let column): return gains.outputs[column]
    case (let row, ..<0): return gains.inputs[row]
    case (let row, let column): return gains.crosspoints[row, column]
    }
  }

  /// Outputs whose cables move the gain of a cell.
  func movers(of cell: GridCell) -> [String] { movers.isEmpty ? [] : movers[Self.path(cell).line] ?? [] }

  /// True when the cell has a gain that can be set.
  func contains(_ cell: GridCell) -> Bool {
    guard (-1..<rows).contains(cell.row), (-1..<columns).contains(cell.column) else { return false }
    return gains != nil || cell.isCrosspoint || cell == .master
  }

  /// The rows that feed a column of a cable; a map can only express one at unity.
  func sources(of column: Int) -> [(row: Int, factor: Float)] {
    (0..<rows).compactMap {
      let factor = factors[$0 * columns + column]
      return factor == 0 ? nil : ($0, factor)
    }
  }

  /// The matrix setting of a cell.
  static func path(_ cell: GridCell) -> ParameterPath {
    switch (cell.row, cell.column) {
    case (..<0, ..<0): ParameterPath("master")
    case (..<0, let column): ParameterPath("out", [column])
    case (let row, ..<0): ParameterPath("in", [row])
    case (let row, let column): ParameterPath("", [row, column])
    }
  }

  // MARK: Names

  /// `in 3` of a matrix; a cable's rows are the outputs of its source.
  func rowName(_ row: Int) -> String { (gains == nil ? "out " : "in ") + "\(row)" }
  func columnName(_ column: Int) -> String { (gains == nil ? "in " : "out ") + "\(column)" }

  /// The user's label; empty if there is none.
  func rowLabel(_ row: Int) -> String { rowLabels.indices.contains(row) ? rowLabels[row] : "" }
  func columnLabel(_ column: Int) -> String {
    columnLabels.indices.contains(column) ? columnLabels[column] : ""
  }
}

extension GridLevels {
  /// Levels after a cable: the upper bound for peaks, uncorrelated sums for means.
  fileprivate init(from source: Self, _ factors: [Float], columns: Int, gain: Float) {
    guard !source.peaks.isEmpty else { return }
    func sum(_ values: [Float], _ column: Int, _ add: (Float, Float) -> Float) -> Float {
      values.indices.reduce(0) { sum, row in
        let index = row * columns + column
        return factors.indices.contains(index) ? add(sum, abs(gain * factors[index]) * values[row]) : sum
      }
    }
    peaks = (0..<columns).map { sum(source.peaks, $0) { $0 + $1 } }
    means =
      source.means.isEmpty
      ? [] : (0..<columns).map { sum(source.means, $0) { ($0 * $0 + $1 * $1).squareRoot() } }
  }
}

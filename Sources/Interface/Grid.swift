import Engine
import Glibc
import Patch

/// A cell of the matrix screen: row -1 holds the gains of the columns, column -1 those of the rows, both
/// the master.
public struct GridCell: Hashable, Sendable {
  public var row: Int
  public var column: Int

  public init(_ row: Int, _ column: Int) {
    self.row = row
    self.column = column
  }

  public static let master = GridCell(-1, -1)
  var isCrosspoint: Bool { row >= 0 && column >= 0 }
}

/// Neighbouring cells of one sort: crosspoints, or the gains of one side.
public struct GridRange: Hashable, Sendable {
  public var rows: ClosedRange<Int>
  public var columns: ClosedRange<Int>

  /// From one corner to the other, of the first one's sort.
  init(_ first: GridCell, _ other: GridCell) {
    func span(_ first: Int, _ other: Int) -> ClosedRange<Int> {
      first < 0 ? -1 ... -1 : min(first, max(0, other))...max(first, other)
    }
    rows = span(first.row, other.row)
    columns = span(first.column, other.column)
  }

  var first: GridCell { GridCell(rows.lowerBound, columns.lowerBound) }
  var count: Int { rows.count * columns.count }
  func contains(_ cell: GridCell) -> Bool { rows.contains(cell.row) && columns.contains(cell.column) }
  /// Row by row, as a range in the language counts them.
  var cells: [GridCell] { rows.flatMap { row in columns.map { GridCell(row, $0) } } }
}

/// What the matrix screen shows: the gains of a matrix, or what a cable does with its channels, which is
/// a matrix as well.
struct Grid {
  enum Subject {
    case matrix(Node)
    /// With its name in edits.
    case cable(Cable, CableName)
  }

  let subject: Subject
  let rows: Int
  let columns: Int
  /// `main`, `piano -> dist`.
  let name: String
  /// `matrix 4 × 2`, `cable 1 → 2`.
  let kindText: String
  /// Peak and mean level (root of the mean square) of each row and column; empty where not measured.
  let rowLevels: Levels
  let columnLevels: Levels
  /// What the channels are called, row by row and column by column; empty where they have no names.
  let rowLabels: [String]
  let columnLabels: [String]
  /// Of a matrix: what acts on its gains, by sort.
  private let gains: Gains?
  /// Of a cable: what each column gets of each row, row by row.
  private let factors: [Float]
  /// What the engine calls the cable's conversion, where it has no map.
  let conversion: String?

  private struct Gains {
    var inputs, outputs, crosspoints, master: SwitchedGains
  }

  struct Levels: Equatable, Sendable {
    var peaks: [Float] = []
    var means: [Float] = []
  }

  /// What the state says to look at: a cable, or the matrix that is chosen, has the focus, or is the first.
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

  static func isMatrix(_ node: Node, _ catalogue: KindCatalogue) -> Bool {
    catalogue[node.kind]?.crosspoints != nil
  }

  static func matrix(_ scene: Scene, _ state: ViewState) -> NodeID? {
    for id in [state.matrix.node, state.focus] {
      if let id, let node = scene.patch[id], isMatrix(node, scene.catalogue) { return id }
    }
    return scene.patch.nodes.values.first { isMatrix($0, scene.catalogue) }?.id
  }

  private init?(_ node: Node, _ kind: KindDescription, _ scene: Scene) {
    guard let crosspoints = SwitchedGains("", of: node, description: kind),
      let inputs = SwitchedGains("in", of: node, description: kind),
      let outputs = SwitchedGains("out", of: node, description: kind),
      let master = SwitchedGains("master", of: node, description: kind)
    else { return nil }
    gains = Gains(inputs: inputs, outputs: outputs, crosspoints: crosspoints, master: master)
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
    rowLevels = Levels(report?.inputs.first { !$0.isEvents })
    columnLevels = Levels(report?.outputs.first { !$0.isEvents })
  }

  private init(_ cable: Cable, _ scene: Scene) {
    let cableName = scene.patch.shortName(of: cable.ends, catalogue: scene.catalogue)
    subject = .cable(cable, cableName)
    gains = nil
    name = cableName.description
    let source = cable.ends.source
    let destination = cable.ends.destination
    let output = scene.report.nodes.first { $0.id == source.node }?.outputs.first { $0.name == source.port }
    let input = scene.report.nodes.first { $0.id == destination.node }?.inputs
      .first { $0.name == destination.port }
    // Until the engine has said how wide its ends are, a cable is as wide as its map.
    let map = cable.map?.sources ?? []
    let from = max(1, output?.channels ?? 0, (map.max() ?? -1) + 1)
    let to = max(1, input?.channels ?? 0, map.count)
    rows = from
    columns = to
    let rule = ChannelConversion(from: from, to: to, map: cable.map, mixing: cable.mixing)
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
    rowLevels = Levels(output)
    columnLevels = Levels(
      from: rowLevels, factors, columns: to, gain: EngineValues.gain(decibels: cable.gain))
  }

  var cable: Cable? {
    if case .cable(let cable, _) = subject { cable } else { nil }
  }

  var node: Node? {
    if case .matrix(let node) = subject { node } else { nil }
  }

  // MARK: Gains

  /// Decibels, whatever acts on them; -infinity for silence. Of a cable, the master is its gain and the
  /// sides have none.
  func gain(_ cell: GridCell) -> Double {
    if let element = element(cell) { return element.decibels }
    guard cell.isCrosspoint else { return cable?.gain ?? 0 }
    let factor = factors[cell.row * columns + cell.column]
    // As exact as the engine's own factor.
    return factor > 0 ? (20 * log10(Double(factor)) * 10000).rounded() / 10000 : -.infinity
  }

  /// The gain of a matrix with what acts on it; nil for a cable.
  func element(_ cell: GridCell) -> SwitchedGains.Element? {
    guard let gains else { return nil }
    switch (cell.row, cell.column) {
    case (..<0, ..<0): return gains.master[]
    case (..<0, let column): return gains.outputs[column]
    case (let row, ..<0): return gains.inputs[row]
    case (let row, let column): return gains.crosspoints[row, column]
    }
  }

  /// Whether there is a gain to be set.
  func contains(_ cell: GridCell) -> Bool {
    guard (-1..<rows).contains(cell.row), (-1..<columns).contains(cell.column) else { return false }
    return gains != nil || cell.isCrosspoint || cell == .master
  }

  /// The rows that a column of a cable hears; one at unity is what a map can say.
  func sources(of column: Int) -> [(row: Int, factor: Float)] {
    (0..<rows).compactMap {
      let factor = factors[$0 * columns + column]
      return factor == 0 ? nil : ($0, factor)
    }
  }

  /// The setting of a matrix that a cell is.
  static func path(_ cell: GridCell) -> ParameterPath {
    switch (cell.row, cell.column) {
    case (..<0, ..<0): ParameterPath("master")
    case (..<0, let column): ParameterPath("out", [column])
    case (let row, ..<0): ParameterPath("in", [row])
    case (let row, let column): ParameterPath("", [row, column])
    }
  }

  // MARK: Names

  /// `in 3` of a matrix; a cable's rows are what leaves its source.
  func rowName(_ row: Int) -> String { (gains == nil ? "out " : "in ") + "\(row)" }
  func columnName(_ column: Int) -> String { (gains == nil ? "in " : "out ") + "\(column)" }

  /// What people call it; empty where they do not.
  func rowLabel(_ row: Int) -> String { rowLabels.indices.contains(row) ? rowLabels[row] : "" }
  func columnLabel(_ column: Int) -> String {
    columnLabels.indices.contains(column) ? columnLabels[column] : ""
  }
}

extension Grid.Levels {
  fileprivate init(_ port: PortReport?) {
    peaks = port?.peaks ?? []
    means = port?.means ?? []
  }

  /// What arrives through a cable: peaks as if they met, means as if they were strangers.
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

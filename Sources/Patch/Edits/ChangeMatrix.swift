import Glibc

/// Presets and operations for a matrix. All other crosspoints become silent, except for `swap` and `copy`.
/// Switches of crosspoints are reset; gains and switches of inputs and outputs stay.
public enum MatrixChange: Hashable, Sendable {
  /// Input i to output i.
  case identity
  /// Silences every crosspoint.
  case clear
  /// Mono: every output gets the mean of the inputs.
  case fold
  /// Every output gets the input of its number, wrapping around to the first.
  case spread
  /// Input i to output i + n.
  case diagonal(Int)
  /// Indexed by output: its input, or -1 for none.
  case map(ChannelMap)
  /// Swaps the crosspoints of two inputs (rows) or two outputs (columns).
  case swap(Side, Int, Int)
  /// Copies the crosspoints of one input or output to others.
  case copy(Side, Int, to: ParameterRange.Span)

  /// Inputs (rows) or outputs (columns).
  public enum Side: String, Hashable, Sendable, CaseIterable {
    /// Inputs or outputs.
    case `in`, out
  }

  var line: String {
    switch self {
    case .identity: "identity"
    case .clear: "clear"
    case .fold: "fold"
    case .spread: "spread"
    case .diagonal(let offset): "diagonal \(offset)"
    case .map(let map): "map \(map.line)"
    case .swap(let side, let one, let other): "swap \(side) \(one) \(other)"
    case .copy(let side, let from, let to): "copy \(side) \(from) \(to.line)"
    }
  }
}

/// `matrix main identity`, `matrix main map [-1,-1,0,1] over 2s`
struct ChangeMatrix: EditMacro {
  var name: String
  var change: MatrixChange
  /// Seconds.
  var over: Double?

  func describe() -> String {
    var line = "matrix \(name) \(change.line)"
    if let over { line += " over \(Value.number(over, .seconds).line)" }
    return line
  }

  /// Values of a crosspoint: its gain, then its switches.
  private typealias Crosspoint = [Value]

  func expanded(in draft: Draft) throws(EditError) -> Edit {
    let node = try draft.patch.node(named: name)
    guard let kind = draft.catalogue[node.kind], let gain = kind.crosspoints else {
      throw .noMatrix(name, kind: node.kind)
    }
    try SetParameter.check(over: over)
    let rows = kind.count(gain.dimensions[0], of: node)
    let columns = kind.count(gain.dimensions[1], of: node)
    let parameters = [gain] + (gain.switches?.names ?? []).compactMap { kind[parameter: $0] }
    let source = try crosspoints(rows, columns, parameters) { row, column in
      parameters.map { parameter in
        let path = ParameterPath(parameter.name, [row, column])
        return node.settings[path] ?? parameter.defaultValue(at: path)
      }
    }
    var edits: [Edit] = []
    for row in 0..<rows {
      for column in 0..<columns {
        for (parameter, value) in zip(parameters, source(row, column)) {
          let path = ParameterPath(parameter.name, [row, column])
          if value != node.settings[path] ?? parameter.defaultValue(at: path) {
            edits.append(.set(name, path, value, over: over))
          }
        }
      }
    }
    return .joined(edits)
  }

  /// The new crosspoints as a function of row and column, given the present ones.
  private func crosspoints(
    _ rows: Int, _ columns: Int, _ parameters: [ParameterDescription],
    _ present: @escaping (Int, Int) -> Crosspoint
  ) throws(EditError) -> (Int, Int) -> Crosspoint {
    func crosspoint(_ decibels: Double) -> Crosspoint {
      [.number(decibels, .decibels)] + parameters.dropFirst().map(\.defaultValue)
    }
    let unity = crosspoint(0)
    let silent = crosspoint(-.infinity)
    switch change {
    case .identity: return { $0 == $1 ? unity : silent }
    case .clear: return { _, _ in silent }
    case .fold:
      let mean = crosspoint(rows > 1 ? -20 * log10(Double(rows)) : 0)
      return { _, _ in mean }
    case .spread: return { $0 == $1 % rows ? unity : silent }
    case .diagonal(let offset):
      guard offset > -rows, offset < columns else {
        throw .diagonalOutOfRange(offset, rows: rows, columns: columns)
      }
      return { $0 + offset == $1 ? unity : silent }
    case .map(let map):
      guard map.sources.count <= columns else {
        throw .mapTooLong(map, outputs: columns)
      }
      for source in map.sources where source < -1 || source >= rows {
        throw .noMapInput(source, of: name, count: rows)
      }
      return { map.sources.indices.contains($1) && map.sources[$1] == $0 ? unity : silent }
    case .swap(let side, let one, let other):
      try check([one, other], side, rows, columns)
      func place(_ index: Int) -> Int { index == one ? other : index == other ? one : index }
      return { side == .in ? present(place($0), $1) : present($0, place($1)) }
    case .copy(let side, let from, let to):
      let last = to.last ?? (side == .in ? rows : columns) - 1
      try check([from, to.first, last], side, rows, columns)
      guard to.first <= last else { return present }
      func place(_ index: Int) -> Int { (to.first...last).contains(index) ? from : index }
      return { side == .in ? present(place($0), $1) : present($0, place($1)) }
    }
  }

  private func check(_ indices: [Int], _ side: MatrixChange.Side, _ rows: Int, _ columns: Int)
    throws(EditError)
  {
    let count = side == .in ? rows : columns
    for index in indices where index < 0 || index >= count {
      throw .noMatrixPort(index, of: name, side == .in ? .input : .output, count: count)
    }
  }
}

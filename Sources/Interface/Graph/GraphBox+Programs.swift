import Patch
import Screen
import Session

// Boxes of other programs: their ports by name, in groups.

extension GraphBox {
  /// Shows a program with its ports: those of its groups, then those that cables or hints name.
  mutating func fill(
    _ program: Surroundings.Client, _ node: Node, _ used: Set<String>, _ usedOutputs: Set<String>,
    _ view: ViewState, _ detail: Detail
  ) {
    (isGhost, isFound) = (!program.isRunning, program.isFound)
    footer = isGhost ? "not running" : isFound ? "found" : ""
    if detail != .full, isGhost { footer = "gone" }
    if node.program != node.name, !isGhost { footer = node.program }
    let left = Self.names(program, used, isInput: true)
    let right = Self.names(program, usedOutputs, isInput: false)
    lines = []
    guard detail != .small, detail != .dot else {
      inputs = left.map { Port(name: $0, row: 1) }
      outputs = right.map { Port(name: $0, row: 1) }
      return
    }
    for index in 0..<max(left.count, right.count, 1) {
      let names = (
        left.indices.contains(index) ? left[index] : "", right.indices.contains(index) ? right[index] : ""
      )
      lines.append(Self.line(names, columns: detail.columns))
      let row = lines.count + 1
      if !names.0.isEmpty { inputs.append(Port(name: names.0, row: row)) }
      if !names.1.isEmpty { outputs.append(Port(name: names.1, row: row)) }
    }
  }

  private static func names(_ program: Surroundings.Client, _ used: Set<String>, isInput: Bool) -> [String] {
    let groups = program.ports.filter { $0.isInput == isInput }.map(\.name)
    return groups + used.subtracting(groups).sorted()
  }

  /// Both names, cut where they do not fit beside each other.
  private static func line(_ names: (String, String), columns: Int) -> Line {
    let room = names.0.isEmpty || names.1.isEmpty ? columns : columns - 1
    let widths = (DisplayWidth.of(names.0), DisplayWidth.of(names.1))
    guard widths.0 + widths.1 > room else { return .ports(names.0, names.1) }
    let left = min(widths.0, max(room / 2, room - widths.1))
    return .ports(
      DisplayWidth.truncated(names.0, to: left), DisplayWidth.truncated(names.1, to: room - left))
  }
}

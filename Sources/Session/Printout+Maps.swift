import Patch

/// Channel maps as diagrams: the source's channels above, the source of each destination channel below, and
/// lines between them. Where lines cross without touching, the horizontal one is broken.
///
/// ```
/// [ 0,  1]             out of pair
/// │   ╰───────╮
/// ╰───────╮   │
/// [-1, -1,  0,  1]     into out
/// ```
struct MapDiagram {
  private let map: ChannelMap
  /// Channels of the source.
  private let count: Int
  /// Columns between two channels.
  private static let pitch = 4

  init(_ map: ChannelMap, from count: Int) {
    self.map = map
    // A missing source channel is drawn all the same, without a line from above.
    self.count = count
  }

  /// A horizontal line, from one column to others below.
  private struct Net {
    var from: Int
    var to: [Int]
    /// The row of its horizontal part.
    var row = 0
    var span: ClosedRange<Int> { min(from, to.min() ?? from)...max(from, to.max() ?? from) }
    /// It needs no row.
    var isStraight: Bool { to == [from] }
  }

  /// The lines of the diagram, from the top.
  func lines(from source: String, to destination: String) -> [String] {
    let top = Self.list(Array(0..<count))
    let bottom = Self.list(map.sources)
    let width = max(top.count, bottom.count) + 2
    func padded(_ text: String, _ label: String) -> String {
      text + String(repeating: " ", count: width - text.count) + label
    }
    return [padded(top, source)] + picture() + [padded(bottom, destination)]
  }

  private static func list(_ numbers: [Int]) -> String {
    "[" + numbers.map { $0 > 9 || $0 < 0 ? "\($0)" : " \($0)" }.joined(separator: ", ") + "]"
  }

  private static func column(_ channel: Int) -> Int { 2 + pitch * channel }

  private func picture() -> [String] {
    let nets = routed()
    let rows = max(1, nets.map { $0.isStraight ? 0 : $0.row + 1 }.max() ?? 0)
    let columns = Self.column(max(count, map.sources.count)) + 1
    var picture = [[Character]](repeating: [Character](repeating: " ", count: columns), count: rows)
    for net in nets where !net.isStraight {
      for column in net.span { picture[net.row][column] = "─" }
    }
    for net in nets {
      let first = nets.first { $0.to.contains(net.from) && !$0.isStraight && $0.row < net.row }
      for row in (first.map { $0.row + 1 } ?? 0)..<(net.isStraight ? rows : net.row) {
        picture[row][net.from] = "│"
      }
      if net.isStraight { continue }
      for column in net.to {
        let end = nets.first { $0.from == column && !$0.isStraight && $0.row > net.row }?.row ?? rows
        for row in net.row + 1..<max(end, net.row + 1) { picture[row][column] = "│" }
      }
      for column in Set([net.from] + net.to) { picture[net.row][column] = Self.corner(net, column) }
    }
    return picture.map { row in
      var line = String(row)
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  private static func corner(_ net: Net, _ column: Int) -> Character {
    let isLeft = column == net.span.lowerBound
    let isRight = column == net.span.upperBound
    switch (column == net.from, net.to.contains(column)) {
    case (true, true): return isLeft ? "├" : isRight ? "┤" : "┼"
    case (true, false): return isLeft ? "╰" : isRight ? "╯" : "┴"
    default: return isLeft ? "╭" : isRight ? "╮" : "┬"
    }
  }

  /// Assigns a row to each horizontal line without overlaps: a line that ends below the start of another
  /// comes after it. In a cycle (a swap), one line is routed through a column between.
  private func routed() -> [Net] {
    var open: [Net] = []
    for source in 0..<count {
      let to = map.sources.indices.filter { map.sources[$0] == source }.map(Self.column)
      if !to.isEmpty { open.append(Net(from: Self.column(source), to: to)) }
    }
    var done = open.filter(\.isStraight)
    open.removeAll(where: \.isStraight)
    // Lines to the right first, since they move out of the others' way.
    open.reverse()
    var free = (0..<count).map { Self.column($0) + 2 }
    while !open.isEmpty {
      // A line whose ends are no longer the start of another.
      let next = open.firstIndex { net in
        !open.contains { $0.from != net.from && net.to.contains($0.from) }
      }
      if let next {
        var net = open.remove(at: next)
        net.row = row(for: net, after: done)
        done.append(net)
      } else if let between = free.popLast() {
        var first = open[0]
        open[0] = Net(from: between, to: first.to)
        first.to = [between]
        first.row = row(for: first, after: done)
        done.append(first)
      } else {
        done.append(open.removeFirst())
      }
    }
    return done
  }

  private func row(for net: Net, after done: [Net]) -> Int {
    var row = 0
    for other in done where !other.isStraight {
      // Its start passes the other's end, or they would share part of a row.
      let isBelow = net.to.contains(other.from) || other.to.contains(net.from)
      if isBelow || net.span.overlaps(other.span) { row = max(row, other.row + 1) }
    }
    return row
  }
}

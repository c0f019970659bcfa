/// The nodes in execution order, cut into stretches that are compiled one by one.
///
/// An edit changes the order where a new cable asks for it, and nowhere else: search alternately forwards from the
/// cable's destination and backwards from its source. When one search finishes, move the nodes it found past the other
/// end (after M. Bender, J. Fineman, S. Gilbert and R. Tarjan, "A new approach to incremental cycle detection and
/// related problems", 2015). Whole stretches move without being compiled again. Which of the possible orders results
/// depends on the edits before; the sound does not. Worker.
final class ExecutionOrder {
  /// Nodes of a stretch, about.
  var length = 256
  /// Every edit sorts all nodes, so that nothing is left of earlier orders and plans. For tests.
  var forgets = false
  private(set) var stretches: [Stretch] = []
  /// Nodes where the signal path ends. Those that share driver channels are summed there, so they run last, in an order
  /// of their own.
  private(set) var ends = Stretch()
  private var lastSearch: Int32 = 0
  /// Buffers that no plan after the next one uses.
  var retired: [Crossing] = []

  /// All stretches, as they run.
  var all: [Stretch] { stretches + [ends] }

  /// All nodes, as they run.
  var rows: [NodeRow.Pointer] { all.flatMap(\.rows) }

  /// The nodes at these places and between them; see `NodeRow.order`.
  func rows(in places: ClosedRange<Int>) -> [NodeRow.Pointer] {
    let (first, last) = (places.lowerBound >> 32, min(places.upperBound >> 32, stretches.count - 1))
    guard first <= last else { return [] }
    return stretches[first...last].flatMap { stretch in
      stretch.rows.lazy.filter { places.contains($0.order ?? -1) }
    }
  }

  // MARK: Making

  /// Sorts all nodes anew. `rows`: in execution order.
  func rebuild(_ rows: [NodeRow.Pointer]) {
    for row in rows where row.pointee.ownSum != nil { row.pointee.node.takeUnretainedValue().wideSum = nil }
    let sinks = rows.filter(\.pointee.isSink)
    ends = Stretch(
      sinks.sorted {
        $0.pointee.node.takeUnretainedValue().number < $1.pointee.node.takeUnretainedValue().number
      })
    let others = rows.filter { !$0.pointee.isSink }
    let crossed = countCrossings(others)
    stretches = []
    var start = 0
    while start < others.count {
      var end = others.count
      if end - start > length + length / 4 {
        // Where the fewest cables are cut.
        end = (start + (length + 1) / 2...start + length).reversed().min { crossed[$0] < crossed[$1] }!
      }
      stretches.append(Stretch(others[start..<end]))
      start = end
    }
    number()
  }

  /// Nodes before each place whose outputs are read there or later; the ends left out.
  private func countCrossings(_ rows: [NodeRow.Pointer]) -> [Int32] {
    if rows.count <= length { return [] }
    for (place, row) in rows.enumerated() { row.pointee.planIndex = Int32(place) }
    var last = [Int32](repeating: 0, count: rows.count)
    for (place, row) in rows.enumerated() {
      var next = row.pointee.incoming
      while let cable = next {
        next = cable.pointee.next
        let source = Int(cable.pointee.source.pointee.planIndex)
        if !cable.pointee.isDelayed { last[source] = max(last[source], Int32(place)) }
      }
    }
    var result = [Int32](repeating: 0, count: rows.count + 1)
    for place in rows.indices where Int(last[place]) > place {
      result[place + 1] += 1
      result[Int(last[place]) + 1] -= 1
    }
    for place in rows.indices { result[place + 1] += result[place] }
    return result
  }

  private func number() {
    for (index, stretch) in stretches.enumerated() { stretch.head.pointee.index = Int32(index) }
    ends.head.pointee.index = .max
  }

  private func insert(_ stretch: Stretch, at index: Int) {
    stretches.insert(stretch, at: index)
    number()
  }

  private func stretch(of row: NodeRow.Pointer) -> Stretch {
    row.pointee.stretch!.pointee.stretch.takeUnretainedValue()
  }

  // MARK: Changing

  /// Adds a node: behind the last of `sources`, or else before the first of `destinations`, or else at the end. Nodes
  /// that have no place yet do not count.
  func place(_ row: NodeRow.Pointer, after sources: [NodeRow.Pointer], before destinations: [NodeRow.Pointer])
  {
    if row.pointee.isSink {
      let number = row.pointee.node.takeUnretainedValue().number
      let place = ends.rows.firstIndex { $0.pointee.node.takeUnretainedValue().number > number }
      return ends.insert([row], at: place ?? ends.rows.count)
    }
    func known(_ rows: [NodeRow.Pointer]) -> [NodeRow.Pointer] {
      rows.filter { $0.pointee.stretch != nil && !$0.pointee.isSink }
    }
    if let last = known(sources).max(by: { $0.isBefore($1) }) {
      stretch(of: last).insert([row], at: Int(last.pointee.place) + 1)
    } else if let first = known(destinations).min(by: { $0.isBefore($1) }) {
      stretch(of: first).insert([row], at: Int(first.pointee.place))
    } else {
      if stretches.isEmpty { insert(Stretch(), at: 0) }
      let last = stretches[stretches.count - 1]
      last.insert([row], at: last.rows.count)
    }
  }

  func remove(_ row: NodeRow.Pointer) {
    if let crossing = row.pointee.crossing { retired.append(crossing) }
    row.pointee.crossing = nil
    if let own = row.pointee.ownSum { retired.append(own.room) }
    row.pointee.ownSum = nil
    guard row.pointee.stretch != nil else { return }
    stretch(of: row).remove(at: Int(row.pointee.place))
  }

  /// Nodes to be found from one end of a new cable.
  private struct Search {
    let number: Int32
    private(set) var found: [NodeRow.Pointer] = []

    init(_ start: NodeRow.Pointer, number: Int32) {
      self.number = number
      insert(start)
    }

    func hasSeen(_ row: NodeRow.Pointer) -> Bool { row.pointee.search == number }

    mutating func insert(_ row: NodeRow.Pointer) {
      if hasSeen(row) { return }
      row.pointee.search = number
      found.append(row)
    }
  }

  /// Makes `source` run before `destination`. Returns false if they are on a cycle; then nothing changes. `more`: cables
  /// that do not exist yet. `isOver`: true for a leaving cable that no longer counts.
  func run(
    _ source: NodeRow.Pointer, before destination: NodeRow.Pointer, with more: FutureCables,
    except isOver: (EngineCable) -> Bool
  ) -> Bool {
    if source == destination { return false }
    if destination.pointee.isSink || source.isBefore(destination) { return true }
    func counts(_ cable: CableRow.Pointer) -> Bool {
      if cable.pointee.isFeedback { return false }
      return cable.pointee.isWanted || !isOver(cable.pointee.cable.takeUnretainedValue())
    }
    // From the source against the cables, and from the destination along them, a cable at a time.
    var up = Search(source, number: lastSearch &+ 1)
    var down = Search(destination, number: lastSearch &+ 2)
    lastSearch &+= 2
    var (upAt, downAt) = (0, 0)
    var wire = source.pointee.incoming
    var outgoing = destination.pointee.node.takeUnretainedValue().outgoing
    var downWire = 0
    var extraUp = more.sources[source] ?? []
    var extraDown = more.destinations[destination] ?? []
    while true {
      var next: NodeRow.Pointer?
      if let cable = wire {
        wire = cable.pointee.next
        if counts(cable) { next = cable.pointee.source }
      } else if let extra = extraUp.popLast() {
        next = extra
      } else {
        upAt += 1
        if upAt == up.found.count {
          move(up.found, before: destination)
          return true
        }
        wire = up.found[upAt].pointee.incoming
        extraUp = more.sources[up.found[upAt]] ?? []
      }
      if let row = next {
        if row == destination || down.hasSeen(row) { return false }
        if destination.isBefore(row) { up.insert(row) }
      }
      next = nil
      if downWire < outgoing.count {
        let cable = outgoing[downWire]
        downWire += 1
        if counts(cable.row) { next = cable.destination.row }
      } else if let extra = extraDown.popLast() {
        next = extra
      } else {
        downAt += 1
        if downAt == down.found.count {
          move(down.found, after: source)
          return true
        }
        outgoing = down.found[downAt].pointee.node.takeUnretainedValue().outgoing
        downWire = 0
        extraDown = more.destinations[down.found[downAt]] ?? []
      }
      if let row = next {
        if row == source || up.hasSeen(row) { return false }
        if row.isBefore(source) { down.insert(row) }
      }
    }
  }

  private func move(_ rows: [NodeRow.Pointer], before row: NodeRow.Pointer) {
    let moved = takeOut(rows)
    let stretch = stretch(of: row)
    let place = Int(row.pointee.place)
    let index = Int(stretch.head.pointee.index)
    put(moved, into: stretch, at: place, index)
  }

  private func move(_ rows: [NodeRow.Pointer], after row: NodeRow.Pointer) {
    let moved = takeOut(rows)
    let stretch = stretch(of: row)
    put(moved, into: stretch, at: Int(row.pointee.place) + 1, Int(stretch.head.pointee.index))
  }

  /// Takes nodes out of the order. Stretches of which all nodes go are kept as they are.
  private func takeOut(_ rows: [NodeRow.Pointer]) -> [Stretch] {
    var byStretch: [Int32: [NodeRow.Pointer]] = [:]
    for row in rows { byStretch[row.pointee.stretch!.pointee.index, default: []].append(row) }
    var result: [Stretch] = []
    var whole: Set<Int32> = []
    for (index, members) in byStretch.sorted(by: { $0.key < $1.key }) {
      let stretch = stretches[Int(index)]
      if members.count == stretch.rows.count {
        result.append(stretch)
        whole.insert(index)
        continue
      }
      let sorted = members.sorted { $0.pointee.place < $1.pointee.place }
      let out = Set(members)
      stretch.removeAll { out.contains($0) }
      result.append(Stretch(sorted))
    }
    if !whole.isEmpty {
      stretches = stretches.enumerated().filter { !whole.contains(Int32($0.offset)) }.map(\.element)
      number()
    }
    return result
  }

  /// Puts stretches at a place within another one. Few nodes join it.
  private func put(_ moved: [Stretch], into stretch: Stretch, at place: Int, _ index: Int) {
    let count = moved.reduce(0) { $0 + $1.rows.count }
    if count + stretch.rows.count <= length + length / 4 {
      return stretch.insert(moved.flatMap(\.rows), at: place)
    }
    var inserted = moved
    var at = index + 1
    if place == 0 {
      at = index
    } else if place < stretch.rows.count {
      inserted.append(Stretch(stretch.cut(at: place)))
    }
    stretches.insert(contentsOf: inserted, at: at)
    number()
  }

  /// Drops empty stretches, divides long ones, and joins short ones to their neighbours. Call it before compilation.
  func tidy() {
    guard stretches.contains(where: { $0.head.pointee.isStale }) else { return }
    var result: [Stretch] = []
    var hasChanged = false
    for stretch in stretches {
      guard stretch.head.pointee.isStale else {
        result.append(stretch)
        continue
      }
      if stretch.rows.isEmpty {
        hasChanged = true
        continue
      }
      if stretch.rows.count > 2 * length {
        hasChanged = true
        result.append(stretch)
        while let last = result.last, last.rows.count > 2 * length {
          result.append(Stretch(last.cut(at: length)))
        }
        continue
      }
      if let before = result.last, min(before.rows.count, stretch.rows.count) <= length / 4,
        before.rows.count + stretch.rows.count <= length
      {
        before.insert(stretch.rows, at: before.rows.count)
        hasChanged = true
        continue
      }
      result.append(stretch)
    }
    guard hasChanged else { return }
    stretches = result
    number()
  }
}

/// Cables that are asked for and do not exist yet.
struct FutureCables {
  private(set) var sources: [NodeRow.Pointer: [NodeRow.Pointer]] = [:]
  private(set) var destinations: [NodeRow.Pointer: [NodeRow.Pointer]] = [:]

  mutating func insert(_ source: NodeRow.Pointer, _ destination: NodeRow.Pointer) {
    sources[destination, default: []].append(source)
    destinations[source, default: []].append(destination)
  }
}

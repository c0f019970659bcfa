import Glibc
import Screen
import Testing

@Suite struct DiagramTests {
  private func box(
    _ name: String, _ rows: Int = 4, _ inputs: [Int] = [2], _ outputs: [Int] = [2], place: Point? = nil
  ) -> DiagramNode {
    DiagramNode(name, size: Size(columns: 9, rows: rows), inputs: inputs, outputs: outputs, place: place)
  }

  /// One cable `a -> b` per line; ports by number: `a.1 -> b.0`.
  private func cables(_ text: String) -> [DiagramCable] {
    text.split(separator: "\n").map { line in
      let ends = line.split(separator: " ").filter { $0 != "->" }.map { $0.split(separator: ".") }
      return DiagramCable(
        String(ends[0][0]), ends[0].count > 1 ? Int(ends[0][1]) ?? 0 : 0, to: String(ends[1][0]),
        ends[1].count > 1 ? Int(ends[1][1]) ?? 0 : 0)
    }
  }

  private func picture(
    _ nodes: [DiagramNode], _ graph: String, _ options: DiagramOptions = DiagramOptions(),
    looks: (Int) -> CableLook = { _ in CableLook(Style(.cable)) }
  ) -> String {
    let diagram = Diagram(nodes: nodes, cables: cables(graph), options: options)
    var canvas = Canvas(columns: diagram.size.columns, rows: diagram.size.rows)
    for node in nodes {
      guard let frame = diagram.frames[node.name] else { continue }
      canvas.box(frame, rounded: true)
      canvas.put(node.name, at: Point(frame.column + 1, frame.row + 1))
    }
    canvas.drawCables(of: diagram, looks: looks)
    return canvas.text
  }

  // MARK: Pictures

  @Test func aSplitterIsOneTrunkAndAFadingBranchIsDotted() {
    let text = picture(
      ["keys", "piano", "dist", "eq", "main", "out"].map { box($0) },
      """
      keys -> piano
      piano -> dist
      piano -> eq
      dist -> main
      eq -> main
      main -> out
      """
    ) {
      $0 == 2 || $0 == 4
        ? CableLook(Style(.cableFading), stroke: .dotted) : CableLook(Style(.cable), priority: 1)
    }
    #expect(
      text == """
        ╭───────╮   ╭───────╮      ╭───────╮      ╭───────╮   ╭───────╮
        │keys   │   │piano  │      │dist   │      │main   │   │out    │
        │       ├───┤       ├──┬───┤       ├──┬───┤       ├───┤       │
        ╰───────╯   ╰───────╯  ┊   ╰───────╯  ┊   ╰───────╯   ╰───────╯
                               ┊              ┊
                               ┊   ╭───────╮  ┊
                               ┊   │eq     │  ┊
                               ╰┈┈┈┤       ├┈┈╯
                                   ╰───────╯

        """)
  }

  @Test func aFanOutOfThreeBranchesFromOneTrunkAndMergesAgain() {
    let text = picture(
      ["s", "x", "y", "z", "m"].map { box($0, 3, [1], [1]) },
      """
      s -> x
      s -> y
      s -> z
      x -> m
      y -> m
      z -> m
      """)
    #expect(
      text == """
        ╭───────╮      ╭───────╮      ╭───────╮
        │s      ├──┬───┤x      ├──┬───┤m      │
        ╰───────╯  │   ╰───────╯  │   ╰───────╯
                   │              │
                   │   ╭───────╮  │
                   ├───┤y      ├──┤
                   │   ╰───────╯  │
                   │              │
                   │   ╭───────╮  │
                   ╰───┤z      ├──╯
                       ╰───────╯

        """)
  }

  @Test func strangersCrossWithAGap() {
    let text = picture(
      [box("a", 5, [], [1, 3]), box("b", 5, [1, 3], [])],
      """
      a.0 -> b.1
      a.1 -> b.0
      """)
    #expect(
      text == """
                       ╭───────╮
                   ╭───┤b      │
        ╭───────╮  │   │       │
        │a      ├──│───┤       │
        │       │  │   ╰───────╯
        │       ├──╯
        ╰───────╯

        """)
  }

  @Test func twoTrunksThatBlockEachOtherTakeADogleg() {
    let nodes = [
      box("a", 5, [], [1, 3], place: Point(0, 0)), box("b", 5, [1, 3], [], place: Point(1, 0)),
    ]
    let text = picture(
      nodes,
      """
      a.0 -> b.1
      a.1 -> b.0
      """)
    #expect(
      text == """
        ╭───────╮          ╭───────╮
        │a      ├──╮ ╭─────┤b      │
        │       │  ╰─│─╮   │       │
        │       ├────╯ ╰───┤       │
        ╰───────╯          ╰───────╯

        """)
  }

  @Test func aLongCablePassesBelowWhatIsBetween() {
    let text = picture(
      ["a", "b", "c", "d"].map { box($0, 3, [1], [1]) },
      """
      a -> b
      b -> c
      c -> d
      a -> d
      """)
    #expect(
      text == """
        ╭───────╮      ╭───────╮   ╭───────╮      ╭───────╮
        │a      ├──┬───┤b      ├───┤c      ├──┬───┤d      │
        ╰───────╯  │   ╰───────╯   ╰───────╯  │   ╰───────╯
                   ╰──────────────────────────╯

        """)
  }

  @Test func feedbackRunsBackBelowAllBoxes() {
    let text = picture(
      ["in", "mix", "delay", "out"].map { box($0, 3, [1], [1]) },
      """
      in -> mix
      mix -> delay
      delay -> out
      delay -> mix
      delay -> delay
      """)
    #expect(
      text == """
        ╭───────╮      ╭───────╮      ╭───────╮      ╭───────╮
        │in     ├──┬───┤mix    ├──┬───┤delay  ├──┬───┤out    │
        ╰───────╯  │   ╰───────╯  │   ╰───────╯  │   ╰───────╯
                   │              │              │
                   ╰──────────────┴──────────────╯

        """)
  }

  @Test func aModulatorStandsBesideWhatItModulates() {
    let diagram = Diagram(
      nodes: ["keys", "piano", "filter", "lfo", "out"].map { box($0) },
      cables: cables("keys -> piano\npiano -> filter\nfilter -> out\nlfo -> filter"))
    #expect(diagram.columns == [["keys"], ["piano", "lfo"], ["filter"], ["out"]])
  }

  @Test func placesOfTheUserHold() throws {
    let nodes = [
      box("a", place: Point(5, 2)), box("b", place: Point(5, 0)), box("c", place: Point(-2, 1)), box("d"),
    ]
    let diagram = Diagram(nodes: nodes, cables: cables("a -> d\nc -> a"))
    #expect(diagram.columns == [["c"], ["b", "a"], ["d"]])
    let (a, b, c) = try (
      #require(diagram.frames["a"]), #require(diagram.frames["b"]), #require(diagram.frames["c"])
    )
    #expect(a.row - b.row == 10 && c.row - b.row == 5)
  }

  @Test func thinAndStrangeInputsAreLaidOut() {
    #expect(Diagram(nodes: [], cables: []).size == Size(columns: 0, rows: 0))
    let diagram = Diagram(
      nodes: [DiagramNode("a", size: Size(columns: 0, rows: 0)), box("b", 4, [], [])],
      cables: [
        DiagramCable("a", 7, to: "b", -3), DiagramCable("a", to: "nobody"), DiagramCable("nobody", to: "b"),
        DiagramCable("a", to: "a"),
      ])
    #expect(diagram.frames["a"]?.size == Size(columns: 1, rows: 1))
    #expect(diagram.routes.map { $0.points.isEmpty } == [false, true, true, false])
  }

  @Test func pointsLeadToNodesAndCables() {
    let diagram = Diagram(
      nodes: ["a", "b", "c"].map { box($0, 3, [1], [1]) }, cables: cables("a -> b\na -> c"))
    #expect(diagram.node(at: Point(0, 0)) == "a" && diagram.node(at: Point(10, 1)) == nil)
    #expect(diagram.cables(at: Point(9, 1)) == [0, 1])
    #expect(diagram.cables(at: Point(13, 1)) == [0])
    #expect(diagram.cables(at: Point(12, 0)) == [])
  }

  @Test func arrowsLeadToNeighbors() {
    let diagram = Diagram(
      nodes: ["a", "b", "c", "d"].map { box($0, 3, [1], [1]) }, cables: cables("a -> b\na -> c\nc -> d"))
    #expect(diagram.neighbor(of: "a", .right) == "b")
    #expect(diagram.neighbor(of: "b", .down) == "c")
    #expect(diagram.neighbor(of: "c", .up) == "b")
    #expect(diagram.neighbor(of: "d", .left) == "c")
    #expect(diagram.neighbor(of: "a", .left) == nil && diagram.neighbor(of: "b", .up) == nil)
  }

  // MARK: Pages

  @Test func aChainTooLongForThePageGoesOnBelow() {
    var options = DiagramOptions()
    options.page = Size(columns: 42, rows: 20)
    let names = ["keys", "piano", "dist", "eq", "main", "out"]
    let text = picture(
      names.map { box($0) },
      "keys -> piano\npiano -> dist\ndist -> eq\neq -> main\nmain -> out\ndist -> main",
      options)
    #expect(
      text == """
            ╭───────╮   ╭───────╮   ╭───────╮
            │keys   │   │piano  │   │dist   │
            │       ├───┤       ├───┤       ├──╮
            ╰───────╯   ╰───────╯   ╰───────╯  │
                                               │
        ╭──────────────────────────────────────╯
        │
        │   ╭───────╮      ╭───────╮   ╭───────╮
        │   │eq     │      │main   │   │out    │
        ├───┤       ├──┬───┤       ├───┤       │
        │   ╰───────╯  │   ╰───────╯   ╰───────╯
        ╰──────────────╯

        """)
  }

  @Test func unconnectedPartsStandInColumns() {
    var options = DiagramOptions()
    options.page = Size(columns: 42, rows: 10)
    let nodes = ["a", "b", "c", "d", "e", "f"].map { box($0, 4, [2], [2]) }
    let text = picture(nodes, "a -> b\nc -> d", options)
    #expect(
      text == """
        ╭───────╮   ╭───────╮    ╭───────╮
        │a      │   │b      │    │e      │
        │       ├───┤       │    │       │
        ╰───────╯   ╰───────╯    ╰───────╯

        ╭───────╮   ╭───────╮    ╭───────╮
        │c      │   │d      │    │f      │
        │       ├───┤       │    │       │
        ╰───────╯   ╰───────╯    ╰───────╯

        """)
    options.page?.columns = 60
    // One more leaves the others where they are.
    let more = Diagram(nodes: nodes + [box("g")], cables: cables("a -> b\nc -> d"), options: options)
    let fewer = Diagram(nodes: nodes, cables: cables("a -> b\nc -> d"), options: options)
    for (name, frame) in fewer.frames { #expect(more.frames[name] == frame) }
  }

  @Test func arrowsLeadOnInTheNextBandAndToTheNextPart() {
    var options = DiagramOptions()
    options.page = Size(columns: 42, rows: 10)
    let chain = Diagram(
      nodes: ["a", "b", "c", "d", "e"].map { box($0) }, cables: cables("a -> b\nb -> c\nc -> d\nd -> e"),
      options: options)
    let last = chain.columns.joined().last { chain.frames[$0]?.row == 0 } ?? ""
    let next = chain.neighbor(of: last, .right) ?? ""
    #expect(chain.frames[next].map { $0.row > 0 } == true)
    #expect(chain.neighbor(of: next, .left) == last)
    #expect(chain.neighbor(of: "a", .down).flatMap { chain.frames[$0] }.map { $0.row > 0 } == true)
    let parts = Diagram(nodes: ["a", "b", "c", "d"].map { box($0) }, cables: [], options: options)
    #expect(parts.neighbor(of: "a", .down) == "b" && parts.neighbor(of: "b", .up) == "a")
    #expect(parts.neighbor(of: "a", .right) == "c" && parts.neighbor(of: "c", .left) == "a")
  }

  @Test func aPlacedBoxMovesAndTheOthersStay() throws {
    let names = ["a", "b", "c", "d"]
    let lines = cables("a -> b\nb -> c\nc -> d")
    let before = Diagram(nodes: names.map { box($0) }, cables: lines)
    var nodes = names.map { box($0) }
    #expect(before.places["c"] == Point(2, 0))
    nodes[2].place = Point(2, 2)
    let lower = Diagram(nodes: nodes, cables: lines)
    let frame = try #require(before.frames["c"])
    #expect(
      lower.frames["c"]
        == frame.offset(by: Point(lower.frames["c"]?.column ?? 0, 10) - Point(frame.column, 0)))
    for name in ["a", "b", "d"] { #expect(lower.frames[name]?.row == before.frames[name]?.row) }
    #expect(lower.places["c"] == Point(2, 2))
    nodes[2].place = Point(4, 0)
    let further = Diagram(nodes: nodes, cables: lines)
    #expect(try #require(further.frames["c"]).column > frame.column + 10)
    #expect(further.frames["b"] == before.frames["b"] && further.columns == before.columns)
  }

  // MARK: Properties

  private func random(
    _ count: Int, edges: Int, feedback: Int, span: Int = .max, _ random: inout SeededGenerator
  )
    -> (
      [DiagramNode], [DiagramCable]
    )
  {
    let nodes = (0..<count).map { index in
      let rows = Int.random(in: 3...6, using: &random)
      let ports = Array(1..<rows - 1)
      return DiagramNode(
        "n\(index)", size: Size(columns: .random(in: 6...14, using: &random), rows: rows), inputs: ports,
        outputs: ports,
        place: Int.random(in: 0..<12, using: &random) == 0
          ? Point(.random(in: -1...6, using: &random), .random(in: -3...8, using: &random)) : nil)
    }
    var cables: [DiagramCable] = []
    for index in 0..<edges + feedback {
      var (a, b) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
      if index < edges, a > b { swap(&a, &b) }
      if b - a > span { b = a + span }
      cables.append(
        DiagramCable(
          "n\(a)", .random(in: 0...3, using: &random), to: "n\(b)", .random(in: 0...3, using: &random)))
    }
    return (nodes, cables)
  }

  private func check(_ diagram: Diagram, _ nodes: [DiagramNode], _ cables: [DiagramCable], _ name: String) {
    let frames = nodes.compactMap { diagram.frames[$0.name] }
    let whole = Rect(column: 0, row: 0, columns: diagram.size.columns, rows: diagram.size.rows)
    for (index, frame) in frames.enumerated() {
      #expect(frame.size == nodes[index].size && frame.intersection(whole) == frame, "\(name)")
      for other in frames[..<index] { #expect(!frame.intersects(other), "\(name)") }
    }
    var inside: Set<Point> = []
    for frame in frames {
      for row in frame.row..<frame.bottom {
        for column in frame.column..<frame.right { inside.insert(Point(column, row)) }
      }
    }
    // For each cell, the cables through it, and whether they run horizontally or vertically there.
    var crossed: [Point: [(cable: Int, across: Bool, upright: Bool)]] = [:]
    for (index, route) in diagram.routes.enumerated() {
      guard let from = diagram.frames[cables[index].source],
        let to = diagram.frames[cables[index].destination],
        let first = route.points.first, let last = route.points.last
      else {
        Issue.record("\(name): cable \(index) has no way")
        continue
      }
      #expect(first.column == from.right - 1 && from.contains(first), "\(name)")
      #expect(last.column == to.column && to.contains(last), "\(name)")
      var cells: [Point: (Bool, Bool)] = [:]
      for (a, b) in zip(route.points, route.points.dropFirst()) {
        #expect((a.row == b.row) != (a.column == b.column), "\(name): straight")
        #expect(whole.contains(a) && whole.contains(b), "\(name)")
        for column in min(a.column, b.column)...max(a.column, b.column) {
          for row in min(a.row, b.row)...max(a.row, b.row) {
            let point = Point(column, row)
            let known = cells[point] ?? (false, false)
            cells[point] = (known.0 || a.row == b.row, known.1 || a.column == b.column)
          }
        }
      }
      for (point, way) in cells {
        crossed[point, default: []].append((index, way.0, way.1))
        if point != first, point != last {
          #expect(
            !inside.contains(point), "\(name): cable \(index) runs through a box at \(point)")
        }
      }
    }
    func isRelated(_ a: Int, _ b: Int) -> Bool {
      diagram.routes[a].points.first == diagram.routes[b].points.first
        || diagram.routes[a].points.last == diagram.routes[b].points.last
    }
    for (point, members) in crossed where members.count > 1 {
      for (index, a) in members.enumerated() {
        for b in members[..<index] where !isRelated(a.cable, b.cable) {
          // Through a merge both may be related to a third cable.
          let isJoined = members.contains { isRelated($0.cable, a.cable) && isRelated($0.cable, b.cable) }
          let isCrossing = a.across != a.upright && b.across != b.upright && a.across != b.across
          #expect(
            isCrossing || isJoined, "\(name): \(a.cable) and \(b.cable) run into each other at \(point)")
        }
      }
    }
  }

  @Test func randomGraphsKeepEveryPromise() {
    for seed in UInt64(1)...50 {
      var generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 1...18, using: &generator)
      let (nodes, cables) = random(
        count, edges: .random(in: 0...30, using: &generator), feedback: .random(in: 0...4, using: &generator),
        &generator)
      let diagram = Diagram(nodes: nodes, cables: cables)
      check(diagram, nodes, cables, "seed \(seed)")
      #expect(diagram == Diagram(nodes: nodes, cables: cables), "seed \(seed): the same twice")
    }
  }

  @Test func randomGraphsOnPagesOfEverySizeKeepEveryPromise() {
    for seed in UInt64(1)...150 {
      var generator = SeededGenerator(seed: seed)
      let count = Int.random(in: 1...40, using: &generator)
      let (nodes, cables) = random(
        count, edges: .random(in: 0...2 * count, using: &generator),
        feedback: .random(in: 0...4, using: &generator), span: .random(in: 1...12, using: &generator),
        &generator)
      var options = DiagramOptions()
      options.page = Size(
        columns: .random(in: 10...120, using: &generator), rows: .random(in: 5...40, using: &generator))
      options.rowGap = .random(in: 0...1, using: &generator)
      options.margin = .random(in: 2...5, using: &generator)
      let diagram = Diagram(nodes: nodes, cables: cables, options: options)
      check(diagram, nodes, cables, "seed \(seed)")
      #expect(diagram.columns.joined().sorted() == nodes.map(\.name).sorted(), "seed \(seed)")
      #expect(diagram.islands.joined().elementsEqual(diagram.columns.indices), "seed \(seed)")
    }
  }

  @Test func aChainOfAnyLengthKeepsToItsPage() {
    for columns in 40...130 {
      var options = DiagramOptions()
      options.page = Size(columns: columns, rows: 10)
      let count = 5 + columns % 23
      let nodes = (0..<count).map { box("n\($0)", 3 + $0 % 3, [1], [1]) }
      let lines = (1..<count).map { DiagramCable("n\($0 - 1)", to: "n\($0)") }
      let diagram = Diagram(nodes: nodes, cables: lines, options: options)
      #expect(diagram.size.columns <= columns, "\(count) nodes in \(columns) columns")
    }
  }

  @Test func twoHundredNodesKeepEveryPromise() {
    var generator = SeededGenerator(seed: 200)
    let (nodes, cables) = random(200, edges: 240, feedback: 3, span: 8, &generator)
    check(Diagram(nodes: nodes, cables: cables), nodes, cables, "200 nodes")
  }

  /// After a node is added or removed, the nodes that stay in a column keep their order, since the user sees
  /// the previous diagram.
  /// A front end that lays out for longer than this does not answer its keys: this took a minute once.
  @Test func aHundredChainsIntoOneBoxTakeNoTime() {
    let names = (0..<100).flatMap { chain in (0..<5).map { "n\(chain)x\($0)" } }
    let graph = (0..<100).map { chain in
      (0..<4).map { "n\(chain)x\($0) -> n\(chain)x\($0 + 1)" }.joined(separator: "\n")
        + "\nn\(chain)x4 -> out"
    }
    var options = DiagramOptions()
    options.page = Size(columns: 120, rows: 33)
    let start = Self.processorSeconds
    let diagram = Diagram(
      nodes: (names + ["out"]).map { box($0) }, cables: cables(graph.joined(separator: "\n")),
      options: options)
    #expect(Self.processorSeconds - start < 3)
    #expect(diagram.frames.count == 501)
  }

  /// Processor time of this thread, which other tests do not lengthen.
  private static var processorSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  @Test func aChangeKeepsWhatStays() {
    let nodes = ["keys", "piano", "a", "b", "c", "main", "out"].map { box($0) }
    let graph = cables(
      "keys -> piano\npiano -> a\npiano -> b\npiano -> c\na -> main\nb -> main\nc -> main\nmain -> out")
    let before = Diagram(nodes: nodes, cables: graph)
    let added = Diagram(
      nodes: nodes + [box("new")], cables: graph + cables("piano -> new\nnew -> main"), keeping: before)
    #expect(added.columns == [["keys"], ["piano"], ["a", "b", "c", "new"], ["main"], ["out"]])
    for node in nodes { #expect(added.frames[node.name] == before.frames[node.name], "\(node.name)") }
    let removed = Diagram(
      nodes: nodes.filter { $0.name != "b" },
      cables: graph.filter { $0.source != "b" && $0.destination != "b" },
      keeping: before)
    #expect(removed.columns == [["keys"], ["piano"], ["a", "c"], ["main"], ["out"]])
    for name in ["keys", "piano", "a", "main", "out"] { #expect(removed.frames[name] == before.frames[name]) }
    // And back again.
    #expect(Diagram(nodes: nodes, cables: graph, keeping: removed).columns == before.columns)
  }

  @Test func ordersLeaveNoNeedlessCrossing() {
    // Drawn in the order given, every pair of cables would cross.
    let names = ["a", "b", "c", "d", "e"]
    let nodes = names.map { box($0) } + names.reversed().map { box($0.uppercased()) }
    let diagram = Diagram(nodes: nodes, cables: names.map { DiagramCable($0, to: $0.uppercased()) })
    #expect(diagram.columns[0].map { $0.uppercased() } == diagram.columns[1])
    #expect(diagram.routes.allSatisfy { $0.points.count == 2 })
  }
}

/// A node to lay out: a box with ports on its left and right edges.
public struct DiagramNode: Hashable, Sendable {
  /// Unique among the nodes.
  public var name: String
  public var size: Size
  /// Rows of the input ports on the left edge and of the output ports on the right one, counted from
  /// the box's top row.
  public var inputs: [Int]
  public var outputs: [Int]
  /// Where the user put it: a column of the layout, counted from the left, and a row of a grid as high
  /// as `DiagramOptions.gridRows`. Only the differences between places count.
  public var place: Point?

  public init(_ name: String, size: Size, inputs: [Int] = [], outputs: [Int] = [], place: Point? = nil) {
    self.name = name
    self.size = Size(columns: max(1, size.columns), rows: max(1, size.rows))
    self.inputs = inputs
    self.outputs = outputs
    self.place = place
  }
}

/// A cable from an output port to an input port, by their indices in the nodes' lists.
public struct DiagramCable: Hashable, Sendable {
  public var source: String
  public var output: Int
  public var destination: String
  public var input: Int
  /// Known to close a cycle: it does not pull its destination to the right.
  public var isFeedback: Bool

  public init(
    _ source: String, _ output: Int = 0, to destination: String, _ input: Int = 0, isFeedback: Bool = false
  ) {
    self.source = source
    self.output = output
    self.destination = destination
    self.input = input
    self.isFeedback = isFeedback
  }
}

public struct DiagramOptions: Hashable, Sendable {
  /// Blank rows between boxes in a column.
  public var rowGap = 1
  /// Columns between a box's edge and the first or last line of cables beside it.
  public var margin = 3
  /// Columns from one such line to the next.
  public var trackPitch = 2
  /// Rows of the grid that users place nodes on.
  public var gridRows = 5

  public init() {}
}

/// Boxes and cables with their places.
public struct Diagram: Hashable, Sendable {
  /// A cable's way: points from the source's right edge to the destination's left edge, each straight
  /// across from or above or below the one before.
  public struct Route: Hashable, Sendable {
    public var points: [Point]
    /// Runs below all boxes, back to an earlier column.
    public var isBackward: Bool
    /// A cell of its own just before the destination, for a mark.
    public var endMark: Point
    /// A cell in the middle of its longest straight run across.
    public var middleMark: Point
    /// Cables with the same source share a trunk; those with the same destination merge.
    var trunk: Int
    var target: Int
  }

  public internal(set) var frames: [String: Rect] = [:]
  /// One for each cable, in the order given. A cable of an unknown node has no points.
  public internal(set) var routes: [Route] = []
  public internal(set) var size = Size(columns: 0, rows: 0)
  /// Names by column, from the top.
  public internal(set) var columns: [[String]] = []

  public init() {}

  /// Lays out nodes and routes cables. The order of the nodes decides where nothing else does.
  /// `keeping` is the diagram before a change: what was above stays above unless that crosses cables.
  public init(
    nodes: [DiagramNode], cables: [DiagramCable], options: DiagramOptions = DiagramOptions(),
    keeping previous: Diagram? = nil
  ) {
    var layout = GraphLayout(nodes: nodes, cables: cables, options: options)
    layout.assignColumns()
    layout.insertPasses()
    layout.order(keeping: previous)
    layout.assignRows()
    var router = CableRouter(layout)
    router.assignLanes()
    router.assignTracks()
    self = router.diagram()
  }

  /// The node at a point.
  public func node(at point: Point) -> String? {
    frames.filter { $0.value.contains(point) }.keys.min()
  }

  /// Indices of the cables through a point.
  public func cables(at point: Point) -> [Int] {
    routes.indices.filter { index in
      zip(routes[index].points, routes[index].points.dropFirst()).contains { a, b in
        (min(a.column, b.column)...max(a.column, b.column)).contains(point.column)
          && (min(a.row, b.row)...max(a.row, b.row)).contains(point.row)
      }
    }
  }

  public enum Direction: Hashable, Sendable { case left, right, up, down }

  /// The node that an arrow key leads to: the nearest in that direction, straight ahead before aside.
  public func neighbor(of name: String, _ direction: Direction) -> String? {
    guard let here = frames[name] else { return nil }
    if direction == .up || direction == .down {
      guard let column = columns.first(where: { $0.contains(name) }), let index = column.firstIndex(of: name)
      else { return nil }
      let next = index + (direction == .up ? -1 : 1)
      return column.indices.contains(next) ? column[next] : nil
    }
    guard let own = columns.firstIndex(where: { $0.contains(name) }) else { return nil }
    let middle = here.row * 2 + here.rows
    let others = direction == .left ? Array(columns[..<own].reversed()) : Array(columns[(own + 1)...])
    guard let column = others.first(where: { !$0.isEmpty }) else { return nil }
    func distance(_ other: String) -> Int {
      frames[other].map { abs($0.row * 2 + $0.rows - middle) } ?? Int.max
    }
    return column.min { distance($0) < distance($1) }
  }
}

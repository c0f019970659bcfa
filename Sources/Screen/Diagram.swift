/// A node to lay out: a box with ports on its left and right edges.
public struct DiagramNode: Hashable, Sendable {
  /// Unique among the nodes.
  public var name: String
  /// Size of its box, with the frame.
  public var size: Size
  /// Rows of the input ports on the left edge and of the output ports on the right one, counted from the
  /// box's top row.
  public var inputs: [Int]
  /// Rows of the output ports on the right edge.
  public var outputs: [Int]
  /// The user's position: a column of the layout, counted from the left, and a row of a grid with
  /// `DiagramOptions.gridRows` rows per step. Only the differences between places count.
  public var place: Point?

  /// A node of at least 1 x 1 cells.
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
  /// Name of the source node.
  public var source: String
  /// Index among its outputs.
  public var output: Int
  /// Name of the destination node.
  public var destination: String
  /// Index among its inputs.
  public var input: Int
  /// Closes a cycle, so it does not move its destination to the right.
  public var isFeedback: Bool

  /// A cable between the first ports by default.
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

/// Distances of a diagram.
public struct DiagramOptions: Hashable, Sendable {
  /// Blank rows between boxes in a column.
  public var rowGap = 1
  /// Columns between a box's edge and the nearest track.
  public var margin = 3
  /// Columns between adjacent tracks.
  public var trackPitch = 2
  /// Rows per step of the placement grid.
  public var gridRows = 5

  /// The standard distances.
  public init() {}
}

/// Boxes and cables with their positions.
public struct Diagram: Hashable, Sendable {
  /// Path of a cable: points from the source's right edge to the destination's left edge, connected by
  /// horizontal and vertical lines.
  public struct Route: Hashable, Sendable {
    /// The points.
    public let points: [Point]
    /// Runs below all boxes, back to an earlier column.
    public var isBackward: Bool
    /// A cell used by this cable alone, just before the destination, for a mark.
    public var endMark: Point
    /// A cell in the middle of its longest horizontal line.
    public var middleMark: Point
    /// Cables with the same source share a trunk; those with the same destination merge.
    var trunk: Int
    var target: Int

    /// The smallest rectangle around the points.
    private let bounds: Rect

    init(
      points: [Point], isBackward: Bool, endMark: Point, middleMark: Point, trunk: Int, target: Int
    ) {
      self.points = points
      self.isBackward = isBackward
      self.endMark = endMark
      self.middleMark = middleMark
      self.trunk = trunk
      self.target = target
      bounds = points.reduce(Rect(column: 0, row: 0, columns: 0, rows: 0)) {
        $0.union(Rect(column: $1.column, row: $1.row, columns: 1, rows: 1))
      }
    }

    /// True when a part of it may lie in the area.
    public func crosses(_ area: Rect) -> Bool { bounds.intersects(area) }
  }

  /// Frames of the boxes by node name.
  public internal(set) var frames: [String: Rect] = [:]
  /// One for each cable, in the order given. A cable of an unknown node has no points.
  public internal(set) var routes: [Route] = []
  /// Size of the whole diagram.
  public internal(set) var size = Size(columns: 0, rows: 0)
  /// Names by column, from the top.
  public internal(set) var columns: [[String]] = []

  /// An empty diagram.
  public init() {}

  /// Lays out nodes and routes cables. Where nothing else decides, the order of the nodes does. `keeping`:
  /// the diagram before a change; boxes keep their vertical order unless that causes crossings.
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

  /// Direction of an arrow key.
  public enum Direction: Hashable, Sendable {
    /// Towards that edge of the screen.
    case left, right, up, down
  }

  /// The next node for an arrow key: the nearest in that direction; straight ahead before diagonal.
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

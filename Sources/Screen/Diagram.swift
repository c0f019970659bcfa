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
  /// Size to keep to: a graph that is wider goes on below, in bands; one that is higher, and has several unconnected parts,
  /// has them beside each other. What is still higher scrolls. nil: neither.
  public var page: Size?

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
    /// Runs below the boxes, back to an earlier column.
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
  /// Names by column, from the top; the columns of one band after those of the other.
  public internal(set) var columns: [[String]] = []
  /// Column of the layout of each of `columns`, since some are empty.
  var layoutColumns: [Int] = []
  /// The columns of each unconnected part, where these stand beside each other.
  public internal(set) var islands: [Range<Int>] = []
  /// The value of each node's `place` that would keep it where it is.
  public internal(set) var places: [String: Point] = [:]
  /// True when it has bands or parts beside each other, as it would be larger than its page otherwise.
  public internal(set) var isFolded = false

  /// An empty diagram.
  public init() {}

  /// Lays out nodes and routes cables. Where nothing else decides, the order of the nodes does. `keeping`:
  /// the diagram before a change; boxes keep their vertical order unless that causes crossings.
  public init(
    nodes: [DiagramNode], cables: [DiagramCable], options: DiagramOptions = DiagramOptions(),
    keeping previous: Diagram? = nil
  ) {
    self.init(nodes: nodes, cables: cables, options: options, bands: [0], keeping: previous)
    if let page = options.page, size.columns > page.columns || size.rows > page.rows {
      self = folded(nodes, cables, options, page)
    }
  }

  /// In bands that begin at these columns.
  init(
    nodes: [DiagramNode], cables: [DiagramCable], options: DiagramOptions, bands: [Int],
    keeping previous: Diagram? = nil
  ) {
    var layout = GraphLayout(nodes: nodes, cables: cables, options: options)
    layout.bands = bands
    layout.assignColumns()
    layout.insertPasses()
    layout.order(keeping: previous)
    layout.assignRows()
    var spare = bands.map { _ in 0 }
    // Room below a band for lines that must go around each other; one attempt but for the densest graphs.
    for _ in 0..<4 {
      var router = CableRouter(layout, spare: spare)
      router.assignLanes()
      router.assignTracks()
      self = router.diagram()
      let overflow = router.overflow
      if overflow.allSatisfy({ $0 == 0 }) { break }
      for band in spare.indices { spare[band] += overflow[band] }
    }
  }

  /// With nodes in rows below it, without cables; no arrow key leads to them.
  public func adding(below nodes: [DiagramNode], _ options: DiagramOptions) -> Diagram {
    var result = self
    let width = max(size.columns, options.page?.columns ?? 0)
    let gap = max(1, options.rowGap)
    var place = Point(0, size.rows + gap)
    for node in nodes {
      if place.column > 0, place.column + node.size.columns > width {
        place = Point(0, result.size.rows + gap)
      }
      result.frames[node.name] = Rect(
        column: place.column, row: place.row, columns: node.size.columns, rows: node.size.rows)
      result.size.columns = max(result.size.columns, place.column + node.size.columns)
      result.size.rows = max(result.size.rows, place.row + node.size.rows)
      place.column += node.size.columns + max(1, options.margin)
    }
    return result
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
}

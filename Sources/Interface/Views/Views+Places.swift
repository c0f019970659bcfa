import Patch
import Screen

/// The item at a cell of the screen.
public enum Hit: Sendable, Hashable {
  case nothing
  case node(NodeID)
  case output(PortReference)
  case input(PortReference)
  case cable(Cable.Ends)
  /// A cell of the matrix view: row -1 holds the outputs' gains, column -1 the inputs', and both together the
  /// master.
  case crosspoint(row: Int, column: Int)
  case tab(ViewState.View)
  /// A key of the play bar, by its MIDI number.
  case key(UInt8)
}

extension Views {
  /// The item under the mouse. `cell` is in coordinates of the whole screen.
  public static func hit(
    _ scene: Scene, _ state: ViewState, columns: Int, rows: Int, at cell: Point
  ) -> Hit {
    let frame = ViewFrame(state, columns: columns, rows: rows)
    if let row = frame.tabs, cell.row == row {
      let tab = Tabs.places(state, columns: columns).first {
        (($0.column)..<($0.column + $0.text.count)).contains(cell.column)
      }
      return tab.map { .tab($0.view) } ?? .nothing
    }
    if let bar = frame.playBar, bar.contains(cell) {
      return PlayBar.key(at: cell - bar.origin, state, bar.size).map { .key($0) } ?? .nothing
    }
    guard frame.view.contains(cell) else { return .nothing }
    let place = cell - frame.view.origin
    switch state.view {
    case .graph: return graphHit(scene, state, frame.view.size, at: place)
    case .matrix:
      let found = MatrixView(scene, state, frame.view.size)?.cell(at: place)
      return found.map { .crosspoint(row: $0.row, column: $0.column) } ?? .nothing
    case .printout:
      let line = PrintoutView.line(scene, state, row: place.row, rows: frame.view.rows)
      return line?.node.map { .node($0) } ?? .nothing
    case .trace:
      let entry = TraceView.entry(scene, state, row: place.row, rows: frame.view.rows)
      return entry?.node.map { .node($0) } ?? .nothing
    case .help: return .nothing
    }
  }

  private static func graphHit(_ scene: Scene, _ state: ViewState, _ size: Size, at cell: Point) -> Hit {
    let picture = GraphPicture(scene, state, columns: size.columns, rows: size.rows)
    let place = cell + GraphView.offset(picture, state, size)
    if let id = GraphPicture.id(picture.diagram.node(at: place)) {
      return port(picture, id, at: place) ?? .node(id)
    }
    // Cells beside a port belong to it too, since ports are small.
    for step in [1, -1] {
      if let id = GraphPicture.id(picture.diagram.node(at: place + Point(step, 0))),
        let hit = port(picture, id, at: place + Point(step, 0))
      {
        return hit
      }
    }
    return picture.diagram.cables(at: place).first.map { .cable(picture.wires[$0].ends) } ?? .nothing
  }

  /// The port on the edge of the node's box.
  private static func port(_ picture: GraphPicture, _ id: NodeID, at place: Point) -> Hit? {
    guard let frame = picture.frame(of: id), let index = picture.indexOf[id] else { return nil }
    let row = place.row - frame.row
    if place.column == frame.column, let port = picture.boxes[index].inputs.first(where: { $0.row == row }) {
      return .input(PortReference(id, port.name))
    }
    if place.column == frame.right - 1,
      let port = picture.boxes[index].outputs.first(where: { $0.row == row })
    {
      return .output(PortReference(id, port.name))
    }
    return nil
  }

  /// The next node for an arrow key in the graph view, at this size of the screen.
  public static func neighbour(
    of node: NodeID, _ direction: Diagram.Direction, _ scene: Scene, _ state: ViewState = ViewState(),
    columns: Int = 110, rows: Int = 30
  ) -> NodeID? {
    let picture = picture(scene, state, columns: columns, rows: rows)
    return GraphPicture.id(picture.diagram.neighbor(of: GraphPicture.key(node), direction))
  }

  /// The nodes in reading order: by column of the graph from the left, each from the top.
  public static func order(_ scene: Scene, _ state: ViewState = ViewState()) -> [NodeID] {
    picture(scene, state, columns: 110, rows: 30).diagram.columns.joined().compactMap { GraphPicture.id($0) }
  }

  /// The ports shown in the graph view, in reading order, with their cells on the screen (outside it if the
  /// graph is scrolled). Ports of parameters appear only if a cable or a hint needs them.
  public static func ports(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int)
    -> [(target: ViewState.Hint.Target, place: Point)]
  {
    let frame = ViewFrame(state, columns: columns, rows: rows)
    let picture = picture(scene, state, columns: columns, rows: rows)
    let shift = frame.view.origin - GraphView.offset(picture, state, frame.view.size)
    var found: [(target: ViewState.Hint.Target, place: Point)] = []
    for box in picture.boxes {
      for port in box.inputs.map({ PortReference(box.id, $0.name) }) {
        if let place = picture.place(ofInput: port) { found.append((.input(port), place + shift)) }
      }
      for port in box.outputs.map({ PortReference(box.id, $0.name) }) {
        if let place = picture.place(ofOutput: port) { found.append((.output(port), place + shift)) }
      }
    }
    return found.sorted { $0.place < $1.place }
  }

  /// Width of a cell of the matrix grid at this size of the screen.
  static func gridCellWidth(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) -> Int {
    let size = ViewFrame(state, columns: columns, rows: rows).view.size
    return MatrixView(scene, state, size)?.cellWidth ?? 1
  }

  /// The first visible row and column of the matrix grid.
  static func gridScroll(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) -> (
    row: Int, column: Int
  ) {
    let size = ViewFrame(state, columns: columns, rows: rows).view.size
    return MatrixView(scene, state, size).map { ($0.firstRow, $0.firstColumn) } ?? (0, 0)
  }

  private static func picture(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) -> GraphPicture {
    let view = ViewFrame(state, columns: columns, rows: rows).view
    return GraphPicture(scene, state, columns: view.columns, rows: view.rows)
  }
}

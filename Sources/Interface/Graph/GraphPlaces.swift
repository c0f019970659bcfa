import Patch
import Screen

/// Places of nodes, ports and cables in the graph view, for the mouse and the arrow keys.
enum GraphPlaces {
  /// The item at a cell of the view.
  static func hit(_ scene: Scene, _ state: ViewState, _ size: Size, at cell: Point) -> Hit {
    let picture = GraphPicture(scene, state, columns: size.columns, rows: size.rows)
    if state.graph.showsOverview {
      let nearest = GraphOverview(picture, state, size).box(at: cell)
      return nearest.map { .node(picture.boxes[$0].id) } ?? .nothing
    }
    let place = cell + GraphDrawing.offset(picture, state, size)
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
    // A group's ports are those of its members.
    if !picture.boxes[index].others.isEmpty { return nil }
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
  static func neighbour(
    of node: NodeID, _ direction: Diagram.Direction, _ scene: Scene, _ state: ViewState = ViewState(),
    columns: Int = 110, rows: Int = 30
  ) -> NodeID? {
    let picture = picture(scene, state, columns: columns, rows: rows)
    return GraphPicture.id(picture.diagram.neighbor(of: GraphPicture.key(picture.shown(node)), direction))
  }

  /// The nodes in reading order: by column of the graph from the left, each from the top.
  static func order(_ scene: Scene, _ state: ViewState = ViewState(), columns: Int = 110, rows: Int = 30)
    -> [NodeID]
  {
    picture(scene, state, columns: columns, rows: rows).diagram.columns.joined()
      .compactMap { GraphPicture.id($0) }
  }

  /// The ports shown in the graph view, in reading order, with their cells on the screen (outside it if the
  /// graph is scrolled). Ports of parameters appear only if a cable or a hint needs them.
  static func ports(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int)
    -> [(target: PortHint.Target, place: Point)]
  {
    let frame = ViewFrame(scene, state, columns: columns, rows: rows)
    let picture = picture(scene, state, columns: columns, rows: rows)
    let shift = frame.view.origin - GraphDrawing.offset(picture, state, frame.view.size)
    var found: [(target: PortHint.Target, place: Point)] = []
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

  /// The picture on a screen of this size.
  static func picture(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) -> GraphPicture {
    let view = ViewFrame(scene, state, columns: columns, rows: rows).view
    return GraphPicture(scene, state, columns: view.columns, rows: view.rows)
  }
}

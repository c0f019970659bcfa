import Engine
import Patch
import Screen
import Session
import Synchronization

/// The graph as boxes and wires with their positions, for the graph view, the mouse and the arrow keys. It
/// has the nodes and cables of the patch, and those still audible.
struct GraphPicture {
  struct Wire {
    var ends: Cable.Ends
    var report: CableReport?
    /// The patch's cable, if the engine does not run it (at a placeholder).
    var cable: Cable?
    var isEvents: Bool
    /// State of a cable at another program.
    var outside: Surroundings.CableState?
    /// Loudest channel of its source.
    var peak: Float
  }

  var boxes: [GraphBox] = []
  var wires: [Wire] = []
  var diagram = Diagram()
  private(set) var indexOf: [NodeID: Int] = [:]
  /// Ports show hints.
  private(set) var isHinting = false

  init(_ scene: Scene, _ state: ViewState, columns: Int, rows: Int) {
    // The most detail that fits; if nothing fits, it scrolls.
    guard rows >= 7, columns >= 30 else {
      self.init(scene, state, .small)
      return
    }
    func fits(_ picture: GraphPicture) -> Bool {
      picture.diagram.size.columns <= columns && picture.diagram.size.rows <= rows
    }
    self.init(scene, state, .full)
    guard !fits(self) else { return }
    // Skips attempts that cannot help.
    let tries = boxes.count > 60 ? [13] : [13, 11, 10, 9]
    let compact = GraphPicture(scene, state, .compact(13))
    guard compact.diagram.size.columns < diagram.size.columns else { return }
    self = compact
    for width in tries.dropFirst() where !fits(self) {
      let next = GraphPicture(scene, state, .compact(width))
      if fits(next) { self = next }
    }
  }

  init(_ scene: Scene, _ state: ViewState, _ detail: GraphBox.Detail) {
    let reports = Dictionary(
      scene.report.nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    collectWires(scene, reports)
    var inputs: [NodeID: Set<String>] = [:]
    var outputs: [NodeID: Set<String>] = [:]
    for wire in wires {
      outputs[wire.ends.source.node, default: []].insert(wire.ends.source.port)
      inputs[wire.ends.destination.node, default: []].insert(wire.ends.destination.port)
    }
    if let hints = state.overlay as? PortHints {
      isHinting = true
      for hint in hints.targets {
        switch hint.target {
        case .output(let port): outputs[port.node, default: []].insert(port.port)
        case .input(let port): inputs[port.node, default: []].insert(port.port)
        case .cable: break
        }
      }
    }
    let leaving = scene.report.nodes.filter { scene.patch[$0.id] == nil }
    for id in scene.patch.nodes.keys.map({ $0 }) + leaving.map(\.id) {
      indexOf[id] = boxes.count
      boxes.append(
        GraphBox(
          id, scene, state, report: reports[id], inputs: inputs[id] ?? [], outputs: outputs[id] ?? [],
          detail))
    }
    layOut(detail)
  }

  func frame(of id: NodeID) -> Rect? { diagram.frames[Self.key(id)] }

  static func key(_ id: NodeID) -> String { String(id.raw) }
  static func id(_ key: String?) -> NodeID? { key.flatMap(UInt64.init).map(NodeID.init(raw:)) }

  /// Position of a port on its box's edge, in the diagram's coordinates.
  func place(ofInput port: PortReference) -> Point? {
    guard let index = indexOf[port.node], let frame = frame(of: port.node),
      let place = boxes[index].inputs.firstIndex(where: { $0.name == port.port })
    else { return nil }
    return Point(frame.column, frame.row + boxes[index].inputs[place].row)
  }

  func place(ofOutput port: PortReference) -> Point? {
    guard let index = indexOf[port.node], let frame = frame(of: port.node),
      let place = boxes[index].outputs.firstIndex(where: { $0.name == port.port })
    else { return nil }
    return Point(frame.right - 1, frame.row + boxes[index].outputs[place].row)
  }

  // MARK: Cables

  private mutating func collectWires(_ scene: Scene, _ reports: [NodeID: NodeReport]) {
    var seen: Set<Cable.Ends> = []
    let named = Dictionary(grouping: scene.report.nodes.map { ($0.name, $0.id) }, by: \.0)
    for node in scene.report.nodes {
      for port in node.inputs {
        for cable in port.cables {
          guard let source = Self.source(of: cable, named[cable.from]?.map(\.1) ?? [], scene) else {
            continue
          }
          let ends = Cable.Ends(PortReference(source, cable.fromPort), PortReference(node.id, port.name))
          guard seen.insert(ends).inserted else { continue }
          wires.append(
            Wire(
              ends: ends, report: cable, cable: scene.patch.cables[ends], isEvents: port.isEvents,
              peak: Self.peak(ends.source, reports)))
        }
      }
    }
    for cable in scene.patch.orderedCables(catalogue: scene.catalogue) where !seen.contains(cable.ends) {
      let outside = scene.outsideCables[cable.ends]
      let isEvents =
        scene.isEvents(output: cable.ends.source)
        ?? (outside == nil ? nil : scene.isEvents(input: cable.ends.destination))
      wires.append(
        Wire(
          ends: cable.ends, report: nil, cable: cable, isEvents: isEvents ?? false, outside: outside,
          peak: Self.peak(cable.ends.source, reports)))
    }
  }

  /// The source of a cable, which the report gives by name. While a node replaces another of the same name,
  /// cables that fade out belong to the leaving one.
  private static func source(of cable: CableReport, _ named: [NodeID], _ scene: Scene) -> NodeID? {
    guard named.count > 1 else { return named.first }
    let isLeaving: Bool
    if case .fadingOut = cable.state { isLeaving = true } else { isLeaving = false }
    return named.first { (scene.patch[$0] == nil) == isLeaving } ?? named[0]
  }

  private static func peak(_ port: PortReference, _ reports: [NodeID: NodeReport]) -> Float {
    reports[port.node]?.outputs.first { $0.name == port.port }?.peaks.max() ?? 0
  }

  private mutating func layOut(_ detail: GraphBox.Detail) {
    var options = DiagramOptions()
    options.margin = detail == .full ? 3 : 2
    options.trackPitch = detail == .full ? 2 : 1
    options.rowGap = detail == .small ? 0 : 1
    // Room for two letters at each end.
    if isHinting { options.margin = 5 }
    let cables = wires.map { wire in
      DiagramCable(
        Self.key(wire.ends.source.node), port(wire.ends.source, \.outputs),
        to: Self.key(wire.ends.destination.node), port(wire.ends.destination, \.inputs),
        isFeedback: wire.report?.isFeedback ?? false)
    }
    diagram = DiagramMemo.diagram(diagramNodes, cables, options)
    // Boxes in a column have equal width.
    var isRagged = false
    for column in diagram.columns {
      let indices = column.compactMap { Self.id($0).flatMap { indexOf[$0] } }
      let widest = indices.map { boxes[$0].size.columns }.max() ?? 0
      for index in indices where boxes[index].size.columns < widest {
        boxes[index].size.columns = widest
        isRagged = true
      }
    }
    if isRagged { diagram = DiagramMemo.diagram(diagramNodes, cables, options) }
  }

  private var diagramNodes: [DiagramNode] {
    boxes.map { box in
      DiagramNode(
        Self.key(box.id), size: box.size, inputs: box.inputs.map(\.row), outputs: box.outputs.map(\.row),
        place: box.place.map { Point($0.column, $0.row) })
    }
  }

  private func port(_ port: PortReference, _ side: KeyPath<GraphBox, [GraphBox.Port]>) -> Int {
    guard let box = indexOf[port.node] else { return 0 }
    return boxes[box][keyPath: side].firstIndex { $0.name == port.port } ?? 0
  }
}

/// Cache of recent diagrams: most frames show the graph of the frame before, and the mouse and the arrow keys
/// need it again. A cached diagram equals a new one.
private enum DiagramMemo {
  private struct Key: Hashable {
    var nodes: [DiagramNode]
    var cables: [DiagramCable]
    var options: DiagramOptions
  }

  private static let known = Mutex<[Key: Diagram]>([:])

  static func diagram(_ nodes: [DiagramNode], _ cables: [DiagramCable], _ options: DiagramOptions) -> Diagram
  {
    let key = Key(nodes: nodes, cables: cables, options: options)
    if let diagram = known.withLock({ $0[key] }) { return diagram }
    let diagram = Diagram(nodes: nodes, cables: cables, options: options)
    known.withLock { known in
      if known.count >= 16 { known.removeAll() }
      known[key] = diagram
    }
    return diagram
  }
}

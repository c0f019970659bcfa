import Engine
import Patch
import Screen
import Synchronization

/// Cache of the pictures of the present patch and plan, by detail: levels change with every frame, all else rarely.
enum PictureMemo {
  struct Key {
    private let form: ReportForm
    private let revision: Revision
    private let surroundings: Int
    private let groups: [GraphGroup]
    private let inside: String?
    private let layout: KeptLayout.Key
    private let widths: Int?
    let detail: GraphDetail
    let page: Size

    /// nil where a picture is not kept: for a report that no engine made, and with hints.
    init?(_ scene: Scene, _ state: ViewState, _ detail: GraphDetail, _ page: Size) {
      guard let form = scene.report.form, !(state.overlay is PortHints) else { return nil }
      (self.form, revision, surroundings) = (form, scene.patch.revision, scene.surroundings)
      (groups, self.detail, self.page) = (state.graph.groups, detail, page)
      inside = state.graph.inside
      (layout, widths) = (state.layoutKey, state.layout?.widths.number)
    }

    func isSame(as other: Key) -> Bool {
      isOfSameScene(as: other) && detail == other.detail && page == other.page
    }

    func isOfSameScene(as other: Key) -> Bool {
      form === other.form && revision === other.revision && surroundings == other.surroundings
        && groups == other.groups && inside == other.inside && layout == other.layout
        && widths == other.widths
    }
  }

  private static let known = Mutex<[(key: Key, picture: GraphPicture)]>([])

  static func picture(_ key: Key) -> GraphPicture? {
    known.withLock { $0.first { $0.key.isSame(as: key) }?.picture }
  }

  static func keep(_ picture: GraphPicture, _ key: Key) {
    known.withLock { known in
      known.removeAll { $0.key.isSame(as: key) || !$0.key.isOfSameScene(as: key) }
      if known.count > 7 { known.removeFirst() }
      known.append((key, picture))
    }
  }

  // MARK: Choices

  /// The detail that was chosen for a size, until a box has another form.
  private static let choices = Mutex<[Key]>([])

  static func choice(_ scene: Scene, _ state: ViewState, _ size: Size) -> GraphDetail? {
    guard let key = Key(scene, state, .full, size) else { return nil }
    return choices.withLock { $0.first { $0.page == size && $0.isOfSameScene(as: key) }?.detail }
  }

  static func keepChoice(_ scene: Scene, _ state: ViewState, _ size: Size, _ detail: GraphDetail) {
    guard let key = Key(scene, state, detail, size) else { return }
    choices.withLock { choices in
      choices.removeAll { $0.page == size || !$0.isOfSameScene(as: key) }
      choices.append(key)
    }
  }

  static func forgetChoices() { choices.withLock { $0 = [] } }
}

/// Cache of recent diagrams: most frames show the graph of the frame before, and the mouse and the arrow keys
/// need it again. A cached diagram equals a new one.
enum DiagramMemo {
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

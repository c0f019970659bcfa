import Engine
import Patch
import Screen

/// Amount of detail in the graph's boxes.
enum GraphDetail: Hashable, Sendable {
  case full
  /// Fewer lines, and at most this many columns of text.
  case compact(Int)
  /// Name and kind only.
  case small
  /// A mark and the first letters of the name.
  case dot

  /// Maximum columns of text in a box.
  var columns: Int {
    switch self {
    case .full: 22
    case .compact(let columns): columns
    case .small: 12
    case .dot: 8
    }
  }

  /// The levels that the zoom keys lead through, from near to far.
  static let levels: [GraphDetail] = [.full, .small, .dot]
}

/// Nodes that are shown as one box, by their identities and names: a replacement has another identity.
struct GraphGroup: Sendable, Hashable {
  var members: [NodeID: String]
}

/// How the graph is shown on a screen, until a zoom key, another size of the screen or another file.
struct KeptLayout: Sendable {
  struct Key: Sendable, Hashable {
    var screen: Size
    var isPlaying: Bool
  }

  /// Size that it keeps to: that of the view without the inspector.
  var page: Size
  /// The detail that fitted.
  var detail: GraphDetail
  var widths = KeptWidths()
}

/// Widths of boxes as they were first shown at a level of detail. What a box itself needs may be more.
struct KeptWidths: Sendable {
  private(set) var columns: [NodeID: Int] = [:]
  /// Names of the nodes that have them.
  private var names: [NodeID: String] = [:]
  private(set) var detail: GraphDetail?
  /// Differs after each change.
  private(set) var number = 0

  func width(of id: NodeID, at detail: GraphDetail) -> Int? { detail == self.detail ? columns[id] : nil }

  /// A node that replaces another is as wide as that, so that no box beside it moves.
  mutating func handOver(to patch: Patch) {
    let known = columns
    for (old, name) in names where patch[old] == nil {
      guard let new = patch.id(named: name), columns[new] == nil, let width = columns[old] else { continue }
      columns[new] = width
    }
    if columns != known { number += 1 }
  }

  /// Notes the widths of new boxes, and forgets those of boxes that are gone.
  mutating func keep(_ widths: [NodeID: Int], at detail: GraphDetail, in patch: Patch) {
    let kept =
      detail == self.detail ? widths.merging(columns.filter { widths[$0.key] != nil }) { $1 } : widths
    names = Dictionary(
      kept.keys.compactMap { id in patch[id].map { (id, $0.name) } }, uniquingKeysWith: { first, _ in first })
    guard kept != columns || detail != self.detail else { return }
    (columns, self.detail) = (kept, detail)
    number += 1
  }
}

/// State of the graph view.
public struct GraphState: Sendable {
  /// The level that the user chose; nil: as much detail as fits.
  var zoom: GraphDetail?
  /// The level of detail that was chosen when the graph was first shown on a screen, by screen and mode. It stays, so that no
  /// box changes its size because another one is added, or because the inspector or the first control takes some rows.
  var layouts: [KeptLayout.Key: KeptLayout] = [:]
  /// The file that they are of.
  var layoutsOf: String?
  /// The whole graph is shown, with the window in it.
  var showsOverview = false
  /// Path of the sub-patch whose inside is shown; nil: the patch itself.
  var inside: String?
  /// Sets of nodes that are shown as one box.
  var groups: [GraphGroup] = []
  /// The window stays where it was scrolled to, even if the focused box is outside.
  var isScrolledFreely = false
  /// Focus, size and zoom for which the scroll position was last calculated.
  var scrolledFor: ScrollKey?

  /// Facts that the window follows.
  struct ScrollKey {
    var focus: NodeID?
    var size: Size
    var zoom: GraphDetail?
    var revision: Revision

    func isSame(as other: ScrollKey) -> Bool {
      focus == other.focus && size == other.size && zoom == other.zoom && revision === other.revision
    }
  }

  /// Facts that the widths follow.
  struct WidthKey {
    var layout: KeptLayout.Key
    var revision: Revision
    var form: ReportForm?
    var detail: GraphDetail
    var groups: [GraphGroup]
    var inside: String?

    func isSame(as other: WidthKey) -> Bool {
      revision === other.revision && form === other.form && layout == other.layout && detail == other.detail
        && groups == other.groups && inside == other.inside
    }
  }
  /// The patch that has all marked nodes.
  var markedIn: Revision?
  /// Facts for which the widths were last noted.
  var widthsFor: WidthKey?

  /// Nodes outside of the sub-patch that is shown.
  func absent(_ patch: Patch) -> Set<NodeID> {
    guard let inside else { return [] }
    return Set(patch.nodes.values.lazy.filter { !NodePath.isInside($0.name, inside) }.map(\.id))
  }

  /// The sub-patch whose box stands for a node of that name; nil: it has a box of its own.
  func box(of name: String) -> String? {
    let start = inside.map { $0.utf8.count + 1 } ?? 0
    guard name.utf8.count > start, inside.map({ NodePath.isInside(name, $0) }) ?? true,
      let slash = name.utf8.dropFirst(start).firstIndex(of: UInt8(ascii: "/"))
    else { return nil }
    return String(name[..<slash])
  }

  /// The node whose box stands for a node's group or sub-patch, and the other members' nodes; by member.
  func hidden(_ patch: Patch) -> [NodeID: NodeID] {
    var found: [NodeID: NodeID] = [:]
    for node in patch.nodes.values {
      guard let box = box(of: node.name), let id = patch.id(named: box) else { continue }
      found[node.id] = id
      found[id] = id
    }
    for group in groups {
      let members = patch.nodes.keys.filter { group.members[$0] != nil }
      guard members.count > 1 else { continue }
      for member in members { found[member] = members[0] }
    }
    // A sub-patch may be in a group.
    for (member, id) in found { if let group = found[id], group != id { found[member] = group } }
    return found
  }
}

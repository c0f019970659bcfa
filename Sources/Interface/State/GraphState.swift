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

/// State of the graph view.
public struct GraphState: Sendable {
  /// The level that the user chose; nil: as much detail as fits.
  var zoom: GraphDetail?
  /// The detail that fitted when the graph was first shown at a size. It stays, so that no box changes its size because another
  /// one is added.
  var fits: [Size: GraphDetail] = [:]
  /// The file that they are of.
  var fitsOf: String?
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

import OrderedCollections

/// The document: nodes and the cables between them, as a value. Copying is cheap, since a modified copy
/// shares what stays the same. Comparison is exact: identities, order and comments included.
///
/// Invariants: names are unique; each cable joins ports of nodes in the patch; a setting is stored only if it
/// differs from its kind's default or has a comment.
public struct Patch: Sendable {
  /// Nodes in file order.
  public private(set) var nodes = NodeTable()
  /// Cables by their two ports.
  public private(set) var cables: ShardedDictionary<Cable.Ends, Cable> = ShardedDictionary()
  /// Settings of the patch as a whole: tempo, meter, transport, controls.
  public internal(set) var settings = PatchSettings()
  /// Stored states, by their numbers.
  public internal(set) var scenes: [Int: PatchScene] = [:]
  /// Comments at the head of the file.
  public internal(set) var header: [String] = []
  /// Comments at the end of the file.
  public internal(set) var footer: [String] = []

  // Indices derived from nodes and cables, to avoid scans.
  private(set) var idsByName: ShardedDictionary<String, NodeID> = ShardedDictionary()
  private(set) var incoming: ShardedDictionary<NodeID, CableList> = ShardedDictionary()
  private(set) var outgoing: ShardedDictionary<NodeID, CableList> = ShardedDictionary()
  /// Nodes directly inside a sub-patch, by its path.
  private(set) var inside: ShardedDictionary<String, [NodeID]> = ShardedDictionary()
  /// Parts changed so far, while an edit is applied.
  var touched: Touched?
  /// Differs between states.
  package internal(set) var revision = Revision()
  /// Only ever grows, even by undo: a node that is fading out keeps its identity to itself.
  var nextID: UInt64 = 1

  /// An empty patch.
  public init() {}

  /// The node with this identity.
  public subscript(_ id: NodeID) -> Node? { nodes[id] }
  /// The node of that name.
  public subscript(named name: String) -> Node? { idsByName[name].flatMap { nodes[$0] } }
  /// The identity of the node of that name.
  public func id(named name: String) -> NodeID? { idsByName[name] }

  /// Names of the nodes, in file order.
  public var names: [String] { nodes.values.map(\.name) }
}

extension Patch: Hashable {
  /// Exact: identities, order and comments included.
  public static func == (a: Self, b: Self) -> Bool {
    a.nodes == b.nodes && a.cables == b.cables && a.settings == b.settings && a.scenes == b.scenes
      && a.header == b.header && a.footer == b.footer
  }

  /// Hashes the whole document.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(nodes)
    hasher.combine(cables)
    hasher.combine(settings)
    hasher.combine(scenes)
    hasher.combine(header)
    hasher.combine(footer)
  }
}

extension Patch {
  /// The same document with identities numbered from 1 in file order: equal for two patches with the same
  /// canonical file.
  public var withPlainIdentities: Patch {
    var result = Patch()
    var fresh: [NodeID: NodeID] = [:]
    for node in nodes.values {
      let id = NodeID(raw: result.nextID)
      result.nextID += 1
      fresh[node.id] = id
      result.attach(node.with(id: id), at: nil)
    }
    for cable in cables.values {
      guard let source = fresh[cable.ends.source.node], let destination = fresh[cable.ends.destination.node]
      else {
        continue
      }
      var cable = cable
      cable.ends.source.node = source
      cable.ends.destination.node = destination
      result.plug(cable)
    }
    result.settings = settings
    result.scenes = scenes
    result.header = header
    result.footer = footer
    return result
  }
}

/// Primitive changes, from which edits are made; each keeps the derived tables up to date.
extension Patch {
  /// Reserves capacity, so that a large file is not rehashed as it grows.
  package mutating func reserve(nodes nodeCount: Int, cables cableCount: Int) {
    nodes.reserveCapacity(nodeCount)
    idsByName.reserveCapacity(nodeCount)
    incoming.reserveCapacity(nodeCount)
    outgoing.reserveCapacity(nodeCount)
    cables.reserveCapacity(cableCount)
  }

  mutating func update(_ id: NodeID, _ change: (inout Node) -> Void) {
    touched?.nodes.append(id)
    nodes.update(id, change)
  }

  mutating func update(_ ends: Cable.Ends, _ change: (inout Cable) -> Void) {
    guard var cable = cables[ends] else { return }
    touched?.cables.append(ends)
    change(&cable)
    cables[ends] = cable
  }

  mutating func rename(_ id: NodeID, to name: String) {
    if let old = nodes[id]?.name {
      idsByName[old] = nil
      leave(id, named: old)
    }
    idsByName[name] = id
    enter(id, named: name)
    update(id) { $0.name = name }
  }

  mutating func move(_ id: NodeID, before next: NodeID?) {
    touched?.nodes.append(id)
    nodes.move(id, before: next)
  }

  mutating func freshID() -> NodeID {
    defer { nextID += 1 }
    return NodeID(raw: nextID)
  }

  mutating func attach(_ node: Node, at index: Int?) {
    touched?.nodes.append(node.id)
    nextID = max(nextID, node.id.raw &+ 1)
    idsByName[node.name] = node.id
    enter(node.id, named: node.name)
    nodes.insert(node, at: index)
  }

  private mutating func enter(_ id: NodeID, named name: String) {
    guard let container = NodePath.container(of: name) else { return }
    inside.update(container, default: []) { $0.append(id) }
  }

  private mutating func leave(_ id: NodeID, named name: String) {
    guard let container = NodePath.container(of: name) else { return }
    if inside[container] == [id] {
      inside[container] = nil
    } else {
      inside.update(container, default: []) { $0.removeAll { $0 == id } }
    }
  }

  /// Removes the node and its cables. Its own cable lists are dropped as a whole: searching a list of
  /// thousands once per cable would be slow.
  mutating func detach(_ id: NodeID) {
    touched?.nodes.append(id)
    touched?.cables.append(contentsOf: incoming[id] ?? [])
    touched?.cables.append(contentsOf: outgoing[id] ?? [])
    for ends in incoming.removeValue(forKey: id) ?? [] {
      cables[ends] = nil
      if ends.source.node != id { Self.drop(ends, from: &outgoing, at: ends.source.node) }
    }
    for ends in outgoing.removeValue(forKey: id) ?? [] where ends.destination.node != id {
      cables[ends] = nil
      Self.drop(ends, from: &incoming, at: ends.destination.node)
    }
    if let node = nodes.remove(id) {
      idsByName[node.name] = nil
      leave(id, named: node.name)
    }
  }

  /// Adds the cable, or changes the one between the same ports.
  mutating func plug(_ cable: Cable) {
    touched?.cables.append(cable.ends)
    if cables.updateValue(cable, forKey: cable.ends) == nil {
      incoming.update(cable.ends.destination.node, default: []) { $0.append(cable.ends) }
      outgoing.update(cable.ends.source.node, default: []) { $0.append(cable.ends) }
    }
  }

  mutating func unplug(_ ends: Cable.Ends) {
    guard cables.removeValue(forKey: ends) != nil else { return }
    touched?.cables.append(ends)
    Self.drop(ends, from: &incoming, at: ends.destination.node)
    Self.drop(ends, from: &outgoing, at: ends.source.node)
  }

  private static func drop(
    _ ends: Cable.Ends, from table: inout ShardedDictionary<NodeID, CableList>, at id: NodeID
  ) {
    if table[id]?.count == 1 {
      table[id] = nil
    } else {
      table.update(id, default: []) { $0.remove(ends) }
    }
  }
}

/// Nodes and cables that an edit may have added, changed or removed. Followers of the patch need not look at
/// others.
public struct Touched: Sendable {
  /// The revision before the change.
  package let since: Revision
  /// Identities of the nodes, present or removed.
  public internal(set) var nodes: OrderedSet<NodeID> = []
  /// Ports of the cables, present or removed.
  public internal(set) var cables: OrderedSet<Cable.Ends> = []

  init(since: Revision) { self.since = since }

  /// Nodes to be looked at again although the patch is the same: their kind has changed.
  package init(again nodes: [NodeID], in patch: Patch) {
    since = patch.revision
    self.nodes = OrderedSet(nodes)
  }

  /// Adds nodes that are to be looked at again.
  package mutating func add(_ more: some Sequence<NodeID>) { nodes.append(contentsOf: more) }

  /// The difference between two patches; nodes in file order of the newer one.
  package init(from old: Patch, to new: Patch) {
    since = old.revision
    if old.revision === new.revision { return }
    if old.nodes.isEmpty {
      nodes.reserveCapacity(new.nodes.count)
      cables.reserveCapacity(new.cables.count)
      for node in new.nodes.values {
        nodes.append(node.id)
        for ends in new.incoming[node.id] ?? [] { cables.append(ends) }
      }
      return
    }
    for node in new.nodes.values {
      if old.nodes[node.id] != node { nodes.append(node.id) }
      // In processing order, so that they will be adjacent in memory.
      for ends in new.incoming[node.id] ?? [] where old.cables[ends] != new.cables[ends] {
        cables.append(ends)
      }
    }
    for id in old.nodes.keys where new.nodes[id] == nil { nodes.append(id) }
    for ends in old.cables.keys where new.cables[ends] == nil { cables.append(ends) }
  }
}

/// Identity of a patch state: two patches of one revision are equal.
package final class Revision: Sendable {}

extension Patch {
  /// The cables at a node, in both directions.
  package func cables(at id: NodeID) -> [Cable.Ends] { Array(incoming[id] ?? []) + (outgoing[id] ?? []) }
}

/// One undoable change of a patch. It speaks of names only, as the language does; identities appear
/// where undo brings a node back.
public indirect enum Edit: Hashable, Sendable {
  /// A node whose identity is 0 is given a fresh one. `before`: the node that follows it in the file.
  case add(Node, before: String?)
  /// With its cables. `bridge`: each source of its inputs is joined to each destination of its outputs.
  /// `tail`: what it still has to say is heard to its end.
  case remove(String, bridge: Bool, tail: Bool = false)
  /// Another node under the same name, with its cables and place. Cables whose port the new kind lacks
  /// go to the first that fits, else they go.
  case replace(String, with: Node)
  /// A new node in the middle of a cable.
  case insert(Node, into: CableName)
  case rename(String, to: String)
  /// To another place in the file: in front of the node `before`; nil: to the end.
  case move(String, before: String?)
  /// Connecting what is connected changes the gain (decibels), map and mixing.
  case connect(CableName, gain: Double, map: ChannelMap?, mixing: ChannelMixing)
  case disconnect(CableName)
  /// nil: back to the default. `over`: seconds that the change takes.
  case set(String, ParameterPath, Value?, over: Double?)
  /// The same for every setting that a range names.
  case setRange(String, ParameterRange, Value?, over: Double?)
  /// Crosspoints of a matrix by a preset's name.
  case matrix(String, MatrixChange, over: Double?)
  case comment(Subject, Comments)
  /// Where the box stands on the screen; never reaches the engine.
  case place(String, Place?)
  /// All or nothing, one undo.
  case all([Edit])

  /// A cable at unity with no map.
  public static func connect(_ name: CableName) -> Edit {
    .connect(name, gain: 0, map: nil, mixing: .speakers)
  }
}

/// What an edit did.
public struct Change: Sendable {
  public var patch: Patch
  /// Brings back exactly the patch before, identities, order and comments included.
  public var inverse: Edit
  /// Parameters that shall take their time.
  public var ramps: [(node: NodeID, path: ParameterPath, seconds: Double)]
  /// Removed nodes that shall ring out.
  public var tails: [NodeID]
  /// Only comments or places changed: nothing that sounds.
  public var isSilent: Bool
  public var touched: Touched
}

extension Change {
  /// Both changes as one for whoever follows the patch, with this one's inverse.
  func following(_ earlier: Change) -> Change {
    var both = self
    both.ramps = earlier.ramps + ramps
    both.tails = earlier.tails + tails
    both.isSilent = earlier.isSilent && isSilent
    both.touched = earlier.touched
    both.touched.nodes.append(contentsOf: touched.nodes)
    both.touched.cables.append(contentsOf: touched.cables)
    return both
  }
}

extension Patch {
  /// The patch after `edit`, or why it is refused. The receiver stays as it is.
  public func applying(_ edit: Edit, catalogue: KindCatalogue) throws(EditError) -> Change {
    try applying(edit, catalogue: catalogue, acceptsUnknownKinds: false)
  }

  /// The same; nodes of kinds that nobody knows may become placeholders, as in a file.
  public func applying(
    _ edit: Edit, catalogue: KindCatalogue, acceptsUnknownKinds: Bool
  ) throws(EditError) -> Change {
    var draft = Draft(patch: self, catalogue: catalogue)
    draft.acceptsUnknownKinds = acceptsUnknownKinds
    draft.patch.touched = Touched(since: revision)
    let inverse = try draft.perform(edit)
    let touched = draft.patch.touched ?? Touched(since: revision)
    draft.patch.touched = nil
    return Change(
      patch: draft.patch, inverse: inverse, ramps: draft.ramps, tails: draft.tails,
      isSilent: draft.isSilent, touched: touched)
  }
}

/// A patch being changed.
package struct Draft {
  package var patch: Patch
  package let catalogue: KindCatalogue
  package var ramps: [(node: NodeID, path: ParameterPath, seconds: Double)] = []
  package var tails: [NodeID] = []
  package var isSilent = true
  /// A file may name kinds that nobody knows; a person at the prompt may not.
  package var acceptsUnknownKinds = false

  package init(patch: Patch, catalogue: KindCatalogue) {
    self.patch = patch
    self.patch.revision = Revision()
    self.catalogue = catalogue
  }

  /// Changes the patch, and says how to go back. After a refusal the draft is of no use.
  package mutating func perform(_ edit: Edit) throws(EditError) -> Edit { try edit.verbs.perform(on: &self) }

  /// Changes the patch for good.
  package mutating func apply(_ edit: Edit) throws(EditError) { try edit.verbs.apply(to: &self) }
}

/// What each kind of edit can do, one file each.
protocol EditVerbs {
  func apply(to draft: inout Draft) throws(EditError)
  /// The edit that undoes this one; asked before it is applied.
  func inverse(in draft: Draft) throws(EditError) -> Edit
  /// One line of the edit language.
  func describe() -> String
  /// Both: applies, and returns the inverse.
  func perform(on draft: inout Draft) throws(EditError) -> Edit
}

extension EditVerbs {
  func perform(on draft: inout Draft) throws(EditError) -> Edit {
    let inverse = try inverse(in: draft)
    try apply(to: &draft)
    return inverse
  }
}

extension Edit {
  var verbs: any EditVerbs {
    switch self {
    case .add(let node, let before): AddNode(node: node, before: before)
    case .remove(let name, let bridge, let tail): RemoveNode(name: name, bridge: bridge, tail: tail)
    case .replace(let name, let node): ReplaceNode(name: name, node: node)
    case .insert(let node, let cable): InsertNode(node: node, cable: cable)
    case .rename(let name, let newName): RenameNode(name: name, newName: newName)
    case .move(let name, let before): MoveNode(name: name, before: before)
    case .connect(let name, let gain, let map, let mixing):
      Connect(name: name, gain: gain, map: map, mixing: mixing)
    case .disconnect(let name): Disconnect(name: name)
    case .set(let name, let path, let value, let over):
      SetParameter(name: name, path: path, value: value, over: over)
    case .setRange(let name, let range, let value, let over):
      SetRange(name: name, range: range, value: value, over: over)
    case .matrix(let name, let change, let over): ChangeMatrix(name: name, change: change, over: over)
    case .comment(let subject, let comments): SetComment(subject: subject, comments: comments)
    case .place(let name, let place): PlaceNode(name: name, place: place)
    case .all(let edits): AllOf(edits: edits)
    }
  }

  /// One line of the edit language; reading it gives an edit that does the same.
  public var line: String { verbs.describe() }

  static func joined(_ edits: [Edit]) -> Edit { edits.count == 1 ? edits[0] : .all(edits) }
}

extension Edit: CustomStringConvertible {
  public var description: String { line }
}

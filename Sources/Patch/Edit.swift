/// One undoable change of a patch. It uses names only, as the language does; identities appear only where
/// undo restores a node.
public indirect enum Edit: Hashable, Sendable {
  /// Adds a node. Identity 0 stands for a new one. `before`: the node that follows it in the file.
  case add(Node, before: String?)
  /// Removes a node with its cables. `bridge`: each source of its inputs is connected to each destination of
  /// its outputs. `tail`: it rings out.
  case remove(String, bridge: Bool, tail: Bool = false)
  /// Replaces a node by another one of the same name, with its cables and place. A cable into a parameter that the new kind
  /// lacks is removed; another one whose port it lacks moves to the first fitting port, if there is one.
  case replace(String, with: Node)
  /// Inserts a new node into a cable.
  case insert(Node, into: CableName)
  /// Adds a node with the kind and settings of another one, without its cables.
  case copy(String, to: String)
  /// Gives a node another name; cables and settings keep it.
  case rename(String, to: String)
  /// Moves a node in the file to the place before the node `before`; nil: to the end.
  case move(String, before: String?)
  /// Connects two ports; an existing cable gets these settings.
  case connect(CableName, CableSettings)
  /// Removes a cable.
  case disconnect(CableName)
  /// Removes every cable of a node.
  case isolate(String)
  /// nil: back to the default. `over`: duration of the change in seconds.
  case set(String, ParameterPath, Value?, over: Double?)
  /// The same for every setting in a range.
  case setRange(String, ParameterRange, Value?, over: Double?)
  /// Applies a named preset to the crosspoints of a matrix.
  case matrix(String, MatrixChange, over: Double?)
  /// Sets the comments of a line; empty ones remove them.
  case comment(Subject, Comments)
  /// Position of the box on the screen; never reaches the engine.
  case place(String, Place?)
  /// A setting of the patch as a whole: tempo, meter, transport, a control.
  case setPatch(PatchSetting)
  /// Stores, changes or removes a scene; never reaches the engine.
  case scene(Int, SceneChange)
  /// Leads to the state of a scene. `over`: seconds of moves and crossfades; nil: those of every edit.
  case recall(Int, over: Double?)
  /// Moves values to a place between two scenes, 0...100 percent.
  case morph(Morph, percent: Double, over: Double?)
  /// Puts nodes into a new sub-patch of that name.
  case collapse([String], into: String)
  /// Puts what is inside a sub-patch in its place.
  case expand(String)
  /// Seconds of the crossfades of the edits with which it is joined.
  case fade(Double)
  /// Several edits as one: all or nothing, one undo.
  case all([Edit])

  /// A cable at unity without a map.
  public static func connect(_ name: CableName) -> Edit {
    .connect(name, CableSettings())
  }
}

/// Result of an applied edit.
public struct Change: Sendable {
  /// The patch after the edit.
  public var patch: Patch
  /// The edit that restores exactly the patch before, identities, order and comments included.
  public var inverse: Edit
  /// Parameters that move to their value over a given time; and orders that are given again, in no time.
  public var ramps: [(node: NodeID, path: ParameterPath, seconds: Double)]
  /// Removed nodes that ring out.
  public var tails: [NodeID]
  /// Seconds of its crossfades; nil: as usual.
  public var fade: Double?
  /// Only comments or places changed, nothing audible.
  public var isSilent: Bool
  /// Parts of the patch that may have changed.
  public var touched: Touched
  /// Connections on the server that it ends, though they are no part of the patch; when the change is an undo, those that
  /// it makes again.
  public var ended: [CableName]
}

extension Change {
  /// The change that a draft went through since the revision `since`.
  init(_ draft: Draft, inverse: Edit, since: Revision) {
    patch = draft.patch
    patch.touched = nil
    self.inverse = inverse
    ramps = draft.ramps
    tails = draft.tails
    fade = draft.fade
    isSilent = draft.isSilent
    touched = draft.patch.touched ?? Touched(since: since)
    ended = draft.ended
  }

  /// Combines both changes into one, with this one's inverse.
  func following(_ earlier: Change) -> Change {
    var both = self
    both.ramps = earlier.ramps + ramps
    both.tails = earlier.tails + tails
    both.fade = fade ?? earlier.fade
    both.isSilent = earlier.isSilent && isSilent
    both.touched = earlier.touched
    both.touched.nodes.append(contentsOf: touched.nodes)
    both.touched.cables.append(contentsOf: touched.cables)
    return both
  }
}

extension Patch {
  /// The patch after `edit`; throws the reason if it is refused. The receiver does not change. An edit of a sub-patch is
  /// one of what is inside too, and of the sub-patches that share its file.
  public func applying(_ edit: Edit, catalogue: KindCatalogue) throws(EditError) -> Change {
    try applying(edit, catalogue: catalogue, acceptsUnknownKinds: false)
  }

  /// The same; nodes of unknown kinds may become placeholders, as in a file.
  public func applying(
    _ edit: Edit, catalogue: KindCatalogue, acceptsUnknownKinds: Bool
  ) throws(EditError) -> Change {
    try applyingCanonically(edit, catalogue: catalogue, acceptsUnknownKinds: acceptsUnknownKinds).change
  }

  /// The patch after an edit that says all that happens, such as the inverse of another one.
  public func applying(exactly edit: Edit, catalogue: KindCatalogue) throws(EditError) -> Change {
    var draft = Draft(patch: self, catalogue: catalogue)
    // It may bring back what a file had.
    draft.acceptsUnknownKinds = true
    draft.patch.touched = Touched(since: revision)
    let inverse = try draft.perform(edit)
    return finishing(&draft, edit, inverse: inverse)
  }

  /// The change by an edit that a draft of this patch has applied.
  func finishing(_ draft: inout Draft, _ edit: Edit, inverse: Edit) -> Change {
    let hasChanged =
      draft.mayConcernSubPatch(edit) && draft.patch.endWaiting(after: self, catalogue: draft.catalogue)
    let inverse = Edit.joined(draft.patch.nameTargets(catalogue: draft.catalogue) + [inverse])
    return Change(
      draft, inverse: restoringScenes(inverse, after: draft, hasChanged: hasChanged), since: revision)
  }
}

/// A patch under change.
package struct Draft {
  package var patch: Patch
  package let catalogue: KindCatalogue
  package var ramps: [(node: NodeID, path: ParameterPath, seconds: Double)] = []
  package var tails: [NodeID] = []
  package var fade: Double?
  package var isSilent = true
  /// Connections that only the server has.
  package var ended: [CableName] = []
  /// Accepts unknown kinds: a file may contain them, but an edit at the prompt may not.
  package var acceptsUnknownKinds = false
  /// No inverses are calculated, as nobody undoes what is done. Those of scenes take long.
  var isOneWay = false
  /// Edits that were performed with earlier ones, in sub-patches that share a file with theirs.
  var mirrored: [Edit] = []

  package init(patch: Patch, catalogue: KindCatalogue) {
    self.patch = patch
    self.patch.revision = Revision()
    self.catalogue = catalogue
  }

  /// Applies the edit and returns its inverse. After a refusal the draft must be discarded.
  package mutating func perform(_ edit: Edit) throws(EditError) -> Edit { try edit.verbs.perform(on: &self) }

  /// Applies the edit without computing the inverse.
  package mutating func apply(_ edit: Edit) throws(EditError) { try edit.verbs.apply(to: &self) }
}

/// The operations of an edit type, one file each.
protocol EditVerbs {
  func apply(to draft: inout Draft) throws(EditError)
  /// The edit that undoes this one; called before `apply`.
  func inverse(in draft: Draft) throws(EditError) -> Edit
  /// The edit as one line of the edit language.
  func describe() -> String
  /// Applies the edit and returns its inverse.
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
    case .copy(let name, let newName): CopyNode(name: name, newName: newName)
    case .rename(let name, let newName): RenameNode(name: name, newName: newName)
    case .move(let name, let before): MoveNode(name: name, before: before)
    case .connect(let name, let settings): Connect(name: name, settings: settings)
    case .disconnect(let name): Disconnect(name: name)
    case .isolate(let name): IsolateNode(name: name)
    case .set(let name, let path, let value, let over):
      SetParameter(name: name, path: path, value: value, over: over)
    case .setRange(let name, let range, let value, let over):
      SetRange(name: name, range: range, value: value, over: over)
    case .matrix(let name, let change, let over): ChangeMatrix(name: name, change: change, over: over)
    case .comment(let subject, let comments): SetComment(subject: subject, comments: comments)
    case .place(let name, let place): PlaceNode(name: name, place: place)
    case .setPatch(let setting): SetPatch(setting: setting)
    case .scene(let number, let change): ChangeScene(number: number, change: change)
    case .recall(let number, let over): RecallScene(number: number, over: over)
    case .morph(let morph, let percent, let over): MorphScenes(morph: morph, percent: percent, over: over)
    case .collapse(let names, let name): CollapseNodes(names: names, name: name)
    case .expand(let name): ExpandNode(name: name)
    case .fade(let seconds): FadeOver(seconds: seconds)
    case .all(let edits): AllOf(edits: edits)
    }
  }

  /// The edit as one line of the edit language; parsing it gives an equivalent edit.
  public var line: String { verbs.describe() }

  package static func joined(_ edits: [Edit]) -> Edit { edits.count == 1 ? edits[0] : .all(edits) }
}

extension Edit: CustomStringConvertible {
  /// The edit as a line of the language.
  public var description: String { line }
}

/// What can be undone and redone. Entries are edits, so that the history can be shown, journaled and
/// applied like any other. It goes back over at least `depth` edits; what was done before is forgotten in
/// pieces.
public struct History: Sendable {
  public static let depth = 1000
  private static let slack = 250

  private struct Entry: Sendable {
    var edit: Edit
    var description: String
    /// Another one for each edit.
    var serial: Int
    /// What took its time and what rang out when it was made: so it shall when it is redone.
    var ramps: [(node: NodeID, path: ParameterPath, seconds: Double)]
    var tails: [NodeID]

    init(inverseOf change: Change, describing edit: String, serial: Int) {
      self.edit = change.inverse
      description = edit
      self.serial = serial
      ramps = change.ramps
      tails = change.tails
    }
  }

  private var undoable: [Entry] = []
  private var redoable: [Entry] = []
  private var nextSerial = 0

  public init() {}

  public var canUndo: Bool { !undoable.isEmpty }
  public var canRedo: Bool { !redoable.isEmpty }
  /// The latest first.
  public var undoList: [String] { undoable.reversed().map(\.description) }
  /// What would come back first, first.
  public var redoList: [String] { redoable.reversed().map(\.description) }

  /// The serial number of the edit that undo would take back; nil where there is none.
  public var newest: Int? { undoable.last?.serial }

  /// After an edit was applied. What could be redone no longer can.
  public mutating func record(_ change: Change, describing edit: String) {
    undoable.append(Entry(inverseOf: change, describing: edit, serial: nextSerial))
    nextSerial += 1
    redoable.removeAll()
    if undoable.count > Self.depth + Self.slack { undoable.removeFirst(Self.slack) }
  }

  /// How many edits can be undone, and redone.
  public var count: (undo: Int, redo: Int) { (undoable.count, redoable.count) }

  /// The patch before the oldest edit that can be undone.
  public func origin(of patch: Patch, catalogue: KindCatalogue) throws(EditError) -> Patch {
    var patch = patch
    for entry in undoable.reversed() { patch = try patch.applying(entry.edit, catalogue: catalogue).patch }
    return patch
  }

  /// Puts `edit` in the place of the newest one, whose number stays: the steps of a gesture are one edit.
  /// Returns the way there from `patch`; one that is refused changes nothing. nil: there is no edit.
  public mutating func amend(
    _ patch: Patch, by edit: Edit, catalogue: KindCatalogue, acceptsUnknownKinds: Bool = false
  ) throws(EditError) -> Change? {
    guard let entry = undoable.last else { return nil }
    let back = try patch.applying(entry.edit, catalogue: catalogue)
    let change = try back.patch.applying(
      edit, catalogue: catalogue, acceptsUnknownKinds: acceptsUnknownKinds
    ).following(back)
    undoable[undoable.count - 1] = Entry(
      inverseOf: change, describing: edit.line, serial: entry.serial)
    redoable.removeAll()
    return change
  }

  /// The patch before the latest edit, and that edit's description; nil where there is none.
  public mutating func undo(
    _ patch: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    try Self.move(from: &undoable, to: &redoable, patch, catalogue)
  }

  /// The patch after the edit that was undone last.
  public mutating func redo(
    _ patch: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    guard let entry = redoable.last,
      var step = try Self.move(from: &redoable, to: &undoable, patch, catalogue)
    else { return nil }
    step.change.ramps = entry.ramps
    step.change.tails = entry.tails
    return step
  }

  /// Every step as `edit` and its line as `line` say. Both are given the patch to which what they change is applied;
  /// `patch` is where the history stands. Steps that cannot be made any more stay as they are.
  package mutating func rewrite(
    at patch: Patch, catalogue: KindCatalogue, edit: (Edit, Patch) -> Edit, line: (String, Patch) -> String
  ) {
    var here = patch
    for index in undoable.indices.reversed() {
      let entry = undoable[index]
      guard let back = try? here.applying(entry.edit, catalogue: catalogue) else { break }
      undoable[index].edit = edit(entry.edit, here)
      undoable[index].description = line(entry.description, back.patch)
      here = back.patch
    }
    here = patch
    for index in redoable.indices.reversed() {
      let entry = redoable[index]
      guard let forth = try? here.applying(entry.edit, catalogue: catalogue) else { break }
      redoable[index].edit = edit(entry.edit, here)
      redoable[index].description = line(entry.description, here)
      here = forth.patch
    }
  }

  private static func move(
    from: inout [Entry], to: inout [Entry], _ patch: Patch, _ catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    guard var entry = from.last else { return nil }
    let change = try patch.applying(entry.edit, catalogue: catalogue)
    from.removeLast()
    entry.edit = change.inverse
    to.append(entry)
    return (change, entry.description)
  }
}

/// Undo and redo stacks. Entries are edits, so that the history can be shown, journaled and applied like
/// other edits. It keeps at least the last `depth` edits and drops older ones in batches.
public struct History: Sendable {
  /// Number of edits that can always be undone.
  public static let depth = 1000
  /// Seconds without a step after which a gesture's next step is an edit of its own.
  public static let gesturePause = 0.4
  private static let slack = 250

  private struct Entry: Sendable {
    var edit: Edit
    var description: String
    /// Unique per edit.
    var serial: Int
    var time: TimeOfDay?
    /// Ramps and tails of the original edit, which redo repeats.
    var ramps: [(node: NodeID, path: ParameterPath, seconds: Double)]
    var tails: [NodeID]
    var fade: Double?
    var former: String?

    init(
      inverseOf change: Change, describing edit: String, serial: Int, at time: TimeOfDay?,
      _ catalogue: KindCatalogue
    ) {
      former = change.former(catalogue)
      self.edit = change.inverse
      description = edit
      self.serial = serial
      self.time = time
      ramps = change.ramps
      tails = change.tails
      fade = change.fade
    }
  }

  private var undoable: [Entry] = []
  private var redoable: [Entry] = []
  private var nextSerial = 0

  /// An empty history.
  public init() {}

  /// True when there is an edit to undo.
  public var canUndo: Bool { !undoable.isEmpty }
  /// True when there is an edit to redo.
  public var canRedo: Bool { !redoable.isEmpty }
  /// Descriptions of undoable edits, the latest first.
  public var undoList: [String] { undoable.reversed().map(\.description) }
  /// Descriptions of redoable edits, the next one first.
  public var redoList: [String] { redoable.reversed().map(\.description) }

  /// All edits, the oldest first: those that can be undone, then those that can be redone.
  public var steps: [HistoryStep] {
    func step(_ entry: Entry, isUndone: Bool) -> HistoryStep {
      HistoryStep(line: entry.description, time: entry.time, isUndone: isUndone, former: entry.former)
    }
    return undoable.map { step($0, isUndone: false) } + redoable.reversed().map { step($0, isUndone: true) }
  }

  /// Serial number of the edit that undo would revert; nil if there is none.
  public var newest: Int? { undoable.last?.serial }

  /// Records an applied edit, and clears the redo stack.
  public mutating func record(
    _ change: Change, describing edit: String, catalogue: KindCatalogue, at time: TimeOfDay? = nil
  ) {
    undoable.append(Entry(inverseOf: change, describing: edit, serial: nextSerial, at: time, catalogue))
    nextSerial += 1
    redoable.removeAll()
    if undoable.count > Self.depth + Self.slack { undoable.removeFirst(Self.slack) }
  }

  /// Numbers of edits that can be undone and redone.
  public var count: (undo: Int, redo: Int) { (undoable.count, redoable.count) }

  /// The patch before the oldest undoable edit.
  public func origin(of patch: Patch, catalogue: KindCatalogue) throws(EditError) -> Patch {
    var patch = patch
    for entry in undoable.reversed() {
      patch = try patch.applying(exactly: entry.edit, catalogue: catalogue).patch
    }
    return patch
  }

  /// Replaces the newest edit by `edit`, keeping its serial number: the steps of a gesture are one edit.
  /// Returns the change from `patch` to the result, the edit's line, and the edit that leads there from `patch`. A refused
  /// edit changes nothing. nil: there is no edit.
  public mutating func amend(
    _ patch: Patch, by edit: Edit, catalogue: KindCatalogue, acceptsUnknownKinds: Bool = false,
    at time: TimeOfDay? = nil
  ) throws(EditError) -> (change: Change, description: String, whole: Edit)? {
    guard let entry = undoable.last else { return nil }
    let back = try patch.applying(exactly: entry.edit, catalogue: catalogue)
    let step = try back.patch.applyingCanonically(
      edit, catalogue: catalogue, acceptsUnknownKinds: acceptsUnknownKinds)
    let change = step.change.following(back)
    let line = step.edit.line
    undoable[undoable.count - 1] = Entry(
      inverseOf: change, describing: line, serial: entry.serial, at: time, catalogue)
    redoable.removeAll()
    return (change, line, .all([entry.edit, step.edit]))
  }

  /// Reverts the latest edit; returns its description too. nil if there is none.
  public mutating func undo(
    _ patch: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    try Self.move(from: &undoable, to: &redoable, patch, catalogue)
  }

  /// Repeats the edit that was undone last; nil if there is none.
  public mutating func redo(
    _ patch: Patch, catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    guard let entry = redoable.last,
      var step = try Self.move(from: &redoable, to: &undoable, patch, catalogue)
    else { return nil }
    step.change.ramps = entry.ramps
    step.change.tails = entry.tails
    step.change.fade = entry.fade
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
      guard let back = try? here.applying(exactly: entry.edit, catalogue: catalogue) else { break }
      undoable[index].edit = edit(entry.edit, here)
      undoable[index].description = line(entry.description, back.patch)
      here = back.patch
    }
    here = patch
    for index in redoable.indices.reversed() {
      let entry = redoable[index]
      guard let forth = try? here.applying(exactly: entry.edit, catalogue: catalogue) else { break }
      redoable[index].edit = edit(entry.edit, here)
      redoable[index].description = line(entry.description, here)
      here = forth.patch
    }
  }

  private static func move(
    from: inout [Entry], to: inout [Entry], _ patch: Patch, _ catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    guard var entry = from.last else { return nil }
    let change = try patch.applying(exactly: entry.edit, catalogue: catalogue)
    from.removeLast()
    entry.edit = change.inverse
    to.append(entry)
    return (change, entry.description)
  }
}

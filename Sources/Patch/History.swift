/// What can be undone and redone. Entries are edits, so that the history can be shown, journaled and
/// applied like any other.
public struct History: Sendable {
  private struct Entry: Sendable {
    var edit: Edit
    var description: String
    /// Another one for each edit.
    var serial: Int
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
  public mutating func record(inverse: Edit, describing edit: String) {
    undoable.append(Entry(edit: inverse, description: edit, serial: nextSerial))
    nextSerial += 1
    redoable.removeAll()
  }

  /// Puts `edit` in the place of the newest one, whose number stays: the steps of a gesture are one edit.
  /// Returns the way there from `patch`; one that is refused changes nothing. nil: there is no edit.
  public mutating func amend(
    _ patch: Patch, by edit: Edit, catalogue: KindCatalogue
  ) throws(EditError) -> Change? {
    guard let entry = undoable.last else { return nil }
    let back = try patch.applying(entry.edit, catalogue: catalogue)
    let change = try back.patch.applying(edit, catalogue: catalogue).following(back)
    undoable[undoable.count - 1] = Entry(
      edit: change.inverse, description: edit.line, serial: entry.serial)
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
    try Self.move(from: &redoable, to: &undoable, patch, catalogue)
  }

  private static func move(
    from: inout [Entry], to: inout [Entry], _ patch: Patch, _ catalogue: KindCatalogue
  ) throws(EditError) -> (change: Change, description: String)? {
    guard let entry = from.last else { return nil }
    let change = try patch.applying(entry.edit, catalogue: catalogue)
    from.removeLast()
    to.append(Entry(edit: change.inverse, description: entry.description, serial: entry.serial))
    return (change, entry.description)
  }
}

/// What can be undone and redone. Entries are edits, so that the history can be shown, journaled and
/// applied like any other.
public struct History: Sendable {
  private struct Entry: Sendable {
    var edit: Edit
    var description: String
  }

  private var undoable: [Entry] = []
  private var redoable: [Entry] = []

  public init() {}

  public var canUndo: Bool { !undoable.isEmpty }
  public var canRedo: Bool { !redoable.isEmpty }
  /// The latest first.
  public var undoList: [String] { undoable.reversed().map(\.description) }
  /// What would come back first, first.
  public var redoList: [String] { redoable.reversed().map(\.description) }

  /// After an edit was applied. What could be redone no longer can.
  public mutating func record(inverse: Edit, describing edit: String) {
    undoable.append(Entry(edit: inverse, description: edit))
    redoable.removeAll()
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
    to.append(Entry(edit: change.inverse, description: entry.description))
    return (change, entry.description)
  }
}

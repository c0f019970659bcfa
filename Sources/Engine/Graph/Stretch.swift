/// Nodes that follow each other in execution order, and their steps. Worker.
final class Stretch {
  let head: UnsafeMutablePointer<StretchHead>
  private(set) var rows: [NodeRow.Pointer] = []
  /// Its steps, as long as they fit.
  var piece: PlanPiece?

  init(_ rows: some Sequence<NodeRow.Pointer> = []) {
    head = .allocate(capacity: 1)
    head.initialize(to: StretchHead())
    head.pointee.stretch = .passUnretained(self)
    insert(Array(rows), at: 0)
  }

  deinit { head.deallocate() }

  func insert(_ new: [NodeRow.Pointer], at place: Int) {
    rows.insert(contentsOf: new, at: place)
    for row in new {
      row.pointee.stretch = head
      if row.pointee.isPending { head.pointee.hasPending = true }
      if row.pointee.isKept { head.pointee.hasKept = true }
      if row.pointee.isTouched { head.pointee.hasTouched = true }
    }
    number(from: place)
  }

  func remove(at place: Int) {
    rows[place].pointee.stretch = nil
    rows.remove(at: place)
    number(from: place)
  }

  /// Takes the nodes from `place` on out of it.
  func cut(at place: Int) -> [NodeRow.Pointer] {
    let rest = Array(rows[place...])
    rows.removeSubrange(place...)
    head.pointee.isStale = true
    return rest
  }

  /// Takes nodes out of it.
  func removeAll(where isOut: (NodeRow.Pointer) -> Bool) {
    rows.removeAll(where: isOut)
    number(from: 0)
  }

  private func number(from place: Int) {
    for index in place..<rows.count { rows[index].pointee.place = Int32(index) }
    head.pointee.isStale = true
  }
}

/// A stretch as its rows and cables know it, in plain memory.
struct StretchHead: BitwiseCopyable {
  /// Among the stretches.
  var index: Int32 = 0
  /// Its steps no longer fit.
  var isStale = true
  // Some of its rows may be so; see `NodeRow`.
  var hasPending = false
  var hasKept = false
  var hasTouched = false
  var stretch: Unmanaged<Stretch>!
}

extension UnsafeMutablePointer<NodeRow> {
  /// Its steps, or those of its neighbours, have to be compiled again.
  func markStale() { pointee.stretch?.pointee.isStale = true }

  /// Its channel counts may have to change.
  func markPending() {
    pointee.isPending = true
    pointee.stretch?.pointee.hasPending = true
  }

  /// Its channel counts are computed anew.
  func markTouched() {
    pointee.isTouched = true
    pointee.stretch?.pointee.hasTouched = true
  }

  /// It keeps its channel counts, although its cables imply other ones.
  func markKept(_ isKept: Bool) {
    pointee.isKept = isKept
    if isKept { pointee.stretch?.pointee.hasKept = true }
  }

  /// A number that grows along the execution order; nil: it has no place yet.
  var order: Int? { pointee.stretch.map { Int($0.pointee.index) << 32 | Int(pointee.place) } }

  /// True if it runs before the other.
  func isBefore(_ other: NodeRow.Pointer) -> Bool {
    guard let mine = pointee.stretch, let its = other.pointee.stretch else { return false }
    if mine != its { return mine.pointee.index < its.pointee.index }
    return pointee.place < other.pointee.place
  }
}

/// Lines of a scene that wait, by the lines without their values, in the order in which they came. There may be thousands: a
/// modified copy shares all but the changed piece, and two that share memory are compared where they differ.
struct WaitingLines: Sendable {
  private struct Entry: Hashable, Sendable {
    var number: Int
    var line: Edit
  }

  private var entries: ShardedDictionary<Edit, Entry> = ShardedDictionary()
  private var count = 0

  /// True when no line waits.
  var isEmpty: Bool { entries.isEmpty }
  /// The lines without their values, in order.
  var keys: [Edit] { inOrder(entries.keys) }
  /// The lines in order.
  var values: [Edit] { keys.compactMap { self[$0] } }

  /// A line keeps its place in the order when another one of the same key takes its place.
  subscript(key: Edit) -> Edit? {
    get { entries[key]?.line }
    set {
      guard let newValue else {
        entries[key] = nil
        return
      }
      let number = entries[key]?.number ?? count
      count = max(count, number + 1)
      entries[key] = Entry(number: number, line: newValue)
    }
  }

  /// The same lines with other names of nodes.
  func renaming(_ name: (String) -> String) -> WaitingLines {
    var lines = WaitingLines()
    for key in keys { lines[key.renaming(name)] = self[key]?.renaming(name) }
    return lines
  }

  /// Keys of lines that may differ, in order.
  func differing(from other: WaitingLines) -> [Edit] { inOrder(entries.differing(from: other.entries)) }

  private func inOrder(_ keys: some Sequence<Edit>) -> [Edit] {
    keys.map { (number: entries[$0]?.number ?? .max, key: $0) }.sorted { $0.number < $1.number }.map(\.key)
  }
}

import Patch

/// When something is due.
public enum Due: Hashable, Sendable {
  /// Before a frame.
  case frame(Int64)
  /// Once, as soon as the transport is at a place or beyond it.
  case place(BarPlace)
}

/// Things to do at frames, and at places of the transport, in the order in which they are due. Of those that are due at one
/// frame, the order given counts.
public struct Agenda<Item> {
  private typealias Entry<Key> = (key: Key, order: Int, item: Item)
  private var timed: [Entry<Int64>] = []
  private var placed: [Entry<BarPlace>] = []
  private var nextTimed = 0
  private var nextPlaced = 0
  private var isPlaceNext = false

  /// An agenda of these items.
  public init(_ entries: [(due: Due, item: Item)]) {
    for (order, entry) in entries.enumerated() {
      switch entry.due {
      case .frame(let frame): timed.append((frame, order, entry.item))
      case .place(let place): placed.append((place, order, entry.item))
      }
    }
    timed.sort { ($0.key, $0.order) < ($1.key, $1.order) }
    placed.sort { ($0.key, $0.order) < ($1.key, $1.order) }
  }

  /// The next item with its frame; nil: nothing will be due, as far as is known. `reaching`: the frame, now or later, at
  /// which the transport is at a place or beyond it; nil: it stands before it.
  public mutating func next(_ reaching: (BarPlace) -> Int64?) -> (frame: Int64, item: Item)? {
    let first = nextTimed < timed.count ? timed[nextTimed] : nil
    isPlaceNext = false
    // Earlier places are reached earlier.
    guard nextPlaced < placed.count, let frame = reaching(placed[nextPlaced].key) else {
      return first.map { ($0.key, $0.item) }
    }
    if let first, (first.key, first.order) < (frame, placed[nextPlaced].order) {
      return (first.key, first.item)
    }
    isPlaceNext = true
    return (frame, placed[nextPlaced].item)
  }

  /// Takes the item that `next` has returned.
  @discardableResult public mutating func removeNext() -> Item {
    if isPlaceNext {
      nextPlaced += 1
      return placed[nextPlaced - 1].item
    }
    nextTimed += 1
    return timed[nextTimed - 1].item
  }

  /// Number of items left.
  public var count: Int { timed.count - nextTimed + placed.count - nextPlaced }
}

/// The pieces of a gap that have no track yet. What each of them blocks and crosses is known all the time, so that a gap with
/// hundreds of them takes milliseconds.
struct TrackQueue {
  private struct Waiting {
    var piece: CableRouter.Piece
    /// Number of others that must come before it.
    var blockers = 0
    /// Number of others that must come after it.
    var blocked = 0
    /// Crossings caused by taking it first, minus the crossings avoided.
    var crossings = 0
  }

  private var waiting: [Waiting] = []
  /// In the order of their tracks.
  private(set) var done: [CableRouter.Piece] = []

  init(_ pieces: [CableRouter.Piece]) {
    waiting.reserveCapacity(pieces.count)
    for piece in pieces { add(piece) }
  }

  var isEmpty: Bool { waiting.isEmpty }

  /// Takes the free piece with the fewest crossings, the highest one of several; cuts one where none is free. `others`:
  /// lines whose rows a cut keeps clear of.
  mutating func takeNext(avoiding others: [CableRouter.Piece], from top: Int) {
    var best: (index: Int, cost: (Int, Int, Int))?
    for (index, next) in waiting.enumerated() where next.blockers == 0 {
      let cost = (next.crossings, next.piece.top, next.piece.trunks.first ?? 0)
      if best.map({ cost < $0.cost }) ?? true { best = (index, cost) }
    }
    if let best {
      done.append(remove(best.index))
    } else {
      cut(avoiding: others, from: top)
    }
  }

  private mutating func add(_ piece: CableRouter.Piece) {
    waiting.append(Waiting(piece: piece))
    count(waiting.count - 1, 1)
  }

  private mutating func remove(_ index: Int) -> CableRouter.Piece {
    count(index, -1)
    return waiting.remove(at: index).piece
  }

  /// Counts a piece among all others, or no more.
  private mutating func count(_ index: Int, _ sign: Int) {
    let piece = waiting[index].piece
    for other in waiting.indices where other != index {
      let isBefore = piece.mustPrecede(waiting[other].piece)
      let isAfter = waiting[other].piece.mustPrecede(piece)
      let crossings =
        sign * (piece.crossings(leftOf: waiting[other].piece) - waiting[other].piece.crossings(leftOf: piece))
      waiting[index].crossings += crossings
      waiting[other].crossings -= crossings
      if isBefore {
        waiting[index].blocked += sign
        waiting[other].blockers += sign
      }
      if isAfter {
        waiting[other].blocked += sign
        waiting[index].blockers += sign
      }
    }
  }

  /// Cuts one piece of a cycle of mutually blocking pieces in two, joined on a row of its own, `top` or below.
  private mutating func cut(avoiding others: [CableRouter.Piece], from top: Int) {
    // The piece that blocks most; of several, the shortest.
    let ranks = waiting.map { (-$0.blocked, $0.piece.bottom - $0.piece.top) }
    guard let index = ranks.indices.min(by: { ranks[$0] < ranks[$1] }) else { return }
    var piece = waiting[index].piece
    var taken: Set<Int> = []
    for other in waiting.map(\.piece) + done + others {
      taken.formUnion(other.lefts)
      taken.formUnion(other.rights)
    }
    let middle = (piece.top + piece.bottom) / 2
    var row = middle
    var step = 0
    while taken.contains(row) || row < top {
      step = step > 0 ? -step : 1 - step
      row = middle + step
    }
    for other in waiting.indices
    where waiting[other].piece.trunks == piece.trunks && waiting[other].piece.part > piece.part {
      waiting[other].piece.part += 1
    }
    count(index, -1)
    let rest = piece.cut(at: row)
    waiting[index] = Waiting(piece: piece)
    count(index, 1)
    add(rest)
  }
}

/// Cables at a node, in the order in which they came to it. Many are stored in pieces: a modified copy shares all but the
/// changed piece. Into a mixer of many thousand cables an edit would otherwise copy them all.
enum CableList: Sendable {
  case few([Cable.Ends])
  case many([[Cable.Ends]])

  private static var pieceSize: Int { 256 }

  var count: Int {
    switch self {
    case .few(let list): list.count
    case .many(let pieces): pieces.reduce(0) { $0 + $1.count }
    }
  }

  /// Takes the list out of its storage for a change, so that it has one owner and is not copied.
  private mutating func take() -> Self {
    defer { self = .few([]) }
    return self
  }

  mutating func append(_ ends: Cable.Ends) {
    switch take() {
    case .few(var list):
      if list.count < Self.pieceSize {
        list.append(ends)
        self = .few(list)
      } else {
        self = .many([list, [ends]])
      }
    case .many(var pieces):
      if pieces[pieces.count - 1].count < Self.pieceSize {
        pieces[pieces.count - 1].append(ends)
      } else {
        pieces.append([ends])
      }
      self = .many(pieces)
    }
  }

  mutating func remove(_ ends: Cable.Ends) {
    switch take() {
    case .few(var list):
      if let place = list.firstIndex(of: ends) { list.remove(at: place) }
      self = .few(list)
    case .many(var pieces):
      for piece in pieces.indices {
        guard let place = pieces[piece].firstIndex(of: ends) else { continue }
        pieces[piece].remove(at: place)
        // Short neighbours become one piece.
        let first = piece + 1 < pieces.count ? piece : piece - 1
        if pieces[first].count + pieces[first + 1].count <= Self.pieceSize / 2 {
          pieces[first] += pieces.remove(at: first + 1)
        }
        break
      }
      self = pieces.count == 1 ? .few(pieces[0]) : .many(pieces)
    }
  }
}

extension CableList: ExpressibleByArrayLiteral {
  init(arrayLiteral elements: Cable.Ends...) { self = .few(elements) }
}

extension CableList: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate var piece: IndexingIterator<[Cable.Ends]>
    fileprivate var rest: IndexingIterator<[[Cable.Ends]]>

    mutating func next() -> Cable.Ends? {
      while true {
        if let ends = piece.next() { return ends }
        guard let list = rest.next() else { return nil }
        piece = list.makeIterator()
      }
    }
  }

  var underestimatedCount: Int { count }

  func makeIterator() -> Iterator {
    switch self {
    case .few(let list): Iterator(piece: list.makeIterator(), rest: [].makeIterator())
    case .many(let pieces): Iterator(piece: [].makeIterator(), rest: pieces.makeIterator())
    }
  }
}

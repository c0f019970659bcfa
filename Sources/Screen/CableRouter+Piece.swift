extension CableRouter {
  /// A trunk in a gap, or a part of it between doglegs: the rows where it enters or leaves at each side.
  /// Trunks that lead only to one common input share a piece, where they merge.
  struct Piece {
    /// In ascending order, as the rows are. Most pieces have one or two of each.
    private(set) var trunks: [Int]
    private(set) var lefts: [Int]
    private(set) var rights: [Int]
    private(set) var top: Int
    private(set) var bottom: Int
    var track = 0
    /// Index among the pieces of a trunk with doglegs.
    var part = 0

    init(trunks: [Int], lefts: Set<Int>, rights: Set<Int>, part: Int = 0) {
      (self.trunks, self.lefts, self.rights, self.part) = (trunks, lefts.sorted(), rights.sorted(), part)
      (top, bottom) = (0, 0)
      measure()
    }

    private mutating func measure() {
      top = min(lefts.first ?? .max, rights.first ?? .max)
      bottom = max(lefts.last ?? .min, rights.last ?? .min)
    }

    /// Takes a piece in that leads to the same input.
    mutating func merge(_ other: Piece) {
      trunks = Set(trunks).union(other.trunks).sorted()
      lefts = Set(lefts).union(other.lefts).sorted()
      measure()
    }

    /// The part below a cut, which this one meets on a row.
    mutating func cut(at row: Int) -> Piece {
      defer {
        rights = [row]
        measure()
      }
      return Piece(trunks: trunks, lefts: [row], rights: Set(rights), part: part + 1)
    }

    /// Runs straight through, without a track.
    var isStraight: Bool { top == bottom }

    func overlaps(_ other: Piece) -> Bool { top <= other.bottom && other.top <= bottom }

    /// True when its line from the left would otherwise overlap the other's line to the right.
    func mustPrecede(_ other: Piece) -> Bool {
      if trunks.contains(where: { other.trunks.contains($0) }) { return part < other.part }
      guard overlaps(other) else { return false }
      return lefts.contains { other.rights.contains($0) && !rights.contains($0) }
    }

    /// Number of crossings between the two if this one's track is to the left. A merge where the other's
    /// track continues both ways counts double: it looks as if all lines led everywhere.
    func crossings(leftOf other: Piece) -> Int {
      guard overlaps(other) else { return 0 }
      return rights.count { $0 >= other.top && $0 <= other.bottom && !other.rights.contains($0) }
        + 2 * rights.count { $0 > other.top && $0 < other.bottom && other.rights.contains($0) }
        + other.lefts.count { $0 >= top && $0 <= bottom }
    }
  }
}

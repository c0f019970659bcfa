import Screen

/// Terminal bytes to events: UTF-8, CSI and SS3 sequences, the kitty keyboard protocol, bracketed
/// paste, SGR, urxvt and X10 mouse reports, and the terminal's answers to questions.
///
/// Pure, and total: any bytes in any pieces are legal, nothing is held longer than `flush` allows, and
/// what means nothing is skipped.
public struct InputParser: Sendable {
  /// What the bytes meant.
  public enum Item: Hashable, Sendable {
    case event(InputEvent)
    /// `CSI ? flags u`: the kitty keyboard protocol is there.
    case keyboardFlags(Int)
    /// `CSI ? … c`: every terminal answers this one.
    case deviceAttributes
    /// `CSI ? mode ; status $ y`: 1 set, 2 reset, 0 unknown, 3 and 4 fixed.
    case mode(Int, status: Int)
  }

  private var pending: [UInt8] = []
  /// Bytes of a paste that has begun; nil outside of one.
  private var pasted: [UInt8]?

  /// Longer sequences than this mean nothing to anyone.
  static let longestSequence = 256
  /// Pastes are handed out in pieces of this size at most, so that none can eat the memory.
  static let longestPaste = 1 << 20

  public init() {}

  /// Whether a sequence has begun that is not complete: `flush` it if nothing follows for a while.
  public var isPending: Bool { !pending.isEmpty }
  /// Whether a paste has begun: `flush(endingPaste: true)` it if nothing follows for seconds.
  public var isPasting: Bool { pasted != nil }

  public mutating func feed(_ bytes: some Sequence<UInt8>) -> [Item] {
    pending.append(contentsOf: bytes)
    var items: [Item] = []
    var position = 0
    while position < pending.count {
      if pasted != nil {
        let used = takePaste(from: position, into: &items)
        position += used
        if used == 0 { break }
        continue
      }
      let rest = pending[position...]
      guard let (length, found) = SequenceParser.parse(rest, isComplete: false) else { break }
      position += length
      accept(found, into: &items)
    }
    pending.removeFirst(position)
    return items
  }

  /// Nothing followed: a lone escape byte was the key, and what else had begun is taken as it is.
  public mutating func flush(endingPaste: Bool = false) -> [Item] {
    var items: [Item] = []
    if pasted != nil {
      guard endingPaste else { return [] }
      pasted?.append(contentsOf: pending)
      pending = []
      endPaste(into: &items)
      return items
    }
    while !pending.isEmpty, pasted == nil {
      // Complete as it stands: the parser then always takes at least a byte.
      let (length, found) = SequenceParser.parse(pending[...], isComplete: true) ?? (1, [])
      pending.removeFirst(max(1, length))
      accept(found, into: &items)
    }
    return items
  }

  private mutating func accept(_ found: [SequenceParser.Found], into items: inout [Item]) {
    for one in found {
      switch one {
      case .item(let item): items.append(item)
      case .pasteStart: pasted = []
      }
    }
  }

  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  /// Moves bytes into the paste, up to its end; returns how many of `pending` are done with.
  private mutating func takePaste(from start: Int, into items: inout [Item]) -> Int {
    let end = InputParser.pasteEnd
    var index = start
    while index < pending.count {
      if pending[index] == end[0] {
        let matched = zip(pending[index...], end).prefix { $0 == $1 }.count
        if matched == end.count {
          endPaste(into: &items)
          return index + end.count - start
        }
        // The end may follow in the next piece.
        if index + matched == pending.count { break }
      }
      pasted?.append(pending[index])
      index += 1
      if let count = pasted?.count, count >= InputParser.longestPaste {
        endPaste(into: &items)
        pasted = []
      }
    }
    return index - start
  }

  private mutating func endPaste(into items: inout [Item]) {
    let bytes = pasted ?? []
    pasted = nil
    guard !bytes.isEmpty else { return }
    // Terminals send carriage returns for line ends; control characters are not text.
    let text = String(decoding: bytes, as: UTF8.self)
      .split(separator: "\r\n", omittingEmptySubsequences: false).joined(separator: "\n")
    let plain = String(
      String.UnicodeScalarView(
        text.unicodeScalars.compactMap { scalar in
          if scalar == "\r" { return "\n" }
          if scalar == "\n" || scalar == "\t" { return scalar }
          return scalar.value < 32 || (127...159).contains(scalar.value) ? nil : scalar
        }))
    items.append(.event(.paste(plain)))
  }
}

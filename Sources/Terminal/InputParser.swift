import Screen

/// Parses terminal input: UTF-8, CSI and SS3 sequences, the kitty keyboard protocol, bracketed paste, SGR,
/// urxvt and X10 mouse reports, and the terminal's answers to queries.
///
/// Pure and total: any bytes in any pieces are legal, nothing is held longer than `flush` allows, and
/// meaningless input is skipped.
public struct InputParser: Sendable {
  /// A parsed item.
  public enum Item: Hashable, Sendable {
    case event(InputEvent)
    /// `CSI ? flags u`: the terminal supports the kitty keyboard protocol.
    case keyboardFlags(Int)
    /// `CSI ? … c`: every terminal answers this query.
    case deviceAttributes
    /// `CSI ? mode ; status $ y`: 1 set, 2 reset, 0 unknown, 3 and 4 fixed.
    case mode(Int, status: Int)
  }

  private var pending: [UInt8] = []
  /// Bytes of the current paste; nil outside a paste.
  private var pasted: [UInt8]?

  /// No valid sequence is longer.
  static let longestSequence = 256
  /// Pastes are delivered in pieces of this size at most, to limit memory.
  static let longestPaste = 1 << 20

  public init() {}

  /// True when a sequence is incomplete: call `flush` if nothing follows for a while.
  public var isPending: Bool { !pending.isEmpty }
  /// True during a paste: call `flush(endingPaste: true)` if nothing follows for seconds.
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

  /// Ends a pending sequence because nothing followed: a lone escape byte is the key, and other bytes are
  /// parsed as they are.
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
      // Parsed as complete, so at least one byte is always consumed.
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

  /// Moves bytes into the paste, up to its end; returns the number of bytes of `pending` consumed.
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
        // The end marker may continue in the next piece.
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
    // Terminals send carriage returns for line ends; other control characters are no text.
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

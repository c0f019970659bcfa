/// The parts of the execution order within which cycles lie. Worker.
///
/// A cycle that passes from one place of the order to the next has a cable that leads back over both. Each cycle lies within the
/// joined spans of such cables, and an edit elsewhere does not concern it.
struct CycleSpans {
  typealias Ends = (source: NodeRow.Pointer, destination: NodeRow.Pointer)

  /// Ascending, and apart from each other.
  private var spans: [ClosedRange<Int>] = []
  private var isTouched: [Bool] = []

  /// `loops`: all cables that close cycles. `cables`: others, which count if they lead backwards.
  init(loops: [Ends], _ cables: [Ends]) {
    var all: [ClosedRange<Int>] = []
    for (source, destination) in loops {
      guard let from = source.order, let to = destination.order else { continue }
      all.append(min(from, to)...max(from, to))
    }
    for (source, destination) in cables {
      guard let from = source.order, let to = destination.order, to <= from else { continue }
      all.append(to...from)
    }
    for span in all.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = spans.last, last.upperBound >= span.lowerBound {
        spans[spans.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
      } else {
        spans.append(span)
      }
    }
    isTouched = Array(repeating: false, count: spans.count)
  }

  /// The span that a node lies in; nil: it is on no cycle.
  private func span(around node: NodeRow.Pointer) -> Int? {
    guard let place = node.order else { return nil }
    var (low, high) = (0, spans.count)
    while low < high {
      let middle = (low + high) / 2
      if spans[middle].upperBound < place { low = middle + 1 } else { high = middle }
    }
    return low < spans.count && spans[low].contains(place) ? low : nil
  }

  /// Marks the spans in which a cable's ends lie.
  mutating func touch(_ ends: Ends) {
    if let span = span(around: ends.source) { isTouched[span] = true }
    if let span = span(around: ends.destination) { isTouched[span] = true }
  }

  /// True if a node lies in a marked span.
  func isTouched(_ node: NodeRow.Pointer) -> Bool { span(around: node).map { isTouched[$0] } ?? false }

  /// The marked spans.
  var touched: [ClosedRange<Int>] { spans.indices.filter { isTouched[$0] }.map { spans[$0] } }
}

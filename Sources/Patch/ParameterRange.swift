/// Settings that one line names together: an index may be a range, as in `[0..7,0]` or `in[..]`.
public struct ParameterRange: Hashable, Sendable {
  /// Indices side by side, both ends included.
  public struct Span: Hashable, Sendable {
    public var first: Int
    /// nil: as many as there are.
    public var last: Int?

    public init(_ first: Int, _ last: Int?) {
      self.first = first
      self.last = last
    }

    public init(_ index: Int) { self.init(index, index) }

    public static var all: Span { Span(0, nil) }

    /// `3`, `0..7`, `2..`, `..`.
    public var line: String {
      guard let last else { return first == 0 ? ".." : "\(first).." }
      return first == last ? "\(first)" : "\(first)..\(last)"
    }
  }

  public var name: String
  public var spans: [Span]

  public init(_ name: String, _ spans: [Span] = []) {
    self.name = name
    self.spans = spans
  }

  public init(_ path: ParameterPath) { self.init(path.name, path.indices.map { Span($0) }) }

  /// The one setting that it names; nil where an index is a range.
  public var single: ParameterPath? {
    spans.allSatisfy { $0.first == $0.last } ? ParameterPath(name, spans.map(\.first)) : nil
  }

  /// The first of its settings.
  public var first: ParameterPath { ParameterPath(name, spans.map(\.first)) }

  /// As the language writes it after a node's name: `.in[0..3]`, `[..,0]`.
  public var suffix: String {
    (name.isEmpty ? "" : ".") + name
      + (spans.isEmpty ? "" : "[" + spans.map(\.line).joined(separator: ",") + "]")
  }

  /// Every setting of a range with ends.
  package var closedPaths: [ParameterPath] { paths(sizes: []) }

  /// Every setting, row by row. `sizes`: how many indices there are, for open ranges.
  package func paths(sizes: [Int]) -> [ParameterPath] {
    var indices: [[Int]] = [[]]
    for (place, span) in spans.enumerated() {
      let last = span.last ?? (place < sizes.count ? sizes[place] - 1 : -1)
      guard span.first <= last else { return [] }
      indices = indices.flatMap { head in (span.first...last).map { head + [$0] } }
    }
    return indices.map { ParameterPath(name, $0) }
  }

  /// Every setting of `node`, whose parameters `kind` describes.
  package func paths(of node: Node, _ kind: KindDescription?) throws(EditError) -> [ParameterPath] {
    guard let kind else {
      guard spans.allSatisfy({ $0.last != nil }) else {
        throw EditError(
          "nobody knows how far `\(node.name)\(suffix)` goes (no kind `\(node.kind)`)",
          hint: "write both ends of the range", token: node.name + suffix)
      }
      return paths(sizes: [])
    }
    let sizes = (kind[parameter: name]?.dimensions ?? []).map { kind.count($0, of: node) }
    // The corners are inside if all is.
    let corner = zip(spans, sizes).map { $0.last ?? max($1 - 1, $0.first) }
    for path in [first, ParameterPath(name, spans.count == sizes.count ? corner : spans.map(\.first))] {
      do throws(EditError) {
        _ = try kind.parameter(at: path, of: node)
      } catch {
        var refusal = error
        // Where the line has a range, the path as such stands nowhere.
        if refusal.token == node.name + path.suffix { refusal.token = node.name + suffix }
        throw refusal
      }
    }
    return paths(sizes: sizes)
  }
}

/// Several settings of one parameter in one line: an index may be a range, as in `[0..7,0]` or `in[..]`.
public struct ParameterRange: Hashable, Sendable {
  /// Consecutive indices, both ends included.
  public struct Span: Hashable, Sendable {
    /// First index.
    public var first: Int
    /// Last index; nil: open, up to the size of the dimension.
    public var last: Int?

    /// Indices from `first` to `last`.
    public init(_ first: Int, _ last: Int?) {
      self.first = first
      self.last = last
    }

    /// A single index.
    public init(_ index: Int) { self.init(index, index) }

    /// All indices.
    public static var all: Span { Span(0, nil) }

    /// `3`, `0..7`, `2..`, `..`.
    public var line: String {
      guard let last else { return first == 0 ? ".." : "\(first).." }
      return first == last ? "\(first)" : "\(first)..\(last)"
    }
  }

  /// Name of the parameter; empty for crosspoints.
  public var name: String
  /// A span per dimension.
  public var spans: [Span]

  /// A range of a parameter's elements.
  public init(_ name: String, _ spans: [Span] = []) {
    self.name = name
    self.spans = spans
  }

  /// A single setting.
  public init(_ path: ParameterPath) { self.init(path.name, path.indices.map { Span($0) }) }

  /// The single setting that it names; nil if an index is a range.
  public var single: ParameterPath? {
    spans.allSatisfy { $0.first == $0.last } ? ParameterPath(name, spans.map(\.first)) : nil
  }

  /// The first of its settings.
  public var first: ParameterPath { ParameterPath(name, spans.map(\.first)) }

  /// The range in the language, after a node's name: `.in[0..3]`, `[..,0]`.
  public var suffix: String {
    (name.isEmpty ? "" : ".") + name
      + (spans.isEmpty ? "" : "[" + spans.map(\.line).joined(separator: ",") + "]")
  }

  /// True when every setting of `other` is one of this range.
  package func covers(_ other: ParameterRange) -> Bool {
    name == other.name && spans.count == other.spans.count
      && zip(spans, other.spans).allSatisfy { $0.first <= $1.first && ($0.last ?? .max) >= ($1.last ?? .max) }
  }

  /// Every setting of a range without open ends.
  package var closedPaths: [ParameterPath] { paths(sizes: []) }

  /// Every setting, row by row. `sizes`: number of indices per dimension, for open ranges.
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
        throw .openRange(SettingName(node.name, self), kind: node.kind)
      }
      return paths(sizes: [])
    }
    let sizes = (kind[parameter: name]?.dimensions ?? []).map { kind.count($0, of: node) }
    // If the corners are within bounds, so is everything between.
    let corner = zip(spans, sizes).map { $0.last ?? max($1 - 1, $0.first) }
    for path in [first, ParameterPath(name, spans.count == sizes.count ? corner : spans.map(\.first))] {
      _ = try kind.parameter(at: path, of: node)
    }
    return paths(sizes: sizes)
  }
}

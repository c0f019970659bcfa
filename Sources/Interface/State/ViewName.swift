/// Name of a view: its tab's text. Each view declares its own; leaving a view leads to the graph.
public struct ViewName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }

  static let graph = ViewName(rawValue: "graph")
}

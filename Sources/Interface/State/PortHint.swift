import Patch

/// A two-letter hint on a port or a cable of the graph.
struct PortHint: Sendable {
  enum Target: Sendable, Hashable {
    case output(PortReference)
    case input(PortReference)
    case cable(Cable.Ends)
  }

  var letters: String
  var target: Target
}
